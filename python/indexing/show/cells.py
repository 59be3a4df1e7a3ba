"""Pictures made of cells, as data: the memory that a warp touches, its bank conflicts, the position of a tile.

A picture consists of panels of cells; cells that belong together (a thread and its elements) refer to each other. The data is
independent of formats, which `svg_renderer` and `figure_renderer` write.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from indexing.show.colours import ABSENT, EMPTY
from indexing.show.layers import Link, Point, place_in_layers

__all__ = [
    "ABSENT",
    "CELL",
    "EMPTY",
    "GAP",
    "HEAD",
    "Cell",
    "Panel",
    "Panels",
    "Places",
    "Position",
    "hue",
    "list_in_words",
    "positions_of",
]

CELL = 16  # pixels from one cell to the next
CHARACTER = 6  # pixels of one character of a label
TITLE = 8  # pixels of one character of the title, in widely set fonts
GAP = 18  # pixels between panels
HEAD = 18  # pixels of a title


@dataclass(frozen=True, slots=True)
class Cell:
    """A square of a panel, with a `text` and a tooltip `title`; `key` identifies it in the picture.

    A cell that represents several equal neighbours is as many `columns` wide. `partners` are the keys of the cells that are
    highlighted with it: the elements of a thread, the threads of an element.
    """

    row: int
    column: int
    key: str
    text: str
    title: str
    colour: str
    partners: tuple[str, ...] = ()
    columns: int = 1


@dataclass(frozen=True, slots=True)
class Panel:
    """Rows of cells, with labels of rows and of some columns; `level` is the row of panels to which it belongs."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[Cell, ...]
    level: int = 0


@dataclass(frozen=True, slots=True)
class Panels:
    """Panels, arrows between them (from, to, by number), and a sentence that describes the picture."""

    title: str
    note: str
    panels: tuple[Panel, ...]
    arrows: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Position:
    """The position of a panel, in pixels: its corner, its size, and the corner of its first cell."""

    left: int
    top: int
    width: int
    height: int
    cells_left: int
    cells_top: int


@dataclass(frozen=True, slots=True)
class Places:
    """The positions of a picture's panels, the points of its arrows, and its size."""

    panels: list[Position]
    routes: list[list[Point]]
    across: int
    down: int


def positions_of(picture: Panels) -> Places:
    """The places of panels: levels below each other, from the left; with arrows, near those that they lead to."""
    sizes = [_size(panel) for panel in picture.panels]
    corners, routes, (width, height) = _corners(picture, sizes)
    across = max(width, CHARACTER * max(len(picture.note), 60), TITLE * len(picture.title))
    positions = []
    for panel, size, (x, y) in zip(picture.panels, sizes, corners, strict=True):
        left, top = GAP + x, 3 * HEAD + y
        positions.append(Position(left, top, *size, left + _margin(panel), top + _head(panel)))
    moved = [[(GAP + x, 3 * HEAD + y) for x, y in route] for route in routes]
    return Places(positions, moved, across + 2 * GAP, height + 3 * HEAD + GAP)


def _corners(picture: Panels, sizes: Sequence[Point]) -> tuple[list[Point], list[list[Point]], Point]:
    """The upper left corner of each panel, the arrows, and the size of all."""
    levels = [panel.level for panel in picture.panels]
    if picture.arrows:
        links = [Link(a, b, (sizes[b][0] // 2, 0)) for a, b in picture.arrows]
        placed = place_in_layers(sizes, levels, links)
        return placed.corners, placed.routes, placed.size
    heights = {
        level: max(h for (_, h), of in zip(sizes, levels, strict=True) if of == level) for level in sorted(levels)
    }
    tops = dict(zip(heights, accumulate((h + GAP for h in heights.values()), initial=0), strict=False))
    ends = dict.fromkeys(heights, 0)
    corners = []
    for (width, _), level in zip(sizes, levels, strict=True):
        corners.append((ends[level], tops[level]))
        ends[level] += width + GAP
    return corners, [], (max(ends.values(), default=0), sum(heights.values()) + GAP * len(heights))


def _size(panel: Panel) -> tuple[int, int]:
    across = max(_margin(panel) + CELL * len(panel.columns), CHARACTER * len(panel.title))
    return across, _head(panel) + CELL * len(panel.rows)


def _margin(panel: Panel) -> int:
    longest = max(map(len, panel.rows), default=0)
    return CHARACTER * longest + 6 if longest else 0


def _head(panel: Panel) -> int:
    return HEAD + (CELL if any(panel.columns) else 0)


def hue(number: int, of: int) -> str:
    """A light colour, `#rrggbb`, for one of several things."""
    turn = 6.0 * (number % max(of, 1)) / max(of, 1)
    parts = [min(max(abs((turn + shift) % 6 - 3) - 1, 0.0), 1.0) for shift in (0, 4, 2)]
    return "#" + "".join(f"{round(148 + 92 * part):02x}" for part in parts)


def list_in_words(things: Sequence[object], most: int = 12) -> str:
    """A list in words: the first few things, and the number of the others."""
    shown = ", ".join(map(str, things[:most]))
    return shown if len(things) <= most else f"{shown} and {len(things) - most} more"
