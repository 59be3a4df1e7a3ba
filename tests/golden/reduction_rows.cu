// fused: reduction emitter, 63 blocks of 256 threads

typedef int s32;
typedef float f32;

extern "C" __global__ void __launch_bounds__(256) reduction_reduce(const f32 *__restrict__ p0, f32 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  f32 v0 = (-0.0f);
  if ((bl_x * 16 + (th_x >> 4)) <= 999) {
    const s32 j1 = bl_x * 16 + (th_x >> 4);
    for (s32 r2 = 0; r2 < 2; ++r2) {
      if ((r2 * 16 + (th_x & 15)) <= 23) {
        const s32 j3 = r2 * 16 + (th_x & 15);
        const f32 v4 = p0[j1 * 24 + j3];
        const f32 v5 = v0 + v4;
        v0 = v5;
      }
    }
  }
  const f32 v6 = __shfl_down_sync(0xffffffffu, v0, 8);
  const f32 v7 = v0 + v6;
  v0 = v7;
  const f32 v8 = __shfl_down_sync(0xffffffffu, v0, 4);
  const f32 v9 = v0 + v8;
  v0 = v9;
  const f32 v10 = __shfl_down_sync(0xffffffffu, v0, 2);
  const f32 v11 = v0 + v10;
  v0 = v11;
  const f32 v12 = __shfl_down_sync(0xffffffffu, v0, 1);
  const f32 v13 = v0 + v12;
  v0 = v13;
  if ((th_x & 15) == 0 && (bl_x * 16 + (th_x >> 4)) <= 999) {
    const s32 j14 = bl_x * 16 + (th_x >> 4);
    const f32 v15 = 0.0f + v0;
    const f32 v16 = v15;
    o0[j14] = v16;
  }
}
