"""Instructions that the warps of a kernel issue, by the unit that executes them.

The kernel is walked as a few of its warps run it, each by its first lane. The body of a loop is visited once, and counts for
all iterations; conditions on data hold half of the time. The compiler's own choices (common subexpressions, strength
reduction) are assumed: an index is computed once where it does not change, and costs its divisions. The counts are estimates.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.fragments import COLUMNS, INSTRUCTIONS, ROWS, MatrixInstruction
from indexing.kernels.ir.opcodes import ATOMIC_UPDATES
from indexing.kernels.ir.traversal import expressions_in, subvalues, values_of
from indexing.kernels.passes.unroll import UnrollingRule
from indexing.model.kernel_walk import KernelWalk
from indexing.model.load_waits import LoadRun, StatementLoads, loads_of

if TYPE_CHECKING:
    from indexing._core import SymbolicExpr
    from indexing.device.record import Device
    from indexing.kernels.ir.nodes import Block, Statement, Value

#: Instructions by the unit that executes them: an element type of the scalar units, `special`, `memory`, `control`, or an
#: element type of the matrix units behind `MATRIX`.
Units: TypeAlias = defaultdict[str, float]

__all__ = ["InstructionCounts", "count_instructions"]

MATRIX = "matrix "
SAMPLED = (2, 2)  # blocks, and warps of each
LOOP = 2  # instructions of an iteration besides those of its body
SWAP = 8  # an atomic update without an instruction of its own is a loop that compares and swaps
INDEX_DIVISION = 4  # the instructions that divide an index by a constant that is no power of two
DIVISION = 20  # the instructions that divide integers
LOAD_LANES = 32  # the lanes that load or store in a clock of a core
#: Instructions of real functions on the scalar units, and on that of special functions; any other operation is one.
FUNCTIONS: Mapping[str, tuple[int, int]] = {
    **dict.fromkeys(("div", "rem"), (8, 1)),
    **dict.fromkeys(("sqrt", "rsqrt"), (4, 1)),
    **dict.fromkeys(("exp", "logistic"), (6, 1)),
    **dict.fromkeys(("expm1", "log", "log1p"), (14, 1)),
    **dict.fromkeys(("sin", "cos", "cbrt", "erf"), (24, 1)),
    **dict.fromkeys(("tanh", "sinh", "cosh"), (16, 2)),
    **dict.fromkeys(("tan", "atan", "atan2", "asin", "acos", "asinh", "acosh", "atanh"), (30, 2)),
    "pow": (40, 2),
    **dict.fromkeys(("bits", "from_bits", "real", "imag", "complex"), (0, 0)),  # other names of registers
}


@dataclass(frozen=True, slots=True)
class InstructionCounts:
    """Totals over a launch: instructions that warps issue, the work of the busiest unit in operations of f32 lanes, and how
    often warps wait for loads, all of a block as often as the one that waits most.
    """

    issued: float
    operations: float
    waits: float


def count_instructions(kernel: ir.Kernel, device: Device) -> InstructionCounts:
    """The instructions of a kernel whose threads run in parallel, before its values are lowered for the target."""
    warp = device.cores.warp_size
    warps = -(-prod(kernel.block) // warp)
    blocks, of_block = _spread(prod(kernel.grid), SAMPLED[0]), _spread(warps, SAMPLED[1])
    share = prod(kernel.grid) * warps / (len(blocks) * len(of_block))
    units: Units = defaultdict(float)
    waits = 0.0
    visitor = _WarpVisitor(kernel, _Costs(kernel, device))
    for block in blocks:
        longest = 0.0
        for number in of_block:
            of_warp, waits_of_warp = visitor.walk((*_at(number * warp, kernel.block), *_at(block, kernel.grid)), share)
            _add(units, of_warp)
            longest = max(longest, waits_of_warp)
        waits += longest * len(of_block)
    lanes = units_of_lanes(device)
    busiest = max((count * device.cores.lanes / lanes[u] for u, count in units.items() if u in lanes), default=0.0)
    return InstructionCounts(sum(units.values()), busiest * warp, waits)


def units_of_lanes(device: Device) -> dict[str, float]:
    """The lanes of a core's units, by the names under which instructions are counted."""
    rates = device.rates
    units: dict[str, float] = {kind: rates.scalar.get(kind, device.cores.lanes) for kind in ("f32", "f64", "s32")}
    products = {MATRIX + kind: _matrix_lanes(device, i) for kind, i in INSTRUCTIONS.items()}
    known = {unit: lanes for unit, lanes in products.items() if lanes}
    return {**units, **known, "special": rates.special, "memory": LOAD_LANES}


