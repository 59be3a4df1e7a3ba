// Functions of f32 and f64 on CUDA, `$T`.

// The lengths of vectors as XLA computes them: CUDA's own functions are infinite for some that end below infinity.
$T hypot_$T($T x, $T y) {
  $T a = abs_$T(x), b = abs_$T(y), high = a > b ? a : b, low = a > b ? b : a;
  if (a == inf_$T || b == inf_$T) return inf_$T;
  if (low == 0) return high;
  $T ratio = low / high;
  return high * sqrt_$T(1 + ratio * ratio);
}
