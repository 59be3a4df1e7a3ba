// fused: reduction emitter, 256 blocks of 48 threads

typedef float f32;
typedef int s32;
typedef long long s64;
typedef unsigned int u32;

static inline s32 maximum_s32(s32 a, s32 b) { return a > b ? a : b; }

// sum
static inline f32 combine0(f32 a0, f32 b0) {
  const f32 v0 = a0 + b0;
  return v0;
}

static void reduction_reduce_blocks(const f32 *restrict p0, f32 *restrict o0, f32 *restrict w0, u32 *restrict w1, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 256;
    __attribute__((aligned(64))) u32 last1[1];
    __attribute__((aligned(64))) f32 v0_of[48];
    for (s32 th_y = 0; th_y < 2; th_y++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 24; th_x++) {
        f32 v0 = (-0.0f);
        v0_of[th_x + th_y * 24] = v0;
      }
    }
    for (s32 step2 = 0; step2 < 195; step2++) {
      for (s32 th_y = 0; th_y < 2; th_y++) {
        #pragma GCC ivdep
        for (s32 th_x = 0; th_x < 24; th_x++) {
          f32 v0 = v0_of[th_x + th_y * 24];
          const f32 v3 = p0[th_x + th_y * 24 + bl_x * 9360 + step2 * 48];
          const f32 v4 = v0 + v3;
          v0 = v4;
          v0_of[th_x + th_y * 24] = v0;
        }
      }
    }
    for (s32 th_y = 0; th_y < -maximum_s32(bl_x, 79) * 2 + 160; th_y++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 24; th_x++) {
        f32 v0 = v0_of[th_x + th_y * 24];
        const s32 j5 = th_y + bl_x * 2 + 99840;
        const f32 v6 = p0[th_x + th_y * 24 + bl_x * 48 + 2396160];
        const f32 v7 = v0 + v6;
        v0 = v7;
        v0_of[th_x + th_y * 24] = v0;
      }
    }
    for (s32 cell9 = 0; cell9 < 24; cell9++) {
      const f32 v0_both = combine0(v0_of[cell9], v0_of[cell9 + 24]);
      v0_of[cell9] = v0_both;
    }
    for (s32 th_y = 0; th_y < 1; th_y++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 24; th_x++) {
        const f32 v0 = v0_of[th_x + th_y * 24];
        w0[th_x + bl_x * 24] = v0;
      }
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (s32 th_y = 0; th_y < 2; th_y++) {
      for (s32 th_x = 0; th_x < 24; th_x++) {
        if (th_x + th_y * 24 <= 0) {
          const u32 arrived8 = __atomic_fetch_add(w1, 1u, __ATOMIC_ACQ_REL);
          last1[0] = arrived8;
        }
      }
    }
    if (last1[0] == 255u) {
      __atomic_thread_fence(__ATOMIC_SEQ_CST);
      for (s32 th_y = 0; th_y < 2; th_y++) {
        #pragma GCC ivdep
        for (s32 th_x = 0; th_x < 24; th_x++) {
          f32 v0 = v0_of[th_x + th_y * 24];
          if (th_x + th_y * 24 <= 0) {
            w1[0] = 0u;
          }
          v0 = (-0.0f);
          v0_of[th_x + th_y * 24] = v0;
        }
      }
      for (s32 step9 = 0; step9 < 128; step9++) {
        for (s32 th_y = 0; th_y < 2; th_y++) {
          #pragma GCC ivdep
          for (s32 th_x = 0; th_x < 24; th_x++) {
            f32 v0 = v0_of[th_x + th_y * 24];
            const f32 v10 = w0[th_x + th_y * 24 + step9 * 48];
            const f32 v11 = v0 + v10;
            v0 = v11;
            v0_of[th_x + th_y * 24] = v0;
          }
        }
      }
      for (s32 cell10 = 0; cell10 < 24; cell10++) {
        const f32 v0_both1 = combine0(v0_of[cell10], v0_of[cell10 + 24]);
        v0_of[cell10] = v0_both1;
      }
      for (s32 th_y = 0; th_y < 1; th_y++) {
        #pragma GCC ivdep
        for (s32 th_x = 0; th_x < 24; th_x++) {
          const f32 v0 = v0_of[th_x + th_y * 24];
          const f32 v12 = 0.0f + v0;
          o0[th_x] = v12;
        }
      }
    }
  }
}

void reduction_reduce(void *const *buffers, s64 first_block, s64 last_block) {
  reduction_reduce_blocks(buffers[0], buffers[1], buffers[2], buffers[3], first_block, last_block);
}
