"""The content of a computation, by which measured plans are stored: what changes it, and what doesn't."""

import re

import pytest

import indexing as ix
from indexing.graph.extraction import content_key
from indexing.planning.program import planned_kernels

SOFTMAX = """
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT m = f32[] maximum(a, b) }
BODY {
  x = f32[64,96] parameter(0)
  low = f32[] constant(-inf)
  top = f32[64] reduce(x, low), dimensions={1}, to_apply=max
  tops = f32[64,96] broadcast(top), dimensions={0}
  e = f32[64,96] exponential(f32[64,96] subtract(x, tops))
  zero = f32[] constant(0)
  total = f32[64] reduce(e, zero), dimensions={1}, to_apply=add
  totals = f32[64,96] broadcast(total), dimensions={0}
  ROOT out = f32[64,96] divide(e, totals)
}
"""
BARE = SOFTMAX.replace("BODY", "ENTRY softmax").replace("f32[64,96] subtract(x, tops)", "shifted")
BARE = BARE.replace("  e = ", "  shifted = f32[64,96] subtract(x, tops)\n  e = ")
FUSED = BARE.replace("ENTRY softmax", "body") + (
    "ENTRY main { q = f32[64,96] parameter(0) ROOT f = f32[64,96] fusion(q), kind=kInput, calls=body }"
)
TWO = "ENTRY e { %s = f32[8] parameter(0) %s = f32[8] parameter(1) ROOT r = f32[8] subtract(%s, %s) }"


def key(text: str) -> str:
    return content_key(ix.hlo.parse(text).entry)


def test_a_computation_its_fusion_and_its_planned_kernel_have_one_content() -> None:
    bare, fused = ix.hlo.parse(BARE), ix.hlo.parse(FUSED)
    (planned,) = planned_kernels(bare)
    body = fused.entry.root.called[0]
    assert len({content_key(c) for c in (bare.entry, body, planned.computation)}) == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tops", "broadcast.17"),
        ("to_apply=add", 'to_apply=add, metadata={op_name="jit(f)/reduce_sum"}'),
        ("  zero =", "  unused = f32[64,96] negate(x)\n  zero ="),
        ("dimensions={0}", "dimensions={0}, frontend_attributes={}"),
        ("add {", "region_0.3 {"),
    ],
)
def test_names_annotations_and_what_no_result_needs_do_not_change_it(before: str, after: str) -> None:
    text = BARE.replace(before, after)
    if before == "add {":
        text = text.replace("to_apply=add", "to_apply=region_0.3")
    assert text != BARE and key(text) == key(BARE)


def test_a_shape_without_a_layout_is_row_major() -> None:
    assert key(re.sub(r"f32\[64,96\]", "f32[64,96]{1,0}", BARE).replace("f32[64] ", "f32[64]{0} ")) == key(BARE)
    assert key(re.sub(r"f32\[64,96\]", "f32[64,96]{0,1}", BARE)) != key(BARE)
    alone = "ENTRY e { ROOT a = f32[8,9]%s parameter(0) }"
    assert key(alone % "{1,0}") == key(alone % "") != key(alone % "{0,1}")


def test_the_order_of_parameters_does_not_change_it() -> None:
    assert key(TWO % ("a", "b", "a", "b")) == key(TWO % ("a", "b", "b", "a"))
    assert key(TWO % ("a", "b", "a", "a")) != key(TWO % ("a", "b", "a", "b"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("maximum", "minimum"),
        ("f32", "f64"),
        ("96", "97"),
        ("constant(0)", "constant(1)"),
        ("ROOT out = f32[64,96]", "ROOT out = f32[64,96]{0,1}"),
    ],
)
def test_what_is_computed_changes_it(before: str, after: str) -> None:
    assert key(BARE.replace(before, after)) != key(BARE)


def test_parameters_can_be_results() -> None:
    passed = "ENTRY e { a = f32[8] parameter(0) n = f32[8] negate(a) ROOT t = (f32[8], f32[8]) tuple(%s) }"
    assert key(passed % "a, n") != key(passed % "n, a")
    assert key("ENTRY e { ROOT a = f32[8] parameter(0) }") != key("ENTRY e { ROOT a = f32[9] parameter(0) }")
