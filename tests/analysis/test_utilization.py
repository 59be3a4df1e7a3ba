"""Utilization: counts worked out from what the ops read."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indexing as ix
from reached import drawn, generic, reached
from shape_programs import Chain


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
        # four elements, whatever the start
        (
            "p = f32[10] parameter(0)\ni = s32[] parameter(1)\nROOT r = f32[4] dynamic-slice(p, i), dynamic_slice_sizes={4}",
            [(4, 10, 4), (1, 1, 4)],
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


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9))
def test_elements_that_reach_the_output(seed: int) -> None:
    """An element is read where changing it changes the output."""
    root = ix.hlo.parse(Chain(seed).text).entry.root
    if root.opcode != "fusion" or root.shape.element_count > 150:
        return
    rng = np.random.default_rng(seed)
    operands = [generic(o.shape, rng) for o in root.operands]
    for k, actual in enumerate(ix.utilization(root)):
        elements = {at for _, at in reached(root, operands, k, 0, drawn(rng))[0]}
        assert actual.exactness == "exact"
        assert actual.at_least == actual.distinct == len(elements)
        assert actual.bytes == 4 * len(elements)


def test_a_gather_is_bounded_from_both_sides() -> None:
    body = (
        "p = f32[20,3] parameter(0)\ni = s32[4,1] parameter(1)\nROOT r = f32[4,3] gather(p, i), offset_dims={1}, "
        "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}"
    )
    rows, indices = ix.utilization(ix.hlo.parse(f"ENTRY e {{\n{body}\n}}").entry.root)
    assert (rows.at_least, rows.distinct, rows.reads, rows.exactness) == (3, 12, 12, "over-approximate")
    assert "runtime values" in rows.reason
    assert indices.distinct == 4


@pytest.mark.parametrize("rows", [8, 4096])
def test_where_an_update_goes_does_not_decide_what_is_read_of_it(rows: int) -> None:
    """Its even and odd elements are read by two maps each, a few of which can be listed."""
    text = f"""f {{
  p = f32[{rows},64,128] parameter(0)
  u = f32[{rows},1,384] parameter(1)
  i = s32[] parameter(2)
  z = s32[] constant(0)
  even = f32[{rows},1,64] slice(u), slice={{[0:{rows}],[0:1],[128:256:2]}}
  odd = f32[{rows},1,64] slice(u), slice={{[0:{rows}],[0:1],[129:256:2]}}
  a = f32[{rows},1,64] add(even, odd)
  s = f32[{rows},1,64] subtract(even, odd)
  c = f32[{rows},1,128] concatenate(a, s), dimensions={{2}}
  ROOT r = f32[{rows},64,128] dynamic-update-slice(p, c, z, i, z)
}}
ENTRY e {{
  p = f32[{rows},64,128] parameter(0)
  u = f32[{rows},1,384] parameter(1)
  i = s32[] parameter(2)
  ROOT r = f32[{rows},64,128] fusion(p, u, i), kind=kLoop, calls=f
}}"""
    update = ix.utilization(ix.hlo.parse(text).entry.root)[1]
    assert update.distinct == rows * 128 and update.at_least in (rows * 64, rows * 128)


def test_all_outputs_count_together() -> None:
    text = """f {
  p = f32[10] parameter(0)
  a = f32[6] slice(p), slice={[0:6]}
  b = f32[3] slice(p), slice={[5:8]}
  ROOT s = (f32[6], f32[3]) tuple(a, b)
}
ENTRY e {
  x = f32[10] parameter(0)
  ROOT r = (f32[6], f32[3]) fusion(x), kind=kLoop, calls=f
}"""
    root = ix.hlo.parse(text).entry.root
    assert [u.distinct for u in ix.utilization(root)] == [8]
    assert [u.distinct for u in ix.utilization(root, 1)] == [3]


def test_large_slices_that_lie_apart_are_counted_without_a_list() -> None:
    text = """f {
  p = f32[9000000] parameter(0)
  a = f32[4000000] slice(p), slice={[0:4000000]}
  b = f32[4000000] slice(p), slice={[4500000:8500000]}
  ROOT s = f32[4000000] add(a, b)
}
ENTRY e {
  x = f32[9000000] parameter(0)
  ROOT r = f32[4000000] fusion(x), kind=kLoop, calls=f
}"""
    (only,) = ix.utilization(ix.hlo.parse(text).entry.root)
    assert (only.distinct, only.exactness) == (8000000, "exact")
    (overlapping,) = ix.utilization(ix.hlo.parse(text.replace("4500000:8500000", "3000000:7000000")).entry.root)
    assert (overlapping.at_least, overlapping.distinct, overlapping.exactness) == (7000000, 7000000, "exact")


@pytest.mark.parametrize(
    ("size", "expected"), [(1, (7500001, 7500001)), (2, (7500001, 7500001)), (100, (4500000, 9000000))]
)
def test_slices_that_overlap_across_rows(size: int, expected: tuple[int, int]) -> None:
    """A window of one element or two has few values, each counted alone; of a hundred, the union is not decided."""
    text = f"""add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }}
