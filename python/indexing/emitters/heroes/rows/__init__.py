"""The rows emitter: chains of reductions over one row space, with what is computed between and after them.

Softmax, layer norms, their gradients, quantization by row: a reduction's result is used again for the elements of its row.
Each element is read once; what a later pass over the row needs is kept in registers, in shared memory where it does not fit,
and read again where it fits in neither; then a sum of exponentials is found together with the maximum that they are below,
and one of squares together with their mean. A team of threads takes a row; all of them have the results of its reductions.
Where one pass does and few rows are long, several blocks share each, and the last of them to come combines their results.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from indexing.emitters.hero import outputs
from indexing.emitters.heroes.reduction.plans import (
    MAX_SPLITS,
    Dimensions,
    ceil_div,
    checked_threads,
    dimensions_of,
    power_of_two,
)
from indexing.emitters.heroes.rows.body import Body
from indexing.emitters.heroes.rows.kept import Kept, kept_of
from indexing.emitters.heroes.rows.online import with_online_sums
from indexing.emitters.heroes.rows.partitioned import partition_space
from indexing.emitters.heroes.rows.plans import KEEPS, Keep, RowsPlan
from indexing.emitters.heroes.rows.space import RowSpace, row_space
from indexing.emitters.ir.types import storage_bytes
from indexing.emitters.kernel_builder import KernelBuilder
from indexing.emitters.knob_space import Condition, Knob, KnobSpace, Values, powers_of_two
from indexing.emitters.launch import MAX_THREADS_PER_BLOCK, assembled, check_knob, entry_builder
from indexing.emitters.machine import GPU, Machine
from indexing.emitters.vectors import VECTOR_BYTES, WIDTHS, check_width, is_light
from indexing.errors import IndexingError

if TYPE_CHECKING:
    from indexing.emitters.ir.nodes import Kernel
    from indexing.hlo import Computation

NAME = "rows"
WARP = 32
VECTORS = 4  # of a thread at least, before more threads share a row
REGISTER_BYTES = 128  # of a thread, for what is kept: half of the registers that 1024 threads leave it
MAX_REGISTER_BYTES = 255 * 4  # that a thread can have at all
SHARED_BYTES = 40 * 1024  # of 48 that a block may have; reductions across warps take some


def matches(computation: Computation) -> bool:
    """Whether reductions over one row space are used again for the elements of their rows."""
    return row_space(computation) is not None


def plan(
    computation: Computation,
    *,
    threads: int | None = None,
    vector_width: int | None = None,
    keep: int | None = None,
    splits: int | None = None,
    machine: Machine = GPU,
) -> RowsPlan:
    """Launch dimensions for a machine.

    Knobs: `threads` of a row, a power of two up to 1024, at most as many as the row has vectors. `vector_width` 1, 2, 4, 8
    or 16 elements a load, which divide the fastest dimensions; 1 where these are not reduced. `keep` 2: what is needed
    again is kept in registers; 1: in shared memory, where a block's part of it fits; 0: it is read again; 3: as 0, and sums
    are found in the pass of what their elements subtract. `splits`, 1 to 1024: blocks that share a row, at most one for each
    step that its threads would take; 1 but for `keep` 3, where that leaves one pass and nothing is written for each element.
    """
    space = space_of(computation)
    d = dimensions_of(space.first)
    width = _vector_width(computation, space, d)
    if vector_width is not None:
        check_width(vector_width, d.fast if d.kind == "row" else 1)
        width = vector_width
    if keep in (None, KEEPS.index("online")) and with_online_sums(space).is_one_pass and splits != 1:
        found = _split(d, width, threads, splits, machine)
        if found.splits > 1:
            return found
    check_knob("splits", 1 if splits is None else splits, 1, 1)
    return _unsplit(space, d, width, threads, keep, machine)


def _split(d: Dimensions, width: int, threads: int | None, splits: int | None, machine: Machine) -> RowsPlan:
    """The plan where blocks share rows, as many as keep the machine busy."""
    most = _most_threads(d, width)
    if d.kind == "column":
        few = machine.block_size // min(machine.columns, power_of_two(d.fast))
    else:
        few = min(max(power_of_two(d.reduced // width // VECTORS), WARP), machine.row_threads)
    chosen = min(power_of_two(few), most) if threads is None else checked_threads(threads, most)
    found = RowsPlan(d, chosen, _across(d, chosen, machine), width, "online", contiguous_splits=machine.reads_ahead)
    wanted = machine.wanted_threads // (found.tiles * chosen * found.across) if d.is_worth_splitting else 1
    if splits is None:
        splits = power_of_two(min(wanted, found.steps // VECTORS, _most_splits(found)))
    check_knob("splits", splits, 1, _most_splits(found))
    return replace(found, splits=splits)


def _unsplit(
    space: RowSpace, d: Dimensions, width: int, threads: int | None, keep: int | None, machine: Machine
) -> RowsPlan:
    """The plan where a block has the whole of its rows."""
    held = kept_of(space, True)
    most = _most_threads(d, width)
    chosen = _threads(d, width, most, held, machine) if threads is None else checked_threads(threads, most)
    across = _across(d, chosen, machine)
    found = RowsPlan(d, chosen, across, width, "registers")
    if keep is not None:
        check_knob("keep", keep, 0, len(KEEPS) - 1)
        if KEEPS[keep] == "online" and not with_online_sums(space).online:
            raise IndexingError(
                "keep 3 needs a sum of exponentials below a maximum, or of squares about a mean; take 0, 1 or 2"
            )
        if KEEPS[keep] != "shared":
            return RowsPlan(d, chosen, across, width, KEEPS[keep])
        shared = _in_shared(found, held)
        if shared is None:
            raise IndexingError(f"keep 1 needs more than {SHARED_BYTES} bytes of shared memory here; take 0 or 2")
        return shared
    if _elements(found) * held.bytes_at_once <= REGISTER_BYTES:
        return found
    has_online = not machine.caches_rows and with_online_sums(space).online
    again: Keep = "online" if has_online else "nothing"
    return _in_shared(found, held) or RowsPlan(d, chosen, across, width, again)


def _most_splits(plan: RowsPlan) -> int:
    """The most blocks that may share a row, where one pass does."""
    return max(min(plan.dimensions.reduced // (plan.vector_width * plan.threads), MAX_SPLITS), 1)


def _in_shared(plan: RowsPlan, held: Kept) -> RowsPlan | None:
    """The plan that keeps in shared memory, with fewer rows a block where these don't fit; None where none fits."""
    fitting = SHARED_BYTES // max(_elements(plan) * plan.threads * held.bytes, 1)  # rows
    is_row = plan.dimensions.kind == "row"
    if not fitting or (not is_row and fitting < plan.across):
        return None
    across = min(plan.across, power_of_two(fitting)) if is_row else plan.across
    return RowsPlan(plan.dimensions, plan.threads, across, plan.vector_width, "shared")


