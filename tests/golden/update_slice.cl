// fused: dynamic-update-slice emitter, 469 blocks of 128 threads

#pragma OPENCL FP_CONTRACT OFF
typedef int s32;
typedef float f32;
typedef struct __attribute__((aligned(16))) { f32 v[4]; } f32x4;

static s32 clamp_s32(s32 low, s32 x, s32 high) { s32 y = x < low ? low : x; return y > high ? high : y; }

__kernel void __attribute__((reqd_work_group_size(128, 1, 1))) dynamic_update_slice_dynamic_update_slice(__global f32 *p0, __global const f32 *restrict p1, __global const s32 *restrict p2) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __global f32 *const o0 = (__global f32 *)p0;
  if (th_x + bl_x * 128 <= 59999) {
    __attribute__((aligned(16))) f32 x0[4];
    __attribute__((aligned(16))) f32 x1[4];
    const s32 i = th_x + bl_x * 128;
    const s32 v0 = p2[0];
    const s32 j1 = clamp_s32(0, v0, 20);
    *(__private f32x4 *)(x0) = *(__global const f32x4 *)(p1 + i * 4);
    const f32 v3_1 = x0[0];
    x1[0] = v3_1;
    const f32 v3_2 = x0[1];
    x1[1] = v3_2;
    const f32 v3_3 = x0[2];
    x1[2] = v3_3;
    const f32 v3_4 = x0[3];
    x1[3] = v3_4;
    *(__global f32x4 *)(o0 + i * 4 + j1 * 12000) = *(__private const f32x4 *)(x1);
  }
}
