"""Cells as SVG. All text is escaped; `highlight.js` highlights the partners of a cell that is pointed at or clicked."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import resources

from indexing.show.cells import CELL, GAP, GROUND, HEAD, Cell, Panel, Panels, Position, curve_between, positions_of
from indexing.show.drawing import xml_text

__all__ = ["cells_svg", "highlight", "whole_svg"]

STYLE = "rect.on { stroke: #000; stroke-width: 2; } .cells rect[data-key] { cursor: pointer; }"
SQUARE = CELL - 2


@cache
def highlight() -> str:
    """The script that highlights partners: a function `highlight(svg)`."""
    return resources.files("indexing.show").joinpath("highlight.js").read_text(encoding="utf-8")


def whole_svg(picture: Panels) -> str:
    """The picture with its own style and script: as a file, or in a notebook."""
    script = f"{highlight()}\nhighlight(document.currentScript.closest('svg'));"
    return cells_svg(picture, f"<style>{STYLE}</style>", f"<script><![CDATA[{script}]]></script>")


def cells_svg(picture: Panels, before: str = "", after: str = "") -> str:
    """The picture without a script; the page that contains it calls `highlight`."""
    places, across, down = positions_of(picture)
    size = f'width="{across}" height="{down}" viewBox="0 0 {across} {down}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="cells" {size} font-family="sans-serif">'
    marker = (
        '<defs><marker id="to" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="#777777"/></marker></defs>'
    )
    body = [_text(GAP, HEAD, picture.title, 13), *(_arrow(places[a], places[b]) for a, b in picture.arrows)]
    for panel, place in zip(picture.panels, places, strict=True):
        body += _panel(panel, place)
    said = f'<text x="{GAP}" y="{2 * HEAD}" font-size="11" fill="#333333" class="said">{xml_text(picture.note)}</text>'
    return "\n".join([head, before, marker if picture.arrows else "", *body, said, after, "</svg>"])


def _panel(panel: Panel, place: Position) -> Iterator[str]:
    yield _text(place.left, place.top + 12, panel.title, 11)
    for k, label in enumerate(panel.rows):
        y = place.cells_top + k * CELL
        yield _text(place.left, y + 11, label, 9, "#666666")
        wide = len(panel.columns) * CELL - 2
        yield f'<rect x="{place.cells_left}" y="{y}" width="{wide}" height="{SQUARE}" fill="{GROUND}"/>'
    for k, label in enumerate(panel.columns):
        if label:
            yield _text(place.cells_left + k * CELL, place.cells_top - 4, label, 8, "#666666")
    for cell in panel.cells:
        yield _cell(cell, place)


def _cell(cell: Cell, place: Position) -> str:
    x, y = place.cells_left + cell.column * CELL, place.cells_top + cell.row * CELL
    keys = f'data-key="{xml_text(cell.key)}"'
    if cell.partners:
        keys += f' data-with="{xml_text(" ".join(cell.partners))}"'
    wide = CELL * cell.columns - 2
    box = f'<rect x="{x}" y="{y}" width="{wide}" height="{SQUARE}" fill="{cell.colour}" {keys}>'
    text = ""
    if cell.text:
        middle = 'text-anchor="middle" pointer-events="none"'
        text = f'<text x="{x + wide // 2}" y="{y + 10}" font-size="8" {middle}>{xml_text(cell.text)}</text>'
    return f"{box}<title>{xml_text(cell.title)}</title></rect>{text}"


def _text(x: int, y: int, text: str, size: int, colour: str = "#111111") -> str:
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{colour}">{xml_text(text)}</text>' if text else ""


def _arrow(start: Position, end: Position) -> str:
    first, *others = (f"{x} {y}" for x, y in curve_between(start, end))
    path = f"M{first} C{' '.join(others)}"
    return f'<path d="{path}" fill="none" stroke="#aaaaaa" marker-end="url(#to)"/>'
