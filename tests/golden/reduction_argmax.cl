// fused: reduction emitter, 50 blocks of 256 threads

#pragma OPENCL FP_CONTRACT OFF
typedef float f32;
typedef int s32;

__kernel void __attribute__((reqd_work_group_size(256, 1, 1))) reduction_reduce(__global const f32 *restrict p0, __global f32 *restrict o0, __global s32 *restrict o1) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __local f32 part0[256];
  __local s32 part1[256];
  f32 v0 = 0.0f;
  s32 v1 = 0;
  const s32 j3_2 = th_x;
  const f32 v4_10 = p0[bl_x * 300 + j3_2];
  const s32 v5_10 = j3_2;
  v0 = v4_10;
  v1 = v5_10;
  if (th_x + 256 <= 299) {
    const s32 j3_1 = th_x + 256;
    const f32 v4_1 = p0[bl_x * 300 + j3_1];
    const s32 v5_1 = j3_1;
    const bool v6_1 = v0 > v4_1;
    const f32 v7_1 = v6_1 ? v0 : v4_1;
    const s32 v8_1 = v6_1 ? v1 : v5_1;
    v0 = v7_1;
    v1 = v8_1;
  }
  part0[th_x] = v0;
  part1[th_x] = v1;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 127) {
    const f32 t0 = part0[th_x + 128];
    const s32 t1 = part1[th_x + 128];
    const bool v0_1 = v1 <= t1;
    const f32 v1_1 = v0_1 ? v0 : t0;
    const f32 v2 = v0_1 ? t0 : v0;
    const bool v3 = v1_1 > v2;
    const f32 v4_2 = v3 ? v1_1 : v2;
    const bool v5_2 = v1_1 > v2;
    const s32 v6_2 = v0_1 ? v1 : t1;
    const s32 v7_2 = v0_1 ? t1 : v1;
    const s32 v8_2 = v5_2 ? v6_2 : v7_2;
    v0 = v4_2;
    v1 = v8_2;
    part0[th_x] = v0;
    part1[th_x] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 63) {
    const f32 t4 = part0[th_x + 64];
    const s32 t5 = part1[th_x + 64];
    const bool v0_2 = v1 <= t5;
    const f32 v1_2 = v0_2 ? v0 : t4;
    const f32 v2_1 = v0_2 ? t4 : v0;
    const bool v3_1 = v1_2 > v2_1;
    const f32 v4_3 = v3_1 ? v1_2 : v2_1;
    const bool v5_3 = v1_2 > v2_1;
    const s32 v6_3 = v0_2 ? v1 : t5;
    const s32 v7_3 = v0_2 ? t5 : v1;
    const s32 v8_3 = v5_3 ? v6_3 : v7_3;
    v0 = v4_3;
    v1 = v8_3;
    part0[th_x] = v0;
    part1[th_x] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 31) {
    const f32 t8 = part0[th_x + 32];
    const s32 t9 = part1[th_x + 32];
    const bool v0_3 = v1 <= t9;
    const f32 v1_3 = v0_3 ? v0 : t8;
    const f32 v2_2 = v0_3 ? t8 : v0;
    const bool v3_2 = v1_3 > v2_2;
    const f32 v4_4 = v3_2 ? v1_3 : v2_2;
    const bool v5_4 = v1_3 > v2_2;
    const s32 v6_4 = v0_3 ? v1 : t9;
    const s32 v7_4 = v0_3 ? t9 : v1;
    const s32 v8_4 = v5_4 ? v6_4 : v7_4;
    v0 = v4_4;
    v1 = v8_4;
    part0[th_x] = v0;
    part1[th_x] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 15) {
    const f32 t12 = part0[th_x + 16];
    const s32 t13 = part1[th_x + 16];
    const bool v0_4 = v1 <= t13;
    const f32 v1_4 = v0_4 ? v0 : t12;
    const f32 v2_3 = v0_4 ? t12 : v0;
    const bool v3_3 = v1_4 > v2_3;
    const f32 v4_5 = v3_3 ? v1_4 : v2_3;
    const bool v5_5 = v1_4 > v2_3;
    const s32 v6_5 = v0_4 ? v1 : t13;
    const s32 v7_5 = v0_4 ? t13 : v1;
    const s32 v8_5 = v5_5 ? v6_5 : v7_5;
    v0 = v4_5;
    v1 = v8_5;
    part0[th_x] = v0;
    part1[th_x] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 7) {
    const f32 t16 = part0[th_x + 8];
    const s32 t17 = part1[th_x + 8];
    const bool v0_5 = v1 <= t17;
    const f32 v1_5 = v0_5 ? v0 : t16;
    const f32 v2_4 = v0_5 ? t16 : v0;
    const bool v3_4 = v1_5 > v2_4;
    const f32 v4_6 = v3_4 ? v1_5 : v2_4;
    const bool v5_6 = v1_5 > v2_4;
    const s32 v6_6 = v0_5 ? v1 : t17;
    const s32 v7_6 = v0_5 ? t17 : v1;
    const s32 v8_6 = v5_6 ? v6_6 : v7_6;
    v0 = v4_6;
    v1 = v8_6;
    part0[th_x] = v0;
    part1[th_x] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 3) {
    const f32 t20 = part0[th_x + 4];
    const s32 t21 = part1[th_x + 4];
    const bool v0_6 = v1 <= t21;
    const f32 v1_6 = v0_6 ? v0 : t20;
    const f32 v2_5 = v0_6 ? t20 : v0;
    const bool v3_5 = v1_6 > v2_5;
    const f32 v4_7 = v3_5 ? v1_6 : v2_5;
    const bool v5_7 = v1_6 > v2_5;
    const s32 v6_7 = v0_6 ? v1 : t21;
    const s32 v7_7 = v0_6 ? t21 : v1;
    const s32 v8_7 = v5_7 ? v6_7 : v7_7;
    v0 = v4_7;
    v1 = v8_7;
    part0[th_x] = v0;
    part1[th_x] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 1) {
    const f32 t24 = part0[th_x + 2];
    const s32 t25 = part1[th_x + 2];
    const bool v0_7 = v1 <= t25;
    const f32 v1_7 = v0_7 ? v0 : t24;
    const f32 v2_6 = v0_7 ? t24 : v0;
    const bool v3_6 = v1_7 > v2_6;
    const f32 v4_8 = v3_6 ? v1_7 : v2_6;
    const bool v5_8 = v1_7 > v2_6;
    const s32 v6_8 = v0_7 ? v1 : t25;
    const s32 v7_8 = v0_7 ? t25 : v1;
    const s32 v8_8 = v5_8 ? v6_8 : v7_8;
    v0 = v4_8;
    v1 = v8_8;
    part0[th_x] = v0;
    part1[th_x] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 0) {
    const f32 t28 = part0[th_x + 1];
    const s32 t29 = part1[th_x + 1];
    const bool v0_8 = v1 <= t29;
    const f32 v1_8 = v0_8 ? v0 : t28;
    const f32 v2_7 = v0_8 ? t28 : v0;
    const bool v3_7 = v1_8 > v2_7;
    const f32 v4_9 = v3_7 ? v1_8 : v2_7;
    const bool v5_9 = v1_8 > v2_7;
    const s32 v6_9 = v0_8 ? v1 : t29;
    const s32 v7_9 = v0_8 ? t29 : v1;
    const s32 v8_9 = v5_9 ? v6_9 : v7_9;
    v0 = v4_9;
    v1 = v8_9;
  }
  if (th_x <= 0) {
    const f32 v10 = v0;
    const s32 v11 = v1;
    o0[bl_x] = v10;
    o1[bl_x] = v11;
  }
}
