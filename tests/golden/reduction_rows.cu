// fused: reduction emitter, 63 blocks of 256 threads

typedef float f32;
typedef int s32;

extern "C" __global__ void __launch_bounds__(256) reduction_reduce(const f32 *__restrict__ p0, f32 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  f32 v0 = (-0.0f);
  if (bl_x * 16 + (th_x >> 4) <= 999) {
    const s32 j1 = bl_x * 16 + (th_x >> 4);
    const s32 j3_2 = (th_x & 15);
    const f32 v4_2 = p0[j1 * 24 + j3_2];
    const f32 v5_2 = v0 + v4_2;
    v0 = v5_2;
    if ((th_x & 15) + 16 <= 23) {
      const s32 j3_1 = (th_x & 15) + 16;
      const f32 v4_1 = p0[j1 * 24 + j3_1];
      const f32 v5_1 = v0 + v4_1;
      v0 = v5_1;
    }
  }
  const f32 t0 = __shfl_down_sync(0xffffffffu, v0, 8);
  const f32 v0_1 = v0 + t0;
  v0 = v0_1;
  const f32 t2 = __shfl_down_sync(0xffffffffu, v0, 4);
  const f32 v0_2 = v0 + t2;
  v0 = v0_2;
  const f32 t4 = __shfl_down_sync(0xffffffffu, v0, 2);
  const f32 v0_3 = v0 + t4;
  v0 = v0_3;
  const f32 t6 = __shfl_down_sync(0xffffffffu, v0, 1);
  const f32 v0_4 = v0 + t6;
  v0 = v0_4;
  if ((th_x & 15) <= 0 && bl_x * 16 + (th_x >> 4) <= 999) {
    const s32 j6 = bl_x * 16 + (th_x >> 4);
    const f32 v7 = 0.0f + v0;
    o0[j6] = v7;
  }
}
