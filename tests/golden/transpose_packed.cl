// fused: transpose emitter, 16 blocks of 256 threads

#pragma OPENCL FP_CONTRACT OFF
typedef int s32;
typedef uint u32;
typedef ushort u16;
typedef struct __attribute__((aligned(4))) { u16 v[2]; } u16x2;

static u32 shl_u32(u32 a, u32 n) { return (u32)n < 32 ? (u32)((u32)a << (u32)n) : 0; }

static u32 shr_logical_u32(u32 a, u32 n) { return (u32)n < 32 ? (u32)((u32)a >> (u32)n) : 0; }

__kernel void __attribute__((reqd_work_group_size(256, 1, 1))) transpose_transpose(__global const u16 *restrict p0, __global u16 *restrict o0) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __local u32 tile0[2112];
  u32 square0[2];
  __attribute__((aligned(16))) u16 x0[2];
  __attribute__((aligned(16))) u16 x1[2];
  __attribute__((aligned(16))) u16 x2[2];
  for (s32 r0 = 0; r0 < 4; r0++) {
    #pragma unroll 2
    for (s32 column1 = 0; column1 < 2; column1++) {
      square0[column1] = 0u;
    }
    if (r0 * 16 + (th_x >> 6) * 4 + ((th_x >> 4) & 1) * 2 + 1 <= 29) {
      #pragma unroll 2
      for (s32 row2 = 0; row2 < 2; row2++) {
        const s32 j3 = r0 * 16 + row2 + (th_x >> 6) * 4 + ((th_x >> 4) & 1) * 2;
        if ((th_x & 15) + ((th_x >> 5) & 1) * 16 <= 14) {
          const s32 j4 = (th_x & 15) + ((th_x >> 5) & 1) * 16;
          *(__private u16x2 *)(x0) = *(__global const u16x2 *)(p0 + bl_x * 30 + j3 * 480 + j4 * 2);
          #pragma unroll 2
          for (s32 vector_index5 = 0; vector_index5 < 2; vector_index5++) {
            const u16 v6 = x0[vector_index5];
            square0[vector_index5] = (u32)(square0[vector_index5] | shl_u32((u32)v6, (u32)(row2 * 16)));
          }
        }
      }
    } else {
      for (s32 row2_1 = 0; row2_1 < 1; row2_1++) {
        if (r0 * 16 + (th_x >> 6) * 4 + ((th_x >> 4) & 1) * 2 <= 29) {
          const s32 j3_1 = r0 * 16 + (th_x >> 6) * 4 + ((th_x >> 4) & 1) * 2;
          if ((th_x & 15) + ((th_x >> 5) & 1) * 16 <= 14) {
            const s32 j4_1 = (th_x & 15) + ((th_x >> 5) & 1) * 16;
            *(__private u16x2 *)(x1) = *(__global const u16x2 *)(p0 + bl_x * 30 + j3_1 * 480 + j4_1 * 2);
            #pragma unroll 2
            for (s32 vector_1 = 0; vector_1 < 2; vector_1++) {
              const u16 v6_1 = x1[vector_1];
              square0[vector_1] = (u32)(square0[vector_1] | shl_u32((u32)v6_1, 0u));
            }
          }
        }
      }
    }
    #pragma unroll 2
    for (s32 column8 = 0; column8 < 2; column8++) {
      tile0[th_x * 66 + r0 * 8 + column8 * 33 + (th_x >> 5) * 1054 - (th_x >> 4) * 1055 - (th_x >> 6) * 2110] = square0[column8];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (s32 r9 = 0; r9 < 8; r9++) {
    if (r9 * 8 + (th_x >> 5) <= 29) {
      const s32 j10 = r9 * 8 + (th_x >> 5);
      if ((th_x & 31) <= 14) {
        const s32 j11 = (th_x & 31);
        #pragma unroll 2
        for (s32 vector_index12 = 0; vector_index12 < 2; vector_index12++) {
          const u16 v13 = (u16)shr_logical_u32(tile0[th_x + r9 * 264 + (th_x >> 5)], (u32)(vector_index12 * 16));
          x2[vector_index12] = v13;
        }
        *(__global u16x2 *)(o0 + bl_x * 30 + j10 * 480 + j11 * 2) = *(__private const u16x2 *)(x2);
      }
    }
  }
}
