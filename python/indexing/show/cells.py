"""Pictures made of cells, as data: the memory that a warp touches, its bank conflicts, the position of a tile.

A picture consists of panels of cells; cells that belong together (a thread and its elements) refer to each other. The data is
independent of formats, which `svg_renderer` and `figure_renderer` write.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

__all__ = [
    "CELL",
    "EMPTY",
    "GAP",
    "GROUND",
    "HEAD",
    "Cell",
    "Panel",
    "Panels",
    "Position",
    "curve_between",
    "hue",
    "list_in_words",
    "positions_of",
]

Point: TypeAlias = tuple[int, int]
CELL = 16  # pixels from one cell to the next
CHARACTER = 6  # pixels of one character of a label
GAP = 18  # pixels between panels
MARGIN = 60  # pixels beside the panels, for arrows that skip levels
HEAD = 18  # pixels of a title
EMPTY, GROUND = "#e4e4e4", "#f5f5f5"  # cells that are not used, and absent ones


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
    level: int


def positions_of(picture: Panels) -> tuple[list[Position], int, int]:
    """The position of each panel, with levels below each other (centred if there are arrows); then the size of the picture."""
    sizes = [_size(panel) for panel in picture.panels]
    levels = sorted({panel.level for panel in picture.panels})
    members = [[k for k, panel in enumerate(picture.panels) if panel.level == level] for level in levels]
    widths = [sum(sizes[k][0] for k in row) + GAP * (len(row) - 1) for row in members]
    between = 2 * GAP if picture.arrows else GAP
    tops = list(accumulate((max(sizes[k][1] for k in row) + between for row in members), initial=3 * HEAD))
    across = max([*widths, CHARACTER * max(len(picture.note), len(picture.title), 60)])
    places: dict[int, Position] = {}
    for row, width, top in zip(members, widths, tops, strict=False):
        left = (across - width) // 2 if picture.arrows else 0
        for k in row:
            margin, head = _margin(picture.panels[k]), _head(picture.panels[k])
            y = top + max(sizes[other][1] for other in row) - sizes[k][1]
            places[k] = Position(GAP + left, y, *sizes[k], GAP + left + margin, y + head, picture.panels[k].level)
            left += sizes[k][0] + GAP
    beside = MARGIN if picture.arrows else 0
    return [places[k] for k in range(len(sizes))], across + 2 * GAP + beside, tops[-1]


def curve_between(start: Position, end: Position) -> tuple[Point, Point, Point, Point]:
    """An arrow's cubic curve: from below a panel to above one of the next level, otherwise from side to side."""
    if end.level == start.level + 1:
        a, b = (start.left + start.width // 2, start.top + start.height + 2), (end.left + end.width // 2, end.top - 2)
        bend = (b[1] - a[1]) // 2
        return a, (a[0], a[1] + bend), (b[0], b[1] - bend), b
    a, b = (start.left + start.width, start.top + start.height // 2), (end.left + end.width, end.top + HEAD)
    side = max(a[0], b[0]) + MARGIN
    return a, (side, a[1]), (side, b[1]), b


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
