"""The reduction emitter: row reductions, several short rows a block, and column reductions.

Every thread first reduces its own elements, then the threads of a row or column combine their results. Dimensions are
merged in memory order: in a *row* reduction the fastest dimension is reduced, in a *column* reduction it is kept.

A thread takes `vector_width` neighbouring elements at once: of its row, or of as many columns. If there are too few rows or
columns to keep the machine busy, several blocks share each, and the last of them to arrive combines their results.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from indexing.emitters.epilogue import Heroes, heroes_of
from indexing.emitters.hero import outputs
from indexing.emitters.heroes.reduction.body import Body, arrays_of
from indexing.emitters.heroes.reduction.plans import (
    MAX_SPLITS,
    Dimensions,
    ReductionPlan,
    ceil_div,
    checked_threads,
    dimensions_of,
    power_of_two,
    splits_outer,
)
from indexing.emitters.ir.types import storage_bytes
from indexing.emitters.knob_space import Condition, Knob, KnobSpace, Values, powers_of_two
from indexing.emitters.launch import MAX_THREADS_PER_BLOCK, assembled, check_knob, entry_builder
from indexing.emitters.machine import GPU, Machine
from indexing.emitters.vectors import WIDTHS, is_cheap, widest_vector
from indexing.errors import IndexingError
from indexing.hlo.layout import major_to_minor
from indexing.hlo.module_cache import cached_on_module
from indexing.ops.reduce import REDUCE
from indexing.ops.registry import traits_of

if TYPE_CHECKING:
    from indexing.emitters.ir.nodes import Kernel
    from indexing.hlo import Computation, Instruction

NAME = "reduction"
WARP = 32
MAX_TAIL_INSTRUCTIONS = 64  # of a body that is built a second time, for a partial vector
MIN_REDUCED = 4  # elements; one thread reduces fewer
MIN_LOADS = 4  # of a thread, before more threads or blocks share the work
MIN_BLOCKS = 32  # with fewer, blocks share columns; with more, blocks get more threads instead


def matches(computation: Computation) -> bool:
    """Whether the fusion's outputs follow reductions over one space."""
    return match(computation) is not None


@cached_on_module
def match(computation: Computation) -> Heroes | None:
    """The heroes, if every output follows a reduction of one space, or has as many elements as that space."""
    return heroes_of(computation, _is_hero, _space)


def _is_hero(instruction: Instruction) -> bool:
    if traits_of(instruction) is not REDUCE:
        return False
    sizes = instruction.operands[0].shape.dimensions
    layouts = {major_to_minor(o.shape) for o in arrays_of(instruction)}
    return (
        len(layouts) == 1 and 0 not in sizes and prod(sizes[d] for d in instruction.ints("dimensions")) >= MIN_REDUCED
    )


def _space(reduce: Instruction) -> tuple[object, ...]:
    shape = reduce.operands[0].shape
    return shape.dimensions, major_to_minor(shape), tuple(sorted(reduce.ints("dimensions")))


