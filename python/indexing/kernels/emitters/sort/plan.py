"""Launch dimensions and knobs of sorts."""

from __future__ import annotations

from dataclasses import dataclass

from indexing.device.limits import Dim3
from indexing.device.record import Device
from indexing.kernels.emitter import fits
from indexing.kernels.emitters.sort.match import NAME, RowSort
from indexing.kernels.knob_space import KnobSpace, Values, nested_space
from indexing.kernels.targets import TARGETS

ELEMENTS = (1, 2, 4, 8, 16, 32)
MAX_IN_REGISTERS = 16  # elements of a thread; without threads they are in memory, beside those of other threads
FEW_ELEMENTS, MANY_ELEMENTS = (
    8,
    16,
)  # a thread has so many by default: many where rows have some warps of threads with these
LONG_ROW = 512
DEFAULT_THREADS = 256  # a block with several rows has at most so many


@dataclass(frozen=True, slots=True)
class SortPlan:
    """Blocks that sort `rows` runs of `length` elements each, of which there are `count`; a thread has `elements` of a run."""

    count: int
    length: int
    elements: int
    rows: int
    element_bytes: int

    @property
    def threads(self) -> int:
        """The threads of a run."""
        return -(-self.length // self.elements)

    @property
    def cells(self) -> int:
        """The elements that the threads of a run hold, which are at least as many as it has."""
        return self.threads * self.elements

    @property
    def grid(self) -> Dim3:
        """The blocks, in one dimension."""
        return (-(-self.count // self.rows), 1, 1)

    @property
    def block(self) -> Dim3:
        """The threads of a block, in one dimension."""
        return (self.rows * self.threads, 1, 1)

    @property
    def shared_bytes(self) -> int:
        """The bytes of the elements of a block."""
        return self.rows * self.cells * self.element_bytes


def plan_sort(match: RowSort, device: Device, *, elements: int | None = None, rows: int | None = None) -> SortPlan:
    """Launch dimensions for a device.

    Knobs: `elements` of a thread, 1, 2, 4, 8 or 16, on CPUs 32; `rows` of a block (or runs, where rows are sorted in runs): a
    power of two, as many as its threads and its shared memory allow.
    """
    legal = _legal(match, device)
    if elements is None:
        wanted = _wanted_elements(_planned(match, 1, 1).length, device)
        elements = next((e for e in legal if e >= wanted), max(legal))
    if rows is None:
        rows = max(r for r in legal[elements] if r == 1 or _is_filled(_planned(match, elements, r), device))
    return _planned(match, elements, rows)


def sort_knobs(match: RowSort, default: SortPlan, device: Device) -> KnobSpace:
    """Names, legal values and defaults of the knobs."""
    legal: dict[tuple[int, ...], Values] = {(elements,): rows for elements, rows in _legal(match, device).items()}
    return nested_space(NAME, ("elements", "rows"), default, legal)


def longest_run(element_bytes: int, device: Device) -> int:
    """The most elements of a run, a power of two, that the threads and the shared memory of a block hold."""
    limits = device.limits
    most = min(limits.block_size * FEW_ELEMENTS, limits.shared_bytes // element_bytes)
    return 1 << most.bit_length() - 1


def _wanted_elements(length: int, device: Device) -> int:
    """The elements of a thread by default; without threads as many as pay, since their exchanges are vectors of threads."""
    if not TARGETS[device.dialect].has_threads:
        return min(ELEMENTS[-1], length)
    return MANY_ELEMENTS if length >= LONG_ROW else min(FEW_ELEMENTS, length)


def _is_filled(plan: SortPlan, device: Device) -> bool:
    """Whether a block has no more threads than by default, and is a warp, or each core has a block."""
    threads, cores = plan.block[0], device.cores
    return threads <= cores.warp_size or (threads <= DEFAULT_THREADS and plan.grid[0] >= cores.count)


def _planned(match: RowSort, elements: int, rows: int) -> SortPlan:
    runs = match.runs
    count = match.rows * -(-runs.size // runs.length)
    return SortPlan(count, min(runs.length, runs.size), elements, rows, match.element_bytes)


def _legal(match: RowSort, device: Device) -> dict[int, tuple[int, ...]]:
    """The legal numbers of rows of a block, for each of elements of a thread; one pair that does not fit if none does."""
    legal: dict[int, tuple[int, ...]] = {}
    for elements in ELEMENTS:
        if elements > MAX_IN_REGISTERS and TARGETS[device.dialect].has_threads:
            break
        counts = [1 << k for k in range(_planned(match, elements, 1).count.bit_length())]
        rows = tuple(r for r in counts if fits(_planned(match, elements, r), device.limits))
        if rows:
            legal[elements] = rows
    return legal or {MAX_IN_REGISTERS: (1,)}
