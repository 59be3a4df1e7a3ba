"""Pictures that Graphviz lays out: all boxes and maps are there, no two texts overlap, names stay text."""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from matplotlib.textpath import TextPath

import indexing as ix
from indexing.cli import main
from indexing.show.drawing import dot, svg
from indexing.show.graphviz_layout import MAX_LAID_OUT, graphviz_svg

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "transformer_block.hlo"
SVG = "{http://www.w3.org/2000/svg}"


def test_boxes_and_maps_are_drawn_apart() -> None:
    computations = ix.hlo.load(EXAMPLE).computations.values()
    largest = max((c for c in computations if not c.is_entry), key=lambda c: len(c.instructions))
    root = ElementTree.fromstring(graphviz_svg(largest))
    groups = {kind: [g for g in root.iter(f"{SVG}g") if g.get("class") == kind] for kind in ("node", "edge")}
    assert len(groups["node"]) == len(largest.instructions)
    assert len(groups["edge"]) == sum(len(i.operands) for i in largest.instructions.values())
    boxes = []
    for node in groups["node"]:
        (polygon,) = node.iter(f"{SVG}polygon")
        x, y = zip(*((float(v) for v in p.split(",")) for p in (polygon.get("points") or "").split()), strict=True)
        boxes.append((min(x), min(y), max(x), max(y)))
    for k, (left, top, right, bottom) in enumerate(boxes):
        assert all(right <= a or c <= left or bottom <= b or d <= top for a, b, c, d in boxes[k + 1 :])
    for edge in groups["edge"]:
        for text in edge.iter(f"{SVG}text"):
            x, y = float(text.get("x") or 0), float(text.get("y") or 0)
            assert not any(a < x < c and b < y < d for a, b, c, d in boxes), "a map lies in a box"
    said = " ".join(root.itertext())
    assert "same index" in said and "floordiv" in said


def test_boxes_are_as_wide_as_their_texts_in_a_wide_font() -> None:
    """By the metrics of DejaVu Sans, which browsers take where Helvetica is missing, whatever font Graphviz measures."""
    largest = max(ix.hlo.load(EXAMPLE).computations.values(), key=lambda c: len(c.instructions))
    labels = re.findall(r'\[label="(.*?)\\n(.*?)", width=([\d.]+),', dot(largest))
    rectangles = [float(r.attrib["width"]) for r in ElementTree.fromstring(svg(largest)).iter(f"{SVG}rect")]
    assert len(labels) == len(rectangles) == len(largest.instructions)
    for (*texts, inches), pixels in zip(labels, rectangles, strict=True):
        needed = max(TextPath((0, 0), text, size=12).get_extents().width for text in texts)
        assert needed < min(72 * float(inches), pixels), texts


def test_a_png_picture_goes_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a" / "picture.png"
    names = list(ix.hlo.load(EXAMPLE).computations)
    assert main(["draw", str(EXAMPLE), "--computation", names[0], "--format", "png", "-o", str(file)]) == 0
    assert file.read_bytes().startswith(b"\x89PNG") and capsys.readouterr().out == f"{file}\n"
    assert main(["draw", str(EXAMPLE), "--computation", names[0], "--format", "png"]) == 1
    assert "--out FILE.png" in capsys.readouterr().err


def test_names_stay_text() -> None:
    name = "a.-1" + "_" * 300
    odd = f'ENTRY e {{ {name} = f32[2] parameter(0) ROOT n = f32[2] custom-call({name}), custom_call_target="<b>\\\\N&amp;" }}'
    picture = graphviz_svg(ix.hlo.parse(odd).entry).decode("ascii")
    assert name in "".join(ElementTree.fromstring(picture).itertext())
    assert "<b>" not in picture and re.search(r"<script|href", picture) is None


def test_what_graphviz_cannot_do_is_refused_or_drawn_in_rows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chain = "\n".join(f"n{k + 1} = f32[4] negate(n{k})" for k in range(MAX_LAID_OUT))
    long = tmp_path / "long.hlo"
    long.write_text(f"ENTRY e {{ n0 = f32[4] parameter(0)\n{chain} }}")
    with pytest.raises(ix.UnsupportedOp, match="too many"):
        graphviz_svg(ix.hlo.load(long).entry)
    assert main(["draw", str(long)]) == 0
    assert 'text-anchor="middle"' in capsys.readouterr().out
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    assert main(["draw", str(EXAMPLE), "--layout", "graphviz"]) == 1
    assert "needs the viz extra" in capsys.readouterr().err
    assert main(["draw", str(EXAMPLE)]) == 0
    assert 'text-anchor="middle"' in capsys.readouterr().out
