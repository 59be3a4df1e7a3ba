"""Launch dimensions and knobs of a scatter, and the way in which concurrent updates of one element are avoided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from indexing.device.record import Device
from indexing.hlo import Instruction
from indexing.hlo.layout import major_to_minor
from indexing.kernels.emitters.scatter.match import NAME, Scattered
from indexing.kernels.ir.opcodes import ATOMIC_SUMS, ATOMIC_UPDATES
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.kernel_builder import Dim3
from indexing.kernels.knob_space import Condition, Knob, KnobSpace
from indexing.kernels.launch import (
    check_knob,
)
from indexing.kernels.linear import LinearPlan, linear_block_size, linear_knobs
from indexing.kernels.vectors import check_width, is_cheap, widest_vector
from indexing.ops.reducer_ops import SECOND, reducer_opcode

DEFAULT_SEGMENT = 32
MAX_SEGMENT = 4096
MAX_LANES = 4  # updates of a thread by default; with more, a warp's accesses would not cover whole cache lines
ATOMIC_SIZES = (1, 2, 4, 8)
WORD_BYTES = 4  # the narrowest that all targets swap
INTEGERS = frozenset({"s32", "u32", "s64", "u64"})
REALS = frozenset({"f32", "f64"})
UpdateMode = Literal["unique", "sorted", "atomic", "in turn"]


@dataclass(frozen=True, slots=True)
class ScatterPlan(LinearPlan):
    """Launch dimensions over the updates, and the way in which concurrent updates of one element are avoided.

    Runs of sorted indices are cut at multiples of `segment`; 0: they are not cut.
    """

    mode: UpdateMode
    segment: int

    @property
    def grid(self) -> Dim3:
        """The blocks, in one dimension."""
        return (1, 1, 1) if self.mode == "in turn" else (-(-self.count // self.block_size), 1, 1)


def plan_scatter(
    match: Scattered,
    device: Device,
    *,
    block_size: int | None = None,
    vector_width: int | None = None,
    atomic: int = 0,
    segment: int | None = None,
) -> ScatterPlan:
    """Launch dimensions.

    Knobs: `block_size`, from 1 thread to the most of a block (default 128), 1 if updates are applied in turn; `vector_width`,
    1, 2, 4, 8 or 16 updates per thread, which divides a row of a window and has one index; `atomic`, 1 for atomics although
    indices are sorted; `segment`, the most updates, 1 to 4096, that one thread combines where indices are sorted, 0 for any
    number (default 32 if atomic updates can join segments, else 0).
    """
    check_knob("atomic", atomic, 0, 1)
    hero = match.hero
    mode = _update_mode(hero)
    if atomic and mode == "sorted" and _may_be_atomic(hero):
        mode = "atomic"
    may_cut = mode == "sorted" and _may_be_joined(hero)
    if segment is None:
        segment = DEFAULT_SEGMENT if may_cut else 0
    check_knob("segment", segment, 0, MAX_SEGMENT if may_cut else 0)
    shape = hero.operands[len(hero.operands) // 2 + 1].shape
    if mode == "in turn":
        block_size = 1 if block_size is None else block_size
        check_knob("block_size", block_size, 1, 1)
    threads = linear_block_size(block_size, shape.element_count, device.limits)
    order = tuple(range(shape.rank)) if mode == "in turn" else major_to_minor(shape)
    along = _adjacent_updates(hero, mode)
    if vector_width is None:
        is_one = along > 1 and is_cheap(match.computation.post_order(), [hero])
        vector_width = (
            widest_vector(MAX_LANES, storage_bytes(shape.element_type), shape.element_count, [along]) if is_one else 1
        )
    check_width(vector_width, along)
    return ScatterPlan(shape.dimensions, order, vector_width, threads, mode, segment)


def _update_mode(hero: Instruction) -> UpdateMode:
    """The cheapest way to avoid concurrent updates of one element."""
    if hero.flag("unique_indices"):
        return "unique"
    if hero.flag("indices_are_sorted") and _is_one_row_of_points(hero):
        return "sorted"
    count = len(hero.operands) // 2
    is_store = reducer_opcode(hero.computation_of("to_apply")) == SECOND
    return "atomic" if count == 1 and (_is_swapped(hero) or is_store) else "in turn"


def _is_swapped(hero: Instruction) -> bool:
    """Whether targets can swap each element. Bytes are swapped within words of four, of which the last must not extend beyond
    the array, where nobody may read or write.
    """
    shape = hero.operands[0].shape
    size = storage_bytes(shape.element_type)
    return size in ATOMIC_SIZES and (size > 1 or shape.element_count % WORD_BYTES == 0)


def _is_one_row_of_points(hero: Instruction) -> bool:
    """Whether windows with different indices don't overlap, and the indices are a single row of vectors."""
    inserted = set(hero.ints("inserted_window_dims"))
    if not set(hero.ints("scatter_dims_to_operand_dims")) <= inserted or hero.ints("input_batching_dims"):
        return False
    return len(batch_dims(hero)) == 1


def batch_dims(hero: Instruction) -> list[int]:
    """The dimensions of the updates that index index vectors."""
    rank = hero.operands[len(hero.operands) // 2 + 1].shape.rank
    return [d for d in range(rank) if d not in hero.ints("update_window_dims")]


def _adjacent_updates(hero: Instruction, mode: UpdateMode) -> int:
    """The number of adjacent updates with one index, if threads may take several; 1 otherwise."""
    shape = hero.operands[len(hero.operands) // 2 + 1].shape
    if mode not in ("unique", "atomic") or not shape.rank:
        return 1
    last = major_to_minor(shape)[-1]
    return shape.dimensions[last] if last in hero.ints("update_window_dims") else 1


def scatter_knobs(match: Scattered, default: ScatterPlan, device: Device) -> KnobSpace:
    """Names, legal values and defaults of the knobs; there are segments only where updates are not all atomic."""
    is_sorted = default.mode == "sorted"
    segments = range(MAX_SEGMENT + 1) if is_sorted and _may_be_joined(match.hero) else range(1)
    atomic = Knob("atomic", (0, 1) if is_sorted and _may_be_atomic(match.hero) else (0,), 0)
    threads, width = linear_knobs(default, _adjacent_updates(match.hero, default.mode), device.limits)
    if default.mode == "in turn":
        threads = Knob("block_size", range(1, 2), 1)
    return KnobSpace(
        NAME,
        (threads, width, atomic, Knob("segment", segments, default.segment)),
        (Condition("segment", ("atomic",), {(0,): segments, (1,): range(1)}),),
    )


def _may_be_atomic(hero: Instruction) -> bool:
    """Whether updates with sorted indices could be atomic instead."""
    return len(hero.operands) == 3 and _is_swapped(hero)


def _may_be_joined(hero: Instruction) -> bool:
    """Whether parts of a run may be combined separately, in any order, and joined by one atomic operation."""
    opcode = reducer_opcode(hero.computation_of("to_apply"))
    kind = hero.operands[0].shape.element_type
    return len(hero.operands) == 3 and (
        (opcode in ATOMIC_UPDATES and kind in INTEGERS) or (opcode in ATOMIC_SUMS and kind in REALS)
    )