def knobs(computation: Computation, default: RowsPlan, machine: Machine = GPU) -> KnobSpace:
    """Names, legal values and defaults of the knobs, and what they ask of each other.

    `keep` 2 is left out where a thread would keep more than registers hold.
    """
    d = default.dimensions
    widths = tuple(w for w in WIDTHS if d.fast % w == 0) if d.kind == "row" else (1,)
    threads: dict[tuple[int, ...], Values] = {(w,): powers_of_two(_most_threads(d, w)) for w in widths}
    space = space_of(computation)
    held, found = kept_of(space, True), with_online_sums(space)
    online = (KEEPS.index("online"),) if found.online else ()
    keeps: dict[tuple[int, ...], Values] = {
        (w, t): (*_keeps(d, w, t, held, machine), *online) for (w,), values in threads.items() for t in values
    }
    plans = (RowsPlan(d, t, _across(d, t, machine), w, KEEPS[k]) for (w, t), values in keeps.items() for k in values)
    splits: dict[tuple[int, ...], Values] = {
        (p.vector_width, p.threads, KEEPS.index(p.keep)): range(
            1, (_most_splits(p) if found.is_one_pass and p.keep == "online" else 1) + 1
        )
        for p in plans
    }
    return KnobSpace(
        NAME,
        (
            Knob("vector_width", widths, default.vector_width),
            Knob("threads", max(threads.values(), key=len), default.threads),
            Knob("keep", (0, 1, 2, *online), KEEPS.index(default.keep)),
            Knob("splits", max(splits.values(), key=len), default.splits, "splits"),
        ),
        (
            Condition("threads", ("vector_width",), threads),
            Condition("keep", ("vector_width", "threads"), keeps),
            Condition("splits", ("vector_width", "threads", "keep"), splits),
        ),
    )


