"""The layout of a reduction on blocks and threads: its dimensions, its knobs, and the thread mapping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Literal, Protocol

from indexing._core import Interval, SymbolicExpr, constant
from indexing.device.limits import Limits
from indexing.device.record import Device
from indexing.hlo import Instruction
from indexing.hlo.layout import delinearize, major_to_minor
from indexing.kernels.emitter import fits
from indexing.kernels.emitters.reduction.splits import shared_bytes_of_splits
from indexing.kernels.kernel_builder import Dim3
from indexing.kernels.knob_space import powers_of_two
from indexing.kernels.launch import Part, Plan, range_variable, thread_id
from indexing.kernels.targets import TARGETS
from indexing.ops.element_context import Index

OUTER, STEP, LANE = range(3)  # the range variables of a thread mapping
MAX_SPLITS = 1024
WARP = 32
MIN_LOADS = 4  # a thread has at least so many before more threads or blocks share the work
MAX_SHORT = 16  # a thread takes at most so many elements of a row before several warps share it
MIN_SPLIT_ELEMENTS = 1 << 16  # fewer are not worth sharing rows or columns among blocks


@dataclass(frozen=True, slots=True)
class Dimensions:
    """The operand's dimensions, slowest first, without those of size 1, split into kept and reduced ones.

    The fastest dimensions are reduced in a row reduction, kept in a column reduction: `fast` is their number of elements,
    `rows` and `reduced` are those of all kept and of all reduced dimensions. `sizes` are those of a window of the operand if it
    has `starts`, the least index of each dimension.
    """

    kind: Literal["row", "column"]
    sizes: tuple[int, ...]  # of all dimensions of the operand
    kept: tuple[int, ...]
    gone: tuple[int, ...]
    fast: int
    starts: tuple[int, ...]

    @property
    def rows(self) -> int:
        """The number of the result's elements."""
        return prod(self.sizes[d] for d in self.kept)

    @property
    def reduced(self) -> int:
        """The number of elements that are reduced to one of the result."""
        return prod(self.sizes[d] for d in self.gone)

    @property
    def outer(self) -> int:
        """The number of runs of `fast` elements that are reduced together, in a row reduction."""
        return self.reduced // self.fast

    @property
    def is_worth_splitting(self) -> bool:
        """Whether there are enough elements for blocks to share rows or columns."""
        return self.rows * self.reduced >= MIN_SPLIT_ELEMENTS

    def index(self, kept: SymbolicExpr, reduced: SymbolicExpr) -> list[SymbolicExpr]:
        """The operand's index at a position among the kept and one among the reduced elements."""
        index = [constant(start) for start in self.starts]
        for group, position in ((self.kept, kept), (self.gone, reduced)):
            for d, part in zip(group, delinearize(position, [self.sizes[g] for g in group]), strict=True):
                index[d] += part
        return index


def dimensions_of(reduce: Instruction, window: Sequence[Interval] | None = None) -> Dimensions:
    """The dimensions of a reduction, in the memory order of its operands, or of a window of them."""
    shape = reduce.operands[0].shape
    window = window or [Interval(0, n - 1) for n in shape.dimensions]
    sizes = tuple(w.upper - w.lower + 1 for w in window)
    order = [d for d in major_to_minor(shape) if sizes[d] != 1]
    gone = set(reduce.ints("dimensions"))
    kept = tuple(d for d in order if d not in gone)
    reduced = tuple(d for d in order if d in gone)
    is_row = order[-1] in gone
    fast = 1
    for d in reversed(order):
        if (d in gone) != is_row:
            break
        fast *= sizes[d]
    starts = tuple(w.lower for w in window)
    return Dimensions("row" if is_row else "column", sizes, kept, reduced, fast, starts)


