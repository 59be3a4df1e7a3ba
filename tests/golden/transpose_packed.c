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
    __attribute__((aligned(64))) u32 square0[512];
    for (s32 th_y = 0; th_y < 16; th_y++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 16; th_x++) {
        for (s32 r0 = 0; r0 < 1; r0++) {
          for (s32 column1 = 0; column1 < 2; column1++) {
            square0[th_x + th_y * 16 + column1 * 256] = 0u;
          }
          for (s32 row2 = 0; row2 < 2; row2++) {
            const s32 j3 = row2 + (th_y >> 2) * 4 + (th_y & 1) * 2;
            if (th_x + ((th_y >> 1) & 1) * 16 <= 14) {
              const s32 j4 = th_x + ((th_y >> 1) & 1) * 16;
              for (s32 vector_index5 = 0; vector_index5 < 2; vector_index5++) {
                const u16 v6 = p0[th_x * 2 + th_y * 960 + bl_x * 30 + row2 * 480 + vector_index5 + (th_y >> 2) * 1856 - (th_y >> 1) * 1888];
                square0[th_x + th_y * 16 + vector_index5 * 256] = (u32)(square0[th_x + th_y * 16 + vector_index5 * 256] | shl_u32((u32)v6, (u32)(row2 * 16)));
              }
            }
          }
          for (s32 column8 = 0; column8 < 2; column8++) {
            tile0[th_x * 66 + th_y + column8 * 33 + (th_y >> 1) * 1054 - (th_y >> 2) * 2110] = square0[th_x + th_y * 16 + column8 * 256];
          }
        }
      }
    }
    for (s32 column1_1 = 0; column1_1 < 2; column1_1++) {
      for (s32 th_y = 0; th_y < 16; th_y++) {
        #pragma GCC ivdep
        for (s32 th_x = 0; th_x < 16; th_x++) {
          square0[th_x + th_y * 16 + column1_1 * 256] = 0u;
        }
      }
    }
    for (s32 th_y = 0; th_y < 16; th_y++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 16; th_x++) {
        if ((th_y >> 2) * 4 + (th_y & 1) * 2 + 17 <= 29) {
          for (s32 row2_2 = 0; row2_2 < 2; row2_2++) {
            const s32 j3_2 = row2_2 + (th_y >> 2) * 4 + (th_y & 1) * 2 + 16;
            if (th_x + ((th_y >> 1) & 1) * 16 <= 14) {
              const s32 j4_2 = th_x + ((th_y >> 1) & 1) * 16;
              for (s32 vector_2 = 0; vector_2 < 2; vector_2++) {
                const u16 v6_2 = p0[th_x * 2 + th_y * 960 + bl_x * 30 + row2_2 * 480 + vector_2 + (th_y >> 2) * 1856 - (th_y >> 1) * 1888 + 7680];
                square0[th_x + th_y * 16 + vector_2 * 256] = (u32)(square0[th_x + th_y * 16 + vector_2 * 256] | shl_u32((u32)v6_2, (u32)(row2_2 * 16)));
              }
            }
          }
        } else {
          for (s32 row2_3 = 0; row2_3 < 1; row2_3++) {
            if ((th_y >> 2) * 4 + (th_y & 1) * 2 + 16 <= 29) {
              const s32 j3_3 = (th_y >> 2) * 4 + (th_y & 1) * 2 + 16;
              if (th_x + ((th_y >> 1) & 1) * 16 <= 14) {
                const s32 j4_3 = th_x + ((th_y >> 1) & 1) * 16;
                for (s32 vector_3 = 0; vector_3 < 2; vector_3++) {
                  const u16 v6_3 = p0[th_x * 2 + th_y * 960 + bl_x * 30 + vector_3 + (th_y >> 2) * 1856 - (th_y >> 1) * 1888 + 7680];
                  square0[th_x + th_y * 16 + vector_3 * 256] = (u32)(square0[th_x + th_y * 16 + vector_3 * 256] | shl_u32((u32)v6_3, 0u));
                }
              }
            }
          }
        }
        for (s32 column8_1 = 0; column8_1 < 2; column8_1++) {
          tile0[th_x * 66 + th_y + column8_1 * 33 + (th_y >> 1) * 1054 - (th_y >> 2) * 2110 + 8] = square0[th_x + th_y * 16 + column8_1 * 256];
        }
      }
    }
    for (s32 r9 = 0; r9 < 3; r9++) {
      for (s32 vector_index12 = 0; vector_index12 < 2; vector_index12++) {
        for (s32 th_y = 0; th_y < 16; th_y++) {
          #pragma GCC ivdep
          for (s32 th_x = 0; th_x < 16; th_x++) {
            if (th_x + (th_y & 1) * 16 <= 14) {
              const u16 v13 = (u16)shr_logical_u32(tile0[th_x + r9 * 264 + ((th_y * 33) >> 1)], (u32)(vector_index12 * 16));
              o0[th_x * 2 + th_y * 32 + bl_x * 30 + r9 * 3840 + vector_index12 + (th_y >> 1) * 416] = v13;
            }
          }
        }
      }
    }
    for (s32 vector_4 = 0; vector_4 < 2; vector_4++) {
      for (s32 th_y = 0; th_y < 16; th_y++) {
        #pragma GCC ivdep
        for (s32 th_x = 0; th_x < 16; th_x++) {
          if ((th_y >> 1) + 24 <= 29) {
            if (th_x + (th_y & 1) * 16 <= 14) {
              const u16 v13_1 = (u16)shr_logical_u32(tile0[th_x + ((th_y * 33) >> 1) + 792], (u32)(vector_4 * 16));
              o0[th_x * 2 + th_y * 32 + bl_x * 30 + vector_4 + (th_y >> 1) * 416 + 11520] = v13_1;
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
