"""Library functions on floats: bits of every type (encode, decode), rounding to narrow formats, extrema, precision, order.

They have no branches, so that compilers can vectorize them.
"""

from __future__ import annotations

from collections.abc import Iterator

from indexing.kernels.targets.library import Definition, function
from indexing.ops.element_types import ELEMENT_TYPES, FloatFormat
from indexing.ops.elementwise.conversion import FLOAT_FORMATS


def _encode_narrow(name: str, f: FloatFormat) -> Definition:
    """The function that rounds f32 to a format: normal numbers by integer arithmetic; smaller ones by adding a power of two
    whose last bit is the format's smallest step, so that the hardware rounds.
    """
    dropped = 23 - f.mantissa
    smallest_normal = (127 + 1 - f.bias) << 23
    step = 24 - f.bias - f.mantissa
    sign_bit = f.exponent + f.mantissa
    nan, overflow, own = f"{f.nan or 0:#x} | sign", f"{f.infinity or f.nan or 0:#x} | sign", "code | sign"
    if f.nan is None:  # the largest number stands for what is beyond it, minus zero for NaN
        nan, overflow = f"{1 << sign_bit:#x}", f"{f.largest:#x} | sign"
    elif f.nan == 1 << sign_bit:
        nan, overflow, own = f"{f.nan:#x}", f"{f.nan:#x}", "code == 0 ? 0 : code | sign"
    result = f"magnitude > 0x7f800000u ? {nan} : code > {f.largest:#x}u ? {overflow} : {own}"
    if nan == overflow == f"{f.largest + 1:#x} | sign":  # the code of NaN is larger than any
        result = f"(code < {f.nan:#x}u ? code : {f.nan:#x}u) | sign"
    return function(
        f"encode_{name}",
        f"""\
u8 encode_{name}(f32 x) {{
  u32 bits = bits_f32(x), sign = bits >> 31 << {sign_bit}, magnitude = bits & 0x7fffffffu;
  u32 rounded = (magnitude + {(1 << (dropped - 1)) - 1:#x}u + (magnitude >> {dropped} & 1)) >> {dropped};
  u32 below = bits_f32(float_f32(magnitude) + {2.0**step!r}f) - {(127 + step) << 23:#x}u;
  u32 code = magnitude < {smallest_normal:#x}u ? below : rounded - {(127 - f.bias) << f.mantissa:#x}u;
  return (u8)({result});
}}""",
        "u8 f32 u32 bits_f32 float_f32",
    )


def _decode_narrow(name: str, f: FloatFormat) -> Definition:
    sign_bit = f.exponent + f.mantissa
    sign, mask = 1 << sign_bit, (1 << sign_bit) - 1
    value = f"bits | (u32)(code & {sign:#x}) << {31 - sign_bit}"
    if f.nan == sign:
        value = f"code == {f.nan:#x} ? 0x7fc00000u : {value}"
    elif f.infinity is not None:
        value = f"magnitude > {f.infinity:#x}u ? 0x7fc00000u : {value}"
    elif f.nan is not None:
        value = f"magnitude == {f.nan:#x}u ? 0x7fc00000u : {value}"
    infinite = "" if f.infinity is None else f"  bits = magnitude == {f.infinity:#x}u ? 0x7f800000u : bits;\n"
    return function(
        f"decode_{name}",
        f"""\
f32 decode_{name}(u8 code) {{
  u32 magnitude = code & {mask:#x}u, below = bits_f32((f32)(s32)magnitude * {2.0 ** (1 - f.bias - f.mantissa)!r}f);
  u32 bits = magnitude < {1 << f.mantissa}u ? below : (magnitude << {23 - f.mantissa}) + {(127 - f.bias) << 23:#x}u;
{infinite}  return float_f32({value});
}}""",
        "f32 u8 u32 s32 bits_f32 float_f32",
    )


_E8M0 = (  # powers of two only: no sign, no zero, no infinity; ties go to the larger one
    function(
        "encode_f8e8m0fnu",
        """\
u8 encode_f8e8m0fnu(f32 x) {
  u32 bits = bits_f32(x), below = bits >= 0x00600000u, rounded = (bits + 0x400000u) >> 23;
  return (u8)(bits == 0 || bits >= 0x7f800000u ? 0xffu : bits < 0x00800000u ? below : rounded);
}""",
        "u8 f32 u32 bits_f32",
    ),
    function(
        "decode_f8e8m0fnu",
        """\
f32 decode_f8e8m0fnu(u8 code) {
  return float_f32(code == 0 ? 0x00400000u : code == 0xff ? 0x7fc00000u : (u32)code << 23);
}""",
        "f32 u8 u32 float_f32",
    ),
)

HALVES = (  # targets that have no instruction of their own use these
    function(
        "encode_f16",
        """\
u16 encode_f16(f32 x) {
  u32 bits = bits_f32(x), sign = bits >> 16 & 0x8000u, m = bits & 0x7fffffffu;
  u32 below = bits_f32(float_f32(m) + 0.5f) - 0x3f000000u, rounded = (m + 0xc8000fffu + (m >> 13 & 1u)) >> 13;
  return (u16)(sign | (m > 0x7f800000u ? 0x7e00u : m >= 0x47800000u ? 0x7c00u : m < 0x38800000u ? below : rounded));
}""",
        "u16 f32 u32 bits_f32 float_f32",
    ),
    function(
        "decode_f16",
        """\
f32 decode_f16(u16 bits) {
  u32 sign = (u32)(bits & 0x8000) << 16, m = (u32)(bits & 0x7fff) << 13;
  u32 below = bits_f32(float_f32(m + 0x38800000u) - float_f32(0x38800000u));
  u32 above = m + (m >= 0x0f800000u ? 0x70000000u : 0x38000000u);
  return float_f32(sign | (m < 0x00800000u ? below : above));
}""",
        "f32 u16 u32 bits_f32 float_f32",
    ),
    function(
        "encode_bf16",
        """\
u16 encode_bf16(f32 x) {
  u32 bits = bits_f32(x);
  return (u16)(x != x ? 0x7fc0u : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}""",
        "u16 f32 u32 bits_f32",
    ),
)

