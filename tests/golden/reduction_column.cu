// fused: reduction emitter, 143 blocks of 1024 threads

typedef int s32;
typedef float f32;

extern "C" __global__ void __launch_bounds__(1024) reduction_reduce(const f32 *__restrict__ p0, f32 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ f32 part6[1024];
  f32 v0 = (-0.0f);
  for (s32 r1 = 0; r1 < 33; ++r1) {
    if ((r1 * 32 + (th_x >> 5)) <= 1050 && ((th_x & 31) + (bl_x % 11) * 32) <= 320) {
      const s32 j2 = r1 * 32 + (th_x >> 5);
      const s32 j3 = (th_x & 31) + (bl_x % 11) * 32;
      const f32 v4 = p0[j2 * 321 + j3 + (bl_x / 11) * 337371];
      const f32 v5 = v0 + v4;
      v0 = v5;
    }
  }
  part6[threadIdx.x] = v0;
  __syncthreads();
  if (th_x >> 5 < 16) {
    const f32 v7 = part6[threadIdx.x + 512];
    const f32 v8 = v0 + v7;
    v0 = v8;
    part6[threadIdx.x] = v0;
  }
  __syncthreads();
  if (th_x >> 5 < 8) {
    const f32 v9 = part6[threadIdx.x + 256];
    const f32 v10 = v0 + v9;
    v0 = v10;
    part6[threadIdx.x] = v0;
  }
  __syncthreads();
  if (th_x >> 5 < 4) {
    const f32 v11 = part6[threadIdx.x + 128];
    const f32 v12 = v0 + v11;
    v0 = v12;
    part6[threadIdx.x] = v0;
  }
  __syncthreads();
  if (th_x >> 5 < 2) {
    const f32 v13 = part6[threadIdx.x + 64];
    const f32 v14 = v0 + v13;
    v0 = v14;
    part6[threadIdx.x] = v0;
  }
  __syncthreads();
  if (th_x >> 5 < 1) {
    const f32 v15 = part6[threadIdx.x + 32];
    const f32 v16 = v0 + v15;
    v0 = v16;
  }
  if (th_x <= 31 && (th_x + (bl_x % 11) * 32) <= 320) {
    const s32 j17 = th_x + (bl_x % 11) * 32;
    const f32 v18 = 0.0f + v0;
    const f32 v19 = v18;
    o0[j17 + (bl_x / 11) * 321] = v19;
  }
}
