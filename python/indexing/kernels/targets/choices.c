// Choices without branches, the same text for f32 and f64: `$T` is the type, `$B` the integers of its bits.

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
