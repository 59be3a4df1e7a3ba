// Functions of f32 for CPUs that compilers can vectorize: straight-line code without branches or calls.
//
// Most compute in f64 and round once; remainders are exact. In f64, each has a relative error below 2**-33, so that the result
// has an error of less than 0.51 units in the last place; the conversion handles overflow and subnormal numbers. Exponential
// functions, their quotients, logarithms and erf are so frequent that they stay in f32, where vectors have twice the lanes and
// division is cheap: exp has an error of at most 1.1 units in the last place, logistic of 2.5, tanh of 2.7, log of 0.9, log1p of
// 1.5, erf of 5.6.
//
// `library_math.py` has the numbers and polynomials, `$NAME`.

// Parts of the functions, in f64 with the accuracy that f32 needs.

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define mul_add_f64(a, b, c) __builtin_fma(a, b, c)
#else
#define mul_add_f64(a, b, c) ((a) * (b) + (c))
#endif

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define mul_add_f32(a, b, c) __builtin_fmaf(a, b, c)
#else
#define mul_add_f32(a, b, c) ((a) * (b) + (c))
#endif

f64 limit_f64(f64 x, f64 bound) { return x < -bound ? -bound : x > bound ? bound : x; }  // NaN stays

// e**x - 1 = 2**n * (e**r - 1) + (2**n - 1) with |r| <= ln 2 / 2, and e**r - 1 by its Taylor series.
f64 exp_wide(f64 x) {  // |x| < 700
  f64 shifted = mul_add_f64(x, $OVER_LN2, $TO_INTEGER), n = shifted - $TO_INTEGER;
  f64 r = mul_add_f64(n, -$LN2, x), scale = float_f64((bits_f64(shifted) + 1023) << 52);
  f64 p = r * $EXPM1;
  return mul_add_f64(scale, p, scale);
}

f64 expm1_wide(f64 x) {  // |x| < 700
  f64 shifted = mul_add_f64(x, $OVER_LN2, $TO_INTEGER), n = shifted - $TO_INTEGER;
  f64 r = mul_add_f64(n, -$LN2, x), scale = float_f64((bits_f64(shifted) + 1023) << 52);
  f64 p = r * $EXPM1;
  return mul_add_f64(scale, p, scale - 1);
}

