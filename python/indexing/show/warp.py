"""What one warp touches of an array: the bytes of each lane, by sector; as data, and as cells to look at."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from indexing.hlo.layout import major_to_minor

if TYPE_CHECKING:
    from indexing.analysis.memory.global_memory import Access
    from indexing.hlo import Shape

__all__ = ["Touched", "touched", "warp_svg"]

LANES = 32
MAX_ELEMENTS = 8  # of one lane
CELL, LABEL = 14, 70  # pixels
MAX_SECTORS = 40


@dataclass(frozen=True, slots=True)
class Touched:
    """The element that a lane touches at a byte of the array; `element_bytes` wide."""

    lane: int
    byte: int
    element_bytes: int


def touched(access: Access, shape: Shape) -> tuple[Touched, ...]:
    """What the lanes of the launch's first warp touch, a few elements of each lane's vector; runtime values at their least."""
    m = access.map
    found = []
    spans = [range(v.lower, min(v.upper, v.lower + MAX_ELEMENTS - 1) + 1) for v in m.ranges]
    fixed = [max(v.lower, 0) for v in m.runtimes]
    for lane in range(LANES):
        dims = _threads(access, lane)
        if dims is None:
            break
        for values in itertools.islice(itertools.product(*spans), MAX_ELEMENTS):
            symbols = [*values, *fixed]
            if m.contains(dims, symbols):
                position = _position([int(x) for x in m.evaluate(dims, symbols)], shape)
                found.append(Touched(lane, position * access.element_bits // 8, max(access.element_bits // 8, 1)))
    return tuple(found)


def _threads(access: Access, lane: int) -> list[int] | None:
    """The thread and block ids of a lane of the first block; None beyond the block's last thread."""
    dims = [v.lower for v in access.map.dims]
    for k in range(min(3, len(dims))):
        size = access.map.dims[k].upper - access.map.dims[k].lower + 1
        dims[k] += lane % size
        lane //= size
    return None if lane else dims


def _position(index: Sequence[int], shape: Shape) -> int:
    stride, position = 1, 0
    for d in reversed(major_to_minor(shape)):
        position += index[d] * stride
        stride *= shape.dimensions[d]
    return position


def warp_svg(elements: Sequence[Touched], sector_bytes: int = 32) -> str:
    """Sectors as rows, their bytes as cells, each cell with the lanes that touch it; empty cells move for nothing."""
    rows = sectors(elements, sector_bytes)
    shown = list(rows.items())[:MAX_SECTORS]
    width = max((e.element_bytes for e in elements), default=1)
    cells = max(sector_bytes // width, 1)
    size = (LABEL + cells * (CELL + 2) + 10, (len(shown) + 2) * (CELL + 2) + 10)
    body = [
        line for k, (sector, held) in enumerate(shown) for line in _row(k, sector, held, cells, width, sector_bytes)
    ]
    used = len({(e.byte, e.element_bytes) for e in elements}) * width
    left_out = f", the first {len(shown)} shown" if len(rows) > len(shown) else ""
    note = f"{len(rows)} sectors{left_out}; {used} of their {len(rows) * sector_bytes} bytes are asked for"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="warp" width="{max(size[0], 420)}" height="{size[1]}"'
    text = f'<text x="4" y="{size[1] - 8}" font-size="11">{note}</text>'
    return "\n".join([f'{head} font-family="sans-serif">', *body, text, "</svg>"])


def sectors(elements: Sequence[Touched], sector_bytes: int) -> dict[int, dict[int, list[int]]]:
    """For each sector, in order, the lanes that touch each of its bytes at which an element begins."""
    found: dict[int, dict[int, list[int]]] = {}
    for e in sorted(elements, key=lambda e: e.byte):
        found.setdefault(e.byte // sector_bytes, {}).setdefault(e.byte % sector_bytes, []).append(e.lane)
    return found


def _row(k: int, sector: int, held: dict[int, list[int]], cells: int, width: int, sector_bytes: int) -> Iterator[str]:
    y = 6 + k * (CELL + 2)
    yield f'<text x="4" y="{y + 11}" font-size="10" fill="#666666">{sector * sector_bytes} B</text>'
    for c in range(cells):
        lanes = list(dict.fromkeys(held.get(c * width, ())))
        x = LABEL + c * (CELL + 2)
        title = f"byte {sector * sector_bytes + c * width}: " + (
            f"lanes {', '.join(map(str, lanes))}" if lanes else "nobody"
        )
        fill = f"hsl({lanes[0] * 360 // LANES}, 65%, 70%)" if lanes else "#eeeeee"
        marks = " ".join(f"l{lane}" for lane in lanes)
        yield f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{fill}" class="{marks}">'
        yield f"<title>{escape(title)}</title></rect>"
        if lanes:
            yield f'<text x="{x + 7}" y="{y + 10}" font-size="8" text-anchor="middle" pointer-events="none">{lanes[0]}</text>'
