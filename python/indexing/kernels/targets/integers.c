// Functions of integers, the same text for all types: `$T` is the type, of `$bits` bits, `$U` and `$S` the unsigned and the signed
// one of its width, `$W` the unsigned one that the functions of bits take, which has `$more` bits more.

$T maximum_$T($T a, $T b) { return a > b ? a : b; }

$T minimum_$T($T a, $T b) { return a < b ? a : b; }

$T clamp_$T($T low, $T x, $T high) { $T y = x < low ? low : x; return y > high ? high : y; }

// A shift by the width or more gives 0, or the sign; negative amounts count as large ones.

$T shl_$T($T a, $T n) { return ($U)n < $bits ? ($T)(($W)a << ($U)n) : 0; }

$T shr_logical_$T($T a, $T n) { return ($U)n < $bits ? ($T)(($U)a >> ($U)n) : 0; }

$T shr_arithmetic_$T($T a, $T n) { return ($T)(($S)a >> (($U)n < $bits ? ($U)n : $last)); }

$T popcount_$T($T a) { return ($T)bits_set_$W(($U)a); }

$T clz_$T($T a) { return ($T)(zeros_above_$W(($U)a)$more); }
