"""Library functions on floats: bits of every type (encode, decode), rounding to narrow formats, extrema, precision, order.

They have no branches, so that compilers can vectorize them.
"""

from __future__ import annotations

from collections.abc import Iterator

from indexing.kernels.targets.library import Definition, definition_of, read_definitions
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
    return definition_of(
        f"""\
u8 encode_{name}(f32 x) {{
  u32 bits = bits_f32(x), sign = bits >> 31 << {sign_bit}, magnitude = bits & 0x7fffffffu;
  u32 rounded = (magnitude + {(1 << (dropped - 1)) - 1:#x}u + (magnitude >> {dropped} & 1)) >> {dropped};
  u32 below = bits_f32(float_f32(magnitude) + {2.0**step!r}f) - {(127 + step) << 23:#x}u;
  u32 code = magnitude < {smallest_normal:#x}u ? below : rounded - {(127 - f.bias) << f.mantissa:#x}u;
  return (u8)({result});
}}""",
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
    return definition_of(
        f"""\
f32 decode_{name}(u8 code) {{
  u32 magnitude = code & {mask:#x}u, below = bits_f32((f32)(s32)magnitude * {2.0 ** (1 - f.bias - f.mantissa)!r}f);
  u32 bits = magnitude < {1 << f.mantissa}u ? below : (magnitude << {23 - f.mantissa}) + {(127 - f.bias) << 23:#x}u;
{infinite}  return float_f32({value});
}}""",
    )


def _reduce_precision(name: str) -> Iterator[Definition]:
    exponent, mantissa = FLOAT_FORMATS[name]
    kind = ELEMENT_TYPES[name]
    encode, decode = ("encode", "decode") if kind.is_narrow_float else ("bits", "float")
    own = {"encode": f"{encode}_{name}", "decode": f"{decode}_{name}"}
    u = f"u{max(1 + exponent + mantissa, 32)}"
    return read_definitions("precision.c", F=name, T=kind.real, U=u, e=exponent, m=mantissa, **own)


def _all() -> Iterator[Definition]:
    yield from read_definitions("reals.c", T="f32", S="s32", largest="0x7fffffff")
    yield from read_definitions("reals.c", T="f64", S="s64", largest="(s64)0x7fffffffffffffff")
    for kind in ELEMENT_TYPES.values():
        if kind.kind == "float" and kind.bits <= 8 and kind.format is not None:
            yield _encode_narrow(kind.name, kind.format)
            yield _decode_narrow(kind.name, kind.format)
    yield from read_definitions("narrow_floats.c")
    for name in FLOAT_FORMATS:
        yield from _reduce_precision(name)


FLOAT: tuple[Definition, ...] = tuple(_all())
