// fused: reduction emitter, 8 blocks of 1024 threads

typedef float f32;
#define log_f32 logf
typedef int s32;

extern "C" __global__ void __launch_bounds__(1024) reduction_reduce(const f32 *__restrict__ p0, const f32 *__restrict__ p1, f32 *__restrict__ o0, f32 *__restrict__ o1) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ f32 part0[32];
  f32 v0 = (-0.0f);
  const f32 v2_1 = p0[th_x + bl_x * 2048];
  const f32 v3_1 = v0 + v2_1;
  v0 = v3_1;
  const f32 v4_1 = (-v2_1);
  o1[th_x + bl_x * 2048] = v4_1;
  const f32 v2_2 = p0[th_x + bl_x * 2048 + 1024];
  const f32 v3_2 = v0 + v2_2;
  v0 = v3_2;
  const f32 v4_2 = (-v2_2);
  o1[th_x + bl_x * 2048 + 1024] = v4_2;
  const f32 t0 = __shfl_down_sync(0xffffffffu, v0, 16);
  const f32 v0_1 = v0 + t0;
  v0 = v0_1;
  const f32 t2 = __shfl_down_sync(0xffffffffu, v0, 8);
  const f32 v0_2 = v0 + t2;
  v0 = v0_2;
  const f32 t4 = __shfl_down_sync(0xffffffffu, v0, 4);
  const f32 v0_3 = v0 + t4;
  v0 = v0_3;
  const f32 t6 = __shfl_down_sync(0xffffffffu, v0, 2);
  const f32 v0_4 = v0 + t6;
  v0 = v0_4;
  const f32 t8 = __shfl_down_sync(0xffffffffu, v0, 1);
  const f32 v0_5 = v0 + t8;
  v0 = v0_5;
  if ((th_x & 31) <= 0) {
    part0[th_x >> 5] = v0;
  }
  __syncthreads();
  v0 = part0[(th_x & 31)];
  const f32 t10 = __shfl_down_sync(0xffffffffu, v0, 16);
  const f32 v0_6 = v0 + t10;
  v0 = v0_6;
  const f32 t12 = __shfl_down_sync(0xffffffffu, v0, 8);
  const f32 v0_7 = v0 + t12;
  v0 = v0_7;
  const f32 t14 = __shfl_down_sync(0xffffffffu, v0, 4);
  const f32 v0_8 = v0 + t14;
  v0 = v0_8;
  const f32 t16 = __shfl_down_sync(0xffffffffu, v0, 2);
  const f32 v0_9 = v0 + t16;
  v0 = v0_9;
  const f32 t18 = __shfl_down_sync(0xffffffffu, v0, 1);
  const f32 v0_10 = v0 + t18;
  v0 = v0_10;
  if (th_x <= 0) {
    const f32 v5 = p1[0];
    const f32 v6 = v5 + v0;
    const f32 v7 = log_f32(v6);
    o0[bl_x] = v7;
  }
}
