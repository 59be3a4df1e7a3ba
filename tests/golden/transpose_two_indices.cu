// fused: transpose emitter, 4 blocks of 256 threads

typedef int s32;
typedef float f32;

// log0
static __device__ f32 fn1_log(const f32 *p0, s32 i0, s32 i1) {
  const f32 v0 = p0[i0 * 64 + i1];
  const f32 v1 = logf(v0);
  return v1;
}

// log1
static __device__ f32 fn0_log(const f32 *p0, s32 i0, s32 i1) {
  const f32 v0 = fn1_log(p0, i0, i1);
  const f32 v1 = fn1_log(p0, i1, i0);
  const f32 v2 = v0 + v1;
  const f32 v3 = logf(v2);
  return v3;
}

extern "C" __global__ void __launch_bounds__(256) transpose_transpose(const f32 *__restrict__ p0, f32 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ f32 tile0[1056];
  for (s32 r0 = 0; r0 < 4; ++r0) {
    const f32 v1 = fn0_log(p0, r0 * 8 + (th_x >> 5) + (bl_x >> 1) * 32, (th_x & 31) + (bl_x & 1) * 32);
    tile0[th_x + r0 * 264 + (th_x >> 5)] = v1;
  }
  __syncthreads();
  for (s32 r2 = 0; r2 < 4; ++r2) {
    const f32 v3 = tile0[th_x * 33 + r2 * 8 - (th_x >> 5) * 1055];
    const f32 v4 = fn0_log(p0, r2 * 8 + (th_x >> 5) + (bl_x & 1) * 32, (bl_x >> 1) * 32 + (th_x & 31));
    const f32 v5 = v4 + v3;
    o0[th_x + bl_x * 2048 + r2 * 512 + (th_x >> 5) * 32 - (bl_x >> 1) * 4064] = v5;
  }
}
