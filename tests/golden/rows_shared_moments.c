// fused: rows emitter, 256 blocks of 64 threads

typedef _Bool bool;
#define true 1
#define false 0
typedef float f32;
typedef unsigned int u32;
typedef int s32;
typedef long long s64;

static inline u32 bits_f32(f32 x) { u32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline f32 float_f32(u32 x) { f32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline f32 choose_f32(u32 condition, f32 a, f32 b) {
  u32 mask = 0 - condition;
  return float_f32((bits_f32(a) & mask) | (bits_f32(b) & ~mask));
}

static inline s32 maximum_s32(s32 a, s32 b) { return a > b ? a : b; }

// combined
typedef struct { f32 r0; s32 r1; f32 r2; f32 r3; } combine0_results;
static inline combine0_results combine0(f32 a0, s32 a1, f32 a2, f32 a3, f32 b0, s32 b1, f32 b2, f32 b3) {
  const f32 v0 = a0 + b0;
  const s32 v1 = (s32)((u32)a1 + (u32)b1);
  const f32 v2 = (f32)b1;
  const s32 v3 = maximum_s32(v1, 1);
  const f32 v4 = (f32)v3;
  const f32 v5 = v2 / v4;
  const f32 v6 = 1.0f - v5;
  const f32 v7 = a2 * v6;
  const f32 v8 = b2 * v5;
  const f32 v9 = v7 + v8;
  const f32 v10 = a3 + b3;
  const bool v11 = a2 == b2;
  const f32 v12 = b2 - a2;
  const f32 v13 = choose_f32(v11, 0.0f, v12);
  const f32 v14 = (f32)a1;
  const f32 v15 = v14 * v5;
  const f32 v16 = v13 * v15;
  const f32 v17 = v16 * v13;
  const f32 v18 = v10 + v17;
  combine0_results results;
  results.r0 = v0;
  results.r1 = v1;
  results.r2 = v9;
  results.r3 = v18;
  return results;
}

static void rows_reduce_blocks(const f32 *restrict p0, f32 *restrict o0, f32 *restrict o1, f32 *restrict w0, s32 *restrict w1, f32 *restrict w2, f32 *restrict w3, u32 *restrict w4, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 256;
    __attribute__((aligned(64))) u32 last26[1];
    __attribute__((aligned(64))) f32 v0_of[64];
    __attribute__((aligned(64))) s32 v1_of[64];
    __attribute__((aligned(64))) f32 v2_of[64];
    __attribute__((aligned(64))) f32 v3_of[64];
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 64; th_x++) {
      f32 v0 = (-0.0f);
      s32 v1 = 0;
      f32 v2 = 0.0f;
      f32 v3 = 0.0f;
      v0_of[th_x] = v0;
      v1_of[th_x] = v1;
      v2_of[th_x] = v2;
      v3_of[th_x] = v3;
    }
    for (s32 step4 = 0; step4 < 16; step4++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 64; th_x++) {
        f32 v0 = v0_of[th_x];
        s32 v1 = v1_of[th_x];
        f32 v2 = v2_of[th_x];
        f32 v3 = v3_of[th_x];
        const f32 v5 = p0[th_x + bl_x * 1024 + step4 * 64];
        const f32 v6 = v5 + 1.0f;
        const f32 v7 = v0 + v6;
        const s32 v8 = (s32)((u32)v1 + (u32)1);
        const s32 v10 = maximum_s32(v8, 1);
        const f32 v11 = (f32)v10;
        const f32 v12 = 1.0f / v11;
        const f32 v13 = 1.0f - v12;
        const f32 v14 = v2 * v13;
        const f32 v15 = v6 * v12;
        const f32 v16 = v14 + v15;
        const f32 v17 = v3 + (-0.0f);
        const bool v18 = v2 == v6;
        const f32 v19 = v6 - v2;
        const f32 v20 = choose_f32(v18, 0.0f, v19);
        const f32 v21 = (f32)v1;
        const f32 v22 = v21 * v12;
        const f32 v23 = v20 * v22;
        const f32 v24 = v23 * v20;
        const f32 v25 = v17 + v24;
        v0 = v7;
        v1 = v8;
        v2 = v16;
        v3 = v25;
        v0_of[th_x] = v0;
        v1_of[th_x] = v1;
        v2_of[th_x] = v2;
        v3_of[th_x] = v3;
      }
    }
    for (s32 cell7 = 0; cell7 < 32; cell7++) {
      const combine0_results results_1 = combine0(v0_of[cell7], v1_of[cell7], v2_of[cell7], v3_of[cell7], v0_of[cell7 + 32], v1_of[cell7 + 32], v2_of[cell7 + 32], v3_of[cell7 + 32]);
      const f32 v0_both = results_1.r0;
      const s32 v1_both = results_1.r1;
      const f32 v2_both = results_1.r2;
      const f32 v3_both = results_1.r3;
      v0_of[cell7] = v0_both;
      v1_of[cell7] = v1_both;
      v2_of[cell7] = v2_both;
      v3_of[cell7] = v3_both;
    }
    for (s32 cell8 = 0; cell8 < 16; cell8++) {
      const combine0_results results_2 = combine0(v0_of[cell8], v1_of[cell8], v2_of[cell8], v3_of[cell8], v0_of[cell8 + 16], v1_of[cell8 + 16], v2_of[cell8 + 16], v3_of[cell8 + 16]);
      const f32 v0_both1 = results_2.r0;
      const s32 v1_both1 = results_2.r1;
      const f32 v2_both1 = results_2.r2;
      const f32 v3_both1 = results_2.r3;
      v0_of[cell8] = v0_both1;
      v1_of[cell8] = v1_both1;
      v2_of[cell8] = v2_both1;
      v3_of[cell8] = v3_both1;
    }
    for (s32 cell9 = 0; cell9 < 8; cell9++) {
      const combine0_results results_3 = combine0(v0_of[cell9], v1_of[cell9], v2_of[cell9], v3_of[cell9], v0_of[cell9 + 8], v1_of[cell9 + 8], v2_of[cell9 + 8], v3_of[cell9 + 8]);
      const f32 v0_both2 = results_3.r0;
      const s32 v1_both2 = results_3.r1;
      const f32 v2_both2 = results_3.r2;
      const f32 v3_both2 = results_3.r3;
      v0_of[cell9] = v0_both2;
      v1_of[cell9] = v1_both2;
      v2_of[cell9] = v2_both2;
      v3_of[cell9] = v3_both2;
    }
    for (s32 cell10 = 0; cell10 < 4; cell10++) {
      const combine0_results results_4 = combine0(v0_of[cell10], v1_of[cell10], v2_of[cell10], v3_of[cell10], v0_of[cell10 + 4], v1_of[cell10 + 4], v2_of[cell10 + 4], v3_of[cell10 + 4]);
      const f32 v0_both3 = results_4.r0;
      const s32 v1_both3 = results_4.r1;
      const f32 v2_both3 = results_4.r2;
      const f32 v3_both3 = results_4.r3;
      v0_of[cell10] = v0_both3;
      v1_of[cell10] = v1_both3;
      v2_of[cell10] = v2_both3;
      v3_of[cell10] = v3_both3;
    }
    for (s32 cell11 = 0; cell11 < 2; cell11++) {
      const combine0_results results_5 = combine0(v0_of[cell11], v1_of[cell11], v2_of[cell11], v3_of[cell11], v0_of[cell11 + 2], v1_of[cell11 + 2], v2_of[cell11 + 2], v3_of[cell11 + 2]);
      const f32 v0_both4 = results_5.r0;
      const s32 v1_both4 = results_5.r1;
      const f32 v2_both4 = results_5.r2;
      const f32 v3_both4 = results_5.r3;
      v0_of[cell11] = v0_both4;
      v1_of[cell11] = v1_both4;
      v2_of[cell11] = v2_both4;
      v3_of[cell11] = v3_both4;
    }
    const combine0_results results_6 = combine0(v0_of[0], v1_of[0], v2_of[0], v3_of[0], v0_of[1], v1_of[1], v2_of[1], v3_of[1]);
    const f32 v0_both5 = results_6.r0;
    const s32 v1_both5 = results_6.r1;
    const f32 v2_both5 = results_6.r2;
    const f32 v3_both5 = results_6.r3;
    v0_of[0] = v0_both5;
    v1_of[0] = v1_both5;
    v2_of[0] = v2_both5;
    v3_of[0] = v3_both5;
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 1; th_x++) {
      const f32 v0 = v0_of[th_x];
      const s32 v1 = v1_of[th_x];
      const f32 v2 = v2_of[th_x];
      const f32 v3 = v3_of[th_x];
      w0[bl_x] = v0;
      w1[bl_x] = v1;
      w2[bl_x] = v2;
      w3[bl_x] = v3;
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (s32 th_x = 0; th_x < 1; th_x++) {
      const u32 arrived27 = __atomic_fetch_add(w4 + (bl_x >> 6), 1u, __ATOMIC_ACQ_REL);
      last26[0] = arrived27;
    }
    if (last26[0] == 63u) {
      __atomic_thread_fence(__ATOMIC_SEQ_CST);
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 64; th_x++) {
        f32 v0 = v0_of[th_x];
        s32 v1 = v1_of[th_x];
        f32 v2 = v2_of[th_x];
        f32 v3 = v3_of[th_x];
        if (th_x <= 0) {
          w4[bl_x >> 6] = 0u;
        }
        v0 = (-0.0f);
        v1 = 0;
        v2 = 0.0f;
        v3 = 0.0f;
        const f32 v28 = w0[th_x + (bl_x >> 6) * 64];
        const s32 v29 = w1[th_x + (bl_x >> 6) * 64];
        const f32 v30 = w2[th_x + (bl_x >> 6) * 64];
        const f32 v31 = w3[th_x + (bl_x >> 6) * 64];
        const f32 v32 = v0 + v28;
        const s32 v33 = (s32)((u32)v1 + (u32)v29);
        const f32 v34 = (f32)v29;
        const s32 v35 = maximum_s32(v33, 1);
        const f32 v36 = (f32)v35;
        const f32 v37 = v34 / v36;
        const f32 v38 = 1.0f - v37;
        const f32 v39 = v2 * v38;
        const f32 v40 = v30 * v37;
        const f32 v41 = v39 + v40;
        const f32 v42 = v3 + v31;
        const bool v43 = v2 == v30;
        const f32 v44 = v30 - v2;
        const f32 v45 = choose_f32(v43, 0.0f, v44);
        const f32 v46 = (f32)v1;
        const f32 v47 = v46 * v37;
        const f32 v48 = v45 * v47;
        const f32 v49 = v48 * v45;
        const f32 v50 = v42 + v49;
        v0 = v32;
        v1 = v33;
        v2 = v41;
        v3 = v50;
        v0_of[th_x] = v0;
        v1_of[th_x] = v1;
        v2_of[th_x] = v2;
        v3_of[th_x] = v3;
      }
      for (s32 cell12 = 0; cell12 < 32; cell12++) {
        const combine0_results results_7 = combine0(v0_of[cell12], v1_of[cell12], v2_of[cell12], v3_of[cell12], v0_of[cell12 + 32], v1_of[cell12 + 32], v2_of[cell12 + 32], v3_of[cell12 + 32]);
        const f32 v0_both6 = results_7.r0;
        const s32 v1_both6 = results_7.r1;
        const f32 v2_both6 = results_7.r2;
        const f32 v3_both6 = results_7.r3;
        v0_of[cell12] = v0_both6;
        v1_of[cell12] = v1_both6;
        v2_of[cell12] = v2_both6;
        v3_of[cell12] = v3_both6;
      }
      for (s32 cell13 = 0; cell13 < 16; cell13++) {
        const combine0_results results_8 = combine0(v0_of[cell13], v1_of[cell13], v2_of[cell13], v3_of[cell13], v0_of[cell13 + 16], v1_of[cell13 + 16], v2_of[cell13 + 16], v3_of[cell13 + 16]);
        const f32 v0_both7 = results_8.r0;
        const s32 v1_both7 = results_8.r1;
        const f32 v2_both7 = results_8.r2;
        const f32 v3_both7 = results_8.r3;
        v0_of[cell13] = v0_both7;
        v1_of[cell13] = v1_both7;
        v2_of[cell13] = v2_both7;
        v3_of[cell13] = v3_both7;
      }
      for (s32 cell14 = 0; cell14 < 8; cell14++) {
        const combine0_results results_9 = combine0(v0_of[cell14], v1_of[cell14], v2_of[cell14], v3_of[cell14], v0_of[cell14 + 8], v1_of[cell14 + 8], v2_of[cell14 + 8], v3_of[cell14 + 8]);
        const f32 v0_both8 = results_9.r0;
        const s32 v1_both8 = results_9.r1;
        const f32 v2_both8 = results_9.r2;
        const f32 v3_both8 = results_9.r3;
        v0_of[cell14] = v0_both8;
        v1_of[cell14] = v1_both8;
        v2_of[cell14] = v2_both8;
        v3_of[cell14] = v3_both8;
      }
      for (s32 cell15 = 0; cell15 < 4; cell15++) {
        const combine0_results results_10 = combine0(v0_of[cell15], v1_of[cell15], v2_of[cell15], v3_of[cell15], v0_of[cell15 + 4], v1_of[cell15 + 4], v2_of[cell15 + 4], v3_of[cell15 + 4]);
        const f32 v0_both9 = results_10.r0;
        const s32 v1_both9 = results_10.r1;
        const f32 v2_both9 = results_10.r2;
        const f32 v3_both9 = results_10.r3;
        v0_of[cell15] = v0_both9;
        v1_of[cell15] = v1_both9;
        v2_of[cell15] = v2_both9;
        v3_of[cell15] = v3_both9;
      }
      for (s32 cell16 = 0; cell16 < 2; cell16++) {
        const combine0_results results_11 = combine0(v0_of[cell16], v1_of[cell16], v2_of[cell16], v3_of[cell16], v0_of[cell16 + 2], v1_of[cell16 + 2], v2_of[cell16 + 2], v3_of[cell16 + 2]);
        const f32 v0_both10 = results_11.r0;
        const s32 v1_both10 = results_11.r1;
        const f32 v2_both10 = results_11.r2;
        const f32 v3_both10 = results_11.r3;
        v0_of[cell16] = v0_both10;
        v1_of[cell16] = v1_both10;
        v2_of[cell16] = v2_both10;
        v3_of[cell16] = v3_both10;
      }
      const combine0_results results_12 = combine0(v0_of[0], v1_of[0], v2_of[0], v3_of[0], v0_of[1], v1_of[1], v2_of[1], v3_of[1]);
      const f32 v0_both11 = results_12.r0;
      const s32 v1_both11 = results_12.r1;
      const f32 v2_both11 = results_12.r2;
      const f32 v3_both11 = results_12.r3;
      v0_of[0] = v0_both11;
      v1_of[0] = v1_both11;
      v2_of[0] = v2_both11;
      v3_of[0] = v3_both11;
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 64; th_x++) {
        const f32 v0 = v0_of[th_x];
        const s32 v1 = v1_of[th_x];
        const f32 v2 = v2_of[th_x];
        f32 v3 = v3_of[th_x];
        const f32 v51 = 0.0f + v0;
        const f32 v52 = v51 / 65536.0f;
        const f32 v53 = (f32)v1;
        const f32 v54 = v2 - v52;
        const f32 v55 = v54 * v54;
        const f32 v56 = v53 * v55;
        const f32 v57 = v3 + v56;
        v3 = v57;
        const f32 v58 = 0.0f + v3;
        if (th_x <= 0) {
          o0[bl_x >> 6] = v52;
          o1[bl_x >> 6] = v58;
        }
        v3_of[th_x] = v3;
      }
    }
  }
}

void rows_reduce(void *const *buffers, s64 first_block, s64 last_block) {
  rows_reduce_blocks(buffers[0], buffers[1], buffers[2], buffers[3], buffers[4], buffers[5], buffers[6], buffers[7], first_block, last_block);
}
