// Functions of index expressions, the same text for s32 and s64, `$T`: floor division, its remainder, ceiling division, ranges.

$T floor_div_$T($T a, $T b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

$T floor_mod_$T($T a, $T b) {
  $T m = b < 0 ? -b : b, r = a % m;
  return r < 0 ? r + m : r;
}

$T ceil_div_$T($T a, $T b) { return a / b + (a % b != 0 && (a < 0) == (b < 0)); }

bool within_$T($T x, $T low, $T high) { return low <= x && x <= high; }
