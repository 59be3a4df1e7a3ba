// fused: reduction emitter, 8 blocks of 1024 threads

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

// add
static inline f32 combine0(f32 a0, f32 b0) {
  const f32 v0 = a0 + b0;
  return v0;
}

static void reduction_reduce_blocks(const f32 *restrict p0, const f32 *restrict p1, f32 *restrict o0, f32 *restrict o1, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 8;
    __attribute__((aligned(64))) f32 v0_of[1024];
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 1024; th_x++) {
      f32 v0 = (-0.0f);
      const f32 v2_1 = p0[th_x + bl_x * 2048];
      const f32 v3_1 = v0 + v2_1;
      v0 = v3_1;
      const f32 v4_1 = (-v2_1);
      o1[th_x + bl_x * 2048] = v4_1;
      const f32 v2_2 = p0[th_x + bl_x * 2048 + 1024];
      const f32 v3_2 = v0 + v2_2;
      v0 = v3_2;
      const f32 v4_2 = (-v2_2);
      o1[th_x + bl_x * 2048 + 1024] = v4_2;
      v0_of[th_x] = v0;
    }
    for (s32 cell7 = 0; cell7 < 512; cell7++) {
      const f32 v0_both = combine0(v0_of[cell7], v0_of[cell7 + 512]);
      v0_of[cell7] = v0_both;
    }
    for (s32 cell8 = 0; cell8 < 256; cell8++) {
      const f32 v0_both1 = combine0(v0_of[cell8], v0_of[cell8 + 256]);
      v0_of[cell8] = v0_both1;
    }
    for (s32 cell9 = 0; cell9 < 128; cell9++) {
      const f32 v0_both2 = combine0(v0_of[cell9], v0_of[cell9 + 128]);
      v0_of[cell9] = v0_both2;
    }
    for (s32 cell10 = 0; cell10 < 64; cell10++) {
      const f32 v0_both3 = combine0(v0_of[cell10], v0_of[cell10 + 64]);
      v0_of[cell10] = v0_both3;
    }
    for (s32 cell11 = 0; cell11 < 32; cell11++) {
      const f32 v0_both4 = combine0(v0_of[cell11], v0_of[cell11 + 32]);
      v0_of[cell11] = v0_both4;
    }
    for (s32 cell12 = 0; cell12 < 16; cell12++) {
      const f32 v0_both5 = combine0(v0_of[cell12], v0_of[cell12 + 16]);
      v0_of[cell12] = v0_both5;
    }
    for (s32 cell13 = 0; cell13 < 8; cell13++) {
      const f32 v0_both6 = combine0(v0_of[cell13], v0_of[cell13 + 8]);
      v0_of[cell13] = v0_both6;
    }
    for (s32 cell14 = 0; cell14 < 4; cell14++) {
      const f32 v0_both7 = combine0(v0_of[cell14], v0_of[cell14 + 4]);
      v0_of[cell14] = v0_both7;
    }
    for (s32 cell15 = 0; cell15 < 2; cell15++) {
      const f32 v0_both8 = combine0(v0_of[cell15], v0_of[cell15 + 2]);
      v0_of[cell15] = v0_both8;
    }
    const f32 v0_both9 = combine0(v0_of[0], v0_of[1]);
    v0_of[0] = v0_both9;
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 1; th_x++) {
      const f32 v0 = v0_of[th_x];
      const f32 v5 = p1[0];
      const f32 v6 = v5 + v0;
      const f32 v7 = log_f32(v6);
      o0[bl_x] = v7;
    }
  }
}

void reduction_reduce(void *const *buffers, s64 first_block, s64 last_block) {
  reduction_reduce_blocks(buffers[0], buffers[1], buffers[2], buffers[3], first_block, last_block);
}
