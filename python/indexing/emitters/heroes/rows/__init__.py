"""The rows emitter: chains of reductions over one row space, with the elementwise ops between and after them.

Examples are softmax, layer norms, their gradients, and quantization by row: a reduction's result is used for the elements of
its row. Elements that a later pass needs are kept in registers, else in shared memory; if they fit in neither, they are read
again, and sums of exponentials, or of squares, are computed online, in the pass of their maximum, or mean. A team of threads
takes a row, and all of them get the results of its reductions. If one pass suffices and rows are few and long, several blocks
share a row, and the last of them to arrive combines their results.
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
from indexing.emitters.vectors import VECTOR_BYTES, WIDTHS, check_width, is_cheap
from indexing.errors import IndexingError

if TYPE_CHECKING:
    from indexing.emitters.ir.nodes import Kernel
    from indexing.hlo import Computation

NAME = "rows"
WARP = 32
MIN_VECTORS = 4  # of a thread, before more threads share a row
REGISTER_BYTES = 128  # for the elements that a thread keeps: half of its registers in a block of 1024 threads
MAX_REGISTER_BYTES = 255 * 4  # the most that a thread can have
SHARED_BYTES = 40 * 1024  # of 48 KiB per block; reductions across warps take some


def matches(computation: Computation) -> bool:
    """Whether there is a row space: results of reductions are used for the elements of their rows."""
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

    Knobs: `threads` per row, a power of two up to 1024, at most the number of the row's vectors. `vector_width`, 1, 2, 4, 8 or
    16 elements per load, which divides the fastest dimensions; 1 if these are not reduced. `keep`: elements needed by later
    passes are read again (0), kept in shared memory, if a block's part fits (1), or in registers (2); 3 is 0 with online
    sums. `splits`, 1 to 1024 blocks that share a row, at most one for each step that its threads would take; more than 1
    only with `keep` 3, if that leaves a single pass without outputs per element.
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
    """The plan in which blocks share rows; by default as many as keep the machine busy."""
    most = _most_threads(d, width)
    if d.kind == "column":
        few = machine.block_size // min(machine.columns, power_of_two(d.fast))
    else:
        few = min(max(power_of_two(d.reduced // width // MIN_VECTORS), WARP), machine.row_threads)
    chosen = min(power_of_two(few), most) if threads is None else checked_threads(threads, most)
    found = RowsPlan(d, chosen, _across(d, chosen, machine), width, "online", contiguous_splits=machine.reads_ahead)
    wanted = machine.wanted_threads // (found.tiles * chosen * found.across) if d.is_worth_splitting else 1
    if splits is None:
        splits = power_of_two(min(wanted, found.steps // MIN_VECTORS, _most_splits(found)))
    check_knob("splits", splits, 1, _most_splits(found))
    return replace(found, splits=splits)


def _unsplit(
    space: RowSpace, d: Dimensions, width: int, threads: int | None, keep: int | None, machine: Machine
) -> RowsPlan:
    """The plan in which blocks do not share rows."""
    held = kept_of(space, True)
    most = _most_threads(d, width)
    chosen = _threads(d, width, most, held, machine) if threads is None else checked_threads(threads, most)
    across = _across(d, chosen, machine)
    found = RowsPlan(d, chosen, across, width, "registers")
    if keep is not None:
        check_knob("keep", keep, 0, len(KEEPS) - 1)
        if KEEPS[keep] == "online" and not with_online_sums(space).online:
            raise IndexingError(
                "keep 3 needs a sum of exponentials relative to a maximum, or of squares about a mean; take 0, 1 or 2"
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
    """The largest number of blocks that may share a row, if one pass suffices."""
    return max(min(plan.dimensions.reduced // (plan.vector_width * plan.threads), MAX_SPLITS), 1)


def _in_shared(plan: RowsPlan, held: Kept) -> RowsPlan | None:
    """The plan that keeps elements in shared memory, with fewer rows per block if needed; None if not even one row fits."""
    fitting = SHARED_BYTES // max(_elements(plan) * plan.threads * held.bytes, 1)  # rows
    is_row = plan.dimensions.kind == "row"
    if not fitting or (not is_row and fitting < plan.across):
        return None
    across = min(plan.across, power_of_two(fitting)) if is_row else plan.across
    return RowsPlan(plan.dimensions, plan.threads, across, plan.vector_width, "shared")


def knobs(computation: Computation, default: RowsPlan, machine: Machine = GPU) -> KnobSpace:
    """Names, legal values and defaults of the knobs, and conditions between them.

    `keep` 2 is excluded where a thread would keep more than its registers hold.
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
    """The number of rows per block."""
    return min(max(machine.block_size // threads, 1), power_of_two(d.rows if d.kind == "row" else d.fast))


def space_of(computation: Computation) -> RowSpace:
    """The row space; raises IndexingError if there is none."""
    found = row_space(computation)
    if found is None:
        raise IndexingError(f"{computation.name} has no reduction whose result its row needs again")
    return found


def _elements(plan: RowsPlan) -> int:
    """The number of elements of a row that a thread takes."""
    return plan.steps * plan.vector_width


def _vector_width(computation: Computation, space: RowSpace, d: Dimensions) -> int:
    """The number of elements that fit into 16 bytes, of the narrowest input of the space's size; fewer if the row has less
    than a vector for each thread of a warp.
    """
    if d.kind != "row" or not is_cheap(computation.post_order(), space.reductions):
        return 1
    read = [p.shape for p in computation.parameters if p.shape.element_count == space.shape.element_count]
    width = VECTOR_BYTES // min((storage_bytes(s.element_type) for s in read), default=4)
    while width > 1 and (d.fast % width or d.reduced // width < WARP):
        width //= 2
    return max(width, 1)


def _threads(d: Dimensions, width: int, most: int, held: Kept, machine: Machine) -> int:
    """The number of threads per row: few, to save synchronization, unless each would keep too much, or rows are few."""
    groups = ceil_div(d.reduced, width)
    if d.kind == "column":
        most = min(most, power_of_two(MAX_THREADS_PER_BLOCK // min(WARP, power_of_two(d.fast))))
    threads = min(max(power_of_two(groups // MIN_VECTORS), min(WARP, most)), machine.row_threads, most)
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
