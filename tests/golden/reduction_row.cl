// fused: reduction emitter, 8 blocks of 1024 threads

#pragma OPENCL FP_CONTRACT OFF
typedef int s32;
typedef float f32;

__attribute__((reqd_work_group_size(1024, 1, 1))) __kernel void reduction_reduce(__global const f32 *restrict p0, __global const f32 *restrict p1, __global f32 *restrict o0, __global f32 *restrict o1) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __local f32 part5[1024];
  f32 v0 = (-0.0f);
  for (s32 r1 = 0; r1 < 2; ++r1) {
    const f32 v2 = p0[th_x + bl_x * 2048 + r1 * 1024];
    const f32 v3 = v0 + v2;
    v0 = v3;
    const f32 v4 = -v2;
    o1[th_x + bl_x * 2048 + r1 * 1024] = v4;
  }
  part5[get_local_id(0)] = v0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 512) {
    const f32 v6 = part5[get_local_id(0) + 512];
    const f32 v7 = v0 + v6;
    v0 = v7;
    part5[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 256) {
    const f32 v8 = part5[get_local_id(0) + 256];
    const f32 v9 = v0 + v8;
    v0 = v9;
    part5[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 128) {
    const f32 v10 = part5[get_local_id(0) + 128];
    const f32 v11 = v0 + v10;
    v0 = v11;
    part5[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 64) {
    const f32 v12 = part5[get_local_id(0) + 64];
    const f32 v13 = v0 + v12;
    v0 = v13;
    part5[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 32) {
    const f32 v14 = part5[get_local_id(0) + 32];
    const f32 v15 = v0 + v14;
    v0 = v15;
    part5[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 16) {
    const f32 v16 = part5[get_local_id(0) + 16];
    const f32 v17 = v0 + v16;
    v0 = v17;
    part5[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 8) {
    const f32 v18 = part5[get_local_id(0) + 8];
    const f32 v19 = v0 + v18;
    v0 = v19;
    part5[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 4) {
    const f32 v20 = part5[get_local_id(0) + 4];
    const f32 v21 = v0 + v20;
    v0 = v21;
    part5[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 2) {
    const f32 v22 = part5[get_local_id(0) + 2];
    const f32 v23 = v0 + v22;
    v0 = v23;
    part5[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 1) {
    const f32 v24 = part5[get_local_id(0) + 1];
    const f32 v25 = v0 + v24;
    v0 = v25;
  }
  if (th_x == 0) {
    const f32 v26 = p1[0];
    const f32 v27 = v26 + v0;
    const f32 v28 = v27;
    const f32 v29 = log(v28);
    o0[bl_x] = v29;
  }
}
