"""Costs of a kernel without threads: the steps of its loops, and the lines of memory that they fetch.

The lowered kernel is visited for each of a few blocks. The body of a loop is visited once, with the counter in the middle of
its range, and multiplied by the number of iterations; strides are differences of the first two iterations. The laws are those
of docs/prediction.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, prod
from typing import TYPE_CHECKING, TypeAlias

from indexing._core import SymbolicExpr
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.fragments import PANEL_BYTES, PANEL_ROWS
from indexing.kernels.ir.traversal import subvalues, values_of
from indexing.kernels.ir.types import storage_bytes
from indexing.model.data_indices import DataIndices
from indexing.model.kernel_walk import GRID, KernelWalk

if TYPE_CHECKING:
    from indexing.kernels.ir.nodes import Block, Statement, Value

    #: Loops with their numbers of iterations, and named index expressions, outermost first.
    Path: TypeAlias = "tuple[tuple[ir.For, int] | ir.LetIndex, ...]"

BLOCKS = 3  # so many blocks are visited, evenly spaced
LANES = 8  # the lanes of a vector
VECTOR_BYTES = 32
MAX_UNROLLED = 16  # iterations of a loop that the compiler unrolls
CACHED_LINES = 512  # so many lines remain in the cache until a loop runs again
PAGE = 4096  # bytes: lines at distances that are multiples of it share a set of the cache
WAYS = 8  # lines in a set
FAR = 1 << 40  # elements: a distance beyond all arrays

# Steps besides those of operations.
ITERATION = 4  # the cost of an iteration of an innermost loop
ENTRY = 2  # the cost of entering a loop
BRANCH = 2
CHAIN = 2  # steps of each operation that depends on the iteration before
UPDATE = 20  # the cost of an atomic update
VECTOR = 2  # the cost of an operation on vectors
#: The steps of functions: those of their polynomials in 8 lanes, by the time that each takes in a loop on vectors of 32 bytes.
STEPS = {
    **dict.fromkeys(("exp", "exp_narrow", "tanh"), 100),
    **dict.fromkeys(("logistic", "cosh"), 120),
    **dict.fromkeys(("expm1", "log", "log1p"), 200),
    **dict.fromkeys(("erf", "sinh", "cbrt"), 300),
    **dict.fromkeys(("acosh", "asinh", "atanh", "pow"), 400),
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "atan2"), 500),
    **dict.fromkeys(("maximum", "minimum", "div", "sqrt"), 10),
    "rsqrt": 100,
    "encode": 6,
    "decode": 4,
    "rem": 700,
}
#: The steps of functions of integers, of which processors have no vectors.
INTEGER_STEPS = {"div": 200, "rem": 200, "popcount": 25, "clz": 25}


@dataclass(slots=True)
class Fetches:
    """The `lines` of an array that are fetched, in so many `runs` of adjacent ones, and the bytes that are `used` before other
    lines take their place. Of the access that leaves most, `step` is the distance of its innermost loop in bytes; 0 if data
    decide it.
    """

    lines: float = 0.0
    runs: float = 0.0
    used: float = 0.0
    step: int = 0
    left: float = 0.0

    def add(self, lines: float, runs: float, used: float, step: int, line: int) -> None:
        """Add those of an access."""
        self.lines, self.runs, self.used = self.lines + lines, self.runs + runs, self.used + used
        if lines * line - used > self.left:
            self.left, self.step = lines * line - used, step


@dataclass(slots=True)
class LoopCosts:
    """The costs of a whole launch: `steps`, and what is fetched of global memory, by buffer."""

    steps: float = 0.0
    fetches: dict[str, Fetches] = field(default_factory=dict)

    @property
    def lines(self) -> float:
        """The lines of memory that are fetched."""
        return sum(f.lines for f in self.fetches.values())

    @property
    def runs(self) -> float:
        """The runs of adjacent lines that are fetched."""
        return sum(f.runs for f in self.fetches.values())


def costs_of_loops(kernel: ir.Kernel, line_bytes: int) -> LoopCosts:
    """The costs of a kernel that is lowered for a target without threads."""
    costs = LoopCosts()
    blocks = prod(kernel.grid)
    visited = min(BLOCKS, blocks)
    for k in range(visited):
        number = blocks * (2 * k + 1) // (2 * visited)
        x, y, _ = kernel.grid
        visitor = _BlockVisitor(kernel, (number % x, number // x % y, number // (x * y)), line_bytes, costs)
        visitor.block(kernel.body, (), blocks / visited, 1 / visited)
    return costs


class _BlockVisitor(KernelWalk):
    """A visitor of one block, which represents others: `times` executions of a statement, a `share` of all of them."""

    def __init__(self, kernel: ir.Kernel, block: Sequence[int], line_bytes: int, costs: LoopCosts) -> None:
        super().__init__(kernel, (0, 0, 0, *block))
        self.kernel = kernel
        self.functions = {f.name: f for f in kernel.functions}
        self.origin, self.line, self.costs = tuple(block), line_bytes, costs
        self.buffers = {b.name: b for b in kernel.buffers}
        self.of_function: dict[str, float] = {}
        self.data = DataIndices()

    # ------------------------------------------------------------ statements

    def block(self, block: Block, path: Path, times: float, share: float) -> None:
        """Count statements outside of innermost loops, and visit loops and branches."""
        for s in block:
            if isinstance(s, ir.For):
                self._loop(s, path, times, share)
            elif isinstance(s, ir.If):
                self.costs.steps += BRANCH * times
                for body, probability in self.branches(s):
                    self.block(body, path, times * probability, share * probability)
            else:
                path = self._named(s, path)
                self.costs.steps += times * self._steps(s)
                self._memory(s, path, share)

    def _named(self, s: Statement, path: Path) -> Path:
        self.data.define(s)
        return (*path, s) if self.define(s) and isinstance(s, ir.LetIndex) else path

    def _loop(self, loop: ir.For, path: Path, times: float, share: float) -> None:
        iterations = self.enter(loop)
        if iterations:
            self.costs.steps += ENTRY * times
            inside = [s for s in ir.statements(loop.body) if isinstance(s, ir.For)]
            around = (*path, (loop, iterations))
            if all(s.unroll and self.iterations(s)[1] <= MAX_UNROLLED for s in inside):
                self._innermost(loop, around, iterations, times, share)
            else:
                self.block(loop.body, around, times * iterations, share)
        self.leave(loop)

    def _innermost(self, loop: ir.For, path: Path, iterations: int, times: float, share: float) -> None:
        """Count a loop that a compiler may vectorize: its iterations, or those of loops in it that it unrolls."""
        body = _InnermostBody(self, len(path) - 1)
        body.collect(loop.body, path, 1.0, share)
        lanes = 1
        if body.is_vector:
            lanes = LANES if body.unrolled == 1 else min(body.unrolled, LANES)
        whole, rest = divmod(iterations, lanes) if body.unrolled == 1 else (iterations / lanes, 0)
        wait = CHAIN if body.is_chain else 1
        self.costs.steps += times * (whole + rest) * (ITERATION + wait * body.steps)

    # ------------------------------------------------------------ operations

    def _steps(self, s: Statement) -> float:
        own = sum(_table(v).get(v.opcode, 1) for v in _values(s) if isinstance(v, ir.Op))
        own += sum(isinstance(v, ir.Load | ir.Within) for v in _values(s))
        if isinstance(s, ir.Store | ir.Copy):
            return own + 1
        if isinstance(s, ir.MultiplyPanels):
            vectors = PANEL_BYTES // VECTOR_BYTES
            products, loads = PANEL_ROWS * vectors, PANEL_ROWS + vectors
            return s.depth * VECTOR * (products + loads)
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
                iterations = max(-(-(s.stop.evaluate(values) - s.start.evaluate(values)) // s.step), 0)
                total += ENTRY + iterations * (1 + self._steps_within(s.body, values))
            elif isinstance(s, ir.If):
                total += BRANCH + sum(self._steps_within(b, values) for b in (s.then, s.otherwise)) / 2
            else:
                total += self._steps(s)
        return total

    # ------------------------------------------------------------ memory

    def stride(self, index: SymbolicExpr, path: Path, level: int) -> int:
        """The distance of an access, in elements, from the first iteration of a loop of the path to the second."""
        return self._address(index, path, level) - self._address(index, path)

    def _address(self, index: SymbolicExpr, path: Path, later: int | None = None, block: int = 0) -> int:
        """The address when all loops are in their first iteration, except one that is in its second, or in a later block."""
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
            accessed = self.buffers[buffer]
            if accessed.space == "global":
                of_array = self.costs.fetches.setdefault(buffer, Fetches())
                lines, runs, used, step = self._fetched(index, path, storage_bytes(accessed.element_type))
                if self.data.changes(index):
                    most = self._at_most(accessed)
                    lines, runs, used = min(lines, most), min(runs, most), min(used, most * self.line)
                of_array.add(share * lines, share * runs, share * used, step, self.line)

    def _at_most(self, buffer: ir.Buffer) -> float:
        """The lines that accesses anywhere in a buffer fetch at most: each once if all of them remain in the cache."""
        lines = -(-buffer.size * storage_bytes(buffer.element_type) // self.line)
        return lines if lines <= CACHED_LINES else inf

    def _fetched(self, index: SymbolicExpr, path: Path, size: int) -> tuple[float, float, float, int]:
        """Lines and runs that one access fetches in the whole launch, computed from the innermost loop outwards; the bytes of
        them that are used, and the step of the innermost loop in which the access moves.

        A loop touches `touched` runs of `length` bytes. In the next iteration of the loop around it, they are still cached if
        they are one run, or few lines that fit in their sets; otherwise they are fetched again.
        """
        touched, length, lines, runs, is_far = 1, size, 1.0, 1, False
        used, steps = float(size), list[int]()
        first = self._address(index, path)
        for distance, iterations in self._levels(index, path, first):
            step = abs(distance) * size
            steps += [step] if step else []
            of_run = max(length / self.line, 1.0)
            is_kept = touched == 1 or (touched * of_run <= CACHED_LINES and not (is_far and touched > WAYS))
            if step > length and (step >= self.line or not is_kept):
                lines, runs, touched = lines * iterations, runs * iterations, touched * iterations
                used *= iterations
                is_far = is_far or step >= PAGE
                continue
            shorter, length = length, max(length, (iterations - 1) * step + (length if step <= length else 0))
            if not is_kept:
                lines, runs, used = lines * iterations, runs * iterations, used * iterations
            else:
                lines *= max(length / self.line, 1.0) / of_run
                used *= length / shorter
        step = next(iter(steps), size)
        return lines, runs, used, step if step < FAR else 0 if self.data.changes(index) else size

    def _levels(self, index: SymbolicExpr, path: Path, first: int) -> Iterator[tuple[int, int]]:
        """Distances and numbers of iterations of the loops of a path, innermost first; then those of the blocks. Data lead
        anywhere.
        """
        anywhere = self.data.changes(index)
        for level in range(len(path) - 1, -1, -1):
            part = path[level]
            if not isinstance(part, ir.LetIndex) and part[1] > 1:
                is_near = part[0].variable not in anywhere
                yield self._address(index, path, level) - first if is_near else FAR, part[1]
        x, y, z = self.kernel.grid
        if x > 1:
            yield self._address(index, path, block=1) - first if GRID not in anywhere else FAR, x
        if y * z > 1:
            yield FAR, y * z


class _InnermostBody:
    """An iteration of an innermost loop: its operations, and whether several can be vectorized."""

    def __init__(self, visitor: _BlockVisitor, level: int) -> None:
        self.visitor, self.level = visitor, level
        self.steps = 0.0
        self.unrolled = 1
        self.is_chain = False
        self.is_vector = True
        self.own: set[str] = set()
        self.moves: list[tuple[int, bool]] = []

    def collect(self, block: Block, path: Path, times: float, share: float) -> None:
        """Collect a block of the loop, which runs so often in an iteration."""
        visitor = self.visitor
        for s in block:
            if isinstance(s, ir.For):
                first, iterations = visitor.iterations(s)
                visitor.values[s.variable] = first
                if iterations:
                    self.unrolled = max(self.unrolled, iterations)
                    self.collect(s.body, (*path, (s, iterations)), times * iterations, share)
            elif isinstance(s, ir.If):
                self.steps += BRANCH * times
                for body, probability in visitor.branches(s):
                    self.collect(body, path, times * probability, share * probability)
            else:
                path = visitor._named(s, path)
                self.steps += times * visitor._steps(s)
                visitor._memory(s, path, share)
                self._classify(s, path)

    def _classify(self, s: Statement, path: Path) -> None:
        if isinstance(s, ir.Var | ir.Let):
            self.own.add(s.name)
        self.is_chain = self.is_chain or (isinstance(s, ir.Assign) and s.name not in self.own)
        is_single = isinstance(s, ir.AtomicUpdate | ir.FetchAdd | ir.Break | ir.CallFunction | ir.MultiplyPanels)
        self.is_vector = self.is_vector and not is_single and not self.is_chain
        for number, (_, index) in enumerate(touched_by(s)):
            stride = self.visitor.stride(index, path, self.level)
            is_store = isinstance(s, ir.Store) and number == 0
            self.is_vector = self.is_vector and (stride == self.unrolled or (stride == 0 and not is_store))


def _table(v: ir.Op) -> Mapping[str, int]:
    return INTEGER_STEPS if v.type[0] in "su" else STEPS


def touched_by(s: Statement) -> Iterator[tuple[str, SymbolicExpr]]:
    """The buffers that a statement itself writes, then those that it reads, with the indices."""
    if isinstance(s, ir.Store | ir.AtomicUpdate | ir.FetchAdd):
        yield s.buffer, s.index[0]
    for value in _values(s):
        if isinstance(value, ir.Load):
            yield value.buffer, value.index[0]


def _values(s: Statement) -> Iterator[Value]:
    """The values that a statement names, and those in them."""
    for value in values_of(s):
        yield from subvalues(value)
