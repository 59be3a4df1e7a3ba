"""The page about a program: all of its kernels as data, nothing of a program's text as markup, nothing from a network."""

import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

import indexing as ix
from indexing.analysis.memory.global_memory import coalescing
from indexing.show import drawing
from indexing.show.page import program_page
from indexing.show.warp import sectors, touched, warp_svg

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
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.found[-1:] and self.found[-1][0] == "script":
            self.scripts.append(data)


def read(name: str) -> tuple[Elements, dict]:
    module = ix.hlo.parse(PROGRAM.replace('"NAME"', "m", 1).replace("NAME", name))
    elements = Elements(program_page(ix.analyze(module)))
    return elements, json.loads(elements.scripts[0])


def test_the_page_has_all_kernels_and_their_details() -> None:
    _, data = read("m.py")
    assert [row[:2] for row in data["rows"]] == [["two", "fusion"], ["three", "fusion"]]
    size = 64 * 64 * 4
    assert data["rows"][0][2:5] == [7 * size, 10 * size, 3 * size]
    assert data["which"] == [0, 0] and len(data["details"]) == 1, "equal kernels share what names don't change"
    (detail,) = data["details"]
    assert "__global__" in detail["source"] and detail["emitter"] == "loop"
    assert "(d0, d1) -> (d0, d1)" in detail["maps"]
    assert {e.text for e in ElementTree.fromstring(detail["graph"]).iter(SVG + "text")} >= {"s", "a", "b"}
    (only,) = detail["warps"]
    assert only[0] == "read of operand 0"
    read_of_y = data["accesses"][0][0]
    assert "neighbouring lanes" in read_of_y["why"] and read_of_y["array"] == "y"


def test_instructions_beside_fusions_are_on_the_page_where_there_are_none() -> None:
    module = ix.hlo.parse(
        'ENTRY e { p = f32[8] parameter(0) ROOT n = f32[8] negate(p), metadata={source_file="a.py" source_line=3} }'
    )
    data = json.loads(Elements(program_page(ix.analyze(module))).scripts[0])
    assert data["rows"][0][0] == "n" and data["rows"][0][6] == "a.py:3" and data["details"][0]["source"] == ""
    assert "a.py:3" in data["search"][0]


def test_text_of_a_program_is_no_markup_and_no_placeholder() -> None:
    plain, hostile = read("m.py")[0], read(HOSTILE.replace('"', ""))[0]
    assert [tag for tag, _ in plain.found] == [tag for tag, _ in hostile.found]
    module = ix.hlo.parse(
        f'ENTRY e {{ p = f32[8] parameter(0) ROOT n = f32[8] negate(p), metadata={{source_file="{HOSTILE}" source_line=1}} }}'
    )
    elements = Elements(program_page(ix.analyze(module)))
    assert [tag for tag, _ in elements.found] == [tag for tag, _ in plain.found]
    assert json.loads(elements.scripts[0])["rows"][0][6] == HOSTILE + ":1"


def test_the_page_needs_no_network() -> None:
    elements, _ = read("m.py")
    assert not [a for _, attributes in elements.found for a in attributes if a in ("src", "href", "srcset", "action")]
    assert "url(" not in re.sub(r"url\(#\w+\)", "", "".join(elements.scripts))


# ---- what a warp touches


def accesses(text: str):
    root = ix.hlo.parse(text).entry.root
    return root, coalescing(root)


def test_what_a_warp_touches() -> None:
    root, found = accesses("ENTRY e { p = f32[64,64] parameter(0) ROOT t = f32[64,64] transpose(p), dimensions={1,0} }")
    (read,), (write,) = found.reads, found.writes
    assert [(t.lane, t.byte) for t in touched(read, root.operands[0].shape)] == [(k, 256 * k) for k in range(32)]
    assert [(t.lane, t.byte) for t in touched(write, root.shape)] == [(k, 4 * k) for k in range(32)]
    held = sectors(touched(write, root.shape), 32)
    assert held == {s: {4 * k: [8 * s + k] for k in range(8)} for s in range(4)}


def test_cells_say_which_lanes_touch_them() -> None:
    root, found = accesses("ENTRY e { p = f32[4] parameter(0) ROOT b = f32[4,8] broadcast(p), dimensions={0} }")
    picture = ElementTree.fromstring(warp_svg(touched(found.reads[0], root.operands[0].shape)))
    cells = list(picture.iter(SVG + "rect"))
    assert (
        len(cells) == 8 and cells[0].get("class") == " ".join(f"l{k}" for k in range(8)) and cells[4].get("class") == ""
    )
    assert [c.find(SVG + "title").text for c in cells[3:5]] == [
        "byte 12: lanes 24, 25, 26, 27, 28, 29, 30, 31",
        "byte 16: nobody",
    ]
    assert [t.text for t in picture.iter(SVG + "text")][-1] == "1 sectors; 16 of their 32 bytes are asked for"


def test_blocks_smaller_than_a_warp_and_narrow_elements() -> None:
    root, found = accesses("ENTRY e { p = bf16[5] parameter(0) ROOT n = bf16[5] negate(p) }")
    assert [(t.lane, t.byte, t.element_bytes) for t in touched(found.reads[0], root.shape)] == [
        (k, 2 * k, 2) for k in range(5)
    ]


# ---- graphs


def boxes(picture: str) -> list[tuple[float, float, float, float]]:
    found = ElementTree.fromstring(picture).iter(SVG + "rect")
    return [tuple(float(e.get(k)) for k in ("x", "y", "width", "height")) for e in found]


CHAIN = "\n".join(f"  n{k + 1} = f32[8,8] add(n{k}, p)" for k in range(6))
GRAPHS = {
    "chain": f"ENTRY e {{\n n0 = f32[8,8] parameter(0)\n p = f32[8,8] parameter(1)\n{CHAIN}\n ROOT r = f32[8,8] negate(n6) }}",
    "wide": "ENTRY e { p = f32[4] parameter(0) "
    + " ".join(f"n{k} = f32[4] negate(p)" for k in range(6))
    + " ROOT t = (f32[4], f32[4], f32[4], f32[4], f32[4], f32[4]) tuple(n0, n1, n2, n3, n4, n5) }",
    "unused": "ENTRY e { p = f32[4] parameter(0) q = f32[] parameter(1) ROOT n = f32[4] negate(p) }",
}


@pytest.mark.parametrize("name", GRAPHS)
def test_boxes_and_the_lines_above_them_do_not_overlap(name: str) -> None:
    entry = ix.hlo.parse(GRAPHS[name]).entry
    lines = {k: len(v) for k, v in drawing.lines_above(drawing.edges(entry)).items()}
    places = drawing.layout(entry, lines)
    rectangles = [
        (x, y - drawing.LINE * lines.get(n, 0), x + drawing.WIDTH, y + drawing.HEIGHT) for n, (x, y) in places.items()
    ]
    for k, (left, top, right, bottom) in enumerate(rectangles):
        for other in rectangles[:k]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
    assert all(places[o.name][1] < places[i.name][1] for i in entry.instructions.values() for o in i.operands)
    assert len(boxes(drawing.svg(entry))) == len(entry.instructions)


def test_maps_stand_above_their_users_by_number() -> None:
    entry = ix.hlo.parse(
        "ENTRY e { p = f32[4,4] parameter(0) t = f32[4,4] transpose(p), dimensions={1,0} ROOT a = f32[4,4] add(p, t) }"
    ).entry
    assert drawing.lines_above(drawing.edges(entry)) == {
        "t": ["(d0, d1) -> (d1, d0)"],
        "a": ["0: same index", "1: same index"],
    }
