// fused: reduction emitter, 286 blocks of 256 threads

#pragma OPENCL FP_CONTRACT OFF
typedef int s32;
typedef uint u32;
typedef float f32;

__attribute__((reqd_work_group_size(256, 1, 1))) __kernel void reduction_reduce(__global const f32 *restrict p0, __global f32 *restrict o0, __global f32 *w0, __global u32 *w1) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __local u32 last15;
  __local f32 part8[256];
  f32 v0 = (-0.0f);
  if (((th_x & 31) + ((bl_x >> 1) % 11) * 32) <= 320) {
    const s32 j1 = (th_x & 31) + ((bl_x >> 1) % 11) * 32;
    #pragma unroll 4
    for (s32 r2 = 0; r2 < 65; ++r2) {
      const f32 v3 = p0[j1 + r2 * 5136 + (th_x >> 5) * 321 + (bl_x / 22) * 337371 + (bl_x & 1) * 2568];
      const f32 v4 = v0 + v3;
      v0 = v4;
    }
    if (((th_x >> 5) + (bl_x & 1) * 8 + 1040) <= 1050) {
      const s32 j5 = (th_x >> 5) + (bl_x & 1) * 8 + 1040;
      const f32 v6 = p0[j1 + j5 * 321 + (bl_x / 22) * 337371];
      const f32 v7 = v0 + v6;
      v0 = v7;
    }
  }
  part8[get_local_id(0)] = v0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x >> 5 < 4) {
    const f32 v9 = part8[get_local_id(0) + 128];
    const f32 v10 = v0 + v9;
    v0 = v10;
    part8[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x >> 5 < 2) {
    const f32 v11 = part8[get_local_id(0) + 64];
    const f32 v12 = v0 + v11;
    v0 = v12;
    part8[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x >> 5 < 1) {
    const f32 v13 = part8[get_local_id(0) + 32];
    const f32 v14 = v0 + v13;
    v0 = v14;
  }
  if (th_x >> 5 == 0) {
    w0[bl_x * 32 + (th_x & 31)] = v0;
  }
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    last15 = atomic_add(&w1[bl_x >> 1], 1u);
    if (last15 == 1) w1[bl_x >> 1] = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (last15 == 1) {
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    v0 = (-0.0f);
    if (th_x >> 5 < 2) {
      const s32 q16 = th_x >> 5;
      const f32 v17 = w0[q16 * 32 + (bl_x >> 1) * 64 + (th_x & 31)];
      const f32 v18 = v0 + v17;
      v0 = v18;
    }
    part8[get_local_id(0)] = v0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (th_x >> 5 < 1) {
      const f32 v19 = part8[get_local_id(0) + 32];
      const f32 v20 = v0 + v19;
      v0 = v20;
    }
    if (th_x >> 5 == 0 && ((th_x & 31) + ((bl_x >> 1) % 11) * 32) <= 320) {
      const s32 j21 = (th_x & 31) + ((bl_x >> 1) % 11) * 32;
      const f32 v22 = 0.0f + v0;
      const f32 v23 = v22;
      o0[j21 + (bl_x / 22) * 321] = v23;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
