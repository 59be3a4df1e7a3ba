// fused: reduction emitter, 7 blocks of 256 threads

typedef float f32;
typedef int s32;

extern "C" __global__ void __launch_bounds__(256) reduction_reduce(const f32 *__restrict__ p0, f32 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  f32 v0 = (-0.0f);
  if (bl_x * 32 + (th_x >> 3) <= 199) {
    const s32 j1 = bl_x * 32 + (th_x >> 3);
    f32 v2 = 0.0f;
    f32 v7 = 0.0f;
    #pragma unroll 4
    for (s32 r3 = 0; r3 < 20; r3++) {
      const f32 v4 = p0[j1 * 160 + r3 * 8 + (th_x & 7)];
      const f32 v5 = v2 + v4;
      v2 = v5;
      const f32 v9 = p0[j1 * 160 + r3 * 8 + (th_x & 7)];
      const f32 v10 = v9 * v9;
      const f32 v11 = v7 + v10;
      v7 = v11;
    }
    const f32 v6 = v2 * v2;
    const f32 v12 = v6 - v7;
    v0 = v12;
  }
  const f32 t0 = __shfl_down_sync(0xffffffffu, v0, 4);
  const f32 v0_1 = v0 + t0;
  v0 = v0_1;
  const f32 t2 = __shfl_down_sync(0xffffffffu, v0, 2);
  const f32 v0_2 = v0 + t2;
  v0 = v0_2;
  const f32 t4 = __shfl_down_sync(0xffffffffu, v0, 1);
  const f32 v0_3 = v0 + t4;
  v0 = v0_3;
  if ((th_x & 7) <= 0 && bl_x * 32 + (th_x >> 3) <= 199) {
    const s32 j13 = bl_x * 32 + (th_x >> 3);
    const f32 v14 = 0.0f + v0;
    o0[j13] = v14;
  }
}
