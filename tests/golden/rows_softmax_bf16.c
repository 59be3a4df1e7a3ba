// fused: rows emitter, 4096 blocks of 256 threads

typedef float f32;
typedef unsigned short u16;
typedef unsigned int u32;
typedef double f64;
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define mul_add_f64(a, b, c) __builtin_fma(a, b, c)
#else
#define mul_add_f64(a, b, c) ((a) * (b) + (c))
#endif
typedef unsigned long long u64;
#define inf_f32 __builtin_inff()
typedef int s32;
typedef long long s64;

static inline f32 float_f32(u32 x) { f32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline f32 decode_bf16(u16 bits) { return float_f32((u32)bits << 16); }

static inline u32 bits_f32(f32 x) { u32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline u16 encode_bf16(f32 x) {
  u32 bits = bits_f32(x);
  return (u16)(x != x ? 0x7fc0u : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

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

static inline f32 maximum_f32(f32 a, f32 b) {
  f32 equal = float_f32(bits_f32(a) & bits_f32(b)), other = a > b || a != a ? a : b;
  return a == b ? equal : other;
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
    __attribute__((aligned(64))) f32 v2_of[256];
    __attribute__((aligned(64))) f32 v7_of[256];
    __attribute__((aligned(64))) f32 v8_of[256];
    __attribute__((aligned(64))) f32 v15_of[256];
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 256; th_x++) {
      f32 v2 = (-inf_f32);
      v2_of[th_x] = v2;
    }
    for (s32 step3 = 0; step3 < 4; step3++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 256; th_x++) {
        f32 v2 = v2_of[th_x];
        const u16 v4 = p0[th_x + bl_x * 1024 + step3 * 256];
        const f32 v5 = decode_bf16(v4);
        const f32 v6 = maximum_f32(v2, v5);
        v2 = v6;
        kept1[th_x + step3 * 256] = v4;
        v2_of[th_x] = v2;
      }
    }
    for (s32 cell9 = 0; cell9 < 128; cell9++) {
      const f32 v2_both = combine0(v2_of[cell9], v2_of[cell9 + 128]);
      v2_of[cell9] = v2_both;
    }
    for (s32 cell10 = 0; cell10 < 64; cell10++) {
      const f32 v2_both = combine0(v2_of[cell10], v2_of[cell10 + 64]);
      v2_of[cell10] = v2_both;
    }
    for (s32 cell11 = 0; cell11 < 32; cell11++) {
      const f32 v2_both = combine0(v2_of[cell11], v2_of[cell11 + 32]);
      v2_of[cell11] = v2_both;
    }
    for (s32 cell12 = 0; cell12 < 16; cell12++) {
      const f32 v2_both = combine0(v2_of[cell12], v2_of[cell12 + 16]);
      v2_of[cell12] = v2_both;
    }
    for (s32 cell13 = 0; cell13 < 8; cell13++) {
      const f32 v2_both = combine0(v2_of[cell13], v2_of[cell13 + 8]);
      v2_of[cell13] = v2_both;
    }
    for (s32 cell14 = 0; cell14 < 4; cell14++) {
      const f32 v2_both = combine0(v2_of[cell14], v2_of[cell14 + 4]);
      v2_of[cell14] = v2_both;
    }
    for (s32 cell15 = 0; cell15 < 2; cell15++) {
      const f32 v2_both = combine0(v2_of[cell15], v2_of[cell15 + 2]);
      v2_of[cell15] = v2_both;
    }
    const f32 v2_both = combine0(v2_of[0], v2_of[1]);
    v2_of[0] = v2_both;
    for (s32 part16 = 0; part16 < 256; part16++) {
      v2_of[part16] = v2_of[0];
    }
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 256; th_x++) {
      const f32 v2 = v2_of[th_x];
      const f32 v7 = maximum_f32((-inf_f32), v2);
      f32 v8 = (-0.0f);
      v7_of[th_x] = v7;
      v8_of[th_x] = v8;
    }
    for (s32 step9 = 0; step9 < 4; step9++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 256; th_x++) {
        const f32 v7 = v7_of[th_x];
        f32 v8 = v8_of[th_x];
        const u16 v10 = kept1[th_x + step9 * 256];
        const f32 v11 = decode_bf16(v10);
        const f32 v12 = v11 - v7;
        const f32 v13 = exp_f32(v12);
        const f32 v14 = v8 + v13;
        v8 = v14;
        kept0[th_x + step9 * 256] = v13;
        v8_of[th_x] = v8;
      }
    }
    for (s32 cell17 = 0; cell17 < 128; cell17++) {
      const f32 v8_both = combine1(v8_of[cell17], v8_of[cell17 + 128]);
      v8_of[cell17] = v8_both;
    }
    for (s32 cell18 = 0; cell18 < 64; cell18++) {
      const f32 v8_both = combine1(v8_of[cell18], v8_of[cell18 + 64]);
      v8_of[cell18] = v8_both;
    }
    for (s32 cell19 = 0; cell19 < 32; cell19++) {
      const f32 v8_both = combine1(v8_of[cell19], v8_of[cell19 + 32]);
      v8_of[cell19] = v8_both;
    }
    for (s32 cell20 = 0; cell20 < 16; cell20++) {
      const f32 v8_both = combine1(v8_of[cell20], v8_of[cell20 + 16]);
      v8_of[cell20] = v8_both;
    }
    for (s32 cell21 = 0; cell21 < 8; cell21++) {
      const f32 v8_both = combine1(v8_of[cell21], v8_of[cell21 + 8]);
      v8_of[cell21] = v8_both;
    }
    for (s32 cell22 = 0; cell22 < 4; cell22++) {
      const f32 v8_both = combine1(v8_of[cell22], v8_of[cell22 + 4]);
      v8_of[cell22] = v8_both;
    }
    for (s32 cell23 = 0; cell23 < 2; cell23++) {
      const f32 v8_both = combine1(v8_of[cell23], v8_of[cell23 + 2]);
      v8_of[cell23] = v8_both;
    }
    const f32 v8_both = combine1(v8_of[0], v8_of[1]);
    v8_of[0] = v8_both;
    for (s32 part24 = 0; part24 < 256; part24++) {
      v8_of[part24] = v8_of[0];
    }
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 256; th_x++) {
      const f32 v8 = v8_of[th_x];
      const f32 v15 = 0.0f + v8;
      v15_of[th_x] = v15;
    }
    for (s32 step16 = 0; step16 < 4; step16++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 256; th_x++) {
        const f32 v15 = v15_of[th_x];
        const f32 v17 = kept0[th_x + step16 * 256];
        const f32 v18 = v17 / v15;
        o0[th_x + bl_x * 1024 + step16 * 256] = encode_bf16(v18);
      }
    }
  }
}

void rows_reduce(void *const *buffers, s64 first_block, s64 last_block) {
  rows_reduce_blocks(buffers[0], buffers[1], first_block, last_block);
}
