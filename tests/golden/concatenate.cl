// fused: concatenate emitter, 50 blocks of 128 threads

#pragma OPENCL FP_CONTRACT OFF
typedef int s32;
typedef float f32;

__attribute__((reqd_work_group_size(128, 1, 1))) __kernel void concatenate_concatenate(__global const f32 *restrict p0, __global const f32 *restrict p1, __global f32 *restrict o0) {
  const s32 i = get_group_id(0) * 128 + get_local_id(0);
  const f32 v0 = p0[i];
  const f32 v1 = -v0;
  o0[i + (i / 100) * 50] = v1;
  if ((i % 100) <= 49) {
    const s32 j2 = i % 100;
    const f32 v3 = p1[j2 + (i / 100) * 50];
    const f32 v4 = exp(v3);
    const f32 v5 = -v4;
    o0[j2 + (i / 100) * 150 + 100] = v5;
  }
}
