// scores: dot-panels emitter, 12 blocks of 3 threads

typedef unsigned short u16;
typedef float f32;
typedef unsigned int u32;
#ifdef __clang__
#define CONTRACTS
#else
#define CONTRACTS __attribute__((optimize("fp-contract=fast")))
#endif
typedef long long s64;
#if defined(__AVX512BW__)
#define WORD_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define WORD_VECTOR_BYTES 32
#else
#define WORD_VECTOR_BYTES 16
#endif
#define ROWS_AT_ONCE (WORD_VECTOR_BYTES == 64 ? 8 : 4)
typedef _Bool bool;
#define true 1
#define false 0
#if defined(__AMX_INT8__) && defined(__AMX_BF16__) && defined(__linux__)
#define MAY_HAVE_TILES 1
#else
#define MAY_HAVE_TILES 0
#endif
typedef int s32;
typedef unsigned char u8;
typedef __attribute__((vector_size(WORD_VECTOR_BYTES))) f32 floats;
typedef __attribute__((vector_size(WORD_VECTOR_BYTES))) u32 words;

static inline u32 bits_f32(f32 x) { u32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline u16 encode_bf16(f32 x) {
  u32 bits = bits_f32(x);
  return (u16)(x != x ? 0x7fc0u : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

static inline bool has_tiles(void) {
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

static inline void set_tiles(void) {
#if MAY_HAVE_TILES
  static const u8 wanted[64] __attribute__((aligned(64))) = {
      1, [16] = 64, [18] = 64, [20] = 64, [22] = 64, [24] = 64, [48] = 16, 16, 16, 16, 16};
  u8 given[64] __attribute__((aligned(64)));
  __asm__ volatile("sttilecfg %0" : "=m"(given));
  if (__builtin_memcmp(given, wanted, 64)) __asm__ volatile("ldtilecfg %0" : : "m"(wanted));
#endif
}

static inline void multiply_tiles_bf16(f32 *sums, const u16 *left, const u16 *right, s64 depth) {
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
        "tdpbf16ps %%tmm3, %%tmm2, %%tmm0\n"
        "tdpbf16ps %%tmm4, %%tmm2, %%tmm1"
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

static inline CONTRACTS __attribute__((noinline)) void multiply_panels_bf16(f32 *sums, const u16 *left, const u16 *right, s64 depth) {
#ifdef __clang__
#pragma clang fp contract(fast)
#endif
  enum { columns = 32, lanes = WORD_VECTOR_BYTES / 4, rows = ROWS_AT_ONCE };
  if (has_tiles()) {
    multiply_tiles_bf16(sums, left, right, depth);
    return;
  }
  f32 factors[16 * depth];
  for (s64 i = 0; i < 16 * depth; i++) {
    const u32 word = (u32)left[i] << 16;
    __builtin_memcpy(factors + i, &word, 4);
  }
  for (s32 row = 0; row < 16; row += rows)
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

static void dot_panels_dot_blocks(const u16 *restrict p0, const u16 *restrict p1, u16 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 12;
    __attribute__((aligned(64))) __attribute__((aligned(16))) u16 left_tile[512];
    __attribute__((aligned(64))) __attribute__((aligned(16))) u16 right_tile[3072];
    __attribute__((aligned(64))) __attribute__((aligned(16))) f32 sums[1536];
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 3; th_x++) {
      for (s32 register0 = 0; register0 < 512; register0++) {
        sums[th_x * 512 + register0] = 0.0f;
      }
    }
    #pragma GCC ivdep
    for (s64 th_x = 0; th_x < 3; th_x++) {
      for (s32 turn1 = 0; turn1 < 5; turn1++) {
        const s32 j2 = th_x + turn1 * 3;
        const s32 left_cell3 = th_x + turn1 * 3;
        for (s32 vector_1 = 0; vector_1 < 16; vector_1++) {
          const s32 j10_1 = vector_1;
          const u16 v11_1 = p0[th_x * 16 + bl_x * 256 + turn1 * 48 + vector_1];
          left_tile[th_x * 32 + turn1 * 96 + vector_1] = v11_1;
        }
        for (s32 vector_2 = 16; vector_2 < 32; vector_2++) {
          left_tile[th_x * 32 + turn1 * 96 + vector_2] = 0;
        }
      }
      if (th_x + 15 <= 15) {
        const s32 j2_1 = th_x + 15;
        const s32 left_1 = th_x + 15;
        for (s32 vector_4 = 0; vector_4 < 16; vector_4++) {
          const s32 j10_3 = vector_4;
          const u16 v11_3 = p0[th_x * 16 + bl_x * 256 + vector_4 + 240];
          left_tile[th_x * 32 + vector_4 + 480] = v11_3;
        }
        for (s32 vector_5 = 16; vector_5 < 32; vector_5++) {
          left_tile[th_x * 32 + vector_5 + 480] = 0;
        }
      }
      for (s64 turn13 = 0; turn13 < 16; turn13++) {
        const s32 right_cell14 = th_x * 16 + turn13;
        if (turn13 <= 7) {
          const s32 j15 = turn13;
          #pragma GCC unroll 1
          for (s32 vector_index16 = 0; vector_index16 < 32; vector_index16++) {
            const u16 v17 = p1[th_x * 32 + turn13 * 192 + vector_index16 + (bl_x >> 2) * 1536];
            right_tile[th_x * 1024 + turn13 * 64 + vector_index16 * 2] = v17;
            const u16 v19 = p1[th_x * 32 + turn13 * 192 + vector_index16 + (bl_x >> 2) * 1536 + 96];
            right_tile[th_x * 1024 + turn13 * 64 + vector_index16 * 2 + 1] = v19;
          }
        } else {
          #pragma GCC unroll 1
          for (s32 vector_index21 = 0; vector_index21 < 32; vector_index21++) {
            right_tile[th_x * 1024 + turn13 * 64 + vector_index21 * 2] = 0;
            right_tile[th_x * 1024 + turn13 * 64 + vector_index21 * 2 + 1] = 0;
          }
        }
      }
    }
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 3; th_x++) {
      multiply_panels_bf16(sums + th_x * 512, left_tile, right_tile + th_x * 1024, 32);
      for (s32 i22 = 0; i22 < 16; i22++) {
        #pragma GCC unroll 1
        for (s32 vector_index23 = 0; vector_index23 < 32; vector_index23++) {
          const u16 v24_bits = encode_bf16(sums[th_x * 512 + i22 * 32 + vector_index23]);
          o0[th_x * 32 + bl_x * 1536 + i22 * 96 + vector_index23] = v24_bits;
        }
      }
    }
  }
}

void dot_panels_dot(void *const *buffers, s64 first_block, s64 last_block) {
  dot_panels_dot_blocks(buffers[0], buffers[1], buffers[2], first_block, last_block);
}
