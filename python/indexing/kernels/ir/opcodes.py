"""The operations of `nodes.Op`, by name: their arity, the kinds of their operands' types, and their meaning.

Semantics are those of HLO's elementwise ops on the type: integers wrap; division by zero gives -1 (all ones if unsigned) and
the remainder its dividend; shifts by the width or more give 0, arithmetic ones the sign; extrema propagate NaN and order -0
below +0; float to integer saturates, NaN gives 0. Floats follow IEEE 754, are not reordered, and are contracted in `mul_add`
only; on CUDA, f32 may be contracted, and divisions and roots have errors of up to 2 and 1 units in the last place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["pred", "integer", "float", "complex"]

INTEGER: frozenset[Kind] = frozenset({"integer"})
REAL: frozenset[Kind] = frozenset({"integer", "float"})
FLOAT: frozenset[Kind] = frozenset({"float"})
ANALYTIC: frozenset[Kind] = frozenset({"float", "complex"})
NUMBER: frozenset[Kind] = frozenset({"integer", "float", "complex"})
BITS: frozenset[Kind] = frozenset({"pred", "integer"})
ANY: frozenset[Kind] = frozenset({"pred", "integer", "float", "complex"})

Result: TypeAlias = Literal["same", "pred", "given", "real", "bits"]


@dataclass(frozen=True, slots=True)
class Opcode:
    """One operation. `result` is the operands' common type, `pred`, the real type of a complex one, the signed integer of a
    float's width (`bits`), or the type stated by the Op (`given`, for conversions and the like).
    """

    name: str
    arity: int
    kinds: frozenset[Kind]
    result: Result
    meaning: str


def _same(kinds: frozenset[Kind], arity: int, names: str, meaning: str = "") -> list[Opcode]:
    return [Opcode(name, arity, kinds, "same", meaning or f"{name} of the operands") for name in names.split()]


_TABLE = [
    *_same(NUMBER, 2, "add sub mul div"),
    *_same(REAL, 2, "rem", "the remainder of truncating division, of the dividend's sign"),
    *_same(NUMBER, 2, "pow"),
    *_same(REAL, 2, "maximum minimum"),
    *_same(NUMBER, 1, "neg sign"),
    Opcode("abs", 1, NUMBER, "real", "the magnitude; of a complex number its real modulus"),
    *_same(FLOAT, 3, "mul_add", "mul_add(a, b, c) = a * b + c, rounded once or twice"),
    *_same(INTEGER, 3, "clamp", "clamp(low, x, high) = min(max(x, low), high)"),
    *_same(BITS, 2, "and or xor"),
    *_same(BITS, 1, "not"),
    *_same(INTEGER, 2, "shl shr_logical shr_arithmetic"),
    *_same(INTEGER, 1, "popcount clz"),
    *[
        Opcode(n, 2, ANY if n in ("eq", "ne") else REAL | {"pred"}, "pred", f"a {n} b")
        for n in "eq ne lt le gt ge".split()
    ],
    Opcode(
        "select", 3, ANY, "given", "select(predicate, a, b): a where the predicate holds, else b; both are computed"
    ),
    *_same(ANALYTIC, 1, "exp expm1 log log1p logistic sin cos tan sinh cosh tanh sqrt rsqrt cbrt"),
    *_same(
        FLOAT,
        1,
        "exp_narrow",
        "exp with a relative error of up to 3e-6 on CUDA: its result is rounded to a narrow float",
    ),
    *_same(FLOAT, 1, "acos acosh asin asinh atan atanh erf ceil floor trunc round_even round_away"),
    *_same(ANALYTIC, 2, "atan2"),
    *_same(FLOAT, 2, "copysign"),
    Opcode("is_finite", 1, FLOAT, "pred", "neither infinite nor NaN"),
    Opcode("complex", 2, FLOAT, "given", "complex(re, im)"),
    Opcode("real", 1, frozenset({"complex"}), "real", "the real part"),
    Opcode("imag", 1, frozenset({"complex"}), "real", "the imaginary part"),
    Opcode(
        "total_order", 1, FLOAT, "bits", "an integer that orders floats totally: -NaN, -inf, ..., -0, +0, ..., inf, NaN"
    ),
    Opcode("convert", 1, ANY, "given", "the same number in another type, as HLO's convert"),
    Opcode("bits", 1, FLOAT, "given", "the bits of a float as an unsigned integer of its width"),
    Opcode("from_bits", 1, INTEGER, "given", "the float that has these bits"),
    Opcode("encode", 1, FLOAT, "given", "the bits of `format` (a float below f32) nearest to an f32, halves to even"),
    Opcode("decode", 1, INTEGER, "given", "the f32 that bits of `format` stand for"),
    Opcode(
        "exact_bits",
        1,
        FLOAT,
        "given",
        "encode without rounding: the operand is a number of `format`, a NaN keeps its bits",
    ),
    Opcode("round", 1, FLOAT, "same", "decode(encode(x)) in `format`, which the pass `narrow-floats` makes of it"),
    Opcode("pack", 2, INTEGER, "given", "the word whose low half are the bits a, and whose high half are the bits b"),
    Opcode("unpack_low", 1, INTEGER, "given", "the low half of a word"),
    Opcode("unpack_high", 1, INTEGER, "given", "the high half of a word"),
    Opcode("packed_encode", 2, FLOAT, "given", "pack(encode(a), encode(b)) in `format`, bf16 or f16"),
    *_same(
        INTEGER, 2, "packed_add packed_sub packed_mul", "of both halves of words as numbers of `format`, rounded to it"
    ),
    *_same(INTEGER, 2, "packed_maximum packed_minimum", "of both halves of words as numbers of `format`"),
    *_same(INTEGER, 1, "packed_neg packed_abs", "of both halves of a word as numbers of `format`"),
    Opcode(
        "wrap",
        1,
        INTEGER,
        "same",
        "the low bits of an integer, as many as `format` (s2, u2, s4, u4) has, sign-extended if signed",
    ),
    Opcode("saturate", 1, FLOAT, "given", "a float truncated into the range of the integer type `format`, NaN as 0"),
    Opcode(
        "reduce_precision",
        3,
        FLOAT,
        "same",
        "reduce_precision(x, exponent bits, mantissa bits) of the float type `format`",
    ),
]

OPCODES: dict[str, Opcode] = {op.name: op for op in _TABLE}

#: Opcodes of native atomic updates, of integers and of floating-point numbers.
ATOMIC_UPDATES = frozenset({"add", "maximum", "minimum", "and", "or", "xor"})
ATOMIC_FLOATS = frozenset({"add", "maximum", "minimum"})

#: Opcodes that targets write as an operator, or as a few.
OPERATORS = frozenset(
    "add sub mul div maximum minimum neg sign abs mul_add clamp and or xor not shl shr_logical shr_arithmetic eq ne lt le gt "
    "ge select copysign is_finite complex real imag convert saturate bits from_bits sqrt ceil floor trunc round_even".split()
)
