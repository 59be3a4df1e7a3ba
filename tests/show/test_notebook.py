"""What a notebook shows of values, through IPython's own interface of formatters."""

from types import SimpleNamespace
from xml.etree import ElementTree

import indexing as ix


class Formatter(dict):
    """What IPython's formatters do with a type."""

    def for_type(self, kind: type, function) -> None:
        self[kind] = function


def shown(value: object) -> dict[str, str]:
    formatters = {kind: Formatter() for kind in ("text/latex", "image/svg+xml", "text/html")}
    ix.load_ipython_extension(SimpleNamespace(display_formatter=SimpleNamespace(formatters=formatters)))
    return {kind: of[type(value)](value) for kind, of in formatters.items() if type(value) in of}


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
    assert "__global__" in kernel.find("pre/code").text
    hostile = ix.hlo.parse('ENTRY e { p = f32[2] parameter(0), metadata={op_name="<b>&"} ROOT n = f32[2] negate(p) }')
    assert "<b>" not in shown(ix.maps(hostile))["text/html"]
