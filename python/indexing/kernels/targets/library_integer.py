"""Library functions on integers: wrapping, HLO's division, powers, shifts, clamps, floor division, saturation of floats."""

from __future__ import annotations

from collections.abc import Iterator

from indexing.kernels.targets.library import Definition, definition_of, read_definitions
from indexing.ops.element_types import ELEMENT_TYPES, ElementType

INTEGERS = ("s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64")


def _division(t: str, u: str) -> Iterator[Definition]:
    if t[0] == "s":
        quotient, rest = f"b == 0 ? -1 : b == -1 ? ({t})(0 - ({u})a) : a / b", "b == 0 ? a : b == -1 ? 0 : a % b"
    else:
        quotient, rest = f"b == 0 ? ~({t})0 : a / b", "b == 0 ? a : a % b"
    names = {"T": t, "U": u}
    yield definition_of(f"$T div_$T($T a, $T b) {{ return {quotient}; }}", **names)
    yield definition_of(f"$T rem_$T($T a, $T b) {{ return {rest}; }}", **names)
    negative = (
        "  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;\n" if t[0] == "s" else ""
    )
    yield definition_of(
        f"""\
$T pow_$T($T base, $T exponent) {{
  $U result = 1, power = ($U)base;
  for ($U rest = ($U)exponent; rest != 0; rest >>= 1, power *= power)
    if (rest & 1) result *= power;
{negative}  return ($T)result;
}}""",
        **names,
    )


def _narrow_division(t: str) -> Iterator[Definition]:
    for name in ("div", "rem", "pow"):
        text = f"$T {name}_$T($T a, $T b) {{ return ($T){name}_$W(a, b); }}"
        yield definition_of(text, T=t, W=t[0] + "32")


def _sign(t: str, u: str) -> Iterator[Definition]:
    if t == u:
        size, sign = "x", "x != 0"
    else:
        size, sign = f"x < 0 ? ({t})(0 - ({u})x) : x", f"({t})((x > 0) - (x < 0))"
    yield definition_of(f"{t} abs_{t}({t} x) {{ return {size}; }}")
    yield definition_of(f"{t} sign_{t}({t} x) {{ return {sign}; }}")


def _of_all(t: str) -> Iterator[Definition]:
    bits = int(t[1:])
    types = {"T": t, "U": f"u{bits}", "S": f"s{bits}", "W": f"u{max(bits, 32)}"}
    more = "" if bits >= 32 else f" - {32 - bits}"
    return read_definitions("integers.c", bits=bits, last=bits - 1, more=more, **types)


def _wrap(kind: ElementType) -> Definition:
    if kind.kind == "unsigned":
        return definition_of(f"u8 wrap_{kind.name}(u8 x) {{ return x & {(1 << kind.bits) - 1}; }}")
    shift = 8 - kind.bits
    text = f"s8 wrap_{kind.name}(s8 x) {{ return (s8)((s8)((u32)x << {shift}) >> {shift}); }}"
    return definition_of(text)


def saturate(kind: ElementType, real: str, choice: str = "{0} ? {1} : {2}") -> Definition:
    """Truncation towards zero, clamped to the type's range; NaN gives 0. `choice` is the text of a choice by a condition."""
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
    return definition_of(text)


def _all() -> Iterator[Definition]:
    for t in INTEGERS:
        if t in ("s32", "u32", "s64", "u64"):
            yield from _division(t, "u" + t[1:])
        else:
            yield from _narrow_division(t)
        yield from _sign(t, "u" + t[1:])
        yield from _of_all(t)
    for t in ("s32", "s64"):
        yield from read_definitions("indices.c", T=t)
    for kind in ELEMENT_TYPES.values():
        if not kind.is_integer:
            continue
        if kind.is_byte_packed:
            yield _wrap(kind)
        for real in ("f32", "f64"):
            yield saturate(kind, real)


INTEGER: tuple[Definition, ...] = tuple(_all())
