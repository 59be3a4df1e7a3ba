// fused: transpose emitter, 4 blocks of 256 threads

typedef float f32;
typedef double f64;
typedef unsigned long long u64;
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define mul_add_f64(a, b, c) __builtin_fma(a, b, c)
#else
#define mul_add_f64(a, b, c) ((a) * (b) + (c))
#endif
#define inf_f32 __builtin_inff()
#define nan_f32 __builtin_nanf("")
typedef unsigned int u32;
typedef int s32;
typedef long long s64;

static inline u64 bits_f64(f64 x) { u64 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline f64 float_f64(u64 x) { f64 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline f64 log_wide(f64 x) {  // x a positive, normal number
  u64 bits = bits_f64(x) + 0x95f619980c433ull;
  f64 e = float_f64(bits >> 52 | 0x4330000000000000ull) - 4503599627371519.0;
  f64 m = float_f64((bits & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull);
  f64 s = (m - 1) / (m + 1), z = s * s;
  return mul_add_f64(e, 0.6931471805599453, 2 * s * mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(0.058823529411764705, z, 0.06666666666666667), z, 0.07692307692307693), z, 0.09090909090909091), z, 0.1111111111111111), z, 0.14285714285714285), z, 0.2), z, 0.3333333333333333), z, 1.0));
}

static inline u32 bits_f32(f32 x) { u32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline f32 float_f32(u32 x) { f32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline f32 choose_f32(u32 condition, f32 a, f32 b) {
  u32 mask = 0 - condition;
  return float_f32((bits_f32(a) & mask) | (bits_f32(b) & ~mask));
}

static inline f32 log_f32(f32 x) {
  f32 edge = x == 0 ? -inf_f32 : x > 0 ? x : nan_f32;
  return choose_f32((x > 0) & (x < inf_f32), (f32)log_wide(x), edge);
}

static void transpose_transpose_blocks(const f32 *restrict p0, f32 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 4;
    __attribute__((aligned(64))) f32 tile0[1056];
    for (s32 r0 = 0; r0 < 4; r0++) {
      for (s32 th_y = 0; th_y < 8; th_y++) {
        #pragma GCC ivdep
        for (s32 th_x = 0; th_x < 32; th_x++) {
          const f32 v0_1 = p0[th_x + th_y * 64 + bl_x * 32 + r0 * 512 + (bl_x >> 1) * 1984];
          const f32 v1_1 = log_f32(v0_1);
          const f32 v0_2 = p0[th_x * 64 + th_y + bl_x * 2048 + r0 * 8 - (bl_x >> 1) * 4064];
          const f32 v1_2 = log_f32(v0_2);
          const f32 v2 = v1_1 + v1_2;
          const f32 v3_1 = log_f32(v2);
          tile0[th_x + th_y * 33 + r0 * 264] = v3_1;
        }
      }
    }
    for (s32 r2 = 0; r2 < 4; r2++) {
      for (s32 th_y = 0; th_y < 8; th_y++) {
        #pragma GCC ivdep
        for (s32 th_x = 0; th_x < 32; th_x++) {
          const f32 v3 = tile0[th_x * 33 + th_y + r2 * 8];
          const f32 v0_3 = p0[th_x + th_y * 64 + bl_x * 2048 + r2 * 512 - (bl_x >> 1) * 4064];
          const f32 v1_4 = log_f32(v0_3);
          const f32 v0_5 = p0[th_x * 64 + th_y + bl_x * 32 + r2 * 8 + (bl_x >> 1) * 1984];
          const f32 v1_5 = log_f32(v0_5);
          const f32 v2_1 = v1_4 + v1_5;
          const f32 v3_2 = log_f32(v2_1);
          const f32 v5 = v3_2 + v3;
          o0[th_x + th_y * 64 + bl_x * 2048 + r2 * 512 - (bl_x >> 1) * 4064] = v5;
        }
      }
    }
  }
}

void transpose_transpose(void *const *buffers, s64 first_block, s64 last_block) {
  transpose_transpose_blocks(buffers[0], buffers[1], first_block, last_block);
}
