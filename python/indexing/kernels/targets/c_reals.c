// Functions of f32 and f64, `$T`, in C, without branches: `$B` holds the bits.

$B bits_$T($T x) { $B y; __builtin_memcpy(&y, &x, sizeof y); return y; }

$T float_$T($B x) { $T y; __builtin_memcpy(&y, &x, sizeof y); return y; }

$T round_away_$T($T x) {
  $T whole = trunc_$T(x);
  return copysign_$T(abs_$T(x - whole) >= ($T)0.5 ? whole + copysign_$T(1, x) : whole, x);
}

// If one value of `?:` is a constant, gcc specializes the code after it and branches, and loops with branches are not
// vectorized. Masks avoid the branch.
$T choose_$T($B condition, $T a, $T b) {
  $B mask = 0 - condition;
  return float_$T((bits_$T(a) & mask) | (bits_$T(b) & ~mask));
}

$T sign_$T($T x) { return choose_$T((x == 0) | (x != x), x, copysign_$T(($T)1, x)); }

// Of two equal values, each is the greater one by one of the comparisons; they differ in bits only when they are zeros.
$T maximum_$T($T a, $T b) {
  $T one = a > b ? a : b, other = b > a ? b : a;
  return (a == a) & (b == b) ? float_$T(bits_$T(one) & bits_$T(other)) : a + b;
}

$T minimum_$T($T a, $T b) {
  $T one = a < b ? a : b, other = b < a ? b : a;
  return (a == a) & (b == b) ? float_$T(bits_$T(one) | bits_$T(other)) : a + b;
}
