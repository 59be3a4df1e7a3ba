// The products of panels of bytes, added to sums of s32, which wrap, on CPUs without matrix tiles: each lane of a vector adds the
// four products of two words.

words products_of_pairs(pairs x, pairs y) {
#if defined(__AVX2__)
  __asm__("vpmaddwd %1, %0, %0" : "+v"(x) : "v"(y));
  return (words)x;
#elif defined(__SSE2__)
  __asm__("pmaddwd %1, %0" : "+x"(x) : "x"(y));
  return (words)x;
#else
  const signed_words of_x = (signed_words)x, of_y = (signed_words)y;
  return (words)((of_x << 16 >> 16) * (of_y << 16 >> 16) + (of_x >> 16) * (of_y >> 16));
#endif
}

// total, plus the products of words of unsigned and of signed bytes.

words add_products(words total, words unsigned_bytes, words signed_bytes) {
#if defined(__AVX512VNNI__) && defined(__AVX512BW__)
  __asm__("vpdpbusd %2, %1, %0" : "+v"(total) : "v"(unsigned_bytes), "v"(signed_bytes));
  return total;
#elif defined(__AVXVNNI__)
  __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(total) : "x"(unsigned_bytes), "x"(signed_bytes));
  return total;
#else
  const pairs even = (pairs)(unsigned_bytes & 0x00ff00ff), odd = (pairs)((unsigned_pairs)unsigned_bytes >> 8);
  const pairs signed_even = (pairs)signed_bytes << 8 >> 8, signed_odd = (pairs)signed_bytes >> 8;
  return total + products_of_pairs(even, signed_even) + products_of_pairs(odd, signed_odd);
#endif
}

// The sum of a row times 128; of unsigned bytes, times -128.

u32 sum_of_row_$NAME(const $LEFT *row, s64 depth) {
  const words high = (words){0} + 0x80808080;
  words total = {0};
  for (s64 k = 0; k < depth; k += WORD_VECTOR_BYTES) {
    words part;
    __builtin_memcpy(&part, row + k, WORD_VECTOR_BYTES);
    total = ($LEFT)-1 < 0 ? add_products(total, high, part) : add_products(total, part, high);
  }
  four_words sums = {0};
#pragma GCC unroll 4
  for (s32 i = 0; i < WORD_VECTOR_BYTES / 16; i++) sums += ((const four_words *)&total)[i];
  return sums[0] + sums[1] + sums[2] + sums[3];
}

// One factor has to be unsigned, the other one signed. If both are of one kind, the right one is made the other kind: 128 is added
// to signed bytes, or taken away from unsigned ones, and the sums of the left rows times 128 set that right.

__attribute__((noinline)) void multiply_panels_$NAME(s32 *sums, const $LEFT *left, const $RIGHT *right, s64 depth) {
  enum { columns = $COLUMNS, lanes = WORD_VECTOR_BYTES / 4, rows = ROWS_AT_ONCE };
  const bool is_signed = ($LEFT)-1 < 0, is_changed = is_signed == (($RIGHT)-1 < 0);
  const words zero = {0}, change = zero + (is_changed ? 0x80808080 : 0);
  if (has_tiles()) {
    multiply_tiles_$NAME(sums, left, right, depth);
    return;
  }
  for (s32 row = 0; row < $ROWS; row += rows)
    for (s32 column = 0; column < columns; column += 2 * lanes) {
      words total[rows][2];
#pragma GCC unroll 16
      for (s32 i = 0; i < rows; i++) {
        const u32 excess = is_changed ? sum_of_row_$NAME(left + (row + i) * depth, depth) : 0;
        total[i][0] = total[i][1] = zero - excess;
      }
      for (s64 k = 0; k < depth; k += 4) {
        const words *at = (const words *)(right + k * columns + column * 4);
        const words first = at[0] ^ change, second = at[1] ^ change;
#pragma GCC unroll 16
        for (s32 i = 0; i < rows; i++) {
          u32 word;
          __builtin_memcpy(&word, left + (row + i) * depth + k, 4);
          const words factor = zero + word;
          total[i][0] = is_signed ? add_products(total[i][0], first, factor) : add_products(total[i][0], factor, first);
          total[i][1] = is_signed ? add_products(total[i][1], second, factor) : add_products(total[i][1], factor, second);
        }
      }
#pragma GCC unroll 16
      for (s32 i = 0; i < rows; i++) {
        words *at = (words *)(sums + (row + i) * columns + column);
        at[0] += total[i][0];
        at[1] += total[i][1];
      }
    }
}
