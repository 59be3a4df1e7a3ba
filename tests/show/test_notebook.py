"""What a notebook shows of values, through IPython's own interface of formatters."""

import importlib
import sys
from collections.abc import Callable
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

import indexing as ix
import indexing.display
from indexing.display import FORMATS


class Formatter(dict):
    """What IPython's formatters do with the name of a type."""

    def for_type_by_name(self, module: str, name: str, function) -> None:
        self[module, name] = function


def told(load: Callable[[SimpleNamespace], None]) -> dict[str, Formatter]:
    formatters = {kind: Formatter() for kind in ("text/latex", "image/svg+xml", "text/html")}
    load(SimpleNamespace(display_formatter=SimpleNamespace(formatters=formatters)))
    return formatters


def shown(value: object) -> dict[str, str]:
    place = type(value).__module__, type(value).__name__
    formatters = told(ix.load_ipython_extension)
    return {kind: of[place](value) for kind, of in formatters.items() if place in of}


def test_a_running_shell_is_told_when_the_package_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    def importing(shell: SimpleNamespace | None) -> None:
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
        indexing.display.load_where_a_shell_runs()

    assert told(importing).keys() == told(ix.load_ipython_extension).keys()
    assert all(told(importing).values())
    importing(None)


@pytest.mark.parametrize("path", [path for functions in FORMATS.values() for path in functions])
def test_formats_are_of_types_that_say_that_name(path: str) -> None:
    module, _, name = path.rpartition(".")
    kind = getattr(importlib.import_module(module), name)
    assert (kind.__module__, kind.__name__) == (module, name)


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
    assert next(e.text for e in report.iter("td")) == "r" and "must move" in report.find("p").text
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


def test_accesses_plans_and_tiles_are_tables() -> None:
    fusion = ix.hlo.parse(TEXT.replace("4,8", "512,256").replace("8,4", "256,512")).entry.root

    def cells(value: object) -> list[str | None]:
        return [e.text for e in ElementTree.fromstring(f"<div>{shown(value)['text/html']}</div>").iter("td")]

    assert cells(ix.coalescing(fusion, launch=ix.Launch()))[:5] == ["read of operand 0", "32", "4", "8", "no"]
    shared = cells(ix.coalescing(fusion))
    assert "store of tile0, shared" in shared and "1 passes" in shared
    found = ix.predict(fusion, {"tile": [8, 32], "block_size": 256})
    assert cells(found)[0] == ", ".join(f"{k} = {v}" for k, v in found.best()[0].items())
    space = cells(ix.tiling_space(fusion))
    assert space[:3] == ["d0", "256 (parallel)", "t"] and "(d0, d1) -> (d1, d0)" in space


def test_source_is_highlighted_and_without_pygments_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = ix.emit(ix.hlo.parse(TEXT).entry.root)
    coloured = shown(kernel)["text/html"]
    assert "<span style=" in coloured
    text = "".join(ElementTree.fromstring(f"<div>{coloured}</div>").itertext())
    monkeypatch.setitem(sys.modules, "pygments", None)
    plain = shown(kernel)["text/html"]
    assert "<span" not in plain
    assert kernel.source.strip() in text
    assert kernel.source.strip() in "".join(ElementTree.fromstring(f"<div>{plain}</div>").itertext())