def _keeps(d: Dimensions, width: int, threads: int, held: Kept, machine: Machine) -> tuple[int, ...]:
    found = RowsPlan(d, threads, _across(d, threads, machine), width, "registers")
    may_hold = _elements(found) * held.bytes_at_once <= MAX_REGISTER_BYTES
    return (0, *((1,) if _in_shared(found, held) else ()), *((2,) if may_hold else ()))


def _most_threads(d: Dimensions, width: int) -> int:
    return min(power_of_two(d.reduced // width), MAX_THREADS_PER_BLOCK)


def _across(d: Dimensions, threads: int, machine: Machine) -> int:
    """The rows of a block."""
    return min(max(machine.block_size // threads, 1), power_of_two(d.rows if d.kind == "row" else d.fast))


def space_of(computation: Computation) -> RowSpace:
    """The row space; IndexingError where there is none."""
    found = row_space(computation)
    if found is None:
        raise IndexingError(f"{computation.name} has no reduction whose result its row needs again")
    return found


def _elements(plan: RowsPlan) -> int:
    """The elements of a row that a thread takes."""
    return plan.steps * plan.vector_width


def _vector_width(computation: Computation, space: RowSpace, d: Dimensions) -> int:
    """The number of elements of the narrowest input of the space's size in 16 bytes, as long as a warp has a vector each."""
    if d.kind != "row" or not is_light(computation.post_order(), space.reductions):
        return 1
    read = [p.shape for p in computation.parameters if p.shape.element_count == space.shape.element_count]
    width = VECTOR_BYTES // min((storage_bytes(s.element_type) for s in read), default=4)
    while width > 1 and (d.fast % width or d.reduced // width < WARP):
        width //= 2
    return max(width, 1)


def _threads(d: Dimensions, width: int, most: int, held: Kept, machine: Machine) -> int:
    """Threads of a row: few, so that they need not wait for each other, unless they had to keep too much, or rows are few."""
    groups = ceil_div(d.reduced, width)
    if d.kind == "column":
        most = min(most, power_of_two(MAX_THREADS_PER_BLOCK // min(WARP, power_of_two(d.fast))))
    threads = min(max(power_of_two(groups // VECTORS), min(WARP, most)), machine.row_threads, most)
    while threads < most and ceil_div(groups, threads) * width * held.bytes_at_once > REGISTER_BYTES:
        threads *= 2
    while threads < most and d.rows * threads < machine.wanted_threads // 2:
        threads *= 2
    return threads


def kernel(computation: Computation, plan: RowsPlan) -> Kernel:
    """The kernel."""
    space = space_of(computation)
    if plan.keep == "online":
        space = with_online_sums(space)
    builder = KernelBuilder(computation, partition_space(space))
    body = entry_builder(builder, plan.grid, plan.block)
    Body(space, plan, kept_of(space, plan.keeps_elements), body).build()
    return assembled(builder, NAME, space.first, body, outputs(computation), (plan.grid, plan.block))
