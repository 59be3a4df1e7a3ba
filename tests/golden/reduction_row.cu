// fused: reduction emitter, 8 blocks of 1024 threads

typedef int s32;
typedef float f32;

extern "C" __global__ void __launch_bounds__(1024) reduction_reduce(const f32 *__restrict__ p0, const f32 *__restrict__ p1, f32 *__restrict__ o0, f32 *__restrict__ o1) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ f32 part15[32];
  f32 v0 = (-0.0f);
  for (s32 r1 = 0; r1 < 2; ++r1) {
    const f32 v2 = p0[th_x + bl_x * 2048 + r1 * 1024];
    const f32 v3 = v0 + v2;
    v0 = v3;
    const f32 v4 = -v2;
    o1[th_x + bl_x * 2048 + r1 * 1024] = v4;
  }
  const f32 v5 = __shfl_down_sync(0xffffffffu, v0, 16);
  const f32 v6 = v0 + v5;
  v0 = v6;
  const f32 v7 = __shfl_down_sync(0xffffffffu, v0, 8);
  const f32 v8 = v0 + v7;
  v0 = v8;
  const f32 v9 = __shfl_down_sync(0xffffffffu, v0, 4);
  const f32 v10 = v0 + v9;
  v0 = v10;
  const f32 v11 = __shfl_down_sync(0xffffffffu, v0, 2);
  const f32 v12 = v0 + v11;
  v0 = v12;
  const f32 v13 = __shfl_down_sync(0xffffffffu, v0, 1);
  const f32 v14 = v0 + v13;
  v0 = v14;
  if (threadIdx.x % 32 == 0) {
    part15[threadIdx.x / 32] = v0;
  }
  __syncthreads();
  v0 = part15[threadIdx.x / 1024 * 32 + (th_x) % 32];
  const f32 v16 = __shfl_down_sync(0xffffffffu, v0, 16);
  const f32 v17 = v0 + v16;
  v0 = v17;
  const f32 v18 = __shfl_down_sync(0xffffffffu, v0, 8);
  const f32 v19 = v0 + v18;
  v0 = v19;
  const f32 v20 = __shfl_down_sync(0xffffffffu, v0, 4);
  const f32 v21 = v0 + v20;
  v0 = v21;
  const f32 v22 = __shfl_down_sync(0xffffffffu, v0, 2);
  const f32 v23 = v0 + v22;
  v0 = v23;
  const f32 v24 = __shfl_down_sync(0xffffffffu, v0, 1);
  const f32 v25 = v0 + v24;
  v0 = v25;
  if (th_x == 0) {
    const f32 v26 = p1[0];
    const f32 v27 = v26 + v0;
    const f32 v28 = v27;
    const f32 v29 = logf(v28);
    o0[bl_x] = v29;
  }
}
