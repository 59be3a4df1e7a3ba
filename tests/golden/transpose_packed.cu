// fused: transpose emitter, 16 blocks of 128 threads

typedef int s32;
typedef unsigned int u32;
typedef unsigned short u16;
typedef struct __align__(4) { u16 v[2]; } u16x2;

static __device__ u32 shl_u32(u32 a, u32 n) { return (u32)n < 32 ? (u32)((u32)a << (u32)n) : 0; }

static __device__ u32 shr_logical_u32(u32 a, u32 n) { return (u32)n < 32 ? (u32)((u32)a >> (u32)n) : 0; }

static __device__ void store_vector_4(void *to, const void *from) {
  u32 words[1];
  memcpy(words, from, 4);
  asm volatile("st.global.b32 [%0], %1;"
               : : "l"(__cvta_generic_to_global(to)), "r"(words[0]) : "memory");
}

extern "C" __global__ void __launch_bounds__(128) transpose_transpose(const u16 *__restrict__ p0, u16 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ u32 tile0[2112];
  u32 square0[2];
  __align__(16) u16 x0[2];
  __align__(16) u16 x4[2];
  #pragma unroll 3
  for (s32 r0 = 0; r0 < 3; r0++) {
    square0[0] = 0u;
    square0[1] = 0u;
    #pragma unroll 2
    for (s32 row2 = 0; row2 < 2; row2++) {
      const s32 j3 = r0 * 8 + row2 + (th_x >> 6) * 4 + ((th_x >> 4) & 1) * 2;
      if ((th_x & 15) + ((th_x >> 5) & 1) * 16 <= 14) {
        const s32 j4 = (th_x & 15) + ((th_x >> 5) & 1) * 16;
        *(u16x2 *)(x0) = *(const u16x2 *)(p0 + (bl_x * 30 + j3 * 480 + j4 * 2));
        const u16 v6_4 = x0[0];
        square0[0] = (u32)(square0[0] | shl_u32((u32)v6_4, (u32)(row2 * 16)));
        const u16 v6_5 = x0[1];
        square0[1] = (u32)(square0[1] | shl_u32((u32)v6_5, (u32)(row2 * 16)));
      }
    }
    tile0[th_x * 66 + r0 * 4 + (th_x >> 5) * 1054 - (th_x >> 4) * 1055 - (th_x >> 6) * 2110] = square0[0];
    tile0[th_x * 66 + r0 * 4 + (th_x >> 5) * 1054 - (th_x >> 4) * 1055 - (th_x >> 6) * 2110 + 33] = square0[1];
  }
  square0[0] = 0u;
  square0[1] = 0u;
  if ((th_x >> 6) * 4 + ((th_x >> 4) & 1) * 2 + 25 <= 29) {
    __align__(16) u16 x2[2];
    #pragma unroll 2
    for (s32 row2_2 = 0; row2_2 < 2; row2_2++) {
      const s32 j3_2 = row2_2 + (th_x >> 6) * 4 + ((th_x >> 4) & 1) * 2 + 24;
      if ((th_x & 15) + ((th_x >> 5) & 1) * 16 <= 14) {
        const s32 j4_2 = (th_x & 15) + ((th_x >> 5) & 1) * 16;
        *(u16x2 *)(x2) = *(const u16x2 *)(p0 + (bl_x * 30 + j3_2 * 480 + j4_2 * 2));
        const u16 v6_10 = x2[0];
        square0[0] = (u32)(square0[0] | shl_u32((u32)v6_10, (u32)(row2_2 * 16)));
        const u16 v6_11 = x2[1];
        square0[1] = (u32)(square0[1] | shl_u32((u32)v6_11, (u32)(row2_2 * 16)));
      }
    }
  } else {
    if ((th_x >> 6) * 4 + ((th_x >> 4) & 1) * 2 + 24 <= 29) {
      const s32 j3_5 = (th_x >> 6) * 4 + ((th_x >> 4) & 1) * 2 + 24;
      if ((th_x & 15) + ((th_x >> 5) & 1) * 16 <= 14) {
        __align__(16) u16 x3[2];
        const s32 j4_5 = (th_x & 15) + ((th_x >> 5) & 1) * 16;
        *(u16x2 *)(x3) = *(const u16x2 *)(p0 + (bl_x * 30 + j3_5 * 480 + j4_5 * 2));
        const u16 v6_14 = x3[0];
        square0[0] = (u32)(square0[0] | shl_u32((u32)v6_14, 0u));
        const u16 v6_15 = x3[1];
        square0[1] = (u32)(square0[1] | shl_u32((u32)v6_15, 0u));
      }
    }
  }
  tile0[th_x * 66 + (th_x >> 5) * 1054 - (th_x >> 4) * 1055 - (th_x >> 6) * 2110 + 12] = square0[0];
  tile0[th_x * 66 + (th_x >> 5) * 1054 - (th_x >> 4) * 1055 - (th_x >> 6) * 2110 + 45] = square0[1];
  __syncthreads();
  #pragma unroll 7
  for (s32 r9 = 0; r9 < 7; r9++) {
    const s32 j10 = r9 * 4 + (th_x >> 5);
    if ((th_x & 31) <= 14) {
      const s32 j11 = (th_x & 31);
      const u16 v13_2 = (u16)shr_logical_u32(tile0[th_x + r9 * 132 + (th_x >> 5)], 0u);
      x4[0] = v13_2;
      const u16 v13_3 = (u16)shr_logical_u32(tile0[th_x + r9 * 132 + (th_x >> 5)], 16u);
      x4[1] = v13_3;
      store_vector_4(o0 + (bl_x * 30 + j10 * 480 + j11 * 2), x4);
    }
  }
  if ((th_x >> 5) + 28 <= 29) {
    const s32 j10_1 = (th_x >> 5) + 28;
    if ((th_x & 31) <= 14) {
      __align__(16) u16 x5[2];
      const s32 j11_1 = (th_x & 31);
      const u16 v13_4 = (u16)shr_logical_u32(tile0[th_x + (th_x >> 5) + 924], 0u);
      x5[0] = v13_4;
      const u16 v13_5 = (u16)shr_logical_u32(tile0[th_x + (th_x >> 5) + 924], 16u);
      x5[1] = v13_5;
      store_vector_4(o0 + (bl_x * 30 + j10_1 * 480 + j11_1 * 2), x5);
    }
  }
}