_REDUCE_BITS = """\
$U reduce_bits_$F($U x, s32 exponent, s32 mantissa) {
  const $U one = 1, exponents = ((one << $e) - 1) << $m;
  s32 dropped = $m - mantissa;
  if (dropped > 0) x = (x + (((one << dropped) >> 1) - 1) + (x >> dropped & 1)) & ~((one << dropped) - 1);
  if (exponent < $e) {
    $U bias = (one << ($e - 1)) - 1, reduced = (one << (exponent - 1)) - 1;
    $U own = x & exponents, zero = x & (one << ($e + $m));
    if (own > (bias + reduced) << $m) x = zero | exponents;
    if (own <= (bias - reduced) << $m) x = zero;
  }
  return x;
}"""

_REDUCE_PRECISION = """\
$T reduce_precision_$F($T x, s32 exponent, s32 mantissa) {
  return x != x ? x : $decode(reduce_bits_$F($encode(x), exponent, mantissa));
}"""


def _reduce_precision(name: str) -> Iterator[Definition]:
    exponent, mantissa = FLOAT_FORMATS[name]
    real = ELEMENT_TYPES[name].real
    own = {"encode": f"bits_{name}", "decode": f"float_{name}"}
    if ELEMENT_TYPES[name].is_narrow_float:
        own = {"encode": f"encode_{name}", "decode": f"decode_{name}"}
    u = f"u{max(1 + exponent + mantissa, 32)}"
    names = {"F": name, "T": real, "U": u, "e": exponent, "m": mantissa, **own}
    yield function("reduce_bits_$F", _REDUCE_BITS, "$U s32", **names)
    yield function("reduce_precision_$F", _REDUCE_PRECISION, "$T s32 reduce_bits_$F $encode $decode", **names)


# Equal values differ in bits only when they are zeros.
_EXTREMUM = """\
$T ${name}imum_$T($T a, $T b) {
  $T equal = float_$T(bits_$T(a) $join bits_$T(b)), other = a $operator b || a != a ? a : b;
  return a == b ? equal : other;
}"""

_TOTAL_ORDER = """\
$S total_order_$T($T x) {
  $S bits = ($S)bits_$T(x);
  return bits < 0 ? $largest ^ bits : bits;
}"""


def real_functions(t: str) -> Iterator[Definition]:
    """The functions of f32 or f64 that are the same for all targets."""
    s, largest, zeros = ("s32", "0x7fffffff", "") if t == "f32" else ("s64", "(s64)0x7fffffffffffffff", "")
    for name, operator, join in (("max", ">", "&"), ("min", "<", "|")):
        needs = "$T bits_$T float_$T"
        yield function(f"{name}imum_$T", _EXTREMUM, needs, T=t, name=name, operator=operator, join=join)
    yield function("total_order_$T", _TOTAL_ORDER, "$S $T bits_$T", T=t, S=s, largest=largest + zeros)
    text = "$T sign_$T($T x) { return x == 0 || x != x ? x : copysign_$T(($T)1, x); }"
    yield function("sign_$T", text, "$T copysign_$T", T=t)
    yield function("logistic_$T", "$T logistic_$T($T x) { return 1 / (1 + exp_$T(-x)); }", "$T exp_$T", T=t)
    text = "bool is_finite_$T($T x) { return abs_$T(x) < inf_$T; }"
    yield function("is_finite_$T", text, "bool $T abs_$T inf_$T", T=t)


_EXACT = (  # preserves the bits of a NaN, if they came from memory
    function(
        "exact_bits_f16",
        """\
u16 exact_bits_f16(f32 x) {
  u32 bits = bits_f32(x);
  return x != x ? (u16)((bits >> 16 & 0x8000u) | 0x7c00u | (bits >> 13 & 0x3ffu)) : encode_f16(x);
}""",
        "u16 f32 u32 bits_f32 encode_f16",
    ),
    function(
        "exact_bits_bf16",
        "u16 exact_bits_bf16(f32 x) { return x != x ? (u16)(bits_f32(x) >> 16) : encode_bf16(x); }",
        "u16 f32 bits_f32 encode_bf16",
    ),
)

_DECODE_BF16 = function(
    "decode_bf16", "f32 decode_bf16(u16 bits) { return float_f32((u32)bits << 16); }", "f32 u16 u32 float_f32"
)


def _all() -> Iterator[Definition]:
    yield from real_functions("f32")
    yield from real_functions("f64")
    for kind in ELEMENT_TYPES.values():
        if kind.kind == "float" and kind.bits <= 8 and kind.format is not None:
            yield _encode_narrow(kind.name, kind.format)
            yield _decode_narrow(kind.name, kind.format)
    yield from _E8M0
    yield from HALVES
    yield _DECODE_BF16
    yield from _EXACT
    for name in FLOAT_FORMATS:
        yield from _reduce_precision(name)


FLOAT: tuple[Definition, ...] = tuple(_all())
