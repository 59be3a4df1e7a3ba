// The products of panels of bytes and of bf16, in whose right panel four bytes, or two bf16, that are neighbours along the depth are
// neighbours in memory: a word, as in the left panel.
//
// CPUs with matrix tiles multiply 16 words of 16 rows by 16 words of 16 columns at once; they treat numbers of bf16 and f32 below
// the normal ones as zeros. A process has to ask Linux for the tiles. Other CPUs multiply vectors of words.

#if defined(__AVX512BW__)
#define WORD_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define WORD_VECTOR_BYTES 32
#else
#define WORD_VECTOR_BYTES 16
#endif

#if defined(__AMX_INT8__) && defined(__AMX_BF16__) && defined(__linux__)
#define MAY_HAVE_TILES 1
#else
#define MAY_HAVE_TILES 0
#endif

typedef __attribute__((vector_size(WORD_VECTOR_BYTES))) u32 words;

typedef __attribute__((vector_size(WORD_VECTOR_BYTES))) s32 signed_words;

typedef __attribute__((vector_size(WORD_VECTOR_BYTES))) f32 floats;

typedef __attribute__((vector_size(WORD_VECTOR_BYTES))) s16 pairs;

typedef __attribute__((vector_size(WORD_VECTOR_BYTES))) u16 unsigned_pairs;

typedef __attribute__((vector_size(16))) u32 four_words;

// Rows whose sums are in registers at once, with those of two vectors of columns.

#define ROWS_AT_ONCE (WORD_VECTOR_BYTES == 64 ? 8 : 4)

// Whether this process has matrix tiles: they are asked for once (158 is arch_prctl, 0x1023 the request for a state, 18 that of
// tiles).

bool has_tiles(void) {
#if MAY_HAVE_TILES
  static s32 state = 0;
  s32 known = __atomic_load_n(&state, __ATOMIC_RELAXED);
  if (known == 0) {
    s64 refused;
    __asm__ volatile("syscall" : "=a"(refused) : "0"(158LL), "D"(0x1023LL), "S"(18LL) : "rcx", "r11", "memory");
    known = refused ? -1 : 1;
    __atomic_store_n(&state, known, __ATOMIC_RELAXED);
  }
  return known > 0;
#else
  return false;
#endif
}

// Five tiles of 16 rows of 64 bytes. To look is faster than to set: a thread sets them for its first panels.

void set_tiles(void) {
#if MAY_HAVE_TILES
  static const u8 wanted[64] __attribute__((aligned(64))) = {
      1, [16] = 64, [18] = 64, [20] = 64, [22] = 64, [24] = 64, [48] = 16, 16, 16, 16, 16};
  u8 given[64] __attribute__((aligned(64)));
  __asm__ volatile("sttilecfg %0" : "=m"(given));
  if (__builtin_memcmp(given, wanted, 64)) __asm__ volatile("ldtilecfg %0" : : "m"(wanted));
#endif
}

// The product of panels of 16 rows and 32 columns, in two tiles of sums.

void multiply_tiles_$NAME($SUM *sums, const $LEFT *left, const $RIGHT *right, s64 depth) {
#if MAY_HAVE_TILES
  const s64 width = depth * (s64)sizeof *left, of_columns = 128;
  set_tiles();
  __asm__ volatile(
      "tileloadd (%0,%1,1), %%tmm0\n"
      "tileloadd 64(%0,%1,1), %%tmm1"
      :
      : "r"(sums), "r"(of_columns)
      : "memory");
  for (s64 k = 0; k < width; k += 64)
    __asm__ volatile(
        "tileloadd (%0,%1,1), %%tmm2\n"
        "tileloadd (%2,%3,1), %%tmm3\n"
        "tileloadd 64(%2,%3,1), %%tmm4\n"
        "$INSTRUCTION %%tmm3, %%tmm2, %%tmm0\n"
        "$INSTRUCTION %%tmm4, %%tmm2, %%tmm1"
        :
        : "r"((const u8 *)left + k), "r"(width), "r"((const u8 *)right + k * 32), "r"(of_columns)
        : "memory");
  __asm__ volatile(
      "tilestored %%tmm0, (%0,%1,1)\n"
      "tilestored %%tmm1, 64(%0,%1,1)"
      :
      : "r"(sums), "r"(of_columns)
      : "memory");
#endif
}
