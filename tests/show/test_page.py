"""The page about a program: all of its kernels as data, nothing of a program's text as markup, nothing from a network."""

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

import indexing as ix
from indexing.show import drawing
from indexing.show.layers import Link, place_in_layers
from indexing.show.page import program_page

HOSTILE = "</script><script>alert(1)</script>@DATA@ &lt;b&gt;"
PROGRAM = """HloModule "NAME"
turned { a = f32[64,64]{0,1} parameter(0)
  b = f32[64,64]{1,0} parameter(1)
  ROOT s = f32[64,64]{1,0} add(a, b) }
ENTRY main {
  x = f32[64,64]{1,0} parameter(0)
  y = f32[64,64]{0,1} parameter(1)
  one = f32[64,64]{1,0} negate(x), metadata={source_file="NAME" source_line=3}
  two = f32[64,64]{1,0} fusion(y, one), kind=kLoop, calls=turned
  ROOT three = f32[64,64]{1,0} fusion(y, two), kind=kLoop, calls=turned
}
"""
SVG = "{http://www.w3.org/2000/svg}"


class Elements(HTMLParser):
    """The elements of a page, with their attributes, and the text in scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] and self.tags[-1][0] == "script":
            self.scripts.append(data)


def data_of(elements: Elements) -> dict:
    """The page's data, with texts where it has their numbers: rows of 15 cells, accesses of 9 parts."""
    data = json.loads(elements.scripts[0])
    assert len(set(data["texts"])) == len(data["texts"])

    def decoded(row: list, *places: int) -> list:
        return [data["texts"][value] if k in places else value for k, value in enumerate(row)]

    rows = [decoded(row, 0, 1, 5, 9, 10, 11, 12) for row in data["rows"]]
    accesses = [[decoded(access, 0, 1, 6, 7, 8) for access in of] for of in data["accesses"]]
    return {**data, "rows": rows, "accesses": accesses}


def read(name: str) -> tuple[Elements, dict]:
    module = ix.hlo.parse(PROGRAM.replace('"NAME"', "m", 1).replace("NAME", name))
    elements = Elements(program_page(ix.analyze(module)))
    return elements, data_of(elements)


def test_the_page_has_all_kernels_and_their_details() -> None:
    _, data = read("m.py")
    assert [row[:2] for row in data["rows"]] == [["two and 1 like it", "fusion"], ["one", "negate"]]
    size = 64 * 64 * 4
    assert data["rows"][0][6:9] == [2 * 3 * size, 2 * 3 * size, 2 * 64 * 64], "two runs of equal kernels"
    assert [row[13:] for row in data["rows"]] == [[2, ["three"]], [1, []]] and len(data["details"]) == 2
    detail, beside = data["details"]
    assert "__global__" in beside["source"], "an instruction outside of fusions has a kernel as well"
    assert [detail["of"], beside["of"]] == ["two", "one"], "whose names stand in them"
    assert "__global__" in detail["source"] and detail["emitter"] == "loop"
    assert "(d0, d1) -> (d0, d1)" in detail["maps"]
    assert {e.text for e in ElementTree.fromstring(detail["graph"]).iter(SVG + "text")} >= {"s", "a", "b"}
    (slow, tiles) = detail["pictures"]
    assert slow[0] == "What the first warp touches, by sector" and tiles[0] == "A tile of the output, and what it needs"
    (only,) = (ElementTree.fromstring(picture) for picture in slow[1])
    assert next(only.iter(SVG + "text")).text == "read of operand 0, y"
    assert [row[9:12] for row in data["rows"]] == [
        ["", "f32[64,64]{1,0}", "kLoop"],
        ["m.py:3", "f32[64,64]{1,0}", "kLoop"],
    ]
    (remedy, none) = (row[12] for row in data["rows"])
    assert remedy.startswith("compute `one` (m.py:3) in the same kernel") and not none
    read_of_y = data["accesses"][0][0]
    assert read_of_y[:6] == ["read", "y", size, 8 * size, 7 * size, 8.0] and "neighbouring lanes" in read_of_y[6]


