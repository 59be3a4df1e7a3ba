// fused: reduction emitter, 286 blocks of 256 threads

typedef int s32;
typedef unsigned int u32;
typedef float f32;

extern "C" __global__ void __launch_bounds__(256) reduction_reduce(const f32 *__restrict__ p0, f32 *__restrict__ o0, f32 *w0, u32 *w1) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ u32 last15;
  __shared__ f32 part8[256];
  f32 v0 = (-0.0f);
  if (((th_x & 31) + ((bl_x >> 1) % 11) * 32) <= 320) {
    const s32 j1 = (th_x & 31) + ((bl_x >> 1) % 11) * 32;
    #pragma unroll 4
    for (s32 r2 = 0; r2 < 65; ++r2) {
      const f32 v3 = p0[j1 + r2 * 5136 + (th_x >> 5) * 321 + (bl_x / 22) * 337371 + (bl_x & 1) * 2568];
      const f32 v4 = v0 + v3;
      v0 = v4;
    }
    if (((th_x >> 5) + (bl_x & 1) * 8 + 1040) <= 1050) {
      const s32 j5 = (th_x >> 5) + (bl_x & 1) * 8 + 1040;
      const f32 v6 = p0[j1 + j5 * 321 + (bl_x / 22) * 337371];
      const f32 v7 = v0 + v6;
      v0 = v7;
    }
  }
  part8[threadIdx.x] = v0;
  __syncthreads();
  if (th_x >> 5 < 4) {
    const f32 v9 = part8[threadIdx.x + 128];
    const f32 v10 = v0 + v9;
    v0 = v10;
    part8[threadIdx.x] = v0;
  }
  __syncthreads();
  if (th_x >> 5 < 2) {
    const f32 v11 = part8[threadIdx.x + 64];
    const f32 v12 = v0 + v11;
    v0 = v12;
    part8[threadIdx.x] = v0;
  }
  __syncthreads();
  if (th_x >> 5 < 1) {
    const f32 v13 = part8[threadIdx.x + 32];
    const f32 v14 = v0 + v13;
    v0 = v14;
  }
  if (th_x >> 5 == 0) {
    w0[bl_x * 32 + (th_x & 31)] = v0;
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last15 = atomicAdd(&w1[bl_x >> 1], 1u);
    if (last15 == 1) w1[bl_x >> 1] = 0;
  }
  __syncthreads();
  if (last15 == 1) {
    __threadfence();
    v0 = (-0.0f);
    if (th_x >> 5 < 2) {
      const s32 q16 = th_x >> 5;
      const f32 v17 = w0[q16 * 32 + (bl_x >> 1) * 64 + (th_x & 31)];
      const f32 v18 = v0 + v17;
      v0 = v18;
    }
    part8[threadIdx.x] = v0;
    __syncthreads();
    if (th_x >> 5 < 1) {
      const f32 v19 = part8[threadIdx.x + 32];
      const f32 v20 = v0 + v19;
      v0 = v20;
    }
    if (th_x >> 5 == 0 && ((th_x & 31) + ((bl_x >> 1) % 11) * 32) <= 320) {
      const s32 j21 = (th_x & 31) + ((bl_x >> 1) % 11) * 32;
      const f32 v22 = 0.0f + v0;
      const f32 v23 = v22;
      o0[j21 + (bl_x / 22) * 321] = v23;
    }
    __syncthreads();
  }
}
