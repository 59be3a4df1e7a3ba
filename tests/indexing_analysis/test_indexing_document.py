"""Every example of the document on indexing analysis, worked out from the ops' definitions.

Where the document slips, the definition decides: intervals are inclusive, dot's free dimension of the second operand
comes last, a start index may be as large as size - slice size. Variables of a single value are written as that value.
"""

from __future__ import annotations

import pytest

import indexing as ix
from reached import spelled

MAX = "max { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] maximum(a, b) }\n"
ARGMAX = """argmax { a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  p = pred[] compare(a, b), direction=GE
  m = f32[] select(p, a, b)
  k = s32[] select(p, i, j)
  ROOT t = (f32[], s32[]) tuple(m, k) }
"""

Case = tuple[list[str], str, dict[int, list[str]], dict[int, list[str]]]


def box(**bounds: int) -> str:
    """`d0 in [0, 9]` for d0=9."""
    return ", ".join(f"{name} in [0, {last}]" for name, last in bounds.items())


D2 = box(d0=9, d1=19)
D3 = box(d0=9, d1=19, d2=29)
SLICED = box(d0=0, d1=1, d2=31)
UPDATED = box(d0=19, d1=29)
GATHERED = box(d0=1805, d1=6, d2=7, d3=3)
TURNED = box(d0=0, d1=16, d2=8, d3=8)

