"""Elementwise ops: element i of the result needs element i of each operand, or the one element of a scalar operand."""

from __future__ import annotations

import numpy as np
import pytest

import indexing as ix
from reached import check, spelled

FLOAT_UNARY = """abs acos acosh asin asinh atanh cbrt ceil cosine cosh erf exponential exponential-minus-one floor log
log-plus-one logistic negate round-nearest-afz round-nearest-even rsqrt sign sine sinh sqrt tan tanh"""
INTEGER_UNARY = "abs negate not sign popcnt count-leading-zeros"
FLOAT_BINARY = "add subtract multiply divide maximum minimum power remainder atan2"
INTEGER_BINARY = """add subtract multiply mulhi divide maximum minimum remainder and or xor shift-left shift-right-arithmetic
shift-right-logical"""

LINES: dict[str, tuple[str, list[str]]] = {
    **{f"{op} of floats": (f"f32[2,3] {op}(p0)", ["f32[2,3]"]) for op in FLOAT_UNARY.split()},
    **{f"{op} of integers": (f"s32[2,3] {op}(p0)", ["s32[2,3]"]) for op in INTEGER_UNARY.split()},
    **{f"{op} of two floats": (f"f32[2,3] {op}(p0, p1)", ["f32[2,3]"] * 2) for op in FLOAT_BINARY.split()},
    **{f"{op} of two integers": (f"s32[2,3] {op}(p0, p1)", ["s32[2,3]"] * 2) for op in INTEGER_BINARY.split()},
    "compare": ("pred[2,3] compare(p0, p1), direction=LT", ["f32[2,3]", "f32[2,3]"]),
    "complex": ("c64[2,3] complex(p0, p1)", ["f32[2,3]", "f32[2,3]"]),
    "real": ("f32[2,3] real(p0)", ["c64[2,3]"]),
    "imag": ("f32[2,3] imag(p0)", ["c64[2,3]"]),
    "is-finite": ("pred[2,3] is-finite(p0)", ["f32[2,3]"]),
    "convert": ("s32[2,3] convert(p0)", ["f32[2,3]"]),
    "bitcast-convert": ("s32[2,3] bitcast-convert(p0)", ["f32[2,3]"]),
    "reduce-precision": ("f32[2,3] reduce-precision(p0), exponent_bits=8, mantissa_bits=10", ["f32[2,3]"]),
    "stochastic-convert": ("s32[2,3] stochastic-convert(p0, p1)", ["f32[2,3]", "u32[2,3]"]),
    "select": ("f32[2,3] select(p0, p1, p2)", ["pred[2,3]", "f32[2,3]", "f32[2,3]"]),
    "clamp": ("f32[2,3] clamp(p0, p1, p2)", ["f32[2,3]", "f32[2,3]", "f32[2,3]"]),
}
BOX = "d0 in [0, 1], d1 in [0, 2]"


def program(line: str, operands: list[str]) -> str:
    lines = "\n".join(f"  p{k} = {shape} parameter({k})" for k, shape in enumerate(operands))
    return f"HloModule m\nENTRY e {{\n{lines}\n  ROOT r = {line}\n}}\n"


@pytest.mark.parametrize("name", LINES)
def test_an_element_needs_its_own_elements(name: str) -> None:
    line, operands = LINES[name]
    root = check(program(line, operands), only_bounds=range(len(operands)))  # rounding hides some changes
    same = spelled(f"(d0, d1) -> (d0, d1), domain: {BOX}")
    for k, maps in enumerate(ix.output_to_input(root)):
        assert [(str(m.map), m.exactness) for m in maps] == [(same, "exact")]
        assert [str(m.map) for m in ix.input_to_output(root, k)[0]] == [same]


@pytest.mark.parametrize("name", ["add of two integers", "subtract of two floats", "complex", "bitcast-convert"])
def test_what_shows_every_change_is_named_exactly(name: str) -> None:
    check(program(*LINES[name]))


@pytest.mark.parametrize("shape", ["f32[]", "f32[0]", "f32[3,0,2]"])
def test_scalars_and_nothing(shape: str) -> None:
    check(program(f"{shape} add(p0, p1)", [shape, shape]))


def test_a_scalar_predicate_decides_over_every_element() -> None:
    text = program("s32[2,3] select(p0, p1, p2)", ["pred[]", "s32[2,3]", "s32[2,3]"])
    ids = np.arange(6).reshape(2, 3)
    root = check(text, [np.array(True), ids, ids + 6], only_bounds=[1, 2])
    assert str(ix.output_to_input(root)[0][0].map) == spelled(f"(d0, d1) -> (), domain: {BOX}")
    assert str(ix.input_to_output(root, 0)[0][0].map) == spelled(
        "()[s0, s1] -> (s0, s1), domain: s0 in [0, 1], s1 in [0, 2]"
    )


def test_scalar_bounds_clamp_every_element() -> None:
    text = program("s32[2,3] clamp(p0, p1, p2)", ["s32[]", "s32[2,3]", "s32[]"])
    root = check(text, [np.int32(2), np.arange(6).reshape(2, 3), np.int32(4)], only_bounds=[0, 1, 2])
    assert str(ix.output_to_input(root)[2][0].map) == spelled(f"(d0, d1) -> (), domain: {BOX}")


@pytest.mark.parametrize(
    ("line", "operand"),
    [
        ("s8[2,3,4] bitcast-convert(p0)", "s32[2,3]"),
        ("s32[2,3] bitcast-convert(p0)", "s8[2,3,4]"),
        ("u16[5,4] bitcast-convert(p0)", "f64[5]"),
        ("f64[5] bitcast-convert(p0)", "u16[5,4]"),
    ],
)
def test_a_bitcast_convert_to_another_width_has_one_dimension_more_or_less(line: str, operand: str) -> None:
    root = check(program(line, [operand]), only_bounds=[0])
    ((m,),) = ix.output_to_input(root)
    assert m.exactness == "exact"
    assert len(m.map.results) == len(root.operands[0].shape.dimensions)