// x = 2**e * m with m from sqrt(1/2) to sqrt(2); log m = 2 atanh(s) with s = (m - 1) / (m + 1). 0x3fe6a09e667f3bcd are the bits
// of sqrt(1/2).
f64 log_wide(f64 x) {  // x a positive, normal number
  u64 bits = bits_f64(x) + 0x95f619980c433ull;
  f64 e = float_f64(bits >> 52 | 0x4330000000000000ull) - 4503599627371519.0;
  f64 m = float_f64((bits & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull);
  f64 s = (m - 1) / (m + 1), z = s * s;
  return mul_add_f64(e, $LN2, 2 * s * $ATANH);
}

f64 log1p_wide(f64 x) { f64 u = 1 + x; return log_wide(u) + (x - (u - 1)) / u; }  // x > -1

// The arctangent of a, of (a - 1) / (a + 1), or of -1 / a, whichever is at most tan(pi / 8).
f64 atan_wide(f64 x) {
  f64 a = abs_f64(x), small = $TAN_EIGHTH, large = $COT_EIGHTH;
  f64 base = a < small ? 0 : a < large ? $QUARTER : $HALF;
  f64 u = (a < small ? a : a < large ? a - 1 : -1) / (a < small ? 1 : a < large ? a + 1 : a), z = u * u;
  f64 y = base + u * $ATAN;
  return x != x ? x : copysign_f64(y, x);
}

typedef struct { f64 r; u32 quadrant; } angle;

// 2 / pi in windows of 32 bits, 8 bits apart: window k has the bits of weights 2**(9 - 8k) down to 2**(-22 - 8k).
static const u32 two_over_pi[23] = {$TWO_OVER_PI};

// x = quadrant * pi / 2 + r. Below 2**15 by multiples of pi / 2 in two parts, the last 20 bits of the larger of which are 0, so
// that small multiples are exact; above, x is an integer times a power of two, and the product with as many bits of 2 / pi as
// matter is taken modulo 4, in units of 2**-62.
angle angle_of(f32 x) {
  f64 wide = x, shifted = mul_add_f64(wide, $OVER_HALF, $TO_INTEGER), n = shifted - $TO_INTEGER;
  f64 near = mul_add_f64(n, -6.077100506506192e-11, mul_add_f64(n, -1.5707963267341256, wide));
  u32 bits = bits_f32(x), exponent = bits >> 23 & 0xff, t = exponent < 142 ? 0 : exponent - 142, k = t >> 3 & 15;
  u32 m = ((bits & 0x7fffffu) | 0x800000u) << (t & 7);
  u64 turns = ((u64)(m * two_over_pi[k]) << 32) + (u64)m * two_over_pi[k + 4] + ((u64)m * two_over_pi[k + 8] >> 32);
  u32 quadrant = (u32)((turns + 0x2000000000000000ull) >> 62);
  u64 rest = turns - ((u64)quadrant << 62);
  f64 low = float_f64((rest & 0xffffffffull) | 0x4330000000000000ull) - 4503599627370496.0;
  f64 far = ((f64)(s32)(u32)(rest >> 32) * 4294967296.0 + low) * $TURN;
  angle a;
  a.r = abs_f32(x) < 32768.0f ? near : bits >> 31 ? -far : far;
  a.quadrant = abs_f32(x) < 32768.0f ? (u32)bits_f64(shifted) : bits >> 31 ? 0 - quadrant : quadrant;
  return a;
}

f64 sin_wide(f64 r) { f64 z = r * r; return r * $SIN; }

f64 cos_wide(f64 r) { f64 z = r * r; return $COS; }

// ---------------------------------------------------------------- exponential functions

typedef struct { f32 p; s32 n; } exp_terms;

// x = n ln 2 + r with |r| <= ln 2 / 2; p = e**r - 1, by a polynomial with a relative error of 2**-27. Of ln 2 in two parts, the
// last 11 bits of the larger one are 0, so that small multiples are exact.
exp_terms exp_terms_of(f32 x) {  // |x| < 120
  f32 shifted = mul_add_f32(x, 1.44269504f, 12582912.0f), n = shifted - 12582912.0f;
  f32 r = mul_add_f32(n, -1.42860677e-06f, mul_add_f32(n, -0.693145751953125f, x));
  exp_terms e = {mul_add_f32(r * r, $EXP, r), (s32)(bits_f32(shifted) - 0x4b400000u)};
  return e;
}

f32 two_to(s32 n) { return float_f32((u32)(n + 127) << 23); }  // a normal number

// Products that round to 0 take processors a hundred clocks: masks, such as -1e30, are kept out of them.
f32 exp_f32(f32 x) {
  u32 none = x < -104.0f;
  exp_terms e = exp_terms_of(none ? 0.0f : x > 90.0f ? 90.0f : x);  // NaN stays
  s32 half = e.n >> 1;
  return choose_f32(none, 0.0f, (e.p + 1.0f) * two_to(half) * two_to(e.n - half));
}

f32 expm1_f32(f32 x) { return copysign_f32((f32)expm1_wide(limit_f64(x, 200)), x); }

f32 logistic_f32(f32 x) {
  f32 e = exp_f32(-abs_f32(x));
  return (x < 0 ? e : 1.0f) / (1.0f + e);
}

f32 tanh_f32(f32 x) {
  f32 a = abs_f32(x);
  exp_terms e = exp_terms_of(2 * (a > 10.0f ? 10.0f : a));
  f32 scale = two_to(e.n), t = mul_add_f32(scale, e.p, scale - 1.0f);
  return copysign_f32(t / (t + 2.0f), x);
}

f32 sinh_f32(f32 x) {
  f64 t = expm1_wide(limit_f64(abs_f32(x), 200));
  return copysign_f32((f32)(0.5 * (t + t / (t + 1))), x);
}

f32 cosh_f32(f32 x) { f64 e = exp_wide(limit_f64(x, 200)); return (f32)(0.5 * (e + 1 / e)); }

// ---------------------------------------------------------------- logarithms and powers

// log(1 + f) + e ln 2 for 1 + f from sqrt(1/2) to sqrt(2): f - f**2 / 2 + f**3 * LOG(f), whose relative error is 2**-30. Of ln 2
// in two parts, the larger one has few enough bits for exact multiples.
f32 log_terms_f32(f32 f, f32 e) {
  f32 z = f * f, y = mul_add_f32(e, -0.00021219444f, f * z * $LOG);
  return mul_add_f32(e, 0.693359375f, f + mul_add_f32(z, -0.5f, y));
}

// 0x3f3504f3 are the bits of sqrt(1/2).
f32 log_f32(f32 x) {
  u32 small = x < 1.17549435e-38f, bits = bits_f32(small ? x * 8388608.0f : x) + 0x4afb0du;
  f32 m = float_f32((bits & 0x7fffffu) + 0x3f3504f3u), e = (f32)((s32)(bits >> 23) - (small ? 150 : 127));
  f32 edge = x == 0 ? -inf_f32 : x > 0 ? x : nan_f32;
  return choose_f32((x > 0) & (x < inf_f32), log_terms_f32(m - 1, e), edge);
}

// What rounding takes from 1 + x is added to the sum's fraction.
f32 log1p_f32(f32 x) {
  f32 u = 1 + x, lost = x - (u - 1);
  u32 bits = bits_f32(u) + 0x4afb0du, exponent = bits >> 23;
  f32 f = float_f32((bits & 0x7fffffu) + 0x3f3504f3u) - 1 + 0.5f * lost * float_f32((255 - exponent) << 23);
  f32 y = copysign_f32(log_terms_f32(f, (f32)((s32)exponent - 127)), x), edge = x == -1 ? -inf_f32 : x > 0 ? x : nan_f32;
  return choose_f32((x > -1) & (x < inf_f32), y, edge);
}

f32 asinh_f32(f32 x) {
  f64 a = abs_f32(x), y = log1p_wide(a + a * a / (1 + sqrt_f64(1 + a * a)));
  return a < inf_f32 ? copysign_f32((f32)y, x) : x;
}

f32 acosh_f32(f32 x) {
  f64 d = (f64)x - 1, y = log1p_wide(d + sqrt_f64(d * (d + 2)));
  return choose_f32((x >= 1) & (x < inf_f32), (f32)y, x >= 1 ? x : nan_f32);
}

f32 atanh_f32(f32 x) {
  f64 a = abs_f32(x), y = 0.5 * log1p_wide(2 * a / (1 - a));
  return choose_f32(a < 1, copysign_f32((f32)y, x), a == 1 ? copysign_f32(inf_f32, x) : nan_f32);
}

f32 cbrt_f32(f32 x) {
  f32 a = abs_f32(x), y = (f32)exp_wide(log_wide(a) / 3);
  return choose_f32((a > 0) & (a < inf_f32), copysign_f32(y, x), x);
}

// As C's pow: 1 if the exponent is 0 or the base 1, even for NaN. `&` and `|`, since `&&` and `||` would be branches.
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
}

