// fused: reduction emitter, 63 blocks of 256 threads

#pragma OPENCL FP_CONTRACT OFF
typedef float f32;
typedef int s32;

__kernel void __attribute__((reqd_work_group_size(256, 1, 1))) reduction_reduce(__global const f32 *restrict p0, __global f32 *restrict o0) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __local f32 part0[256];
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
  part0[th_x] = v0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 15) <= 7) {
    const f32 t0 = part0[th_x + 8];
    const f32 v0_1 = v0 + t0;
    v0 = v0_1;
    part0[th_x] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 15) <= 3) {
    const f32 t2 = part0[th_x + 4];
    const f32 v0_2 = v0 + t2;
    v0 = v0_2;
    part0[th_x] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 15) <= 1) {
    const f32 t4 = part0[th_x + 2];
    const f32 v0_3 = v0 + t4;
    v0 = v0_3;
    part0[th_x] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 15) <= 0) {
    const f32 t6 = part0[th_x + 1];
    const f32 v0_4 = v0 + t6;
    v0 = v0_4;
  }
  if ((th_x & 15) <= 0 && bl_x * 16 + (th_x >> 4) <= 999) {
    const s32 j6 = bl_x * 16 + (th_x >> 4);
    const f32 v7 = 0.0f + v0;
    o0[j6] = v7;
  }
}
