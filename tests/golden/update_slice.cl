// fused: dynamic-update-slice emitter, 469 blocks of 128 threads

#pragma OPENCL FP_CONTRACT OFF
typedef int s32;
typedef float f32;
typedef struct __attribute__((aligned(16))) { f32 v[4]; } f32x4;

static s32 clamp_s32(s32 low, s32 x, s32 high) { s32 y = x < low ? low : x; return y > high ? high : y; }

__attribute__((reqd_work_group_size(128, 1, 1))) __kernel void dynamic_update_slice_dynamic_update_slice(__global f32 *o0, __global const f32 *restrict p1, __global const s32 *restrict p2) {
  const s32 i = get_group_id(0) * 128 + get_local_id(0);
  if (i >= 60000) return;
  const s32 v0 = p2[0];
  const s32 j1 = clamp_s32(0, v0, 20);
  const f32x4 x3 = ((__global const f32x4 *)p1)[i];
  f32x4 y5;
  #pragma unroll
  for (s32 r2 = 0; r2 < 4; ++r2) {
    const f32 v4 = x3.v[r2];
    y5.v[r2] = v4;
  }
  ((__global f32x4 *)o0)[i + j1 * 3000] = y5;
}
