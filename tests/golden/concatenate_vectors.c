// fused: concatenate emitter, 2048 blocks of 128 threads

typedef float f32;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef long long s64;

static inline f32 float_f32(u32 x) { f32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline f32 decode_bf16(u16 bits) { return float_f32((u32)bits << 16); }

static inline u32 bits_f32(f32 x) { u32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline u16 encode_bf16(f32 x) {
  u32 bits = bits_f32(x);
  return (u16)(x != x ? 0x7fc0u : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

static void concatenate_concatenate_blocks(const u16 *restrict p0, const u16 *restrict p1, u16 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 2048;
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 128; th_x++) {
      const s32 i = th_x + bl_x * 128;
      if (th_x + (bl_x & 3) * 128 <= 255) {
        const s32 j0 = th_x + (bl_x & 3) * 128;
        const u16 v1 = p0[th_x + bl_x * 128 - (bl_x >> 2) * 256];
        o0[th_x + bl_x * 128 + (bl_x >> 2) * 256] = v1;
      }
      const u16 v3 = p1[th_x + bl_x * 128];
      const f32 v4 = decode_bf16(v3);
      const f32 v5 = (-v4);
      o0[th_x + bl_x * 128 + (bl_x >> 2) * 256 + 256] = encode_bf16(v5);
    }
  }
}

void concatenate_concatenate(void *const *buffers, s64 first_block, s64 last_block) {
  concatenate_concatenate_blocks(buffers[0], buffers[1], buffers[2], first_block, last_block);
}
