// fused: dynamic-update-slice emitter, 1875 blocks of 128 threads

typedef int s32;
typedef float f32;
typedef long long s64;

static inline s32 clamp_s32(s32 low, s32 x, s32 high) { s32 y = x < low ? low : x; return y > high ? high : y; }

static void dynamic_update_slice_dynamic_update_slice_blocks(f32 *p0, const f32 *restrict p1, const s32 *restrict p2, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 1875;
    f32 *const o0 = (f32 *)p0;
    const s32 v0 = p2[0];
    const s32 j1 = clamp_s32(0, v0, 20);
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 128; th_x++) {
      const f32 v2 = p1[th_x + bl_x * 128];
      o0[th_x + bl_x * 128 + j1 * 12000] = v2;
    }
  }
}

void dynamic_update_slice_dynamic_update_slice(void *const *buffers, s64 first_block, s64 last_block) {
  dynamic_update_slice_dynamic_update_slice_blocks(buffers[0], buffers[1], buffers[2], first_block, last_block);
}