// ---------------------------------------------------------------- angles

f32 sin_f32(f32 x) {
  angle a = angle_of(x);
  u32 quadrant = a.quadrant;
  f64 s = sin_wide(a.r), c = cos_wide(a.r), y = quadrant & 1 ? c : s;
  return choose_f32(abs_f32(x) < inf_f32, (f32)(quadrant & 2 ? -y : y), nan_f32);
}

f32 cos_f32(f32 x) {
  angle a = angle_of(x);
  u32 quadrant = a.quadrant + 1;
  f64 s = sin_wide(a.r), c = cos_wide(a.r), y = quadrant & 1 ? c : s;
  return choose_f32(abs_f32(x) < inf_f32, (f32)(quadrant & 2 ? -y : y), nan_f32);
}

f32 tan_f32(f32 x) {
  angle a = angle_of(x);
  f64 s = sin_wide(a.r), c = cos_wide(a.r);
  return choose_f32(abs_f32(x) < inf_f32, (f32)(a.quadrant & 1 ? -c / s : s / c), nan_f32);
}

f32 atan_f32(f32 x) { return (f32)atan_wide(x); }

f32 asin_f32(f32 x) { f64 w = x; return (f32)atan_wide(w / sqrt_f64((1 - w) * (1 + w))); }

f32 acos_f32(f32 x) { f64 w = x; return (f32)(2 * atan_wide(sqrt_f64((1 - w) / (1 + w)))); }

f32 atan2_f32(f32 y, f32 x) {
  f64 a = abs_f32(y), b = abs_f32(x), low = a < b ? a : b, high = a < b ? b : a;
  f64 t = atan_wide(high == 0 ? 0 : low == inf_f32 ? 1 : low / high);
  t = a > b ? $HALF - t : t;
  t = bits_f32(x) >> 31 ? $PI - t : t;
  return x != x || y != y ? x + y : copysign_f32((f32)t, y);
}

// ---------------------------------------------------------------- others

f32 erf_f32(f32 x) {
  f32 w = x < -3.95f ? -3.95f : x > 3.95f ? 3.95f : x, z = w * w, y = w * $ERF_ABOVE / $ERF_BELOW;
  return y < -1 ? -1.0f : y > 1 ? 1.0f : y;
}

f32 rsqrt_f32(f32 x) { return (f32)(1 / sqrt_f64(x)); }

// Squares of sides of 2^60 or more, and of such below 2^-50 whose squares would lose bits, are those of scaled ones.
f32 hypot_f32(f32 x, f32 y) {
  f32 a = abs_f32(x), b = abs_f32(y), most = a > b ? a : b;
  f32 scale = most >= 0x1p60f ? 0x1p-70f : most < 0x1p-50f ? 0x1p90f : 1.0f;
  f32 back = most >= 0x1p60f ? 0x1p70f : most < 0x1p-50f ? 0x1p-90f : 1.0f;
  f32 p = a * scale, q = b * scale;
  return choose_f32((a == inf_f32) | (b == inf_f32), inf_f32, sqrt_f32(mul_add_f32(p, p, q * q)) * back);
}

// Parts of a quotient, highest first. Each is off by at most one, and what it leaves has few enough bits to be exact. Compilers
// leave out those that a constant divisor has not.
f64 rem_part(f64 a, f64 b, f64 over_b, f64 up, f64 down) {  // a mod (b * up), given 1 / up
  f64 s = b * up, n = a * (over_b * down) + $TO_INTEGER - $TO_INTEGER, r = __builtin_fma(-n, s, a);
  return r < 0 ? r + s : r;
}

f32 rem_f32(f32 x, f32 y) {
  f64 a = abs_f32(x), b = abs_f32(y), over_b = 1 / b;
  $REM_PARTS
  a = rem_part(a, b, over_b, 1, 1);
  return copysign_f32(abs_f32(y) == inf_f32 ? x - x + abs_f32(x) : (f32)a, x);
}
