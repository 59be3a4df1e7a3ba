// fused: scatter emitter, 40 blocks of 70 threads

typedef _Bool bool;
#define true 1
#define false 0
typedef int s32;
typedef float f32;
typedef long long s64;

static inline s32 clamp_s32(s32 low, s32 x, s32 high) { s32 y = x < low ? low : x; return y > high ? high : y; }

// add
static inline f32 combine0(f32 a0, f32 b0) {
  const f32 v0 = a0 + b0;
  return v0;
}

static void scatter_scatter_blocks(f32 *p0, const s32 *restrict p1, const f32 *restrict p2, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    f32 *const o0 = (f32 *)p0;
    for (s32 bl_x = 0; bl_x < 40; bl_x++) {
      for (s32 th_x = 0; th_x < 70; th_x++) {
        const s32 i = th_x + bl_x * 70;
        bool v0 = true;
        bool v1 = false;
        if (bl_x >= 1) {
          const s32 j2 = bl_x - 1;
          const s32 v3 = p1[bl_x - 1];
          const s32 v4 = p1[bl_x];
          v0 = v3 != v4;
          if ((bl_x & 31) <= 0 && !v0) {
            v1 = true;
          }
        }
        if ((v0 | v1)) {
          const s32 v5 = p1[bl_x];
          const s32 j6 = clamp_s32(0, v5, 11);
          const bool v7 = ((v5 >= 0) & (v5 <= 11));
          if (v7) {
            const f32 v8 = p2[th_x + bl_x * 70];
            f32 v9 = v8;
            for (s32 r10 = 0; r10 < 32; r10++) {
              if (bl_x + r10 + 1 >= 40) break;
              const s32 j11 = bl_x + r10 + 1;
              const s32 v12 = p1[bl_x + r10 + 1];
              if (v12 != v5) break;
              if (((bl_x + r10 + 1) & 31) <= 0) {
                v1 = true;
                break;
              }
              const f32 v13 = p2[th_x + bl_x * 70 + r10 * 70 + 70];
              const f32 v14 = v9 + v13;
              v9 = v14;
            }
            if (v1) {
              const f32 now_1 = combine0(o0[th_x + j6 * 70], v9);
              o0[th_x + j6 * 70] = now_1;
            } else {
              const f32 v15 = o0[th_x + j6 * 70];
              const f32 v16 = v15 + v9;
              o0[th_x + j6 * 70] = v16;
            }
          }
        }
      }
    }
  }
}

void scatter_scatter(void *const *buffers, s64 first_block, s64 last_block) {
  scatter_scatter_blocks(buffers[0], buffers[1], buffers[2], first_block, last_block);
}
