"""The numpy reference of the elementwise ops, against values worked out from HLO's definitions."""

import math

import ml_dtypes
import numpy as np
import pytest

import indexing as ix
from indexing.ops.element_types import ELEMENT_TYPES


def run(opcode: str, arrays: list[np.ndarray], result: str, attributes: str = "") -> np.ndarray:
    names = {k.dtype: k.name for k in ELEMENT_TYPES.values()}
    parameters = [f"  p{k} = {names[a.dtype]}[{a.size}] parameter({k})\n" for k, a in enumerate(arrays)]
    operands = ", ".join(f"p{k}" for k in range(len(arrays)))
    text = f"f {{\n{''.join(parameters)}  ROOT r = {result}[{arrays[0].size}] {opcode}({operands}){attributes}\n}}"
    out = ix.evaluate(text, *arrays)
    assert isinstance(out, np.ndarray)
    return out


def _high_products(kind: str) -> list[tuple[int, int, int]]:
    """Pairs of numbers at the ends of halves and of the type, and the product divided by 2**bits, rounded down."""
    bits = ELEMENT_TYPES[kind].bits
    top = 2 ** (bits - 1)
    ends = (top - 1, -top, -1) if kind[0] == "s" else (2 * top - 1, top, top + 1)
    numbers = (0, 1, 2, 2 ** (bits // 2) - 1, *ends)
    return [(a, b, a * b >> bits) for a in numbers for b in numbers]


@pytest.mark.parametrize(
    ("opcode", "kind", "rows"),
    [
        ("divide", "s32", [(7, 2, 3), (-7, 2, -3), (7, -2, -3), (5, 0, -1), (-(2**31), -1, -(2**31)), (0, 0, -1)]),
        ("divide", "u8", [(7, 2, 3), (5, 0, 255), (255, 16, 15)]),
        ("divide", "s64", [(-(2**63), -1, -(2**63)), (-(2**63), 2, -(2**62)), (9, -4, -2)]),
        ("remainder", "s32", [(7, 3, 1), (-7, 3, -1), (7, -3, 1), (5, 0, 5), (-(2**31), -1, 0)]),
        ("remainder", "u64", [(2**64 - 1, 10, 5), (3, 0, 3)]),
        ("add", "s8", [(127, 1, -128), (-128, -1, 127)]),
        ("multiply", "u16", [(65535, 65535, 1), (256, 256, 0)]),
        ("multiply", "s4", [(7, 7, 1), (-8, -1, -8)]),
        ("power", "s32", [(3, 4, 81), (2, 31, -(2**31)), (2, -1, 0), (1, -5, 1), (-1, -3, -1), (0, 0, 1), (0, -1, 0)]),
        ("shift-left", "s32", [(1, 31, -(2**31)), (1, 32, 0), (1, -1, 0), (3, 1, 6)]),
        ("shift-right-logical", "s8", [(-1, 1, 127), (-1, 8, 0), (-128, 7, 1)]),
        ("shift-right-arithmetic", "s8", [(-128, 7, -1), (-128, 100, -1), (64, 100, 0), (-5, 1, -3)]),
        ("shift-right-arithmetic", "u8", [(128, 7, 255), (127, 9, 0)]),
        ("maximum", "u64", [(2**64 - 1, 1, 2**64 - 1)]),
        *(("mulhi", kind, _high_products(kind)) for kind in ("s4", "u8", "s16", "s32", "u32", "s64", "u64")),
    ],
)
def test_integer_pairs(opcode: str, kind: str, rows: list[tuple[int, int, int]]) -> None:
    dtype = ELEMENT_TYPES[kind].dtype
    a, b, want = (
        np.array(column, object).astype(np.uint64 if kind[0] == "u" else np.int64) for column in zip(*rows, strict=True)
    )
    got = run(opcode, [a.astype(np.int8).astype(dtype) if kind == "s4" else a.astype(dtype), b.astype(dtype)], kind)
    assert [int(x) for x in got] == [int(x) for x in want]


@pytest.mark.parametrize(
    ("opcode", "kind", "rows"),
    [
        ("popcnt", "s32", [(-1, 32), (0, 0), (5, 2)]),
        ("popcnt", "s4", [(-1, 4), (-8, 1)]),
        ("count-leading-zeros", "u16", [(0, 16), (1, 15), (65535, 0)]),
        ("count-leading-zeros", "s64", [(0, 64), (-1, 0), (1, 63)]),
        ("abs", "s8", [(-128, -128), (-5, 5)]),
        ("negate", "u8", [(1, 255), (0, 0)]),
        ("sign", "s16", [(-300, -1), (0, 0), (300, 1)]),
        ("not", "u4", [(0, 15), (5, 10)]),
    ],
)
def test_single_integers(opcode: str, kind: str, rows: list[tuple[int, int]]) -> None:
    a, want = (list(column) for column in zip(*rows, strict=True))
    got = run(opcode, [np.array(a).astype(ELEMENT_TYPES[kind].dtype)], kind)
    assert [int(x) for x in got] == [x if kind != "s4" or x < 8 else x - 16 for x in want]


@pytest.mark.parametrize(
    ("source", "target", "rows"),
    [
        ("f32", "s8", [(300.0, 127), (-300.0, -128), (math.nan, 0), (1.9, 1), (-1.9, -1), (math.inf, 127)]),
        ("f32", "u32", [(-1.0, 0), (5e9, 2**32 - 1), (3.5, 3)]),
        ("f64", "s64", [(1e30, 2**63 - 1), (-1e30, -(2**63)), (-2.5, -2)]),
        ("f32", "s4", [(9.0, 7), (-9.0, -8)]),
        ("s32", "s8", [(300, 44), (-129, 127)]),
        ("u8", "s8", [(255, -1)]),
        ("s32", "pred", [(0, False), (-7, True)]),
        ("f32", "pred", [(0.5, True), (-0.0, False), (math.nan, True)]),
        ("pred", "f32", [(True, 1.0), (False, 0.0)]),
        ("s64", "f32", [(2**24 + 1, 16777216.0), (2**24 + 3, 16777220.0)]),
        ("c64", "f32", [(3 + 4j, 3.0)]),
    ],
)
def test_conversions(source: str, target: str, rows: list[tuple[complex, float]]) -> None:
    a, want = (list(column) for column in zip(*rows, strict=True))
    got = run("convert", [np.array(a, ELEMENT_TYPES[source].dtype)], target)
    assert got.dtype == ELEMENT_TYPES[target].dtype
    assert [x.item() if target[0] != "s" or target != "s4" else int(x) for x in got] == want


def test_extrema_propagate_nan_and_order_zeros() -> None:
    a = np.array([math.nan, 1, -0.0, 0.0], np.float32)
    b = np.array([1, math.nan, 0.0, -0.0], np.float32)
    high, low = run("maximum", [a, b], "f32"), run("minimum", [a, b], "f32")
    assert np.isnan(high[:2]).all() and np.isnan(low[:2]).all()
    assert not np.signbit(high[2:]).any() and np.signbit(low[2:]).all()


def test_total_order_compares_bits() -> None:
    order = np.array([-math.inf, -1, -0.0, 0.0, 1, math.inf, math.nan], np.float32)
    assert run("compare", [order[:-1], order[1:]], "pred", ", direction=LT, type=TOTALORDER").all()
    assert list(run("compare", [order[2:3], order[3:4]], "pred", ", direction=LT")) == [False]


def test_rounding_to_integers() -> None:
    a = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997], np.float32)
    assert list(run("round-nearest-even", [a], "f32")) == [0, 2, 2, 0, -2, 0]
    assert list(run("round-nearest-afz", [a], "f32")) == [1, 2, 3, -1, -2, 0]


