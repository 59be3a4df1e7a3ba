"""Clusters of instructions, epilogues, and layouts: maps from one instruction of a computation to others."""

from __future__ import annotations

import pytest

import indexing as ix
from fusion_texts import fusion_of, texts
from reached import spelled


def test_grouped_indexing_from_the_middle_of_a_fusion() -> None:
    text = fusion_of("  b = s32[3,4,5] broadcast(p0), dimensions={0,2}\n  z = s32[] constant(0)\n"
                     "  ROOT r = s32[3] reduce(b, z), dimensions={1,2}, to_apply=sum", "s32[3,5]", out="s32[3]")  # fmt: skip
    module = ix.hlo.parse(text)
    fusion = module.entry.root
    middle = module.computations["f"].instructions["b"]
    indexings = ix.grouped_indexing([fusion], middle)
    box = "domain: d0 in [0, 2], d1 in [0, 3], d2 in [0, 4]"
    assert {i.name: [str(m.map) for m in maps] for i, maps in indexings.items()} == {
        "b": [f"(d0, d1, d2) -> (d0, d1, d2), {box}"],
        "p0": [f"(d0, d1, d2) -> (d0, d2), {box}"],
    }
    assert fusion.operands[0] in indexings


def test_grouped_indexing_of_one_instruction_names_its_producers() -> None:
    text = """HloModule m
    sum2 { a = f32[] parameter(0)
      b = f32[] parameter(1)
      c = f32[] parameter(2)
      d = f32[] parameter(3)
      x = f32[] add(a, c)
      y = f32[] add(b, d)
      ROOT t = (f32[], f32[]) tuple(x, y) }
    ENTRY e { p0 = f32[32,40] parameter(0)
      p1 = f32[32,40] parameter(1)
      p2 = f32[] parameter(2)
      c = f32[] constant(0)
      ROOT r = (f32[32], f32[32]) reduce(p0, p1, p2, c), dimensions={1}, to_apply=sum2 }"""
    root = ix.hlo.parse(text).entry.root
    actual = {i.name: [str(m.map) for m in maps] for i, maps in ix.grouped_indexing([root], root).items()}
    row = spelled("(d0)[s0] -> (d0, s0), domain: d0 in [0, 31], s0 in [0, 39]")
    assert actual["r"] == [spelled("(d0) -> (d0), domain: d0 in [0, 31]")]
    assert actual["p0"] == [row]
    assert actual["p2"] == [spelled("(d0) -> (), domain: d0 in [0, 31]")]


def test_grouped_indexing_stops_at_the_edge_of_the_cluster() -> None:
    text = """HloModule m
    ENTRY e { p = s32[2,3] parameter(0)
      t = s32[3,2] transpose(p), dimensions={1,0}
      n = s32[3,2] negate(t)
      ROOT r = s32[6] reshape(n) }"""
    entry = ix.hlo.parse(text).entry
    i = entry.instructions
    assert set(ix.grouped_indexing([i["r"], i["n"]], i["r"])) == {i["r"], i["n"], i["t"]}
    assert set(ix.grouped_indexing([i["r"], i["n"]], i["n"])) == {i["n"], i["t"]}
    with pytest.raises(ix.IndexingError, match="not in the cluster"):
        ix.grouped_indexing([i["r"]], i["n"])


def test_epilogue_indexing_leads_from_the_hero_to_the_root() -> None:
    body = """  t = s32[4,5]{0,1} transpose(p0), dimensions={1,0}
  b = s32[20] bitcast(t)
  ROOT l = s32[20] negate(b)"""
    f = ix.hlo.parse(fusion_of(body, "s32[5,4]", out="s32[20]")).computations["f"]
    assert str(ix.epilogue_indexing(f.instructions["t"], f.root)) == spelled(
        "(d0, d1) -> (d1 * 4 + d0), domain: d0 in [0, 3], d1 in [0, 4]"
    )
    assert str(ix.epilogue_indexing(f.root, f.root)) == spelled("(d0) -> (d0), domain: d0 in [0, 19]")
    with pytest.raises(ix.InvalidMap, match="no path"):
        ix.epilogue_indexing(f.root, f.instructions["t"])


def test_physical_layouts_permute_both_sides() -> None:
    text = "HloModule m\nENTRY e {\n p = f32[2,3,4]{1,0,2} parameter(0)\n ROOT r = f32[2,3,4] exponential(p)\n}"
    root = ix.hlo.parse(text).entry.root
    # output (a, b, c) row-major; the operand's physical index is (c, a, b)
    assert texts(ix.output_to_input(root, physical_layout=True)) == [
        [spelled("(d0, d1, d2) -> (d2, d0, d1), domain: d0 in [0, 1], d1 in [0, 2], d2 in [0, 3]")]
    ]
    assert texts(ix.input_to_output(root, physical_layout=True)) == [
        [spelled("(d0, d1, d2) -> (d1, d2, d0), domain: d0 in [0, 3], d1 in [0, 1], d2 in [0, 2]")]
    ]


def test_bitcast_map_between_layouts_and_shapes() -> None:
    module = ix.hlo.parse(
        "HloModule m\nENTRY e {\n p = f32[6,4]{0,1} parameter(0)\n ROOT b = f32[4,2,3]{2,1,0} bitcast(p)\n}"
    )
    source, target = module.entry.parameters[0].shape, module.entry.root.shape
    assert str(ix.bitcast_map(source, target)) == spelled(
        "(d0, d1) -> (d1, d0 floordiv 3, d0 mod 3), domain: d0 in [0, 5], d1 in [0, 3]"
    )
    with pytest.raises(ix.IndexingError, match="number of bits"):
        ix.bitcast_map(source, ix.hlo.Shape.array("f32", (5,)))


def test_bitcast_map_of_what_is_no_array_is_an_error() -> None:
    token, array = ix.hlo.Shape("token"), ix.hlo.Shape.array("f32", (1,))
    for shapes in ((token, array), (array, ix.hlo.Shape("tuple", elements=(array,)))):
        with pytest.raises(ix.IndexingError, match="not both arrays"):
            ix.bitcast_map(*shapes)
