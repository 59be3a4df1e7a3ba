// fused: reduction emitter, 250 blocks of 64 threads

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
    const s32 bl_x = block % 250;
    __attribute__((aligned(64))) f32 v0_of[64];
    for (s32 th_y = 0; th_y < 4; th_y++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 16; th_x++) {
        f32 v0 = (-0.0f);
        v0_of[th_x + th_y * 16] = v0;
      }
    }
    for (s32 step1 = 0; step1 < 1; step1++) {
      for (s32 th_y = 0; th_y < 4; th_y++) {
        #pragma GCC ivdep
        for (s32 th_x = 0; th_x < 16; th_x++) {
          f32 v0 = v0_of[th_x + th_y * 16];
          const s32 j2 = th_x;
          const f32 v3 = p0[th_x + th_y * 24 + bl_x * 96];
          const f32 v4 = v0 + v3;
          v0 = v4;
          v0_of[th_x + th_y * 16] = v0;
        }
      }
    }
    for (s32 th_y = 0; th_y < 4; th_y++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 8; th_x++) {
        f32 v0 = v0_of[th_x + th_y * 16];
        const s32 j2_1 = th_x + 16;
        const f32 v3_1 = p0[th_x + th_y * 24 + bl_x * 96 + 16];
        const f32 v4_1 = v0 + v3_1;
        v0 = v4_1;
        v0_of[th_x + th_y * 16] = v0;
      }
    }
    for (s32 team10 = 0; team10 < 4; team10++) {
      for (s32 cell9 = 0; cell9 < 8; cell9++) {
        const f32 v0_both = combine0(v0_of[cell9 + team10 * 16], v0_of[cell9 + team10 * 16 + 8]);
        v0_of[cell9 + team10 * 16] = v0_both;
      }
    }
    for (s32 team12 = 0; team12 < 4; team12++) {
      for (s32 cell11 = 0; cell11 < 4; cell11++) {
        const f32 v0_both1 = combine0(v0_of[cell11 + team12 * 16], v0_of[cell11 + team12 * 16 + 4]);
        v0_of[cell11 + team12 * 16] = v0_both1;
      }
    }
    for (s32 team14 = 0; team14 < 4; team14++) {
      for (s32 cell13 = 0; cell13 < 2; cell13++) {
        const f32 v0_both2 = combine0(v0_of[cell13 + team14 * 16], v0_of[cell13 + team14 * 16 + 2]);
        v0_of[cell13 + team14 * 16] = v0_both2;
      }
    }
    for (s32 team15 = 0; team15 < 4; team15++) {
      const f32 v0_both3 = combine0(v0_of[team15 * 16], v0_of[team15 * 16 + 1]);
      v0_of[team15 * 16] = v0_both3;
    }
    for (s32 th_y = 0; th_y < 4; th_y++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 1; th_x++) {
        const f32 v0 = v0_of[th_x + th_y * 16];
        const f32 v5 = 0.0f + v0;
        o0[th_y + bl_x * 4] = v5;
      }
    }
  }
}

void reduction_reduce(void *const *buffers, s64 first_block, s64 last_block) {
  reduction_reduce_blocks(buffers[0], buffers[1], first_block, last_block);
}
