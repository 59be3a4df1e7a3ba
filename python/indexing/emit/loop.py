"""The loop emitter: each thread computes some elements of each output, in the order in which memory holds them.

It takes every fusion. A thread computes `vector_width` neighbouring elements; inputs that are read at neighbouring,
aligned places are loaded as one vector, and outputs stored as one; what is left over is done element by element. Where
the grid would exceed `max_blocks`, blocks go on with further chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from indexing._core import IndexingMap, SymbolicExpr, compose
from indexing.emit.elemental import FunctionWriter
from indexing.emit.hero import outputs
from indexing.emit.index import INT32_MAX
from indexing.emit.kernel import MAX_GRID, MAX_THREADS_PER_BLOCK, Dialect, Dim3, Kernel
from indexing.emit.launch import assembled, check_knob, element_at, range_variable, thread_id, thread_map
from indexing.emit.reads import names_reads
from indexing.emit.types import c_type
from indexing.emit.unit import Unit
from indexing.emit.vectors import WIDTHS, VectorTypes, is_light, lanes, widest
from indexing.errors import IndexingError
from indexing.ops.block import leaves
from indexing.ops.through import computation_indexing
from indexing.partition import PartitionedComputation, partition

if TYPE_CHECKING:
    from indexing.hlo import Computation, Instruction, Shape

NAME = "loop"
SMALL = 64  # instructions; the body may be written twice


@dataclass(frozen=True, slots=True)
class LoopPlan:
    """Launch dimensions and knobs. `groups` vectors of `vector_width` elements; each block does `chunks` of them."""

    count: int
    vector_width: int
    block_size: int
    blocks: int
    chunks: int

    @property
    def grid(self) -> Dim3:
        """Blocks in one dimension."""
        return (self.blocks, 1, 1)

    @property
    def block(self) -> Dim3:
        """Threads of a block in one dimension."""
        return (self.block_size, 1, 1)

    @property
    def groups(self) -> int:
        """How many vectors of elements there are, the last one perhaps partial."""
        return -(-self.count // self.vector_width)


def matches(computation: Computation) -> bool:
    """Every fusion can be a loop."""
    return True


def plan(
    computation: Computation, *, block_size: int = 128, vector_width: int | None = None, max_blocks: int = MAX_GRID[0]
) -> LoopPlan:
    """Launch dimensions for a computation.

    Knobs: `block_size` 1 to 1024 threads; `vector_width` 1, 2, 4, 8 or 16 elements a thread (by default as many as 16
    bytes hold while enough threads remain); `max_blocks` from 1: more work than that many blocks take is done in chunks.
    """
    check_knob("block_size", block_size, 1, MAX_THREADS_PER_BLOCK)
    check_knob("max_blocks", max_blocks, 1, MAX_GRID[0])
    shapes = leaves(computation.root.shape)
    count = max(prod(s.dimensions) for s in shapes)
    if vector_width is None:
        vector_width = _vector_width(computation, shapes, count)
    elif vector_width not in WIDTHS:
        raise IndexingError(f"vector_width is 1, 2, 4, 8 or 16; got {vector_width}")
    if len({prod(s.dimensions) for s in shapes}) > 1 and any(prod(s.dimensions) % vector_width for s in shapes):
        vector_width = 1
    groups = max(-(-count // vector_width), 1)
    blocks = -(-groups // block_size)
    chunks = -(-blocks // max_blocks)
    return LoopPlan(count, vector_width, block_size, -(-blocks // chunks), chunks)


def _vector_width(computation: Computation, shapes: Sequence[Shape], count: int) -> int:
    """As many elements as 16 bytes hold of the widest output, halved while threads are few; 1 for heavy bodies."""
    order = computation.post_order()
    if not is_light(order):
        return 1
    counts = {prod(s.dimensions) for s in shapes}
    with_tail = len(counts) == 1 and len(order) <= SMALL  # the tail is written a second time
    return widest(8, max(c_type(s.element_type).size for s in shapes), count, () if with_tail else counts)


def kernel(computation: Computation, plan: LoopPlan, dialect: Dialect) -> Kernel:
    """The kernel: source, arguments, launch dimensions and thread maps."""
    unit = Unit(dialect, computation, partition(computation))
    body = FunctionWriter(unit)
    types = VectorTypes(plan.vector_width)
    _Writing(body, plan, computation, types).write()
    written = outputs(computation)
    maps = [_thread_map(plan, o.shape) for o in written]
    reads = _input_maps(unit.partition, maps)
    declared = list(types.declarations.values())
    return assembled(unit, NAME, _hero(computation), body, written, (plan.grid, plan.block), 0, (maps, reads), declared)


def _input_maps(parts: PartitionedComputation, maps: Sequence[IndexingMap]) -> list[list[IndexingMap]]:
    """Of each parameter, the maps from threads to the elements that they read for some output; none where indices grow too
    long to be composed.
    """
    computation = parts.computation
    found: list[dict[IndexingMap, None]] = [{} for _ in computation.parameters]
    for output, threads in enumerate([] if parts.has_long_indices else maps):
        for reads, accesses in zip(found, computation_indexing(computation, output), strict=True):
            defined = (a.map for a in accesses if names_reads(a))
            reads.update((compose(threads, m).simplify(), None) for m in defined)
    return [list(reads) for reads in found]


def _hero(computation: Computation) -> Instruction:
    root = computation.root
    while root.opcode == "tuple" and root.operands:
        root = root.operands[0]
    return root


def _thread_map(plan: LoopPlan, shape: Shape) -> IndexingMap:
    """From (th_x, th_y, th_z, bl_x, bl_y, bl_z)[chunk, vector_index] to the index of the element."""
    chunk, lane = range_variable(0), range_variable(1)
    block = chunk * plan.blocks + thread_id("bl_x")
    position = (block * plan.block_size + thread_id("th_x")) * plan.vector_width + lane
    ranges = [("chunk", plan.chunks), ("vector_index", plan.vector_width)]
    bounds = [(position, (0, prod(shape.dimensions) - 1))]
    return thread_map(plan.grid, plan.block, element_at(position, shape), ranges, bounds)


class _Writing:
    """Writes the kernel's body."""

    def __init__(self, body: FunctionWriter, plan: LoopPlan, computation: Computation, types: VectorTypes) -> None:
        self.body, self.plan, self.types = body, plan, types
        self.root = computation.root
        self.shapes = leaves(computation.root.shape)

    def write(self) -> None:
        """The number of a thread's group of elements, `i`, then what it computes; with several chunks in a loop."""
        plan, w = self.plan, self.body.writer
        launched = plan.chunks * plan.blocks * plan.block_size
        kind = "s64" if (launched + 1) * plan.vector_width > INT32_MAX else "s32"
        first = f"{'(s64)' if kind == 's64' else ''}@block_x * {plan.block_size} + @thread_x"
        group = self.body.scope.add("i", 0, plan.groups - 1)
        if plan.chunks > 1:
            with w.block(f"for ({kind} i = {first}; i < {plan.groups}; i += {plan.blocks * plan.block_size})"):
                self._group(group)
            return
        w.line(f"const {kind} i = {first};")
        if launched > plan.groups:
            w.line(f"if (i >= {plan.groups}) return;")
        self._group(group)

    def _group(self, group: SymbolicExpr) -> None:
        """One element; or a whole vector, and of the last, partial one each element by itself."""
        width = self.plan.vector_width
        full, rest = divmod(self.plan.count, width)
        if width == 1:
            self._element(group)
        elif rest == 0:
            self._vector(group)
        else:
            with self.body.when([f"{self.body.integer(group)} < {full}"]), self.body.base_scope():
                self._vector(*self.body.inside((group,), (full,)))
            with self.body.otherwise(), self.body.loop(rest) as lane, self.body.base_scope():
                self._element(self.body.scope.simplify(lane + full * width))

    def _element(self, position: SymbolicExpr) -> None:
        self._each_output(position, lambda k, at: f"o{k}[{self.body.integer(at)}]")

    def _vector(self, group: SymbolicExpr) -> None:
        """A loop over lanes with vectors of inputs in front of it, and vectors of outputs behind it."""
        body, width = self.body, self.plan.vector_width
        vectors = [self.types.name(c_type(s.element_type).storage) for s in self.shapes]
        for k, vector in enumerate(vectors):
            body.writer.line(f"{vector} y{k};")
        with lanes(body, self.types) as lane:
            self._each_output(body.scope.simplify(group * width + lane), lambda k, at: f"y{k}.v[{body.integer(lane)}]")
        for k, vector in enumerate(vectors):
            store = f"((@global {vector} *)o{k})[{body.integer(group)}] = y{k};"
            groups = prod(self.shapes[k].dimensions) // width
            is_all = groups == self.plan.count // width
            body.writer.line(store if is_all else f"if ({body.integer(group)} < {groups}) {store}")

    def _each_output(self, position: SymbolicExpr, place: Callable[[int, SymbolicExpr], str]) -> None:
        """The element at `position` of every output's memory that reaches so far, written to `place`."""
        for k, shape in enumerate(self.shapes):
            count = prod(shape.dimensions)
            if count == self.plan.count:
                self._output(k, shape, position, place)
            elif count:
                with self.body.when([f"{self.body.integer(position)} < {count}"]):
                    (inner,) = self.body.inside((position,), (count,))
                    self._output(k, shape, inner, place)

    def _output(self, k: int, shape: Shape, position: SymbolicExpr, place: Callable[[int, SymbolicExpr], str]) -> None:
        index = tuple(self.body.scope.simplify(e) for e in element_at(position, shape))
        value = self.body.value(self.root, index, k)
        self.body.writer.line(f"{place(k, position)} = {self.body.stored(shape.element_type, value)};")
