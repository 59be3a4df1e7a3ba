// fused: reduction emitter, 4096 blocks of 64 threads

typedef float f32;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef long long s64;

static inline f32 float_f32(u32 x) { f32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline f32 decode_bf16(u16 bits) { return float_f32((u32)bits << 16); }

// sum
static inline f32 combine0(f32 a0, f32 b0) {
  const f32 v0 = a0 + b0;
  return v0;
}

static void reduction_reduce_blocks(const u16 *restrict p0, f32 *restrict o0, f32 *restrict o1, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 4096;
    __attribute__((aligned(64))) f32 v0_of[64];
    __attribute__((aligned(64))) f32 v1_of[64];
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 64; th_x++) {
      f32 v0 = (-0.0f);
      f32 v1 = (-0.0f);
      v0_of[th_x] = v0;
      v1_of[th_x] = v1;
    }
    for (s32 step2 = 0; step2 < 16; step2++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 64; th_x++) {
        f32 v0 = v0_of[th_x];
        f32 v1 = v1_of[th_x];
        const u16 v0_1 = p0[th_x + bl_x * 1024 + step2 * 64];
        const f32 v1_1 = decode_bf16(v0_1);
        const f32 v4 = v0 + v1_1;
        v0 = v4;
        const f32 v5 = v1_1 * v1_1;
        const f32 v6 = v1 + v5;
        v1 = v6;
        v0_of[th_x] = v0;
        v1_of[th_x] = v1;
      }
    }
    for (s32 cell7 = 0; cell7 < 32; cell7++) {
      const f32 v0_both = combine0(v0_of[cell7], v0_of[cell7 + 32]);
      v0_of[cell7] = v0_both;
    }
    for (s32 cell8 = 0; cell8 < 16; cell8++) {
      const f32 v0_both1 = combine0(v0_of[cell8], v0_of[cell8 + 16]);
      v0_of[cell8] = v0_both1;
    }
    for (s32 cell9 = 0; cell9 < 8; cell9++) {
      const f32 v0_both2 = combine0(v0_of[cell9], v0_of[cell9 + 8]);
      v0_of[cell9] = v0_both2;
    }
    for (s32 cell10 = 0; cell10 < 4; cell10++) {
      const f32 v0_both3 = combine0(v0_of[cell10], v0_of[cell10 + 4]);
      v0_of[cell10] = v0_both3;
    }
    for (s32 cell11 = 0; cell11 < 2; cell11++) {
      const f32 v0_both4 = combine0(v0_of[cell11], v0_of[cell11 + 2]);
      v0_of[cell11] = v0_both4;
    }
    const f32 v0_both5 = combine0(v0_of[0], v0_of[1]);
    v0_of[0] = v0_both5;
    for (s32 cell12 = 0; cell12 < 32; cell12++) {
      const f32 v1_both6 = combine0(v1_of[cell12], v1_of[cell12 + 32]);
      v1_of[cell12] = v1_both6;
    }
    for (s32 cell13 = 0; cell13 < 16; cell13++) {
      const f32 v1_both7 = combine0(v1_of[cell13], v1_of[cell13 + 16]);
      v1_of[cell13] = v1_both7;
    }
    for (s32 cell14 = 0; cell14 < 8; cell14++) {
      const f32 v1_both8 = combine0(v1_of[cell14], v1_of[cell14 + 8]);
      v1_of[cell14] = v1_both8;
    }
    for (s32 cell15 = 0; cell15 < 4; cell15++) {
      const f32 v1_both9 = combine0(v1_of[cell15], v1_of[cell15 + 4]);
      v1_of[cell15] = v1_both9;
    }
    for (s32 cell16 = 0; cell16 < 2; cell16++) {
      const f32 v1_both10 = combine0(v1_of[cell16], v1_of[cell16 + 2]);
      v1_of[cell16] = v1_both10;
    }
    const f32 v1_both11 = combine0(v1_of[0], v1_of[1]);
    v1_of[0] = v1_both11;
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 1; th_x++) {
      const f32 v0 = v0_of[th_x];
      const f32 v1 = v1_of[th_x];
      const f32 v7 = 0.0f + v0;
      const f32 v8 = 0.0f + v1;
      const f32 v9 = v7 * 0.0009765625f;
      o0[bl_x] = v9;
      const f32 v10 = v8 * 0.0009765625f;
      const f32 v11 = v9 * v9;
      const f32 v12 = v10 - v11;
      o1[bl_x] = v12;
    }
  }
}

void reduction_reduce(void *const *buffers, s64 first_block, s64 last_block) {
  reduction_reduce_blocks(buffers[0], buffers[1], buffers[2], first_block, last_block);
}
