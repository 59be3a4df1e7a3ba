"""Launch dimensions and knobs of a scatter, and the way in which concurrent updates of one element are avoided."""

from __future__ import annotations

from dataclasses import dataclass

from indexing.device.record import Device
from indexing.hlo.layout import major_to_minor
from indexing.kernels.emitters.scatter.match import NAME, Scattered
from indexing.kernels.emitters.scatter.modes import (
    UpdateMode,
    adjacent_updates,
    may_be_atomic,
    may_cut,
    update_mode,
    update_shape,
)
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.kernel_builder import Dim3
from indexing.kernels.knob_space import Condition, Knob, KnobSpace
from indexing.kernels.launch import check_knob
from indexing.kernels.linear import LinearPlan, linear_block_size, linear_knobs
from indexing.kernels.vectors import check_width, is_cheap, widest_vector

DEFAULT_SEGMENT = 32
MAX_SEGMENT = 4096
MAX_LANES = 4  # updates of a thread by default; with more, a warp's accesses would not cover whole cache lines


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
    hero = match.heroes[0]
    mode = update_mode(hero)
    if atomic and mode == "sorted" and may_be_atomic(hero):
        mode = "atomic"
    is_cut = mode == "sorted" and may_cut(hero)
    if segment is None:
        segment = DEFAULT_SEGMENT if is_cut else 0
    check_knob("segment", segment, 0, MAX_SEGMENT if is_cut else 0)
    shape = update_shape(hero)
    if mode == "in turn":
        block_size = 1 if block_size is None else block_size
        check_knob("block_size", block_size, 1, 1)
    threads = linear_block_size(block_size, shape.element_count, device.limits)
    order = tuple(range(shape.rank)) if mode == "in turn" else major_to_minor(shape)
    along = adjacent_updates(hero, mode)
    if vector_width is None:
        is_one = along > 1 and is_cheap(match.computation.post_order(), match.heroes)
        size = max(storage_bytes(update_shape(h).element_type) for h in match.heroes)
        vector_width = widest_vector(MAX_LANES, size, shape.element_count, [along]) if is_one else 1
    check_width(vector_width, along)
    return ScatterPlan(shape.dimensions, order, vector_width, threads, mode, segment)


def scatter_knobs(match: Scattered, default: ScatterPlan, device: Device) -> KnobSpace:
    """Names, legal values and defaults of the knobs; there are segments only where updates are not all atomic."""
    hero, is_sorted = match.heroes[0], default.mode == "sorted"
    segments = range(MAX_SEGMENT + 1) if is_sorted and may_cut(hero) else range(1)
    atomic = Knob("atomic", (0, 1) if is_sorted and may_be_atomic(hero) else (0,), 0)
    threads, width = linear_knobs(default, adjacent_updates(hero, default.mode), device.limits)
    if default.mode == "in turn":
        threads = Knob("block_size", range(1, 2), 1)
    return KnobSpace(
        NAME,
        (threads, width, atomic, Knob("segment", segments, default.segment)),
        (Condition("segment", ("atomic",), {(0,): segments, (1,): range(1)}),),
    )