f {{
  p = f32[3000,3000] parameter(0)
  z = f32[] parameter(1)
  a = f32[9000000] reshape(p)
  b = f32[4500000] slice(a), slice={{[0:4500000]}}
  c = f32[4500000] slice(a), slice={{[3000001:7500001]}}
  s = f32[4500000] add(b, c)
  ROOT w = f32[{4500001 - size}] reduce-window(s, z), window={{size={size}}}, to_apply=add
}}
ENTRY e {{
  x = f32[3000,3000] parameter(0)
  z = f32[] parameter(1)
  ROOT r = f32[{4500001 - size}] fusion(x, z), kind=kLoop, calls=f
}}"""
    used, _ = ix.utilization(ix.hlo.parse(text).entry.root)
    assert (used.at_least, used.distinct) == expected
    assert used.exactness == ("exact" if expected[0] == expected[1] else "over-approximate")
    assert ("overlap" in used.reason) == (used.exactness != "exact")


def test_producers_that_are_computed_where_they_are_read() -> None:
    text = """ENTRY e {
  p = f32[10,4] parameter(0)
  q = f32[4] parameter(1)
  b = f32[10,4] broadcast(q), dimensions={1}
  n = f32[10,4] add(p, b)
  i = f32[6,3] parameter(2)
  w = f32[6,3,4] broadcast(i), dimensions={0,1}
  s = f32[6,4] slice(n), slice={[4:10],[0:4]}
  c = f32[6,3,4] broadcast(s), dimensions={0,2}
  ROOT r = f32[6,3,4] multiply(c, w)
}"""
    root = ix.hlo.parse(text).entry.root
    by_name = {i.name: i for i in root.computation.instructions.values()}
    used = ix.utilization(root, producers=[by_name[n] for n in ("c", "s", "n", "b", "w")])
    actual = {u.operand.name: (u.distinct, u.elements, u.reads, u.reuse) for u in used}
    assert actual == {
        "c": (72, 72, 72, 1.0),
        "w": (72, 72, 72, 1.0),
        "s": (24, 24, 72, 3.0),  # each element is recomputed for 3 columns
        "n": (24, 40, 72, 3.0),
        "p": (24, 40, 72, 3.0),
        "b": (24, 40, 72, 3.0),
        "q": (4, 4, 72, 18.0),
        "i": (18, 18, 72, 4.0),
    }


def test_a_pair_reads_what_its_fusion_reads() -> None:
    text = """add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
f { p = f32[8,9] parameter(0) ROOT t = f32[9,8] transpose(p), dimensions={1,0} }
g {
  t = f32[9,8] parameter(0)
  z = f32[] constant(0)
  s = f32[5,8] slice(t), slice={[2:7],[0:8]}
  ROOT r = f32[8] reduce(s, z), dimensions={0}, to_apply=add
}
ENTRY e {
  p = f32[8,9] parameter(0)
  first = f32[9,8] fusion(p), kind=kLoop, calls=f
  ROOT second = f32[8] fusion(first), kind=kInput, calls=g
}"""
    second = ix.hlo.parse(text).entry.root
    (first,) = second.operands
    actual = {u.operand.name: (u.distinct, u.reads) for u in ix.utilization(second, producers=[first])}
    assert actual == {"first": (40, 40), "p": (40, 40)}
