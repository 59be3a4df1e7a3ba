"""Pictures of the elements in global memory that one warp, or a tile, touches: threads above, sectors below."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import mul

from indexing._core import IndexingMap
from indexing.analysis.memory.global_memory import Access
from indexing.arguments import integer, of_type, takes
from indexing.hlo import Shape
from indexing.hlo.layout import strides_of
from indexing.show.cells import EMPTY, Cell, Panel, hue, list_in_words
from indexing.show.picture import Picture

WARP = 32
MAX_THREADS = 1024
MAX_ELEMENTS = 8  # so many elements of one thread are drawn
MAX_SECTORS = 40
THREADS_A_ROW = 32


@dataclass(frozen=True, slots=True)
class TouchedElement:
    """An element that a thread of the first block touches: its index, and its position in memory, in elements."""

    thread: int
    index: tuple[int, ...]
    position: int


def touched_elements(access: Access, shape: Shape, threads: int = WARP) -> tuple[TouchedElement, ...]:
    """The elements that the first threads of the launch touch, a few for each thread, for the least runtime values."""
    m = access.map
    fixed = [max(v.lower, 0) for v in m.runtimes]
    strides = strides_of(shape)
    touched = []
    for thread, dims in lanes_of(m, threads):
        for values in itertools.islice(values_of_ranges(m), MAX_ELEMENTS):
            symbols = [*values, *fixed]
            if m.contains(dims, symbols):
                index = tuple(int(x) for x in m.evaluate(dims, symbols))
                touched.append(TouchedElement(thread, index, sum(map(mul, index, strides))))
    return tuple(touched)


def values_of_ranges(m: IndexingMap) -> Iterator[tuple[int, ...]]:
    """The values of the range variables, the first few of each, the last variable fastest."""
    return itertools.product(*(range(v.lower, min(v.upper, v.lower + MAX_ELEMENTS - 1) + 1) for v in m.ranges))


def lanes_of(m: IndexingMap, threads: int) -> Iterator[tuple[int, list[int]]]:
    """The first threads of the first block, each with its thread and block ids."""
    for thread in range(threads):
        dims, rest = [v.lower for v in m.dims], thread
        for k in range(min(3, len(dims))):
            size = m.dims[k].upper - m.dims[k].lower + 1
            dims[k] += rest % size
            rest //= size
        if rest:
            return
        yield thread, dims


def _index(position: int, shape: Shape) -> list[int] | None:
    """The index of the element at a position; None if it is beyond the array."""
    if position >= shape.element_count:
        return None
    return [position // stride % size for stride, size in zip(strides_of(shape), shape.dimensions, strict=True)]


@takes(threads=integer, title=of_type(str))
def access_picture(access: Access, shape: Shape, threads: int = WARP, title: str = "") -> Picture:
    """The first threads of a launch (a warp; of `launch=Tiles(..)` a tile), and the sectors with the elements they touch.

    `shape` is that of the array. Cells without a thread move needlessly. Up to 1024 threads, 8 elements of each and 40
    sectors are shown; the note states what is left out.
    """
    touched = touched_elements(access, shape, min(threads, MAX_THREADS))
    per_sector = max(access.sector_bytes * 8 // access.element_bits, 1)
    sectors = sorted({t.position // per_sector for t in touched})
    used = {t.position for t in touched}
    left_out = f", the first {MAX_SECTORS} shown" if len(sectors) > MAX_SECTORS else ""
    asked, moved = len(used) * access.element_bits // 8, len(sectors) * access.sector_bytes
    counted = (
        f"1 sector; {asked} of its" if len(sectors) == 1 else f"{len(sectors)} sectors{left_out}; {asked} of their"
    )
    note = f"{counted} {moved} bytes are asked for"
    panels = [_sectors(touched, sectors[:MAX_SECTORS], per_sector, access, shape)]
    if access.map.num_dims:
        panels.insert(0, _threads(touched))
    return Picture(title or f"{access.kind} of {shape}", note, tuple(panels))


def _threads(touched: Sequence[TouchedElement]) -> Panel:
    by_thread: dict[int, list[TouchedElement]] = {}
    for t in touched:
        by_thread.setdefault(t.thread, []).append(t)
    cells = []
    count = max(by_thread, default=-1) + 1
    for thread, of in by_thread.items():
        title = f"thread {thread}: elements {list_in_words([list(t.index) for t in of])}"
        keys = tuple(dict.fromkeys(f"e{t.position}" for t in of))
        row, column = divmod(thread, THREADS_A_ROW)
        cells.append(Cell(row, column, f"t{thread}", str(thread), title, hue(thread, WARP), keys))
    rows = tuple("" for _ in range(-(-count // THREADS_A_ROW)))
    return Panel("threads", rows, ("",) * min(count, THREADS_A_ROW), tuple(cells))


def _sectors(
    touched: Sequence[TouchedElement], sectors: Sequence[int], per_sector: int, access: Access, shape: Shape
) -> Panel:
    """A row for each sector, a cell for each element that it holds."""
    threads: dict[int, list[int]] = {}
    for t in touched:
        threads.setdefault(t.position, []).append(t.thread)
    cells = []
    for row, sector in enumerate(sectors):
        places = range(sector * per_sector, (sector + 1) * per_sector)
        for of, run in itertools.groupby(places, key=lambda p: tuple(dict.fromkeys(threads.get(p, ())))):
            for neighbours in [list(run)] if not of else [[p] for p in run]:
                cells.append(_element_cell(neighbours, of, (row, neighbours[0] - places[0]), access, shape))
    labels = tuple(f"byte {sector * access.sector_bytes}" for sector in sectors)
    return Panel(f"sectors of {access.sector_bytes} bytes of {shape}", labels, ("",) * per_sector, tuple(cells), 1)


def _element_cell(
    neighbours: Sequence[int], of: Sequence[int], place: tuple[int, int], access: Access, shape: Shape
) -> Cell:
    """The cell of an element that threads access, or of neighbours that none accesses."""
    first, last = neighbours[0], neighbours[-1]
    index = _index(first, shape)
    what = f"element {index}" if index is not None else "beyond the array"
    if last > first:
        end = _index(last, shape)
        what += f" to {end}" if end is not None else " to beyond the array" if index is not None else ""
    who = f"threads {list_in_words(of)}" if len(of) > 1 else f"thread {of[0]}" if of else "moved, asked for by nobody"
    title = f"{what}, byte {first * access.element_bits // 8}: {who}"
    text, colour = (str(of[0]), hue(of[0], WARP)) if of else ("", EMPTY)
    return Cell(*place, f"e{first}", text, title, colour, tuple(f"t{k}" for k in of), len(neighbours))
