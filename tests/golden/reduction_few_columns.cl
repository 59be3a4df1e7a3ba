// fused: reduction emitter, 1 blocks of 768 threads

#pragma OPENCL FP_CONTRACT OFF
typedef int s32;
typedef float f32;

__attribute__((reqd_work_group_size(768, 1, 1))) __kernel void reduction_reduce(__global const f32 *restrict p0, __global f32 *restrict o0) {
  const s32 th_x = get_local_id(0);
  __local f32 part4[768];
  f32 v0 = (-0.0f);
  #pragma unroll 4
  for (s32 r1 = 0; r1 < 32; ++r1) {
    const f32 v2 = p0[th_x + r1 * 768];
    const f32 v3 = v0 + v2;
    v0 = v3;
  }
  part4[get_local_id(0)] = v0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x / 6 < 64) {
    const f32 v5 = part4[get_local_id(0) + 384];
    const f32 v6 = v0 + v5;
    v0 = v6;
    part4[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x / 6 < 32) {
    const f32 v7 = part4[get_local_id(0) + 192];
    const f32 v8 = v0 + v7;
    v0 = v8;
    part4[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x / 6 < 16) {
    const f32 v9 = part4[get_local_id(0) + 96];
    const f32 v10 = v0 + v9;
    v0 = v10;
    part4[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x / 6 < 8) {
    const f32 v11 = part4[get_local_id(0) + 48];
    const f32 v12 = v0 + v11;
    v0 = v12;
    part4[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x / 6 < 4) {
    const f32 v13 = part4[get_local_id(0) + 24];
    const f32 v14 = v0 + v13;
    v0 = v14;
    part4[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x / 6 < 2) {
    const f32 v15 = part4[get_local_id(0) + 12];
    const f32 v16 = v0 + v15;
    v0 = v16;
    part4[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x / 6 < 1) {
    const f32 v17 = part4[get_local_id(0) + 6];
    const f32 v18 = v0 + v17;
    v0 = v18;
  }
  if (th_x / 6 == 0) {
    const f32 v19 = 0.0f + v0;
    const f32 v20 = v19;
    o0[th_x % 6] = v20;
  }
}
