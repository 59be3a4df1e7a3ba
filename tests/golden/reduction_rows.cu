// fused: reduction emitter, 63 blocks of 256 threads

typedef int s32;
typedef float f32;

extern "C" __global__ void __launch_bounds__(256) reduction_reduce(const f32 *__restrict__ p0, f32 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  f32 v0 = (-0.0f);
  if ((bl_x * 16 + (th_x >> 4)) <= 999) {
    const s32 j1 = bl_x * 16 + (th_x >> 4);
    const f32 v2 = p0[j1 * 24 + (th_x & 15)];
    const f32 v3 = v0 + v2;
    v0 = v3;
    if (((th_x & 15) + 16) <= 23) {
      const s32 j4 = (th_x & 15) + 16;
      const f32 v5 = p0[j1 * 24 + j4];
      const f32 v6 = v0 + v5;
      v0 = v6;
    }
  }
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
  if ((th_x & 15) == 0 && (bl_x * 16 + (th_x >> 4)) <= 999) {
    const s32 j15 = bl_x * 16 + (th_x >> 4);
    const f32 v16 = 0.0f + v0;
    const f32 v17 = v16;
    o0[j15] = v17;
  }
}
