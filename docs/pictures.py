"""The pictures of README and of the documents: `python docs/pictures.py`. Each is there for light and for dark.

Graphviz's layout differs between its versions, and between the fonts of machines: a picture that says the same stays. The
one of a page needs playwright and a Chromium (`CHROMIUM=` where it isn't on the path); without these it stays as it is.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import indexing as ix
from indexing.show.colours import in_dark
from indexing.show.fusion_pictures import access_pictures
from indexing.show.graphviz_layout import graph_svgs
from indexing.show.map_elements import map_picture
from indexing.show.page import program_page
from indexing.show.picture import Picture
from indexing.show.roofline import roofline_svg
from indexing.show.svg_renderer import cells_svg
from indexing.show.tile_path import tile_picture

HERE = Path(__file__).parent
FOLDER = HERE / "pictures"
SCHEMES = ("light", "dark")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
WIDTH, HEIGHT = 1280, 760
COLOURS = 64  # of a picture of a page
MAP = "(d0, d1) -> (d1 floordiv 2, d0 * 2 + d1 mod 2), domain: d0 in [0, 5], d1 in [0, 7]"
TRANSPOSE = "ENTRY e { p = f32[512,512] parameter(0) ROOT t = f32[512,512] transpose(p), dimensions={1,0} }"


def vector_pictures() -> Iterator[tuple[str, str]]:
    """The names of pictures, and the pictures as SVG for light."""
    rotary = ix.hlo.load(HERE.parent / "examples/rotary.hlo")
    transpose = ix.hlo.parse(TRANSPOSE).entry.root
    yield "map_elements", cells_svg(map_picture(ix.IndexingMap.parse(MAP)))
    yield "warp_sectors", cells_svg(sectors(transpose))
    yield "tile", cells_svg(tile_picture(transpose, (64, 32)))
    yield "fusion_graph", graph_svgs([rotary.computations["fused_concatenate"]])[0]
    yield "rotary_roofline", roofline_svg(ix.analyze(rotary, "h100"))


def sectors(transpose: ix.hlo.Instruction) -> Picture:
    """The sectors that a warp reads in a loop, and beside them those that it reads by way of a tile in shared memory."""
    looped, tiled = (access_pictures(of)[0] for of in (transpose, transpose.computation))
    panels = [
        replace(picture.panels[1], title=f"{how}: {bytes_of(picture)}")
        for how, picture in (("a loop", looped), ("tiles in shared memory", tiled))
    ]
    title = "What the first warp reads to transpose f32[512,512], by thread"
    return Picture(title, "grey elements move, and nobody asks for them", tuple(panels))


def bytes_of(picture: Picture) -> str:
    """The share of bytes that an access asks for, of its note."""
    return picture.note.partition("; ")[2].replace("their ", "").removesuffix(" are asked for")


def says_the_same(before: str, after: str) -> bool:
    """Whether two pictures have the same texts, and the same colours and lines, wherever these stand."""
    said = re.compile(r'>[^<]+</t|\b(?:fill|stroke|font|style)[a-z-]*="[^"]*"')
    return sorted(said.findall(before)) == sorted(said.findall(after))


def photograph_page(path: Path) -> None:
    """Write a picture of a report's page in both schemes."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    report = ix.analyze(ix.hlo.load(HERE.parent / "examples/rotary.hlo"), "h100")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder) / "page.html"
        page.write_text(program_page(report), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for scheme in SCHEMES:
            tab = browser.new_context(color_scheme=scheme, viewport={"width": WIDTH, "height": HEIGHT}).new_page()
            tab.goto(page.as_uri())
            image = Image.open(io.BytesIO(tab.screenshot())).convert("RGB").quantize(COLOURS)
            image.save(path.with_name(f"{path.name}-{scheme}.png"), optimize=True)
        browser.close()


def main() -> None:
    """Write each of them."""
    for name, picture in vector_pictures():
        for scheme, text in zip(SCHEMES, (picture, in_dark(picture)), strict=True):
            file = FOLDER / f"{name}-{scheme}.svg"
            if not (file.exists() and says_the_same(file.read_text(encoding="utf-8"), text)):
                file.write_text(text, encoding="utf-8")
    try:
        photograph_page(FOLDER / "report_page")
    except ImportError as missing:
        print(f"docs/pictures.py: the picture of the page is left as it is: {missing}", file=sys.stderr)


if __name__ == "__main__":
    main()
