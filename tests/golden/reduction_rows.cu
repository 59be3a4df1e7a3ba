// fused: reduction emitter, 8 blocks of 256 threads

typedef float f32;
typedef int s32;
typedef struct __align__(16) { f32 v[4]; } f32x4;

extern "C" __global__ void __launch_bounds__(256) reduction_reduce(const f32 *__restrict__ p0, f32 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  f32 v0 = (-0.0f);
  if (bl_x * 128 + (th_x >> 1) <= 999) {
    __align__(16) f32 x0[4];
    const s32 j1 = bl_x * 128 + (th_x >> 1);
    #pragma unroll 4
    for (s32 step2 = 0; step2 < 4; step2++) {
      *(f32x4 *)(x0) = *(const f32x4 *)(p0 + (j1 * 32 + step2 * 8 + (th_x & 1) * 4));
      const f32 v4_1 = x0[0];
      const f32 v5_1 = v0 + v4_1;
      v0 = v5_1;
      const f32 v4_2 = x0[1];
      const f32 v5_2 = v0 + v4_2;
      v0 = v5_2;
      const f32 v4_3 = x0[2];
      const f32 v5_3 = v0 + v4_3;
      v0 = v5_3;
      const f32 v4_4 = x0[3];
      const f32 v5_4 = v0 + v4_4;
      v0 = v5_4;
    }
  }
  const f32 t0 = __shfl_down_sync(0xffffffffu, v0, 1);
  const f32 v0_1 = v0 + t0;
  v0 = v0_1;
  if ((th_x & 1) <= 0 && bl_x * 128 + (th_x >> 1) <= 999) {
    const s32 j6 = bl_x * 128 + (th_x >> 1);
    const f32 v7 = 0.0f + v0;
    o0[j6] = v7;
  }
}
