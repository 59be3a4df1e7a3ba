"""Launch dimensions and knobs of a chain of reductions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from indexing.device.record import Device
from indexing.hlo.module_cache import cached_on_module
from indexing.kernels.emitter import fits
from indexing.kernels.emitters.reduction.accumulators import value_bytes
from indexing.kernels.emitters.reduction.mapping import (
    MAX_SPLITS,
    MIN_LOADS,
    WARP,
    Dimensions,
    ceil_div,
    legal_splits,
    power_of_two,
    threads_of_row,
    with_more_threads,
)
from indexing.kernels.emitters.rows.mapping import Keep, RowsPlan
from indexing.kernels.emitters.rows.match import NAME, RowSpace
from indexing.kernels.emitters.rows.online import with_online_sums
from indexing.kernels.emitters.rows.row_cache import row_cache_of
from indexing.kernels.emitters.rows.staged import staged_bytes
from indexing.kernels.emitters.rows.weights import bytes_of_weights
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.knob_space import KnobSpace, Values, nested_space, powers_of_two
from indexing.kernels.lane_sectors import best_width
from indexing.kernels.targets import TARGETS
from indexing.kernels.vectors import MIN_THREADS, VECTOR_BYTES, WIDTHS, is_cheap

MAX_SHORT_LOOPED = 128  # elements of a row that few threads take where threads are loops


def plan_rows(
    space: RowSpace,
    device: Device,
    *,
    threads: int | None = None,
    vector_width: int | None = None,
    keep: int | None = None,
    split_k: int | None = None,
) -> RowsPlan:
    """Launch dimensions for a device.

    Knobs: `threads` per row, a power of two up to the most of a block, at most the number of the row's vectors. `vector_width`,
    1, 2, 4, 8 or 16 elements per load, which divides the fastest dimensions; 1 if these are not reduced. `keep`: elements
    needed by later passes are read again (0), kept in shared memory, if a block's part fits (1), or in registers (2); 3 is 0
    with online sums. `split_k`, 1 to 1024 blocks that share a row, at most one for each step that its threads would take; more
    than 1 only with `keep` 3, if that leaves a single pass without outputs per element.
    """
    d = space.dimensions
    width = vector_width or _vector_width(space, d, device)
    if keep in (None, Keep.ONLINE) and with_online_sums(space).is_one_pass and split_k != 1:
        split = _split(space, d, width, threads, split_k, device)
        if split.split_k > 1 and (keep is not None or split_k is not None or _leaves_cores_idle(split, device)):
            return split
    plan = _unsplit(space, d, width, threads, None if keep is None else Keep(keep), device)
    if threads is None and vector_width is None and TARGETS[device.dialect].has_threads:
        return _with_fewer_steps(space, plan, keep, device)
    return plan


def _with_fewer_steps(space: RowSpace, plan: RowsPlan, keep: int | None, device: Device) -> RowsPlan:
    """The plan with wider vectors for as many threads, which take half the steps, while there are such."""
    d, widest = plan.dimensions, _widest_vector(space, plan.dimensions, device)
    while plan.vector_width < widest and d.reduced % (2 * plan.vector_width * plan.threads) == 0:
        plan = _unsplit(space, d, 2 * plan.vector_width, plan.threads, None if keep is None else Keep(keep), device)
    return plan


def _leaves_cores_idle(plan: RowsPlan, device: Device) -> bool:
    """Whether rows need several blocks each, in one pass. Where a second pass hits the cache, its sums take more operations."""
    return not device.widths.caches_rows or plan.tiles < device.cores.count


def _split(
    space: RowSpace, d: Dimensions, width: int, threads: int | None, split_k: int | None, device: Device
) -> RowsPlan:
    """The plan in which blocks share rows; by default as many as keep the device busy."""
    most, sizes = _most_threads(d, width, device), device.widths
    if d.kind == "column":
        few = sizes.block_size // min(sizes.columns, power_of_two(d.fast))
    else:
        few = min(max(power_of_two(d.reduced // width // MIN_LOADS), WARP), sizes.row_threads)
    chosen = threads or min(power_of_two(few), most)
    plan = _planned(space, d, chosen, width, Keep.ONLINE, device)
    while threads is None and plan.threads > 1 and not fits(plan, device.limits):
        plan = _planned(space, d, plan.threads // 2, width, Keep.ONLINE, device)
    if split_k is None:
        launched = plan.tiles * plan.threads * plan.across
        wanted = sizes.wanted_threads // launched if d.is_worth_splitting else 1
        legal = legal_splits(plan, _most_splits(plan), device.limits)
        split_k = power_of_two(min(wanted, plan.steps // MIN_LOADS, legal))
    return plan.with_splits(split_k)


def _unsplit(
    space: RowSpace, d: Dimensions, width: int, threads: int | None, keep: Keep | None, device: Device
) -> RowsPlan:
    """The plan in which blocks do not share rows, with the best `keep` for as many threads as fit; both may be given."""
    chosen = threads or _threads(space, d, width, _most_threads(d, width, device), device)
    while True:
        kinds = _keeps_by_preference(space, d, chosen, width, device) if keep is None else (keep,)
        plans = [_planned(space, d, chosen, width, kind, device) for kind in kinds]
        fitting = next((p for p in plans if fits(p, device.limits)), None)
        if fitting is not None or threads is not None or chosen == 1:
            return fitting or plans[-1]
        chosen //= 2


def _keeps_by_preference(space: RowSpace, d: Dimensions, threads: int, width: int, device: Device) -> tuple[Keep, ...]:
    """In registers if they are few, else in shared memory, else reading again, with online sums if they save a pass."""
    has_online = not device.widths.caches_rows and with_online_sums(space).online
    again: Keep = Keep.ONLINE if has_online else Keep.NOTHING
    held = _planned(space, d, threads, width, Keep.REGISTERS, device).elements * row_cache_of(space, True).bytes_at_once
    return (*((Keep.REGISTERS,) if held <= _most_kept(device) else ()), Keep.SHARED, again)


def _planned(space: RowSpace, d: Dimensions, threads: int, width: int, keep: Keep, device: Device) -> RowsPlan:
    """The plan in which blocks do not share rows; a block has as many rows as its shared memory has room for."""
    values = _accumulated_bytes(with_online_sums(space) if keep == Keep.ONLINE else space)
    kept = row_cache_of(space, True).bytes
    across = _rows_across(d, threads, device)
    plan = RowsPlan(d, threads, across, width, keep, values, kept, device.dialect, device.widths.reads_ahead)
    if TARGETS[device.dialect].has_threads and keep != Keep.ONLINE:
        staged = staged_bytes(space) if threads == width == 1 else 0
        weights = bytes_of_weights(space, plan.keeps_elements, d, across)
        plan = replace(plan, weight_bytes=weights, staged_bytes=staged)
    while d.kind == "row" and plan.across > 1 and not fits(_most_shared(plan), device.limits):
        across = plan.across // 2
        weights = bytes_of_weights(space, plan.keeps_elements, d, across) if plan.weight_bytes else 0
        plan = replace(plan, across=across, weight_bytes=weights)
    return plan


def _has_looped_columns(d: Dimensions, device: Device) -> bool:
    """Whether columns are reduced by threads that are loops."""
    return d.kind == "column" and not TARGETS[device.dialect].has_threads


def _rows_across(d: Dimensions, threads: int, device: Device) -> int:
    """The rows of a block: as many as its threads serve. A core takes more columns at once, while none is left idle."""
    across = min(max(device.widths.block_size // threads, 1), power_of_two(d.rows if d.kind == "row" else d.fast))
    if _has_looped_columns(d, device):
        tiles = d.rows // d.fast
        if d.fast * threads <= device.widths.columns and tiles >= device.cores.count:
            return d.fast
        while 2 * across * threads <= device.widths.columns and tiles * (d.fast // (2 * across)) >= device.cores.count:
            across *= 2
    return across


def _most_shared(plan: RowsPlan) -> RowsPlan:
    """The plan with so many blocks for a row that its shared memory is the most."""
    return plan.with_splits(plan.threads) if plan.keep == Keep.ONLINE and _most_splits(plan) >= plan.threads else plan


def _most_splits(plan: RowsPlan) -> int:
    """The largest number of blocks that may share a row, if one pass suffices."""
    return max(min(plan.dimensions.reduced // (plan.vector_width * plan.threads), MAX_SPLITS), 1)


def rows_knobs(space: RowSpace, default: RowsPlan, device: Device) -> KnobSpace:
    """Names, legal values and defaults of the knobs, and conditions between them.

    `keep` 2 is excluded where a thread would keep more than its registers hold.
    """
    splits = _legal_splits(space, default.dimensions, device)
    return nested_space(NAME, ("vector_width", "threads", "keep", "split_k"), default, splits)


def _legal_splits(space: RowSpace, d: Dimensions, device: Device) -> dict[tuple[int, ...], Values]:
    """The legal numbers of blocks that share a row, by the legal combinations of vector width, threads and `keep`."""
    widths = tuple(w for w in WIDTHS if d.fast % w == 0) if d.kind == "row" else (1,)
    may_split = with_online_sums(space).is_one_pass
    legal: dict[tuple[int, ...], Values] = {}
    for width in widths:
        for threads in powers_of_two(_most_threads(d, width, device)):
            for p in _plans_by_keep(space, d, threads, width, device):
                most = _most_splits(p) if may_split and p.keep == Keep.ONLINE else 1
                if most := legal_splits(p, most, device.limits):
                    legal[width, threads, int(p.keep)] = range(1, most + 1)
    return legal


def _plans_by_keep(space: RowSpace, d: Dimensions, threads: int, width: int, device: Device) -> Iterator[RowsPlan]:
    """The plans with each `keep` for which a thread's registers have room."""
    held = row_cache_of(space, True)
    has_online = bool(with_online_sums(space).online)
    for keep in (k for k in Keep if has_online or k != Keep.ONLINE):
        plan = _planned(space, d, threads, width, keep, device)
        if keep != Keep.REGISTERS or plan.elements * held.bytes_at_once <= device.limits.thread_bytes:
            yield plan


