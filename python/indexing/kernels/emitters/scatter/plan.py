"""Launch dimensions and knobs of a scatter, and the way in which concurrent updates of one element are avoided."""

from __future__ import annotations

from dataclasses import dataclass, replace

from indexing.device.record import Device
from indexing.hlo import Instruction
from indexing.hlo.layout import major_to_minor
from indexing.kernels.emitters.scatter.match import NAME, Scattered
from indexing.kernels.emitters.scatter.modes import (
    UpdateMode,
    adjacent_updates,
    may_be_atomic,
    may_copy,
    may_cut,
    update_mode,
    update_shape,
)
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.kernel_builder import Dim3
from indexing.kernels.knob_space import Condition, Knob, KnobSpace
from indexing.kernels.linear import BLOCK_SIZE, LinearPlan, linear_block_size, linear_knobs
from indexing.kernels.targets import TARGETS
from indexing.kernels.vectors import is_cheap, widest_vector

DEFAULT_SEGMENT = 32
MAX_SEGMENT = 4096
MAX_COPIES = 1024
COPY_THREADS = 256  # by default, so many share a copy
COPY_BYTES = 16 << 10  # with larger copies, a core has room for few blocks
MIN_COPIES = 32  # with fewer, the device is not busy
MIN_UPDATES = 64  # with fewer updates of an element, on average, those in memory don't wait for each other
MIN_COMBINED = 8  # with fewer updates of an element in one copy, combining saves little
MAX_IN_LOOP = 16  # updates of a row that a thread takes where threads are loops; the loops of longer rows end with them
MAX_LANES = 4  # updates of a thread by default; with more, a warp's accesses would not cover whole cache lines


