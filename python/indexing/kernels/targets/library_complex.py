"""Library functions on complex numbers, the same text for c64 and c128: `$C` is the complex type, `$T` that of its parts.

At infinities and NaNs, division, exp, log, sqrt, sinh, cosh, tanh and their circular counterparts follow annex G of C99, as
the reference does.
"""

from __future__ import annotations

from indexing.kernels.targets.library import Definition, function

_SOURCES: tuple[tuple[str, str, str], ...] = (
    ("add", "$C add_$C($C a, $C b) { return make_$C(a.x + b.x, a.y + b.y); }", "make_$C"),
    ("sub", "$C sub_$C($C a, $C b) { return make_$C(a.x - b.x, a.y - b.y); }", "make_$C"),
    ("neg", "$C neg_$C($C a) { return make_$C(-a.x, -a.y); }", "make_$C"),
    ("mul", "$C mul_$C($C a, $C b) { return make_$C(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }", "make_$C"),
    (
        "ratio",
        """\
$C ratio_$C($C a, $C b) {  // Smith's algorithm: the larger part of b is divided out first
  bool wide = abs_$T(b.x) >= abs_$T(b.y);
  $T p = wide ? b.x : b.y, s = wide ? b.y : b.x, u = wide ? a.x : a.y, v = wide ? a.y : a.x;
  $T r = s / p, d = p + s * r;
  return make_$C((u + v * r) / d, (wide ? v - u * r : u * r - v) / d);
}""",
        "bool $T abs_$T make_$C",
    ),
    (
        "edge",
        """\
$T edge_$C($T x) { return copysign_$T(infinite_$C(x) ? ($T)1 : ($T)0, x); }  // of the unit square""",
        "$T infinite_$C copysign_$T",
    ),
    (
        "div",
        """\
$C div_$C($C a, $C b) {  // without branches
  $C q = ratio_$C(a, b);
  bool wide = infinite_$C(a.x) | infinite_$C(a.y), deep = infinite_$C(b.x) | infinite_$C(b.y);
  bool over = wide & finite_$C(b.x) & finite_$C(b.y), under = deep & finite_$C(a.x) & finite_$C(a.y);
  bool zero = (b.x == 0) & (b.y == 0), lost = (q.x != q.x) & (q.y != q.y);
  $T px = over ? edge_$C(a.x) : a.x, py = over ? edge_$C(a.y) : a.y;
  $T rx = under ? edge_$C(b.x) : b.x, ry = under ? edge_$C(b.y) : b.y;
  $T scale = under ? ($T)0 : inf_$T, pole = copysign_$T(inf_$T, b.x);
  $T x = zero ? a.x * pole : scale * (px * rx + py * ry), y = zero ? a.y * pole : scale * (py * rx - px * ry);
  bool known = lost & (zero | over | under);
  return make_$C(known ? x : q.x, known ? y : q.y);
}""",
        "bool $T make_$C ratio_$C infinite_$C finite_$C edge_$C inf_$T copysign_$T",
    ),
    ("select", "$C select_$C(bool p, $C a, $C b) { return make_$C(p ? a.x : b.x, p ? a.y : b.y); }", "bool make_$C"),
    (
        "sign",
        """\
$C sign_$C($C a) {
  $T m = hypot_$T(a.x, a.y);
  return m == 0 ? a : make_$C(a.x / m, a.y / m);
}""",
        "$T hypot_$T make_$C",
    ),
    ("finite", "bool finite_$C($T a) { return abs_$T(a) < inf_$T; }", "bool $T abs_$T inf_$T"),
    ("infinite", "bool infinite_$C($T a) { return abs_$T(a) == inf_$T; }", "bool $T abs_$T inf_$T"),
    (
        "exp",
        """\
$C exp_$C($C a) {
  $T m = exp_$T(a.x);
  if (a.y == 0) return make_$C(m, a.y);
  if (!finite_$C(a.y)) {
    $T nan = a.y - a.y;
    return infinite_$C(a.x) ? make_$C(m, a.x > 0 ? nan : 0) : make_$C(nan, nan);
  }
  if (infinite_$C(m) && finite_$C(a.x)) {  // exp(a.x) alone is too large
    $T h = exp_$T(a.x / 2);
    return make_$C(h * cos_$T(a.y) * h, h * sin_$T(a.y) * h);
  }
  return make_$C(m * cos_$T(a.y), m * sin_$T(a.y));
}""",
        "$T exp_$T make_$C finite_$C infinite_$C cos_$T sin_$T",
    ),
    (
        "expm1",
        """\
$C expm1_$C($C a) {
  if (a.y == 0) return make_$C(expm1_$T(a.x), a.y);
  $T s = sin_$T(a.y / 2);
  return make_$C(expm1_$T(a.x) * cos_$T(a.y) - 2 * s * s, exp_$T(a.x) * sin_$T(a.y));
}""",
        "$T make_$C expm1_$T sin_$T cos_$T exp_$T",
    ),
    (
        "logabs",
        """\
$T logabs_$C($T x, $T y) {
  $T m = hypot_$T(x, y);
  bool over = infinite_$C(m) && finite_$C(x) && finite_$C(y);
  return over ? log_$T(hypot_$T(x / 2, y / 2)) + ($T)0.69314718055994530942 : log_$T(m);
}""",
        "bool $T hypot_$T infinite_$C finite_$C log_$T",
    ),
    (
        "log",
        "$C log_$C($C a) { return make_$C(logabs_$C(a.x, a.y), atan2_$T(a.y, a.x)); }",
        "make_$C logabs_$C atan2_$T",
    ),
    (
        "log1p",
        """\
$C log1p_$C($C a) {
  bool small = abs_$T(a.x) < ($T)0.5 && abs_$T(a.y) < ($T)0.5;
  $T re = small ? log1p_$T(a.x * (a.x + 2) + a.y * a.y) / 2 : logabs_$C(a.x + 1, a.y);
  return make_$C(re, atan2_$T(a.y, a.x + 1));
}""",
        "bool $T abs_$T log1p_$T logabs_$C make_$C atan2_$T",
    ),
    (
        "sqrt",
        """\
$C sqrt_$C($C a) {
  $T x = abs_$T(a.x), y = abs_$T(a.y);
  if (infinite_$C(y)) return make_$C(y, a.y);
  if (infinite_$C(x)) {
    $T zero = a.y - a.y;
    return a.x > 0 ? make_$C(x, copysign_$T(zero, a.y)) : make_$C(zero, copysign_$T(x, a.y));
  }
  $T k = x > ($T)1e18 || y > ($T)1e18 ? ($T)0.25 : ($T)1;  // so that no sum overflows
  $T m = hypot_$T(x * k, y * k), t = sqrt_$T((x * k + m) / 2) * (k < 1 ? 2 : 1);
  if (t == 0) return make_$C(0, a.y);
  return a.x >= 0 ? make_$C(t, a.y / (2 * t)) : make_$C(y / (2 * t), copysign_$T(t, a.y));
}""",
        "$T abs_$T infinite_$C make_$C copysign_$T hypot_$T sqrt_$T",
    ),
    ("rsqrt", "$C rsqrt_$C($C a) { return div_$C(make_$C(1, 0), sqrt_$C(a)); }", "div_$C make_$C sqrt_$C"),
    (
        "cbrt",
        """\
$C cbrt_$C($C a) {
  $C l = log_$C(a);
  return a.x == 0 && a.y == 0 ? make_$C(0, 0) : exp_$C(make_$C(l.x / 3, l.y / 3));
}""",
        "log_$C make_$C exp_$C",
    ),
    (
        "sinh",
        """\
$C sinh_$C($C a) {
  if (a.y == 0) return make_$C(sinh_$T(a.x), a.y);
  if (!finite_$C(a.y)) return make_$C(a.x == 0 || infinite_$C(a.x) ? a.x : a.y - a.y, a.y - a.y);
  return make_$C(sinh_$T(a.x) * cos_$T(a.y), cosh_$T(a.x) * sin_$T(a.y));
}""",
        "make_$C sinh_$T finite_$C infinite_$C cos_$T cosh_$T sin_$T",
    ),
    (
        "cosh",
        """\
$C cosh_$C($C a) {
  if (a.y == 0) return make_$C(cosh_$T(a.x), copysign_$T(($T)1, a.x) * a.y);
  if (!finite_$C(a.y)) {
    $T nan = a.y - a.y;
    return a.x == 0 ? make_$C(nan, a.x) : make_$C(infinite_$C(a.x) ? a.x * a.x : nan, nan);
  }
  return make_$C(cosh_$T(a.x) * cos_$T(a.y), sinh_$T(a.x) * sin_$T(a.y));
}""",
        "$T make_$C cosh_$T copysign_$T finite_$C infinite_$C cos_$T sinh_$T sin_$T",
    ),
    (
        "sin",
        """\
$C sin_$C($C a) {
  $C h = sinh_$C(make_$C(-a.y, a.x));
  return make_$C(h.y, -h.x);
}""",
        "sinh_$C make_$C",
    ),
    ("cos", "$C cos_$C($C a) { return cosh_$C(make_$C(-a.y, a.x)); }", "cosh_$C make_$C"),
    (
        "tanh",
        """\
$C tanh_$C($C a) {  // after Kahan: no overflow of sinh, no cancellation
  if (a.y == 0) return make_$C(tanh_$T(a.x), a.y);
  if (a.x == 0) return make_$C(a.x, tan_$T(a.y));
  if (!finite_$C(a.y)) {
    $T nan = a.y - a.y;
    return infinite_$C(a.x) ? make_$C(copysign_$T(($T)1, a.x), copysign_$T(($T)0, a.y)) : make_$C(nan, nan);
  }
  if (abs_$T(a.x) > 22) return make_$C(copysign_$T(($T)1, a.x), 4 * sin_$T(a.y) * cos_$T(a.y) * exp_$T(-2 * abs_$T(a.x)));
  $T t = tan_$T(a.y), beta = 1 + t * t, s = sinh_$T(a.x), d = 1 + beta * s * s;
  return make_$C(beta * sqrt_$T(1 + s * s) * s / d, t / d);
}""",
        "$T make_$C tanh_$T tan_$T finite_$C infinite_$C copysign_$T abs_$T sin_$T cos_$T exp_$T sinh_$T sqrt_$T",
    ),
    (
        "tan",
        """\
$C tan_$C($C a) {
  $C h = tanh_$C(make_$C(-a.y, a.x));
  return make_$C(h.y, -h.x);
}""",
        "tanh_$C make_$C",
    ),
    (
        "logistic",
        """\
$C logistic_$C($C a) {
  if (a.x < 0) {  // exp(-a) may be too large
    $C p = exp_$C(a);
    return div_$C(p, make_$C(1 + p.x, p.y));
  }
  $C e = exp_$C(make_$C(-a.x, -a.y));
  return div_$C(make_$C(1, 0), make_$C(1 + e.x, e.y));
}""",
        "exp_$C div_$C make_$C",
    ),
    (
        "pow",
        """\
$C pow_$C($C a, $C b) {
  if (b.x == 0 && b.y == 0) return make_$C(1, 0);
  return a.x == 0 && a.y == 0 ? make_$C(0, 0) : exp_$C(mul_$C(b, log_$C(a)));
}""",
        "make_$C exp_$C mul_$C log_$C",
    ),
    (
        "atan2",
        """\
$C atan2_$C($C a, $C b) {  // -i * log((b + i * a) / sqrt(a * a + b * b))
  $C norm = sqrt_$C(add_$C(mul_$C(a, a), mul_$C(b, b)));
  $C l = log_$C(div_$C(make_$C(b.x - a.y, b.y + a.x), norm));
  return make_$C(l.y, -l.x);
}""",
        "sqrt_$C add_$C mul_$C log_$C div_$C make_$C",
    ),
    ("eq", "bool eq_$C($C a, $C b) { return a.x == b.x && a.y == b.y; }", "bool"),
    ("ne", "bool ne_$C($C a, $C b) { return a.x != b.x || a.y != b.y; }", "bool"),
    ("abs", "$T abs_$C($C a) { return hypot_$T(a.x, a.y); }", "$T hypot_$T"),
)

COMPLEX: tuple[Definition, ...] = tuple(
    function(f"{name}_$C", text, f"$C {needs}" if "$C a" in text else needs, C=complex_type, T=part)
    for complex_type, part in (("c64", "f32"), ("c128", "f64"))
    for name, text, needs in _SOURCES
)
