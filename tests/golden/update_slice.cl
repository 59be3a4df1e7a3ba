// fused: dynamic-update-slice emitter, 1875 blocks of 128 threads

#pragma OPENCL FP_CONTRACT OFF
typedef int s32;
typedef float f32;

static s32 clamp_s32(s32 low, s32 x, s32 high) { s32 y = x < low ? low : x; return y > high ? high : y; }

__attribute__((reqd_work_group_size(128, 1, 1))) __kernel void dynamic_update_slice_dynamic_update_slice(__global f32 *o0, __global const f32 *restrict p1, __global const s32 *restrict p2) {
  const s32 i = get_group_id(0) * 128 + get_local_id(0);
  const s32 v0 = p2[0];
  const s32 j1 = clamp_s32(0, v0, 20);
  const f32 v2 = p1[i];
  o0[i + j1 * 12000] = v2;
}
