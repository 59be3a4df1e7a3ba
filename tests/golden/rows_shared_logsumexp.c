// fused: rows emitter, 192 blocks of 64 threads

#define abs_f32 __builtin_fabsf
typedef _Bool bool;
#define true 1
#define false 0
typedef float f32;
typedef unsigned int u32;
typedef int s32;
typedef struct { f32 p; s32 n; } exp_terms;
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define mul_add_f32(a, b, c) __builtin_fmaf(a, b, c)
#else
#define mul_add_f32(a, b, c) ((a) * (b) + (c))
#endif
#define inf_f32 __builtin_inff()
typedef double f64;
typedef unsigned long long u64;
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define mul_add_f64(a, b, c) __builtin_fma(a, b, c)
#else
#define mul_add_f64(a, b, c) ((a) * (b) + (c))
#endif
#define nan_f32 __builtin_nanf("")
typedef long long s64;

static inline u32 bits_f32(f32 x) { u32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline f32 float_f32(u32 x) { f32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline f32 choose_f32(u32 condition, f32 a, f32 b) {
  u32 mask = 0 - condition;
  return float_f32((bits_f32(a) & mask) | (bits_f32(b) & ~mask));
}

static inline exp_terms exp_terms_of(f32 x) {  // |x| < 120
  f32 shifted = mul_add_f32(x, 1.44269504f, 12582912.0f), n = shifted - 12582912.0f;
  f32 r = mul_add_f32(n, -1.42860677e-06f, mul_add_f32(n, -0.693145751953125f, x));
  exp_terms e = {mul_add_f32(r * r, mul_add_f32(mul_add_f32(mul_add_f32(mul_add_f32(0.001394667662680149f, r, 0.008369294926524162f), r, 0.04166625812649727f), r, 0.16666515171527863f), r, 0.5f), r), (s32)(bits_f32(shifted) - 0x4b400000u)};
  return e;
}

static inline f32 two_to(s32 n) { return float_f32((u32)(n + 127) << 23); }  // a normal number

static inline f32 exp_f32(f32 x) {
  exp_terms e = exp_terms_of(x < -105.0f ? -105.0f : x > 90.0f ? 90.0f : x);  // NaN stays
  s32 half = e.n >> 1;
  return (e.p + 1.0f) * two_to(half) * two_to(e.n - half);
}

static inline bool is_finite_f32(f32 x) { return abs_f32(x) < inf_f32; }

static inline u64 bits_f64(f64 x) { u64 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline f64 float_f64(u64 x) { f64 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline f64 log_wide(f64 x) {  // x a positive, normal number
  u64 bits = bits_f64(x) + 0x95f619980c433ull;
  f64 e = float_f64(bits >> 52 | 0x4330000000000000ull) - 4503599627371519.0;
  f64 m = float_f64((bits & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull);
  f64 s = (m - 1) / (m + 1), z = s * s;
  return mul_add_f64(e, 0.6931471805599453, 2 * s * mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(0.058823529411764705, z, 0.06666666666666667), z, 0.07692307692307693), z, 0.09090909090909091), z, 0.1111111111111111), z, 0.14285714285714285), z, 0.2), z, 0.3333333333333333), z, 1.0));
}

static inline f32 log_f32(f32 x) {
  f32 edge = x == 0 ? -inf_f32 : x > 0 ? x : nan_f32;
  return choose_f32((x > 0) & (x < inf_f32), (f32)log_wide(x), edge);
}

static inline f32 maximum_f32(f32 a, f32 b) {
  f32 equal = float_f32(bits_f32(a) & bits_f32(b));
  u32 first = (a > b) | (a != a);
  f32 other = __builtin_constant_p(a) | __builtin_constant_p(b) ? choose_f32(first, a, b) : first ? a : b;
  return choose_f32(a == b, equal, other);
}

static inline s32 maximum_s32(s32 a, s32 b) { return a > b ? a : b; }

// combined
typedef struct { f32 r0; f32 r1; } combine0_results;
static inline combine0_results combine0(f32 a0, f32 a1, f32 b0, f32 b1) {
  const f32 v0 = maximum_f32(a0, b0);
  const bool v1 = a0 > b0;
  const bool v2 = a0 == b0;
  const f32 v3 = a0 - b0;
  const f32 v4 = abs_f32(v3);
  const f32 v5 = (-v4);
  const f32 v6 = exp_f32(v5);
  const f32 v7 = choose_f32(v2, 1.0f, v6);
  const f32 v8 = b1 * v7;
  const f32 v9 = a1 + v8;
  const f32 v10 = a1 * v7;
  const f32 v11 = v10 + b1;
  const f32 v12 = v1 ? v9 : v11;
  combine0_results results;
  results.r0 = v0;
  results.r1 = v12;
  return results;
}

