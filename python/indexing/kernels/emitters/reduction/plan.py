"""Launch dimensions and knobs of a reduction."""

from __future__ import annotations

from dataclasses import replace
from math import isinf

from indexing.device.record import Device
from indexing.hlo import Instruction
from indexing.kernels.emitter import fits
from indexing.kernels.emitters.reduction.accumulators import value_bytes
from indexing.kernels.emitters.reduction.mapping import (
    MAX_SPLITS,
    MIN_LOADS,
    WARP,
    Dimensions,
    ReductionPlan,
    ceil_div,
    dimensions_of,
    legal_splits,
    power_of_two,
    splits_outer,
    threads_of_row,
    with_more_threads,
)
from indexing.kernels.emitters.reduction.match import NAME, staged_arrays
from indexing.kernels.epilogue import Heroes
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.knob_space import KnobSpace, Values, nested_space, powers_of_two
from indexing.kernels.lane_sectors import best_width
from indexing.kernels.targets import TARGETS
from indexing.kernels.vectors import MIN_THREADS, WIDTHS, is_cheap, widest_vector
from indexing.ops.reducer_ops import neutral_element
from indexing.ops.registry import traits_of

MAX_TAIL_INSTRUCTIONS = 64  # a body of at most so many is built a second time, for a partial vector
MAX_IN_LANE = 8  # without threads, one lane reduces a row of at most so many elements
# Rows of at most so many elements are reduced side by side from shared memory, where threads are loops: those of several
# arrays, those that are computed from what all rows or all elements of one read, and others.
MAX_STAGED_PAIRS, MAX_STAGED_ALIKE, MAX_STAGED = 128, 64, 32
MIN_PAIRED = 256  # threads of a block whose values are combined pair by pair
MAX_PAIRED_LOADS = 32  # a thread of a row has more before adding them takes much longer than combining the sums
MIN_ROW_VECTORS = 1024  # with fewer in all rows, vectors are narrower
MAX_ALONE = 64  # one thread reduces a column of at most so many elements, if there are enough columns
MAX_SHORT_COLUMN = 16  # one thread reduces a column of at most so many elements, of however few columns
MIN_COLUMN_LOADS = 8  # with fewer of a column, more threads share it only where there are fewer than MIN_SHARING in all
MIN_SHARING = 1 << 14
MAX_ROW_LOADS = 16  # a thread may have so many of a row before blocks share it
MIN_WARP_LOADS = 8  # a thread of a warp has more before further warps share the row, over shared memory
MAX_IN_FLIGHT = 2  # the loads of a loop with at most so many instructions for an element are all on their way at once
MAX_IN_THREAD = 31  # elements of a row that one thread reduces, if no number of threads shares them evenly
MIN_WORD = 4  # bytes of the elements of such rows; those of narrower ones are read one by one
MIN_BLOCKS = 32  # with fewer, blocks share columns; with more, blocks get more threads instead


def plan_reduction(
    match: Heroes,
    device: Device,
    *,
    threads: int | None = None,
    vector_width: int | None = None,
    split_k: int | None = None,
) -> ReductionPlan:
    """Launch dimensions for a device.

    Knobs: `threads` of a block that reduce one row or column, a power of two up to the most of a block, at most the number of
    vectors along the fastest reduced dimensions (row), or of reduced elements (column). `vector_width`, 1, 2, 4, 8 or 16
    elements per load, which divides the fastest dimensions (a single row may have a remainder). `split_k`, 1 to 1024 blocks
    that share a row or column, at most one for each step that its threads would take.
    """
    d = dimensions_of(match.first)
    width = vector_width or _vector_width(match, d, device)
    group = _group_size(match, d, width, threads, device)
    chosen = _shared_by_blocks(match, _planned(match, d, width, group, device), split_k, device)
    while threads is None and group > 1 and not (fits(chosen, device.limits) and _has_splits(match, chosen, device)):
        group //= 2
        chosen = _shared_by_blocks(match, _planned(match, d, width, group, device), split_k, device)
    return chosen


