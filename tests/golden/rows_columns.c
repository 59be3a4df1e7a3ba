// fused: rows emitter, 36 blocks of 256 threads

typedef float f32;
typedef int s32;
#define sqrt_f64 __builtin_sqrt
typedef long long s64;

static inline s32 maximum_s32(s32 a, s32 b) { return a > b ? a : b; }

static inline f32 rsqrt_f32(f32 x) { return (f32)(1 / sqrt_f64(x)); }

// add
static inline f32 combine0(f32 a0, f32 b0) {
  const f32 v0 = a0 + b0;
  return v0;
}

static void rows_reduce_blocks(const f32 *restrict p0, f32 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 36;
    __attribute__((aligned(64))) f32 kept0[768];
    __attribute__((aligned(64))) f32 v1_of[256];
    __attribute__((aligned(64))) f32 v8_of[256];
    __attribute__((aligned(64))) f32 v10_of[256];
    for (s32 th_y = 0; th_y < 32; th_y++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 8; th_x++) {
        f32 v1 = (-0.0f);
        v1_of[th_x + th_y * 8] = v1;
      }
    }
    for (s32 step3 = 0; step3 < 2; step3++) {
      for (s32 th_y = 0; th_y < 32; th_y++) {
        #pragma GCC ivdep
        for (s32 th_x = 0; th_x < -maximum_s32((bl_x % 9) * 4, 31) * 2 + 70; th_x++) {
          f32 v1 = v1_of[th_x + th_y * 8];
          const s32 j4 = th_y + step3 * 32;
          const f32 v5 = p0[th_x + th_y * 70 + bl_x * 8 + step3 * 2240 + (bl_x / 9) * 6228];
          const f32 v6 = v5 * v5;
          const f32 v7 = v1 + v6;
          v1 = v7;
          kept0[th_x + th_y * 8 + step3 * 256] = v5;
          v1_of[th_x + th_y * 8] = v1;
        }
      }
    }
    for (s32 th_y = 0; th_y < 32; th_y++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < -maximum_s32((bl_x % 9) * 4, 31) * 2 + 70; th_x++) {
        f32 v1 = v1_of[th_x + th_y * 8];
        if (th_y + 64 <= 89) {
          const s32 j4_1 = th_y + 64;
          const f32 v5_1 = p0[th_x + th_y * 70 + bl_x * 8 + (bl_x / 9) * 6228 + 4480];
          const f32 v6_1 = v5_1 * v5_1;
          const f32 v7_1 = v1 + v6_1;
          v1 = v7_1;
          kept0[th_x + th_y * 8 + 512] = v5_1;
        }
        v1_of[th_x + th_y * 8] = v1;
      }
    }
    for (s32 cell14 = 0; cell14 < 128; cell14++) {
      const f32 v1_both = combine0(v1_of[cell14], v1_of[cell14 + 128]);
      v1_of[cell14] = v1_both;
    }
    for (s32 cell15 = 0; cell15 < 64; cell15++) {
      const f32 v1_both = combine0(v1_of[cell15], v1_of[cell15 + 64]);
      v1_of[cell15] = v1_both;
    }
    for (s32 cell16 = 0; cell16 < 32; cell16++) {
      const f32 v1_both = combine0(v1_of[cell16], v1_of[cell16 + 32]);
      v1_of[cell16] = v1_both;
    }
    for (s32 cell17 = 0; cell17 < 16; cell17++) {
      const f32 v1_both = combine0(v1_of[cell17], v1_of[cell17 + 16]);
      v1_of[cell17] = v1_both;
    }
    for (s32 cell18 = 0; cell18 < 8; cell18++) {
      const f32 v1_both = combine0(v1_of[cell18], v1_of[cell18 + 8]);
      v1_of[cell18] = v1_both;
    }
    for (s32 part20 = 0; part20 < 32; part20++) {
      for (s32 cell19 = 0; cell19 < 8; cell19++) {
        v1_of[cell19 + part20 * 8] = v1_of[cell19];
      }
    }
    for (s32 th_y = 0; th_y < 32; th_y++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 8; th_x++) {
        const f32 v1 = v1_of[th_x + th_y * 8];
        const f32 v8 = 1.0f + v1;
        v8_of[th_x + th_y * 8] = v8;
      }
    }
    for (s32 th_y = 0; th_y < 32; th_y++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < -maximum_s32((bl_x % 9) * 4, 31) * 2 + 70; th_x++) {
        const f32 v8 = v8_of[th_x + th_y * 8];
        const s32 j9 = th_x + (bl_x % 9) * 8;
        const f32 v10 = rsqrt_f32(v8);
        v10_of[th_x + th_y * 8] = v10;
      }
    }
    for (s32 step11 = 0; step11 < 2; step11++) {
      for (s32 th_y = 0; th_y < 32; th_y++) {
        #pragma GCC ivdep
        for (s32 th_x = 0; th_x < -maximum_s32((bl_x % 9) * 4, 31) * 2 + 70; th_x++) {
          const f32 v10 = v10_of[th_x + th_y * 8];
          const s32 j12 = th_y + step11 * 32;
          const f32 v13 = kept0[th_x + th_y * 8 + step11 * 256];
          const f32 v14 = v13 * v10;
          o0[th_x + th_y * 70 + bl_x * 8 + step11 * 2240 + (bl_x / 9) * 6228] = v14;
        }
      }
    }
    for (s32 th_y = 0; th_y < 32; th_y++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < -maximum_s32((bl_x % 9) * 4, 31) * 2 + 70; th_x++) {
        const f32 v10 = v10_of[th_x + th_y * 8];
        if (th_y + 64 <= 89) {
          const s32 j12_1 = th_y + 64;
          const f32 v13_1 = kept0[th_x + th_y * 8 + 512];
          const f32 v14_1 = v13_1 * v10;
          o0[th_x + th_y * 70 + bl_x * 8 + (bl_x / 9) * 6228 + 4480] = v14_1;
        }
      }
    }
  }
}

void rows_reduce(void *const *buffers, s64 first_block, s64 last_block) {
  rows_reduce_blocks(buffers[0], buffers[1], first_block, last_block);
}
