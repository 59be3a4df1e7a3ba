"""Literals of constants as numpy arrays: every element type, every nesting, all that is wrong with them."""

import math
import re
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indexing as ix

FLOATS = [t for t in ix.hlo.DTYPES if t.startswith(("f", "bf"))]
INTEGERS = {t: int(t[1:]) for t in ix.hlo.DTYPES if t[0] in "su"}


def literal(shape: str, text: str):
    module = ix.hlo.parse(f"ENTRY e {{ c = {shape} constant({text}) }}")
    again = ix.hlo.parse(str(module))
    a, b = module.entry.root.literal, again.entry.root.literal
    assert repr(a) == repr(b)
    return a


def check(shape: str, text: str, expected) -> None:
    values = literal(shape, text)
    want = np.asarray(expected, ix.hlo.DTYPES[shape.split("[")[0]])
    assert values.dtype == want.dtype and values.shape == want.shape
    assert values.tobytes() == want.tobytes()


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_at_both_ends_of_their_range(name: str) -> None:
    bits = INTEGERS[name]
    lower, upper = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if name[0] == "s" else (0, 2**bits - 1)
    check(f"{name}[3]", f"{{{lower}, {upper}, -0}}", [lower, upper, 0])
    if bits == 64:  # numbers of the other sign's type stand for the same bits, as in XLA
        check(
            f"{name}[2]",
            f"{{{-(2**63)}, {2**64 - 1}}}",
            np.array([2**63, 2**64 - 1], np.uint64).astype(ix.hlo.DTYPES[name]),
        )
        lower, upper = -(2**63), 2**64 - 1
    for beyond in (lower - 1, upper + 1, 10**40):
        with pytest.raises(ix.ParseError, match=f"is no value of {name}"):
            literal(f"{name}[]", str(beyond))
    for word in ("nan", "inf", "1.5", "(1, 2)", "true", "false"):
        with pytest.raises(ix.ParseError):
            literal(f"{name}[]", word)


def test_booleans() -> None:
    check("pred[2,2]", "{ { 1, 0 }, { false, true } }", [[True, False], [False, True]])
    check("pred[]", "true", True)
    check("pred[]", "2", True)  # as XLA reads it
    with pytest.raises(ix.ParseError, match=r"0\.5 is no value of pred"):
        literal("pred[]", "0.5")


@pytest.mark.parametrize("name", FLOATS)
def test_every_code_of_the_narrow_floats_is_read_from_its_decimal_form(name: str) -> None:
    dtype = ix.hlo.DTYPES[name]
    bits = int(re.findall(r"\d+", name)[0])
    if bits > 16:
        return
    codes = np.arange(0, 2**bits, 17 if bits == 16 else 1, dtype=np.uint16 if bits == 16 else np.uint8)
    with np.errstate(invalid="ignore"):
        values = codes.view(dtype).astype(np.float64)
    finite = np.isfinite(values)
    text = "{" + ", ".join(repr(float(v)) for v in values[finite]) + "}"
    actual = literal(f"{name}[{finite.sum()}]", text)
    assert actual.tobytes() == codes[finite].tobytes()


@pytest.mark.parametrize("name", [t for t in FLOATS if t not in ("f8e8m0fnu", "f64")])
@given(st.floats(-500, 500), st.sampled_from([1.0, 1e-3, 1e-6]))
@settings(max_examples=60)
def test_floats_are_rounded_to_nearest_ties_to_even(name: str, value: float, scale: float) -> None:
    """Against exact fractions: no code of the type is nearer to the number."""
    dtype = ix.hlo.DTYPES[name]
    value *= scale
    largest = float(ml_dtypes.finfo(dtype).max)
    if abs(value) > largest:
        return
    got = literal(f"{name}[]", repr(value))[()]
    exact, near = Fraction(value), float(got)
    up, down = (np.nextafter(np.array(got, dtype), np.array(s, dtype)) for s in (largest, -largest))
    for neighbour in (float(up), float(down)):
        assert abs(exact - Fraction(near)) <= abs(exact - Fraction(neighbour)), (value, near, neighbour)


