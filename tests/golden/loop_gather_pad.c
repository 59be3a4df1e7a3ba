// fused: loop emitter, 3 blocks of 476 threads

typedef int s32;
typedef float f32;
typedef long long s64;
typedef _Bool bool;
#define true 1
#define false 0

static inline s32 clamp_s32(s32 low, s32 x, s32 high) { s32 y = x < low ? low : x; return y > high ? high : y; }

static inline bool within_s32(s32 x, s32 low, s32 high) { return low <= x && x <= high; }

static void loop_pad_blocks(const f32 *restrict p0, const s32 *restrict p1, const f32 *restrict p2, f32 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 3;
    const f32 v0 = p2[0];
    #pragma GCC ivdep
    for (s64 th_x = 0; th_x < 476; th_x++) {
      const s32 i = th_x + bl_x * 476;
      f32 v1 = v0;
      if (within_s32(i / 119, 1, 10) & within_s32(i % 17, 1, 15) & (((i % 17) & 1) >= 1)) {
        const s32 j2 = i / 119 - 1;
        const s32 j3 = ((i % 17 + 1) >> 1) - 1;
        const s32 v4 = p1[j2 * 2];
        const s32 j5 = clamp_s32(0, v4, 26);
        const s32 v6 = p1[j2 * 2 + 1];
        const s32 j7 = clamp_s32(0, v6, 68);
        const f32 v8 = p0[j3 + j5 * 76 + j7 + ((i / 17) % 7) * 76];
        v1 = v8;
      }
      o0[th_x + bl_x * 476] = v1;
    }
  }
}

void loop_pad(void *const *buffers, s64 first_block, s64 last_block) {
  loop_pad_blocks(buffers[0], buffers[1], buffers[2], buffers[3], first_block, last_block);
}
