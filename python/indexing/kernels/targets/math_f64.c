// Functions of f64 for CPUs that compilers can vectorize: straight-line code without branches or calls, in units of the last place
// off by at most 1 (exp, log), 1.6 (log1p, cosh, atan), 2 (expm1) or 2.6 (logistic, tanh, sinh, atan2). Others are those of the C library.
//
// `library_math.py` has the polynomials, `$NAME`. Series end where a term is below 2**-58 of the sum.

typedef struct { f64 p, shifted; } exp_terms_wide;

// x = n ln 2 + r with |r| <= ln 2 / 2; p = e**r - 1; n is in the last bits of `shifted`. Of ln 2 in two parts, the last 21 bits of
// the larger one are 0, so that small multiples are exact.
exp_terms_wide exp_terms_of_f64(f64 x) {  // |x| < 2000
  f64 shifted = mul_add_f64(x, $OVER_LN2, $TO_INTEGER), n = shifted - $TO_INTEGER;
  f64 r = mul_add_f64(n, -$LN2_LOW, mul_add_f64(n, -$LN2_HIGH, x));
  exp_terms_wide e = {mul_add_f64(r * r, $EXP_WIDE, r), shifted};
  return e;
}

f64 exp_f64(f64 x) {  // by two powers of two, since the result may be subnormal; as `exp_f32`
  u64 none = x < -746;
  exp_terms_wide e = exp_terms_of_f64(none ? 0 : x > 720 ? 720 : x);  // NaN stays
  s64 n = (s64)(bits_f64(e.shifted) << 12) >> 12, half = n >> 1;
  return choose_f64(none, 0, (e.p + 1) * float_f64((u64)(half + 1023) << 52) * float_f64((u64)(n - half + 1023) << 52));
}

// (e**x - 1) / 4, which is a number where e**x / 2 is one.
f64 quarter_expm1(f64 x) {  // -700 < x < 710.5
  exp_terms_wide e = exp_terms_of_f64(x);
  f64 scale = float_f64((bits_f64(e.shifted) + 1021) << 52);
  return mul_add_f64(scale, e.p, scale - 0.25);
}

// Where a function is x to the last place, also of subnormal x.
f64 beyond_tiny(f64 x, f64 y) { return abs_f64(x) < 1e-17 ? x : copysign_f64(y, x); }

f64 expm1_f64(f64 x) { return beyond_tiny(x, 4 * quarter_expm1(x < -50 ? -50 : x > 710.5 ? 710.5 : x)); }

f64 logistic_f64(f64 x) {
  f64 e = exp_f64(-abs_f64(x));
  return (x < 0 ? e : 1) / (1 + e);
}

f64 tanh_f64(f64 x) {
  f64 a = abs_f64(x), t = quarter_expm1(2 * (a > 20 ? 20 : a));
  return beyond_tiny(x, t / (t + 0.5));
}

f64 sinh_f64(f64 x) {
  f64 a = abs_f64(x), t = quarter_expm1(a > 710.5 ? 710.5 : a);
  return beyond_tiny(x, 2 * (t + t / mul_add_f64(4, t, 1)));
}

f64 cosh_f64(f64 x) {
  f64 a = abs_f64(x), e = quarter_expm1(a > 710.5 ? 710.5 : a) + 0.25;
  return mul_add_f64(2, e, 0.125 / e);
}

// log(1 + f) + e ln 2 for 1 + f from sqrt(1/2) to sqrt(2): 2 atanh(s) with s = f / (2 + f), of which f - f**2 / 2 is taken out.
f64 log_terms_f64(f64 f, f64 e) {
  f64 s = f / (2 + f), z = s * s, square = 0.5 * f * f;
  f64 low = mul_add_f64(s, square + z * $ATANH_WIDE, e * $LN2_LOW);
  return mul_add_f64(e, $LN2_HIGH, f - (square - low));
}

// As in `log_wide`.
f64 log_f64(f64 x) {
  u64 small = x < 2.2250738585072014e-308, bits = bits_f64(small ? x * 18014398509481984.0 : x) + 0x95f619980c433ull;
  f64 m = float_f64((bits & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull);
  f64 e = float_f64(bits >> 52 | 0x4330000000000000ull) - (small ? 4503599627371573.0 : 4503599627371519.0);
  f64 edge = x == 0 ? -inf_f64 : x > 0 ? x : nan_f64;
  return choose_f64((x > 0) & (x < inf_f64), log_terms_f64(m - 1, e), edge);
}

// What rounding takes from 1 + x is added to the sum's fraction.
f64 log1p_f64(f64 x) {
  f64 u = 1 + x, lost = x - (u - 1);
  u64 bits = bits_f64(u) + 0x95f619980c433ull;
  f64 e = float_f64(bits >> 52 | 0x4330000000000000ull) - 4503599627371519.0;
  f64 f = float_f64((bits & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull) - 1 + 0.5 * lost * float_f64((2047 - (bits >> 52)) << 52);
  f64 y = beyond_tiny(x, log_terms_f64(f, e)), edge = x == -1 ? -inf_f64 : x > 0 ? x : nan_f64;
  return choose_f64((x > -1) & (x < inf_f64), y, edge);
}

// As `atan_wide`.
f64 atan_f64(f64 x) {
  f64 a = abs_f64(x), small = $TAN_EIGHTH, large = $COT_EIGHTH;
  f64 base = a < small ? 0 : a < large ? $QUARTER : $HALF;
  f64 u = (a < small ? a : a < large ? a - 1 : -1) / (a < small ? 1 : a < large ? a + 1 : a), z = u * u;
  f64 y = base + mul_add_f64(u * z, $ATAN_WIDE, u);
  return x != x ? x : copysign_f64(y, x);
}

f64 atan2_f64(f64 y, f64 x) {
  f64 a = abs_f64(y), b = abs_f64(x), low = a < b ? a : b, high = a < b ? b : a;
  f64 t = atan_f64(high == 0 ? 0 : low == inf_f64 ? 1 : low / high);
  t = a > b ? $HALF - t : t;
  t = bits_f64(x) >> 63 ? $PI - t : t;
  return x != x || y != y ? x + y : copysign_f64(t, y);
}