def test_instructions_are_on_the_page_where_there_are_no_fusions() -> None:
    module = ix.hlo.parse(
        'ENTRY e { p = f32[8] parameter(0) ROOT n = f32[8] negate(p), metadata={source_file="a.py" source_line=3} }'
    )
    data = data_of(Elements(program_page(ix.analyze(module))))
    assert data["rows"][0][0] == "n" and data["rows"][0][9] == "a.py:3" and "__global__" in data["details"][0]["source"]


def test_what_kernels_repeat_stands_on_the_page_once() -> None:
    """A thousand more kernels that read the same way add their names and numbers, and no sentence."""
    sizes, sentences = [], []
    for count in (1_000, 2_000):
        chain = "\n".join(f"  n{k + 1} = f32[64,64]{{{k % 2},{1 - k % 2}}} negate(n{k})" for k in range(count))
        page = program_page(
            ix.analyze(
                ix.hlo.parse(f"HloModule m, is_scheduled=true\nENTRY e {{\n  n0 = f32[64,64] parameter(0)\n{chain}\n}}")
            )
        )
        sizes.append(len(page))
        sentences.append(page.count("neighbouring lanes are 256 B apart"))
    assert sizes[1] - sizes[0] < 1_000 * 250
    assert sentences[0] < 20


def test_text_of_a_program_is_no_markup_and_no_placeholder() -> None:
    plain, hostile = read("m.py")[0], read(HOSTILE.replace('"', ""))[0]
    assert [tag for tag, _ in plain.tags] == [tag for tag, _ in hostile.tags]

    def of_source(file: str) -> Elements:
        about = f'metadata={{source_file="{file}" source_line=1}}'
        text = f"ENTRY e {{ p = f32[8] parameter(0) ROOT n = f32[8] negate(p), {about} }}"
        return Elements(program_page(ix.analyze(ix.hlo.parse(text))))

    elements = of_source(HOSTILE)
    assert [tag for tag, _ in elements.tags] == [tag for tag, _ in of_source("m.py").tags]
    assert data_of(elements)["rows"][0][9] == HOSTILE + ":1"


def test_the_page_needs_no_network() -> None:
    elements, _ = read("m.py")
    assert not [a for _, attributes in elements.tags for a in attributes if a in ("src", "href", "srcset", "action")]
    assert "url(" not in re.sub(r"url\(#\w+\)", "", "".join(elements.scripts))


# ---- graphs


CHAIN = "\n".join(f"  n{k + 1} = f32[8,8] add(n{k}, p)" for k in range(6))
GRAPHS = {
    "chain": f"ENTRY e {{\n n0 = f32[8,8] parameter(0)\n p = f32[8,8] parameter(1)\n{CHAIN}\n ROOT r = f32[8,8] negate(n6) }}",
    "wide": "ENTRY e { p = f32[4] parameter(0) "
    + " ".join(f"n{k} = f32[4] negate(p)" for k in range(6))
    + " ROOT t = (f32[4], f32[4], f32[4], f32[4], f32[4], f32[4]) tuple(n0, n1, n2, n3, n4, n5) }",
    "skipping": "ENTRY e { p = f32[9] parameter(0) a = f32[9] negate(p) b = f32[9] negate(a) c = f32[9] add(b, p) "
    "d = f32[9] multiply(c, a) e = f32[9] multiply(d, p) f = f32[9] add(e, b) ROOT r = f32[9] add(f, p) }",
    "unused": "ENTRY e { p = f32[4] parameter(0) q = f32[] parameter(1) ROOT n = f32[4] negate(p) }",
}


