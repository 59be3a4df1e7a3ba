"""Functions of f32 for CPUs that compilers can vectorize: straight-line code without branches or calls.

Most compute in f64 and round once; remainders are exact. In f64, each has a relative error below 2**-33, so that the result
has an error of less than 0.51 units in the last place; the conversion handles overflow and subnormal numbers. The exponential
function and its quotients are so frequent that they stay in f32, where vectors have twice the lanes and division is cheap: exp
has an error of at most 1.1 units in the last place, logistic of 2.5, tanh of 2.7.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from indexing.kernels.targets.library import Definition, function
from indexing.kernels.targets.library_integer import saturate
from indexing.ops.element_types import ELEMENT_TYPES

_LN2 = math.log(2)
_TO_INTEGER = "6755399441055744.0"  # 1.5 * 2**52: adding it rounds a number to an integer, in the last bits
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
_MANTISSA = (1 << 52) - 1

REM_BITS = 48  # a part of a quotient, which is computed with an error of less than 2**-3

_TO_INTEGER_F32 = "12582912.0f"  # 1.5 * 2**23
_LN2_HIGH = "0.693145751953125f"  # its last 11 bits are 0, so that small multiples are exact
_LN2_LOW = "1.42860677e-06f"
_EXP = (
    0.5,
    0.16666515171527863,
    0.04166625812649727,
    0.008369294926524162,
    0.001394667662680149,
)  # (e**r - 1 - r) / r**2

# 2 / pi in windows of 32 bits, 8 bits apart: window k has the bits of weights 2**(9 - 8k) down to 2**(-22 - 8k).
_TWO_OVER_PI = (
    *(0x0028BE60, 0x28BE60DB, 0xBE60DB93, 0x60DB9391, 0xDB939105, 0x9391054A, 0x91054A7F, 0x054A7F09),
    *(0x4A7F09D5, 0x7F09D5F4, 0x09D5F47D, 0xD5F47D4D, 0xF47D4D37, 0x7D4D3770, 0x4D377036, 0x377036D8),
    *(0x7036D8A5, 0x36D8A566, 0xD8A5664F, 0xA5664F10, 0x664F10E4, 0x4F10E410, 0x10E4107F),
)
_HALF_PI_HIGH = 1.570796326734125614166e0  # its last 20 bits are 0, so that small multiples are exact
_HALF_PI_LOW = 6.077100506506192601e-11

# erf(x) / x on [-4, 4] as a polynomial in x * x / 8 - 1, from its Chebyshev series: relative error 2e-11.
_ERF = (
    0.3535309956441157,
    -0.17657623321207105,
    0.13167511672362636,
    -0.10771044904001163,
    0.09020900091693765,
    -0.07472772607124918,
    0.059886799539816724,
    -0.045766481947016074,
    0.03306146917048697,
    -0.02246618344167174,
    0.014345736948418225,
    -0.008630037695059569,
    0.00486462767525471,
    -0.002530356632088158,
    0.001272323989597212,
    -0.0006730864421860812,
    0.00029918116308082703,
    -7.231690046160307e-05,
    3.1074309902391585e-05,
    -3.671408860250442e-05,
    1.3255538617166426e-05,
)


def horner(variable: str, coefficients: Sequence[float], kind: str = "f64") -> str:
    """C text of a polynomial in f64 or f32, the constant coefficient first."""
    ending = "f" if kind == "f32" else ""
    text = f"{coefficients[-1]!r}{ending}"
    for coefficient in reversed(coefficients[:-1]):
        text = f"mul_add_{kind}({text}, {variable}, {coefficient!r}{ending})"
    return text


def _parts() -> Iterator[Definition]:
    """Parts of the functions, in f64 with the accuracy that f32 needs."""
    for kind, builtin in (("f64", "__builtin_fma"), ("f32", "__builtin_fmaf")):
        yield Definition(
            f"mul_add_{kind}",
            "#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)\n"
            f"#define mul_add_{kind}(a, b, c) {builtin}(a, b, c)\n"
            "#else\n"
            f"#define mul_add_{kind}(a, b, c) ((a) * (b) + (c))\n"
            "#endif",
        )
    yield function(
        "limit_f64",
        "f64 limit_f64(f64 x, f64 bound) { return x < -bound ? -bound : x > bound ? bound : x; }  // NaN stays",
        "f64",
    )
    # e**x - 1 = 2**n * (e**r - 1) + (2**n - 1) with |r| <= ln 2 / 2, and e**r - 1 by its Taylor series.
    reduced = f"""\
  f64 shifted = mul_add_f64(x, {1 / _LN2!r}, {_TO_INTEGER}), n = shifted - {_TO_INTEGER};
  f64 r = mul_add_f64(n, {-_LN2!r}, x), scale = float_f64((bits_f64(shifted) + 1023) << 52);
  f64 p = r * {horner("r", [1 / math.factorial(k) for k in range(1, 11)])};"""
    needs = "f64 mul_add_f64 float_f64 bits_f64"
    yield function(
        "exp_wide",
        f"f64 exp_wide(f64 x) {{  // |x| < 700\n{reduced}\n  return mul_add_f64(scale, p, scale);\n}}",
        needs,
    )
    text = f"f64 expm1_wide(f64 x) {{  // |x| < 700\n{reduced}\n  return mul_add_f64(scale, p, scale - 1);\n}}"
    yield function("expm1_wide", text, needs)
    # x = 2**e * m with m from sqrt(1/2) to sqrt(2); log m = 2 atanh(s) with s = (m - 1) / (m + 1).
    yield function(
        "log_wide",
        f"""\
