"""Library functions on integers: wrapping, HLO's division, powers, shifts, clamps, floor division, saturation of floats."""

from __future__ import annotations

from collections.abc import Iterator

from indexing.kernels.targets.library import Definition, function
from indexing.ops.element_types import ELEMENT_TYPES, ElementType

INTEGERS = ("s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64")


def _division(t: str, u: str) -> Iterator[Definition]:
    if t[0] == "s":
        quotient, rest = f"b == 0 ? -1 : b == -1 ? ({t})(0 - ({u})a) : a / b", "b == 0 ? a : b == -1 ? 0 : a % b"
    else:
        quotient, rest = f"b == 0 ? ~({t})0 : a / b", "b == 0 ? a : a % b"
    names = {"T": t, "U": u}
    yield function("div_$T", f"$T div_$T($T a, $T b) {{ return {quotient}; }}", f"{t} {u}" if t != u else t, **names)
    yield function("rem_$T", f"$T rem_$T($T a, $T b) {{ return {rest}; }}", t, **names)
    negative = (
        "  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;\n" if t[0] == "s" else ""
    )
    yield function(
        "pow_$T",
        f"""\
$T pow_$T($T base, $T exponent) {{
  $U result = 1, power = ($U)base;
  for ($U rest = ($U)exponent; rest != 0; rest >>= 1, power *= power)
    if (rest & 1) result *= power;
{negative}  return ($T)result;
}}""",
        f"{t} {u}" if t != u else t,
        **names,
    )


def _narrow_division(t: str) -> Iterator[Definition]:
    for name in ("div", "rem", "pow"):
        text = f"$T {name}_$T($T a, $T b) {{ return ($T){name}_$W(a, b); }}"
        yield function(f"{name}_$T", text, f"$T {name}_$W", T=t, W=t[0] + "32")


def _ordered(t: str) -> Iterator[Definition]:
    yield function("maximum_$T", "$T maximum_$T($T a, $T b) { return a > b ? a : b; }", "$T", T=t)
    yield function("minimum_$T", "$T minimum_$T($T a, $T b) { return a < b ? a : b; }", "$T", T=t)
    yield function(
        "clamp_$T",
        "$T clamp_$T($T low, $T x, $T high) { $T y = x < low ? low : x; return y > high ? high : y; }",
        "$T",
        T=t,
    )
    if t[0] == "s":
        u = "u" + t[1:]
        yield function("abs_$T", "$T abs_$T($T x) { return x < 0 ? ($T)(0 - ($U)x) : x; }", "$T $U", T=t, U=u)
        yield function("sign_$T", "$T sign_$T($T x) { return ($T)((x > 0) - (x < 0)); }", "$T", T=t)
    else:
        yield function("abs_$T", "$T abs_$T($T x) { return x; }", "$T", T=t)
        yield function("sign_$T", "$T sign_$T($T x) { return x != 0; }", "$T", T=t)


def _bits(t: str) -> Iterator[Definition]:
    """Shifts and bit counts. A shift by the width or more gives 0, or the sign; negative amounts count as large ones."""
    bits = int(t[1:])
    names = {
        "T": t,
        "U": "u" + t[1:],
        "S": "s" + t[1:],
        "W": "u64" if bits == 64 else "u32",
        "bits": bits,
        "last": bits - 1,
    }
    two = " ".join(dict.fromkeys((names["T"], names["U"], names["W"])))  # type: ignore[arg-type]
    yield function("shl_$T", "$T shl_$T($T a, $T n) { return ($U)n < $bits ? ($T)(($W)a << ($U)n) : 0; }", two, **names)
    own = " ".join(dict.fromkeys((names["T"], names["U"])))  # type: ignore[arg-type]
    yield function(
        "shr_logical_$T",
        "$T shr_logical_$T($T a, $T n) { return ($U)n < $bits ? ($T)(($U)a >> ($U)n) : 0; }",
        own,
        **names,
    )
    yield function(
        "shr_arithmetic_$T",
        "$T shr_arithmetic_$T($T a, $T n) { return ($T)(($S)a >> (($U)n < $bits ? ($U)n : $last)); }",
        " ".join(dict.fromkeys((*own.split(), str(names["S"])))),
        **names,
    )
    yield function(
        "popcount_$T", "$T popcount_$T($T a) { return ($T)bits_set_$W(($U)a); }", f"{own} bits_set_$W", **names
    )
    less = "" if bits >= 32 else f" - {32 - bits}"
    text = f"$T clz_$T($T a) {{ return ($T)(zeros_above_$W(($U)a){less}); }}"
    yield function("clz_$T", text, f"{own} zeros_above_$W", **names)


