"""Cells by matplotlib (extra `viz`): a figure to change further, and PNG."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from indexing.errors import UnsupportedOp
from indexing.extras import missing_extra
from indexing.show.cells import CELL, GAP, GROUND, HEAD, Cell, Panel, Panels, Position, curve_between, positions_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["figure", "png"]

DOTS = 100  # the number of dots per inch


def figure(picture: Panels) -> Figure:
    """A figure with one set of axes, whose units are the picture's pixels; each cell is a patch with its key as `gid`."""
    try:
        from matplotlib.figure import Figure
    except ImportError as missing:
        raise UnsupportedOp(missing_extra("a figure of matplotlib", "viz", missing)) from None
    places, across, down = positions_of(picture)
    drawn = Figure(figsize=(across / DOTS, down / DOTS), dpi=DOTS)
    axes = drawn.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(0, across), ylim=(down, 0))
    axes.axis("off")
    _text(axes, GAP, HEAD, picture.title, 13)
    for a, b in picture.arrows:
        _arrow(axes, places[a], places[b])
    for panel, place in zip(picture.panels, places, strict=True):
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
        _text(axes, place.left, y + 11, label, 9, color="#666666")
        _box(axes, place.cells_left, y, len(panel.columns) * CELL - 2, GROUND)
    for k, label in enumerate(panel.columns):
        _text(axes, place.cells_left + k * CELL, place.cells_top - 4, label, 8, color="#666666")
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


def _arrow(axes: Axes, start: Position, end: Position) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    curve = Path(curve_between(start, end), codes)
    axes.add_patch(FancyArrowPatch(path=curve, arrowstyle="->", mutation_scale=8, color="#aaaaaa"))
