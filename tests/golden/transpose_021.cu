// fused: transpose emitter, 600 blocks of 128 threads

#define abs_f32 fabsf
#define exp_f32 expf
typedef float f32;
typedef int s32;
typedef unsigned int u32;
typedef unsigned long long u64;

static __device__ s32 quotient_s32(s32 x, s32 divisor, s32 shift) {
  const u32 reciprocal = (u32)((((u64)1 << (32 + shift)) + divisor - 1) / divisor);
  return (s32)((u64)(u32)x * reciprocal >> (32 + shift));
}

extern "C" __global__ void __launch_bounds__(128) transpose_transpose(const f32 *__restrict__ p0, f32 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ f32 tile0[1056];
  const s32 quotient_1 = quotient_s32(bl_x, 6, 0);
  if ((th_x & 31) + (bl_x - quotient_1 * 6) * 32 <= 169) {
    const s32 j1 = (th_x & 31) + (bl_x - quotient_1 * 6) * 32;
    #pragma unroll 8
    for (s32 r0 = 0; r0 < 8; r0++) {
      const f32 v2 = p0[r0 * 680 + j1 + (th_x >> 5) * 170 + quotient_1 * 5440];
      const f32 v3 = exp_f32(v2);
      tile0[th_x + r0 * 132 + (th_x >> 5)] = v3;
    }
  }
  __syncthreads();
  #pragma unroll 8
  for (s32 r4 = 0; r4 < 8; r4++) {
    if (r4 * 4 + (th_x >> 5) + (bl_x - quotient_1 * 6) * 32 <= 169) {
      const s32 j5 = r4 * 4 + (th_x >> 5) + (bl_x - quotient_1 * 6) * 32;
      const f32 v6 = tile0[th_x * 33 + r4 * 4 - (th_x >> 5) * 1055];
      const f32 v7 = abs_f32(v6);
      o0[j5 * 160 + quotient_1 * 32 + quotient_s32(bl_x, 30, 0) * 27040 + (th_x & 31)] = v7;
    }
  }
}
