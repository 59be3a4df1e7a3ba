"""What a notebook shows of values, by the methods that notebooks ask for."""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import indexing as ix

KINDS = {"text/latex": "_repr_latex_", "image/svg+xml": "_repr_svg_", "text/html": "_repr_html_"}


def shown(value: object) -> dict[str, str]:
    return {kind: getattr(value, method)() for kind, method in KINDS.items() if hasattr(value, method)}


TEXT = """f { p = f32[4,8] parameter(0) ROOT t = f32[8,4] transpose(p), dimensions={1,0} }
ENTRY e { p = f32[4,8] parameter(0) ROOT r = f32[8,4] fusion(p), kind=kLoop, calls=f }"""


def test_maps_are_formulas() -> None:
    m = ix.IndexingMap.parse("(d0) -> (d0 floordiv 2), domain: d0 in [0, 3]")
    assert shown(m) == {
        "text/latex": "$(d_{0}) \\mapsto (\\left\\lfloor \\frac{d_{0}}{2} \\right\\rfloor),\\quad d_{0} \\in [0, 3]$"
    }
    assert shown(m.results[0] + 1)["text/latex"].startswith("$")


def test_computations_are_pictures() -> None:
    module = ix.hlo.parse(TEXT)
    of_fusion = shown(module.entry.root)["image/svg+xml"]
    assert (
        of_fusion == shown(module.computations["f"])["image/svg+xml"] and ElementTree.fromstring(of_fusion) is not None
    )
    assert "fusion" in shown(module)["image/svg+xml"]
    assert shown(module.entry.parameters[0]) == {"image/svg+xml": None}


def test_reports_maps_and_kernels_are_tables_and_text() -> None:
    module = ix.hlo.parse(TEXT)
    report = ElementTree.fromstring(f"<div>{shown(ix.analyze(module))['text/html']}</div>")
    assert next(e.text for e in report.iter("td")) == "r" and "memory moves " in report.find("p").text
    maps = ElementTree.fromstring(shown(ix.maps(module))["text/html"])
    assert [e.text for e in maps.iter("td")] == [
        "result",
        "p",
        "(d0, d1) -> (d1, d0), domain: d0 in [0, 7], d1 in [0, 3]",
        "exact",
    ]
    kernel = ElementTree.fromstring(f"<div>{shown(ix.emit(module))['text/html']}</div>")
    assert "__global__" in "".join(kernel.itertext())
    hostile = ix.hlo.parse('ENTRY e { p = f32[2] parameter(0), metadata={op_name="<b>&"} ROOT n = f32[2] negate(p) }')
    assert "<b>" not in shown(ix.maps(hostile))["text/html"]


def test_a_table_of_maps_asks_only_for_arrays_that_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 50
    lines = [f"p{k} = f32[8] parameter({k})\nn{k} = f32[8] negate(p{k})" for k in range(count)]
    results = f"ROOT t = ({', '.join(['f32[8]'] * count)}) tuple({', '.join(f'n{k}' for k in range(count))})"
    maps = ix.maps(ix.hlo.parse("\n".join(["ENTRY e {", *lines, results, "}"])))
    between, asked = ix.ProgramMaps._between, []
    monkeypatch.setattr(ix.ProgramMaps, "_between", lambda *pair: asked.append(pair) or between(*pair))
    cells = [e.text for e in ElementTree.fromstring(shown(maps)["text/html"]).iter("td")]
    assert list(zip(cells[::4], cells[1::4], strict=True)) == [(f"result[{k}]", f"p{k}") for k in range(count)]
    assert len(asked) == count


def test_accesses_plans_and_tiles_are_tables() -> None:
    fusion = ix.hlo.parse(TEXT.replace("4,8", "512,256").replace("8,4", "256,512")).entry.root

    def cells(value: object) -> list[str | None]:
        return [e.text for e in ElementTree.fromstring(f"<div>{shown(value)['text/html']}</div>").iter("td")]

    assert cells(ix.coalescing(fusion, launch=ix.Launch()))[:5] == ["read of operand 0", "32", "4", "8", "no"]
    shared = cells(ix.coalescing(fusion))
    assert "store of tile0, shared" in shared and "1 pass" in shared
    prediction = ix.predict(fusion, {"tile": [8, 32], "block_size": 256})
    assert cells(prediction)[: len(prediction.plans)] == [str(v) for v in prediction.best()[0].values()]
    space = cells(ix.tiling_space(fusion))
    assert space[:3] == ["d0", "256 (parallel)", "t"] and "(d0, d1) -> (d1, d0)" in space


def test_comparisons_and_searches_are_shown(tmp_path: Path) -> None:
    module = ix.hlo.parse(TEXT)
    changed = ElementTree.fromstring(shown(ix.compare(module, module))["text/html"])
    assert "1 kernel is the same" in changed.text and changed.get("style") == "font-family: monospace"
    trials = ix.tune(module.entry.root, budget=1, device="cpu", store=tmp_path / "store")
    heads = [e.text for e in ElementTree.fromstring(f"<div>{shown(trials)['text/html']}</div>").iter("th")]
    assert heads[-1] == "spread us" and "problem" not in heads, "a column without a text is left out"


def test_what_python_prints_of_answers_is_short() -> None:
    """At a prompt an answer is a line; `print` shows what is in it."""
    module = ix.hlo.parse(TEXT.replace("4,8", "512,256").replace("8,4", "256,512"))
    fusion = module.entry.root
    coalescing, report = ix.coalescing(fusion), ix.analyze(module)
    answers = (
        coalescing,
        report,
        report.fusions[0],
        ix.compare(module, module),
        ix.predict(fusion),
        ix.tiling_space(fusion),
        ix.emit(fusion).verify(),
        ix.show.access_pictures(fusion)[0],
    )
    for answer in answers:
        assert len(repr(answer)) < 120 and "\n" not in repr(answer), repr(answer)
    assert repr(coalescing) == f"<coalescing of a transpose kernel on {ix.find_device()}: 2 of 2 accesses coalesced>"
    assert str(coalescing).splitlines() == [
        "read of operand 0: 4 sectors a warp, 4 needed, coalesced",
        "write of output 0: 4 sectors a warp, 4 needed, coalesced",
        "store of tile0: 1 pass a warp, 1 needed",
        "load of tile0: 1 pass a warp, 1 needed",
    ]


def test_source_is_highlighted_and_without_pygments_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = ix.emit(ix.hlo.parse(TEXT).entry.root)
    coloured = shown(kernel)["text/html"]
    style, body = coloured.split("<style>")[1].split("</style>")
    light, dark = style.split("@media (prefers-color-scheme: dark)")
    for token in set(re.findall(r'<span class="(\w+)">', body)) - {"n", "p"}:  # names and points are as the rest
        assert f".kernel-source .{token} {{" in light and f".kernel-source .{token} {{" in dark, token
    text = "".join(ElementTree.fromstring(body).itertext())
    monkeypatch.setitem(sys.modules, "pygments", None)
    plain = shown(kernel)["text/html"]
    assert "<span" not in plain and '<pre style="font-family: monospace">' in plain
    assert ".kernel-source pre { background: none; color: inherit; font-family: monospace; }" in style
    assert kernel.source.strip() in text
    assert kernel.source.strip() in "".join(ElementTree.fromstring(f"<div>{plain}</div>").itertext())
