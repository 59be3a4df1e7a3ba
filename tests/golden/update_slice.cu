// fused: dynamic-update-slice emitter, 1875 blocks of 128 threads

typedef int s32;
typedef float f32;

static __device__ s32 clamp_s32(s32 low, s32 x, s32 high) { s32 y = x < low ? low : x; return y > high ? high : y; }

extern "C" __global__ void __launch_bounds__(128) dynamic_update_slice_dynamic_update_slice(f32 *o0, const f32 *__restrict__ p1, const s32 *__restrict__ p2) {
  const s32 i = blockIdx.x * 128 + threadIdx.x;
  const s32 v0 = p2[0];
  const s32 j1 = clamp_s32(0, v0, 20);
  const f32 v2 = p1[i];
  o0[i + j1 * 12000] = v2;
}
