"""Cells by matplotlib (extra `viz`): a figure to change further, and PNG."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from indexing.errors import UnsupportedOp
from indexing.extras import missing_extra
from indexing.show.cells import ABSENT, CELL, GAP, HEAD, Cell, Panel, Panels, Position, positions_of
from indexing.show.colours import LINE, MUTED
from indexing.show.layers import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DOTS = 100  # the number of dots per inch


def figure(picture: Panels) -> Figure:
    """A figure with one set of axes, whose units are the picture's pixels; each cell is a patch with its key as `gid`."""
    try:
        from matplotlib.figure import Figure
    except ImportError as missing:
        raise UnsupportedOp(missing_extra("a figure of matplotlib", "viz", missing)) from None
    places = positions_of(picture)
    across, down = places.across, places.down
    drawn = Figure(figsize=(across / DOTS, down / DOTS), dpi=DOTS)
    axes = drawn.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(0, across), ylim=(down, 0))
    axes.axis("off")
    _text(axes, GAP, HEAD, picture.title, 13)
    for route in places.routes:
        _arrow(axes, route)
    for panel, place in zip(picture.panels, places.panels, strict=True):
        _panel(axes, panel, place)
    _text(axes, GAP, 2 * HEAD, picture.note, 11)
    return drawn


def png(picture: Panels) -> bytes:
    """The figure as PNG."""
    file = io.BytesIO()
    figure(picture).savefig(file, format="png")
    return file.getvalue()


def _panel(axes: Axes, panel: Panel, place: Position) -> None:
    _text(axes, place.left, place.top + 12, panel.title, 11)
    for k, label in enumerate(panel.rows):
        y = place.cells_top + k * CELL
        _text(axes, place.left, y + 11, label, 9, color=MUTED)
        _box(axes, place.cells_left, y, len(panel.columns) * CELL - 2, ABSENT)
    for k, label in enumerate(panel.columns):
        _text(axes, place.cells_left + k * CELL, place.cells_top - 4, label, 8, color=MUTED)
    for cell in panel.cells:
        _cell(axes, cell, place)


def _cell(axes: Axes, cell: Cell, place: Position) -> None:
    x, y = place.cells_left + cell.column * CELL, place.cells_top + cell.row * CELL
    wide = CELL * cell.columns - 2
    _box(axes, x, y, wide, cell.colour, gid=cell.key)
    _text(axes, x + wide // 2, y + 10, cell.text, 8, ha="center")


def _box(axes: Axes, x: int, y: int, width: int, colour: str, **more: Any) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((x, y), width, CELL - 2, facecolor=colour, **more))


def _text(axes: Axes, x: int, y: int, text: str, size: int, **more: Any) -> None:
    """Text with a size in pixels, in which `$` does not begin a formula."""
    if text:
        axes.text(x, y, text.replace("$", r"\$"), fontsize=size * 72 / DOTS, va="baseline", **more)


def _arrow(axes: Axes, route: Sequence[Point]) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    points, codes = [route[0]], [Path.MOVETO]
    for k, ((x0, y0), (x1, y1)) in enumerate(pairwise(route)):
        bend = (y1 - y0) // 2
        points += [(x1, y1)] if k % 2 else [(x0, y0 + bend), (x1, y1 - bend), (x1, y1)]
        codes += [Path.LINETO] if k % 2 else [Path.CURVE4] * 3
    axes.add_patch(FancyArrowPatch(path=Path(points, codes), arrowstyle="->", mutation_scale=8, color=LINE))
