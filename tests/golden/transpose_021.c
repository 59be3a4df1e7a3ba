// fused: transpose emitter, 600 blocks of 256 threads

#define abs_f32 __builtin_fabsf
typedef float f32;
typedef double f64;
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define mul_add_f64(a, b, c) __builtin_fma(a, b, c)
#else
#define mul_add_f64(a, b, c) ((a) * (b) + (c))
#endif
typedef unsigned long long u64;
typedef int s32;
typedef long long s64;

static inline f64 float_f64(u64 x) { f64 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline u64 bits_f64(f64 x) { u64 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline f64 exp_wide(f64 x) {  // |x| < 700
  f64 shifted = mul_add_f64(x, 1.4426950408889634, 6755399441055744.0), n = shifted - 6755399441055744.0;
  f64 r = mul_add_f64(n, -0.6931471805599453, x), scale = float_f64((bits_f64(shifted) + 1023) << 52);
  f64 p = r * mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(2.755731922398589e-07, r, 2.7557319223985893e-06), r, 2.48015873015873e-05), r, 0.0001984126984126984), r, 0.001388888888888889), r, 0.008333333333333333), r, 0.041666666666666664), r, 0.16666666666666666), r, 0.5), r, 1.0);
  return mul_add_f64(scale, p, scale);
}

static inline f64 limit_f64(f64 x, f64 bound) { return x < -bound ? -bound : x > bound ? bound : x; }  // NaN stays

static inline f32 exp_f32(f32 x) { return (f32)exp_wide(limit_f64(x, 200)); }

static inline s32 maximum_s32(s32 a, s32 b) { return a > b ? a : b; }

static void transpose_transpose_blocks(const f32 *restrict p0, f32 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 600;
    __attribute__((aligned(64))) f32 tile0[1056];
    for (s32 r0 = 0; r0 < 4; r0++) {
      for (s32 th_y = 0; th_y < 8; th_y++) {
        #pragma GCC ivdep
        for (s32 th_x = 0; th_x < -maximum_s32((bl_x % 6) * 16, 69) * 2 + 170; th_x++) {
          const f32 v2 = p0[th_x + th_y * 170 + bl_x * 32 + r0 * 1360 + (bl_x / 6) * 5248];
          const f32 v3 = exp_f32(v2);
          tile0[th_x + th_y * 33 + r0 * 264] = v3;
        }
      }
    }
    for (s32 th_y = 0; th_y < 8; th_y++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 32; th_x++) {
        for (s32 r4 = 0; r4 < 4; r4++) {
          if (th_y + r4 * 8 + (bl_x % 6) * 32 <= 169) {
            const s32 j5 = th_y + r4 * 8 + (bl_x % 6) * 32;
            const f32 v6 = tile0[th_x * 33 + th_y + r4 * 8];
            const f32 v7 = abs_f32(v6);
            o0[th_x + th_y * 160 + bl_x * 5120 + r4 * 1280 + (bl_x / 30) * 27040 - (bl_x / 6) * 30688] = v7;
          }
        }
      }
    }
  }
}

void transpose_transpose(void *const *buffers, s64 first_block, s64 last_block) {
  transpose_transpose_blocks(buffers[0], buffers[1], first_block, last_block);
}