def _matrix_lanes(device: Device, i: MatrixInstruction) -> float:
    """The lanes that the matrix units take from warps that issue an instruction, in a clock of a core; 0: there are none."""
    rates = device.rates
    products = ROWS * COLUMNS * i.depth / device.cores.warp_size  # of a lane
    rate = rates.matrix.get(i.element_type.replace("u8", "s8"), 0)
    return rate * rates.matrix_clock / rates.clock / products


def _add(units: Units, more: Units, times: float = 1.0) -> None:
    for unit, count in more.items():
        units[unit] += times * count


def _spread(count: int, most: int) -> list[int]:
    """At most so many of the numbers below `count`, evenly spaced."""
    chosen = min(count, most)
    return [count * (2 * k + 1) // (2 * chosen) for k in range(chosen)]


def _at(number: int, sizes: Sequence[int]) -> tuple[int, int, int]:
    x, y, _ = sizes
    return number % x, number // x % y, number // (x * y)


@dataclass(frozen=True, slots=True)
class _Cost:
    """One execution of a statement: its instructions by unit, its indices without constant terms, each with its instructions,
    and its loads.
    """

    units: tuple[tuple[str, float], ...]
    indices: tuple[tuple[SymbolicExpr, int], ...]
    loads: StatementLoads


class _Costs:
    """The costs of a kernel's statements, each found once for all warps, and of its functions."""

    def __init__(self, kernel: ir.Kernel, device: Device) -> None:
        self.kernel = kernel
        self.under_way = device.memory.loads_under_way
        self.registers = frozenset(b.name for b in kernel.buffers if b.space == "local")
        self.in_memory = frozenset(b.name for b in kernel.buffers if b.space == "global")
        self.unrolling = UnrollingRule(kernel.buffers)
        self.of_function: dict[str, tuple[Units, float]] = {}
        self._together: dict[int, int] = {}
        self._known: dict[int, _Cost] = {}  # by the identity of a statement of the kernel

    def of(self, s: Statement) -> _Cost:
        """The cost of a statement."""
        if id(s) not in self._known:
            units = instructions_of(s, self.registers)
            numbers = set(self.unrolling.registers(s))  # registers have no addresses
            bases = (_without_offset(e) for e in expressions_in(s) if e not in numbers)
            costs = tuple((base, _index_cost(base)) for base in bases)
            self._known[id(s)] = _Cost(tuple(units.items()), costs, loads_of(s, self.in_memory))
        return self._known[id(s)]

    def together(self, loop: ir.For) -> int:
        """The number of iterations of a loop that a compiler unrolls together."""
        if id(loop) not in self._together:
            self._together[id(loop)] = max(loop.unroll or self.unrolling.factor(loop), 1)
        return self._together[id(loop)]


class _WarpVisitor(KernelWalk):
    """A visitor of the entry, or of a function, which counts instructions by unit, and waits."""

    def __init__(self, body: ir.Kernel | ir.Function, costs: _Costs) -> None:
        super().__init__(body, ())
        self.costs = costs

    def walk(self, given: Sequence[int], times: float) -> tuple[Units, float]:
        """The instructions and the waits of a warp with these leading variables, which runs so many times."""
        self.begin(given)
        self.units: Units = defaultdict(float)
        self.waits = 0.0
        self.known: set[SymbolicExpr] = set()  # indices that are computed already
        self._run(self.walked.body, times, LoadRun(times))
        return self.units, self.waits

    def _run(self, block: Block, times: float, run: LoadRun) -> None:
        self._statements(block, times, run)
        self._end(run)

    def _end(self, run: LoadRun) -> None:
        self.waits += run.end(self.costs.under_way)

    def _statements(self, block: Block, times: float, run: LoadRun) -> None:
        for s in block:
            if isinstance(s, ir.For):
                self._loop(s, times, run)
            elif isinstance(s, ir.If):
                self._branch(s, times, run)
            else:
                if isinstance(s, ir.Barrier):
                    self._end(run)
                self.define(s)
                self._count(s, times, run)

    def _branch(self, s: ir.If, times: float, run: LoadRun) -> None:
        self._count(s, times, run)
        self.units["control"] += times
        branches = list(self.branches(s))
        if len(branches) == 1:  # no branch: the loads of the guarded statements are under way with those around
            return self._statements(branches[0][0], times, run)
        self._end(run)
        for body, probability in branches:
            self._run(body, times * probability, LoadRun(run.times * probability))
        return None

    def _loop(self, loop: ir.For, times: float, run: LoadRun) -> None:
        iterations = self.enter(loop)
        if iterations:
            before = self.known
            self.known = set(before)
            together = self.costs.together(loop)
            if together >= iterations:
                self._statements(loop.body, times * iterations, run)
            else:
                self.units["control"] += times * iterations / together * LOOP
                self._end(run)
                self._run(loop.body, times * iterations, LoadRun(run.times * iterations / together))
            self.known = before
        self.leave(loop)

    def _count(self, s: Statement, times: float, run: LoadRun) -> None:
        cost = self.costs.of(s)
        run.add(cost.loads, times)
        for unit, count in cost.units:
            self.units[unit] += times * count
        for base, count in cost.indices:
            if base not in self.known:
                self.known.add(base)
                self.units["s32"] += times * count
        if isinstance(s, ir.CallFunction):
            units, waits = self._of_function(s.function)
            _add(self.units, units, times)
            self.waits += run.times * waits

    def _of_function(self, name: str) -> tuple[Units, float]:
        """The instructions and waits of a function, with its index in the middle of its range."""
        known = self.costs.of_function
        if name not in known:
            function = self.costs.kernel.function(name)
            middle = [(v.interval.lower + v.interval.upper) // 2 for v in function.variables]
            units, waits = _WarpVisitor(function, self.costs).walk(middle, 1.0)
            for value in function.results:
                _add(units, _of_value(value, self.costs.registers))
            known[name] = units, waits
        return known[name]


def instructions_of(s: Statement, registers: Collection[str] = ()) -> Units:
    """The instructions of a warp for one statement, by unit, those of nested blocks and of indices excluded. Loads and stores
    of local buffers, which are `registers`, are none.
    """
    units: Units = defaultdict(float)
    for value in values_of(s):
        _add(units, _of_value(value, registers))
    if isinstance(s, ir.Store) and s.buffer in registers:
        return units
    if isinstance(s, ir.Store | ir.Copy | ir.CopyAsync | ir.LoadMatrices | ir.FetchAdd | ir.Shuffle):
        units["memory"] += 1
    elif isinstance(s, ir.AtomicUpdate):
        units["memory"] += 1 if s.opcode in ATOMIC_UPDATES else SWAP
    elif isinstance(s, ir.MatrixMultiply):
        units[MATRIX + s.element_type] += 1
    elif isinstance(s, ir.Barrier | ir.Fence | ir.Break | ir.CallFunction):
        units["control"] += 1
    return units


def _of_value(value: Value, registers: Collection[str]) -> Units:
    units: Units = defaultdict(float)
    for v in subvalues(value):
        if isinstance(v, ir.Load):
            units["memory"] += v.buffer not in registers
        elif isinstance(v, ir.Within):
            units["s32"] += 1
        elif isinstance(v, ir.Op):
            unit, factor = _unit(v)
            scalar, special = FUNCTIONS.get(v.opcode, (1, 0))
            if unit == "s32" and v.opcode in ("div", "rem"):
                scalar, special = DIVISION, 0
            if unit == "f64":
                scalar, special = scalar + 8 * special, 0
            units[unit] += factor * scalar
            units["special"] += factor * special
    return units


def _unit(op: ir.Op) -> tuple[str, int]:
    """The unit of an operation, by the type of its operands, and its instructions for one of a real function."""
    kind = op.operands[0].type if op.operands else op.type
    if kind in ("c64", "c128"):
        return ("f32" if kind == "c64" else "f64"), 4 if op.opcode in ("mul", "div") else 2
    if kind in ("f32", "f64"):
        return kind, 1
    return "s32", 2 if kind in ("s64", "u64") else 1


def _without_offset(expression: SymbolicExpr) -> SymbolicExpr:
    """An index without its constant term, which an instruction of memory adds to an address."""
    kind, numbers, _ = expression.nodes()[-1]
    return expression - numbers[0] if kind == "sum" and numbers[0] else expression


def _index_cost(expression: SymbolicExpr) -> int:
    """Instructions of an index: one for each term after the first, more for divisions."""
    total = 0
    nodes = expression.nodes()
    for kind, _, operands in nodes:
        if kind in ("floordiv", "mod"):
            what, numbers, _ = nodes[operands[1]]
            divisor = numbers[0] if what == "constant" else 0
            total += 1 if divisor & (divisor - 1) == 0 and divisor else INDEX_DIVISION
        elif kind not in ("constant", "variable"):
            total += max(len(operands) - 1, 1)
    return total
