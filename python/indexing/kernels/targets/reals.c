// Functions of f32 and f64, `$T`, the same text for both: `$S` is the integer of as many bits, `$largest` the largest one.

// Equal values differ in bits only when they are zeros.

$T maximum_$T($T a, $T b) {
  $T equal = float_$T(bits_$T(a) & bits_$T(b)), other = a > b || a != a ? a : b;
  return a == b ? equal : other;
}

$T minimum_$T($T a, $T b) {
  $T equal = float_$T(bits_$T(a) | bits_$T(b)), other = a < b || a != a ? a : b;
  return a == b ? equal : other;
}

$S total_order_$T($T x) {
  $S bits = ($S)bits_$T(x);
  return bits < 0 ? $largest ^ bits : bits;
}

$T sign_$T($T x) { return x == 0 || x != x ? x : copysign_$T(($T)1, x); }

$T logistic_$T($T x) { return 1 / (1 + exp_$T(-x)); }

bool is_finite_$T($T x) { return abs_$T(x) < inf_$T; }