# name: operands, instruction, maps of each operand from the output, maps of the outputs from each operand
CASES: dict[str, Case] = {
    "elementwise": (
        ["f32[10,20]", "f32[10,20]"],
        "f32[10,20] add(p0, p1)",
        {0: [f"(d0, d1) -> (d0, d1), domain: {D2}"], 1: [f"(d0, d1) -> (d0, d1), domain: {D2}"]},
        {0: [f"(d0, d1) -> (d0, d1), domain: {D2}"]},
    ),
    "broadcast": (
        ["f32[20]"],
        "f32[10,20,30] broadcast(p0), dimensions={1}",
        {0: [f"(d0, d1, d2) -> (d1), domain: {D3}"]},
        {0: [f"(d0)[s0, s1] -> (s0, d0, s1), domain: {box(d0=19, s0=9, s1=29)}"]},
    ),
    "iota": ([], "f32[2,4] iota(), iota_dimension=1", {}, {0: [f"()[s0, s1] -> (s0, s1), domain: {box(s0=1, s1=3)}"]}),
    "dynamic-slice": (
        ["s32[2,2,258]", "s32[]", "s32[]", "s32[]"],
        "s32[1,2,32] dynamic-slice(p0, p1, p2, p3), dynamic_slice_sizes={1,2,32}",
        {0: [f"(d0, d1, d2){{rt0, rt1}} -> (rt0, d1, d2 + rt1), domain: {SLICED}, {box(rt0=1, rt1=226)}"]}
        | {k: [f"(d0, d1, d2) -> (), domain: {SLICED}"] for k in (1, 2, 3)},
        {},
    ),
    "dynamic-update-slice": (
        ["s32[20,30]", "s32[5,10]", "s32[]", "s32[]"],
        "s32[20,30] dynamic-update-slice(p0, p1, p2, p3)",
        {
            0: [f"(d0, d1) -> (d0, d1), domain: {UPDATED}"],
            1: [
                f"(d0, d1){{rt0, rt1}} -> (d0 - rt0, d1 - rt1), domain: {UPDATED}, {box(rt0=15, rt1=20)}, "
                "d0 - rt0 in [0, 4], d1 - rt1 in [0, 9]"
            ],
        }
        | {k: [f"(d0, d1) -> (), domain: {UPDATED}"] for k in (2, 3)},
        {},
    ),
    "gather": (
        ["f32[33,76,70]", "s32[1806,2]"],
        "f32[1806,7,8,4] gather(p0, p1), offset_dims={1,2,3}, collapsed_slice_dims={}, start_index_map={0,1}, "
        "index_vector_dim=1, slice_sizes={7,8,4}",
        {
            0: [f"(d0, d1, d2, d3){{rt0, rt1}} -> (d1 + rt0, d2 + rt1, d3), domain: {GATHERED}, {box(rt0=26, rt1=68)}"],
            1: [f"(d0, d1, d2, d3)[s0] -> (d0, s0), domain: {GATHERED}, s0 in [0, 1]"],
        },
        {},
    ),
    "transpose": (
        ["f32[3,12288,6,128]"],
        "f32[3,6,128,12288] transpose(p0), dimensions={0,2,3,1}",
        {0: [f"(d0, d1, d2, d3) -> (d0, d3, d1, d2), domain: {box(d0=2, d1=5, d2=127, d3=12287)}"]},
        {0: [f"(d0, d1, d2, d3) -> (d0, d2, d3, d1), domain: {box(d0=2, d1=12287, d2=5, d3=127)}"]},
    ),
    "reverse": (
        ["f32[1,17,9,9]"],
        "f32[1,17,9,9] reverse(p0), dimensions={1,2}",
        {0: [f"(d0, d1, d2, d3) -> (0, -d1 + 16, -d2 + 8, d3), domain: {TURNED}"]},
        {0: [f"(d0, d1, d2, d3) -> (0, -d1 + 16, -d2 + 8, d3), domain: {TURNED}"]},
    ),
    "variadic reduce": (
        ["f32[256,10]", "s32[256,10]", "f32[]", "s32[]"],
        "(f32[10], s32[10]) reduce(p0, p1, p2, p3), dimensions={0}, to_apply=argmax",
        {k: [f"(d0)[s0] -> (s0, d0), domain: {box(d0=9, s0=255)}"] for k in (0, 1)}
        | {k: ["(d0) -> (), domain: d0 in [0, 9]"] for k in (2, 3)},
        {0: [f"(d0, d1) -> (d1), domain: {box(d0=255, d1=9)}"], 2: ["()[s0] -> (s0), domain: s0 in [0, 9]"]},
    ),
    "slice": (
        ["f32[10,20,50]"],
        "f32[5,3,25] slice(p0), slice={[5:10:1], [3:20:7], [0:50:2]}",
        {0: [f"(d0, d1, d2) -> (d0 + 5, d1 * 7 + 3, d2 * 2), domain: {box(d0=4, d1=2, d2=24)}"]},
        {
            0: [
                "(d0, d1, d2) -> (d0 - 5, (d1 - 3) floordiv 7, d2 floordiv 2), domain: d0 in [5, 9], d1 in [3, 17], "
                "d2 in [0, 48], (d1 - 3) mod 7 in [0, 0], d2 mod 2 in [0, 0]"
            ]
        },
    ),
    "collapse": (
        ["f32[4,8]"],
        "f32[32] reshape(p0)",
        {0: ["(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]"]},
        {0: [f"(d0, d1) -> (d0 * 8 + d1), domain: {box(d0=3, d1=7)}"]},
    ),
    "expand": (
        ["f32[32]"],
        "f32[4,8] reshape(p0)",
        {0: [f"(d0, d1) -> (d0 * 8 + d1), domain: {box(d0=3, d1=7)}"]},
        {0: ["(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]"]},
    ),
    "generic reshape": (
        ["f32[4,8]"],
        "f32[2,4,4] reshape(p0)",
        {0: [f"(d0, d1, d2) -> (d0 * 2 + d1 floordiv 2, d2 + (d1 mod 2) * 4), domain: {box(d0=1, d1=3, d2=3)}"]},
        {0: [f"(d0, d1) -> (d0 floordiv 2, d1 floordiv 4 + (d0 mod 2) * 2, d1 mod 4), domain: {box(d0=3, d1=7)}"]},
    ),
    "expanded and collapsed subshapes": (
        ["f32[4,8,12]"],
        "f32[32,3,4] reshape(p0)",
        {0: [f"(d0, d1, d2) -> (d0 floordiv 8, d0 mod 8, d1 * 4 + d2), domain: {box(d0=31, d1=2, d2=3)}"]},
        {0: [f"(d0, d1, d2) -> (d0 * 8 + d1, d2 floordiv 4, d2 mod 4), domain: {box(d0=3, d1=7, d2=11)}"]},
    ),
    "bitcast": (
        ["f32[16,17,3]"],
        "f32[51,16]{0,1} bitcast(p0)",
        {0: [f"(d0, d1) -> (d1, d0 floordiv 3, d0 mod 3), domain: {box(d0=50, d1=15)}"]},
        {0: [f"(d0, d1, d2) -> (d1 * 3 + d2, d0), domain: {box(d0=15, d1=16, d2=2)}"]},
    ),
    "concatenate": (
        ["f32[2,5,7]", "f32[2,11,7]", "f32[2,17,7]"],
        "f32[2,33,7] concatenate(p0, p1, p2), dimensions={1}",
        {
            0: ["(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 1], d1 in [0, 4], d2 in [0, 6]"],
            1: ["(d0, d1, d2) -> (d0, d1 - 5, d2), domain: d0 in [0, 1], d1 in [5, 15], d2 in [0, 6]"],
            2: ["(d0, d1, d2) -> (d0, d1 - 16, d2), domain: d0 in [0, 1], d1 in [16, 32], d2 in [0, 6]"],
        },
        {
            0: [f"(d0, d1, d2) -> (d0, d1, d2), domain: {box(d0=1, d1=4, d2=6)}"],
            1: [f"(d0, d1, d2) -> (d0, d1 + 5, d2), domain: {box(d0=1, d1=10, d2=6)}"],
            2: [f"(d0, d1, d2) -> (d0, d1 + 16, d2), domain: {box(d0=1, d1=16, d2=6)}"],
        },
    ),
    "dot": (
        ["f32[4,128,256]", "f32[4,256,64]"],
        "f32[4,128,64] dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
        "rhs_contracting_dims={1}",
        {
            0: [f"(d0, d1, d2)[s0] -> (d0, d1, s0), domain: {box(d0=3, d1=127, d2=63, s0=255)}"],
            1: [f"(d0, d1, d2)[s0] -> (d0, s0, d2), domain: {box(d0=3, d1=127, d2=63, s0=255)}"],
        },
        {
            0: [f"(d0, d1, d2)[s0] -> (d0, d1, s0), domain: {box(d0=3, d1=127, d2=255, s0=63)}"],
            1: [f"(d0, d1, d2)[s0] -> (d0, s0, d2), domain: {box(d0=3, d1=255, d2=63, s0=127)}"],
        },
    ),
    "pad": (
        ["f32[4,4]", "f32[]"],
        "f32[12,16] pad(p0, p1), padding=1_4_1x4_8_0",
        {
            0: [
                "(d0, d1) -> ((d0 - 1) floordiv 2, d1 - 4), domain: d0 in [1, 7], d1 in [4, 7], (d0 - 1) mod 2 in [0, 0]"
            ],
            1: [f"(d0, d1) -> (), domain: {box(d0=11, d1=15)}"],
        },
        {0: [f"(d0, d1) -> (d0 * 2 + 1, d1 + 4), domain: {box(d0=3, d1=3)}"]},
    ),
    "reduce-window": (
        ["f32[1024,514]", "f32[]"],
        "f32[1024,3] reduce-window(p0, p1), window={size=1x512 pad=0_0x0_0}, to_apply=max",
        {
            0: [f"(d0, d1)[s0] -> (d0, d1 + s0), domain: {box(d0=1023, d1=2, s0=511)}"],
            1: [f"(d0, d1) -> (), domain: {box(d0=1023, d1=2)}"],
        },
        {},
    ),
}


