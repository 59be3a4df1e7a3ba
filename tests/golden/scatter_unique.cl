// fused: scatter emitter, 22 blocks of 128 threads

#pragma OPENCL FP_CONTRACT OFF
typedef int s32;
typedef float f32;

__attribute__((reqd_work_group_size(128, 1, 1))) __kernel void scatter_scatter(__global f32 *o0, __global const s32 *restrict p1, __global const f32 *restrict p2) {
  const s32 i = get_group_id(0) * 128 + get_local_id(0);
  if (i >= 2800) return;
  const s32 v0 = p1[i / 70];
  const s32 j1 = (s32)v0;
  if (v0 >= 0 && v0 <= 11) {
    f32 v2 = o0[j1 * 70 + i % 70];
    const f32 v3 = p2[i];
    const f32 v4 = v2 + v3;
    const f32 v5 = v4;
    v2 = v5;
    o0[j1 * 70 + i % 70] = v2;
  }
}
