// fused: concatenate emitter, 50 blocks of 128 threads

typedef float f32;
typedef int s32;
typedef struct { f32 p; s32 n; } exp_terms;
typedef unsigned int u32;
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define mul_add_f32(a, b, c) __builtin_fmaf(a, b, c)
#else
#define mul_add_f32(a, b, c) ((a) * (b) + (c))
#endif
typedef long long s64;

static inline u32 bits_f32(f32 x) { u32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline exp_terms exp_terms_of(f32 x) {  // |x| < 120
  f32 shifted = mul_add_f32(x, 1.44269504f, 12582912.0f), n = shifted - 12582912.0f;
  f32 r = mul_add_f32(n, -1.42860677e-06f, mul_add_f32(n, -0.693145751953125f, x));
  exp_terms e = {mul_add_f32(r * r, mul_add_f32(mul_add_f32(mul_add_f32(mul_add_f32(0.001394667662680149f, r, 0.008369294926524162f), r, 0.04166625812649727f), r, 0.16666515171527863f), r, 0.5f), r), (s32)(bits_f32(shifted) - 0x4b400000u)};
  return e;
}

static inline f32 float_f32(u32 x) { f32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline f32 two_to(s32 n) { return float_f32((u32)(n + 127) << 23); }  // a normal number

static inline f32 exp_f32(f32 x) {
  exp_terms e = exp_terms_of(x < -105.0f ? -105.0f : x > 90.0f ? 90.0f : x);  // NaN stays
  s32 half = e.n >> 1;
  return (e.p + 1.0f) * two_to(half) * two_to(e.n - half);
}

static inline s32 maximum_s32(s32 a, s32 b) { return a > b ? a : b; }

static inline s32 minimum_s32(s32 a, s32 b) { return a < b ? a : b; }

static void concatenate_concatenate_blocks(const f32 *restrict p0, const f32 *restrict p1, f32 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 50;
    for (s32 row = (bl_x * 32) / 25; row < (bl_x * 32 + 6) / 25 + 2; row++) {
      #pragma GCC ivdep
      for (s32 th_x = -minimum_s32(bl_x * 32 - row * 25, 0) * 4; th_x < -maximum_s32(bl_x * 32 - row * 25, (-7)) * 4 + 100; th_x++) {
        const s32 i = th_x + bl_x * 128;
        const f32 v0 = p0[th_x + bl_x * 128];
        const f32 v1 = (-v0);
        o0[th_x + bl_x * 128 + row * 50] = v1;
        if (th_x + bl_x * 128 - row * 100 <= 49) {
          const s32 j2 = th_x + bl_x * 128 - row * 100;
          const f32 v3 = p1[th_x + bl_x * 128 - row * 50];
          const f32 v4 = exp_f32(v3);
          const f32 v5 = (-v4);
          o0[th_x + bl_x * 128 + row * 50 + 100] = v5;
        }
      }
    }
  }
}

void concatenate_concatenate(void *const *buffers, s64 first_block, s64 last_block) {
  concatenate_concatenate_blocks(buffers[0], buffers[1], buffers[2], first_block, last_block);
}
