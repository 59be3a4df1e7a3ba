// Functions on complex numbers, the same text for c64 and c128: `$C` is the complex type, `$T` that of its parts.
//
// At infinities and NaNs, division, exp, log, sqrt, sinh, cosh, tanh and their circular counterparts follow annex G of C99, as
// the reference does.

$C add_$C($C a, $C b) { return make_$C(a.x + b.x, a.y + b.y); }

$C sub_$C($C a, $C b) { return make_$C(a.x - b.x, a.y - b.y); }

$C neg_$C($C a) { return make_$C(-a.x, -a.y); }

$C mul_$C($C a, $C b) { return make_$C(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

$C ratio_$C($C a, $C b) {  // Smith's algorithm: the larger part of b is divided out first
  bool wide = abs_$T(b.x) >= abs_$T(b.y);
  $T p = wide ? b.x : b.y, s = wide ? b.y : b.x, u = wide ? a.x : a.y, v = wide ? a.y : a.x;
  $T r = s / p, d = p + s * r;
  return make_$C((u + v * r) / d, (wide ? v - u * r : u * r - v) / d);
}

$T edge_$C($T x) { return copysign_$T(infinite_$C(x) ? ($T)1 : ($T)0, x); }  // of the unit square

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
}

$C select_$C(bool p, $C a, $C b) { return make_$C(p ? a.x : b.x, p ? a.y : b.y); }

$C sign_$C($C a) {
  $T m = hypot_$T(a.x, a.y);
  return m == 0 ? a : make_$C(a.x / m, a.y / m);
}

bool finite_$C($T a) { return abs_$T(a) < inf_$T; }

bool infinite_$C($T a) { return abs_$T(a) == inf_$T; }

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
}

$C expm1_$C($C a) {
  if (a.y == 0) return make_$C(expm1_$T(a.x), a.y);
  $T s = sin_$T(a.y / 2);
  return make_$C(expm1_$T(a.x) * cos_$T(a.y) - 2 * s * s, exp_$T(a.x) * sin_$T(a.y));
}

$T logabs_$C($T x, $T y) {
  $T m = hypot_$T(x, y);
  bool over = infinite_$C(m) && finite_$C(x) && finite_$C(y);
  return over ? log_$T(hypot_$T(x / 2, y / 2)) + ($T)0.69314718055994530942 : log_$T(m);
}

$C log_$C($C a) { return make_$C(logabs_$C(a.x, a.y), atan2_$T(a.y, a.x)); }

$C log1p_$C($C a) {
  bool small = abs_$T(a.x) < ($T)0.5 && abs_$T(a.y) < ($T)0.5;
  $T re = small ? log1p_$T(a.x * (a.x + 2) + a.y * a.y) / 2 : logabs_$C(a.x + 1, a.y);
  return make_$C(re, atan2_$T(a.y, a.x + 1));
}

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
}

$C rsqrt_$C($C a) { return div_$C(make_$C(1, 0), sqrt_$C(a)); }

$C cbrt_$C($C a) {
  $C l = log_$C(a);
  return a.x == 0 && a.y == 0 ? make_$C(0, 0) : exp_$C(make_$C(l.x / 3, l.y / 3));
}

$C sinh_$C($C a) {
  if (a.y == 0) return make_$C(sinh_$T(a.x), a.y);
  if (!finite_$C(a.y)) return make_$C(a.x == 0 || infinite_$C(a.x) ? a.x : a.y - a.y, a.y - a.y);
  return make_$C(sinh_$T(a.x) * cos_$T(a.y), cosh_$T(a.x) * sin_$T(a.y));
}

$C cosh_$C($C a) {
  if (a.y == 0) return make_$C(cosh_$T(a.x), copysign_$T(($T)1, a.x) * a.y);
  if (!finite_$C(a.y)) {
    $T nan = a.y - a.y;
    return a.x == 0 ? make_$C(nan, a.x) : make_$C(infinite_$C(a.x) ? a.x * a.x : nan, nan);
  }
  return make_$C(cosh_$T(a.x) * cos_$T(a.y), sinh_$T(a.x) * sin_$T(a.y));
}

$C sin_$C($C a) {
  $C h = sinh_$C(make_$C(-a.y, a.x));
  return make_$C(h.y, -h.x);
}

$C cos_$C($C a) { return cosh_$C(make_$C(-a.y, a.x)); }

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
}

$C tan_$C($C a) {
  $C h = tanh_$C(make_$C(-a.y, a.x));
  return make_$C(h.y, -h.x);
}

$C logistic_$C($C a) {
  if (a.x < 0) {  // exp(-a) may be too large
    $C p = exp_$C(a);
    return div_$C(p, make_$C(1 + p.x, p.y));
  }
  $C e = exp_$C(make_$C(-a.x, -a.y));
  return div_$C(make_$C(1, 0), make_$C(1 + e.x, e.y));
}

$C pow_$C($C a, $C b) {
  if (b.x == 0 && b.y == 0) return make_$C(1, 0);
  return a.x == 0 && a.y == 0 ? make_$C(0, 0) : exp_$C(mul_$C(b, log_$C(a)));
}

$C atan2_$C($C a, $C b) {  // -i * log((b + i * a) / sqrt(a * a + b * b))
  $C norm = sqrt_$C(add_$C(mul_$C(a, a), mul_$C(b, b)));
  $C l = log_$C(div_$C(make_$C(b.x - a.y, b.y + a.x), norm));
  return make_$C(l.y, -l.x);
}

bool eq_$C($C a, $C b) { return a.x == b.x && a.y == b.y; }

bool ne_$C($C a, $C b) { return a.x != b.x || a.y != b.y; }

$T abs_$C($C a) { return hypot_$T(a.x, a.y); }
