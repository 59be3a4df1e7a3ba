"""Costs of a kernel without threads: the steps of its loops, and the lines of memory that they fetch.

The lowered kernel is visited for each of a few blocks. The body of a loop is visited once, with the counter in the middle of
its range, and multiplied by the number of iterations; strides are differences of the first two iterations. The laws are those
of docs/prediction.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf, prod
from typing import TYPE_CHECKING, TypeAlias

from indexing._core import Interval, SymbolicExpr, variable
from indexing.device.record import Memory
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.fragments import PANEL_PRODUCTS
from indexing.kernels.ir.nodes import Block, Statement, Value
from indexing.kernels.ir.traversal import all_values, loads_of
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.targets.c_body import assigned_again
from indexing.model.cache_lines import Cache, Level, Lines, digits, fetched_by_several
from indexing.model.data_indices import DataIndices
from indexing.model.guards import Guard, Moving, first_periods, reached
from indexing.model.kernel_walk import GRID, KernelWalk
from indexing.model.panel_costs import steps_of_panels

if TYPE_CHECKING:
    Path: TypeAlias = "tuple[tuple[ir.For, int] | ir.LetIndex, ...]"
    _Touched: TypeAlias = "tuple[str, SymbolicExpr]"
    _Access: TypeAlias = "tuple[str, tuple[int, ...], tuple[Level, ...], tuple[float, float], frozenset[int]]"
    _Guards: TypeAlias = "tuple[Guard, ...]"

BLOCKS = 3  # so many blocks are visited, evenly spaced
LANES = 8  # the lanes of a vector
MAX_UNROLLED = 16  # iterations of a loop that the compiler unrolls
MAX_INLINED_STEPS = 16384  # a kernel of more takes longer than waking a thread; loops of a program inline smaller ones
WAYS = 8  # lines in a set of a core's own cache
FAR = 1 << 40  # elements: a distance beyond all arrays

# Steps besides those of operations.
ITERATION = 4  # the cost of an iteration of an innermost loop
ENTRY = 2  # the cost of entering a loop
BRANCH = 2
CHAIN = 12  # steps from an operation to the one of the next iteration that waits for it: a few clocks
WINDOW = 400  # a processor overlaps so many steps
UPDATE = 20  # the cost of an update of an element that stays, or that data choose; no two cores do them
ELEMENT_UPDATE = 3  # the cost of one in a loop that moves from element to element
GATHER = (
    32  # the cost of an access of an element that lies apart, where a guard changes: a branch, or a lane of a gather
)
INSERT = 2  # the cost of an access of one lane of a vector
#: The steps of functions: those of their polynomials in 8 lanes, by the time that each takes in a loop on vectors of 32 bytes.
STEPS = {
    **dict.fromkeys(("exp", "exp_narrow", "tanh"), 100),
    **dict.fromkeys(("logistic", "cosh", "erf", "log", "log1p"), 120),
    **dict.fromkeys(("sinh", "cbrt"), 300),
    **dict.fromkeys(("acosh", "asinh", "atanh", "pow"), 400),
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "atan2"), 500),
    **dict.fromkeys(("maximum", "minimum", "div", "sqrt"), 10),
    "rsqrt": 100,
    "expm1": 200,
    "encode": 6,
    "decode": 4,
    "rem": 700,
}
#: The steps of functions of integers, of which processors have no vectors.
INTEGER_STEPS = {"div": 200, "rem": 200, "popcount": 25, "clz": 25}
BY_CONSTANT = 10  # the steps of a division of integers by a constant, which is a product with its reciprocal
REMAINDER_BY_CONSTANT = 175  # those of a remainder of floats, whose quotient has about half the parts


@dataclass(slots=True)
class Fetches:
    """The `lines` of an array that cores' caches fetch, in so many `runs` of adjacent ones, the bytes that are `used` before
    other lines take their place, and the lines `from_memory`, one more for each run. Of the access that leaves most, `step` is
    the distance of its innermost loop in bytes; 0 if data decide it.
    """

    lines: float = 0.0
    runs: float = 0.0
    used: float = 0.0
    from_memory: float = 0.0
    step: int = 0
    left: float = 0.0

    def add(self, lines: Lines, from_memory: Lines, step: int, line: int) -> None:
        """Add those of accesses."""
        self.lines += lines.lines
        self.runs += lines.runs
        self.used += lines.used
        self.from_memory += from_memory.lines + from_memory.runs
        left = lines.lines * line - lines.used
        if left > self.left:
            self.left, self.step = left, step


@dataclass(slots=True)
class LoopCosts:
    """The costs of a whole launch: `steps`, and what is fetched of global memory, by buffer."""

    steps: float = 0.0
    fetches: dict[str, Fetches] = field(default_factory=dict)

    @property
    def lines(self) -> float:
        """The lines that the caches of cores fetch."""
        return sum(f.lines for f in self.fetches.values())

    @property
    def runs(self) -> float:
        """The runs of adjacent lines among them."""
        return sum(f.runs for f in self.fetches.values())

    @property
    def from_memory(self) -> float:
        """The lines that come from memory, and one more for each run of them."""
        return sum(f.from_memory for f in self.fetches.values())


def costs_of_loops(kernel: ir.Kernel, memory: Memory) -> LoopCosts:
    """The costs of a kernel that is lowered for a target without threads, whose cores have such caches."""
    costs = LoopCosts()
    blocks = prod(kernel.grid)
    visited = min(BLOCKS, blocks)
    visitor = _BlockVisitor(kernel, memory, costs)
    for k in range(visited):
        number = blocks * (2 * k + 1) // (2 * visited)
        x, y, _ = kernel.grid
        visitor.visit((number % x, number // x % y, number // (x * y)), blocks / visited, 1 / visited)
    return costs


class _BlockVisitor(KernelWalk):
    """A visitor of blocks, each of which stands for a `share` of all: `times` executions of a statement."""

    def __init__(self, kernel: ir.Kernel, memory: Memory, costs: LoopCosts) -> None:
        super().__init__(kernel, (0,) * 6)
        self.kernel, self.memory, self.costs = kernel, memory, costs
        self.functions = {f.name: f for f in kernel.functions}
        self.buffers = {b.name: b for b in kernel.buffers}
        self.of_function: dict[str, float] = {}
        self.known: dict[int, tuple[float, tuple[_Touched, ...]]] = {}  # by statement: its steps, and what it touches
        self.distances: dict[
            tuple[SymbolicExpr, int], int | None
        ] = {}  # of accesses in loops, if they are always the same
        self.declared: dict[str, int] = {}  # the lengths of the paths to variables
        self.constants: set[str] = set()  # the names of values that are known when the kernel is compiled

    def visit(self, block: Sequence[int], times: float, share: float) -> None:
        """Add the costs of a block, which stands for so many."""
        self.origin = tuple(block)
        self.begin((0, 0, 0, *block))
        # Conditions on a block's number hold as often as for all blocks, of which those that are visited may be no sample.
        self.counters = {k: Interval(0, size - 1) for k, size in enumerate(self.kernel.grid, GRID)}
        self.data = DataIndices()
        self.accesses: dict[_Access, list[int]] = {}
        self.block(self.kernel.body, (), times, ())
        self.count_fetches(share)

    # ------------------------------------------------------------ statements

    def block(self, block: Block, path: Path, times: float, guards: _Guards) -> None:
        """Count statements outside of innermost loops, and visit loops and branches."""
        for s in block:
            if isinstance(s, ir.For):
                self._loop(s, path, times, guards)
            elif isinstance(s, ir.If):
                self.costs.steps += BRANCH * times
                for body, probability, added in self.guarded(s, path):
                    self.block(body, path, times * probability, (*guards, *added))
            else:
                path = self._named(s, path)
                self.costs.steps += times * self.known_of(s)[0]
                self._memory(s, path, guards)

    def _named(self, s: Statement, path: Path) -> Path:
        self.data.define(s)
        if isinstance(s, ir.Var | ir.Let):
            self.declared[s.name] = len(path)
        if isinstance(s, ir.Let) and self._is_constant(s.value):
            self.constants.add(s.name)
        return (*path, s) if self.define(s) and isinstance(s, ir.LetIndex) else path

    def _loop(self, loop: ir.For, path: Path, times: float, guards: _Guards) -> None:
        iterations = self.enter(loop)
        if iterations:
            self.costs.steps += ENTRY * times
            inside = [s for s in ir.statements(loop.body) if isinstance(s, ir.For)]
            around = (*path, (loop, iterations))
            if all(s.unroll and self.iterations(s)[1] <= MAX_UNROLLED for s in inside):
                self._innermost(loop, around, iterations, times, guards)
            else:
                self.block(loop.body, around, times * iterations, guards)
        self.leave(loop)

    def _innermost(self, loop: ir.For, path: Path, iterations: int, times: float, guards: _Guards) -> None:
        """Count a loop that a compiler may vectorize, or the loops in it that it unrolls."""
        body = _InnermostBody(self, len(path))
        body.collect(loop.body, path, 1.0, guards, 1)
        before = prod(part[1] for part in path[body.chain_from : -1] if not isinstance(part, ir.LetIndex))
        steps = body.alone(iterations, before)
        if body.is_vector:
            unrolls = any(isinstance(s, ir.For) for s in ir.statements(loop.body))
            turns = iterations if unrolls else iterations // LANES + (iterations % LANES).bit_count()
            steps = min(steps, turns * (ITERATION + body.vector_steps) + iterations * INSERT * body.lane_steps)
        self.costs.steps += times * steps

    # ------------------------------------------------------------ operations

    def known_of(self, s: Statement) -> tuple[float, tuple[_Touched, ...]]:
        """The steps of a statement, and the buffers that it touches."""
        if id(s) not in self.known:
            self.known[id(s)] = self._steps(s), tuple(touched_by(s))
        return self.known[id(s)]

    def _steps(self, s: Statement) -> float:
        if isinstance(s, ir.Let) and s.name in self.constants:
            return 0.0
        own: float = sum(self._steps_of_operation(v) for v in all_values(s) if isinstance(v, ir.Op))
        own += sum(isinstance(v, ir.Load | ir.Within) for v in all_values(s))
        if isinstance(s, ir.Store | ir.Copy):
            return own + 1
        if isinstance(s, ir.MultiplyPanels):
            return steps_of_panels(PANEL_PRODUCTS[s.product], s.depth)
        if isinstance(s, ir.AtomicUpdate | ir.FetchAdd):
            return own + UPDATE
        return own + self._steps_of(s.function) if isinstance(s, ir.CallFunction) else own

    def _steps_of_operation(self, v: ir.Op) -> int:
        is_by_constant = v.opcode in ("div", "rem") and self._is_constant(v.operands[1])
        if v.type[0] not in "su":
            return REMAINDER_BY_CONSTANT if is_by_constant and v.opcode == "rem" else STEPS.get(v.opcode, 1)
        return BY_CONSTANT if is_by_constant else INTEGER_STEPS.get(v.opcode, 1)

    def _is_constant(self, value: Value) -> bool:
        if isinstance(value, ir.Op):
            return all(map(self._is_constant, value.operands))
        return isinstance(value, ir.Constant) or (isinstance(value, ir.Ref) and value.name in self.constants)

    def is_straight(self, name: str) -> bool:
        """Whether a function has neither loops nor branches: compilers put its body in the place of its call."""
        return not any(isinstance(s, ir.For | ir.If) for s in ir.statements(self.functions[name].body))

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
                iterations = max(-(-(s.stop.evaluate(values) - s.start.evaluate(values)) // s.step), 0)
                total += ENTRY + iterations * (1 + self._steps_within(s.body, values))
            elif isinstance(s, ir.If):
                total += BRANCH + sum(self._steps_within(b, values) for b in (s.then, s.otherwise)) / 2
            else:
                total += self._steps(s)
        return total

    # ------------------------------------------------------------ memory

    def varies(self, condition: Value, path: Path) -> bool:
        """Whether a condition changes with the last loop of a path."""
        if not isinstance(condition, ir.Within):
            return True
        _, loop, _ = _last_loop(path)
        whole = self.without_lets(condition.expression)
        return loop.variable in whole.used_variables() or loop.variable in self.data.changes(condition.expression)

    def accesses_apart(self, s: Statement, path: Path) -> tuple[int, bool]:
        """The number of a statement's accesses that neither stay nor move by one element in the last loop of a path, and
        whether its store, if any, moves evenly; an update, by one element.
        """
        level, loop, iterations = _last_loop(path)
        count, is_even = 0, True
        for number, (_, index) in enumerate(self.known_of(s)[1]):
            distance, length = next(self._digits(index, path, level), (1, 1))
            is_by_data = loop.variable in self.data.changes(index)
            count += distance not in (0, 1) or length < iterations or is_by_data
            if number == 0 and isinstance(s, ir.Store):
                is_even = distance != 0 and length >= iterations
            if number == 0 and isinstance(s, ir.AtomicUpdate):
                is_even = distance == 1 and length >= iterations and not is_by_data
        return count, is_even

    def _address(self, index: SymbolicExpr, path: Path, moved: int = -1, place: int = 0) -> int:
        """The address in the first block and the first iteration of all loops, except the variable `moved`, which is that of a
        block's number or of a counter, and has its next place, or a later one.
        """
        values = [0] * len(self.values)
        values[GRID : GRID + 3] = self.origin
        if moved in range(GRID, GRID + 3):
            values[moved] = place
        for part in path:
            if isinstance(part, ir.LetIndex):
                assert isinstance(part.value, SymbolicExpr)
                values[part.variable] = part.value.evaluate(values)
            else:
                loop, _ = part
                values[loop.variable] = loop.start.evaluate(values) + (
                    place * loop.step if loop.variable == moved else 0
                )
        return index.evaluate(values)

    def guarded(self, s: ir.If, path: Path) -> Iterator[tuple[Block, float, _Guards]]:
        """The bodies that may run, each with its probability, and what guards its accesses."""
        conditions = [self._guard(c, path) for c in s.conditions]
        holds = prod(c.probability for c in conditions)
        if holds > 0:
            yield s.then, holds, tuple(c for c in conditions if c.probability < 1)
        if holds < 1:
            periods = [c.periods for c in conditions if c.periods is not None]
            by_index = {v: min(p.get(v, inf) for p in periods) for p in periods for v in p} if periods else None
            yield s.otherwise, 1 - holds, (Guard(1 - holds, by_index, any(c.is_everywhere for c in conditions)),)

    def _guard(self, condition: Value, path: Path) -> Guard:
        probability = self.probability(condition)
        if not isinstance(condition, ir.Within):
            return Guard(probability, is_everywhere=probability == 0.5)
        if self.data.changes(condition.expression):
            return Guard(probability, is_everywhere=True)
        return Guard(probability, first_periods(self._levels(condition.expression, path)))

    def _memory(self, s: Statement, path: Path, guards: _Guards) -> None:
        for name, index in self.known_of(s)[1]:
            buffer = self.buffers[name]
            if buffer.space == "global":
                loops = tuple(id(part[0]) for part in path if not isinstance(part, ir.LetIndex))
                size, line = storage_bytes(buffer.element_type), self.memory.line_bytes
                moving, of_lines, of_bytes = reached(guards, list(self._levels(index, path)), size, line)
                key = name, loops, tuple(level for _, level in moving), (of_lines, of_bytes), self.data.changes(index)
                self.accesses.setdefault(key, []).append(self._address(index, path))

    def count_fetches(self, share: float) -> None:
        """Add what all accesses that were met fetch, those in the same loops together. Single lines that data choose bring no
        others.
        """
        line = self.memory.line_bytes
        own, last = Cache(self.memory.l1_bytes, line, WAYS), Cache(self.memory.l2_bytes, line)
        for (name, _, levels, (of_lines, of_bytes), by_data), addresses in self.accesses.items():
            buffer = self.buffers[name]
            size = storage_bytes(buffer.element_type)
            in_bytes = [(distance * size, iterations) for distance, iterations in levels]
            step = next((abs(d) for d, _ in in_bytes if d), size)
            if step >= FAR:
                step = 0 if by_data else size
            of_array = self.costs.fetches.setdefault(name, Fetches())
            accesses = [(a * size, size) for a in addresses]
            of_own, of_last = (fetched_by_several(in_bytes, accesses, cache) for cache in (own, last))
            if by_data:
                of_own, of_last = self._at_most(of_own, buffer, own), self._at_most(of_last, buffer, last)
                of_own, of_last = (replace(f, runs=0.0) if f.lines <= f.runs else f for f in (of_own, of_last))
            of_own, of_last = (f.part(share * of_lines, share * of_bytes) for f in (of_own, of_last))
            of_array.add(of_own, of_last, step, line)

    def _at_most(self, fetched: Lines, buffer: ir.Buffer, cache: Cache) -> Lines:
        """At most each line of the array once, if all of them stay in the cache."""
        most = -(-buffer.size * storage_bytes(buffer.element_type) // cache.line)
        if most * cache.line > cache.size:
            return fetched
        return Lines(min(fetched.lines, most), min(fetched.runs, most), min(fetched.used, most * cache.line))

    def _digits(self, index: SymbolicExpr, path: Path, level: int) -> Iterator[Level]:
        """The levels of an access in one loop of a path."""
        part = path[level]
        assert not isinstance(part, ir.LetIndex)
        loop, iterations = part
        return self._moves(index, path, path[level + 1 :], (loop.variable, loop.step, iterations))

    def _moves(self, index: SymbolicExpr, path: Path, inside: Path, counter: tuple[int, int, int]) -> Iterator[Level]:
        """The levels of an access by a variable, with its step and the number of its values; `inside` is defined after it."""
        moved, step, count = counter
        if (index, moved) not in self.distances:
            within = self.replaced(index, (_counted(inner) for inner in reversed(inside)))
            later = self.replaced(within, [(moved, variable(moved) + step)])
            self.distances[index, moved] = (later - within).constant_value
        distance = self.distances[index, moved]
        if distance is None:
            return digits(partial(self._address, index, path, moved), count)
        return iter([(distance, count)])

    def _levels(self, index: SymbolicExpr, path: Path) -> Iterator[Moving]:
        """Distances and numbers of iterations of the loops of a path, innermost first, with their counters; then those of the
        blocks. Data lead anywhere.
        """
        anywhere = self.data.changes(index)
        far = FAR  # no two loops lead to the same places
        loops = [(level, part) for level, part in enumerate(path) if not isinstance(part, ir.LetIndex)]
        for level, (loop, iterations) in reversed(loops):
            if loop.variable in anywhere:
                yield loop.variable, (far, iterations)
                far *= iterations
            elif iterations > 1:
                yield from ((loop.variable, of) for of in self._digits(index, path, level))
        for number, size in enumerate(self.kernel.grid, GRID):
            if number in anywhere:
                yield number, (far, size)
                far *= size
            elif size > 1:
                yield from ((number, of) for of in self._moves(index, path, path, (number, 1, size)))


class _InnermostBody:
    """An iteration of an innermost loop: its steps without vectors, those of one vector, and those that remain each lane's own:
    accesses of elements that are not adjacent.
    """

    def __init__(self, visitor: _BlockVisitor, depth: int) -> None:
        self.visitor, self.depth = visitor, depth
        self.steps = self.vector_steps = self.lane_steps = self.chained = 0.0
        self.chain_from = depth
        self.is_vector = True

    def alone(self, iterations: int, loops: int) -> float:
        """The steps of the loop without vectors, where so many loops together update a variable. Operations that wait for those
        of the iteration before hide behind those of other variables, if these are near enough.
        """
        steps = iterations * (ITERATION + self.steps)
        return max(steps, iterations * self.chained * CHAIN * min(loops * steps / WINDOW, 1.0))

    def collect(
        self, block: Block, path: Path, times: float, guards: _Guards, lanes: int, is_masked: bool = False
    ) -> None:
        """Collect a block, which runs so often in an iteration, and in whose own loop a vector does so many iterations; a mask
        may leave some out.
        """
        visitor = self.visitor
        self.is_vector = self.is_vector and not assigned_again(block)
        for s in block:
            if isinstance(s, ir.For):
                first, iterations = visitor.iterations(s)
                visitor.values[s.variable] = first
                if iterations:
                    around, vector = (*path, (s, iterations)), min(iterations, LANES)
                    self.collect(s.body, around, times * iterations, guards, vector, is_masked)
            elif isinstance(s, ir.If):
                self._count(BRANCH * times, 0.0, lanes)
                varies = is_masked or any(visitor.varies(c, path) for c in s.conditions)
                for body, probability, added in visitor.guarded(s, path):
                    self.collect(body, path, times * probability, (*guards, *added), lanes, varies)
            else:
                path = visitor._named(s, path)
                apart, is_even = visitor.accesses_apart(s, path)
                self.is_vector = self.is_vector and is_even and not (is_masked and apart)
                gathered = GATHER * apart if is_masked and not isinstance(s, ir.AtomicUpdate) else 0
                apart += is_masked and isinstance(s, ir.Store)
                steps = visitor.known_of(s)[0] - apart + gathered
                if isinstance(s, ir.AtomicUpdate) and is_even:
                    steps += ELEMENT_UPDATE - UPDATE
                self._count(times * steps, times * apart, lanes)
                visitor._memory(s, path, guards)
                self._classify(s, times)

    def _count(self, steps: float, apart: float, lanes: int) -> None:
        self.steps += steps + apart
        self.vector_steps += steps / lanes
        self.lane_steps += apart

    def _classify(self, s: Statement, times: float) -> None:
        if isinstance(s, ir.Assign) and (declared := self.visitor.declared[s.name]) < self.depth:
            self.chained += times
            self.chain_from = min(self.chain_from, declared)
        is_single = isinstance(s, ir.FetchAdd | ir.Break | ir.MultiplyPanels)
        is_single = is_single or (isinstance(s, ir.CallFunction) and not self.visitor.is_straight(s.function))
        self.is_vector = self.is_vector and not is_single and not self.chained


def _counted(part: tuple[ir.For, int] | ir.LetIndex) -> tuple[int, SymbolicExpr]:
    """The variable of a part of a path, and its first value."""
    if not isinstance(part, ir.LetIndex):
        return part[0].variable, part[0].start
    assert isinstance(part.value, SymbolicExpr)
    return part.variable, part.value


def _last_loop(path: Path) -> tuple[int, ir.For, int]:
    """The last loop of a path: its place, the loop, and its iterations."""
    return [(level, *part) for level, part in enumerate(path) if not isinstance(part, ir.LetIndex)][-1]


def touched_by(s: Statement) -> Iterator[_Touched]:
    """The buffers that a statement itself writes, then those that it reads, with the indices."""
    if isinstance(s, ir.Store | ir.AtomicUpdate | ir.FetchAdd):
        yield s.buffer, s.index[0]
    yield from ((v.buffer, v.index[0]) for v in loads_of(s))
