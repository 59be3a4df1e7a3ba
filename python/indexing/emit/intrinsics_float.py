"""Intrinsics on floats: bits of every type (encode, decode), rounding to narrow formats, extrema, precision, order."""

from __future__ import annotations

from dataclasses import dataclass

from indexing.ops.element_types import ELEMENT_TYPES
from indexing.ops.elementwise_convert import FLOAT_FORMATS


@dataclass(frozen=True, slots=True)
class NarrowFormat:
    """A float format of at most 8 bits with a sign: its widths, bias, and the codes of its special values.

    `largest` is the code of the largest finite magnitude; a magnitude beyond it becomes `overflow`. With `fnuz`, the
    code of minus zero is the only NaN and there is no infinity.
    """

    name: str
    bits: int
    mantissa: int
    bias: int
    largest: int
    overflow: int
    nan: int
    fnuz: bool = False

    @property
    def infinity(self) -> int | None:
        """The code of infinity, where the format has one."""
        return self.overflow if self.overflow > self.largest and self.overflow < self.nan else None


NARROW_FORMATS: tuple[NarrowFormat, ...] = (
    NarrowFormat("f4e2m1fn", 4, 1, 1, 0x7, 0x7, 0x8),
    NarrowFormat("f8e3m4", 8, 4, 3, 0x6F, 0x70, 0x78),
    NarrowFormat("f8e4m3", 8, 3, 7, 0x77, 0x78, 0x7C),
    NarrowFormat("f8e4m3fn", 8, 3, 7, 0x7E, 0x7F, 0x7F),
    NarrowFormat("f8e4m3fnuz", 8, 3, 8, 0x7F, 0x80, 0x80, fnuz=True),
    NarrowFormat("f8e4m3b11fnuz", 8, 3, 11, 0x7F, 0x80, 0x80, fnuz=True),
    NarrowFormat("f8e5m2", 8, 2, 15, 0x7B, 0x7C, 0x7E),
    NarrowFormat("f8e5m2fnuz", 8, 2, 16, 0x7F, 0x80, 0x80, fnuz=True),
)


def _power(exponent: int) -> str:
    """A f32 literal of a power of two."""
    return f"{2.0**exponent!r}f"


def _encode_narrow(f: NarrowFormat) -> str:
    dropped = 23 - f.mantissa
    smallest_normal = (127 + 1 - f.bias) << 23
    sign = f"bits >> 31 << {f.bits - 1}"
    if f.name == "f4e2m1fn":
        nan = f"return {f.nan:#x};"
    elif f.fnuz:
        nan = "return 0x80;"
    else:
        nan = f"return (u8)({f.nan:#x} | sign);"
    special = "0x80" if f.fnuz else f"(u8)({f.overflow:#x} | sign)"
    zero = "  if (code == 0) return 0;\n" if f.fnuz else ""
    return f"""\
@fn u8 encode_{f.name}(f32 x) {{
  u32 bits = @bits_f32(x), sign = {sign}, magnitude = bits & 0x7fffffffu, code;
  if (magnitude > 0x7f800000u) {nan}
  if (magnitude >= {smallest_normal:#x}u)
    code = ((magnitude + {(1 << (dropped - 1)) - 1:#x}u + (magnitude >> {dropped} & 1)) >> {dropped}) \
- {(127 - f.bias) << f.mantissa:#x}u;
  else
    code = (u32)@rint_f32(@float_f32(magnitude) * {_power(f.bias - 1 + f.mantissa)});
  if (code > {f.largest:#x}u) return {special};
{zero}  return (u8)(code | sign);
}}"""


def _decode_narrow(f: NarrowFormat) -> str:
    sign, mask = 1 << (f.bits - 1), (1 << (f.bits - 1)) - 1
    specials = ""
    if f.fnuz:
        specials = "  if (code == 0x80) return @float_f32(0x7fc00000u);\n"
    elif f.infinity is not None:
        specials = (
            f"  if (magnitude > {f.infinity:#x}u) return @float_f32(0x7fc00000u);\n"
            f"  if (magnitude == {f.infinity:#x}u) return @float_f32(code & {sign:#x} ? 0xff800000u : 0x7f800000u);\n"
        )
    elif f.name != "f4e2m1fn":
        specials = f"  if (magnitude == {f.nan:#x}u) return @float_f32(0x7fc00000u);\n"
    return f"""\
@fn f32 decode_{f.name}(u8 code) {{
  u32 magnitude = code & {mask:#x}u;
{specials}  f32 x = magnitude < {1 << f.mantissa}u ? (f32)magnitude * {_power(1 - f.bias - f.mantissa)}
                        : @float_f32((magnitude << {23 - f.mantissa}) + {(127 - f.bias) << 23:#x}u);
  return code & {sign:#x} ? -x : x;
}}"""


