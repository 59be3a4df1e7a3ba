// fused: reduction emitter, 512 blocks of 256 threads

#pragma OPENCL FP_CONTRACT OFF
typedef ushort u16;
typedef int s32;
typedef uint u32;
typedef float f32;
typedef struct __attribute__((aligned(16))) { u16 v[8]; } u16x8;

static f32 decode_bf16(u16 bits) { return as_float((u32)bits << 16); }

__attribute__((reqd_work_group_size(256, 1, 1))) __kernel void reduction_reduce(__global const u16 *restrict p0, __global f32 *restrict o0, __global f32 *restrict o1) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __local f32 part21[256];
  __local f32 part10[256];
  f32 v0 = (-0.0f);
  f32 v1 = (-0.0f);
  #pragma unroll 4
  for (s32 r2 = 0; r2 < 4; ++r2) {
    const u16x8 x4 = ((__global const u16x8 *)p0)[th_x + bl_x * 1024 + r2 * 32 + (th_x >> 5) * 96];
    #pragma unroll
    for (s32 r3 = 0; r3 < 8; ++r3) {
      const f32 v5 = decode_bf16(x4.v[r3]);
      const f32 v6 = (f32)v5;
      const f32 v7 = v0 + v6;
      v0 = v7;
      const f32 v8 = v6 * v6;
      const f32 v9 = v1 + v8;
      v1 = v9;
    }
  }
  part10[get_local_id(0)] = v0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 31) < 16) {
    const f32 v11 = part10[get_local_id(0) + 16];
    const f32 v12 = v0 + v11;
    v0 = v12;
    part10[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 31) < 8) {
    const f32 v13 = part10[get_local_id(0) + 8];
    const f32 v14 = v0 + v13;
    v0 = v14;
    part10[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 31) < 4) {
    const f32 v15 = part10[get_local_id(0) + 4];
    const f32 v16 = v0 + v15;
    v0 = v16;
    part10[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 31) < 2) {
    const f32 v17 = part10[get_local_id(0) + 2];
    const f32 v18 = v0 + v17;
    v0 = v18;
    part10[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 31) < 1) {
    const f32 v19 = part10[get_local_id(0) + 1];
    const f32 v20 = v0 + v19;
    v0 = v20;
  }
  part21[get_local_id(0)] = v1;
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 31) < 16) {
    const f32 v22 = part21[get_local_id(0) + 16];
    const f32 v23 = v1 + v22;
    v1 = v23;
    part21[get_local_id(0)] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 31) < 8) {
    const f32 v24 = part21[get_local_id(0) + 8];
    const f32 v25 = v1 + v24;
    v1 = v25;
    part21[get_local_id(0)] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 31) < 4) {
    const f32 v26 = part21[get_local_id(0) + 4];
    const f32 v27 = v1 + v26;
    v1 = v27;
    part21[get_local_id(0)] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 31) < 2) {
    const f32 v28 = part21[get_local_id(0) + 2];
    const f32 v29 = v1 + v28;
    v1 = v29;
    part21[get_local_id(0)] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 31) < 1) {
    const f32 v30 = part21[get_local_id(0) + 1];
    const f32 v31 = v1 + v30;
    v1 = v31;
  }
  if ((th_x & 31) == 0) {
    const f32 v32 = 0.0f + v0;
    const f32 v33 = v32;
    const f32 v34 = 0.0f + v1;
    const f32 v35 = v34;
    const f32 v36 = v33 * 0.0009765625f;
    o0[bl_x * 8 + (th_x >> 5)] = v36;
    const f32 v37 = v35 * 0.0009765625f;
    const f32 v38 = v36 * v36;
    const f32 v39 = v37 - v38;
    o1[bl_x * 8 + (th_x >> 5)] = v39;
  }
}
