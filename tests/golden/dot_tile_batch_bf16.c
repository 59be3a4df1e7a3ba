// scores: dot-panels emitter, 18 blocks of 12 threads

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

static inline CONTRACTS __attribute__((noinline)) void multiply_panels_f32(f32 *sums, const f32 *left, const f32 *right, s64 depth) {
#ifdef __clang__
#pragma clang fp contract(fast)
#endif
  typedef f32 vector __attribute__((vector_size(VECTOR_BYTES)));
  enum { rows = 6, columns = 16, lanes = VECTOR_BYTES / sizeof(f32), vectors = 64 / VECTOR_BYTES };
  vector total[rows][vectors];
#pragma GCC unroll 16
  for (s32 i = 0; i < rows; i++)
#pragma GCC unroll 16
    for (s32 j = 0; j < vectors; j++) total[i][j] = *(const vector *)(sums + i * columns + j * lanes);
  for (s64 k = 0; k < depth; k++) {
    vector row[vectors];
#pragma GCC unroll 16
    for (s32 j = 0; j < vectors; j++) row[j] = *(const vector *)(right + k * columns + j * lanes);
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
    for (s32 j = 0; j < vectors; j++) *(vector *)(sums + i * columns + j * lanes) = total[i][j];
}

static void dot_panels_dot_blocks(const u16 *restrict p0, const u16 *restrict p1, u16 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 18;
    __attribute__((aligned(64))) __attribute__((aligned(16))) f32 left_tile[192];
    __attribute__((aligned(64))) __attribute__((aligned(16))) f32 right_tile[1536];
    __attribute__((aligned(64))) __attribute__((aligned(16))) f32 sums[1152];
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 12; th_x++) {
      for (s32 register0 = 0; register0 < 96; register0++) {
        sums[th_x * 96 + register0] = 0.0f;
      }
      const s32 left_cell1 = th_x;
    }
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 12; th_x++) {
      if (th_x + (bl_x % 6) * 12 <= 63) {
        const s32 j2 = th_x + (bl_x % 6) * 12;
        #pragma GCC unroll 1
        for (s32 vector_index3 = 0; vector_index3 < 16; vector_index3++) {
          const u16 v4 = p0[th_x * 16 + bl_x * 192 + vector_index3 - (bl_x / 6) * 128];
          const f32 v5 = decode_bf16(v4);
          left_tile[th_x * 16 + vector_index3] = v5;
        }
      } else {
        #pragma GCC unroll 1
        for (s32 vector_index6 = 0; vector_index6 < 16; vector_index6++) {
          left_tile[th_x * 16 + vector_index6] = 0.0f;
        }
      }
      for (s32 turn7 = 0; turn7 < 8; turn7++) {
        const s32 right_cell8 = th_x * 16 + turn7 * 2 - (th_x / 6) * 95;
        #pragma GCC unroll 1
        for (s32 vector_index9 = 0; vector_index9 < 16; vector_index9++) {
          const u16 v10 = p1[th_x * 16 + turn7 * 192 + vector_index9 + (bl_x / 6) * 1536];
          const f32 v11 = decode_bf16(v10);
          right_tile[right_cell8 * 16 + vector_index9] = v11;
        }
      }
    }
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 12; th_x++) {
      multiply_panels_f32(sums + th_x * 96, left_tile + (th_x / 6) * 96, right_tile + (th_x % 6) * 256, 16);
      for (s32 i12 = 0; i12 < 6; i12++) {
        if (i12 + (th_x / 6) * 6 + (bl_x % 6) * 12 <= 63) {
          const s32 j13 = i12 + (th_x / 6) * 6 + (bl_x % 6) * 12;
          #pragma GCC unroll 1
          for (s32 vector_index14 = 0; vector_index14 < 16; vector_index14++) {
            const u16 v15_bits = encode_bf16(sums[th_x * 96 + i12 * 16 + vector_index14]);
            o0[j13 * 96 + vector_index14 + (bl_x / 6) * 6144 + (th_x % 6) * 16] = v15_bits;
          }
        }
      }
    }
  }
}

void dot_panels_dot(void *const *buffers, s64 first_block, s64 last_block) {
  dot_panels_dot_blocks(buffers[0], buffers[1], buffers[2], first_block, last_block);
}
