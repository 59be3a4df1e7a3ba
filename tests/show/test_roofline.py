"""The roofline of a program: what is attainable bounds what is predicted, and the picture shows each kernel where it belongs."""

from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

import indexing as ix
from indexing.reports.roofline import peak_of
from indexing.show.roofline import LOSING, WHOLE, roofline_svg

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted([*(ROOT / "tests/golden").glob("*.hlo"), *(ROOT / "examples").glob("*.hlo")])
SVG = "{http://www.w3.org/2000/svg}"
DOT = """ENTRY e { a = @[512,512] parameter(0) b = @[512,512] parameter(1)
  ROOT d = @[512,512] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"""


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_no_kernel_is_above_what_is_attainable(path: Path) -> None:
    for kernel in ix.analyze(ix.hlo.load(path), "h100").fusions:
        if kernel.flops_per_second and kernel.attainable is not None:
            assert kernel.flops_per_second <= 1.01 * kernel.attainable, kernel


def test_units_are_those_that_compute() -> None:
    """An H100 has 128 lanes of f32 a core that multiply and add, and matrix units for bf16."""
    h100 = ix.find_device("h100")
    (kernel,) = ix.analyze(
        ix.hlo.parse("ENTRY e { p = f32[64] parameter(0) ROOT n = f32[64] add(p, p) }"), h100
    ).fusions
    assert peak_of(kernel.instruction, h100) == ("scalar units, f32", 2 * 128 * 132 * h100.rates.clock)
    assert kernel.attainable == pytest.approx(kernel.intensity * h100.memory.bandwidth)
    (product,) = ix.analyze(ix.hlo.parse(DOT.replace("@", "bf16")), h100).fusions
    assert peak_of(product.instruction, h100) == ("matrix units, bf16", h100.matrix_flops("bf16"))


def test_each_kernel_is_a_disk_and_those_that_lose_time_are_red() -> None:
    report = ix.analyze(ix.hlo.load(ROOT / "examples/rotary.hlo"), "h100")
    picture = ElementTree.fromstring(roofline_svg(report))
    disks = {d.find(SVG + "title").text.split(":")[0]: d for d in picture.iter(SVG + "circle")}
    assert set(disks) == {f.name for f in report.fusions if f.flops_per_second}
    assert {name: d.get("fill") for name, d in disks.items()} == {
        f.name: LOSING if f.seconds_lost else WHOLE for f in report.fusions if f.name in disks
    }
    for side, figure in (("cx", "intensity"), ("cy", "flops_per_second")):
        places = sorted((getattr(f, figure), float(disks[f.name].get(side))) for f in report.fusions)
        steps = [b[1] - a[1] for a, b in pairwise(places)]
        assert all(step >= 0 for step in steps) if side == "cx" else all(step <= 0 for step in steps)
    area = {f.name: (float(disks[f.name].get("r")) - 3) ** 2 / f.share for f in report.fusions}
    assert max(area.values()) == pytest.approx(min(area.values()), rel=0.1)


PRODUCTS = "".join(
    f"""d{t} = {t}[512,512] dot(a{t}, a{t}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  n{t} = {t}[512,512] add(a{t}, d{t})\n"""
    for t in ("f32", "bf16", "f64")
)
MANY_ROOFS = ix.hlo.parse(
    "ENTRY e { "
    + "".join(f"a{t} = {t}[512,512] parameter({k}) " for k, t in enumerate(("f32", "bf16", "f64")))
    + PRODUCTS
    + "ROOT r = (f32[512,512], bf16[512,512], f64[512,512]) tuple(nf32, nbf16, nf64) }"
)


@pytest.mark.parametrize(
    "module", [*(ix.hlo.load(ROOT / f"examples/{name}.hlo") for name in ("rotary", "transformer_block")), MANY_ROOFS]
)
@pytest.mark.parametrize("device", ["h100", "a100", "cpu"])
def test_no_line_or_disk_is_behind_a_text(module: ix.hlo.Module, device: str) -> None:
    picture = ElementTree.fromstring(roofline_svg(ix.analyze(module, device)))
    roofs = [line for line in picture.iter(SVG + "line") if line.get("stroke-opacity") == "0.8"]
    levels = [line for line in roofs if line.get("y1") == line.get("y2")]
    boxes = []
    for text in picture.iter(SVG + "text"):
        x, y, wide = float(text.get("x")), float(text.get("y")), 6.0 * len(text.text)
        left = x - {"start": 0, "middle": wide / 2, "end": wide}[text.get("text-anchor")]
        boxes.append((left, y - 8, left + wide, y, text.text))
    for left, top, right, bottom, text in boxes:
        assert left >= 0 and right <= 640, text
        for line in levels:
            is_beside = float(line.get("x2")) < left or float(line.get("x1")) > right
            assert is_beside or not top < float(line.get("y1")) < bottom, text
        for disk in picture.iter(SVG + "circle"):
            x, y, r = (float(disk.get(name)) for name in ("cx", "cy", "r"))
            assert not (left - r < x < right + r and top - r < y < bottom + r), (text, disk.find(SVG + "title").text)
    for a, b in combinations([box for box in boxes if ":" in box[-1]][1:], 2):
        assert a[1] >= b[3] or b[1] >= a[3], (a, b)


def test_names_of_a_program_are_text_in_the_picture() -> None:
    module = ix.hlo.parse('HloModule "<b>&"\nENTRY e { p = f32[64] parameter(0) ROOT n = f32[64] add(p, p) }')
    picture = ElementTree.fromstring(roofline_svg(ix.analyze(module, "h100")))
    assert "<b>&" in picture.get("aria-label")


def test_a_program_without_operations_has_an_empty_picture() -> None:
    report = ix.analyze(
        ix.hlo.parse("ENTRY e { p = f32[64,8] parameter(0) ROOT t = f32[8,64] transpose(p), dimensions={1,0} }"), "h100"
    )
    picture = ElementTree.fromstring(roofline_svg(report))
    assert not list(picture.iter(SVG + "circle")) and "1 kernel without operations" in picture.get("aria-label")
