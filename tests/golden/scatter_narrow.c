// fused: scatter emitter, 22 blocks of 128 threads

typedef _Bool bool;
#define true 1
#define false 0
typedef int s32;
typedef float f32;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long s64;

static inline s32 clamp_s32(s32 low, s32 x, s32 high) { s32 y = x < low ? low : x; return y > high ? high : y; }

static inline f32 float_f32(u32 x) { f32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline f32 decode_bf16(u16 bits) { return float_f32((u32)bits << 16); }

static inline u32 bits_f32(f32 x) { u32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline u16 encode_bf16(f32 x) {
  u32 bits = bits_f32(x);
  return (u16)(x != x ? 0x7fc0u : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

static inline s32 maximum_s32(s32 a, s32 b) { return a > b ? a : b; }

static inline s32 minimum_s32(s32 a, s32 b) { return a < b ? a : b; }

// add
static inline f32 combine0(f32 a0, f32 b0) {
  const f32 v0 = a0 + b0;
  return v0;
}

static void scatter_scatter_blocks(u16 *p0, const s32 *restrict p1, const u16 *restrict p2, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    u16 *const o0 = (u16 *)p0;
    for (s32 bl_x = 0; bl_x < 22; bl_x++) {
      for (s32 row = (bl_x * 64) / 35; row < minimum_s32((bl_x * 64 + 28) / 35, 38) + 2; row++) {
        for (s32 th_x = -minimum_s32(bl_x * 64 - row * 35, 0) * 2; th_x < -maximum_s32(bl_x * 64 - row * 35, (-29)) * 2 + 70; th_x++) {
          const s32 i = th_x + bl_x * 128;
          const s32 v0 = p1[row];
          const s32 j1 = clamp_s32(0, v0, 11);
          const bool v2 = ((v0 >= 0) & (v0 <= 11));
          if (v2) {
            const u16 v3 = p2[th_x + bl_x * 128];
            const f32 v4 = decode_bf16(v3);
            const f32 now_1 = combine0(decode_bf16(o0[th_x + bl_x * 128 + j1 * 70 - row * 70]), v4);
            o0[th_x + bl_x * 128 + j1 * 70 - row * 70] = encode_bf16(now_1);
          }
        }
      }
    }
  }
}

void scatter_scatter(void *const *buffers, s64 first_block, s64 last_block) {
  scatter_scatter_blocks(buffers[0], buffers[1], buffers[2], first_block, last_block);
}
