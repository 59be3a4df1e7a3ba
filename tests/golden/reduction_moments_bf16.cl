// fused: reduction emitter, 512 blocks of 256 threads

#pragma OPENCL FP_CONTRACT OFF
typedef float f32;
typedef ushort u16;
typedef uint u32;
#define float_f32 as_float
typedef int s32;
typedef struct __attribute__((aligned(16))) { u16 v[8]; } u16x8;

static f32 decode_bf16(u16 bits) { return float_f32((u32)bits << 16); }

__kernel void __attribute__((reqd_work_group_size(256, 1, 1))) reduction_reduce(__global const u16 *restrict p0, __global f32 *restrict o0, __global f32 *restrict o1) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __local f32 part0[256];
  __local f32 part1[256];
  __attribute__((aligned(16))) u16 x0[8];
  f32 v0 = (-0.0f);
  f32 v1 = (-0.0f);
  #pragma unroll 4
  for (s32 step2 = 0; step2 < 4; step2++) {
    *(__private u16x8 *)(x0) = *(__global const u16x8 *)(p0 + th_x * 8 + bl_x * 8192 + step2 * 256 + (th_x >> 5) * 768);
    #pragma unroll 8
    for (s32 vector_index3 = 0; vector_index3 < 8; vector_index3++) {
      const u16 v4 = x0[vector_index3];
      const f32 v5 = decode_bf16(v4);
      const f32 v6 = v0 + v5;
      v0 = v6;
      const f32 v7 = v5 * v5;
      const f32 v8 = v1 + v7;
      v1 = v8;
    }
  }
  part0[th_x] = v0;
  part1[th_x] = v1;
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 31) <= 15) {
    const f32 t0 = part0[th_x + 16];
    const f32 v0_1 = v0 + t0;
    v0 = v0_1;
    const f32 t2 = part1[th_x + 16];
    const f32 v0_2 = v1 + t2;
    v1 = v0_2;
    part0[th_x] = v0;
    part1[th_x] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 31) <= 7) {
    const f32 t4 = part0[th_x + 8];
    const f32 v0_3 = v0 + t4;
    v0 = v0_3;
    const f32 t6 = part1[th_x + 8];
    const f32 v0_4 = v1 + t6;
    v1 = v0_4;
    part0[th_x] = v0;
    part1[th_x] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 31) <= 3) {
    const f32 t8 = part0[th_x + 4];
    const f32 v0_5 = v0 + t8;
    v0 = v0_5;
    const f32 t10 = part1[th_x + 4];
    const f32 v0_6 = v1 + t10;
    v1 = v0_6;
    part0[th_x] = v0;
    part1[th_x] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 31) <= 1) {
    const f32 t12 = part0[th_x + 2];
    const f32 v0_7 = v0 + t12;
    v0 = v0_7;
    const f32 t14 = part1[th_x + 2];
    const f32 v0_8 = v1 + t14;
    v1 = v0_8;
    part0[th_x] = v0;
    part1[th_x] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 31) <= 0) {
    const f32 t16 = part0[th_x + 1];
    const f32 v0_9 = v0 + t16;
    v0 = v0_9;
    const f32 t18 = part1[th_x + 1];
    const f32 v0_10 = v1 + t18;
    v1 = v0_10;
  }
  if ((th_x & 31) <= 0) {
    const f32 v9 = 0.0f + v0;
    const f32 v10 = 0.0f + v1;
    const f32 v11 = v9 * 0.0009765625f;
    o0[bl_x * 8 + (th_x >> 5)] = v11;
    const f32 v12 = v10 * 0.0009765625f;
    const f32 v13 = v11 * v11;
    const f32 v14 = v12 - v13;
    o1[bl_x * 8 + (th_x >> 5)] = v14;
  }
}
