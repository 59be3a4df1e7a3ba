"""Intrinsics on integers: wrapping, HLO's division, powers, clamps, floor division, saturation from floats."""

from __future__ import annotations

from indexing.ops.element_types import ELEMENT_TYPES, ElementType

_DIVISION = {
    "signed": """\
@fn {t} div_{t}({t} a, {t} b) {{ return b == 0 ? -1 : b == -1 ? ({t})(0 - ({u})a) : a / b; }}""",
    "unsigned": """\
@fn {t} div_{t}({t} a, {t} b) {{ return b == 0 ? ~({t})0 : a / b; }}""",
}

_REMAINDER = {
    "signed": """\
@fn {t} rem_{t}({t} a, {t} b) {{ return b == 0 ? a : b == -1 ? 0 : a % b; }}""",
    "unsigned": """\
@fn {t} rem_{t}({t} a, {t} b) {{ return b == 0 ? a : a % b; }}""",
}

_POWER = """\
@fn {t} pow_{t}({t} base, {t} exponent) {{
  {u} result = 1, power = ({u})base;
  for ({u} rest = ({u})exponent; rest != 0; rest >>= 1, power *= power)
    if (rest & 1) result *= power;
{negative}  return ({t})result;
}}"""

_NEGATIVE_EXPONENT = """\
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
"""

_FLOOR = """\
@fn {t} floor_div_{t}({t} a, {t} b) {{ return a / b - (a % b != 0 && (a < 0) != (b < 0)); }}"""

_FLOOR_MOD = """\
@fn {t} floor_mod_{t}({t} a, {t} b) {{
  {t} m = b < 0 ? -b : b, r = a % m;
  return r < 0 ? r + m : r;
}}"""

_CEIL = """\
@fn {t} ceil_div_{t}({t} a, {t} b) {{ return a / b + (a % b != 0 && (a < 0) == (b < 0)); }}"""


def _wide() -> dict[str, str]:
    out: dict[str, str] = {}
    for t in ("s32", "u32", "s64", "u64"):
        kind, u = ELEMENT_TYPES[t].kind, "u" + t[1:]
        out[f"div_{t}"] = _DIVISION[kind].format(t=t, u=u)
        out[f"rem_{t}"] = _REMAINDER[kind].format(t=t)
        out[f"pow_{t}"] = _POWER.format(t=t, u=u, negative=_NEGATIVE_EXPONENT if kind == "signed" else "")
        out[f"clamp_{t}"] = (
            f"@fn {t} clamp_{t}({t} low, {t} x, {t} high) {{ {t} y = x < low ? low : x; return y > high ? high : y; }}"
        )
    for t in ("s32", "s64"):
        out[f"floor_div_{t}"] = _FLOOR.format(t=t)
        out[f"floor_mod_{t}"] = _FLOOR_MOD.format(t=t)
        out[f"ceil_div_{t}"] = _CEIL.format(t=t)
        out[f"min_{t}"] = f"@fn {t} min_{t}({t} a, {t} b) {{ return a < b ? a : b; }}"
        out[f"max_{t}"] = f"@fn {t} max_{t}({t} a, {t} b) {{ return a > b ? a : b; }}"
    return out


def _wrap(kind: ElementType) -> str:
    if kind.kind == "unsigned":
        return f"@fn u8 wrap_{kind.name}(u32 x) {{ return (u8)(x & {(1 << kind.bits) - 1}u); }}"
    shift = 8 - kind.bits
    return f"@fn s8 wrap_{kind.name}(s32 x) {{ return (s8)((s8)((u32)x << {shift}) >> {shift}); }}"


def _saturate(kind: ElementType, real: str) -> str:
    """Truncation towards zero, clipped to the type's range; NaN gives 0. The bounds are exact powers of two."""
    storage = f"{kind.name[0]}{max(kind.bits, 8)}"
    suffix = "f" if real == "f32" else ""
    signed = kind.kind == "signed"
    top = kind.bits - 1 if signed else kind.bits
    unit = {"s64": "ll", "u64": "ull"}.get(kind.name, "" if signed else "u")
    high = f"{(1 << top) - 1}{unit}"
    low = (f"(-{(1 << top) - 1}{unit} - 1)") if signed else "0"
    floor = f"{-float(1 << top)!r}{suffix}" if signed else f"0.0{suffix}"
    body = f"x != x ? 0 : x <= {floor} ? {low} : x >= {float(1 << top)!r}{suffix} ? {high} : ({storage})x"
    return f"@fn {storage} saturate_{kind.name}_{real}({real} x) {{ return ({storage})({body}); }}"


INTEGER: dict[str, str] = {
    **_wide(),
    **{f"wrap_{k.name}": _wrap(k) for k in ELEMENT_TYPES.values() if k.is_integer and k.is_byte_packed},
    **{
        f"saturate_{k.name}_{real}": _saturate(k, real)
        for k in ELEMENT_TYPES.values()
        if k.is_integer
        for real in ("f32", "f64")
    },
}
