// The product of panels of bf16, added to sums of f32: those of CPUs without matrix tiles are of vectors of f32.

CONTRACTS __attribute__((noinline)) void multiply_panels_bf16(f32 *sums, const u16 *left, const u16 *right, s64 depth) {
#ifdef __clang__
#pragma clang fp contract(fast)
#endif
  enum { columns = $COLUMNS, lanes = WORD_VECTOR_BYTES / 4, rows = ROWS_AT_ONCE };
  if (has_tiles()) {
    multiply_tiles_bf16(sums, left, right, depth);
    return;
  }
  f32 factors[$ROWS * depth];
  for (s64 i = 0; i < $ROWS * depth; i++) {
    const u32 word = (u32)left[i] << 16;
    __builtin_memcpy(factors + i, &word, 4);
  }
  for (s32 row = 0; row < $ROWS; row += rows)
    for (s32 column = 0; column < columns; column += 2 * lanes) {
      floats total[rows][2];
#pragma GCC unroll 16
      for (s32 i = 0; i < rows; i++) {
        const floats *at = (const floats *)(sums + (row + i) * columns + column);
        total[i][0] = at[0];
        total[i][1] = at[1];
      }
      for (s64 k = 0; k < depth; k += 2) {
        const words *at = (const words *)(right + k * columns + column * 2);
        const floats even = (floats)(at[0] << 16), odd = (floats)(at[0] & 0xffff0000);
        const floats next_even = (floats)(at[1] << 16), next_odd = (floats)(at[1] & 0xffff0000);
#pragma GCC unroll 16
        for (s32 i = 0; i < rows; i++) {
          const f32 *factor = factors + (row + i) * depth + k;
          total[i][0] = odd * factor[1] + (even * factor[0] + total[i][0]);
          total[i][1] = next_odd * factor[1] + (next_even * factor[0] + total[i][1]);
        }
      }
#pragma GCC unroll 16
      for (s32 i = 0; i < rows; i++) {
        floats *at = (floats *)(sums + (row + i) * columns + column);
        at[0] = total[i][0];
        at[1] = total[i][1];
      }
    }
}
