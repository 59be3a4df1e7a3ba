"""Cells as SVG. All text is escaped; `highlight.js` highlights the partners of a cell that is pointed at or clicked."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import resources

from indexing.show.cells import ABSENT, CELL, GAP, HEAD, Cell, Panel, Panels, Position, positions_of
from indexing.show.colours import INK, LINE, MUTED, with_scheme
from indexing.show.drawing import arrow_head, xml_text
from indexing.show.layers import curves

STYLE = ".cells rect.on { stroke: #000; stroke-width: 2; } .cells rect[data-key] { cursor: pointer; }"
SQUARE = CELL - 2


@cache
def highlight() -> str:
    """The script that highlights partners: a function `highlight(svg)`."""
    return resources.files("indexing.show").joinpath("highlight.js").read_text(encoding="utf-8")


def whole_svg(picture: Panels) -> str:
    """The picture with its own style and script: as a file, or in a notebook."""
    script = f"{highlight()}\nhighlight(document.currentScript.closest('svg'));"
    return with_scheme(cells_svg(picture, f"<style>{STYLE}</style>", f"<script><![CDATA[{script}]]></script>"))


def cells_svg(picture: Panels, before: str = "", after: str = "") -> str:
    """The picture without a script; the page that contains it calls `highlight`."""
    places = positions_of(picture)
    size = f'width="{places.across}" height="{places.down}" viewBox="0 0 {places.across} {places.down}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="cells" {size} font-family="sans-serif">'
    arrow = f'fill="none" stroke="{LINE}" marker-end="url(#to)"'
    body = [_text(GAP, HEAD, picture.title, 13)]
    body += [f'<path d="{curves(route)}" {arrow}/>' for route in places.routes]
    for panel, place in zip(picture.panels, places.panels, strict=True):
        body += _panel(panel, place)
    said = f'<text x="{GAP}" y="{2 * HEAD}" font-size="11" fill="{MUTED}" class="said">{xml_text(picture.note)}</text>'
    return "\n".join([head, before, arrow_head("to") if picture.arrows else "", *body, said, after, "</svg>"])


def _panel(panel: Panel, place: Position) -> Iterator[str]:
    yield _text(place.left, place.top + 12, panel.title, 11)
    for k, label in enumerate(panel.rows):
        y = place.cells_top + k * CELL
        yield _text(place.left, y + 11, label, 9, MUTED)
        wide = len(panel.columns) * CELL - 2
        yield f'<rect x="{place.cells_left}" y="{y}" width="{wide}" height="{SQUARE}" fill="{ABSENT}"/>'
    for k, label in enumerate(panel.columns):
        if label:
            yield _text(place.cells_left + k * CELL, place.cells_top - 4, label, 8, MUTED)
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


def _text(x: int, y: int, text: str, size: int, colour: str = INK) -> str:
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{colour}">{xml_text(text)}</text>' if text else ""
