// fused: scatter emitter, 22 blocks of 128 threads

typedef _Bool bool;
#define true 1
#define false 0
typedef int s32;
typedef float f32;
typedef long long s64;
typedef unsigned int u32;

static inline s32 clamp_s32(s32 low, s32 x, s32 high) { s32 y = x < low ? low : x; return y > high ? high : y; }

static inline s32 maximum_s32(s32 a, s32 b) { return a > b ? a : b; }

static inline s32 minimum_s32(s32 a, s32 b) { return a < b ? a : b; }

// add
static inline f32 combine0(f32 a0, f32 b0) {
  const f32 v0 = a0 + b0;
  return v0;
}

static void scatter_scatter_blocks(f32 *p0, const s32 *restrict p1, const f32 *restrict p2, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    f32 *const o0 = (f32 *)p0;
    for (s32 bl_x = 0; bl_x < 22; bl_x++) {
      for (s32 row = (bl_x * 64) / 35; row < (minimum_s32(bl_x * 8, 167) * 8 + 28) / 35 + 2; row++) {
        const s32 v0 = p1[row];
        const bool v2 = (u32)v0 <= 11u;
        for (s64 th_x = -minimum_s32(bl_x * 64 - row * 35, 0) * 2; th_x < -maximum_s32(bl_x * 64 - row * 35, (-29)) * 2 + 70; th_x++) {
          const s32 i = th_x + bl_x * 128;
          const s32 j1 = clamp_s32(0, v0, 11);
          if (v2) {
            const f32 v3 = p2[th_x + bl_x * 128];
            const f32 now_1 = combine0(o0[th_x + bl_x * 128 + j1 * 70 - row * 70], v3);
            o0[th_x + bl_x * 128 + j1 * 70 - row * 70] = now_1;
          }
        }
      }
    }
  }
}

void scatter_scatter(void *const *buffers, s64 first_block, s64 last_block) {
  scatter_scatter_blocks(buffers[0], buffers[1], buffers[2], first_block, last_block);
}