@dataclass(frozen=True, slots=True)
class ReductionPlan:
    """Knobs and launch dimensions.

    `threads` (a power of two) reduce one row or column; a block has `across` rows, or vectors of columns, of one run or of
    several whole ones; a thread takes `vector_width` elements at once. `split_k` blocks share the rows or columns of one of
    `tiles` tiles: steps are interleaved or, `contiguous_splits`, each block has consecutive ones. A thread reduces
    `value_bytes` bytes a column, in `dialect`. Where rows are `staged`, threads compute all elements of their rows first, of so
    many bytes, and then reduce them side by side.
    """

    dimensions: Dimensions
    threads: int
    across: int
    vector_width: int
    split_k: int
    value_bytes: int
    dialect: str
    contiguous_splits: bool = False
    staged: int = 0

    @property
    def shared_bytes(self) -> int:
        """The shared memory in which the threads of a block combine their values, or have the elements of their rows."""
        values = self.value_bytes * self.columns
        combined = shared_bytes_of_splits(
            values, self.block[0], self.threads, self.distance, self.split_k, self.dialect
        )
        return combined + self.staged * self.dimensions.reduced * self.across

    def with_splits(self, split_k: int) -> ReductionPlan:
        """The plan in which `split_k` blocks share the rows or columns of a tile."""
        return replace(self, split_k=split_k)

    @property
    def distance(self) -> int:
        """The distance between the thread ids of one row or column."""
        d = self.dimensions
        return 1 if d.kind == "row" else min(self.across, d.fast // self.vector_width)

    @property
    def tiles(self) -> int:
        """The number of groups of rows, or of columns, that are reduced together."""
        d = self.dimensions
        if d.kind == "row":
            return ceil_div(d.rows, self.across)
        runs, groups = d.rows // d.fast, d.fast // self.vector_width
        if self.across > groups:
            return ceil_div(runs, self.across // groups)
        return runs * ceil_div(groups, self.across)

    @property
    def grid(self) -> Dim3:
        """The blocks, in one dimension."""
        return (self.tiles * self.split_k, 1, 1)

    @property
    def block(self) -> Dim3:
        """The threads of a block, in one dimension."""
        return (self.threads * self.across, 1, 1)

    @property
    def columns(self) -> int:
        """The number of columns that a thread reduces side by side; 1 in a row reduction."""
        return self.vector_width if self.dimensions.kind == "column" else 1


@dataclass(frozen=True, slots=True)
class ThreadMapping:
    """The mapping of a block's threads: coordinates of the operands' rows or columns, and of the elements reduced in each.

    `loops` are range variables with counts. After the inner loop, a thread may have one more vector, at `rest`. `tile` and
    `split` are the block's numbers, `slot` that of a group of threads in it, and `part` that of a thread in its group.
    """

    dimensions: Dimensions
    width: int
    loops: tuple[tuple[str, int], ...]
    kept: tuple[Part, ...]
    reduced: tuple[Part, ...]
    rest: tuple[Part, ...]
    tile: SymbolicExpr
    split: SymbolicExpr
    slot: SymbolicExpr
    part: SymbolicExpr

    def kept_position(self, kept: Index, lane: SymbolicExpr) -> SymbolicExpr:
        """The position among the kept elements."""
        if self.dimensions.kind == "row":
            return kept[0]
        slow, group = kept
        return slow * self.dimensions.fast + group * self.width + lane

    def reduced_position(self, reduced: Index, lane: SymbolicExpr) -> SymbolicExpr:
        """The position among the reduced elements."""
        if self.dimensions.kind == "column":
            return reduced[0]
        outer, group = reduced
        return outer * self.dimensions.fast + group * self.width + lane


def thread_mapping(plan: ReductionPlan) -> ThreadMapping:
    """The mapping of a plan's threads, over thread ids and range variables."""
    return _rows(plan) if plan.dimensions.kind == "row" else _columns(plan)


def _rows(plan: ReductionPlan) -> ThreadMapping:
    d, th_x, bl_x = plan.dimensions, thread_id("th_x"), thread_id("bl_x")
    tile, split = bl_x // plan.split_k, bl_x % plan.split_k
    part, slot = th_x % plan.threads, th_x // plan.threads
    outer, outers, groups = range_variable(OUTER), d.outer, ceil_div(d.fast, plan.vector_width)
    step = range_variable(STEP)
    if splits_outer(d, plan.threads, plan.vector_width):
        outer, outers = outer * plan.split_k + split, ceil_div(d.outer, plan.split_k)
        steps, group, rest = divided(replace(plan, split_k=1), constant(0), part, groups, step)
    else:
        steps, group, rest = divided(plan, split, part, groups, step)
    run = Part(outer, d.outer)
    return ThreadMapping(
        d,
        plan.vector_width,
        (("outer", outers), ("step", steps)),
        (Part(tile * plan.across + slot, d.rows),),
        (run, Part(group, groups)),
        () if rest is None else (run, Part(rest, groups)),
        tile,
        split,
        slot,
        part,
    )


class SplitPlan(Plan, Protocol):
    """A plan in which several blocks may share rows."""

    @property
    def tiles(self) -> int:
        """The number of groups of rows."""

    def with_splits(self, split_k: int) -> Plan:
        """The plan in which `split_k` blocks share the rows of a group."""


def legal_splits(plan: SplitPlan, most: int, limits: Limits) -> int:
    """The largest number of blocks up to `most` that may share a row within a device's limits; 0 if the plan exceeds them as
    it is. Shared memory grows with the numbers of threads that combine the blocks' results, which are powers of two.
    """
    most = min(most, limits.grid[0] // plan.tiles)
    while most and not fits(plan.with_splits(most), limits):
        most = power_of_two(most) - 1
    return most


class Division(Protocol):
    """The division of vectors among `threads` of each of `split_k` blocks: interleaved, or `contiguous_splits`."""

    @property
    def threads(self) -> int:
        """The number of threads of a block that share a row or column."""

    @property
    def split_k(self) -> int:
        """The number of blocks that share it."""

    @property
    def contiguous_splits(self) -> bool:
        """Whether each block takes consecutive vectors."""


def divided(
    plan: Division, split: SymbolicExpr, part: SymbolicExpr, count: int, step: SymbolicExpr
) -> tuple[int, SymbolicExpr, SymbolicExpr | None]:
    """The number of steps of a thread over `count` vectors that blocks share, its vector at a `step`, and one that it may take
    after these.
    """
    threads = plan.threads * plan.split_k
    in_turn = split * plan.threads + part
    if plan.split_k == 1 or not plan.contiguous_splits:
        return ceil_div(count, threads), step * threads + in_turn, None
    whole = count // threads
    return whole, (split * whole + step) * plan.threads + part, whole * threads + in_turn if count % threads else None


def splits_outer(dimensions: Dimensions, threads: int, width: int) -> bool:
    """Whether blocks that share a row divide its runs among them, rather than each run: the longer loop is divided."""
    return dimensions.outer > -(-dimensions.fast // (width * threads))


def _columns(plan: ReductionPlan) -> ThreadMapping:
    d, th_x, bl_x = plan.dimensions, thread_id("th_x"), thread_id("bl_x")
    tile, split = bl_x // plan.split_k, bl_x % plan.split_k
    distance, groups = plan.distance, d.fast // plan.vector_width
    part, in_run = th_x // distance % plan.threads, th_x % distance
    of_block = th_x // (distance * plan.threads)
    beside, runs = ceil_div(groups, plan.across), max(plan.across // groups, 1)
    steps, position, rest = divided(plan, split, part, d.reduced, range_variable(STEP))
    run, group = tile // beside, tile % beside * plan.across + in_run
    if runs > 1:
        run, group = tile * runs + of_block, in_run
    return ThreadMapping(
        d,
        plan.vector_width,
        (("outer", 1), ("step", steps)),
        (Part(run, d.rows // d.fast), Part(group, groups)),
        (Part(position, d.reduced),),
        () if rest is None else (Part(rest, d.reduced),),
        tile,
        split,
        of_block * distance + in_run,
        part,
    )


def operand_index(
    mapping: ThreadMapping, kept: Sequence[SymbolicExpr], reduced: Sequence[SymbolicExpr], lane: SymbolicExpr
) -> Index:
    """The operands' index at the coordinates of a mapping."""
    place = mapping.kept_position(tuple(kept), lane), mapping.reduced_position(tuple(reduced), lane)
    return tuple(mapping.dimensions.index(*place))


def ceil_div(a: int, b: int) -> int:
    """a / b, rounded up."""
    return -(-a // b)


def power_of_two(limit: int) -> int:
    """The largest power of two up to `limit`; at least 1."""
    return 1 << (max(limit, 1).bit_length() - 1)


def threads_of_row(vectors: int, width: int, vector_bytes: int, most: int, device: Device) -> int:
    """The threads, a power of two up to `most`, for a row of vectors of `width` elements: part of a warp for a short one.

    A thread of a warp takes up to MAX_SHORT elements, or MIN_LOADS vectors; a longer row has several warps. In a short one,
    the fewest threads are idle whose neighbouring accesses fill sectors.
    """
    longest = max(MAX_SHORT, MIN_LOADS * width)
    warp = min(WARP, most)
    if vectors * width > WARP * longest or not TARGETS[device.dialect].has_threads:
        return max(power_of_two(vectors // MIN_LOADS), warp)
    sector = device.memory.sector_bytes
    segment = min(vectors * vector_bytes, sector if vectors * vector_bytes % sector == 0 else 2 * sector)
    sizes = [t for t in powers_of_two(warp) if t * vector_bytes >= segment and ceil_div(vectors, t) * width <= longest]
    return min(sizes, key=lambda t: (ceil_div(vectors, t) * t, t), default=warp)


def with_more_threads(threads: int, rows: int, vectors: int, most: int, device: Device, least: int = MIN_LOADS) -> int:
    """Twice the threads of a row, and so on up to `most`, while rows leave the device idle and threads have more than the
    `least` loads.
    """
    has_threads = TARGETS[device.dialect].has_threads
    while threads < most and rows * threads < device.widths.wanted_threads // 2:
        if has_threads and vectors <= least * threads:
            break
        threads *= 2
    return threads
