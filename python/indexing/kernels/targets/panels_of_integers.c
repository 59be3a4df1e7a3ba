// The products of panels of integers of at most 8 bits, held as f32, added to sums of s32, which wrap. No sum of products of one
// panel leaves the integers that f32 holds exactly.

void multiply_panels_s8(s32 *sums, const f32 *left, const f32 *right, s64 depth) {
  enum { count = $ROWS * $COLUMNS };
  f32 products[count] __attribute__((aligned($BYTES))) = {0};
  multiply_panels_f32(products, left, right, depth);
  for (s32 i = 0; i < count; i++) sums[i] = (s32)((u32)sums[i] + (u32)(s32)products[i]);
}
