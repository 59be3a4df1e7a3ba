"""Intrinsics on complex numbers, the same text for c64 and c128.

At infinities and NaNs, division, exp, log, sqrt, sinh, cosh, tanh and their circular counterparts give what annex G of C99 asks
for, as the reference does.
"""

from __future__ import annotations

import re

_SOURCES: dict[str, str] = {  # C stands for the complex type, T for its parts
    "add": "@fn C add_C(C a, C b) { return @C(a.x + b.x, a.y + b.y); }",
    "sub": "@fn C sub_C(C a, C b) { return @C(a.x - b.x, a.y - b.y); }",
    "neg": "@fn C neg_C(C a) { return @C(-a.x, -a.y); }",
    "mul": "@fn C mul_C(C a, C b) { return @C(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }",
    "ratio": """\
@fn C ratio_C(C a, C b) {  // Smith's algorithm: the larger part of b is divided out first
  if (@fabs_T(b.x) >= @fabs_T(b.y)) {
    T r = b.y / b.x, d = b.x + b.y * r;
    return @C((a.x + a.y * r) / d, (a.y - a.x * r) / d);
  }
  T r = b.x / b.y, d = b.x * r + b.y;
  return @C((a.x * r + a.y) / d, (a.y * r - a.x) / d);
}""",
    "boxed": """\
@fn C boxed_C(C a) {  // infinite numbers as corners and edges of the unit square
  if (!@infinite_C(a.x) && !@infinite_C(a.y)) return a;
  return @C(@copysign_T(@infinite_C(a.x) ? (T)1 : (T)0, a.x), @copysign_T(@infinite_C(a.y) ? (T)1 : (T)0, a.y));
}""",
    "div": """\
@fn C div_C(C a, C b) {
  if (b.x == 0 && b.y == 0) return @C(a.x / b.x, a.y / b.x);
  C q = @ratio_C(a, b);
  if (q.x == q.x || q.y == q.y) return q;
  bool over = (@infinite_C(a.x) || @infinite_C(a.y)) && @finite_C(b.x) && @finite_C(b.y);
  bool under = (@infinite_C(b.x) || @infinite_C(b.y)) && @finite_C(a.x) && @finite_C(a.y);
  if (!over && !under) return q;
  T scale = under ? (T)0 : @infinite_C(a.x) ? @fabs_T(a.x) : @fabs_T(a.y);
  C p = @boxed_C(a), r = @boxed_C(b);
  return @C(scale * (p.x * r.x + p.y * r.y), scale * (p.y * r.x - p.x * r.y));
}""",
    "select": "@fn C select_C(bool p, C a, C b) { return @C(p ? a.x : b.x, p ? a.y : b.y); }",
    "sign": """\
@fn C sign_C(C a) {
  T m = @hypot_T(a.x, a.y);
  return m == 0 ? a : @C(a.x / m, a.y / m);
}""",
    "finite": "@fn bool finite_C(T a) { return a - a == 0; }",
    "infinite": "@fn bool infinite_C(T a) { return a == a && a - a != 0; }",
    "exp": """\
@fn C exp_C(C a) {
  T m = @exp_T(a.x);
  if (a.y == 0) return @C(m, a.y);
  if (!@finite_C(a.y)) {
    T nan = a.y - a.y;
    return @infinite_C(a.x) ? @C(m, a.x > 0 ? nan : 0) : @C(nan, nan);
  }
  if (@infinite_C(m) && @finite_C(a.x)) {  // exp(a.x) alone is too large
    T h = @exp_T(a.x / 2);
    return @C(h * @cos_T(a.y) * h, h * @sin_T(a.y) * h);
  }
  return @C(m * @cos_T(a.y), m * @sin_T(a.y));
}""",
    "expm1": """\
@fn C expm1_C(C a) {
  if (a.y == 0) return @C(@expm1_T(a.x), a.y);
  T s = @sin_T(a.y / 2);
  return @C(@expm1_T(a.x) * @cos_T(a.y) - 2 * s * s, @exp_T(a.x) * @sin_T(a.y));
}""",
    "logabs": """\
@fn T logabs_C(T x, T y) {
  T m = @hypot_T(x, y);
  bool over = @infinite_C(m) && @finite_C(x) && @finite_C(y);
  return over ? @log_T(@hypot_T(x / 2, y / 2)) + (T)0.69314718055994530942 : @log_T(m);
}""",
    "log": "@fn C log_C(C a) { return @C(@logabs_C(a.x, a.y), @atan2_T(a.y, a.x)); }",
    "log1p": """\
@fn C log1p_C(C a) {
  bool small = @fabs_T(a.x) < (T)0.5 && @fabs_T(a.y) < (T)0.5;
  T re = small ? @log1p_T(a.x * (a.x + 2) + a.y * a.y) / 2 : @logabs_C(a.x + 1, a.y);
  return @C(re, @atan2_T(a.y, a.x + 1));
}""",
    "sqrt": """\
@fn C sqrt_C(C a) {
  T x = @fabs_T(a.x), y = @fabs_T(a.y);
  if (@infinite_C(y)) return @C(y, a.y);
  if (@infinite_C(x)) {
    T zero = a.y - a.y;
    return a.x > 0 ? @C(x, @copysign_T(zero, a.y)) : @C(zero, @copysign_T(x, a.y));
  }
  T k = x > (T)1e18 || y > (T)1e18 ? (T)0.25 : (T)1;  // so that no sum overflows
  T m = @hypot_T(x * k, y * k), t = @sqrt_T((x * k + m) / 2) * (k < 1 ? 2 : 1);
  if (t == 0) return @C(0, a.y);
  return a.x >= 0 ? @C(t, a.y / (2 * t)) : @C(y / (2 * t), @copysign_T(t, a.y));
}""",
    "rsqrt": "@fn C rsqrt_C(C a) { return @div_C(@C(1, 0), @sqrt_C(a)); }",
    "cbrt": """\
@fn C cbrt_C(C a) {
  C l = @log_C(a);
  return a.x == 0 && a.y == 0 ? @C(0, 0) : @exp_C(@C(l.x / 3, l.y / 3));
}""",
    "sinh": """\
@fn C sinh_C(C a) {
  if (a.y == 0) return @C(@sinh_T(a.x), a.y);
  if (!@finite_C(a.y)) return @C(a.x == 0 || @infinite_C(a.x) ? a.x : a.y - a.y, a.y - a.y);
  return @C(@sinh_T(a.x) * @cos_T(a.y), @cosh_T(a.x) * @sin_T(a.y));
}""",
    "cosh": """\
@fn C cosh_C(C a) {
  if (a.y == 0) return @C(@cosh_T(a.x), @copysign_T((T)1, a.x) * a.y);
  if (!@finite_C(a.y)) {
    T nan = a.y - a.y;
    return a.x == 0 ? @C(nan, a.x) : @C(@infinite_C(a.x) ? a.x * a.x : nan, nan);
  }
  return @C(@cosh_T(a.x) * @cos_T(a.y), @sinh_T(a.x) * @sin_T(a.y));
}""",
    "sin": """\
@fn C sin_C(C a) {
  C h = @sinh_C(@C(-a.y, a.x));
  return @C(h.y, -h.x);
}""",
    "cos": "@fn C cos_C(C a) { return @cosh_C(@C(-a.y, a.x)); }",
    "tanh": """\
@fn C tanh_C(C a) {  // after Kahan: no overflow of sinh, no cancellation
  if (a.y == 0) return @C(@tanh_T(a.x), a.y);
  if (a.x == 0) return @C(a.x, @tan_T(a.y));
  if (!@finite_C(a.y)) {
    T nan = a.y - a.y;
    return @infinite_C(a.x) ? @C(@copysign_T((T)1, a.x), @copysign_T((T)0, a.y)) : @C(nan, nan);
  }
  if (@fabs_T(a.x) > 22) return @C(@copysign_T((T)1, a.x), 4 * @sin_T(a.y) * @cos_T(a.y) * @exp_T(-2 * @fabs_T(a.x)));
  T t = @tan_T(a.y), beta = 1 + t * t, s = @sinh_T(a.x), d = 1 + beta * s * s;
  return @C(beta * @sqrt_T(1 + s * s) * s / d, t / d);
}""",
    "tan": """\
@fn C tan_C(C a) {
  C h = @tanh_C(@C(-a.y, a.x));
  return @C(h.y, -h.x);
}""",
    "logistic": """\
@fn C logistic_C(C a) {
  if (a.x < 0) {  // exp(-a) may be too large
    C p = @exp_C(a);
    return @div_C(p, @C(1 + p.x, p.y));
  }
  C e = @exp_C(@C(-a.x, -a.y));
  return @div_C(@C(1, 0), @C(1 + e.x, e.y));
}""",
    "pow": """\
@fn C pow_C(C a, C b) {
  if (b.x == 0 && b.y == 0) return @C(1, 0);
  return a.x == 0 && a.y == 0 ? @C(0, 0) : @exp_C(@mul_C(b, @log_C(a)));
}""",
    "atan2": """\
@fn C atan2_C(C a, C b) {  // -i * log((b + i * a) / sqrt(a * a + b * b))
  C norm = @sqrt_C(@add_C(@mul_C(a, a), @mul_C(b, b)));
  C l = @log_C(@div_C(@C(b.x - a.y, b.y + a.x), norm));
  return @C(l.y, -l.x);
}""",
}


def _for_type(text: str, complex_type: str, part: str) -> str:
    text = re.sub(r"@C\b", f"@{complex_type}", text)
    text = re.sub(r"_C\b|\bC\b", lambda m: m.group().replace("C", complex_type), text)
    return re.sub(r"_T\b|\bT\b", lambda m: m.group().replace("T", part), text)


COMPLEX: dict[str, str] = {
    f"{name}_{complex_type}": _for_type(text, complex_type, part)
    for complex_type, part in (("c64", "f32"), ("c128", "f64"))
    for name, text in _SOURCES.items()
}