def _planned(match: Heroes, d: Dimensions, width: int, threads: int, device: Device) -> ReductionPlan:
    """The plan with one block for each row or column; a block has as many rows as its shared memory has room for."""
    values = value_bytes(leaf.element_type for hero in match.heroes for leaf in hero.shape.leaves)
    across = _rows_across(d, width, threads, device) if d.kind == "row" else _columns_across(d, width, threads, device)
    staged = _staged_bytes(match) if threads == 1 and _are_staged(match, d, device) else 0
    plan = ReductionPlan(d, threads, across, width, 1, values, device.dialect, device.widths.reads_ahead, staged)
    while d.kind == "row" and plan.across > 1 and not fits(_most_shared(plan), device.limits):
        plan = replace(plan, across=plan.across // 2)
    return plan


def _most_shared(plan: ReductionPlan) -> ReductionPlan:
    """The plan with so many blocks for a row that its shared memory is the most."""
    return plan.with_splits(plan.threads) if _most_splits(plan) >= plan.threads else plan


def _rows_across(d: Dimensions, width: int, threads: int, device: Device) -> int:
    """The rows of a block: where threads are loops, enough short rows for full vectors of pairs to the last round."""
    is_short = threads > 1 and d.reduced <= MAX_PAIRED_LOADS * threads * width
    is_paired = is_short and not TARGETS[device.dialect].has_threads
    most = MIN_PAIRED if is_paired else device.widths.block_size
    return min(max(most // threads, 1), power_of_two(d.rows))


def _shared_by_blocks(match: Heroes, plan: ReductionPlan, split_k: int | None, device: Device) -> ReductionPlan:
    """The plan in which `split_k` blocks share a row or column; by default as many as keep the device busy."""
    if split_k is None:
        legal = legal_splits(plan, _most_splits(plan), device.limits)
        split_k = min(_wanted_splits(match, plan, device), power_of_two(legal))
    return plan.with_splits(split_k)


def _wanted_splits(match: Heroes, plan: ReductionPlan, device: Device) -> int:
    """The blocks for a row or column that would keep the device busy, each with enough loads."""
    d = plan.dimensions
    launched = plan.tiles * plan.threads * plan.across
    loads = _steps(plan) * (1 if splits_outer(d, plan.threads, plan.vector_width) or d.kind == "column" else d.outer)
    is_split = (
        d.is_worth_splitting
        and not plan.staged
        and not (d.kind == "column" and _has_few_elements(d, plan.vector_width))
    )
    is_split = is_split and (d.kind == "row" or d.reduced >= 2 * plan.threads * MIN_COLUMN_LOADS)
    wanted = device.widths.wanted_threads // launched if is_split else 1
    return power_of_two(min(wanted, loads // _least_loads(match, plan, loads)))


def _least_loads(match: Heroes, plan: ReductionPlan, loads: int) -> int:
    """The loads that a thread has before blocks share its work. Combining sums takes more instructions than it saves time while
    all loads are on their way at once: those of a short row, or of a loop over columns without a remainder.
    """
    d = plan.dimensions
    if not _are_in_flight(match, d):
        is_warp = d.kind == "row" and plan.threads <= WARP and TARGETS[plan.dialect].has_threads
        return MIN_WARP_LOADS if is_warp else MIN_LOADS
    if d.kind == "row":
        return MAX_ROW_LOADS if loads <= MAX_ROW_LOADS else MIN_LOADS
    return MIN_COLUMN_LOADS if d.reduced % (plan.threads * MIN_COLUMN_LOADS) == 0 else MIN_LOADS


def _are_in_flight(match: Heroes, d: Dimensions) -> bool:
    """Whether all loads of a thread are on their way at once, as little is computed of each element."""
    of_element = [i for i in match.computation.post_order() if i.shape.leaves[0].element_count == d.rows * d.reduced]
    return len(of_element) <= MAX_IN_FLIGHT


def _has_splits(match: Heroes, plan: ReductionPlan, device: Device) -> bool:
    """Whether blocks share rows or columns, or need not: the sums of many threads leave no shared memory for it."""
    return plan.split_k > 1 or _wanted_splits(match, replace(plan, split_k=1), device) == 1


def threads_share(match: Heroes, device: Device) -> bool:
    """Whether threads share a row or column in this emitter's kernels. One thread alone reduces a row in fewer instructions
    where its elements are no power of two of vectors, or are computed from what all rows, or all elements of one, read.
    """
    d = dimensions_of(match.first)
    if d.kind == "column" or d.outer > 1 or not TARGETS[device.dialect].has_threads:
        return True
    if len(match.heroes) > 1 or match.side_outputs or d.reduced > MAX_ALONE:
        return True
    if not any(_has_rows(match, d, p) for p in match.computation.parameters):
        return d.rows < MIN_THREADS
    vectors = d.fast // _vector_width(match, d, device)
    return d.reduced > MAX_IN_THREAD or vectors == power_of_two(vectors) or min(_sizes_read(match, d)) < MIN_WORD


def _has_rows(match: Heroes, d: Dimensions, parameter: Instruction) -> bool:
    """Whether an array has different elements for different rows, and for different elements of one."""
    if parameter in match.first.operands:
        return parameter.shape.element_count > 1
    for reader, access in match.parts.reads(parameter):
        used = {v for e in access.map.results for v in e.used_variables()}
        if reader.index_sizes != d.sizes or not access.is_known or (used & {*d.kept} and used & {*d.gone}):
            return True
    return False


def reduction_knobs(match: Heroes, default: ReductionPlan, device: Device) -> KnobSpace:
    """Names, legal values and defaults of the knobs, and conditions between them."""
    d = default.dimensions
    splits: dict[tuple[int, ...], Values] = {}
    for width in (w for w in WIDTHS if _is_width(d, w)):
        for group in powers_of_two(_most_threads(d, width, device)):
            plan = _planned(match, d, width, group, device)
            if most := legal_splits(plan, _most_splits(plan), device.limits):
                splits[width, group] = range(1, most + 1)
    return nested_space(NAME, ("vector_width", "threads", "split_k"), default, splits)


def _most_splits(plan: ReductionPlan) -> int:
    return 1 if plan.staged else min(_steps(plan), MAX_SPLITS)


def _steps(plan: ReductionPlan) -> int:
    """The number of steps of the loop that blocks divide among them."""
    d = plan.dimensions
    if d.kind == "row" and splits_outer(d, plan.threads, plan.vector_width):
        return d.outer
    length = ceil_div(d.fast, plan.vector_width) if d.kind == "row" else d.reduced
    return length // plan.threads


def _vector_width(match: Heroes, d: Dimensions, device: Device) -> int:
    """The number of elements that fit into 16 bytes, of the narrowest input of the operands' size; fewer where warps touch
    fewer sectors of wider arrays.
    """
    computation = match.computation
    order = computation.post_order()
    if not is_cheap(order, match.heroes):
        return 1
    count = d.rows * d.reduced
    is_one_row = d.kind == "row" and d.fast == count and len(order) <= MAX_TAIL_INSTRUCTIONS
    limit, least = (8, MIN_THREADS) if d.kind == "column" else (16, MIN_ROW_VECTORS)
    if _is_short_column(d):
        count = d.rows
    width = widest_vector(limit, min(_sizes_read(match, d)), count, () if is_one_row else (d.fast,), least)
    written = [s for s in computation.root.shape.leaves if s.element_count == d.rows * d.reduced]
    sizes = [*_sizes_read(match, d), *(storage_bytes(s.element_type) for s in written)]
    return best_width(width, sizes, device) if d.kind == "row" else width


def _sizes_read(match: Heroes, d: Dimensions) -> list[int]:
    """The bytes of an element of each input of the operands' size; 4 if there is none."""
    read = [p.shape for p in match.computation.parameters if p.shape.element_count == d.rows * d.reduced]
    return [storage_bytes(s.element_type) for s in read if not s.is_tuple] or [4]


def _is_width(d: Dimensions, width: int) -> bool:
    return not d.fast % width or (d.kind == "row" and d.fast == d.rows * d.reduced > width)


def _group_size(match: Heroes, d: Dimensions, width: int, threads: int | None, device: Device) -> int:
    """The threads of a row or column."""
    if threads is not None:
        return threads
    most = _most_threads(d, width, device)
    return _row_group(match, d, width, most, device) if d.kind == "row" else _column_group(d, width, most, device)


def _row_group(match: Heroes, d: Dimensions, width: int, most: int, device: Device) -> int:
    sizes, size = device.widths, min(_sizes_read(match, d))
    groups = ceil_div(d.fast, width)
    if _are_lanes(match, d, device):
        return 1
    threads = min(threads_of_row(groups, width, width * size, most, device), sizes.row_threads)
    limit = min(most, sizes.row_threads) if d.is_worth_splitting else most
    least = MAX_ROW_LOADS if _are_in_flight(match, d) else MIN_LOADS if threads < WARP else MIN_WARP_LOADS
    return with_more_threads(threads, d.rows, groups, limit, device, least)


def _are_lanes(match: Heroes, d: Dimensions, device: Device) -> bool:
    """Whether neighbouring rows become lanes of vectors: short ones of one value each, where threads are loops."""
    values = sum(len(hero.shape.leaves) for hero in match.heroes)
    is_short = d.reduced <= MAX_IN_LANE and values == 1 and not TARGETS[device.dialect].has_threads
    return is_short or _are_staged(match, d, device)


def _are_staged(match: Heroes, d: Dimensions, device: Device) -> bool:
    """Whether short rows are reduced side by side, once their elements are in memory as vectors need them. Compilers make no
    vectors of rows that are read with a stride, unless it is a power of two, nor of values that are kept with their places.
    Rows that data choose are read no better into other memory.
    """
    if TARGETS[device.dialect].has_threads or d.kind == "column":
        return False
    if any(hero.shape.is_tuple for hero in match.heroes):
        return d.reduced <= MAX_STAGED_PAIRS
    if not any(_has_rows(match, d, p) for p in match.computation.parameters):
        return MAX_IN_LANE < d.reduced <= MAX_STAGED_ALIKE
    reads = (access for p in match.computation.parameters for _, access in match.parts.reads(p))
    has_place = all(access.is_known and not access.map.num_runtimes for access in reads)
    return _takes_vectors(match) and has_place and d.reduced <= MAX_STAGED and d.reduced != power_of_two(d.reduced)


def _takes_vectors(match: Heroes) -> bool:
    """Whether an element takes much longer without vectors: extrema of floats, in which a NaN stays, and costly functions."""
    neutral = (neutral_element(hero) for hero in match.heroes)
    is_extremum = any(isinstance(n, float) and isinf(n) for n in neutral)
    return is_extremum or any(traits_of(i).is_expensive for i in match.computation.post_order())


def _staged_bytes(match: Heroes) -> int:
    """The bytes of an element of all arrays that are reduced from shared memory."""
    return sum(storage_bytes(array.shape.element_type) for array in staged_arrays(match.heroes))


def _most_threads(d: Dimensions, width: int, device: Device) -> int:
    most = device.limits.block_size
    if d.kind == "row":
        return min(power_of_two(ceil_div(d.fast, width)), power_of_two(most))
    across = min(d.fast // width, device.widths.columns)
    return min(power_of_two(d.reduced), power_of_two(most // across))


def _columns_across(d: Dimensions, width: int, threads: int, device: Device) -> int:
    """The vectors of columns per block; many are distributed evenly over the blocks, in whole sectors. Of few, a block takes
    several runs.
    """
    groups, most = d.fast // width, device.widths.columns
    if threads == 1:
        most = max(most, device.widths.block_size)
    groups *= _runs_of_block(d, groups, threads, most, device)
    if groups <= most:
        return groups
    even = ceil_div(groups, ceil_div(groups, most))
    return min(ceil_div(even, 8) * 8, most)


def _runs_of_block(d: Dimensions, groups: int, threads: int, most: int, device: Device) -> int:
    """The runs of columns that a block takes: where threads share columns, those that fill a warp, and more while no core is
    left without a block.
    """
    runs = d.rows // d.fast
    if threads == 1:
        return min(max(most // groups, 1), runs)
    if not TARGETS[device.dialect].has_threads:
        return 1
    of_warp, of_block = (size // (groups * threads) for size in (WARP, device.widths.block_size))
    return power_of_two(min(max(of_warp, min(of_block, runs // device.cores.count)), runs))


def _is_short_column(d: Dimensions) -> bool:
    """Whether columns have so few elements that sharing one takes threads longer than to reduce it."""
    return d.kind == "column" and d.reduced <= MAX_SHORT_COLUMN


def _has_few_elements(d: Dimensions, width: int) -> bool:
    """Whether columns have so few elements, or few and are so many, that a thread reduces one."""
    return _is_short_column(d) or (d.reduced <= MAX_ALONE and d.rows // width >= MIN_THREADS)


def _column_group(d: Dimensions, width: int, most: int, device: Device) -> int:
    sizes, groups = device.widths, d.fast // width
    if _has_few_elements(d, width) or d.rows // width >= sizes.wanted_threads:
        return 1
    across = _columns_across(d, width, most, device)
    tiles = d.rows // d.fast * ceil_div(groups, across)
    filled = power_of_two(max(sizes.block_size // across, 1))
    threads = min(most, filled, power_of_two(max(d.reduced // MIN_COLUMN_LOADS, 1)))
    launched, needs_splits = tiles * across, d.is_worth_splitting and tiles < MIN_BLOCKS
    has_threads = TARGETS[device.dialect].has_threads
    while threads < most and not (needs_splits and threads >= filled):
        wanted = sizes.wanted_threads // 2 if d.reduced >= 2 * threads * MIN_COLUMN_LOADS else MIN_SHARING
        if launched * threads >= wanted or (has_threads and d.reduced < 2 * threads * MIN_LOADS):
            break
        threads *= 2
    return threads
