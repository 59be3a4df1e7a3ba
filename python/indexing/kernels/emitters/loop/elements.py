"""The match, plan and kernel of the loop emitter.

A thread computes `vector_width` neighbouring elements; inputs that are read at neighbouring, aligned positions are loaded as
one vector, and outputs are stored as one; the remaining elements are computed one by one. If the grid would exceed
`max_blocks`, blocks loop over several chunks. Where threads are loops, neighbouring ones take the elements of few planes in
turn, if these alternate in what is transposed to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod

from indexing._core import SymbolicExpr, constant
from indexing.cached import cached_property
from indexing.device.record import Device
from indexing.hlo import Computation, Instruction, Shape
from indexing.hlo.layout import major_to_minor
from indexing.hlo.module_cache import cached_on_module
from indexing.kernels.emitters.loop.block_values import (
    SharedReduction,
    functions_around,
    shared_reductions,
)
from indexing.kernels.emitters.reduction.accumulators import ThreadGroup, shared_bytes, value_bytes
from indexing.kernels.emitters.reduction.together import reduced_together
from indexing.kernels.emitters.transpose.match import merged_groups
from indexing.kernels.epilogue import single_hero_of
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.hero import Output, outputs
from indexing.kernels.ir.nodes import Kernel
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.kernel_builder import Dim3
from indexing.kernels.knob_space import BlockLimit, Knob, KnobSpace
from indexing.kernels.lane_sectors import counted_width
from indexing.kernels.launch import (
    Part,
    built,
    element_at,
    guarded,
    store,
    thread_id,
)
from indexing.kernels.linear import block_of_rows
from indexing.kernels.passes.uniform import VECTOR_ROWS
from indexing.kernels.targets import TARGETS
from indexing.kernels.vectors import WIDTHS, bytes_beside, is_light, lanes, widest_vector
from indexing.ops.assemble import CONCATENATE
from indexing.ops.element_context import Index, Value
from indexing.ops.registry import traits_of
from indexing.partitioner import PartitionedComputation, partition
from indexing.work import predicted_work, work_where

NAME = "loop"
MAX_LANES = 8
MAX_TAIL_INSTRUCTIONS = 64  # a body of at most so many is built a second time, for a partial vector


@dataclass(frozen=True, slots=True)
class Planes:
    """`count` planes of `size` elements each, one behind the other in memory, whose elements are taken in turn."""

    count: int
    size: int

    def place(self, number: SymbolicExpr) -> SymbolicExpr:
        """The position in memory of the element with a number: all first elements come first, then all second ones, ..."""
        both = self.count * self.size
        return number // both * both + number % self.count * self.size + number // self.count % self.size


NO_PLANES = Planes(1, 1)


@dataclass(frozen=True, slots=True)
class LoopPlan:
    """Launch dimensions and knobs: `groups` vectors of `vector_width` elements, of which each block takes `chunks` chunks. The
    threads of a block share the results of `shared` reductions, by so much shared memory. Neighbouring elements are those of
    all `planes` in turn.
    """

    count: int
    vector_width: int
    block_size: int
    blocks: int
    chunks: int
    shared: int = 0
    shared_bytes: int = 0
    planes: Planes = NO_PLANES

    @property
    def grid(self) -> Dim3:
        """The blocks, in one dimension."""
        return (self.blocks, 1, 1)

    @property
    def block(self) -> Dim3:
        """The threads of a block, in one dimension."""
        return (self.block_size, 1, 1)

    @property
    def groups(self) -> int:
        """The number of vectors, of which the last one may be partial."""
        return -(-self.count // self.vector_width)


@dataclass(frozen=True)
class Elements:
    """A computation whose elements are computed one by one."""

    computation: Computation

    @cached_property
    def parts(self) -> PartitionedComputation:
        """The partition of the computation."""
        return partition(self.computation)


@cached_on_module
def match_elements(computation: Computation) -> Elements:
    """The computation, whatever it is: every fusion can be a loop."""
    return Elements(computation)


def plan_loop(
    match: Elements,
    device: Device,
    *,
    block_size: int | None = None,
    vector_width: int | None = None,
    max_blocks: int | None = None,
) -> LoopPlan:
    """Launch dimensions for a computation.

    Knobs: `block_size`, from 1 thread to the most of a block; `vector_width`, 1, 2, 4, 8 or 16 elements per thread (by default
    as many as fit into 16 bytes while there are enough threads, and warps touch few sectors); `max_blocks`, from 1 to the most
    of a grid: further work is done in chunks.
    """
    limits = device.limits
    max_blocks = limits.grid[0] if max_blocks is None else max_blocks
    shapes = match.computation.root.shape.leaves
    count = max(prod(s.dimensions) for s in shapes)

    def planned(width: int) -> LoopPlan:
        return _planned(match, count, width, block_size, max_blocks, device)

    if vector_width is None:
        widest = _widest_vector(match, shapes, count, planned)
        vector_width = counted_width(widest, lambda width: build_loop(match, planned(width)), device)
    return planned(vector_width)


def _planned(
    match: Elements, count: int, width: int, block_size: int | None, max_blocks: int, device: Device
) -> LoopPlan:
    """The plan with vectors of that width, if outputs have them."""
    shapes = match.computation.root.shape.leaves
    width = width if _has_vectors(shapes, width) else 1
    planes = _planes(match.computation) if width == 1 and not TARGETS[device.dialect].has_threads else NO_PLANES
    if block_size is None:
        rows = (
            [count // (planes.size * planes.count), planes.size, planes.count]
            if planes != NO_PLANES
            else _rows(shapes[0], width)
        )
        block_size = block_of_rows(rows, device)
    groups = max(-(-count // width), 1)
    blocks = -(-groups // block_size)
    chunks = -(-blocks // max_blocks)
    plan = LoopPlan(count, width, block_size, -(-blocks // chunks), chunks, planes=planes)
    if not TARGETS[device.dialect].has_threads or chunks > 1 or block_size & (block_size - 1):
        return plan
    shared = list(shared_reductions(match.parts, block_size, width))
    used = sum(
        shared_bytes(value_bytes([s.reduce.shape.element_type]), block_size, s.threads, 1, device.dialect)
        for s in shared
    )
    return replace(plan, shared=len(shared), shared_bytes=used)


def loop_knobs(match: Elements, default: LoopPlan, device: Device) -> KnobSpace:
    """Names, legal values and defaults of the knobs."""
    threads, blocks = device.limits.block_size, device.limits.grid[0]
    shapes = match.computation.root.shape.leaves
    widths = tuple(w for w in WIDTHS if _has_vectors(shapes, w))
    return KnobSpace(
        NAME,
        (
            Knob("block_size", range(1, threads + 1), default.block_size, "block"),
            Knob("vector_width", widths, default.vector_width),
            Knob("max_blocks", range(1, blocks + 1), blocks, "grid"),
        ),
        limit=BlockLimit("max_blocks", ("vector_width", "block_size"), max(prod(s.dimensions) for s in shapes)),
    )


def _rows(shape: Shape, vector_width: int) -> list[int]:
    """The sizes of an output in vectors, slowest first; one row where vectors don't end with rows."""
    sizes = [shape.dimensions[d] for d in major_to_minor(shape)] or [1]
    if sizes[-1] % vector_width:
        return [-(-prod(sizes) // vector_width)]
    return [*sizes[:-1], sizes[-1] // vector_width]


def _has_vectors(shapes: Sequence[Shape], width: int) -> bool:
    """Whether all outputs have the same number of elements, or each a whole number of vectors."""
    counts = {prod(s.dimensions) for s in shapes}
    return len(counts) == 1 or not any(n % width for n in counts)


def _widest_vector(match: Elements, shapes: Sequence[Shape], count: int, planned: Callable[[int], LoopPlan]) -> int:
    """As many elements of the widest array that lanes access side by side as fit into 16 bytes, halved while threads are few;
    1 for expensive bodies, of which what blocks share is no part. At least one of each operand of a concatenation whose
    operands alternate: the lanes of a warp would compute them in turn.
    """
    plans = [planned(width) for width in reversed(WIDTHS)]
    most = max(plans, key=lambda p: p.shared)
    shared = (
        {s.reduce for s in shared_reductions(match.parts, most.block_size, most.vector_width)} if most.shared else set()
    )
    least = _alternating(match.computation)
    if not is_light(match.parts, count, shared):
        return least
    counts = {prod(s.dimensions) for s in shapes}
    with_tail = len(counts) == 1 and len(match.computation.post_order()) <= MAX_TAIL_INSTRUCTIONS
    sizes = [storage_bytes(s.element_type) for s in shapes]
    beside = [bytes_beside(match.parts, p) for p in match.computation.parameters]
    return max(
        min(widest_vector(MAX_LANES, max(sizes + beside), count, () if with_tail else counts), most.vector_width), least
    )


def _alternating(computation: Computation) -> int:
    """The neighbouring elements that are those of all operands of the concatenation that every output follows; 1 if none is."""
    heroes = single_hero_of(computation, has_alternating_operands)
    return 1 if heroes is None else heroes.first.shape.dimensions[heroes.first.ints("dimensions")[0]]


def has_alternating_operands(instruction: Instruction) -> bool:
    """Whether it is a concatenation whose operands alternate within vectors of MAX_LANES elements."""
    if traits_of(instruction) is not CONCATENATE or not instruction.shape.element_count:
        return False
    (d,) = instruction.ints("dimensions")
    return d == major_to_minor(instruction.shape)[-1] and MAX_LANES % instruction.shape.dimensions[d] == 0


def _planes(computation: Computation) -> Planes:
    """The planes of the transpose that every output follows, if their elements alternate in its operand."""
    heroes = single_hero_of(computation, gives_planes)
    groups = merged_groups(heroes.first) if heroes is not None else None
    return NO_PLANES if groups is None else Planes(groups.sizes[groups.x], groups.sizes[groups.y])


def gives_planes(instruction: Instruction) -> bool:
    """Whether it is a transpose of alternating elements to a few whole planes, for whose elements compilers make vectors."""
    groups = merged_groups(instruction)
    if groups is None or groups.run is not None or groups.sizes[groups.x] not in VECTOR_ROWS:
        return False
    operand, result = instruction.operands[0].shape, instruction.shape
    return groups.y == groups.x - 1 and prod(operand.dimensions) == prod(result.dimensions)


def build_loop(match: Elements, plan: LoopPlan) -> Kernel:
    """The kernel."""
    computation = match.computation
    kernel = built(NAME, _hero(computation), match.parts, plan, lambda body: _Body(body, plan, computation).build())
    return replace(kernel, work=work_of_loop(match, plan))


def work_of_loop(match: Elements, plan: LoopPlan) -> int:
    """The predicted work: what groups of threads share is computed once for each group."""
    if not plan.shared:
        return predicted_work(match.parts)
    shared = shared_reductions(match.parts, plan.block_size, plan.vector_width)
    return work_where(match.computation, {s.reduce: plan.groups // s.threads for s in shared})


def _hero(computation: Computation) -> Instruction:
    root = computation.root
    while traits_of(root).kind == "alias" and root.shape.is_tuple and root.operands:
        root = root.operands[0]
    return root


class _Body:
    """Builds the kernel's entry."""

    def __init__(self, body: FunctionBuilder, plan: LoopPlan, computation: Computation) -> None:
        self.body, self.plan = body, plan
        self.outputs = outputs(computation)
        self.root = computation.root

    def build(self) -> None:
        """Build the elements of a thread's vector; of several vectors in a loop, if there are chunks."""
        plan, body = self.plan, self.body
        if plan.shared:
            self._share()
        first = thread_id("bl_x") * plan.block_size + thread_id("th_x")
        if plan.chunks == 1:
            self._within(first)
            return
        with body.loop(
            plan.chunks, "chunk"
        ) as chunk:  # as often for all threads, so that those of a warp stay together
            self._within(body.scope.simplify(first + chunk * (plan.blocks * plan.block_size)))

    def _within(self, place: SymbolicExpr) -> None:
        """Build the vector at a place, if there is one."""
        body, last = self.body, self.plan.groups - 1
        with guarded(body, body.within(place, 0, last)), body.base_scope():
            self._group(body.named_index("i", place, 0, last))

    def _share(self) -> None:
        """Build the reductions of which the block or each warp needs one result."""
        body, plan, parts = self.body, self.plan, self.body.kernel.partition
        shared = list(shared_reductions(parts, plan.block_size, plan.vector_width))
        body.kernel.in_place |= functions_around(parts, [s.reduce for s in shared])
        for s in shared:
            body.inject(s.reduce, None, self._reduced(s))

    def _reduced(self, shared: SharedReduction) -> Sequence[Value]:
        """The result for a thread's group of threads; groups without elements of the output reduce nothing."""
        body, threads = self.body, shared.threads
        number = thread_id("bl_x") * (self.plan.block_size // threads) + thread_id("th_x") // threads
        groups = Part(number, self.plan.count // (threads * self.plan.vector_width))
        group = ThreadGroup(thread_id("th_x") % threads, threads, 1)

        def index_of(row: Index) -> Index:
            return body.mapped(shared.place, (row[0], constant(0))).index

        return reduced_together(body, group, shared.reduce, shared.width, (groups,), index_of)

    def _group(self, group: SymbolicExpr) -> None:
        """Build the elements of a vector; of a partial one, those that exist."""
        body, width = self.body, self.plan.vector_width
        with lanes(body, width) as lane:
            position = body.scope.simplify(group * width + lane)
            with guarded(body, body.within(position, 0, self.plan.count - 1)), body.base_scope():
                (number,) = body.inside((position,), (self.plan.count,))
                self._element(body.scope.simplify(self.plan.planes.place(number)))

    def _element(self, position: SymbolicExpr) -> None:
        """Build the element at `position` in memory of every output that has one there."""
        for output in self.outputs:
            count = prod(output.shape.dimensions)
            if count == self.plan.count:
                self._output(output, position)
            elif count:
                with guarded(self.body, self.body.within(position, 0, count - 1)):
                    self._output(output, *self.body.inside((position,), (count,)))

    def _output(self, output: Output, position: SymbolicExpr) -> None:
        index = tuple(self.body.scope.simplify(e) for e in element_at(position, output.shape))
        store(self.body, output, index, self.body.value(self.root, index, output.number))
