"""Library functions on complex numbers, the same text for c64 and c128: `$C` is the complex type, `$T` that of its parts."""

from __future__ import annotations

from indexing.emitters.targets.library import Definition, function

_SOURCES: tuple[tuple[str, str, str], ...] = (
    ("add", "$C add_$C($C a, $C b) { return make_$C(a.x + b.x, a.y + b.y); }", "make_$C"),
    ("sub", "$C sub_$C($C a, $C b) { return make_$C(a.x - b.x, a.y - b.y); }", "make_$C"),
    ("neg", "$C neg_$C($C a) { return make_$C(-a.x, -a.y); }", "make_$C"),
    ("mul", "$C mul_$C($C a, $C b) { return make_$C(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }", "make_$C"),
    (
        "div",
        """\
$C div_$C($C a, $C b) {  // Smith's algorithm: the larger part of b is divided out first
  if (abs_$T(b.x) >= abs_$T(b.y)) {
    if (b.x == 0 && b.y == 0) return make_$C(a.x / b.x, a.y / b.x);
    $T r = b.y / b.x, d = b.x + b.y * r;
    return make_$C((a.x + a.y * r) / d, (a.y - a.x * r) / d);
  }
  $T r = b.x / b.y, d = b.x * r + b.y;
  return make_$C((a.x * r + a.y) / d, (a.y * r - a.x) / d);
}""",
        "make_$C $T abs_$T",
    ),
    ("eq", "bool eq_$C($C a, $C b) { return a.x == b.x && a.y == b.y; }", "bool"),
    ("ne", "bool ne_$C($C a, $C b) { return a.x != b.x || a.y != b.y; }", "bool"),
    ("select", "$C select_$C(bool p, $C a, $C b) { return make_$C(p ? a.x : b.x, p ? a.y : b.y); }", "bool make_$C"),
    ("abs", "$T abs_$C($C a) { return hypot_$T(a.x, a.y); }", "$T hypot_$T"),
    (
        "sign",
        """\
$C sign_$C($C a) {
  $T m = hypot_$T(a.x, a.y);
  return m == 0 ? a : make_$C(a.x / m, a.y / m);
}""",
        "make_$C $T hypot_$T",
    ),
    (
        "exp",
        """\
$C exp_$C($C a) {
  $T m = exp_$T(a.x);
  return a.y == 0 ? make_$C(m, a.y) : make_$C(m * cos_$T(a.y), m * sin_$T(a.y));
}""",
        "make_$C $T exp_$T cos_$T sin_$T",
    ),
    (
        "expm1",
        """\
$C expm1_$C($C a) {
  $T s = sin_$T(a.y / 2);
  return make_$C(expm1_$T(a.x) * cos_$T(a.y) - 2 * s * s, exp_$T(a.x) * sin_$T(a.y));
}""",
        "make_$C $T sin_$T expm1_$T cos_$T exp_$T",
    ),
    (
        "log",
        "$C log_$C($C a) { return make_$C(log_$T(hypot_$T(a.x, a.y)), atan2_$T(a.y, a.x)); }",
        "make_$C log_$T hypot_$T atan2_$T",
    ),
    (
        "log1p",
        """\
$C log1p_$C($C a) {
  bool small = abs_$T(a.x) < ($T)0.5 && abs_$T(a.y) < ($T)0.5;
  $T re = small ? log1p_$T(a.x * (a.x + 2) + a.y * a.y) / 2 : log_$T(hypot_$T(a.x + 1, a.y));
  return make_$C(re, atan2_$T(a.y, a.x + 1));
}""",
        "bool make_$C $T abs_$T log1p_$T log_$T hypot_$T atan2_$T",
    ),
    (
        "sqrt",
        """\
$C sqrt_$C($C a) {
  $T m = hypot_$T(a.x, a.y), t = sqrt_$T((abs_$T(a.x) + m) / 2);
  if (t == 0) return make_$C(0, a.y);
  return a.x >= 0 ? make_$C(t, a.y / (2 * t)) : make_$C(abs_$T(a.y) / (2 * t), copysign_$T(t, a.y));
}""",
        "make_$C $T hypot_$T sqrt_$T abs_$T copysign_$T",
    ),
    ("rsqrt", "$C rsqrt_$C($C a) { return div_$C(make_$C(1, 0), sqrt_$C(a)); }", "make_$C div_$C sqrt_$C"),
    (
        "cbrt",
        """\
$C cbrt_$C($C a) {
  $C l = log_$C(a);
  return a.x == 0 && a.y == 0 ? make_$C(0, 0) : exp_$C(make_$C(l.x / 3, l.y / 3));
}""",
        "make_$C log_$C exp_$C",
    ),
    (
        "sin",
        "$C sin_$C($C a) { return make_$C(sin_$T(a.x) * cosh_$T(a.y), cos_$T(a.x) * sinh_$T(a.y)); }",
        "make_$C sin_$T cos_$T sinh_$T cosh_$T",
    ),
    (
        "cos",
        "$C cos_$C($C a) { return make_$C(cos_$T(a.x) * cosh_$T(a.y), -(sin_$T(a.x) * sinh_$T(a.y))); }",
        "make_$C sin_$T cos_$T sinh_$T cosh_$T",
    ),
    (
        "sinh",
        "$C sinh_$C($C a) { return make_$C(sinh_$T(a.x) * cos_$T(a.y), cosh_$T(a.x) * sin_$T(a.y)); }",
        "make_$C sin_$T cos_$T sinh_$T cosh_$T",
    ),
    (
        "cosh",
        "$C cosh_$C($C a) { return make_$C(cosh_$T(a.x) * cos_$T(a.y), sinh_$T(a.x) * sin_$T(a.y)); }",
        "make_$C sin_$T cos_$T sinh_$T cosh_$T",
    ),
    (
        "tanh",
        """\
$C tanh_$C($C a) {  // after Kahan: no overflow of sinh, no cancellation
  if (abs_$T(a.x) > 22)
    return make_$C(copysign_$T(($T)1, a.x), 4 * sin_$T(a.y) * cos_$T(a.y) * exp_$T(-2 * abs_$T(a.x)));
  $T t = tan_$T(a.y), beta = 1 + t * t, s = sinh_$T(a.x), d = 1 + beta * s * s;
  return make_$C(beta * sqrt_$T(1 + s * s) * s / d, t / d);
}""",
        "make_$C $T abs_$T copysign_$T sin_$T cos_$T exp_$T tan_$T sinh_$T sqrt_$T",
    ),
    (
        "tan",
        """\
$C tan_$C($C a) {
  $C h = tanh_$C(make_$C(-a.y, a.x));
  return make_$C(h.y, -h.x);
}""",
        "make_$C tanh_$C",
    ),
    (
        "logistic",
        """\
$C logistic_$C($C a) {
  $C e = exp_$C(make_$C(-a.x, -a.y));
  return div_$C(make_$C(1, 0), make_$C(1 + e.x, e.y));
}""",
        "make_$C exp_$C div_$C",
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
        "make_$C sqrt_$C add_$C mul_$C log_$C div_$C",
    ),
)

COMPLEX: tuple[Definition, ...] = tuple(
    function(f"{name}_$C", text, f"$C {needs}", C=complex_type, T=part)
    for complex_type, part in (("c64", "f32"), ("c128", "f64"))
    for name, text, needs in _SOURCES
)