def _index(t: str) -> Iterator[Definition]:
    """The functions of index expressions: floor division, its remainder, and ceiling division."""
    yield function(
        "floor_div_$T",
        "$T floor_div_$T($T a, $T b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }",
        "$T",
        T=t,
    )
    yield function(
        "floor_mod_$T",
        """\
$T floor_mod_$T($T a, $T b) {
  $T m = b < 0 ? -b : b, r = a % m;
  return r < 0 ? r + m : r;
}""",
        "$T",
        T=t,
    )
    text = "$T ceil_div_$T($T a, $T b) { return a / b + (a % b != 0 && (a < 0) == (b < 0)); }"
    yield function("ceil_div_$T", text, "$T", T=t)
    text = "bool within_$T($T x, $T low, $T high) { return low <= x && x <= high; }"
    yield function("within_$T", text, "$T bool", T=t)


def _wrap(kind: ElementType) -> Definition:
    if kind.kind == "unsigned":
        return function(
            f"wrap_{kind.name}", f"u8 wrap_{kind.name}(u8 x) {{ return x & {(1 << kind.bits) - 1}; }}", "u8"
        )
    shift = 8 - kind.bits
    text = f"s8 wrap_{kind.name}(s8 x) {{ return (s8)((s8)((u32)x << {shift}) >> {shift}); }}"
    return function(f"wrap_{kind.name}", text, "s8 u32")


def saturate(kind: ElementType, real: str, choice: str = "{0} ? {1} : {2}", needs: str = "") -> Definition:
    """Truncation towards zero, clamped to the type's range; NaN gives 0. `choice` is the text of a choice by a condition, which
    takes the definitions in `needs`.
    """
    storage = kind.storage_type
    suffix = "f" if real == "f32" else ""
    signed = kind.kind == "signed"
    top = kind.bits - 1 if signed else kind.bits
    digits = 24 if real == "f32" else 53
    low, beyond = -float(1 << top) if signed else 0.0, float(1 << top)
    high = float((1 << top) - (1 << max(top - digits, 0)))  # the greatest number that stays in range
    name = f"saturate_{kind.name}_{real}"
    unit = {"s64": "ll", "u64": "ull"}.get(kind.name, "" if signed else "u")
    above = f"{(1 << top) - 1}{unit}"
    cases = ["x != x ? 0"] * signed + [f"x >= {beyond!r}{suffix} ? {above}"] * (top > digits)
    least, near = (
        choice.format(f"{x} {order} {end!r}{suffix}", x, f"{end!r}{suffix}")
        for x, order, end in (("x", ">", low), ("least", "<", high))
    )
    text = f"""\
{storage} {name}({real} x) {{
  {real} least = {least}, near = {near};
  {storage} whole = ({storage})near;
  return {" : ".join([*cases, "whole"])};
}}"""
    return function(name, text, f"{storage} {real} {needs}")


def _all() -> Iterator[Definition]:
    for t in INTEGERS:
        if t in ("s32", "u32", "s64", "u64"):
            yield from _division(t, "u" + t[1:])
        else:
            yield from _narrow_division(t)
        yield from _ordered(t)
        yield from _bits(t)
    for t in ("s32", "s64"):
        yield from _index(t)
    for kind in ELEMENT_TYPES.values():
        if not kind.is_integer:
            continue
        if kind.is_byte_packed:
            yield _wrap(kind)
        for real in ("f32", "f64"):
            yield saturate(kind, real)


INTEGER: tuple[Definition, ...] = tuple(_all())
