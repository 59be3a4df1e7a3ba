// fused: reduction emitter, 26 blocks of 321 threads

typedef float f32;
typedef int s32;
typedef long long s64;
typedef unsigned int u32;

static void reduction_reduce_blocks(const f32 *restrict p0, f32 *restrict o0, f32 *restrict w0, u32 *restrict w1, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 26;
    __attribute__((aligned(64))) u32 last1[1];
    __attribute__((aligned(64))) f32 v0_of[321];
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 321; th_x++) {
      f32 v0 = (-0.0f);
      v0_of[th_x] = v0;
    }
    for (s32 step2 = 0; step2 < 525; step2++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 321; th_x++) {
        f32 v0 = v0_of[th_x];
        const f32 v3 = p0[th_x + step2 * 321 + ((bl_x * 1051) >> 1) * 321];
        const f32 v4 = v0 + v3;
        v0 = v4;
        v0_of[th_x] = v0;
      }
    }
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 321; th_x++) {
      f32 v0 = v0_of[th_x];
      if ((bl_x & 1) + 1050 <= 1050) {
        const s32 j5 = (bl_x & 1) + 1050;
        const f32 v6 = p0[th_x + bl_x * 321 + (bl_x >> 1) * 336729 + 337050];
        const f32 v7 = v0 + v6;
        v0 = v7;
      }
      w0[th_x + bl_x * 321] = v0;
      v0_of[th_x] = v0;
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (s32 th_x = 0; th_x < 1; th_x++) {
      const u32 arrived8 = __atomic_fetch_add(w1 + (bl_x >> 1), 1u, __ATOMIC_ACQ_REL);
      last1[0] = arrived8;
    }
    if (last1[0] == 1u) {
      __atomic_thread_fence(__ATOMIC_SEQ_CST);
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 321; th_x++) {
        f32 v0 = v0_of[th_x];
        if (th_x <= 0) {
          w1[bl_x >> 1] = 0u;
        }
        v0 = (-0.0f);
        const f32 v10_1 = w0[th_x + (bl_x >> 1) * 642];
        const f32 v11_1 = v0 + v10_1;
        v0 = v11_1;
        const f32 v10_2 = w0[th_x + (bl_x >> 1) * 642 + 321];
        const f32 v11_2 = v0 + v10_2;
        v0 = v11_2;
        const f32 v12 = 0.0f + v0;
        o0[th_x + (bl_x >> 1) * 321] = v12;
        v0_of[th_x] = v0;
      }
    }
  }
}

void reduction_reduce(void *const *buffers, s64 first_block, s64 last_block) {
  reduction_reduce_blocks(buffers[0], buffers[1], buffers[2], buffers[3], first_block, last_block);
}
