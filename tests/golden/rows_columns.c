// fused: rows emitter, 140 blocks of 64 threads

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

static void rows_reduce_blocks(const f32 *restrict p0, f32 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 140;
    __attribute__((aligned(64))) f32 kept0[192];
    __attribute__((aligned(64))) f32 v1_of[64];
    __attribute__((aligned(64))) f32 v8_of[64];
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 64; th_x++) {
      f32 v1 = (-0.0f);
      v1_of[th_x] = v1;
    }
    for (s32 step2 = 0; step2 < 2; step2++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 64; th_x++) {
        f32 v1 = v1_of[th_x];
        const s32 j3 = step2 * 32 + (th_x >> 1);
        const f32 v4 = p0[bl_x * 2 + j3 * 70 + (bl_x / 35) * 6230 + (th_x & 1)];
        const f32 v5 = v4 * v4;
        const f32 v6 = v1 + v5;
        v1 = v6;
        kept0[th_x + step2 * 64] = v4;
        v1_of[th_x] = v1;
      }
    }
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 64; th_x++) {
      if ((th_x >> 1) + 64 <= 89) {
        f32 v1 = v1_of[th_x];
        const s32 j3_1 = (th_x >> 1) + 64;
        const f32 v4_1 = p0[bl_x * 2 + j3_1 * 70 + (bl_x / 35) * 6230 + (th_x & 1)];
        const f32 v5_1 = v4_1 * v4_1;
        const f32 v6_1 = v1 + v5_1;
        v1 = v6_1;
        kept0[th_x + 128] = v4_1;
        v1_of[th_x] = v1;
      }
    }
    for (s32 cell12 = 0; cell12 < 32; cell12++) {
      const f32 v1_both = combine0(v1_of[cell12], v1_of[cell12 + 32]);
      v1_of[cell12] = v1_both;
    }
    for (s32 cell13 = 0; cell13 < 16; cell13++) {
      const f32 v1_both1 = combine0(v1_of[cell13], v1_of[cell13 + 16]);
      v1_of[cell13] = v1_both1;
    }
    for (s32 cell14 = 0; cell14 < 8; cell14++) {
      const f32 v1_both2 = combine0(v1_of[cell14], v1_of[cell14 + 8]);
      v1_of[cell14] = v1_both2;
    }
    for (s32 cell15 = 0; cell15 < 4; cell15++) {
      const f32 v1_both3 = combine0(v1_of[cell15], v1_of[cell15 + 4]);
      v1_of[cell15] = v1_both3;
    }
    for (s32 cell16 = 0; cell16 < 2; cell16++) {
      const f32 v1_both4 = combine0(v1_of[cell16], v1_of[cell16 + 2]);
      v1_of[cell16] = v1_both4;
    }
    for (s32 part18 = 0; part18 < 32; part18++) {
      for (s32 cell17 = 0; cell17 < 2; cell17++) {
        v1_of[cell17 + part18 * 2] = v1_of[cell17];
      }
    }
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 64; th_x++) {
      const f32 v1 = v1_of[th_x];
      const f32 v7 = 1.0f + v1;
      const f32 v8 = rsqrt_f32(v7);
      v8_of[th_x] = v8;
    }
    for (s32 step9 = 0; step9 < 2; step9++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 64; th_x++) {
        const f32 v8 = v8_of[th_x];
        const s32 j10 = step9 * 32 + (th_x >> 1);
        const f32 v11 = kept0[th_x + step9 * 64];
        const f32 v12 = v11 * v8;
        o0[bl_x * 2 + j10 * 70 + (bl_x / 35) * 6230 + (th_x & 1)] = v12;
      }
    }
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 64; th_x++) {
      if ((th_x >> 1) + 64 <= 89) {
        const f32 v8 = v8_of[th_x];
        const s32 j10_1 = (th_x >> 1) + 64;
        const f32 v11_1 = kept0[th_x + 128];
        const f32 v12_1 = v11_1 * v8;
        o0[bl_x * 2 + j10_1 * 70 + (bl_x / 35) * 6230 + (th_x & 1)] = v12_1;
      }
    }
  }
}

void rows_reduce(void *const *buffers, s64 first_block, s64 last_block) {
  rows_reduce_blocks(buffers[0], buffers[1], first_block, last_block);
}
