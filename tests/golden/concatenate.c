// fused: concatenate emitter, 50 blocks of 128 threads

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

static void concatenate_concatenate_blocks(const f32 *restrict p0, const f32 *restrict p1, f32 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 50;
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 128; th_x++) {
      const s32 i = th_x + bl_x * 128;
      const f32 v0 = p0[th_x + bl_x * 128];
      const f32 v1 = (-v0);
      o0[i + (i / 100) * 50] = v1;
      if (i % 100 <= 49) {
        const s32 j2 = i % 100;
        const f32 v3 = p1[j2 + (i / 100) * 50];
        const f32 v4 = exp_f32(v3);
        const f32 v5 = (-v4);
        o0[j2 + (i / 100) * 150 + 100] = v5;
      }
    }
  }
}

void concatenate_concatenate(void *const *buffers, s64 first_block, s64 last_block) {
  concatenate_concatenate_blocks(buffers[0], buffers[1], buffers[2], first_block, last_block);
}