def instruction_of(name: str) -> ix.hlo.Instruction:
    operands, line, _, _ = CASES[name]
    parameters = "\n".join(f"  p{k} = {shape} parameter({k})" for k, shape in enumerate(operands))
    return ix.hlo.parse(f"HloModule m\n{MAX}{ARGMAX}ENTRY e {{\n{parameters}\n  ROOT r = {line}\n}}").entry.root


def simplest(text: str) -> str:
    return str(ix.IndexingMap.parse(spelled(text)).simplify())


@pytest.mark.parametrize("name", CASES)
def test_output_to_input(name: str) -> None:
    indexings = ix.output_to_input(instruction_of(name))
    for k, want in CASES[name][2].items():
        assert [str(m.map) for m in indexings[k]] == [simplest(text) for text in want], f"operand {k}"
    assert len(indexings) == len(CASES[name][0])


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[3]])
def test_input_to_output(name: str) -> None:
    for k, want in CASES[name][3].items():
        indexings = ix.input_to_output(instruction_of(name), k)
        assert [str(m.map) for m in indexings[0]] == [simplest(text) for text in want], f"operand {k}"


def test_runtime_variables_are_read_where_the_document_says() -> None:
    (indexing,) = ix.output_to_input(instruction_of("gather"))[0]
    assert [(v.instruction.name, str(v.map), v.bounds) for v in indexing.runtime_values] == [
        ("p1", spelled(f"(d0, d1, d2, d3) -> (d0, {k}), domain: {GATHERED}"), (0, last))
        for k, last in ((0, 26), (1, 68))
    ]
    (indexing,) = ix.output_to_input(instruction_of("dynamic-slice"))[0]
    assert [(v.instruction.name, v.bounds) for v in indexing.runtime_values] == [("p1", (0, 1)), ("p3", (0, 226))]


def test_reshapes_that_cancel_are_the_identity() -> None:
    text = """HloModule m
    f { p = f32[10,10,10] parameter(0)
      a = f32[50,20] reshape(p)
      ROOT b = f32[10,10,10] reshape(a) }
    ENTRY e { p = f32[10,10,10] parameter(0)
      ROOT r = f32[10,10,10] fusion(p), kind=kLoop, calls=f }"""
    ((indexing,),) = ix.output_to_input(ix.hlo.parse(text).entry.root)
    assert str(indexing.map) == spelled(f"(d0, d1, d2) -> (d0, d1, d2), domain: {box(d0=9, d1=9, d2=9)}")
