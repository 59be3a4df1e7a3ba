// fused: reduction emitter, 8 blocks of 1024 threads

#pragma OPENCL FP_CONTRACT OFF
typedef float f32;
#define log_f32 log
typedef int s32;

__kernel void __attribute__((reqd_work_group_size(1024, 1, 1))) reduction_reduce(__global const f32 *restrict p0, __global const f32 *restrict p1, __global f32 *restrict o0, __global f32 *restrict o1) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __local f32 part0[1024];
  f32 v0 = (-0.0f);
  const f32 v2_1 = p0[th_x + bl_x * 2048];
  const f32 v3_1 = v0 + v2_1;
  v0 = v3_1;
  const f32 v4_1 = (-v2_1);
  o1[th_x + bl_x * 2048] = v4_1;
  const f32 v2_2 = p0[th_x + bl_x * 2048 + 1024];
  const f32 v3_2 = v0 + v2_2;
  v0 = v3_2;
  const f32 v4_2 = (-v2_2);
  o1[th_x + bl_x * 2048 + 1024] = v4_2;
  part0[th_x] = v0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 511) {
    const f32 t0 = part0[th_x + 512];
    const f32 v0_1 = v0 + t0;
    v0 = v0_1;
    part0[th_x] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 255) {
    const f32 t2 = part0[th_x + 256];
    const f32 v0_2 = v0 + t2;
    v0 = v0_2;
    part0[th_x] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 127) {
    const f32 t4 = part0[th_x + 128];
    const f32 v0_3 = v0 + t4;
    v0 = v0_3;
    part0[th_x] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 63) {
    const f32 t6 = part0[th_x + 64];
    const f32 v0_4 = v0 + t6;
    v0 = v0_4;
    part0[th_x] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 31) {
    const f32 t8 = part0[th_x + 32];
    const f32 v0_5 = v0 + t8;
    v0 = v0_5;
    part0[th_x] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 15) {
    const f32 t10 = part0[th_x + 16];
    const f32 v0_6 = v0 + t10;
    v0 = v0_6;
    part0[th_x] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 7) {
    const f32 t12 = part0[th_x + 8];
    const f32 v0_7 = v0 + t12;
    v0 = v0_7;
    part0[th_x] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 3) {
    const f32 t14 = part0[th_x + 4];
    const f32 v0_8 = v0 + t14;
    v0 = v0_8;
    part0[th_x] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 1) {
    const f32 t16 = part0[th_x + 2];
    const f32 v0_9 = v0 + t16;
    v0 = v0_9;
    part0[th_x] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 0) {
    const f32 t18 = part0[th_x + 1];
    const f32 v0_10 = v0 + t18;
    v0 = v0_10;
  }
  if (th_x <= 0) {
    const f32 v5 = p1[0];
    const f32 v6 = v5 + v0;
    const f32 v7 = log_f32(v6);
    o0[bl_x] = v7;
  }
}
