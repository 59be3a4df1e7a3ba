// fused: transpose emitter, 30 blocks of 256 threads

typedef int s32;
typedef long long s64;
typedef signed char s8;

static inline s32 floor_div_s32(s32 a, s32 b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static inline s32 floor_mod_s32(s32 a, s32 b) {
  s32 m = b < 0 ? -b : b, r = a % m;
  return r < 0 ? r + m : r;
}

static void transpose_transpose_blocks(const s8 *restrict p0, s8 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 30;
    __attribute__((aligned(64))) s8 tile0[3168];
    for (s32 th_y = 0; th_y < 32; th_y++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 8; th_x++) {
        for (s32 r0 = 0; r0 < 6; r0++) {
          if (th_x + (bl_x % 6) * 48 + ((th_y + r0 * 2) % 6) * 8 <= 254) {
            const s32 j1 = th_x + (bl_x % 6) * 48 + ((th_y + r0 * 2) % 6) * 8;
            for (s32 vector_index2 = 0; vector_index2 < 2; vector_index2++) {
              const s8 v3 = p0[th_x * 2 + th_y * 85 + bl_x * 96 + r0 * 2720 + vector_index2 + (bl_x / 6) * 15744 - ((th_y + r0 * 2) % 6) * 69];
              tile0[th_x * 2 + th_y * 16 + r0 * 512 + vector_index2 + ((th_y + r0 * 32) / 6) * 3] = v3;
            }
          }
        }
      }
    }
    for (s32 th_y = 0; th_y < 32; th_y++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 8; th_x++) {
        for (s32 r4 = 0; r4 < 3; r4++) {
          if ((th_y + r4 * 32) / 3 + (bl_x % 6) * 32 <= 169) {
            const s32 j5 = (th_y + r4 * 32) / 3 + (bl_x % 6) * 32;
            for (s32 vector_index6 = 0; vector_index6 < 4; vector_index6++) {
              const s8 v7 = tile0[th_x * 100 + th_y * 33 + vector_index6 + floor_div_s32(th_x + r4 + vector_index6 - th_y, 3) * 96 + floor_mod_s32(th_y - r4, 3) * 1055];
              o0[th_x * 4 + th_y * 160 + bl_x * 15360 + r4 * 5120 + vector_index6 - (bl_x / 6) * 92064 - floor_mod_s32(th_y - r4, 3) * 128] = v7;
            }
          }
        }
      }
    }
  }
}

void transpose_transpose(void *const *buffers, s64 first_block, s64 last_block) {
  transpose_transpose_blocks(buffers[0], buffers[1], first_block, last_block);
}