def test_reduce_precision_to_half() -> None:
    a = np.array([1.0001, 65504.0, 65520.0, 1e-8, -1e-8, math.nan], np.float32)
    got = run("reduce-precision", [a], "f32", ", exponent_bits=5, mantissa_bits=10")
    assert list(got[:4]) == [1.0, 65504.0, math.inf, 0.0]
    assert np.signbit(got[4]) and got[4] == 0 and np.isnan(got[5])


def test_stochastic_convert_rounds_by_the_noise() -> None:
    a = np.array([1.25, 1.25, -1.25, -1.25, 200.0], np.float32)
    noise = np.array([2**30 - 1, 2**30, 2**30 - 1, 2**30, 0], np.uint32)
    assert [int(x) for x in run("stochastic-convert", [a, noise], "s8")] == [2, 1, -2, -1, 127]


def test_narrow_floats_round_after_each_operation() -> None:
    a = np.array([256.0, 1.0], ml_dtypes.bfloat16)
    b = np.array([1.0, 2.0**-9], ml_dtypes.bfloat16)
    assert [float(x) for x in run("add", [a, b], "bf16")] == [256.0, 1.0]


def test_bits_split_with_the_lowest_first() -> None:
    text = "f {\n  a = u32[2] parameter(0)\n  ROOT r = u8[2,4] bitcast-convert(a)\n}"
    got = ix.evaluate(text, np.array([0x04030201, 0xFF], np.uint32))
    assert np.array_equal(got, [[1, 2, 3, 4], [255, 0, 0, 0]])


@pytest.mark.parametrize(
    ("text", "maps"),
    [
        ("f { a = f32[3,4] parameter(0) ROOT r = f32[3,4] negate(a) }", ["(d0, d1) -> (d0, d1)"]),
        (
            "f { p = pred[] parameter(0) a = f32[5] parameter(1) ROOT r = f32[5] select(p, a, a) }",
            ["(d0) -> ()", "(d0) -> (d0)", "(d0) -> (d0)"],
        ),
        ("f { a = u32[5] parameter(0) ROOT r = u8[5,4] bitcast-convert(a) }", ["(d0, d1) -> (d0)"]),
        ("f { a = u8[5,4] parameter(0) ROOT r = u32[5] bitcast-convert(a) }", ["(d0)[s0] -> (d0, s0)"]),
    ],
)
def test_maps(text: str, maps: list[str]) -> None:
    indexings = ix.output_to_input(ix.hlo.parse(text.replace(") ", ")\n").replace("{ ", "{\n")).entry.root)
    assert [str(operand[0].map).split(", domain")[0] for operand in indexings] == maps


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("a = c64[4] parameter(0)\n  ROOT r = c64[4] maximum(a, a)", "maximum is not defined on c64"),
    ],
)
def test_a_meaningless_type_is_refused(body: str, what: str) -> None:
    with pytest.raises(ix.IndexingError, match=what):
        ix.emit(ix.hlo.parse(f"f {{\n  {body}\n}}").entry)
