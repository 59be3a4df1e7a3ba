"""Costs of a kernel without threads: the steps of its loops, and the lines of memory that they fetch.

The lowered kernel is walked once for each of a few blocks. A loop is gone through once, its counter in the middle, and counted
as often as it turns; what its counters move is seen from the first turn and the one after it. The laws are those of
docs/prediction.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from indexing._core import SymbolicExpr, variable
from indexing.emitters.ir import nodes as ir
from indexing.emitters.ir.traversal import subvalues, values_of
from indexing.emitters.ir.types import storage_bytes

if TYPE_CHECKING:
    from indexing.emitters.ir.nodes import Block, Statement, Value

    #: Loops with their numbers of turns, and index variables given by name, from the outermost in.
    Path: TypeAlias = "tuple[tuple[ir.For, int] | ir.LetIndex, ...]"

BLOCKS = 3  # that are walked, evenly spaced
LANES = 8  # of a vector
MAX_WRITTEN_OUT = 16  # turns of a loop that the compiler writes out
CACHED_LINES = 512  # that a loop finds again when it is run again
PAGE = 4096  # bytes; of runs so far apart
WAYS = 8  # are found again
FAR = 1 << 40  # elements: from a row of blocks to the next
GRID = 3  # the first variable of a block's number

# Steps beside those of operations.
TURN = 4  # of an innermost loop
ENTRY = 2  # of any loop
BRANCH = 2
CHAIN = 2  # each step of what waits for the turn before
UPDATE = 20  # an atomic one
STEPS = {
    **dict.fromkeys(("exp", "expm1", "log", "log1p", "logistic"), 14),
    **dict.fromkeys(("sin", "cos", "tan", "sinh", "cosh", "tanh", "cbrt", "erf", "atan2", "pow"), 20),
    **dict.fromkeys(("div", "sqrt", "rsqrt", "decode"), 4),
    **dict.fromkeys(("rem", "encode", "round"), 6),
}


@dataclass(slots=True)
class LoopCosts:
    """Of a whole launch: `steps`, `lines` of memory that are fetched, and the `runs` of neighbouring ones that they form."""

    steps: float = 0.0
    lines: float = 0.0
    runs: float = 0.0


def costs_of_loops(kernel: ir.Kernel, line_bytes: int) -> LoopCosts:
    """The costs of a kernel that is lowered for a target without threads."""
    costs = LoopCosts()
    blocks = prod(kernel.grid)
    walked = min(BLOCKS, blocks)
    for k in range(walked):
        number = blocks * (2 * k + 1) // (2 * walked)
        x, y, _ = kernel.grid
        walk = _Walk(kernel, (number % x, number // x % y, number // (x * y)), line_bytes, costs)
        walk.block(kernel.body, (), blocks / walked, 1 / walked)
    return costs


class _Walk:
    """A walk through one block of the launch; `times` is how often a statement runs, `share` that of all its runs."""

    def __init__(self, kernel: ir.Kernel, block: Sequence[int], line_bytes: int, costs: LoopCosts) -> None:
        self.kernel, self.origin, self.line, self.costs = kernel, tuple(block), line_bytes, costs
        self.values = [0] * len(kernel.variables)
        self.values[GRID : GRID + 3] = self.origin
        self.counters: dict[int, tuple[int, int]] = {}  # the first and the last value of those around
        self.buffers = {b.name: b for b in kernel.buffers}
        self.functions = {f.name: f for f in kernel.functions}
        self.of_function: dict[str, float] = {}

    # ------------------------------------------------------------ statements

    def block(self, block: Block, path: Path, times: float, share: float) -> None:
        """Count what stands in no innermost loop, and go into loops and branches."""
        for s in block:
            if isinstance(s, ir.For):
                self._loop(s, path, times, share)
            elif isinstance(s, ir.If):
                self.costs.steps += BRANCH * times
                for body, chance in self._branches(s):
                    self.block(body, path, times * chance, share * chance)
            else:
                path = self._named(s, path)
                self.costs.steps += times * self._steps(s)
                self._memory(s, path, share)

    def _named(self, s: Statement, path: Path) -> Path:
        if not isinstance(s, ir.LetIndex) or not isinstance(s.value, SymbolicExpr):
            return path
        self.values[s.variable] = s.value.evaluate(self.values)
        return (*path, s)

    def _loop(self, loop: ir.For, path: Path, times: float, share: float) -> None:
        first, turns = self._turns(loop)
        if not turns:
            return
        self.costs.steps += ENTRY * times
        self.values[loop.variable] = first + turns // 2 * loop.step
        self.counters[loop.variable] = first, first + (turns - 1) * loop.step
        inside = [s for s in ir.statements(loop.body) if isinstance(s, ir.For)]
        around = (*path, (loop, turns))
        if all(s.unroll and self._turns(s)[1] <= MAX_WRITTEN_OUT for s in inside):
            self._innermost(loop, around, turns, times, share)
        else:
            self.block(loop.body, around, times * turns, share)
        del self.counters[loop.variable]

    def _turns(self, loop: ir.For) -> tuple[int, int]:
        """The first value of the counter, and the number of turns."""
        first, stop = loop.start.evaluate(self.values), loop.stop.evaluate(self.values)
        return first, max(-(-(stop - first) // loop.step), 0)

    def _innermost(self, loop: ir.For, path: Path, turns: int, times: float, share: float) -> None:
        """A loop of which a compiler may make vectors: of its turns, or of loops in it that it writes out."""
        body = _Body(self, len(path) - 1)
        body.collect(loop.body, path, 1.0, share)
        lanes = 1
        if body.is_vector:
            lanes = LANES if body.written_out == 1 else min(body.written_out, LANES)
        whole, rest = divmod(turns, lanes) if body.written_out == 1 else (turns / lanes, 0)
        wait = CHAIN if body.is_chain else 1
        self.costs.steps += times * (whole + rest) * (TURN + wait * body.steps)

    # ------------------------------------------------------------ chances

    def _branches(self, s: ir.If) -> Iterator[tuple[Block, float]]:
        chance = prod(self._chance(c) for c in s.conditions)
        if chance > 0:
            yield s.then, chance
        if chance < 1:
            yield s.otherwise, 1 - chance

    def _chance(self, condition: Value) -> float:
        """The share of times that a condition holds: of an index by its range, of the last block to arrive once for all."""
        if isinstance(condition, ir.Within):
            found = self._written_out(condition.expression).range(
                [self.counters.get(k, (v, v)) for k, v in enumerate(self.values)]
            )
            low = found.lower if condition.lower is None else max(found.lower, condition.lower)
            high = found.upper if condition.upper is None else min(found.upper, condition.upper)
            return max(high - low + 1, 0) / (found.upper - found.lower + 1)
        if isinstance(condition, ir.Op) and condition.opcode == "eq" and isinstance(condition.operands[0], ir.Load):
            counted = condition.operands[1]
            if isinstance(counted, ir.Constant) and isinstance(counted.value, int):
                return 1 / (1 + max(counted.value, 0))
        return 0.5

    @cached_property
    def _lets(self) -> list[tuple[int, SymbolicExpr]]:
        return [
            (s.variable, s.value)
            for s in ir.statements(self.kernel.body)
            if isinstance(s, ir.LetIndex) and isinstance(s.value, SymbolicExpr)
        ]

    def _written_out(self, expression: SymbolicExpr) -> SymbolicExpr:
        """Over counters and blocks alone."""
        places = [variable(k) for k in range(len(self.values))]
        for name, value in reversed(self._lets):
            if name in expression.used_variables():
                expression = expression.replace_variables([value if k == name else p for k, p in enumerate(places)])
        return expression

    # ------------------------------------------------------------ operations

    def _steps(self, s: Statement) -> float:
        own = sum(STEPS.get(v.opcode, 1) for v in _values(s) if isinstance(v, ir.Op))
        own += sum(isinstance(v, ir.Load | ir.Within) for v in _values(s))
        if isinstance(s, ir.Store | ir.Copy):
            return own + 1
        if isinstance(s, ir.AtomicUpdate | ir.FetchAdd):
            return own + UPDATE
        return own + self._steps_of(s.function) if isinstance(s, ir.CallFunction) else own

    def _steps_of(self, name: str) -> float:
        if name not in self.of_function:
            function = self.functions[name]
            middle = [(v.interval.lower + v.interval.upper) // 2 for v in function.variables]
            self.of_function[name] = self._steps_within(function.body, middle)
        return self.of_function[name]

    def _steps_within(self, block: Block, values: list[int]) -> float:
        total = 0.0
        for s in block:
            if isinstance(s, ir.For):
                turns = max(-(-(s.stop.evaluate(values) - s.start.evaluate(values)) // s.step), 0)
                total += ENTRY + turns * (1 + self._steps_within(s.body, values))
            elif isinstance(s, ir.If):
                total += BRANCH + sum(self._steps_within(b, values) for b in (s.then, s.otherwise)) / 2
            else:
                total += self._steps(s)
        return total

    # ------------------------------------------------------------ memory

    def growth(self, index: SymbolicExpr, path: Path, level: int) -> int:
        """The distance of an access, in elements, from the first turn of a loop of the path to the next one."""
        return self._place(index, path, level) - self._place(index, path)

    def _place(self, index: SymbolicExpr, path: Path, later: int | None = None, block: int = 0) -> int:
        """The place where all loops begin, but one that has made a turn, or a later block."""
        values = [0] * len(self.values)
        values[GRID : GRID + 3] = self.origin
        values[GRID] += block
        for level, part in enumerate(path):
            if isinstance(part, ir.LetIndex):
                assert isinstance(part.value, SymbolicExpr)
                values[part.variable] = part.value.evaluate(values)
            else:
                loop, _ = part
                values[loop.variable] = loop.start.evaluate(values) + (loop.step if level == later else 0)
        return index.evaluate(values)

    def _memory(self, s: Statement, path: Path, share: float) -> None:
        for buffer, index in touched_by(s):
            found = self.buffers[buffer]
            if found.space == "global":
                lines, runs = self._fetched(index, path, storage_bytes(found.element_type))
                self.costs.lines += share * lines
                self.costs.runs += share * runs

    def _fetched(self, index: SymbolicExpr, path: Path, size: int) -> tuple[float, float]:
        """Lines and runs that one access fetches in the whole launch, from the innermost loop out.

        What a loop touches are `touched` runs of `length` bytes. When the loop around begins another turn, that is in the cache
        if it is one run, or few lines that the cache has places for; else it is fetched again.
        """
        touched, length, lines, runs, is_far = 1, size, 1.0, 1, False
        first = self._place(index, path)
        for distance, turns in self._levels(index, path, first):
            step = abs(distance) * size
            of_run = max(length / self.line, 1.0)
            is_kept = touched == 1 or (touched * of_run <= CACHED_LINES and not (is_far and touched > WAYS))
            if step > length and (step >= self.line or not is_kept):
                lines, runs, touched = lines * turns, runs * turns, touched * turns
                is_far = is_far or step >= PAGE
                continue
            length = max(length, (turns - 1) * step + (length if step <= length else 0))
            if not is_kept:
                lines, runs = lines * turns, runs * turns
            else:
                lines *= max(length / self.line, 1.0) / of_run
        return lines, runs

    def _levels(self, index: SymbolicExpr, path: Path, first: int) -> Iterator[tuple[int, int]]:
        """Distances and turns of the loops of a path, from within; then of the blocks."""
        for level in range(len(path) - 1, -1, -1):
            part = path[level]
            if not isinstance(part, ir.LetIndex) and part[1] > 1:
                yield self._place(index, path, level) - first, part[1]
        x, y, z = self.kernel.grid
        if x > 1:
            yield self._place(index, path, block=1) - first, x
        if y * z > 1:
            yield FAR, y * z


class _Body:
    """A turn of an innermost loop: what it does, and whether vectors can be made of several."""

    def __init__(self, walk: _Walk, level: int) -> None:
        self.walk, self.level = walk, level
        self.steps = 0.0
        self.written_out = 1
        self.is_chain = False
        self.is_vector = True
        self.own: set[str] = set()
        self.moves: list[tuple[int, bool]] = []

    def collect(self, block: Block, path: Path, times: float, share: float) -> None:
        """A block of the loop, which runs so often in a turn."""
        walk = self.walk
        for s in block:
            if isinstance(s, ir.For):
                first, turns = walk._turns(s)
                walk.values[s.variable] = first
                if turns:
                    self.written_out = max(self.written_out, turns)
                    self.collect(s.body, (*path, (s, turns)), times * turns, share)
            elif isinstance(s, ir.If):
                self.steps += BRANCH * times
                for body, chance in walk._branches(s):
                    self.collect(body, path, times * chance, share * chance)
            else:
                path = walk._named(s, path)
                self.steps += times * walk._steps(s)
                walk._memory(s, path, share)
                self._judge(s, path)

    def _judge(self, s: Statement, path: Path) -> None:
        if isinstance(s, ir.Var | ir.Let):
            self.own.add(s.name)
        self.is_chain = self.is_chain or (isinstance(s, ir.Assign) and s.name not in self.own)
        is_single = isinstance(s, ir.AtomicUpdate | ir.FetchAdd | ir.Break | ir.CallFunction)
        self.is_vector = self.is_vector and not is_single and not self.is_chain
        for number, (_, index) in enumerate(touched_by(s)):
            grows = self.walk.growth(index, path, self.level)
            is_store = isinstance(s, ir.Store) and number == 0
            self.is_vector = self.is_vector and (grows == self.written_out or (grows == 0 and not is_store))


def touched_by(s: Statement) -> Iterator[tuple[str, SymbolicExpr]]:
    """The buffers that a statement itself reads or writes, and the places in them; what it writes first."""
    if isinstance(s, ir.Store | ir.AtomicUpdate | ir.FetchAdd):
        yield s.buffer, s.index[0]
    for value in _values(s):
        if isinstance(value, ir.Load):
            yield value.buffer, value.index[0]


def _values(s: Statement) -> Iterator[Value]:
    """The values that a statement names, and those in them."""
    for value in values_of(s):
        yield from subvalues(value)
