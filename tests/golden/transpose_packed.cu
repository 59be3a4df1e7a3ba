// fused: transpose emitter, 16 blocks of 256 threads

typedef unsigned short u16;
typedef int s32;
typedef unsigned int u32;
typedef float f32;

static __device__ f32 decode_bf16(u16 bits) { return __uint_as_float((u32)bits << 16); }

static __device__ u16 encode_bf16(f32 x) {
  u16 bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}

extern "C" __global__ void __launch_bounds__(256) transpose_transpose(const u16 *__restrict__ p0, u16 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ u32 tile0[2112];
  for (s32 r0 = 0; r0 < 4; ++r0) {
    u32 square0[2];
    #pragma unroll
    for (s32 q = 0; q < 2; ++q) square0[q] = 0;
    #pragma unroll
    for (s32 r1 = 0; r1 < 2; ++r1) {
      #pragma unroll
      for (s32 r2 = 0; r2 < 2; ++r2) {
        if (r0 <= 1 && (r0 * 8 + (th_x >> 6) * 2 + ((th_x >> 4) & 1)) <= 14 && ((th_x & 15) + ((th_x >> 5) & 1) * 16) <= 14) {
          const s32 j3 = r0 * 16 + r1 + (th_x >> 6) * 4 + ((th_x >> 4) & 1) * 2;
          const s32 j4 = r2 + (th_x & 15) * 2 + ((th_x >> 5) & 1) * 32;
          const f32 v5 = decode_bf16(p0[bl_x * 30 + j3 * 480 + j4]);
          square0[r2] |= (u32)(u16)(encode_bf16(v5)) << (r1 * 16);
        }
      }
    }
    #pragma unroll
    for (s32 r6 = 0; r6 < 2; ++r6) {
      tile0[th_x * 66 + r0 * 8 + r6 * 33 + (th_x >> 5) * 1054 - (th_x >> 4) * 1055 - (th_x >> 6) * 2110] = square0[r6];
    }
  }
  __syncthreads();
  for (s32 r7 = 0; r7 < 8; ++r7) {
    #pragma unroll
    for (s32 r8 = 0; r8 < 2; ++r8) {
      if (r7 <= 3 && (th_x & 31) <= 14 && (r7 * 8 + (th_x >> 5)) <= 29) {
        const s32 j9 = r7 * 8 + (th_x >> 5);
        const s32 j10 = r8 + (th_x & 31) * 2;
        const f32 v11 = decode_bf16((u16)(tile0[th_x + r7 * 264 + (th_x >> 5)] >> (r8 * 16)));
        o0[bl_x * 30 + j9 * 480 + j10] = encode_bf16(v11);
      }
    }
  }
}
