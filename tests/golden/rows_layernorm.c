// fused: rows emitter, 300 blocks of 64 threads

typedef float f32;
#define sqrt_f64 __builtin_sqrt
typedef int s32;
typedef long long s64;

static inline f32 rsqrt_f32(f32 x) { return (f32)(1 / sqrt_f64(x)); }

// add
static inline f32 combine0(f32 a0, f32 b0) {
  const f32 v0 = a0 + b0;
  return v0;
}

static void rows_reduce_blocks(const f32 *restrict p0, const f32 *restrict p1, const f32 *restrict p2, f32 *restrict o0, f32 *restrict o1, f32 *restrict o2, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 300;
    __attribute__((aligned(64))) f32 kept0[1024];
    __attribute__((aligned(64))) f32 v1_of[64];
    __attribute__((aligned(64))) f32 v7_of[64];
    __attribute__((aligned(64))) f32 v8_of[64];
    __attribute__((aligned(64))) f32 v18_of[64];
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 64; th_x++) {
      f32 v1 = (-0.0f);
      v1_of[th_x] = v1;
    }
    for (s32 step2 = 0; step2 < 15; step2++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 64; th_x++) {
        f32 v1 = v1_of[th_x];
        const s32 j3 = th_x + step2 * 64;
        const f32 v4 = p0[th_x + bl_x * 1000 + step2 * 64];
        const f32 v5 = v1 + v4;
        v1 = v5;
        kept0[th_x + step2 * 64] = v4;
        v1_of[th_x] = v1;
      }
    }
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 40; th_x++) {
      f32 v1 = v1_of[th_x];
      const s32 j3_1 = th_x + 960;
      const f32 v4_1 = p0[th_x + bl_x * 1000 + 960];
      const f32 v5_1 = v1 + v4_1;
      v1 = v5_1;
      kept0[th_x + 960] = v4_1;
      v1_of[th_x] = v1;
    }
    for (s32 cell14 = 0; cell14 < 32; cell14++) {
      const f32 v1_both = combine0(v1_of[cell14], v1_of[cell14 + 32]);
      v1_of[cell14] = v1_both;
    }
    for (s32 cell15 = 0; cell15 < 16; cell15++) {
      const f32 v1_both1 = combine0(v1_of[cell15], v1_of[cell15 + 16]);
      v1_of[cell15] = v1_both1;
    }
    for (s32 cell16 = 0; cell16 < 8; cell16++) {
      const f32 v1_both2 = combine0(v1_of[cell16], v1_of[cell16 + 8]);
      v1_of[cell16] = v1_both2;
    }
    for (s32 cell17 = 0; cell17 < 4; cell17++) {
      const f32 v1_both3 = combine0(v1_of[cell17], v1_of[cell17 + 4]);
      v1_of[cell17] = v1_both3;
    }
    for (s32 cell18 = 0; cell18 < 2; cell18++) {
      const f32 v1_both4 = combine0(v1_of[cell18], v1_of[cell18 + 2]);
      v1_of[cell18] = v1_both4;
    }
    const f32 v1_both5 = combine0(v1_of[0], v1_of[1]);
    v1_of[0] = v1_both5;
    for (s32 part19 = 0; part19 < 64; part19++) {
      v1_of[part19] = v1_of[0];
    }
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 64; th_x++) {
      const f32 v1 = v1_of[th_x];
      const f32 v6 = 0.0f + v1;
      f32 v7 = (-0.0f);
      const f32 v8 = v6 * 0.001f;
      v7_of[th_x] = v7;
      v8_of[th_x] = v8;
    }
    for (s32 step9 = 0; step9 < 15; step9++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 64; th_x++) {
        f32 v7 = v7_of[th_x];
        const f32 v8 = v8_of[th_x];
        const f32 v11 = kept0[th_x + step9 * 64];
        const f32 v12 = v11 - v8;
        const f32 v13 = v12 * v12;
        const f32 v14 = v7 + v13;
        v7 = v14;
        v7_of[th_x] = v7;
      }
    }
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 40; th_x++) {
      f32 v7 = v7_of[th_x];
      const f32 v8 = v8_of[th_x];
      const f32 v11_1 = kept0[th_x + 960];
      const f32 v12_1 = v11_1 - v8;
      const f32 v13_1 = v12_1 * v12_1;
      const f32 v14_1 = v7 + v13_1;
      v7 = v14_1;
      v7_of[th_x] = v7;
    }
    for (s32 cell20 = 0; cell20 < 32; cell20++) {
      const f32 v7_both6 = combine0(v7_of[cell20], v7_of[cell20 + 32]);
      v7_of[cell20] = v7_both6;
    }
    for (s32 cell21 = 0; cell21 < 16; cell21++) {
      const f32 v7_both7 = combine0(v7_of[cell21], v7_of[cell21 + 16]);
      v7_of[cell21] = v7_both7;
    }
    for (s32 cell22 = 0; cell22 < 8; cell22++) {
      const f32 v7_both8 = combine0(v7_of[cell22], v7_of[cell22 + 8]);
      v7_of[cell22] = v7_both8;
    }
    for (s32 cell23 = 0; cell23 < 4; cell23++) {
      const f32 v7_both9 = combine0(v7_of[cell23], v7_of[cell23 + 4]);
      v7_of[cell23] = v7_both9;
    }
    for (s32 cell24 = 0; cell24 < 2; cell24++) {
      const f32 v7_both10 = combine0(v7_of[cell24], v7_of[cell24 + 2]);
      v7_of[cell24] = v7_both10;
    }
    const f32 v7_both11 = combine0(v7_of[0], v7_of[1]);
    v7_of[0] = v7_both11;
    for (s32 part25 = 0; part25 < 64; part25++) {
      v7_of[part25] = v7_of[0];
    }
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 64; th_x++) {
      const f32 v7 = v7_of[th_x];
      const f32 v15 = 0.0f + v7;
      const f32 v16 = v15 * 0.001f;
      const f32 v17 = v16 + 1e-05f;
      const f32 v18 = rsqrt_f32(v17);
      v18_of[th_x] = v18;
    }
    for (s32 step19 = 0; step19 < 15; step19++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 64; th_x++) {
        const f32 v8 = v8_of[th_x];
        const f32 v18 = v18_of[th_x];
        const s32 j20 = th_x + step19 * 64;
        const f32 v21 = kept0[th_x + step19 * 64];
        const f32 v22 = v21 - v8;
        const f32 v23 = v22 * v18;
        const f32 v24 = p1[th_x + step19 * 64];
        const f32 v25 = v23 * v24;
        const f32 v26 = p2[th_x + step19 * 64];
        const f32 v27 = v25 + v26;
        o0[th_x + bl_x * 1000 + step19 * 64] = v27;
      }
    }
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 64; th_x++) {
      const f32 v8 = v8_of[th_x];
      const f32 v18 = v18_of[th_x];
      if (th_x + 960 <= 999) {
        const s32 j20_1 = th_x + 960;
        const f32 v21_1 = kept0[th_x + 960];
        const f32 v22_1 = v21_1 - v8;
        const f32 v23_1 = v22_1 * v18;
        const f32 v24_1 = p1[th_x + 960];
        const f32 v25_1 = v23_1 * v24_1;
        const f32 v26_1 = p2[th_x + 960];
        const f32 v27_1 = v25_1 + v26_1;
        o0[th_x + bl_x * 1000 + 960] = v27_1;
      }
      if (th_x <= 0) {
        o1[bl_x] = v8;
        o2[bl_x] = v18;
      }
    }
  }
}

void rows_reduce(void *const *buffers, s64 first_block, s64 last_block) {
  rows_reduce_blocks(buffers[0], buffers[1], buffers[2], buffers[3], buffers[4], buffers[5], first_block, last_block);
}