_E8M0 = {  # powers of two only: no sign, no zero, no infinity; ties go to the larger one
    "encode_f8e8m0fnu": """\
@fn u8 encode_f8e8m0fnu(f32 x) {
  u32 bits = @bits_f32(x);
  if (bits == 0 || bits >= 0x7f800000u) return 0xff;
  if (bits < 0x00800000u) return (u8)(bits >= 0x00600000u);
  return (u8)((bits + 0x400000u) >> 23);
}""",
    "decode_f8e8m0fnu": """\
@fn f32 decode_f8e8m0fnu(u8 code) {
  return @float_f32(code == 0 ? 0x00400000u : code == 0xff ? 0x7fc00000u : (u32)code << 23);
}""",
}

_HALF_CUDA = {
    "encode_f16": """\
@fn u16 encode_f16(f32 x) {
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}""",
    "decode_f16": """\
@fn f32 decode_f16(u16 bits) {
  f32 x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}""",
    "encode_bf16": """\
@fn u16 encode_bf16(f32 x) {
  u16 bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}""",
    **{
        f"{name}imum_f32": f"""\
@fn f32 {name}imum_f32(f32 a, f32 b) {{
  f32 x;
  asm("{name}.NaN.f32 %0, %1, %2;" : "=f"(x) : "f"(a), "f"(b));
  return x;
}}"""
        for name in ("max", "min")
    },
}

_HALF_OPENCL = {
    # Not by vstore_half and vload_half: a compiler may take their `half` for memory other than that of `bits`.
    "encode_f16": """\
@fn u16 encode_f16(f32 x) {
  u32 bits = @bits_f32(x), sign = bits >> 16 & 0x8000u;
  bits &= 0x7fffffffu;
  if (bits > 0x7f800000u) return (u16)(sign | 0x7e00u);
  if (bits >= 0x47800000u) return (u16)(sign | 0x7c00u);
  if (bits < 0x38800000u) return (u16)(sign | (@bits_f32(@float_f32(bits) + 0.5f) - 0x3f000000u));
  return (u16)(sign | (bits + 0xc8000fffu + (bits >> 13 & 1u)) >> 13);
}""",
    "decode_f16": """\
@fn f32 decode_f16(u16 bits) {
  u32 sign = (u32)(bits & 0x8000) << 16, m = (u32)(bits & 0x7fff) << 13, x = m + 0x38000000u;
  if (m >= 0x0f800000u) x += 0x38000000u;
  if (m < 0x00800000u) x = @bits_f32(@float_f32(m + 0x38800000u) - @float_f32(0x38800000u));
  return @float_f32(x | sign);
}""",
    "encode_bf16": """\
@fn u16 encode_bf16(f32 x) {
  u32 bits = @bits_f32(x);
  return x != x ? (u16)0x7fc0 : (u16)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}""",
}

_REDUCE_PRECISION = """\
@fn {u} reduce_bits_{name}({u} x, s32 exponent, s32 mantissa) {{
  const {u} one = 1, exponents = ((one << {e}) - 1) << {m};
  s32 dropped = {m} - mantissa;
  if (dropped > 0) x = (x + (((one << dropped) >> 1) - 1) + (x >> dropped & 1)) & ~((one << dropped) - 1);
  if (exponent < {e}) {{
    {u} bias = (one << ({e} - 1)) - 1, reduced = (one << (exponent - 1)) - 1;
    {u} own = x & exponents, zero = x & (one << ({e} + {m}));
    if (own > (bias + reduced) << {m}) x = zero | exponents;
    if (own <= (bias - reduced) << {m}) x = zero;
  }}
  return x;
}}"""


def _reduce_precision(name: str) -> dict[str, str]:
    exponent, mantissa = FLOAT_FORMATS[name]
    u, real = f"u{max(1 + exponent + mantissa, 32)}", ELEMENT_TYPES[name].real
    return {
        f"reduce_bits_{name}": _REDUCE_PRECISION.format(u=u, name=name, e=exponent, m=mantissa),
        f"reduce_precision_{name}": f"""\
@fn {real} reduce_precision_{name}({real} x, s32 exponent, s32 mantissa) {{
  return x != x ? x : @decode_{name}(@reduce_bits_{name}(@encode_{name}(x), exponent, mantissa));
}}""",
    }


