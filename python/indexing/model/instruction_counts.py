"""Instructions that the warps of a kernel issue, by the unit that executes them.

The kernel is walked as a few of its warps run it, which take a branch if one of a few lanes does. The body of a loop is visited
once, and counts for all iterations; conditions on data hold half of the time. The compiler's own choices (common
subexpressions, strength reduction) are assumed: the parts of an index are computed where they change (`index_costs.py`). The
counts are estimates.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias

from indexing._core import SymbolicExpr
from indexing.device.record import Device
from indexing.hlo.layout import bit_width
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.fragments import COLUMNS, INSTRUCTIONS, ROWS, MatrixInstruction
from indexing.kernels.ir.nodes import Block, Statement, Value
from indexing.kernels.ir.opcodes import ATOMIC_UPDATES
from indexing.kernels.ir.traversal import all_values, expressions_of, indices_of, subvalues
from indexing.kernels.passes.unroll import UnrollingRule
from indexing.model.index_costs import IndexCosts, IndexPart
from indexing.model.kernel_walk import KernelWalk
from indexing.model.launch_samples import PLACES, at_place
from indexing.model.load_waits import LoadRun, StatementLoads, loads_of
from indexing.ops.element_types import element_type

#: Instructions by the unit that executes them: an element type of the scalar units, `special`, `memory`, `control`, or an
#: element type of the matrix units behind `MATRIX`.
Units: TypeAlias = defaultdict[str, float]

MATRIX = "matrix "
LANES = (0, 13, 31)  # lanes of a warp that are asked for conditions
LOOP = 2  # instructions of an iteration besides those of its body
SWAP = 8  # an atomic update without an instruction of its own is a loop that compares and swaps
SHARED_SWAP = 4  # instructions of such a loop in shared memory, which sums of floats take
TURNS = 2  # a warp takes so many for an atomic update of shared memory, besides those of lanes that have one element
DIVISION = 20  # the instructions that divide integers
LOAD_LANES = 32  # the lanes that load or store in a clock of a core
#: Integer instructions of the library's conversions of floats below 16 bits; what is encoded was rounded before.
NARROW_FLOAT = {"round": 12, "encode": 0, "exact_bits": 0, "decode": 8}
#: Instructions of real functions on the scalar units, and on that of special functions; any other operation is one.
FUNCTIONS: Mapping[str, tuple[int, int]] = {
    **dict.fromkeys(("div", "rem"), (8, 1)),
    **dict.fromkeys(("sqrt", "rsqrt"), (4, 1)),
    "exp_narrow": (1, 1),
    **dict.fromkeys(("exp", "logistic"), (6, 1)),
    **dict.fromkeys(("expm1", "log", "log1p"), (14, 1)),
    **dict.fromkeys(("sin", "cos", "cbrt", "erf"), (24, 1)),
    **dict.fromkeys(("tanh", "sinh", "cosh"), (16, 2)),
    **dict.fromkeys(("tan", "atan", "atan2", "asin", "acos", "asinh", "acosh", "atanh"), (30, 2)),
    "pow": (40, 2),
    **dict.fromkeys(("bits", "from_bits", "real", "imag", "complex"), (0, 0)),  # other names of registers
    **dict.fromkeys(("pack", "unpack_low", "unpack_high"), (0, 0)),
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
    warp, threads = device.cores.warp_size, prod(kernel.block)
    warps = -(-threads // warp)
    blocks, of_block = _sampled(prod(kernel.grid), warp if threads == 1 else 1), _sampled(warps)
    share = prod(kernel.grid) * warps / (len(blocks) * len(of_block))
    units: Units = defaultdict(float)
    waits = 0.0
    visitor = _WarpVisitor(kernel, _Costs(kernel, device))
    for block in blocks:
        longest = 0.0
        for number in of_block:
            of_warp, waits_of_warp = visitor.walk([_ids(kernel, block, number * warp + lane) for lane in LANES], share)
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
    products = {MATRIX + name: _matrix_lanes(device, i) for name, i in INSTRUCTIONS.items()}
    known = {unit: lanes for unit, lanes in products.items() if lanes}
    return {**units, **known, "special": rates.special, "memory": LOAD_LANES}


def _matrix_lanes(device: Device, i: MatrixInstruction) -> float:
    """The lanes that the matrix units take from warps that issue an instruction, in a clock of a core; 0: there are none."""
    rates = device.rates
    products = ROWS * COLUMNS * i.depth / device.cores.warp_size  # of a lane
    rate = rates.matrix.get(i.rate_type, 0)
    return rate * rates.matrix_clock / rates.clock / products


def _add(units: Units, more: Units, times: float = 1.0) -> None:
    for unit, count in more.items():
        units[unit] += times * count


def _sampled(count: int, step: int = 1) -> list[int]:
    """Numbers below `count`, multiples of a step, of the blocks or warps that are walked."""
    return list(dict.fromkeys(at_place(count, place) // step * step for place in PLACES[::2]))


def _ids(kernel: ir.Kernel, block: int, thread: int) -> tuple[int, ...]:
    """The ids of a thread and of its block, of the last if there are fewer; blocks of one thread are lanes of a warp."""
    threads, blocks = prod(kernel.block), prod(kernel.grid)
    if threads == 1:
        block, thread = min(block + thread, blocks - 1), 0
    return (*_at(min(thread, threads - 1), kernel.block), *_at(block, kernel.grid))


def _at(number: int, sizes: Sequence[int]) -> tuple[int, int, int]:
    x, y, _ = sizes
    return number % x, number // x % y, number // (x * y)


@dataclass(slots=True)
class _Segment:
    """Statements that are executed one after the other, up to a loop or a branch, its `end`: their instructions by unit, their
    indices without constant terms, each with its parts once these are known, their loads, the functions that they call, and
    the index variables that they define. If it `follows_barrier`, the loads before it are complete. It `is_visited` once a warp
    has come by, so that the loops that change these variables are known.
    """

    follows_barrier: bool = False
    is_visited: bool = False
    units: Units = field(default_factory=lambda: defaultdict(float))
    indices: dict[SymbolicExpr, tuple[IndexPart, ...] | None] = field(default_factory=dict)
    loads: list[StatementLoads] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    definitions: list[ir.LetIndex] = field(default_factory=list)
    end: ir.For | ir.If | None = None


class _Costs:
    """The costs of a kernel's statements, each found once for all warps, and of its functions."""

    def __init__(self, kernel: ir.Kernel, device: Device) -> None:
        self.kernel = kernel
        self.under_way = device.memory.loads_under_way
        self.registers = frozenset(b.name for b in kernel.buffers if b.space == "local")
        self.in_memory = frozenset(b.name for b in kernel.buffers if b.space == "global")
        self.shared = {b.name: b for b in kernel.buffers if b.space == "shared"}
        self.warp_size = device.cores.warp_size
        self.unrolling = UnrollingRule(kernel.buffers)
        self.of_function: dict[str, tuple[Units, float]] = {}
        self._together: dict[int, int] = {}
        self._segments: dict[int, list[_Segment]] = {}  # by the identity of a block of the kernel

    def segments(self, block: Block) -> list[_Segment]:
        """The segments of a block."""
        if id(block) not in self._segments:
            segments = [_Segment()]
            for s in block:
                if segments[-1].end or isinstance(s, ir.Barrier):
                    segments.append(_Segment(isinstance(s, ir.Barrier)))
                self._add(segments[-1], s)
            self._segments[id(block)] = segments
        return self._segments[id(block)]

    def _turns(self, buffer: ir.Buffer) -> float:
        """The instructions of a warp for an atomic update of shared memory, if data spread its lanes over the elements: lanes
        that have one element take turns.
        """
        turns = self.warp_size / buffer.size + TURNS
        return turns if buffer.element_type[0] in "su" else turns * SHARED_SWAP

    def _add(self, segment: _Segment, s: Statement) -> None:
        """Add a statement to a segment; of a branch, its conditions, of a loop, nothing."""
        if isinstance(s, ir.For | ir.If):
            segment.end = s
        if isinstance(s, ir.For):
            return
        parts = list(all_values(s))
        _add(segment.units, _of_values(parts, self.registers))
        _add(segment.units, _of_statement(s, self.registers))
        if isinstance(s, ir.AtomicUpdate) and s.buffer in self.shared:
            segment.units["memory"] += self._turns(self.shared[s.buffer]) * len(s.values) - 1
        expressions = [*indices_of(s), *(e for v in parts for e in expressions_of(v))]
        # Registers have no addresses.
        numbers = set(self.unrolling.registers(s)) if self.registers and expressions else ()
        for base in (_without_offset(e) for e in expressions if e not in numbers):
            segment.indices[base] = None
        loads = loads_of(s, parts, expressions, self.in_memory)
        if loads.loads or (loads.used and loads.defined):
            segment.loads.append(loads)
        if isinstance(s, ir.CallFunction):
            segment.calls.append(s.function)
        if isinstance(s, ir.LetIndex):
            segment.definitions.append(s)

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
        self.index_costs = IndexCosts()
        self.loops: list[tuple[int, int]] = []  # those around: iterations, and how many of them are unrolled together

    def walk(self, lanes: Sequence[Sequence[int]], times: float) -> tuple[Units, float]:
        """The instructions and the waits of a warp, of which some lanes have these leading variables, and which runs so many
        times.
        """
        self.begin(lanes[0])
        self.lanes = lanes
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
        for segment in self.costs.segments(block):
            if segment.follows_barrier:
                self._end(run)
            for s in segment.definitions:
                self.define(s)
                if not segment.is_visited:
                    self.index_costs.add_definition(s, len(self.loops))
            segment.is_visited = True
            self._count(segment, times, run)
            if isinstance(segment.end, ir.For):
                self._loop(segment.end, times, run)
            elif segment.end is not None:
                self._branch(segment.end, times, run)

    def branches(self, s: ir.If) -> Iterator[tuple[Block, float]]:
        """The bodies that a warp may run, each with its probability: a warp runs what any of its lanes does."""
        taken = []
        for given in self.lanes:
            self.values[: len(given)] = given
            taken.append(self.taken(s))
        self.values[: len(self.lanes[0])] = self.lanes[0]
        if max(taken) > 0:
            yield s.then, max(taken)
        if min(taken) < 1:
            yield s.otherwise, 1 - min(taken)

    def _branch(self, s: ir.If, times: float, run: LoadRun) -> None:
        waits_for_data = not all(isinstance(c, ir.Within) for c in s.conditions)
        branches = list(self.branches(s))
        if len(branches) > 1 and waits_for_data:
            self._end(run)
            for body, probability in branches:
                self._run(body, times * probability, LoadRun(run.times * probability))
            return
        for body, probability in branches:  # the loads of the guarded statements are under way with those around
            self._statements(body, times * probability, run)

    def _loop(self, loop: ir.For, times: float, run: LoadRun) -> None:
        iterations = self.enter(loop)
        if iterations:
            before = self.known
            self.known = set(before)
            together = self.costs.together(loop)
            self.loops.append((iterations, together))
            self.index_costs.add_counter(loop.variable, len(self.loops))
            if together >= iterations:
                self._statements(loop.body, times * iterations, run)
            else:
                self.units["control"] += times * iterations / together * LOOP
                self._end(run)
                self._run(loop.body, times * iterations, LoadRun(run.times * iterations / together))
            self.known = before
            self.loops.pop()
        self.leave(loop)

    def _count(self, segment: _Segment, times: float, run: LoadRun) -> None:
        for loads in segment.loads:
            run.add(loads, times)
        _add(self.units, segment.units, times)
        for base, parts in segment.indices.items():
            if parts is None:
                parts = segment.indices[base] = self.index_costs.parts(base)
            if base not in self.known:
                self.known.add(base)
                self.units["s32"] += sum(part.instructions * self._times(part, times) for part in parts)
        for function in segment.calls:
            units, waits = self._of_function(function)
            _add(self.units, units, times)
            self.waits += run.times * waits

    def _times(self, part: IndexPart, times: float) -> float:
        """The number of times that a part of an index is computed where statements run so many times."""
        times /= prod(iterations for iterations, _ in self.loops[part.depth :])
        if not part.is_linear:
            return times
        iterations, together = self.loops[part.depth - 1]
        return 0.0 if together >= iterations else times / together

    def _of_function(self, name: str) -> tuple[Units, float]:
        """The instructions and waits of a function, with its index in the middle of its range."""
        known = self.costs.of_function
        if name not in known:
            function = self.costs.kernel.function(name)
            middle = [(v.interval.lower + v.interval.upper) // 2 for v in function.variables]
            units, waits = _WarpVisitor(function, self.costs).walk([middle], 1.0)
            for value in function.results:
                _add(units, _of_values(subvalues(value), self.costs.registers))
            known[name] = units, waits
        return known[name]


def _of_statement(s: Statement, registers: Collection[str]) -> Units:
    """The instructions of a warp for one statement, by unit, those of its values, nested blocks and indices excluded. Loads
    and stores of local buffers, which are `registers`, are none.
    """
    if isinstance(s, ir.Store) and s.buffer in registers:
        return defaultdict(float)
    if isinstance(s, ir.AtomicUpdate) and s.opcode not in ATOMIC_UPDATES:
        return defaultdict(float, memory=SWAP)
    if isinstance(s, ir.MatrixMultiply):
        return defaultdict(float, {MATRIX + s.instruction: 1})
    unit = _UNIT_OF.get(type(s))
    return defaultdict(float, {unit: 1} if unit else {})


_UNIT_OF: Mapping[type, str] = {
    **dict.fromkeys((ir.Store, ir.AtomicUpdate, ir.FetchAdd, ir.Shuffle), "memory"),
    **dict.fromkeys((ir.Copy, ir.CopyAsync, ir.LoadMatrices), "memory"),
    **dict.fromkeys((ir.Barrier, ir.Fence, ir.Break, ir.CallFunction, ir.If), "control"),
}


def _of_values(values: Iterable[Value], registers: Collection[str]) -> Units:
    """The instructions of values, those nested in them excluded."""
    units: Units = defaultdict(float)
    for v in values:
        if isinstance(v, ir.Op):
            unit, factor = _unit(v)
            scalar, special = FUNCTIONS.get(v.opcode, (1, 0))
            if _is_software(v):
                unit, scalar = "s32", NARROW_FLOAT[v.opcode]
            if unit == "s32" and v.opcode in ("div", "rem"):
                scalar, special = DIVISION, 0
            if unit == "f64":
                scalar, special = scalar + 8 * special, 0
            units[unit] += factor * scalar
            units["special"] += factor * special
        elif isinstance(v, ir.Load):
            units["memory"] += v.buffer not in registers
        elif isinstance(v, ir.Within):
            units["s32"] += 1
    return units


def _is_software(op: ir.Op) -> bool:
    """Whether a function of the library converts from or to a float format of less than 16 bits."""
    return op.opcode in NARROW_FLOAT and bit_width(op.format) < 16


def _unit(op: ir.Op) -> tuple[str, int]:
    """The unit of an operation, by the type of its operands, and its instructions for one of a function of f32 or s32."""
    kind = op.operands[0].type if op.operands else op.type
    element = element_type(kind)
    if op.opcode == "convert" and element.is_integer and element_type(op.type).is_integer:
        return "s32", 0  # the same registers
    if element.kind == "complex":
        return element.real, 4 if op.opcode in ("mul", "div") else 2
    if kind in ("f32", "f64"):
        return kind, 1
    if op.opcode.startswith("packed_"):
        return "f32", 1
    return "s32", 2 if kind in ("s64", "u64") else 1


def _without_offset(expression: SymbolicExpr) -> SymbolicExpr:
    """An index without its constant term, which an instruction of memory adds to an address."""
    kind, numbers, _ = expression.nodes()[-1]
    return expression - numbers[0] if kind == "sum" and numbers[0] else expression
