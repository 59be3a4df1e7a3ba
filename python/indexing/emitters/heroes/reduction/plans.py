"""The layout of a reduction on blocks and threads: its dimensions, its knobs, and the thread mapping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Literal, Protocol

from indexing._core import SymbolicExpr, constant
from indexing.emitters.launch import Part, range_variable, thread_id
from indexing.errors import IndexingError
from indexing.hlo.layout import delinearize, major_to_minor

if TYPE_CHECKING:
    from indexing.emitters.kernel_builder import Dim3
    from indexing.hlo import Instruction
    from indexing.ops.element_context import Index

OUTER, STEP, LANE = range(3)  # the range variables of a thread mapping
MAX_SPLITS = 1024
WORTH_SPLITTING = 1 << 16  # elements


@dataclass(frozen=True, slots=True)
class Dimensions:
    """The operand's dimensions, slowest first, those of size 1 left out, split into kept and reduced ones.

    In a row reduction the fastest reduced dimensions end the order, in a column reduction the fastest kept ones: `fast`
    is how many elements these have, `rows` and `reduced` how many all kept and all reduced ones have.
    """

    kind: Literal["row", "column"]
    sizes: tuple[int, ...]  # of all dimensions of the operand
    kept: tuple[int, ...]
    gone: tuple[int, ...]
    fast: int

    @property
    def rows(self) -> int:
        """The number of the result's elements."""
        return prod(self.sizes[d] for d in self.kept)

    @property
    def reduced(self) -> int:
        """The number of elements that make one of the result."""
        return prod(self.sizes[d] for d in self.gone)

    @property
    def outer(self) -> int:
        """Of a row reduction: how many runs of `fast` elements are reduced together."""
        return self.reduced // self.fast

    @property
    def is_worth_splitting(self) -> bool:
        """Whether there is enough for blocks that share rows or columns."""
        return self.rows * self.reduced >= WORTH_SPLITTING

    def index(self, kept: SymbolicExpr, reduced: SymbolicExpr) -> list[SymbolicExpr]:
        """The operand's index at a position among the kept and one among the reduced elements."""
        index = [constant(0)] * len(self.sizes)
        for group, position in ((self.kept, kept), (self.gone, reduced)):
            for d, part in zip(group, delinearize(position, [self.sizes[g] for g in group]), strict=True):
                index[d] = part
        return index


def dimensions_of(reduce: Instruction) -> Dimensions:
    """The dimensions of a reduction, as memory holds its operands."""
    shape = reduce.operands[0].shape
    order = [d for d in major_to_minor(shape) if shape.dimensions[d] != 1]
    gone = set(reduce.ints("dimensions"))
    kept = tuple(d for d in order if d not in gone)
    reduced = tuple(d for d in order if d in gone)
    is_row = order[-1] in gone
    fast = 1
    for d in reversed(order):
        if (d in gone) != is_row:
            break
        fast *= shape.dimensions[d]
    return Dimensions("row" if is_row else "column", shape.dimensions, kept, reduced, fast)


@dataclass(frozen=True, slots=True)
class ReductionPlan:
    """Knobs and launch dimensions.

    `threads` reduce one row (a power of two) or one column; `across` rows, or vectors of columns, share a block; a
    thread takes `vector_width` elements at once. `splits` blocks share the rows or columns of one of `tiles` tiles: they take
    steps in turn or, `contiguous_splits`, one stretch of steps each.
    """

    dimensions: Dimensions
    threads: int
    across: int
    vector_width: int
    splits: int
    contiguous_splits: bool = False

    @property
    def tiles(self) -> int:
        """Groups of rows, or of columns, that are reduced together."""
        d = self.dimensions
        if d.kind == "row":
            return ceil_div(d.rows, self.across)
        return d.rows // d.fast * ceil_div(d.fast // self.vector_width, self.across)

    @property
    def grid(self) -> Dim3:
        """Blocks in one dimension."""
        return (self.tiles * self.splits, 1, 1)

    @property
    def block(self) -> Dim3:
        """Threads of a block in one dimension."""
        return (self.threads * self.across, 1, 1)

    @property
    def columns(self) -> int:
        """The number of columns that a thread reduces side by side; 1 in a row reduction."""
        return self.vector_width if self.dimensions.kind == "column" else 1


