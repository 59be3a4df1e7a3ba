// fused: reduction emitter, 63 blocks of 256 threads

typedef float f32;
typedef int s32;
typedef long long s64;

static inline s32 maximum_s32(s32 a, s32 b) { return a > b ? a : b; }

// add
static inline f32 combine0(f32 a0, f32 b0) {
  const f32 v0 = a0 + b0;
  return v0;
}

static void reduction_reduce_blocks(const f32 *restrict p0, f32 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 63;
    __attribute__((aligned(64))) f32 v0_of[256];
    for (s32 th_y = 0; th_y < 16; th_y++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 16; th_x++) {
        f32 v0 = (-0.0f);
        v0_of[th_x + th_y * 16] = v0;
      }
    }
    for (s32 step2 = 0; step2 < 1; step2++) {
      for (s32 th_y = 0; th_y < -maximum_s32(bl_x * 2, 123) * 8 + 1000; th_y++) {
        #pragma GCC ivdep
        for (s32 th_x = 0; th_x < 16; th_x++) {
          f32 v0 = v0_of[th_x + th_y * 16];
          const s32 j3 = th_x;
          const f32 v4 = p0[th_x + th_y * 24 + bl_x * 384];
          const f32 v5 = v0 + v4;
          v0 = v5;
          v0_of[th_x + th_y * 16] = v0;
        }
      }
    }
    for (s32 th_y = 0; th_y < -maximum_s32(bl_x * 2, 123) * 8 + 1000; th_y++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 16; th_x++) {
        f32 v0 = v0_of[th_x + th_y * 16];
        if (th_x + 16 <= 23) {
          const s32 j3_1 = th_x + 16;
          const f32 v4_1 = p0[th_x + th_y * 24 + bl_x * 384 + 16];
          const f32 v5_1 = v0 + v4_1;
          v0 = v5_1;
        }
        v0_of[th_x + th_y * 16] = v0;
      }
    }
    for (s32 team12 = 0; team12 < 16; team12++) {
      for (s32 cell11 = 0; cell11 < 8; cell11++) {
        const f32 v0_both = combine0(v0_of[cell11 + team12 * 16], v0_of[cell11 + team12 * 16 + 8]);
        v0_of[cell11 + team12 * 16] = v0_both;
      }
    }
    for (s32 team14 = 0; team14 < 16; team14++) {
      for (s32 cell13 = 0; cell13 < 4; cell13++) {
        const f32 v0_both = combine0(v0_of[cell13 + team14 * 16], v0_of[cell13 + team14 * 16 + 4]);
        v0_of[cell13 + team14 * 16] = v0_both;
      }
    }
    for (s32 team16 = 0; team16 < 16; team16++) {
      for (s32 cell15 = 0; cell15 < 2; cell15++) {
        const f32 v0_both = combine0(v0_of[cell15 + team16 * 16], v0_of[cell15 + team16 * 16 + 2]);
        v0_of[cell15 + team16 * 16] = v0_both;
      }
    }
    for (s32 team17 = 0; team17 < 16; team17++) {
      const f32 v0_both = combine0(v0_of[team17 * 16], v0_of[team17 * 16 + 1]);
      v0_of[team17 * 16] = v0_both;
    }
    for (s32 th_y = 0; th_y < 16; th_y++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 16; th_x++) {
        const f32 v0 = v0_of[th_x + th_y * 16];
        if (th_x <= 0 && th_y + bl_x * 16 <= 999) {
          const s32 j6 = th_y + bl_x * 16;
          const f32 v7 = 0.0f + v0;
          o0[th_y + bl_x * 16] = v7;
        }
      }
    }
  }
}

void reduction_reduce(void *const *buffers, s64 first_block, s64 last_block) {
  reduction_reduce_blocks(buffers[0], buffers[1], first_block, last_block);
}
