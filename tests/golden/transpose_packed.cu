// fused: transpose emitter, 16 blocks of 256 threads

typedef int s32;
typedef unsigned int u32;
typedef unsigned short u16;
typedef struct __align__(4) { u16 v[2]; } u16x2;

static __device__ u32 shl_u32(u32 a, u32 n) { return (u32)n < 32 ? (u32)((u32)a << (u32)n) : 0; }

static __device__ u32 shr_logical_u32(u32 a, u32 n) { return (u32)n < 32 ? (u32)((u32)a >> (u32)n) : 0; }

extern "C" __global__ void __launch_bounds__(256) transpose_transpose(const u16 *__restrict__ p0, u16 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ u32 tile0[2112];
  u32 square0[2];
  __align__(16) u16 x0[2];
  __align__(16) u16 x4[2];
  for (s32 r0 = 0; r0 < 1; r0++) {
    #pragma unroll 2
    for (s32 column1 = 0; column1 < 2; column1++) {
      square0[column1] = 0u;
    }
    #pragma unroll 2
    for (s32 row2 = 0; row2 < 2; row2++) {
      const s32 j3 = row2 + (th_x >> 6) * 4 + ((th_x >> 4) & 1) * 2;
      if ((th_x & 15) + ((th_x >> 5) & 1) * 16 <= 14) {
        const s32 j4 = (th_x & 15) + ((th_x >> 5) & 1) * 16;
        *(u16x2 *)(x0) = *(const u16x2 *)(p0 + bl_x * 30 + j3 * 480 + j4 * 2);
        #pragma unroll 2
        for (s32 vector_index5 = 0; vector_index5 < 2; vector_index5++) {
          const u16 v6 = x0[vector_index5];
          square0[vector_index5] = (u32)(square0[vector_index5] | shl_u32((u32)v6, (u32)(row2 * 16)));
        }
      }
    }
    #pragma unroll 2
    for (s32 column8 = 0; column8 < 2; column8++) {
      tile0[th_x * 66 + column8 * 33 + (th_x >> 5) * 1054 - (th_x >> 4) * 1055 - (th_x >> 6) * 2110] = square0[column8];
    }
  }
  #pragma unroll 2
  for (s32 column1_1 = 0; column1_1 < 2; column1_1++) {
    square0[column1_1] = 0u;
  }
  if ((th_x >> 6) * 4 + ((th_x >> 4) & 1) * 2 + 17 <= 29) {
    __align__(16) u16 x2[2];
    #pragma unroll 2
    for (s32 row2_2 = 0; row2_2 < 2; row2_2++) {
      const s32 j3_2 = row2_2 + (th_x >> 6) * 4 + ((th_x >> 4) & 1) * 2 + 16;
      if ((th_x & 15) + ((th_x >> 5) & 1) * 16 <= 14) {
        const s32 j4_2 = (th_x & 15) + ((th_x >> 5) & 1) * 16;
        *(u16x2 *)(x2) = *(const u16x2 *)(p0 + bl_x * 30 + j3_2 * 480 + j4_2 * 2);
        #pragma unroll 2
        for (s32 vector_2 = 0; vector_2 < 2; vector_2++) {
          const u16 v6_2 = x2[vector_2];
          square0[vector_2] = (u32)(square0[vector_2] | shl_u32((u32)v6_2, (u32)(row2_2 * 16)));
        }
      }
    }
  } else {
    __align__(16) u16 x3[2];
    for (s32 row2_3 = 0; row2_3 < 1; row2_3++) {
      if ((th_x >> 6) * 4 + ((th_x >> 4) & 1) * 2 + 16 <= 29) {
        const s32 j3_3 = (th_x >> 6) * 4 + ((th_x >> 4) & 1) * 2 + 16;
        if ((th_x & 15) + ((th_x >> 5) & 1) * 16 <= 14) {
          const s32 j4_3 = (th_x & 15) + ((th_x >> 5) & 1) * 16;
          *(u16x2 *)(x3) = *(const u16x2 *)(p0 + bl_x * 30 + j3_3 * 480 + j4_3 * 2);
          #pragma unroll 2
          for (s32 vector_3 = 0; vector_3 < 2; vector_3++) {
            const u16 v6_3 = x3[vector_3];
            square0[vector_3] = (u32)(square0[vector_3] | shl_u32((u32)v6_3, 0u));
          }
        }
      }
    }
  }
  #pragma unroll 2
  for (s32 column8_1 = 0; column8_1 < 2; column8_1++) {
    tile0[th_x * 66 + column8_1 * 33 + (th_x >> 5) * 1054 - (th_x >> 4) * 1055 - (th_x >> 6) * 2110 + 8] = square0[column8_1];
  }
  __syncthreads();
  for (s32 r9 = 0; r9 < 3; r9++) {
    const s32 j10 = r9 * 8 + (th_x >> 5);
    if ((th_x & 31) <= 14) {
      const s32 j11 = (th_x & 31);
      #pragma unroll 2
      for (s32 vector_index12 = 0; vector_index12 < 2; vector_index12++) {
        const u16 v13 = (u16)shr_logical_u32(tile0[th_x + r9 * 264 + (th_x >> 5)], (u32)(vector_index12 * 16));
        x4[vector_index12] = v13;
      }
      *(u16x2 *)(o0 + bl_x * 30 + j10 * 480 + j11 * 2) = *(const u16x2 *)(x4);
    }
  }
  if ((th_x >> 5) + 24 <= 29) {
    const s32 j10_1 = (th_x >> 5) + 24;
    if ((th_x & 31) <= 14) {
      __align__(16) u16 x5[2];
      const s32 j11_1 = (th_x & 31);
      #pragma unroll 2
      for (s32 vector_4 = 0; vector_4 < 2; vector_4++) {
        const u16 v13_1 = (u16)shr_logical_u32(tile0[th_x + (th_x >> 5) + 792], (u32)(vector_4 * 16));
        x5[vector_4] = v13_1;
      }
      *(u16x2 *)(o0 + bl_x * 30 + j10_1 * 480 + j11_1 * 2) = *(const u16x2 *)(x5);
    }
  }
}
