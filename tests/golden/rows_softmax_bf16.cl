// fused: rows emitter, 512 blocks of 256 threads

#pragma OPENCL FP_CONTRACT OFF
typedef float f32;
typedef ushort u16;
#define float_f32 as_float
typedef uint u32;
#define bits_f32 as_uint
#define exp_f32 exp
#define inf_f32 INFINITY
typedef int s32;
typedef struct __attribute__((aligned(16))) { u16 v[8]; } u16x8;

static f32 decode_bf16(u16 bits) { return float_f32((u32)bits << 16); }

static u16 encode_bf16(f32 x) {
  u32 bits = bits_f32(x);
  return (u16)(x != x ? 0x7fc0u : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

static f32 maximum_f32(f32 a, f32 b) {
  f32 equal = float_f32(bits_f32(a) & bits_f32(b)), other = a > b || a != a ? a : b;
  return a == b ? equal : other;
}

__kernel void __attribute__((reqd_work_group_size(256, 1, 1))) rows_reduce(__global const u16 *restrict p0, __global u16 *restrict o0) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __local f32 part0[256];
  __local f32 part1[256];
  f32 kept0[32];
  u16 kept1[32];
  __attribute__((aligned(16))) u16 x0[8];
  __attribute__((aligned(16))) u16 x1[8];
  f32 v2 = (-inf_f32);
  #pragma unroll 4
  for (s32 step3 = 0; step3 < 4; step3++) {
    *(__private u16x8 *)(x0) = *(__global const u16x8 *)(p0 + (th_x * 8 + bl_x * 8192 + step3 * 256 + (th_x >> 5) * 768));
    #pragma unroll 8
    for (s32 vector_index4 = 0; vector_index4 < 8; vector_index4++) {
      const u16 v5 = x0[vector_index4];
      const f32 v6 = decode_bf16(v5);
      const f32 v7 = maximum_f32(v2, v6);
      v2 = v7;
      kept1[step3 * 8 + vector_index4] = v5;
    }
  }
  part0[th_x] = v2;
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 31) <= 1) {
    const f32 t0 = part0[th_x + 2];
    const f32 v0 = maximum_f32(v2, t0);
    v2 = v0;
    const f32 t2 = part0[th_x + 4];
    const f32 v0_1 = maximum_f32(v2, t2);
    v2 = v0_1;
    const f32 t4 = part0[th_x + 6];
    const f32 v0_2 = maximum_f32(v2, t4);
    v2 = v0_2;
    const f32 t6 = part0[th_x + 8];
    const f32 v0_3 = maximum_f32(v2, t6);
    v2 = v0_3;
    const f32 t8 = part0[th_x + 10];
    const f32 v0_4 = maximum_f32(v2, t8);
    v2 = v0_4;
    const f32 t10 = part0[th_x + 12];
    const f32 v0_5 = maximum_f32(v2, t10);
    v2 = v0_5;
    const f32 t12 = part0[th_x + 14];
    const f32 v0_6 = maximum_f32(v2, t12);
    v2 = v0_6;
    const f32 t14 = part0[th_x + 16];
    const f32 v0_7 = maximum_f32(v2, t14);
    v2 = v0_7;
    const f32 t16 = part0[th_x + 18];
    const f32 v0_8 = maximum_f32(v2, t16);
    v2 = v0_8;
    const f32 t18 = part0[th_x + 20];
    const f32 v0_9 = maximum_f32(v2, t18);
    v2 = v0_9;
    const f32 t20 = part0[th_x + 22];
    const f32 v0_10 = maximum_f32(v2, t20);
    v2 = v0_10;
    const f32 t22 = part0[th_x + 24];
    const f32 v0_11 = maximum_f32(v2, t22);
    v2 = v0_11;
    const f32 t24 = part0[th_x + 26];
    const f32 v0_12 = maximum_f32(v2, t24);
    v2 = v0_12;
    const f32 t26 = part0[th_x + 28];
    const f32 v0_13 = maximum_f32(v2, t26);
    v2 = v0_13;
    const f32 t28 = part0[th_x + 30];
    const f32 v0_14 = maximum_f32(v2, t28);
    v2 = v0_14;
    part0[th_x] = v2;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 31) <= 0) {
    const f32 t30 = part0[th_x + 1];
    const f32 v0_15 = maximum_f32(v2, t30);
    v2 = v0_15;
    part0[th_x] = v2;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  v2 = part0[(th_x >> 5) * 32];
  const f32 v8 = v2;
  f32 v9 = (-0.0f);
  #pragma unroll 4
  for (s32 step10 = 0; step10 < 4; step10++) {
    #pragma unroll 8
    for (s32 vector_index11 = 0; vector_index11 < 8; vector_index11++) {
      const u16 v12 = kept1[step10 * 8 + vector_index11];
      const f32 v13 = decode_bf16(v12);
      const f32 v14 = v13 - v8;
      const f32 v15 = exp_f32(v14);
      const f32 v16 = v9 + v15;
      v9 = v16;
      kept0[step10 * 8 + vector_index11] = v15;
    }
  }
  part1[th_x] = v9;
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 31) <= 1) {
    const f32 t32 = part1[th_x + 2];
    const f32 v0_16 = v9 + t32;
    v9 = v0_16;
    const f32 t34 = part1[th_x + 4];
    const f32 v0_17 = v9 + t34;
    v9 = v0_17;
    const f32 t36 = part1[th_x + 6];
    const f32 v0_18 = v9 + t36;
    v9 = v0_18;
    const f32 t38 = part1[th_x + 8];
    const f32 v0_19 = v9 + t38;
    v9 = v0_19;
    const f32 t40 = part1[th_x + 10];
    const f32 v0_20 = v9 + t40;
    v9 = v0_20;
    const f32 t42 = part1[th_x + 12];
    const f32 v0_21 = v9 + t42;
    v9 = v0_21;
    const f32 t44 = part1[th_x + 14];
    const f32 v0_22 = v9 + t44;
    v9 = v0_22;
    const f32 t46 = part1[th_x + 16];
    const f32 v0_23 = v9 + t46;
    v9 = v0_23;
    const f32 t48 = part1[th_x + 18];
    const f32 v0_24 = v9 + t48;
    v9 = v0_24;
    const f32 t50 = part1[th_x + 20];
    const f32 v0_25 = v9 + t50;
    v9 = v0_25;
    const f32 t52 = part1[th_x + 22];
    const f32 v0_26 = v9 + t52;
    v9 = v0_26;
    const f32 t54 = part1[th_x + 24];
    const f32 v0_27 = v9 + t54;
    v9 = v0_27;
    const f32 t56 = part1[th_x + 26];
    const f32 v0_28 = v9 + t56;
    v9 = v0_28;
    const f32 t58 = part1[th_x + 28];
    const f32 v0_29 = v9 + t58;
    v9 = v0_29;
    const f32 t60 = part1[th_x + 30];
    const f32 v0_30 = v9 + t60;
    v9 = v0_30;
    part1[th_x] = v9;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((th_x & 31) <= 0) {
    const f32 t62 = part1[th_x + 1];
    const f32 v0_31 = v9 + t62;
    v9 = v0_31;
    part1[th_x] = v9;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  v9 = part1[(th_x >> 5) * 32];
  const f32 v17 = 0.0f + v9;
  #pragma unroll 4
  for (s32 step18 = 0; step18 < 4; step18++) {
    #pragma unroll 8
    for (s32 vector_index19 = 0; vector_index19 < 8; vector_index19++) {
      const f32 v20 = kept0[step18 * 8 + vector_index19];
      const f32 v21 = v20 / v17;
      const u16 v22_bits = encode_bf16(v21);
      x1[vector_index19] = v22_bits;
    }
    *(__global u16x8 *)(o0 + (th_x * 8 + bl_x * 8192 + step18 * 256 + (th_x >> 5) * 768)) = *(__private const u16x8 *)(x1);
  }
}
