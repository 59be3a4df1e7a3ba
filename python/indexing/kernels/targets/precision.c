// The rounding of numbers of a type `$F` to fewer bits of exponent and mantissa: it has `$e` and `$m`, `$U` holds its bits, `$T` its
// values, `$encode` and `$decode` convert them.

$U reduce_bits_$F($U x, s32 exponent, s32 mantissa) {
  const $U one = 1, exponents = ((one << $e) - 1) << $m;
  s32 dropped = $m - mantissa;
  if (dropped > 0) x = (x + (((one << dropped) >> 1) - 1) + (x >> dropped & 1)) & ~((one << dropped) - 1);
  if (exponent < $e) {
    $U bias = (one << ($e - 1)) - 1, reduced = (one << (exponent - 1)) - 1;
    $U own = x & exponents, zero = x & (one << ($e + $m));
    if (own > (bias + reduced) << $m) x = zero | exponents;
    if (own <= (bias - reduced) << $m) x = zero;
  }
  return x;
}

$T reduce_precision_$F($T x, s32 exponent, s32 mantissa) {
  return x != x ? x : $decode(reduce_bits_$F($encode(x), exponent, mantissa));
}
