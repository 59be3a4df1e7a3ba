// fused: transpose emitter, 320 blocks of 256 threads

typedef int s32;
typedef long long s64;
typedef unsigned char u8;

static inline s32 maximum_s32(s32 a, s32 b) { return a > b ? a : b; }

static void transpose_transpose_blocks(const u8 *restrict p0, u8 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 320;
    __attribute__((aligned(64))) u8 tile0[3072];
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 256; th_x++) {
      for (s32 r0 = 0; r0 < 3; r0++) {
        if (th_x + r0 * 256 + (bl_x % 40) * 768 <= 29999) {
          const s32 j1 = th_x + r0 * 256 + (bl_x % 40) * 768;
          for (s32 vector_index2 = 0; vector_index2 < 4; vector_index2++) {
            const u8 v3 = p0[th_x * 4 + bl_x * 3072 + r0 * 1024 + vector_index2 - (bl_x / 40) * 2880];
            tile0[th_x * 4 + r0 * 1024 + vector_index2] = v3;
          }
        }
      }
    }
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < -maximum_s32((bl_x % 40) * 16, 609) * 16 + 10000; th_x++) {
      const s32 j5 = th_x + (bl_x % 40) * 256;
      for (s32 r4 = 0; r4 < 3; r4++) {
        for (s32 vector_index6 = 0; vector_index6 < 4; vector_index6++) {
          const u8 v7 = tile0[th_x * 12 + r4 + vector_index6 * 3];
          o0[th_x * 4 + bl_x * 1024 + r4 * 40000 + vector_index6 + (bl_x / 40) * 79040] = v7;
        }
      }
    }
  }
}

void transpose_transpose(void *const *buffers, s64 first_block, s64 last_block) {
  transpose_transpose_blocks(buffers[0], buffers[1], first_block, last_block);
}
