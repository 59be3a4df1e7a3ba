// fused: transpose emitter, 180 blocks of 256 threads

#define abs_f32 __builtin_fabsf
typedef float f32;
typedef unsigned int u32;
typedef int s32;
typedef struct { f32 p; s32 n; } exp_terms;
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

static inline f32 choose_f32(u32 condition, f32 a, f32 b) {
  u32 mask = 0 - condition;
  return float_f32((bits_f32(a) & mask) | (bits_f32(b) & ~mask));
}

static inline f32 two_to(s32 n) { return float_f32((u32)(n + 127) << 23); }  // a normal number

static inline f32 exp_f32(f32 x) {
  u32 none = x < -104.0f;
  exp_terms e = exp_terms_of(none ? 0.0f : x > 90.0f ? 90.0f : x);  // NaN stays
  s32 half = e.n >> 1;
  return choose_f32(none, 0.0f, (e.p + 1.0f) * two_to(half) * two_to(e.n - half));
}

static inline s32 maximum_s32(s32 a, s32 b) { return a > b ? a : b; }

static void transpose_transpose_blocks(const f32 *restrict p0, f32 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 180;
    __attribute__((aligned(64))) f32 tile0[4160];
    for (s32 r0 = 0; r0 < 16; r0++) {
      for (s32 th_y = 0; th_y < -maximum_s32(r0 + ((bl_x / 3) % 3) * 16, 39) * 4 + 160; th_y++) {
        const s32 j1 = th_y + r0 * 4 + ((bl_x / 3) % 3) * 64;
        #pragma GCC ivdep
        for (s32 th_x = 0; th_x < -maximum_s32((bl_x % 3) * 32, 53) * 2 + 170; th_x++) {
          const s32 j2 = th_x + (bl_x % 3) * 64;
          const f32 v3 = p0[th_x + th_y * 170 + bl_x * 64 + r0 * 680 + (bl_x / 3) * 10688 - (bl_x / 9) * 5440];
          const f32 v4 = exp_f32(v3);
          tile0[th_x + th_y * 65 + r0 * 260] = v4;
        }
      }
    }
    for (s32 r5 = 0; r5 < 16; r5++) {
      for (s32 th_y = 0; th_y < -maximum_s32(r5 * 2 + (bl_x % 3) * 32, 83) * 2 + 170; th_y++) {
        const s32 j6 = th_y + r5 * 4 + (bl_x % 3) * 64;
        #pragma GCC ivdep
        for (s32 th_x = 0; th_x < -maximum_s32(((bl_x / 3) % 3) * 2, 3) * 32 + 160; th_x++) {
          const s32 j7 = th_x + ((bl_x / 3) % 3) * 64;
          const f32 v8 = tile0[th_x * 65 + th_y + r5 * 4];
          const f32 v9 = abs_f32(v8);
          o0[th_x + th_y * 160 + bl_x * 10240 + r5 * 640 + (bl_x / 9) * 27008 - (bl_x / 3) * 30656] = v9;
        }
      }
    }
  }
}

void transpose_transpose(void *const *buffers, s64 first_block, s64 last_block) {
  transpose_transpose_blocks(buffers[0], buffers[1], first_block, last_block);
}
