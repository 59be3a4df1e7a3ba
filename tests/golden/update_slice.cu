// fused: dynamic-update-slice emitter, 469 blocks of 128 threads

typedef int s32;
typedef float f32;
typedef struct __align__(16) { f32 v[4]; } f32x4;

static __device__ s32 clamp_s32(s32 low, s32 x, s32 high) { s32 y = x < low ? low : x; return y > high ? high : y; }

extern "C" __global__ void __launch_bounds__(128) dynamic_update_slice_dynamic_update_slice(f32 *o0, const f32 *__restrict__ p1, const s32 *__restrict__ p2) {
  const s32 i = blockIdx.x * 128 + threadIdx.x;
  if (i >= 60000) return;
  const s32 v0 = p2[0];
  const s32 j1 = clamp_s32(0, v0, 20);
  const f32x4 x3 = ((const f32x4 *)p1)[i];
  f32x4 y5;
  #pragma unroll
  for (s32 r2 = 0; r2 < 4; ++r2) {
    const f32 v4 = x3.v[r2];
    y5.v[r2] = v4;
  }
  ((f32x4 *)o0)[i + j1 * 3000] = y5;
}
