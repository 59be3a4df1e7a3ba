// fused: transpose emitter, 4 blocks of 128 threads

typedef float f32;
#define log_f32 logf
typedef int s32;

extern "C" __global__ void __launch_bounds__(128) transpose_transpose(const f32 *__restrict__ p0, f32 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ f32 tile0[1056];
  #pragma unroll 8
  for (s32 r0 = 0; r0 < 8; r0++) {
    const f32 v0_1 = p0[th_x + bl_x * 32 + r0 * 256 + (th_x >> 5) * 32 + (bl_x >> 1) * 1984];
    const f32 v1_1 = log_f32(v0_1);
    const f32 v0_2 = p0[th_x * 64 + r0 * 4 + ((bl_x + 1) >> 1) * 4064 - bl_x * 2016 - (th_x >> 5) * 2047];
    const f32 v1_2 = log_f32(v0_2);
    const f32 v2 = v1_1 + v1_2;
    const f32 v3_1 = log_f32(v2);
    tile0[th_x + r0 * 132 + (th_x >> 5)] = v3_1;
  }
  __syncthreads();
  #pragma unroll 8
  for (s32 r2 = 0; r2 < 8; r2++) {
    const f32 v3 = tile0[th_x * 33 + r2 * 4 - (th_x >> 5) * 1055];
    const f32 v0_3 = p0[th_x + r2 * 256 + (th_x >> 5) * 32 + ((bl_x + 1) >> 1) * 4064 - bl_x * 2016];
    const f32 v1_4 = log_f32(v0_3);
    const f32 v0_5 = p0[th_x * 64 + bl_x * 32 + r2 * 4 + (bl_x >> 1) * 1984 - (th_x >> 5) * 2047];
    const f32 v1_5 = log_f32(v0_5);
    const f32 v2_1 = v1_4 + v1_5;
    const f32 v3_2 = log_f32(v2_1);
    const f32 v5 = v3_2 + v3;
    o0[th_x + r2 * 256 + (th_x >> 5) * 32 + ((bl_x + 1) >> 1) * 4064 - bl_x * 2016] = v5;
  }
}
