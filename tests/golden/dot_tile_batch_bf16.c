// scores: dot-panels emitter, 18 blocks of 6 threads

typedef float f32;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long s64;
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
#ifdef __clang__
#define CONTRACTS
#else
#define CONTRACTS __attribute__((optimize("fp-contract=fast")))
#endif
typedef int s32;

static inline f32 float_f32(u32 x) { f32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline f32 decode_bf16(u16 bits) { return float_f32((u32)bits << 16); }

static inline u32 bits_f32(f32 x) { u32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline u16 encode_bf16(f32 x) {
  u32 bits = bits_f32(x);
  return (u16)(x != x ? 0x7fc0u : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

static inline CONTRACTS __attribute__((noinline)) void multiply_panels_f32_wide(f32 *sums, const f32 *left, const f32 *right, s64 depth) {
#ifdef __clang__
#pragma clang fp contract(fast)
#endif
  typedef f32 vector __attribute__((vector_size(VECTOR_BYTES)));
  enum { rows = 6, columns = 32, lanes = VECTOR_BYTES / sizeof(f32) };
  enum { vectors = 128 > VECTOR_BYTES ? 2 : 1, part = vectors * lanes };  // of a row, whose sums stay in registers
  for (s32 first = 0; first < columns; first += part) {
    vector total[rows][vectors];
#pragma GCC unroll 16
    for (s32 i = 0; i < rows; i++)
#pragma GCC unroll 16
      for (s32 j = 0; j < vectors; j++) total[i][j] = *(const vector *)(sums + first + i * columns + j * lanes);
    for (s64 k = 0; k < depth; k++) {
      vector row[vectors];
#pragma GCC unroll 16
      for (s32 j = 0; j < vectors; j++) row[j] = *(const vector *)(right + first + k * columns + j * lanes);
#pragma GCC unroll 16
      for (s32 i = 0; i < rows; i++) {
        const f32 factor = left[i * depth + k];
#pragma GCC unroll 16
        for (s32 j = 0; j < vectors; j++) total[i][j] = row[j] * factor + total[i][j];
      }
    }
#pragma GCC unroll 16
    for (s32 i = 0; i < rows; i++)
#pragma GCC unroll 16
      for (s32 j = 0; j < vectors; j++) *(vector *)(sums + first + i * columns + j * lanes) = total[i][j];
  }
}

static void dot_panels_dot_blocks(const u16 *restrict p0, const u16 *restrict p1, u16 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 18;
    __attribute__((aligned(64))) __attribute__((aligned(16))) f32 left_tile[192];
    __attribute__((aligned(64))) __attribute__((aligned(16))) f32 right_tile[1536];
    __attribute__((aligned(64))) __attribute__((aligned(16))) f32 sums[1152];
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 6; th_x++) {
      for (s32 register0 = 0; register0 < 192; register0++) {
        sums[th_x * 192 + register0] = 0.0f;
      }
    }
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 6; th_x++) {
      for (s32 turn1 = 0; turn1 < 2; turn1++) {
        const s32 left_cell2 = th_x + turn1 * 6;
        if (th_x + turn1 * 6 + (bl_x % 6) * 12 <= 63) {
          const s32 j3 = th_x + turn1 * 6 + (bl_x % 6) * 12;
          #pragma GCC unroll 1
          for (s32 vector_index4 = 0; vector_index4 < 16; vector_index4++) {
            const u16 v5 = p0[th_x * 16 + bl_x * 192 + turn1 * 96 + vector_index4 - (bl_x / 6) * 128];
            const f32 v6 = decode_bf16(v5);
            left_tile[th_x * 16 + turn1 * 96 + vector_index4] = v6;
          }
        } else {
          #pragma GCC unroll 1
          for (s32 vector_index7 = 0; vector_index7 < 16; vector_index7++) {
            left_tile[th_x * 16 + turn1 * 96 + vector_index7] = 0.0f;
          }
        }
      }
      for (s32 turn8 = 0; turn8 < 8; turn8++) {
        const s32 right_cell9 = th_x * 16 + turn8 * 2 - (th_x / 3) * 47;
        #pragma GCC unroll 1
        for (s32 vector_index10 = 0; vector_index10 < 32; vector_index10++) {
          const u16 v11 = p1[th_x * 32 + turn8 * 192 + vector_index10 + (bl_x / 6) * 1536];
          const f32 v12 = decode_bf16(v11);
          right_tile[right_cell9 * 32 + vector_index10] = v12;
        }
      }
    }
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 6; th_x++) {
      if ((th_x / 3) * 6 + (bl_x % 6) * 12 <= 63) {
        multiply_panels_f32_wide(sums + th_x * 192, left_tile + (th_x / 3) * 96, right_tile + (th_x % 3) * 512, 16);
      }
      for (s32 i14 = 0; i14 < 6; i14++) {
        if (i14 + (th_x / 3) * 6 + (bl_x % 6) * 12 <= 63) {
          const s32 j15 = i14 + (th_x / 3) * 6 + (bl_x % 6) * 12;
          #pragma GCC unroll 1
          for (s32 vector_index16 = 0; vector_index16 < 32; vector_index16++) {
            const u16 v17_bits = encode_bf16(sums[th_x * 192 + i14 * 32 + vector_index16]);
            o0[j15 * 96 + vector_index16 + (bl_x / 6) * 6144 + (th_x % 3) * 32] = v17_bits;
          }
        }
      }
    }
  }
}

void dot_panels_dot(void *const *buffers, s64 first_block, s64 last_block) {
  dot_panels_dot_blocks(buffers[0], buffers[1], buffers[2], first_block, last_block);
}