@dataclass(frozen=True, slots=True)
class ThreadMapping:
    """The mapping of a block's threads: coordinates of the operands' rows or columns, and of what is reduced in each.

    `loops` are range variables with counts. After the inner one a thread may have one more vector, at `rest`.
    `tile` and `split` number the block, `slot` the team of threads in it, and `part` the thread in its team.
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
    tile, split = bl_x // plan.splits, bl_x % plan.splits
    part, slot = th_x % plan.threads, th_x // plan.threads
    outer, outers, groups = range_variable(OUTER), d.outer, ceil_div(d.fast, plan.vector_width)
    step = range_variable(STEP)
    if splits_outer(d, plan.threads, plan.vector_width):
        outer, outers = outer * plan.splits + split, ceil_div(d.outer, plan.splits)
        steps, group, rest = divided(replace(plan, splits=1), constant(0), part, groups, step)
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


class Division(Protocol):
    """The division of vectors among threads: `threads` of each of `splits` blocks take them in turn, or `contiguous_splits`."""

    @property
    def threads(self) -> int:
        """Those that share a row or column in one block."""

    @property
    def splits(self) -> int:
        """Blocks that share it."""

    @property
    def contiguous_splits(self) -> bool:
        """Whether each block takes vectors that lie side by side."""


def divided(
    plan: Division, split: SymbolicExpr, part: SymbolicExpr, count: int, step: SymbolicExpr
) -> tuple[int, SymbolicExpr, SymbolicExpr | None]:
    """The steps of a thread over what all blocks share of `count` vectors, its vector at a `step`, and the one it may take
    after these.
    """
    team = plan.threads * plan.splits
    in_turn = split * plan.threads + part
    if plan.splits == 1 or not plan.contiguous_splits:
        return ceil_div(count, team), step * team + in_turn, None
    whole = count // team
    return whole, (split * whole + step) * plan.threads + part, whole * team + in_turn if count % team else None


def splits_outer(dimensions: Dimensions, threads: int, width: int) -> bool:
    """Whether blocks that share a row divide its runs, not each run: the longer loop is the one that is divided."""
    return dimensions.outer > -(-dimensions.fast // (width * threads))


def _columns(plan: ReductionPlan) -> ThreadMapping:
    d, th_x, bl_x = plan.dimensions, thread_id("th_x"), thread_id("bl_x")
    tile, split = bl_x // plan.splits, bl_x % plan.splits
    part, slot = th_x // plan.across, th_x % plan.across
    groups = d.fast // plan.vector_width
    beside = ceil_div(groups, plan.across)
    steps, position, rest = divided(plan, split, part, d.reduced, range_variable(STEP))
    return ThreadMapping(
        d,
        plan.vector_width,
        (("outer", 1), ("step", steps)),
        (Part(tile // beside, d.rows // d.fast), Part(tile % beside * plan.across + slot, groups)),
        (Part(position, d.reduced),),
        () if rest is None else (Part(rest, d.reduced),),
        tile,
        split,
        slot,
        part,
    )


def operand_index(
    mapping: ThreadMapping, kept: Sequence[SymbolicExpr], reduced: Sequence[SymbolicExpr], lane: SymbolicExpr
) -> Index:
    """The operands' index at the coordinates of a mapping."""
    place = mapping.kept_position(tuple(kept), lane), mapping.reduced_position(tuple(reduced), lane)
    return tuple(mapping.dimensions.index(*place))


def ceil_div(a: int, b: int) -> int:
    """The number of times that `b` is added to reach `a`."""
    return -(-a // b)


def power_of_two(limit: int) -> int:
    """The largest power of two up to `limit`; 1 below."""
    return 1 << (max(limit, 1).bit_length() - 1)


def checked_threads(threads: int, most: int) -> int:
    """The knob; IndexingError where it is no power of two up to `most`."""
    if threads < 1 or threads & (threads - 1) or threads > most:
        raise IndexingError(f"threads is a power of two up to {most} here; got {threads}")
    return threads
