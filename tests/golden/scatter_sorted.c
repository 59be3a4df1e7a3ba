// fused: scatter emitter, 22 blocks of 128 threads

typedef _Bool bool;
#define true 1
#define false 0
typedef int s32;
typedef float f32;
typedef long long s64;

static inline s32 clamp_s32(s32 low, s32 x, s32 high) { s32 y = x < low ? low : x; return y > high ? high : y; }

static inline s32 maximum_s32(s32 a, s32 b) { return a > b ? a : b; }

// add
static inline f32 combine0(f32 a0, f32 b0) {
  const f32 v0 = a0 + b0;
  return v0;
}

static void scatter_scatter_blocks(f32 *p0, const s32 *restrict p1, const f32 *restrict p2, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    f32 *const o0 = (f32 *)p0;
    for (s32 bl_x = 0; bl_x < 22; bl_x++) {
      for (s32 th_x = 0; th_x < -maximum_s32(bl_x * 8, 167) * 16 + 2800; th_x++) {
        const s32 i = th_x + bl_x * 128;
        bool v0 = true;
        bool v1 = false;
        if (i / 70 >= 1) {
          const s32 j2 = i / 70 - 1;
          const s32 v3 = p1[j2];
          const s32 v4 = p1[i / 70];
          v0 = v3 != v4;
          if (((i / 70) & 31) <= 0 && !v0) {
            v1 = true;
          }
        }
        if ((v0 | v1)) {
          const s32 v5 = p1[i / 70];
          const s32 j6 = clamp_s32(0, v5, 11);
          const bool v7 = ((v5 >= 0) & (v5 <= 11));
          if (v7) {
            const f32 v8 = p2[th_x + bl_x * 128];
            f32 v9 = v8;
            for (s32 r10 = 0; r10 < 32; r10++) {
              if (r10 + i / 70 + 1 >= 40) break;
              const s32 j11 = r10 + i / 70 + 1;
              const s32 v12 = p1[j11];
              if (v12 != v5) break;
              if ((j11 & 31) <= 0) {
                v1 = true;
                break;
              }
              const f32 v13 = p2[th_x + bl_x * 128 + r10 * 70 + 70];
              const f32 v14 = v9 + v13;
              v9 = v14;
            }
            if (v1) {
              const f32 now_1 = combine0(o0[j6 * 70 + i % 70], v9);
              o0[j6 * 70 + i % 70] = now_1;
            } else {
              const f32 v15 = o0[j6 * 70 + i % 70];
              const f32 v16 = v15 + v9;
              o0[j6 * 70 + i % 70] = v16;
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