def _most_threads(d: Dimensions, width: int, device: Device) -> int:
    return min(power_of_two(d.reduced // width), power_of_two(device.limits.block_size))


def _vector_width(space: RowSpace, d: Dimensions, device: Device) -> int:
    """The width of the widest vector; fewer elements if a row has less than a vector for each thread of a warp, and rows are
    few.
    """
    width = _widest_vector(space, d, device)
    while width > 1 and d.reduced // width < WARP and d.rows * d.reduced // width < MIN_THREADS:
        width //= 2
    return width


def _widest_vector(space: RowSpace, d: Dimensions, device: Device) -> int:
    """The number of elements that fit into 16 bytes, of the narrowest input of the space's size; fewer where warps touch fewer
    sectors of wider arrays, weights among them.
    """
    if d.kind != "row" or not is_cheap(space.computation.post_order(), (*space.reductions, *space.row_reductions)):
        return 1
    width = VECTOR_BYTES // _element_bytes(space)
    while width > 1 and d.fast % width:
        width //= 2
    read = [p.shape for p in space.computation.parameters if p in space.places and not space.is_per_row(p)]
    sizes = [storage_bytes(s.element_type) for s in (*read, *(o.shape for o in space.per_element))]
    return best_width(max(width, 1), sizes, device)


def _element_bytes(space: RowSpace) -> int:
    """The bytes of an element of the narrowest input of the space's size; 4 if there is none."""
    read = [p.shape for p in space.computation.parameters if p.shape.element_count == space.shape.element_count]
    return min((storage_bytes(s.element_type) for s in read), default=4)


def _threads(space: RowSpace, d: Dimensions, width: int, most: int, device: Device) -> int:
    """The number of threads per row: few, to save synchronization, unless each would keep too much, or rows are few."""
    groups, sizes, cache = ceil_div(d.reduced, width), device.widths, row_cache_of(space, True)
    if staged_bytes(space) and TARGETS[device.dialect].has_threads:
        return 1
    if _has_looped_columns(d, device):
        return _threads_of_column(space, d, most, device)
    if d.kind == "column":
        most = min(most, power_of_two(device.limits.block_size // min(WARP, power_of_two(d.fast))))
        threads = max(power_of_two(groups // MIN_LOADS), min(WARP, most))
    elif width == 1 and groups <= device.cores.lanes and not TARGETS[device.dialect].has_threads:
        return 1  # rows become lanes
    elif width == 1 and groups <= MAX_SHORT_LOOPED and not TARGETS[device.dialect].has_threads:
        threads = _threads_of_short_row(groups, device)
    else:
        threads = threads_of_row(groups, width, width * _element_bytes(space), most, device)
    threads = min(threads, sizes.row_threads, most)
    while threads < most and _keeps_too_much(groups, threads, width * cache.bytes_at_once, device):
        threads *= 2
    return with_more_threads(threads, d.rows, groups, most, device)


def _threads_of_short_row(elements: int, device: Device) -> int:
    """The threads of a row of a few vectors where threads are loops: as many elements are taken at once as a vector has, or
    half as many if the row has few, so that few steps combine its lanes.
    """
    lanes = device.cores.lanes
    return lanes if elements >= 4 * lanes else lanes // 2


def _threads_of_column(space: RowSpace, d: Dimensions, most: int, device: Device) -> int:
    """Few, so that a block's runs of neighbouring columns are long; more while cores are idle and runs fill whole lines."""
    threads, least = 1, ceil_div(device.memory.line_bytes, _element_bytes(space))
    while threads < most and device.widths.block_size // (2 * threads) >= least:
        if _planned(space, d, threads, 1, Keep.NOTHING, device).tiles >= device.cores.count:
            break
        threads *= 2
    return threads


def _keeps_too_much(groups: int, threads: int, vector_bytes: int, device: Device) -> bool:
    """Whether a thread would keep more than its registers have room for: half of these, or more if twice as many threads
    would be idle more often.
    """
    steps, fewer = ceil_div(groups, threads), ceil_div(groups, 2 * threads)
    most = device.limits.kept_bytes
    return steps * vector_bytes > (most if steps == 2 * fewer else _most_kept(device))


def _most_kept(device: Device) -> int:
    return min(device.limits.kept_bytes * 3 // 2, device.limits.thread_bytes)


@cached_on_module
def _accumulated_bytes(space: RowSpace) -> int:
    """The bytes of all accumulators of a thread."""
    return value_bytes(_accumulated_types(space))


def _accumulated_types(space: RowSpace) -> Iterator[str]:
    """The element types of all accumulators of a thread: online sums share those of another reduction."""
    online = {o.result: o.form.kinds for o in space.online}
    for r in space.reductions:
        if r not in space.online_totals:
            yield from online.get(r) or (leaf.element_type for leaf in r.shape.leaves)
    yield from (r.shape.element_type for r in space.row_reductions)