def _bits_of(name: str) -> dict[str, str]:
    """encode and decode of a type whose values are their bits, seen as an unsigned integer."""
    kind = ELEMENT_TYPES[name]
    if name in ("f32", "f64"):
        u = f"u{kind.bits}"
        return {
            f"encode_{name}": f"@fn {u} encode_{name}({name} x) {{ return @bits_{name}(x); }}",
            f"decode_{name}": f"@fn {name} decode_{name}({u} bits) {{ return @float_{name}(bits); }}",
        }
    if name == "pred":
        return {
            "encode_pred": "@fn u8 encode_pred(bool x) { return x; }",
            "decode_pred": "@fn bool decode_pred(u8 bits) { return bits != 0; }",
        }
    width = max(kind.bits, 8)
    c, mask = f"{name[0]}{width}", f" & {(1 << kind.bits) - 1}" if kind.bits < 8 else ""
    back = f"@wrap_{name}(bits)" if kind.bits < 8 else f"({c})bits"
    return {
        f"encode_{name}": f"@fn u{width} encode_{name}({c} x) {{ return (u{width})(x{mask}); }}",
        f"decode_{name}": f"@fn {c} decode_{name}(u{width} bits) {{ return {back}; }}",
    }


def _rounded(name: str) -> str:
    return f"@fn f32 round_{name}(f32 x) {{ return @decode_{name}(@encode_{name}(x)); }}"


_EXTREMUM = """\
@fn {t} {name}imum_{t}({t} a, {t} b) {{
  if (a == b) return @bits_{t}(a) {keep} @bits_{t}(b) ? a : b;
  return a {operator} b || a != a ? a : b;
}}"""

_TOTAL_ORDER = """\
@fn {s} total_order_{t}({t} x) {{
  {s} bits = ({s})@bits_{t}(x);
  return bits < 0 ? {largest} ^ bits : bits;
}}"""

_SIGN = """\
@fn {t} sign_{t}({t} x) {{ return x == 0 || x != x ? x : @copysign_{t}(({t})1, x); }}"""

_LOGISTIC = """\
@fn {t} logistic_{t}({t} x) {{ return 1 / (1 + @exp_{t}(-x)); }}"""


def _real(t: str) -> dict[str, str]:
    s, largest = ("s32", "0x7fffffff") if t == "f32" else ("s64", "0x7fffffffffffffffll")
    if t == "f64":
        largest = "(s64)0x7fffffffffffffff"
    # Equal values differ in bits only when they are zeros; the unsigned order puts -0 above +0.
    return {
        f"maximum_{t}": _EXTREMUM.format(t=t, name="max", operator=">", keep="<="),
        f"minimum_{t}": _EXTREMUM.format(t=t, name="min", operator="<", keep=">="),
        f"total_order_{t}": _TOTAL_ORDER.format(t=t, s=s, largest=largest),
        f"sign_{t}": _SIGN.format(t=t),
        f"logistic_{t}": _LOGISTIC.format(t=t),
    }


_EXACT = {  # the bits of a NaN too, where they came from memory
    "exact_f16": """\
@fn u16 exact_f16(f32 x) {
  u32 bits = @bits_f32(x);
  return x != x ? (u16)((bits >> 16 & 0x8000u) | 0x7c00u | (bits >> 13 & 0x3ffu)) : @encode_f16(x);
}""",
    "exact_bf16": """\
@fn u16 exact_bf16(f32 x) { return x != x ? (u16)(@bits_f32(x) >> 16) : @encode_bf16(x); }""",
}

_NARROW_NAMES = [k.name for k in ELEMENT_TYPES.values() if k.is_narrow_float]

FLOAT: dict[str, str] = {
    **_real("f32"),
    **_real("f64"),
    **{f"encode_{f.name}": _encode_narrow(f) for f in NARROW_FORMATS},
    **{f"decode_{f.name}": _decode_narrow(f) for f in NARROW_FORMATS},
    **_E8M0,
    **_EXACT,
    "decode_bf16": "@fn f32 decode_bf16(u16 bits) { return @float_f32((u32)bits << 16); }",
    **{f"round_{name}": _rounded(name) for name in _NARROW_NAMES},
}
for _name in FLOAT_FORMATS:
    FLOAT.update(_reduce_precision(_name))
for _kind in ELEMENT_TYPES.values():
    if _kind.kind != "complex" and not _kind.is_narrow_float:
        FLOAT.update(_bits_of(_kind.name))

CUDA_FLOAT, OPENCL_FLOAT = _HALF_CUDA, _HALF_OPENCL