def test_double_rounding_does_not_happen() -> None:
    # just above the middle of 1 and 1 + 2^-7: through float32 it would be taken for the middle and go to even, 1
    value = 1 + 2.0**-8 + 2.0**-40
    assert float(literal("bf16[]", repr(value))) == 1 + 2.0**-7
    assert float(literal("bf16[]", repr(1 + 2.0**-8))) == 1.0


def test_infinities_and_payloads() -> None:
    actual = literal("f32[7]", "{inf, -inf, nan, -nan, nan(0x1), -nan(0x400001), -0}").view(np.uint32)
    assert [hex(v) for v in actual] == [
        "0x7f800000", "0xff800000", "0x7fc00000", "0xffc00000", "0x7f800001", "0xffc00001", "0x80000000",
    ]  # fmt: skip
    assert literal("bf16[2]", "{nan, -inf}").view(np.uint16).tolist() == [0x7FC0, 0xFF80]
    assert literal("f8e5m2[3]", "{nan, inf, -nan(0x3)}").view(np.uint8).tolist() == [0x7E, 0x7C, 0xFF]
    assert literal("f8e4m3fn[2]", "{nan, -nan}").view(np.uint8).tolist() == [0x7F, 0xFF]
    assert literal("f8e4m3fnuz[2]", "{nan, -0}").view(np.uint8).tolist() == [0x80, 0x00]
    assert literal("f8e8m0fnu[3]", "{nan, 1, 0.5}").view(np.uint8).tolist() == [0xFF, 127, 126]
    for shape, text in [
        ("f8e4m3fn[]", "inf"), ("f8e4m3fn[]", "465"), ("f4e2m1fn[]", "nan"), ("f4e2m1fn[]", "7.5"), ("f16[]", "65520"),
        ("f32[]", "1e39"), ("f8e8m0fnu[]", "3"), ("f8e8m0fnu[]", "-1"), ("f32[]", "nan(0x800000)"), ("f32[]", "nan(1)"),
        ("f32[]", "nan(0x0)"), ("f8e4m3fn[]", "nan(0x1)"), ("f8e5m2fnuz[]", "nan(0x1)"), ("f8e8m0fnu[]", "nan(0x1)"),
        ("f64[]", "1e309"), ("f32[]", "-1e309"), ("f32[]", "1.2.3"), ("f32[]", "1e"), ("f32[]", "--1"), ("f32[]", "-true"), ("f32[]", "abc"),
    ]:  # fmt: skip
        with pytest.raises(ix.ParseError):
            literal(shape, text)
    assert float(literal("f4e2m1fn[]", "6.9")) == 6.0 and float(literal("f16[]", "65519")) == 65504.0


def test_decimal_forms() -> None:
    check(
        "f64[6]", "{1, 1., .5, 1e3, -2.5E-1, 1.7976931348623157e308}", [1, 1, 0.5, 1000, -0.25, 1.7976931348623157e308]
    )
    check("f64[2]", "{5e-324, 123456789012345678901234567890}", [5e-324, 123456789012345678901234567890.0])
    check("f32[]", "-1.99999988", np.float32(-1.99999988))


def test_complex_numbers() -> None:
    check("c64[2]", "{(1, -2.5), (inf, 0)}", [1 - 2.5j, complex(math.inf, 0)])
    check("c128[]", "(0.1, 1e-9)", complex(0.1, 1e-9))
    with pytest.raises(ix.ParseError, match="of a complex number"):
        ix.hlo.parse("ENTRY e { ROOT c = c64[] constant(3) }")
    check("c128[1,1]", "{ { (nan, 1) } }", [[complex(math.nan, 1)]])


