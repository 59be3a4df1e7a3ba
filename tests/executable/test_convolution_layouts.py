"""Convolutions of arrays with spatial dimensions last in whole programs: on a CPU by neighbouring features, where there are any."""

import numpy as np
import pytest

import indexing as ix
from indexing.ops.convolution_expansions import convolution_of_neighbours
from kernels import compiled, random_value

NCHW, NCW = "bf01_oi01->bf01", "bf0_oi0->bf0"
TRANSPOSED = {
    "padding": (NCHW, "2,16,9,9", "24,16,3,3", "2,24,9,9", "size=3x3 pad=1_1x1_1"),
    "strides": (NCHW, "2,3,13,12", "8,3,5,4", "2,8,5,6", "size=5x4 stride=2x2 pad=0_0x1_1"),
    "holes in the kernel": (NCHW, "2,5,9,9", "7,5,3,3", "2,7,7,3", "size=3x3 pad=1_1x0_0 rhs_dilate=2x3"),
    "holes in the input": (NCHW, "2,6,5,5", "9,6,3,4", "2,9,10,9", "size=3x4 pad=1_2x1_2 lhs_dilate=2x2"),
    "reversed": (NCHW, "2,6,9,8", "20,6,3,2", "2,20,9,8", "size=3x2 pad=1_1x1_0 rhs_reversal=1x1"),
    "kernel's gradient": ("fb01_io01->bf01", "5,6,8,7", "5,10,6,6", "6,10,3,2", "size=6x6"),
    "one dimension": (NCW, "3,4,40", "8,4,5", "3,8,40", "size=5 pad=4_0"),
    "three dimensions": ("bf012_oi012->bf012", "1,4,5,4,6", "8,4,3,3,3", "1,8,5,4,6", "size=3x3x3 pad=1_1x1_1x1_1"),
    "features last in the result": ("bf01_oi01->b01f", "2,5,9,9", "24,5,3,3", "2,9,9,24", "size=3x3 pad=1_1x1_1"),
}
AS_STATED = {
    "features last": ("b01f_01io->b01f", "2,9,9,16", "3,3,16,32", "2,9,9,32", "size=3x3 pad=1_1x1_1"),
    "one place": (NCHW, "2,16,9,9", "24,16,1,1", "2,24,9,9", "size=1x1"),
    "two features": (NCHW, "2,2,9,9", "24,2,3,3", "2,24,9,9", "size=3x3 pad=1_1x1_1"),
    "images last": ("f01b_i01o->b01f", "3,8,8,24", "3,6,6,32", "24,3,3,32", "size=6x6"),
    "two images' gradient": ("fb01_io01->bf01", "5,2,8,8", "5,16,6,6", "2,16,3,3", "size=6x6"),
}


def program(labels: str, left: str, right: str, out: str, window: str, kind: str = "f32", layout: str = "") -> str:
    return f"""ENTRY e {{
  x = {kind}[{left}]{layout} parameter(0)
  w = {kind}[{right}] parameter(1)
  ROOT c = {kind}[{out}] convolution(x, w), window={{{window}}}, dim_labels={labels}
}}"""


def agree(text: str, tolerance: float = 1e-3) -> set[str]:
    """The emitters of a program whose results are those of the reference."""
    run = compiled(text, "cpu", tolerance)
    module = ix.hlo.parse(text)
    rng = np.random.default_rng(0)
    run(*(random_value(p.shape, rng) for p in module.entry.parameters))
    assert not run.reference_steps
    return {k.emitter for k in run.kernels}


@pytest.mark.parametrize("case", TRANSPOSED.values(), ids=TRANSPOSED)
def test_features_are_made_neighbours(case: tuple[str, str, str, str, str]) -> None:
    text = program(*case)
    emitters = agree(text)
    assert "dot-panels" in emitters and len(emitters) > 1


@pytest.mark.parametrize("case", [*TRANSPOSED.values(), *AS_STATED.values()], ids=[*TRANSPOSED, *AS_STATED])
def test_the_expansion_is_the_convolution(case: tuple[str, str, str, str, str]) -> None:
    module = ix.hlo.parse(program(*case))
    rng = np.random.default_rng(1)
    values = [random_value(p.shape, rng) for p in module.entry.parameters]
    expansion = convolution_of_neighbours(module.entry.root)
    np.testing.assert_allclose(ix.evaluate(expansion.module, *values), ix.evaluate(module, *values), atol=1e-3)


@pytest.mark.parametrize(("name", "labels"), [("padding", "b01f_01io->b01f"), ("kernel's gradient", "f01b_01io->b01f")])
def test_the_order_of_transposed_arrays(name: str, labels: str) -> None:
    expansion = convolution_of_neighbours(ix.hlo.parse(program(*TRANSPOSED[name])).entry.root)
    (convolution,) = [i for i in expansion.instructions.values() if i.opcode == "convolution"]
    assert f"dim_labels={labels}" in str(convolution)


@pytest.mark.parametrize("case", AS_STATED.values(), ids=AS_STATED)
def test_others_are_computed_as_they_are(case: tuple[str, str, str, str, str]) -> None:
    assert len(compiled(program(*case), "cpu").kernels) == 1


def test_groups_are_computed_as_they_are() -> None:
    text = program(NCHW, "2,16,9,9", "24,8,3,3", "2,24,9,9", "size=3x3 pad=1_1x1_1")
    text = text.replace(f"dim_labels={NCHW}", f"dim_labels={NCHW}, feature_group_count=2")
    assert len(compiled(text, "cpu").kernels) == 1


def test_other_types_and_layouts() -> None:
    case = TRANSPOSED["padding"]
    assert "dot-panels" in agree(program(*case, kind="bf16"), 0.05)
    assert "dot-panels" in agree(program(*case, kind="s32"))
    assert "dot-panels" in agree(program(*case, layout="{2,3,1,0}"))


def test_eight_features_fill_half_a_panel() -> None:
    assert agree(program("b01f_01io->b01f", "2,9,9,5", "3,3,5,8", "2,9,9,8", "size=3x3 pad=1_1x1_1")) == {"dot-panels"}