@dataclass(frozen=True, slots=True)
class ScatterPlan(LinearPlan):
    """Launch dimensions over the updates, and the way in which concurrent updates of one element are avoided.

    Runs of sorted indices are cut at multiples of `segment`; 0: they are not cut. `copies` of the outputs, one for each block,
    of `copy_bytes` in shared memory, are updated first; 0: there are none.
    """

    mode: UpdateMode
    segment: int
    copies: int
    copy_bytes: int

    @property
    def grid(self) -> Dim3:
        """The blocks, in one dimension."""
        return (1, 1, 1) if self.mode == "in turn" else (self.copies or -(-self.count // self.block_size), 1, 1)

    @property
    def shared_bytes(self) -> int:  # type: ignore[override]
        """The shared memory of a block's copies."""
        return self.copy_bytes if self.copies else 0


def plan_scatter(
    match: Scattered,
    device: Device,
    *,
    block_size: int | None = None,
    vector_width: int | None = None,
    atomic: int | None = None,
    segment: int | None = None,
    copies: int | None = None,
) -> ScatterPlan:
    """Launch dimensions.

    Knobs: `block_size`, from 1 thread to the most of a block (default 128), 1 if updates are applied in turn;
    `vector_width`, 1, 2, 4, 8 or 16 updates per thread, which divides a row of a window and has one index, or, where
    threads are loops, a short row (default there); `atomic`, 1 for atomics although indices are sorted (default where
    threads are loops and windows vectors, or runs short, unless `segment` is given); `segment`, the most updates, 1 to
    4096, that one thread combines where indices are sorted, 0 for any number (default 32 if atomic updates can join
    segments, else 0); `copies`, the blocks that combine atomic updates in copies of the outputs in shared memory first, 0
    to 1024, if these are integers, f32 or f64 and fit (default 0 if there are many elements, or few updates of each).
    """
    hero = match.heroes[0]
    mode = update_mode(hero)
    if atomic is None:
        atomic = int(segment is None and _is_better_unsorted(hero, device))
    if atomic and mode == "sorted" and may_be_atomic(hero):
        mode = "atomic"
    is_cut = mode == "sorted" and may_cut(hero)
    if segment is None:
        segment = DEFAULT_SEGMENT if is_cut else 0
    shape = update_shape(hero)
    if mode == "in turn":
        block_size = 1
    size = _copy_bytes(match, mode, device)
    if copies is None:
        copies = _default_copies(match, size, block_size or COPY_THREADS, device)
    threads = block_size or linear_block_size(
        shape.element_count, device.limits, COPY_THREADS if copies else BLOCK_SIZE
    )
    order = tuple(range(shape.rank)) if mode == "in turn" else major_to_minor(shape)
    along = adjacent_updates(hero, mode)
    if vector_width is None:
        vector_width = _default_width(match, along, device)
    return ScatterPlan(shape.dimensions, order, vector_width, threads, mode, segment, copies, size)


def _is_short_row(width: int, along: int, device: Device) -> bool:
    """Whether a thread takes all `along` updates of a row of a window, in a loop of its own."""
    return width == along <= MAX_IN_LOOP and not TARGETS[device.dialect].has_threads


def _default_width(match: Scattered, along: int, device: Device) -> int:
    """The updates of a thread; where threads are loops, those of a short row, whose index it reads once."""
    if along == 1 or not is_cheap(match.computation.post_order(), match.heroes):
        return 1
    if not TARGETS[device.dialect].has_threads:
        return along if along <= MAX_IN_LOOP else 1
    widest = max(storage_bytes(update_shape(h).element_type) for h in match.heroes)
    return widest_vector(MAX_LANES, widest, update_shape(match.heroes[0]).element_count, [along])


def _is_better_unsorted(hero: Instruction, device: Device) -> bool:
    """Whether a device would rather not look for the ends of runs of sorted indices."""
    updates, elements = update_shape(hero).element_count, hero.operands[0].shape.element_count
    pays = adjacent_updates(hero, "atomic") > 1 or updates < MIN_COMBINED * elements
    return pays and not TARGETS[device.dialect].has_threads


def _copy_bytes(match: Scattered, mode: UpdateMode, device: Device) -> int:
    """The bytes of copies of all outputs; 0 if a block can't have any."""
    if mode != "atomic" or not all(map(may_copy, match.heroes)):
        return 0
    size = sum(o.shape.element_count * storage_bytes(o.shape.element_type) for o in match.outputs)
    return size if size <= device.limits.shared_bytes else 0


def _most_copies(size: int, device: Device) -> int:
    return min(MAX_COPIES, device.limits.grid[0]) if size else 0


def _default_copies(match: Scattered, size: int, threads: int, device: Device) -> int:
    """As many blocks as keep the device busy, if each element of a copy still gets several updates; 0 if they are few, or where
    threads are loops.
    """
    if not 0 < size <= COPY_BYTES or not TARGETS[device.dialect].has_threads:
        return 0
    updates = update_shape(match.heroes[0]).element_count
    elements = max(o.shape.element_count for o in match.outputs)
    if updates < MIN_UPDATES * elements:
        return 0
    most = min(device.widths.wanted_threads, updates) // threads
    copies = min(most, updates // (MIN_COMBINED * elements), _most_copies(size, device))
    return copies if copies >= MIN_COPIES else 0


def scatter_knobs(match: Scattered, default: ScatterPlan, device: Device) -> KnobSpace:
    """Names, legal values and defaults of the knobs; there are segments only where updates are not all atomic."""
    hero = match.heroes[0]
    is_sorted = update_mode(hero) == "sorted"
    segments = range(MAX_SEGMENT + 1) if is_sorted and may_cut(hero) else range(1)
    is_chosen = is_sorted and may_be_atomic(hero)
    atomic = Knob("atomic", (0, 1) if is_chosen else (0,), int(is_chosen and default.mode == "atomic"))
    copies = range(_most_copies(_copy_bytes(match, default.mode, device), device) + 1)
    along = adjacent_updates(hero, "atomic" if is_chosen else default.mode)
    threads, width = linear_knobs(default, along, device.limits)
    if _is_short_row(along, along, device):
        width = replace(width, values=tuple(sorted({*width.values, along})))
    if len(copies) > 1:  # the number of turns of a thread depends on it
        threads = replace(threads, effect="kernel")
    if default.mode == "in turn":
        threads = Knob("block_size", range(1, 2), 1)
    return KnobSpace(
        NAME,
        (threads, atomic, width, Knob("segment", segments, default.segment), Knob("copies", copies, default.copies)),
        (
            Condition("vector_width", ("atomic",), {(0,): (1,) if is_chosen else width.values, (1,): width.values}),
            Condition("segment", ("atomic",), {(0,): segments, (1,): range(1)}),
        ),
    )
