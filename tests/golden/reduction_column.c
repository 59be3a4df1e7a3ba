// fused: reduction emitter, 286 blocks of 256 threads

typedef float f32;
typedef int s32;
typedef long long s64;
typedef unsigned int u32;

static inline s32 maximum_s32(s32 a, s32 b) { return a > b ? a : b; }

// add
static inline f32 combine0(f32 a0, f32 b0) {
  const f32 v0 = a0 + b0;
  return v0;
}

static void reduction_reduce_blocks(const f32 *restrict p0, f32 *restrict o0, f32 *restrict w0, u32 *restrict w1, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 286;
    __attribute__((aligned(64))) u32 last1[1];
    __attribute__((aligned(64))) f32 v0_of[256];
    for (s32 th_y = 0; th_y < 8; th_y++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 32; th_x++) {
        f32 v0 = (-0.0f);
        v0_of[th_x + th_y * 32] = v0;
      }
    }
    for (s32 step3 = 0; step3 < 65; step3++) {
      for (s32 th_y = 0; th_y < 8; th_y++) {
        #pragma GCC ivdep
        for (s32 th_x = 0; th_x < -maximum_s32(((bl_x >> 1) % 11) * 32, 289) + 321; th_x++) {
          f32 v0 = v0_of[th_x + th_y * 32];
          const s32 j4 = th_y + step3 * 16 + (bl_x & 1) * 8;
          const f32 v5 = p0[th_x + th_y * 321 + bl_x * 2568 + step3 * 5136 + (bl_x / 22) * 337019 - (bl_x >> 1) * 5104];
          const f32 v6 = v0 + v5;
          v0 = v6;
          v0_of[th_x + th_y * 32] = v0;
        }
      }
    }
    for (s32 th_y = 0; th_y < 8; th_y++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < -maximum_s32(((bl_x >> 1) % 11) * 32, 289) + 321; th_x++) {
        f32 v0 = v0_of[th_x + th_y * 32];
        if (th_y + (bl_x & 1) * 8 + 1040 <= 1050) {
          const s32 j4_1 = th_y + (bl_x & 1) * 8 + 1040;
          const f32 v5_1 = p0[th_x + th_y * 321 + bl_x * 2568 + (bl_x / 22) * 337019 - (bl_x >> 1) * 5104 + 333840];
          const f32 v6_1 = v0 + v5_1;
          v0 = v6_1;
        }
        v0_of[th_x + th_y * 32] = v0;
      }
    }
    for (s32 cell12 = 0; cell12 < 128; cell12++) {
      const f32 v0_both = combine0(v0_of[cell12], v0_of[cell12 + 128]);
      v0_of[cell12] = v0_both;
    }
    for (s32 cell13 = 0; cell13 < 64; cell13++) {
      const f32 v0_both = combine0(v0_of[cell13], v0_of[cell13 + 64]);
      v0_of[cell13] = v0_both;
    }
    for (s32 cell14 = 0; cell14 < 32; cell14++) {
      const f32 v0_both = combine0(v0_of[cell14], v0_of[cell14 + 32]);
      v0_of[cell14] = v0_both;
    }
    for (s32 th_y = 0; th_y < 8; th_y++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 32; th_x++) {
        const f32 v0 = v0_of[th_x + th_y * 32];
        if (th_y <= 0) {
          w0[th_x + bl_x * 32] = v0;
        }
      }
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (s32 th_y = 0; th_y < 8; th_y++) {
      for (s32 th_x = 0; th_x < 32; th_x++) {
        if (th_x + th_y * 32 <= 0) {
          const u32 arrived7 = __atomic_fetch_add(w1 + (bl_x >> 1), 1u, __ATOMIC_ACQ_REL);
          last1[0] = arrived7;
        }
      }
    }
    if (last1[0] == 1u) {
      __atomic_thread_fence(__ATOMIC_SEQ_CST);
      for (s32 th_y = 0; th_y < 8; th_y++) {
        #pragma GCC ivdep
        for (s32 th_x = 0; th_x < 32; th_x++) {
          f32 v0 = v0_of[th_x + th_y * 32];
          if (th_x + th_y * 32 <= 0) {
            w1[bl_x >> 1] = 0u;
          }
          v0 = (-0.0f);
          if (th_y <= 1) {
            const s32 j8 = th_y;
            const f32 v9 = w0[th_x + th_y * 32 + (bl_x >> 1) * 64];
            const f32 v10 = v0 + v9;
            v0 = v10;
          }
          v0_of[th_x + th_y * 32] = v0;
        }
      }
      for (s32 team16 = 0; team16 < 4; team16++) {
        for (s32 cell15 = 0; cell15 < 32; cell15++) {
          const f32 v0_both = combine0(v0_of[cell15 + team16 * 64], v0_of[cell15 + team16 * 64 + 32]);
          v0_of[cell15 + team16 * 64] = v0_both;
        }
      }
      for (s32 th_y = 0; th_y < 8; th_y++) {
        #pragma GCC ivdep
        for (s32 th_x = 0; th_x < 32; th_x++) {
          const f32 v0 = v0_of[th_x + th_y * 32];
          if (th_y <= 0 && th_x + ((bl_x >> 1) % 11) * 32 <= 320) {
            const s32 j11 = th_x + ((bl_x >> 1) % 11) * 32;
            const f32 v12 = 0.0f + v0;
            o0[th_x + (bl_x >> 1) * 32 - (bl_x / 22) * 31] = v12;
          }
        }
      }
    }
  }
}

void reduction_reduce(void *const *buffers, s64 first_block, s64 last_block) {
  reduction_reduce_blocks(buffers[0], buffers[1], buffers[2], buffers[3], first_block, last_block);
}