static void rows_reduce_blocks(const f32 *restrict p0, f32 *restrict o0, f32 *restrict w0, f32 *restrict w1, u32 *restrict w2, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 192;
    __attribute__((aligned(64))) u32 last32[1];
    __attribute__((aligned(64))) f32 v0_of[64];
    __attribute__((aligned(64))) f32 v1_of[64];
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 64; th_x++) {
      f32 v0 = (-inf_f32);
      f32 v1 = 0.0f;
      v0_of[th_x] = v0;
      v1_of[th_x] = v1;
    }
    for (s32 step2 = 0; step2 < 24; step2++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 64; th_x++) {
        f32 v0 = v0_of[th_x];
        f32 v1 = v1_of[th_x];
        const f32 v3 = p0[th_x + bl_x * 1536 + step2 * 64 + (bl_x >> 6) * 1696];
        const f32 v4 = maximum_f32(v0, v3);
        const bool v5 = v0 > v3;
        const bool v6 = v0 == v3;
        const f32 v7 = v0 - v3;
        const f32 v8 = abs_f32(v7);
        const f32 v9 = (-v8);
        const f32 v10 = exp_f32(v9);
        const f32 v11 = choose_f32(v6, 1.0f, v10);
        const f32 v12 = 1.0f * v11;
        const f32 v13 = v1 + v12;
        const f32 v14 = v1 * v11;
        const f32 v15 = v14 + 1.0f;
        const f32 v16 = v5 ? v13 : v15;
        v0 = v4;
        v1 = v16;
        v0_of[th_x] = v0;
        v1_of[th_x] = v1;
      }
    }
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < -maximum_s32((bl_x & 63) * 2, 51) * 32 + 1696; th_x++) {
      f32 v0 = v0_of[th_x];
      f32 v1 = v1_of[th_x];
      const s32 j17 = th_x + (bl_x & 63) * 64 + 98304;
      const f32 v18 = p0[th_x + bl_x * 64 + (bl_x >> 6) * 95904 + 98304];
      const f32 v19 = maximum_f32(v0, v18);
      const bool v20 = v0 > v18;
      const bool v21 = v0 == v18;
      const f32 v22 = v0 - v18;
      const f32 v23 = abs_f32(v22);
      const f32 v24 = (-v23);
      const f32 v25 = exp_f32(v24);
      const f32 v26 = choose_f32(v21, 1.0f, v25);
      const f32 v27 = 1.0f * v26;
      const f32 v28 = v1 + v27;
      const f32 v29 = v1 * v26;
      const f32 v30 = v29 + 1.0f;
      const f32 v31 = v20 ? v28 : v30;
      v0 = v19;
      v1 = v31;
      v0_of[th_x] = v0;
      v1_of[th_x] = v1;
    }
    for (s32 cell8 = 0; cell8 < 32; cell8++) {
      const combine0_results results_1 = combine0(v0_of[cell8], v1_of[cell8], v0_of[cell8 + 32], v1_of[cell8 + 32]);
      const f32 v0_both = results_1.r0;
      const f32 v1_both = results_1.r1;
      v0_of[cell8] = v0_both;
      v1_of[cell8] = v1_both;
    }
    for (s32 cell9 = 0; cell9 < 16; cell9++) {
      const combine0_results results_2 = combine0(v0_of[cell9], v1_of[cell9], v0_of[cell9 + 16], v1_of[cell9 + 16]);
      const f32 v0_both = results_2.r0;
      const f32 v1_both = results_2.r1;
      v0_of[cell9] = v0_both;
      v1_of[cell9] = v1_both;
    }
    for (s32 cell10 = 0; cell10 < 8; cell10++) {
      const combine0_results results_3 = combine0(v0_of[cell10], v1_of[cell10], v0_of[cell10 + 8], v1_of[cell10 + 8]);
      const f32 v0_both = results_3.r0;
      const f32 v1_both = results_3.r1;
      v0_of[cell10] = v0_both;
      v1_of[cell10] = v1_both;
    }
    for (s32 cell11 = 0; cell11 < 4; cell11++) {
      const combine0_results results_4 = combine0(v0_of[cell11], v1_of[cell11], v0_of[cell11 + 4], v1_of[cell11 + 4]);
      const f32 v0_both = results_4.r0;
      const f32 v1_both = results_4.r1;
      v0_of[cell11] = v0_both;
      v1_of[cell11] = v1_both;
    }
    for (s32 cell12 = 0; cell12 < 2; cell12++) {
      const combine0_results results_5 = combine0(v0_of[cell12], v1_of[cell12], v0_of[cell12 + 2], v1_of[cell12 + 2]);
      const f32 v0_both = results_5.r0;
      const f32 v1_both = results_5.r1;
      v0_of[cell12] = v0_both;
      v1_of[cell12] = v1_both;
    }
    const combine0_results results_6 = combine0(v0_of[0], v1_of[0], v0_of[1], v1_of[1]);
    const f32 v0_both = results_6.r0;
    const f32 v1_both = results_6.r1;
    v0_of[0] = v0_both;
    v1_of[0] = v1_both;
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 1; th_x++) {
      const f32 v0 = v0_of[th_x];
      const f32 v1 = v1_of[th_x];
      w0[bl_x] = v0;
      w1[bl_x] = v1;
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (s32 th_x = 0; th_x < 1; th_x++) {
      const u32 arrived33 = __atomic_fetch_add(w2 + (bl_x >> 6), 1u, __ATOMIC_ACQ_REL);
      last32[0] = arrived33;
    }
    if (last32[0] == 63u) {
      __atomic_thread_fence(__ATOMIC_SEQ_CST);
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 64; th_x++) {
        f32 v0 = v0_of[th_x];
        f32 v1 = v1_of[th_x];
        if (th_x <= 0) {
          w2[bl_x >> 6] = 0u;
        }
        v0 = (-inf_f32);
        v1 = 0.0f;
        const f32 v34 = w0[th_x + (bl_x >> 6) * 64];
        const f32 v35 = w1[th_x + (bl_x >> 6) * 64];
        const f32 v36 = maximum_f32(v0, v34);
        const bool v37 = v0 > v34;
        const bool v38 = v0 == v34;
        const f32 v39 = v0 - v34;
        const f32 v40 = abs_f32(v39);
        const f32 v41 = (-v40);
        const f32 v42 = exp_f32(v41);
        const f32 v43 = choose_f32(v38, 1.0f, v42);
        const f32 v44 = v35 * v43;
        const f32 v45 = v1 + v44;
        const f32 v46 = v1 * v43;
        const f32 v47 = v46 + v35;
        const f32 v48 = v37 ? v45 : v47;
        v0 = v36;
        v1 = v48;
        v0_of[th_x] = v0;
        v1_of[th_x] = v1;
      }
      for (s32 cell13 = 0; cell13 < 32; cell13++) {
        const combine0_results results_7 = combine0(v0_of[cell13], v1_of[cell13], v0_of[cell13 + 32], v1_of[cell13 + 32]);
        const f32 v0_both = results_7.r0;
        const f32 v1_both = results_7.r1;
        v0_of[cell13] = v0_both;
        v1_of[cell13] = v1_both;
      }
      for (s32 cell14 = 0; cell14 < 16; cell14++) {
        const combine0_results results_8 = combine0(v0_of[cell14], v1_of[cell14], v0_of[cell14 + 16], v1_of[cell14 + 16]);
        const f32 v0_both = results_8.r0;
        const f32 v1_both = results_8.r1;
        v0_of[cell14] = v0_both;
        v1_of[cell14] = v1_both;
      }
      for (s32 cell15 = 0; cell15 < 8; cell15++) {
        const combine0_results results_9 = combine0(v0_of[cell15], v1_of[cell15], v0_of[cell15 + 8], v1_of[cell15 + 8]);
        const f32 v0_both = results_9.r0;
        const f32 v1_both = results_9.r1;
        v0_of[cell15] = v0_both;
        v1_of[cell15] = v1_both;
      }
      for (s32 cell16 = 0; cell16 < 4; cell16++) {
        const combine0_results results_10 = combine0(v0_of[cell16], v1_of[cell16], v0_of[cell16 + 4], v1_of[cell16 + 4]);
        const f32 v0_both = results_10.r0;
        const f32 v1_both = results_10.r1;
        v0_of[cell16] = v0_both;
        v1_of[cell16] = v1_both;
      }
      for (s32 cell17 = 0; cell17 < 2; cell17++) {
        const combine0_results results_11 = combine0(v0_of[cell17], v1_of[cell17], v0_of[cell17 + 2], v1_of[cell17 + 2]);
        const f32 v0_both = results_11.r0;
        const f32 v1_both = results_11.r1;
        v0_of[cell17] = v0_both;
        v1_of[cell17] = v1_both;
      }
      const combine0_results results_12 = combine0(v0_of[0], v1_of[0], v0_of[1], v1_of[1]);
      const f32 v0_both = results_12.r0;
      const f32 v1_both = results_12.r1;
      v0_of[0] = v0_both;
      v1_of[0] = v1_both;
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 64; th_x++) {
        const f32 v0 = v0_of[th_x];
        f32 v1 = v1_of[th_x];
        const f32 v49 = maximum_f32((-inf_f32), v0);
        const bool v50 = is_finite_f32(v49);
        const f32 v51 = choose_f32(v50, v49, 0.0f);
        const f32 v52 = v0 - v51;
        const f32 v53 = exp_f32(v52);
        const f32 v54 = v1 * v53;
        v1 = v54;
        const f32 v55 = 0.0f + v1;
        if (th_x <= 0) {
          const f32 v56 = log_f32(v55);
          const f32 v57 = v56 + v51;
          o0[bl_x >> 6] = v57;
        }
        v1_of[th_x] = v1;
      }
    }
  }
}

void rows_reduce(void *const *buffers, s64 first_block, s64 last_block) {
  rows_reduce_blocks(buffers[0], buffers[1], buffers[2], buffers[3], buffers[4], first_block, last_block);
}
