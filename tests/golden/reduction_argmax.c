// fused: reduction emitter, 50 blocks of 256 threads

typedef _Bool bool;
#define true 1
#define false 0
typedef float f32;
typedef int s32;
typedef long long s64;

// first
typedef struct { f32 r0; s32 r1; } combine0_results;
static inline combine0_results combine0(f32 a0, s32 a1, f32 b0, s32 b1) {
  const bool v0 = a1 <= b1;
  const f32 v1 = v0 ? a0 : b0;
  const f32 v2 = v0 ? b0 : a0;
  const bool v3 = v1 > v2;
  const f32 v4 = v3 ? v1 : v2;
  const bool v5 = v1 > v2;
  const s32 v6 = v0 ? a1 : b1;
  const s32 v7 = v0 ? b1 : a1;
  const s32 v8 = v5 ? v6 : v7;
  combine0_results results;
  results.r0 = v4;
  results.r1 = v8;
  return results;
}

static void reduction_reduce_blocks(const f32 *restrict p0, f32 *restrict o0, s32 *restrict o1, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 50;
    __attribute__((aligned(64))) f32 v0_of[256];
    __attribute__((aligned(64))) s32 v1_of[256];
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 256; th_x++) {
      f32 v0 = 0.0f;
      s32 v1 = 0;
      v0_of[th_x] = v0;
      v1_of[th_x] = v1;
    }
    for (s32 step2 = 0; step2 < 1; step2++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 256; th_x++) {
        f32 v0 = v0_of[th_x];
        s32 v1 = v1_of[th_x];
        const s32 j3 = th_x;
        const f32 v4 = p0[th_x + bl_x * 300];
        const s32 v5 = th_x;
        v0 = v4;
        v1 = v5;
        v0_of[th_x] = v0;
        v1_of[th_x] = v1;
      }
    }
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 44; th_x++) {
      f32 v0 = v0_of[th_x];
      s32 v1 = v1_of[th_x];
      const s32 j3_1 = th_x + 256;
      const f32 v4_1 = p0[th_x + bl_x * 300 + 256];
      const s32 v5_1 = th_x + 256;
      const bool v6_1 = v0 > v4_1;
      const f32 v7_1 = v6_1 ? v0 : v4_1;
      const s32 v8_1 = v6_1 ? v1 : v5_1;
      v0 = v7_1;
      v1 = v8_1;
      v0_of[th_x] = v0;
      v1_of[th_x] = v1;
    }
    for (s32 cell9 = 0; cell9 < 128; cell9++) {
      const combine0_results results_1 = combine0(v0_of[cell9], v1_of[cell9], v0_of[cell9 + 128], v1_of[cell9 + 128]);
      const f32 v0_both = results_1.r0;
      const s32 v1_both = results_1.r1;
      v0_of[cell9] = v0_both;
      v1_of[cell9] = v1_both;
    }
    for (s32 cell10 = 0; cell10 < 64; cell10++) {
      const combine0_results results_2 = combine0(v0_of[cell10], v1_of[cell10], v0_of[cell10 + 64], v1_of[cell10 + 64]);
      const f32 v0_both1 = results_2.r0;
      const s32 v1_both1 = results_2.r1;
      v0_of[cell10] = v0_both1;
      v1_of[cell10] = v1_both1;
    }
    for (s32 cell11 = 0; cell11 < 32; cell11++) {
      const combine0_results results_3 = combine0(v0_of[cell11], v1_of[cell11], v0_of[cell11 + 32], v1_of[cell11 + 32]);
      const f32 v0_both2 = results_3.r0;
      const s32 v1_both2 = results_3.r1;
      v0_of[cell11] = v0_both2;
      v1_of[cell11] = v1_both2;
    }
    for (s32 cell12 = 0; cell12 < 16; cell12++) {
      const combine0_results results_4 = combine0(v0_of[cell12], v1_of[cell12], v0_of[cell12 + 16], v1_of[cell12 + 16]);
      const f32 v0_both3 = results_4.r0;
      const s32 v1_both3 = results_4.r1;
      v0_of[cell12] = v0_both3;
      v1_of[cell12] = v1_both3;
    }
    for (s32 cell13 = 0; cell13 < 8; cell13++) {
      const combine0_results results_5 = combine0(v0_of[cell13], v1_of[cell13], v0_of[cell13 + 8], v1_of[cell13 + 8]);
      const f32 v0_both4 = results_5.r0;
      const s32 v1_both4 = results_5.r1;
      v0_of[cell13] = v0_both4;
      v1_of[cell13] = v1_both4;
    }
    for (s32 cell14 = 0; cell14 < 4; cell14++) {
      const combine0_results results_6 = combine0(v0_of[cell14], v1_of[cell14], v0_of[cell14 + 4], v1_of[cell14 + 4]);
      const f32 v0_both5 = results_6.r0;
      const s32 v1_both5 = results_6.r1;
      v0_of[cell14] = v0_both5;
      v1_of[cell14] = v1_both5;
    }
    for (s32 cell15 = 0; cell15 < 2; cell15++) {
      const combine0_results results_7 = combine0(v0_of[cell15], v1_of[cell15], v0_of[cell15 + 2], v1_of[cell15 + 2]);
      const f32 v0_both6 = results_7.r0;
      const s32 v1_both6 = results_7.r1;
      v0_of[cell15] = v0_both6;
      v1_of[cell15] = v1_both6;
    }
    const combine0_results results_8 = combine0(v0_of[0], v1_of[0], v0_of[1], v1_of[1]);
    const f32 v0_both7 = results_8.r0;
    const s32 v1_both7 = results_8.r1;
    v0_of[0] = v0_both7;
    v1_of[0] = v1_both7;
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 1; th_x++) {
      const f32 v0 = v0_of[th_x];
      const s32 v1 = v1_of[th_x];
      const f32 v10 = v0;
      const s32 v11 = v1;
      o0[bl_x] = v10;
      o1[bl_x] = v11;
    }
  }
}

void reduction_reduce(void *const *buffers, s64 first_block, s64 last_block) {
  reduction_reduce_blocks(buffers[0], buffers[1], buffers[2], first_block, last_block);
}