@pytest.mark.parametrize("name", GRAPHS)
def test_boxes_and_the_lines_above_them_do_not_overlap_and_no_edge_is_behind_one(name: str) -> None:
    entry = ix.hlo.parse(GRAPHS[name]).entry
    drawn = drawing.edges(entry)
    lines = drawing.lines_above(drawn)
    boxes = [drawing.Box(i, lines.get(n, [])) for n, i in entry.instructions.items()]
    numbers = {n: k for k, n in enumerate(entry.instructions)}
    links = [
        Link(numbers[e.operand.name], numbers[e.user.name], boxes[numbers[e.user.name]].port(e.number)) for e in drawn
    ]
    placed = place_in_layers([box.size for box in boxes], drawing.levels_of(entry), links)
    rectangles = [(x, y, x + b.size[0], y + b.size[1]) for (x, y), b in zip(placed.corners, boxes, strict=True)]
    for k, (left, top, right, bottom) in enumerate(rectangles):
        assert left >= 0 and top >= 0 and right <= placed.size[0] and bottom <= placed.size[1]
        for other in rectangles[:k]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
    for link, route in zip(links, placed.routes, strict=True):
        others = [other for of, other in zip(links, placed.routes, strict=True) if of.start == link.start]
        at_box = rectangles[link.start][3] == route[0][1]
        assert at_box or any(route[0] in other[1:] for other in others), (
            "an edge leaves its operand, or another of its edges"
        )
        assert rectangles[link.end][1] + link.port[1] == route[-1][1], "and ends at its user"
        for x, y in points_of(route):
            behind = [k for k, (a, b, c, d) in enumerate(rectangles) if a < x < c and b < y < d]
            assert set(behind) <= {link.end}
    picture = ElementTree.fromstring(drawing.svg(entry))
    assert len(list(picture.iter(SVG + "rect"))) == len(entry.instructions)


def points_of(route: list[tuple[int, int]]) -> list[tuple[float, float]]:
    """Points of an edge's curve: cubic from row to row, with both handles at half of the height; straight through rows."""
    points: list[tuple[float, float]] = []
    for k, ((x0, y0), (x1, y1)) in enumerate(pairwise(route)):
        bend = (y1 - y0) // 2
        a, b = ((x0, y0 + bend), (x1, y1 - bend)) if k % 2 == 0 else ((x0, y0), (x1, y1))
        for t in (n / 20 for n in range(21)):
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            places = ((x0, y0), a, b, (x1, y1))
            x, y = (sum(w * place[side] for w, place in zip(weights, places, strict=True)) for side in (0, 1))
            points.append((x, y))
    return points


def test_maps_stand_above_their_users_by_number() -> None:
    entry = ix.hlo.parse(
        "ENTRY e { p = f32[4,4] parameter(0) t = f32[4,4] transpose(p), dimensions={1,0} ROOT a = f32[4,4] add(p, t) }"
    ).entry
    assert drawing.lines_above(drawing.edges(entry)) == {
        "t": ["(d0, d1) -> (d1, d0)"],
        "a": ["0: same index", "1: same index"],
    }


def test_a_report_is_the_page_of_the_analysis(tmp_path: Path) -> None:
    page = ix.report(PROGRAM, "h100", path=tmp_path / "page.html")
    assert (
        page.html == program_page(ix.analyze(PROGRAM, "h100")) == (tmp_path / "page.html").read_text(encoding="utf-8")
    )
    assert page.report.device == ix.find_device("h100")
    written = page.save(str(tmp_path / "again.html"))
    assert written == tmp_path / "again.html" and written.read_bytes() == page.html.encode()
    (kernel,) = ix.report(PROGRAM, fusion="two").report.fusions
    assert kernel.name == "two"


def test_a_report_is_of_functions_too() -> None:
    jnp = pytest.importorskip("jax.numpy")
    page = ix.report(lambda a: jnp.tanh(a).T, jnp.ones((512, 256)), device="a100")
    assert page.report.device == ix.find_device("a100")
    assert [f.bytes for f in page.report.fusions] == [2 * 512 * 256 * 4]


def test_a_notebook_shows_the_page_in_a_frame() -> None:
    """Only in a frame of its own do the page's style and scripts leave the notebook alone."""
    page = ix.report(PROGRAM)
    ((tag, attributes),) = Elements(page._repr_html_()).tags
    assert tag == "iframe" and attributes["srcdoc"] == page.html