def test_nesting_comments_and_empty_arrays() -> None:
    check("s32[2,3]", "{ { 1, 2, 3 }, /*i0=1*/ { 4, 5, 6 } }", [[1, 2, 3], [4, 5, 6]])
    check("s32[2,1,2]{2,1,0}", "{ /*i0=0*/ { { 1, 2 } }, /*i0=1*/\n { { 3, 4 } } }", [[[1, 2]], [[3, 4]]])
    check("s32[2,2]{0,1}", "{{1,2},{3,4}}", [[1, 2], [3, 4]])  # row-major whatever the layout
    check("f32[0]", "{}", np.zeros((0,)))
    check("f32[2,0]", "{ {}, {} }", np.zeros((2, 0)))
    check("f32[0,3]", "{ }", np.zeros((0, 3)))
    check("s32[2]", "s32[2]{0} {7, 8}", [7, 8])  # older texts repeat the shape
    check("s32[2]", "s32[2] {7, 8}", [7, 8])


def test_one_number_stands_for_all() -> None:
    values = literal("bf16[17,22]", "1")
    assert values.shape == (17, 22) and (values == 1).all()
    assert literal("s8[1000000,1000000]", "3")[5, 7] == 3  # takes no memory


def test_tuples_and_tokens() -> None:
    a, (b, c), d = literal("(s32[], (f32[2], pred[]), token[])", "(1, ( {1, 2}, true ), token)")
    assert a == 1 and b.tolist() == [1, 2] and c and d is None
    assert literal("()", "()") == ()
    with pytest.raises(ix.ParseError):
        literal("(s32[], s32[])", "(1)")


def test_literals_are_read_only() -> None:
    values = literal("s32[2]", "{1, 2}")
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 3
    constant = ix.hlo.parse("ENTRY e { c = s32[2] constant({1, 2}) }").entry.root
    assert constant.literal is constant.literal


def test_elided_literals_fail_when_they_are_used() -> None:
    module = ix.hlo.parse("ENTRY e { a = f32[100,2] constant({...}) ROOT b = f32[100,2] negate(a) }")
    assert "constant({...})" in str(module)
    with pytest.raises(ix.UnsupportedOp, match="elements of constant a, f32\\[100,2\\]"):
        _ = module.entry.instructions["a"].literal
    with pytest.raises(ix.UnsupportedOp, match="not a constant"):
        _ = module.entry.root.literal


@pytest.mark.parametrize(
    ("shape", "text", "at", "message"),
    [
        ("s32[2]", "{1}", 2, "expected 2 elements in dimension 0, 1 are given"),
        ("s32[2]", "{1, 2, 3}", 7, "after 2 elements of dimension 0"),
        ("s32[2,2]", "{1, 2}", 1, "2 nested braces"),
        ("s32[2,2]", "{ {1, 2}, {3} }", 12, "2 elements in dimension 1"),
        ("s32[2,2]", "{ {1, 2} }", 9, "2 elements in dimension 0"),
        ("s32[2]", "{1 2}", 3, "',' or '}'"),
        ("s32[2]", "{1,, 2}", 3, "a number"),
        ("s32[2]", "{1, 2,}", 6, "an element behind ','"),
        ("s32[2]", "{,1, 2}", 1, "a number"),
        ("s32[]", "{1}", 0, "a number"),
        ("s32[2]", "{{1, 2}}", 1, "a number"),
        ("s32[]", "", 0, "a number"),
        ("s32[]", "1, 2", 1, "')'"),
        ("f32[2]", "{...", 4, "'}'"),
    ],
)
def test_what_is_wrong_with_a_literal_is_pointed_at(shape: str, text: str, at: int, message: str) -> None:
    with pytest.raises(ix.ParseError) as caught:
        literal(shape, text)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.column) == (1, len(f"ENTRY e {{ c = {shape} constant(") + at + 1)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_arrays_of_any_shape_come_back(sizes: list[int], random) -> None:
    values = np.array([random.randint(-(2**31), 2**31 - 1) for _ in range(math.prod(sizes))], np.int32).reshape(sizes)
    text = str(values.tolist()).replace("[", "{ ").replace("]", " }")
    check(f"s32[{','.join(map(str, sizes))}]", text, values)
