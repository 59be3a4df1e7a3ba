// fused: reduction emitter, 1 blocks of 768 threads

typedef float f32;
typedef int s32;
typedef long long s64;

// add
static inline f32 combine0(f32 a0, f32 b0) {
  const f32 v0 = a0 + b0;
  return v0;
}

static void reduction_reduce_blocks(const f32 *restrict p0, f32 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    __attribute__((aligned(64))) f32 v0_of[768];
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 768; th_x++) {
      f32 v0 = (-0.0f);
      v0_of[th_x] = v0;
    }
    for (s32 step1 = 0; step1 < 32; step1++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 768; th_x++) {
        f32 v0 = v0_of[th_x];
        const f32 v2 = p0[th_x + step1 * 768];
        const f32 v3 = v0 + v2;
        v0 = v3;
        v0_of[th_x] = v0;
      }
    }
    for (s32 cell7 = 0; cell7 < 384; cell7++) {
      const f32 v0_both = combine0(v0_of[cell7], v0_of[cell7 + 384]);
      v0_of[cell7] = v0_both;
    }
    for (s32 cell8 = 0; cell8 < 192; cell8++) {
      const f32 v0_both1 = combine0(v0_of[cell8], v0_of[cell8 + 192]);
      v0_of[cell8] = v0_both1;
    }
    for (s32 cell9 = 0; cell9 < 96; cell9++) {
      const f32 v0_both2 = combine0(v0_of[cell9], v0_of[cell9 + 96]);
      v0_of[cell9] = v0_both2;
    }
    for (s32 cell10 = 0; cell10 < 48; cell10++) {
      const f32 v0_both3 = combine0(v0_of[cell10], v0_of[cell10 + 48]);
      v0_of[cell10] = v0_both3;
    }
    for (s32 cell11 = 0; cell11 < 24; cell11++) {
      const f32 v0_both4 = combine0(v0_of[cell11], v0_of[cell11 + 24]);
      v0_of[cell11] = v0_both4;
    }
    for (s32 cell12 = 0; cell12 < 12; cell12++) {
      const f32 v0_both5 = combine0(v0_of[cell12], v0_of[cell12 + 12]);
      v0_of[cell12] = v0_both5;
    }
    for (s32 cell13 = 0; cell13 < 6; cell13++) {
      const f32 v0_both6 = combine0(v0_of[cell13], v0_of[cell13 + 6]);
      v0_of[cell13] = v0_both6;
    }
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 768; th_x++) {
      if (th_x / 6 <= 0) {
        const f32 v0 = v0_of[th_x];
        const f32 v4 = 0.0f + v0;
        o0[th_x % 6] = v4;
      }
    }
  }
}

void reduction_reduce(void *const *buffers, s64 first_block, s64 last_block) {
  reduction_reduce_blocks(buffers[0], buffers[1], first_block, last_block);
}
