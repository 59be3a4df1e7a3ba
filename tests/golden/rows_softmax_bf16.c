// fused: rows emitter, 4096 blocks of 64 threads

typedef float f32;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef struct { f32 p; s32 n; } exp_terms;
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define mul_add_f32(a, b, c) __builtin_fmaf(a, b, c)
#else
#define mul_add_f32(a, b, c) ((a) * (b) + (c))
#endif
#define inf_f32 __builtin_inff()
typedef long long s64;

static inline f32 float_f32(u32 x) { f32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline f32 decode_bf16(u16 bits) { return float_f32((u32)bits << 16); }

static inline u32 bits_f32(f32 x) { u32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline u16 encode_bf16(f32 x) {
  u32 bits = bits_f32(x);
  return (u16)(x != x ? 0x7fc0u : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

static inline exp_terms exp_terms_of(f32 x) {  // |x| < 120
  f32 shifted = mul_add_f32(x, 1.44269504f, 12582912.0f), n = shifted - 12582912.0f;
  f32 r = mul_add_f32(n, -1.42860677e-06f, mul_add_f32(n, -0.693145751953125f, x));
  exp_terms e = {mul_add_f32(r * r, mul_add_f32(mul_add_f32(mul_add_f32(mul_add_f32(0.001394667662680149f, r, 0.008369294926524162f), r, 0.04166625812649727f), r, 0.16666515171527863f), r, 0.5f), r), (s32)(bits_f32(shifted) - 0x4b400000u)};
  return e;
}

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

static inline f32 maximum_f32(f32 a, f32 b) {
  f32 one = a > b ? a : b, other = b > a ? b : a;
  return (a == a) & (b == b) ? float_f32(bits_f32(one) & bits_f32(other)) : a + b;
}

// max
static inline f32 combine0(f32 a0, f32 b0) {
  const f32 v0 = maximum_f32(a0, b0);
  return v0;
}

// add
static inline f32 combine1(f32 a0, f32 b0) {
  const f32 v0 = a0 + b0;
  return v0;
}

static void rows_reduce_blocks(const u16 *restrict p0, u16 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 4096;
    __attribute__((aligned(64))) f32 kept0[1024];
    __attribute__((aligned(64))) u16 kept1[1024];
    __attribute__((aligned(64))) f32 v2_of[64];
    __attribute__((aligned(64))) f32 v8_of[64];
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 64; th_x++) {
      f32 v2 = (-inf_f32);
      v2_of[th_x] = v2;
    }
    for (s32 step3 = 0; step3 < 16; step3++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 64; th_x++) {
        f32 v2 = v2_of[th_x];
        const u16 v4 = p0[th_x + bl_x * 1024 + step3 * 64];
        const f32 v5 = decode_bf16(v4);
        const f32 v6 = maximum_f32(v2, v5);
        v2 = v6;
        kept1[th_x + step3 * 64] = v4;
        v2_of[th_x] = v2;
      }
    }
    for (s32 cell9 = 0; cell9 < 32; cell9++) {
      const f32 v2_both = combine0(v2_of[cell9], v2_of[cell9 + 32]);
      v2_of[cell9] = v2_both;
    }
    for (s32 cell10 = 0; cell10 < 16; cell10++) {
      const f32 v2_both1 = combine0(v2_of[cell10], v2_of[cell10 + 16]);
      v2_of[cell10] = v2_both1;
    }
    for (s32 cell11 = 0; cell11 < 8; cell11++) {
      const f32 v2_both2 = combine0(v2_of[cell11], v2_of[cell11 + 8]);
      v2_of[cell11] = v2_both2;
    }
    for (s32 cell12 = 0; cell12 < 4; cell12++) {
      const f32 v2_both3 = combine0(v2_of[cell12], v2_of[cell12 + 4]);
      v2_of[cell12] = v2_both3;
    }
    for (s32 cell13 = 0; cell13 < 2; cell13++) {
      const f32 v2_both4 = combine0(v2_of[cell13], v2_of[cell13 + 2]);
      v2_of[cell13] = v2_both4;
    }
    const f32 v2_both5 = combine0(v2_of[0], v2_of[1]);
    v2_of[0] = v2_both5;
    for (s32 part14 = 0; part14 < 63; part14++) {
      v2_of[part14 + 1] = v2_of[0];
    }
    const f32 v2_all = v2_of[0];
    const f32 v7 = v2_all;
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 64; th_x++) {
      f32 v8 = (-0.0f);
      v8_of[th_x] = v8;
    }
    for (s32 step9 = 0; step9 < 16; step9++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 64; th_x++) {
        f32 v8 = v8_of[th_x];
        const u16 v10 = kept1[th_x + step9 * 64];
        const f32 v11 = decode_bf16(v10);
        const f32 v12 = v11 - v7;
        const f32 v13 = exp_f32(v12);
        const f32 v14 = v8 + v13;
        v8 = v14;
        kept0[th_x + step9 * 64] = v13;
        v8_of[th_x] = v8;
      }
    }
    for (s32 cell15 = 0; cell15 < 32; cell15++) {
      const f32 v8_both6 = combine1(v8_of[cell15], v8_of[cell15 + 32]);
      v8_of[cell15] = v8_both6;
    }
    for (s32 cell16 = 0; cell16 < 16; cell16++) {
      const f32 v8_both7 = combine1(v8_of[cell16], v8_of[cell16 + 16]);
      v8_of[cell16] = v8_both7;
    }
    for (s32 cell17 = 0; cell17 < 8; cell17++) {
      const f32 v8_both8 = combine1(v8_of[cell17], v8_of[cell17 + 8]);
      v8_of[cell17] = v8_both8;
    }
    for (s32 cell18 = 0; cell18 < 4; cell18++) {
      const f32 v8_both9 = combine1(v8_of[cell18], v8_of[cell18 + 4]);
      v8_of[cell18] = v8_both9;
    }
    for (s32 cell19 = 0; cell19 < 2; cell19++) {
      const f32 v8_both10 = combine1(v8_of[cell19], v8_of[cell19 + 2]);
      v8_of[cell19] = v8_both10;
    }
    const f32 v8_both11 = combine1(v8_of[0], v8_of[1]);
    v8_of[0] = v8_both11;
    for (s32 part20 = 0; part20 < 63; part20++) {
      v8_of[part20 + 1] = v8_of[0];
    }
    const f32 v8_all1 = v8_of[0];
    const f32 v15 = 0.0f + v8_all1;
    for (s32 step16 = 0; step16 < 16; step16++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 64; th_x++) {
        const f32 v17 = kept0[th_x + step16 * 64];
        const f32 v18 = v17 / v15;
        const u16 v19_bits = encode_bf16(v18);
        o0[th_x + bl_x * 1024 + step16 * 64] = v19_bits;
      }
    }
  }
}

void rows_reduce(void *const *buffers, s64 first_block, s64 last_block) {
  rows_reduce_blocks(buffers[0], buffers[1], first_block, last_block);
}
