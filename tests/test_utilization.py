"""Utilization: counts worked out from what the ops read."""

import pytest

import indexing as ix


def used(body: str) -> list[tuple[int, int, int]]:
    module = ix.hlo.parse(
        f"HloModule m\n\nadd {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}}\n\nENTRY e {{\n{body}\n}}"
    )
    return [(u.distinct, u.elements, u.reads) for u in ix.utilization(module.entry.root)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # every second element
        ("p = f32[10] parameter(0)\nROOT r = f32[5] slice(p), slice={[0:10:2]}", [(5, 10, 5)]),
        # a row of 4, read for each of 3 rows
        ("p = f32[4] parameter(0)\nROOT r = f32[3,4] broadcast(p), dimensions={1}", [(4, 4, 12)]),
        # 2x8 by 8x3: each element of the left is read for 3 columns, of the right for 2 rows
        (
            "p = f32[2,8] parameter(0)\nq = f32[8,3] parameter(1)\n"
            "ROOT r = f32[2,3] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
            [(16, 16, 48), (24, 24, 48)],
        ),
        (
            "p = f32[6,7] parameter(0)\nz = f32[] constant(0)\nROOT r = f32[6] reduce(p, z), dimensions={1}, to_apply=add",
            [(42, 42, 42), (1, 1, 6)],
        ),
        # windows of 3 with stride 3 over 10 elements leave the last one out
        (
            "p = f32[10] parameter(0)\nz = f32[] constant(0)\nROOT r = f32[3] reduce-window(p, z), window={size=3 stride=3}, to_apply=add",
            [(9, 10, 9), (1, 1, 3)],
        ),
        # any start: all elements may be read
        (
            "p = f32[10] parameter(0)\ni = s32[] parameter(1)\nROOT r = f32[4] dynamic-slice(p, i), dynamic_slice_sizes={4}",
            [(10, 10, 28), (1, 1, 4)],
        ),
    ],
)
def test_counts(body: str, expected: list[tuple[int, int, int]]) -> None:
    assert used(body) == expected


def test_overlapping_maps_of_one_operand_count_once() -> None:
    text = """HloModule m
f {
  p = f32[10] parameter(0)
  a = f32[6] slice(p), slice={[0:6]}
  b = f32[6] slice(p), slice={[4:10]}
  ROOT s = f32[6] add(a, b)
}
ENTRY e {
  x = f32[10] parameter(0)
  ROOT r = f32[6] fusion(x), kind=kLoop, calls=f
}"""
    (only,) = ix.utilization(ix.hlo.parse(text).entry.root)
    assert (only.distinct, only.elements, only.reads, only.exactness) == (10, 10, 12, "exact")
    assert only.ratio == 1.0
    assert only.reuse == 1.2
