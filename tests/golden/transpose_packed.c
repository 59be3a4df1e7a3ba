// fused: transpose emitter, 16 blocks of 256 threads

typedef int s32;
typedef long long s64;
typedef unsigned int u32;
typedef unsigned short u16;

static inline u32 shl_u32(u32 a, u32 n) { return (u32)n < 32 ? (u32)((u32)a << (u32)n) : 0; }

static inline u32 shr_logical_u32(u32 a, u32 n) { return (u32)n < 32 ? (u32)((u32)a >> (u32)n) : 0; }

static void transpose_transpose_blocks(const u16 *restrict p0, u16 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 16;
    __attribute__((aligned(64))) u32 tile0[2112];
    for (s32 th_y = 0; th_y < 16; th_y++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 16; th_x++) {
        __attribute__((aligned(64))) u32 square0[2];
        for (s32 r0 = 0; r0 < 4; r0++) {
          for (s32 column1 = 0; column1 < 2; column1++) {
            square0[column1] = 0u;
          }
          if (r0 * 16 + (th_y >> 2) * 4 + (th_y & 1) * 2 + 1 <= 29) {
            for (s32 row2 = 0; row2 < 2; row2++) {
              const s32 j3 = r0 * 16 + row2 + (th_y >> 2) * 4 + (th_y & 1) * 2;
              if (th_x + ((th_y >> 1) & 1) * 16 <= 14) {
                const s32 j4 = th_x + ((th_y >> 1) & 1) * 16;
                for (s32 vector_index5 = 0; vector_index5 < 2; vector_index5++) {
                  const u16 v6 = p0[th_x * 2 + th_y * 960 + bl_x * 30 + r0 * 7680 + row2 * 480 + vector_index5 + (th_y >> 2) * 1856 - (th_y >> 1) * 1888];
                  square0[vector_index5] = (u32)(square0[vector_index5] | shl_u32((u32)v6, (u32)(row2 * 16)));
                }
              }
            }
          } else {
            for (s32 row2_1 = 0; row2_1 < 1; row2_1++) {
              if (r0 * 16 + (th_y >> 2) * 4 + (th_y & 1) * 2 <= 29) {
                const s32 j3_1 = r0 * 16 + (th_y >> 2) * 4 + (th_y & 1) * 2;
                if (th_x + ((th_y >> 1) & 1) * 16 <= 14) {
                  const s32 j4_1 = th_x + ((th_y >> 1) & 1) * 16;
                  for (s32 vector_1 = 0; vector_1 < 2; vector_1++) {
                    const u16 v6_1 = p0[th_x * 2 + th_y * 960 + bl_x * 30 + r0 * 7680 + vector_1 + (th_y >> 2) * 1856 - (th_y >> 1) * 1888];
                    square0[vector_1] = (u32)(square0[vector_1] | shl_u32((u32)v6_1, 0u));
                  }
                }
              }
            }
          }
          for (s32 column8 = 0; column8 < 2; column8++) {
            tile0[th_x * 66 + th_y + r0 * 8 + column8 * 33 + (th_y >> 1) * 1054 - (th_y >> 2) * 2110] = square0[column8];
          }
        }
      }
    }
    for (s32 r9 = 0; r9 < 8; r9++) {
      for (s32 vector_index12 = 0; vector_index12 < 2; vector_index12++) {
        for (s32 th_y = 0; th_y < 16; th_y++) {
          #pragma GCC ivdep
          for (s32 th_x = 0; th_x < 16; th_x++) {
            if (r9 * 8 + (th_y >> 1) <= 29) {
              if (th_x + (th_y & 1) * 16 <= 14) {
                const u16 v13 = (u16)shr_logical_u32(tile0[th_x + r9 * 264 + ((th_y * 33) >> 1)], (u32)(vector_index12 * 16));
                o0[th_x * 2 + th_y * 32 + bl_x * 30 + r9 * 3840 + vector_index12 + (th_y >> 1) * 416] = v13;
              }
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
