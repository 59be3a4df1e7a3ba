"""The loop emitter: each thread computes some elements of each output, in the order in which memory holds them.

It takes every fusion. A thread computes `vector_width` neighbouring elements; inputs that are read at neighbouring,
aligned places are loaded as one vector, and outputs stored as one; what is left over is done element by element. Where
the grid would exceed `max_blocks`, blocks go on with further chunks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from indexing._core import SymbolicExpr
from indexing.emitters.hero import Output, outputs
from indexing.emitters.ir.types import storage_bytes
from indexing.emitters.kernel_builder import KernelBuilder
from indexing.emitters.knob_space import Knob, KnobSpace
from indexing.emitters.launch import (
    MAX_GRID,
    MAX_THREADS_PER_BLOCK,
    assembled,
    check_knob,
    element_at,
    entry_builder,
    guarded,
    store,
    thread_id,
)
from indexing.emitters.vectors import WIDTHS, is_light, lanes, widest
from indexing.errors import IndexingError
from indexing.hlo.module_cache import cached_on_module
from indexing.ops.registry import traits_of
from indexing.partitioner import partition

if TYPE_CHECKING:
    from indexing.emitters.function_builder import FunctionBuilder
    from indexing.emitters.ir.nodes import Kernel
    from indexing.emitters.kernel_builder import Dim3
    from indexing.hlo import Computation, Instruction, Shape
    from indexing.partitioner import PartitionedComputation

NAME = "loop"
BLOCK = 128  # threads
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
        """The number of vectors of elements, the last one perhaps partial."""
        return -(-self.count // self.vector_width)


def matches(computation: Computation) -> bool:
    """Every fusion can be a loop."""
    return True


def plan(
    computation: Computation, *, block_size: int = BLOCK, vector_width: int | None = None, max_blocks: int = MAX_GRID[0]
) -> LoopPlan:
    """Launch dimensions for a computation.

    Knobs: `block_size` 1 to 1024 threads; `vector_width` 1, 2, 4, 8 or 16 elements a thread (by default as many as 16
    bytes hold while enough threads remain); `max_blocks` from 1: more work than that many blocks take is done in chunks.
    """
    check_knob("block_size", block_size, 1, MAX_THREADS_PER_BLOCK)
    check_knob("max_blocks", max_blocks, 1, MAX_GRID[0])
    shapes = computation.root.shape.leaves
    count = max(prod(s.dimensions) for s in shapes)
    if vector_width is None:
        vector_width = _vector_width(computation, shapes, count)
    elif vector_width not in WIDTHS:
        raise IndexingError(f"vector_width is 1, 2, 4, 8 or 16; got {vector_width}")
    if not _has_vectors(shapes, vector_width):
        vector_width = 1
    groups = max(-(-count // vector_width), 1)
    blocks = -(-groups // block_size)
    chunks = -(-blocks // max_blocks)
    return LoopPlan(count, vector_width, block_size, -(-blocks // chunks), chunks)


def knobs(computation: Computation, default: LoopPlan) -> KnobSpace:
    """Names, legal values and defaults of the knobs."""
    shapes = computation.root.shape.leaves
    widths = tuple(w for w in WIDTHS if _has_vectors(shapes, w))
    return KnobSpace(
        NAME,
        (
            Knob("block_size", range(1, MAX_THREADS_PER_BLOCK + 1), default.block_size, "block"),
            Knob("vector_width", widths, default.vector_width),
            Knob("max_blocks", range(1, MAX_GRID[0] + 1), MAX_GRID[0], "grid"),
        ),
    )


def _has_vectors(shapes: Sequence[Shape], width: int) -> bool:
    """Whether outputs end together, or each with a whole vector."""
    counts = {prod(s.dimensions) for s in shapes}
    return len(counts) == 1 or not any(n % width for n in counts)


def _vector_width(computation: Computation, shapes: Sequence[Shape], count: int) -> int:
    """As many elements as 16 bytes hold of the widest output, halved while threads are few; 1 for heavy bodies."""
    order = computation.post_order()
    if not is_light(order):
        return 1
    counts = {prod(s.dimensions) for s in shapes}
    with_tail = len(counts) == 1 and len(order) <= SMALL  # the tail is written a second time
    return widest(8, max(storage_bytes(s.element_type) for s in shapes), count, () if with_tail else counts)


def kernel(computation: Computation, plan: LoopPlan) -> Kernel:
    """The kernel."""
    builder = KernelBuilder(computation, _parts(computation))
    body = entry_builder(builder, plan.grid, plan.block)
    _Body(body, plan, computation).build()
    return assembled(builder, NAME, _hero(computation), body, outputs(computation), (plan.grid, plan.block))


@cached_on_module
def _parts(computation: Computation) -> PartitionedComputation:
    return partition(computation)


def _hero(computation: Computation) -> Instruction:
    root = computation.root
    while traits_of(root).kind == "names" and root.shape.is_tuple and root.operands:
        root = root.operands[0]
    return root


class _Body:
    """Builds the kernel's entry."""

    def __init__(self, body: FunctionBuilder, plan: LoopPlan, computation: Computation) -> None:
        self.body, self.plan = body, plan
        self.outputs = outputs(computation)
        self.root = computation.root

    def build(self) -> None:
        """The number of a thread's group of elements, then what it computes; with several chunks in a loop."""
        plan, body = self.plan, self.body
        first = thread_id("bl_x") * plan.block_size + thread_id("th_x")
        if plan.chunks > 1:
            with body.strided_loop("chunk", first, plan.groups, plan.blocks * plan.block_size) as group:
                self._group(group)
            return
        with guarded(body, body.within(first, 0, plan.groups - 1)), body.base_scope():
            self._group(body.named_index("i", first, 0, plan.groups - 1))

    def _group(self, group: SymbolicExpr) -> None:
        """The elements of a vector; of the last one those that there are."""
        body, width = self.body, self.plan.vector_width
        with lanes(body, width) as lane:
            position = body.scope.simplify(group * width + lane)
            with guarded(body, body.within(position, 0, self.plan.count - 1)), body.base_scope():
                self._element(*body.inside((position,), (self.plan.count,)))

    def _element(self, position: SymbolicExpr) -> None:
        """The element at `position` of every output's memory that reaches so far."""
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