def plan(
    computation: Computation,
    *,
    threads: int | None = None,
    vector_width: int | None = None,
    splits: int | None = None,
    machine: Machine = GPU,
) -> ReductionPlan:
    """Launch dimensions for a machine.

    Knobs: `threads` of a block that reduce one row or column, a power of two up to 1024, at most the number of vectors along
    the fastest reduced dimensions (row), or of reduced elements (column). `vector_width`, 1, 2, 4, 8 or 16 elements per load,
    which divides the fastest dimensions (a single row may have a remainder). `splits`, 1 to 1024 blocks that share a row or
    column, at most one for each step that its threads would take.
    """
    found = match(computation)
    if found is None:
        raise IndexingError(f"{computation.name} has no reduction that decides its layout; the loop emitter takes it")
    d = dimensions_of(found.first)
    width = _vector_width(computation, found, d) if vector_width is None else _checked_width(d, vector_width)
    shape = _row_plan if d.kind == "row" else _column_plan
    threads, across = shape(d, width, threads, machine)
    unsplit = ReductionPlan(d, threads, across, width, 1)
    most = _most_splits(d, width, threads)
    if splits is None:
        launched = unsplit.tiles * threads * across
        loads = _steps(unsplit) * (1 if splits_outer(d, threads, width) or d.kind == "column" else d.outer)
        wanted = machine.wanted_threads // launched if d.is_worth_splitting else 1
        splits = power_of_two(min(wanted, loads // MIN_LOADS, most))
    check_knob("splits", splits, 1, most)
    return ReductionPlan(d, threads, across, width, splits, machine.reads_ahead)


def knobs(computation: Computation, default: ReductionPlan, machine: Machine = GPU) -> KnobSpace:
    """Names, legal values and defaults of the knobs, and conditions between them."""
    d = default.dimensions
    widths = tuple(w for w in WIDTHS if _is_width(d, w))
    threads: dict[tuple[int, ...], Values] = {(w,): powers_of_two(_most_threads(d, w, machine)) for w in widths}
    splits: dict[tuple[int, ...], Values] = {
        (w, t): range(1, _most_splits(d, w, t) + 1) for (w,), values in threads.items() for t in values
    }
    return KnobSpace(
        NAME,
        (
            Knob("vector_width", widths, default.vector_width),
            Knob("threads", max(threads.values(), key=len), default.threads),
            Knob("splits", max(splits.values(), key=len), default.splits, "splits"),
        ),
        (
            Condition("threads", ("vector_width",), threads),
            Condition("splits", ("vector_width", "threads"), splits),
        ),
    )


def _most_splits(d: Dimensions, width: int, threads: int) -> int:
    return min(_steps(ReductionPlan(d, threads, 1, width, 1)), MAX_SPLITS)


def _steps(plan: ReductionPlan) -> int:
    """The number of steps of the loop that blocks divide among them."""
    d = plan.dimensions
    if d.kind == "row" and splits_outer(d, plan.threads, plan.vector_width):
        return d.outer
    length = ceil_div(d.fast, plan.vector_width) if d.kind == "row" else d.reduced
    return length // plan.threads


def _vector_width(computation: Computation, found: Heroes, d: Dimensions) -> int:
    """The number of elements that fit into 16 bytes, of the narrowest input of the operands' size."""
    order = computation.post_order()
    if not is_cheap(order, found.heroes):
        return 1
    count = d.rows * d.reduced
    read = [p.shape for p in computation.parameters if not p.shape.is_tuple and p.shape.element_count == count]
    sizes = [storage_bytes(s.element_type) for s in read] or [4]
    is_one_row = d.kind == "row" and d.fast == count and len(order) <= MAX_TAIL_INSTRUCTIONS
    limit = 8 if d.kind == "column" else 16
    return widest_vector(limit, min(sizes), count, () if is_one_row else (d.fast,))


def _is_width(d: Dimensions, width: int) -> bool:
    return width in WIDTHS and (not d.fast % width or (d.kind == "row" and d.fast == d.rows * d.reduced > width))


def _checked_width(d: Dimensions, width: int) -> int:
    if not _is_width(d, width):
        raise IndexingError(
            f"vector_width is 1, 2, 4, 8 or 16, and divides the {d.fast} elements of the fastest dimensions; got {width}"
        )
    return width


def _row_plan(d: Dimensions, width: int, threads: int | None, machine: Machine) -> tuple[int, int]:
    """The threads per row, and the rows per block."""
    groups = ceil_div(d.fast, width)
    most = _most_threads(d, width, machine)
    if threads is None:
        threads = min(max(power_of_two(groups // MIN_LOADS), min(WARP, most)), machine.row_threads)
        limit = min(most, machine.row_threads) if d.is_worth_splitting else most
        while threads < limit and d.rows * threads < machine.wanted_threads // 2:
            threads *= 2
    chosen = checked_threads(threads, most)
    return chosen, min(max(machine.block_size // chosen, 1), power_of_two(d.rows))


def _most_threads(d: Dimensions, width: int, machine: Machine) -> int:
    if d.kind == "row":
        return min(power_of_two(ceil_div(d.fast, width)), MAX_THREADS_PER_BLOCK)
    across = _columns_across(d.fast // width, machine.columns)
    return min(power_of_two(d.reduced), power_of_two(MAX_THREADS_PER_BLOCK // across))


def _columns_across(groups: int, most: int) -> int:
    """The vectors of columns per block; many are distributed evenly over the blocks, in whole sectors."""
    if groups <= most:
        return groups
    even = ceil_div(groups, ceil_div(groups, most))
    return min(ceil_div(even, 8) * 8, most)


def _column_plan(d: Dimensions, width: int, threads: int | None, machine: Machine) -> tuple[int, int]:
    """The threads per column, and the vectors of columns per block."""
    groups = d.fast // width
    across = _columns_across(groups, machine.columns)
    tiles = d.rows // d.fast * ceil_div(groups, across)
    most = _most_threads(d, width, machine)
    if threads is None:
        threads = min(most, power_of_two(max(machine.block_size // across, 1)))
        launched, wanted = tiles * across, machine.wanted_threads // 2
        needs_splits = d.is_worth_splitting and tiles < MIN_BLOCKS
        while threads < most and launched * threads < wanted and not needs_splits:
            threads *= 2
    return checked_threads(threads, most), across


def kernel(computation: Computation, plan: ReductionPlan) -> Kernel:
    """The kernel."""
    found = match(computation)
    assert found is not None
    builder = found.kernel_builder(computation)
    body = entry_builder(builder, plan.grid, plan.block)
    Body(found, plan, body).build()
    return assembled(builder, NAME, found.first, body, outputs(computation), (plan.grid, plan.block))
