// fused: concatenate emitter, 50 blocks of 128 threads

#pragma OPENCL FP_CONTRACT OFF
#define exp_f32 exp
typedef float f32;
typedef int s32;

__kernel void __attribute__((reqd_work_group_size(128, 1, 1))) concatenate_concatenate(__global const f32 *restrict p0, __global const f32 *restrict p1, __global f32 *restrict o0) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  const s32 i = th_x + bl_x * 128;
  const f32 v0 = p0[i];
  const f32 v1 = (-v0);
  o0[i + (i / 100) * 50] = v1;
  if (i % 100 <= 49) {
    const s32 j2 = i % 100;
    const f32 v3 = p1[j2 + (i / 100) * 50];
    const f32 v4 = exp_f32(v3);
    const f32 v5 = (-v4);
    o0[j2 + (i / 100) * 150 + 100] = v5;
  }
}