f64 log_wide(f64 x) {{  // x a positive, normal number
  u64 bits = bits_f64(x) + {(1023 << 52) - _SQRT_HALF_BITS:#x}ull;
  f64 e = float_f64(bits >> 52 | 0x4330000000000000ull) - 4503599627371519.0;
  f64 m = float_f64((bits & {_MANTISSA:#x}ull) + {_SQRT_HALF_BITS:#x}ull);
  f64 s = (m - 1) / (m + 1), z = s * s;
  return mul_add_f64(e, {_LN2!r}, 2 * s * {horner("z", [1 / (2 * k + 1) for k in range(9)])});
}}""",
        "f64 u64 bits_f64 float_f64 mul_add_f64",
    )
    yield function(
        "log1p_wide",
        "f64 log1p_wide(f64 x) { f64 u = 1 + x; return log_wide(u) + (x - (u - 1)) / u; }  // x > -1",
        "f64 log_wide",
    )
    yield function("atan_wide", _ATAN, "f64 abs_f64 copysign_f64 mul_add_f64")
    yield Definition("angle", "typedef struct { f64 r; u32 quadrant; } angle;", ("f64", "u32"))
    table = ", ".join(f"{w:#010x}u" for w in _TWO_OVER_PI)
    yield Definition("two_over_pi", f"static const u32 two_over_pi[{len(_TWO_OVER_PI)}] = {{{table}}};", ("u32",))
    yield function(
        "angle_of",
        _ANGLE,
        "angle f32 f64 u32 s32 u64 bits_f32 bits_f64 float_f64 abs_f32 mul_add_f64 two_over_pi",
    )
    sine = [(-1) ** k / math.factorial(2 * k + 1) for k in range(7)]
    cosine = [(-1) ** k / math.factorial(2 * k) for k in range(8)]
    yield function(
        "sin_wide", f"f64 sin_wide(f64 r) {{ f64 z = r * r; return r * {horner('z', sine)}; }}", "f64 mul_add_f64"
    )
    yield function(
        "cos_wide", f"f64 cos_wide(f64 r) {{ f64 z = r * r; return {horner('z', cosine)}; }}", "f64 mul_add_f64"
    )


# The arctangent of a, of (a - 1) / (a + 1), or of -1 / a, whichever is at most tan(pi / 8).
_ATAN = f"""\
f64 atan_wide(f64 x) {{
  f64 a = abs_f64(x), small = {math.tan(math.pi / 8)!r}, large = {1 / math.tan(math.pi / 8)!r};
  f64 base = a < small ? 0 : a < large ? {math.pi / 4!r} : {math.pi / 2!r};
  f64 u = (a < small ? a : a < large ? a - 1 : -1) / (a < small ? 1 : a < large ? a + 1 : a), z = u * u;
  f64 y = base + u * {horner("z", [(-1) ** k / (2 * k + 1) for k in range(14)])};
  return x != x ? x : copysign_f64(y, x);
}}"""

# x = quadrant * pi / 2 + r. Below 2**15 by multiples of pi / 2 in two parts; above, x is an integer times a power of two,
# and the product with as many bits of 2 / pi as matter is taken modulo 4, in units of 2**-62.
_ANGLE = f"""\
angle angle_of(f32 x) {{
  f64 wide = x, shifted = mul_add_f64(wide, {2 / math.pi!r}, {_TO_INTEGER}), n = shifted - {_TO_INTEGER};
  f64 near = mul_add_f64(n, -{_HALF_PI_LOW!r}, mul_add_f64(n, -{_HALF_PI_HIGH!r}, wide));
  u32 bits = bits_f32(x), exponent = bits >> 23 & 0xff, t = exponent < 142 ? 0 : exponent - 142, k = t >> 3 & 15;
  u32 m = ((bits & 0x7fffffu) | 0x800000u) << (t & 7);
  u64 turns = ((u64)(m * two_over_pi[k]) << 32) + (u64)m * two_over_pi[k + 4] + ((u64)m * two_over_pi[k + 8] >> 32);
  u32 quadrant = (u32)((turns + 0x2000000000000000ull) >> 62);
  u64 rest = turns - ((u64)quadrant << 62);
  f64 low = float_f64((rest & 0xffffffffull) | 0x4330000000000000ull) - 4503599627370496.0;
  f64 far = ((f64)(s32)(u32)(rest >> 32) * 4294967296.0 + low) * {math.pi / 2 * 2.0**-62!r};
  angle a;
  a.r = abs_f32(x) < 32768.0f ? near : bits >> 31 ? -far : far;
  a.quadrant = abs_f32(x) < 32768.0f ? (u32)bits_f64(shifted) : bits >> 31 ? 0 - quadrant : quadrant;
  return a;
}}"""


# If one value of `?:` is a constant, gcc specializes the code after it and branches, and loops with branches are not
# vectorized. Masks avoid the branch.
_CHOOSE = """\
$T choose_$T($B condition, $T a, $T b) {
  $B mask = 0 - condition;
  return float_$T((bits_$T(a) & mask) | (bits_$T(b) & ~mask));
}"""

# Of two equal values, each is the greater one by one of the comparisons; they differ in bits only when they are zeros.
_EXTREMUM = """\
$T ${name}imum_$T($T a, $T b) {
  $T one = a $operator b ? a : b, other = b $operator a ? b : a;
  return (a == a) & (b == b) ? float_$T(bits_$T(one) $join bits_$T(other)) : a + b;
}"""


def _choices() -> Iterator[Definition]:
    for real, bits in (("f32", "u32"), ("f64", "u64")):
        yield function("choose_$T", _CHOOSE, "$T $B bits_$T float_$T", T=real, B=bits)
        sign = "$T sign_$T($T x) { return choose_$T((x == 0) | (x != x), x, copysign_$T(($T)1, x)); }"
        yield function("sign_$T", sign, "$T choose_$T copysign_$T", T=real)
        for name, operator, join in (("max", ">", "&"), ("min", "<", "|")):
            words = {"T": real, "B": bits, "name": name, "operator": operator, "join": join}
            yield function("${name}imum_$T", _EXTREMUM, "$T bits_$T float_$T", **words)
        choice = f"choose_{real}"
        integers = (kind for kind in ELEMENT_TYPES.values() if kind.is_integer)
        yield from (saturate(kind, real, choice + "({0}, {1}, {2})", choice) for kind in integers)


def _exponential() -> Iterator[Definition]:
    # x = n ln 2 + r with |r| <= ln 2 / 2; p = e**r - 1, by a polynomial with a relative error of 2**-27.
    yield Definition("exp_terms", "typedef struct { f32 p; s32 n; } exp_terms;", ("f32", "s32"))
    yield function(
        "exp_terms_of",
        f"""\
exp_terms exp_terms_of(f32 x) {{  // |x| < 120
  f32 shifted = mul_add_f32(x, {1 / _LN2:.9g}f, {_TO_INTEGER_F32}), n = shifted - {_TO_INTEGER_F32};
  f32 r = mul_add_f32(n, -{_LN2_LOW}, mul_add_f32(n, -{_LN2_HIGH}, x));
  exp_terms e = {{mul_add_f32(r * r, {horner("r", _EXP, "f32")}, r), (s32)(bits_f32(shifted) - 0x4b400000u)}};
  return e;
}}""",
        "exp_terms f32 s32 bits_f32 mul_add_f32",
    )
    yield function(
        "two_to",
        "f32 two_to(s32 n) { return float_f32((u32)(n + 127) << 23); }  // a normal number",
        "f32 s32 u32 float_f32",
    )
    yield function(
        "exp_f32",
        """\
f32 exp_f32(f32 x) {
  exp_terms e = exp_terms_of(x < -105.0f ? -105.0f : x > 90.0f ? 90.0f : x);  // NaN stays
  s32 half = e.n >> 1;
  return (e.p + 1.0f) * two_to(half) * two_to(e.n - half);
}""",
        "f32 s32 exp_terms exp_terms_of two_to",
    )
    yield function(
        "expm1_f32",
        "f32 expm1_f32(f32 x) { return copysign_f32((f32)expm1_wide(limit_f64(x, 200)), x); }",
        "f32 expm1_wide limit_f64 copysign_f32",
    )
    yield function(
        "logistic_f32",
        """\
f32 logistic_f32(f32 x) {
  f32 e = exp_f32(-abs_f32(x));
  return (x < 0 ? e : 1.0f) / (1.0f + e);
}""",
        "f32 exp_f32 abs_f32",
    )
    yield function(
        "tanh_f32",
        """\
f32 tanh_f32(f32 x) {
  f32 a = abs_f32(x);
  exp_terms e = exp_terms_of(2 * (a > 10.0f ? 10.0f : a));
  f32 scale = two_to(e.n), t = mul_add_f32(scale, e.p, scale - 1.0f);
  return copysign_f32(t / (t + 2.0f), x);
}""",
        "f32 exp_terms exp_terms_of two_to mul_add_f32 abs_f32 copysign_f32",
    )
    yield function(
        "sinh_f32",
        """\
f32 sinh_f32(f32 x) {
  f64 t = expm1_wide(limit_f64(abs_f32(x), 200));
  return copysign_f32((f32)(0.5 * (t + t / (t + 1))), x);
}""",
        "f32 f64 expm1_wide limit_f64 abs_f32 copysign_f32",
    )
    yield function(
        "cosh_f32",
        "f32 cosh_f32(f32 x) { f64 e = exp_wide(limit_f64(x, 200)); return (f32)(0.5 * (e + 1 / e)); }",
        "f32 f64 exp_wide limit_f64",
    )


def _logarithm() -> Iterator[Definition]:
    yield function(
        "log_f32",
        """\
f32 log_f32(f32 x) {
  f32 edge = x == 0 ? -inf_f32 : x > 0 ? x : nan_f32;
  return choose_f32((x > 0) & (x < inf_f32), (f32)log_wide(x), edge);
}""",
        "f32 log_wide inf_f32 nan_f32 choose_f32",
    )
    yield function(
        "log1p_f32",
        """\
f32 log1p_f32(f32 x) {
  f32 y = copysign_f32((f32)log1p_wide(x), x), edge = x == -1 ? -inf_f32 : x > 0 ? x : nan_f32;
  return choose_f32((x > -1) & (x < inf_f32), y, edge);
}""",
        "f32 log1p_wide copysign_f32 inf_f32 nan_f32 choose_f32",
    )
    yield function(
        "asinh_f32",
        """\
f32 asinh_f32(f32 x) {
  f64 a = abs_f32(x), y = log1p_wide(a + a * a / (1 + sqrt_f64(1 + a * a)));
  return a < inf_f32 ? copysign_f32((f32)y, x) : x;
}""",
        "f32 f64 abs_f32 log1p_wide sqrt_f64 copysign_f32 inf_f32",
    )
    yield function(
        "acosh_f32",
        """\
f32 acosh_f32(f32 x) {
  f64 d = (f64)x - 1, y = log1p_wide(d + sqrt_f64(d * (d + 2)));
  return choose_f32((x >= 1) & (x < inf_f32), (f32)y, x >= 1 ? x : nan_f32);
}""",
        "f32 f64 log1p_wide sqrt_f64 inf_f32 nan_f32 choose_f32",
    )
    yield function(
        "atanh_f32",
        """\
f32 atanh_f32(f32 x) {
  f64 a = abs_f32(x), y = 0.5 * log1p_wide(2 * a / (1 - a));
  return choose_f32(a < 1, copysign_f32((f32)y, x), a == 1 ? copysign_f32(inf_f32, x) : nan_f32);
}""",
        "f32 f64 abs_f32 log1p_wide copysign_f32 inf_f32 nan_f32 choose_f32",
    )
    yield function(
        "cbrt_f32",
        """\
f32 cbrt_f32(f32 x) {
  f32 a = abs_f32(x), y = (f32)exp_wide(log_wide(a) / 3);
  return choose_f32((a > 0) & (a < inf_f32), copysign_f32(y, x), x);
}""",
        "f32 abs_f32 exp_wide log_wide inf_f32 copysign_f32 choose_f32",
    )
    yield function(
        "pow_f32",
        _POW,
        "f32 f64 u32 abs_f32 bits_f32 exp_wide log_wide limit_f64 trunc_f32 inf_f32 nan_f32 choose_f32",
    )


# As C's pow: 1 if the exponent is 0 or the base 1, even for NaN. `&` and `|`, since `&&` and `||` would be branches.
_POW = """\
f32 pow_f32(f32 x, f32 y) {
  f32 a = abs_f32(x), size = abs_f32(y), half = y * 0.5f;
  f32 r = (f32)exp_wide(limit_f64((f64)y * log_wide(a), 200));
  u32 integer = trunc_f32(y) == y, odd = integer & (trunc_f32(half) != half) & (size < 16777216.0f);
  u32 negative = bits_f32(x) >> 31, extreme = (a == 0) | (a == inf_f32) | (size == inf_f32);
  r = extreme ? (a > 1) == (y > 0) ? inf_f32 : 0.0f : r;
  r = (x < 0) & (integer ^ 1) & (a < inf_f32) ? nan_f32 : r;
  r = odd & negative ? -r : r;
  r = (x != x) | (y != y) ? x + y : r;
  r = (a == 1) & (size == inf_f32) ? 1.0f : r;
  return choose_f32((y == 0) | (x == 1), 1.0f, r);
}"""


def _trigonometric() -> Iterator[Definition]:
    for name, shift in (("sin", 0), ("cos", 1)):
        moved = f" + {shift}" if shift else ""
        yield function(
            f"{name}_f32",
            f"""\
f32 {name}_f32(f32 x) {{
  angle a = angle_of(x);
  u32 quadrant = a.quadrant{moved};
  f64 s = sin_wide(a.r), c = cos_wide(a.r), y = quadrant & 1 ? c : s;
  return choose_f32(abs_f32(x) < inf_f32, (f32)(quadrant & 2 ? -y : y), nan_f32);
}}""",
            "f32 f64 u32 angle angle_of sin_wide cos_wide abs_f32 inf_f32 nan_f32 choose_f32",
        )
    yield function(
        "tan_f32",
        """\
f32 tan_f32(f32 x) {
  angle a = angle_of(x);
  f64 s = sin_wide(a.r), c = cos_wide(a.r);
  return choose_f32(abs_f32(x) < inf_f32, (f32)(a.quadrant & 1 ? -c / s : s / c), nan_f32);
}""",
        "f32 f64 angle angle_of sin_wide cos_wide abs_f32 inf_f32 nan_f32 choose_f32",
    )
    yield function("atan_f32", "f32 atan_f32(f32 x) { return (f32)atan_wide(x); }", "f32 atan_wide")
    yield function(
        "asin_f32",
        "f32 asin_f32(f32 x) { f64 w = x; return (f32)atan_wide(w / sqrt_f64((1 - w) * (1 + w))); }",
        "f32 f64 atan_wide sqrt_f64",
    )
    yield function(
        "acos_f32",
        "f32 acos_f32(f32 x) { f64 w = x; return (f32)(2 * atan_wide(sqrt_f64((1 - w) / (1 + w)))); }",
        "f32 f64 atan_wide sqrt_f64",
    )
    yield function(
        "atan2_f32",
        f"""\
f32 atan2_f32(f32 y, f32 x) {{
  f64 a = abs_f32(y), b = abs_f32(x), low = a < b ? a : b, high = a < b ? b : a;
  f64 t = atan_wide(high == 0 ? 0 : low == inf_f32 ? 1 : low / high);
  t = a > b ? {math.pi / 2!r} - t : t;
  t = bits_f32(x) >> 31 ? {math.pi!r} - t : t;
  return x != x || y != y ? x + y : copysign_f32((f32)t, y);
}}""",
        "f32 f64 abs_f32 atan_wide inf_f32 bits_f32 copysign_f32",
    )


def _others() -> Iterator[Definition]:
    yield function(
        "erf_f32",
        f"""\
f32 erf_f32(f32 x) {{
  f64 w = limit_f64(x, 4), t = mul_add_f64(w, w * 0.125, -1.0);
  return (f32)(w * {horner("t", _ERF)});
}}""",
        "f32 f64 limit_f64 mul_add_f64",
    )
    yield function("rsqrt_f32", "f32 rsqrt_f32(f32 x) { return (f32)(1 / sqrt_f64(x)); }", "f32 sqrt_f64")
    yield function(
        "hypot_f32",
        """\
f32 hypot_f32(f32 x, f32 y) {
  f64 a = x, b = y;
  return choose_f32((abs_f32(x) == inf_f32) | (abs_f32(y) == inf_f32), inf_f32, (f32)sqrt_f64(a * a + b * b));
}""",
        "f32 f64 abs_f32 inf_f32 sqrt_f64 choose_f32",
    )


def _remainder() -> Iterator[Definition]:
    # Parts of REM_BITS bits of the quotient, highest first. Each is off by at most one, and what it leaves has few enough bits
    # to be exact. Compilers leave out those that a constant divisor has not.
    yield function(
        "rem_part",
        f"""\
f64 rem_part(f64 a, f64 b, f64 over_b, f64 up, f64 down) {{  // a mod (b * up), given 1 / up
  f64 s = b * up, n = a * (over_b * down) + {_TO_INTEGER} - {_TO_INTEGER}, r = __builtin_fma(-n, s, a);
  return r < 0 ? r + s : r;
}}""",
        "f64",
    )
    shifts = range(REM_BITS * (277 // REM_BITS), 0, -REM_BITS)  # a quotient of two f32 is below 2**278
    parts = " ".join(f"a = b <= 0x1p{129 - k} ? rem_part(a, b, over_b, 0x1p{k}, 0x1p-{k}) : a;" for k in shifts)
    yield function(
        "rem_f32",
        f"""\
f32 rem_f32(f32 x, f32 y) {{
  f64 a = abs_f32(x), b = abs_f32(y), over_b = 1 / b;
  {parts}
  a = rem_part(a, b, over_b, 1, 1);
  return copysign_f32(abs_f32(y) == inf_f32 ? x - x + abs_f32(x) : (f32)a, x);
}}""",
        "f32 f64 rem_part abs_f32 copysign_f32 inf_f32",
    )


MATH: tuple[Definition, ...] = (
    *_choices(),
    *_parts(),
    *_exponential(),
    *_logarithm(),
    *_trigonometric(),
    *_remainder(),
    *_others(),
)
