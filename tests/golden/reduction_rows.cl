// fused: reduction emitter, 63 blocks of 256 threads

#pragma OPENCL FP_CONTRACT OFF
typedef int s32;
typedef float f32;

__attribute__((reqd_work_group_size(256, 1, 1))) __kernel void reduction_reduce(__global const f32 *restrict p0, __global f32 *restrict o0) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __local f32 part7[256];
  f32 v0 = (-0.0f);
  if ((bl_x * 16 + (th_x >> 4)) <= 999) {
    const s32 j1 = bl_x * 16 + (th_x >> 4);
    const f32 v2 = p0[j1 * 24 + (th_x & 15)];
    const f32 v3 = v0 + v2;
    v0 = v3;
    if (((th_x & 15) + 16) <= 23) {
      const s32 j4 = (th_x & 15) + 16;
      const f32 v5 = p0[j1 * 24 + j4];
      const f32 v6 = v0 + v5;
      v0 = v6;
    }
  }
  part7[get_local_id(0)] = v0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 15) < 8) {
    const f32 v8 = part7[get_local_id(0) + 8];
    const f32 v9 = v0 + v8;
    v0 = v9;
    part7[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 15) < 4) {
    const f32 v10 = part7[get_local_id(0) + 4];
    const f32 v11 = v0 + v10;
    v0 = v11;
    part7[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 15) < 2) {
    const f32 v12 = part7[get_local_id(0) + 2];
    const f32 v13 = v0 + v12;
    v0 = v13;
    part7[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 15) < 1) {
    const f32 v14 = part7[get_local_id(0) + 1];
    const f32 v15 = v0 + v14;
    v0 = v15;
  }
  if ((th_x & 15) == 0 && (bl_x * 16 + (th_x >> 4)) <= 999) {
    const s32 j16 = bl_x * 16 + (th_x >> 4);
    const f32 v17 = 0.0f + v0;
    const f32 v18 = v17;
    o0[j16] = v18;
  }
}
