// fused: reduction emitter, 128 blocks of 256 threads

#pragma OPENCL FP_CONTRACT OFF
#define abs_f32 fabs
typedef float f32;
typedef ushort u16;
typedef uint u32;
#define float_f32 as_float
#define inf_f32 INFINITY
#define bits_f32 as_uint
typedef int s32;
typedef struct __attribute__((aligned(16))) { u16 v[8]; } u16x8;

static f32 decode_bf16(u16 bits) { return float_f32((u32)bits << 16); }

static f32 maximum_f32(f32 a, f32 b) {
  f32 equal = float_f32(bits_f32(a) & bits_f32(b)), other = a > b || a != a ? a : b;
  return a == b ? equal : other;
}

__kernel void __attribute__((reqd_work_group_size(256, 1, 1))) reduction_reduce(__global const u16 *restrict p0, __global f32 *restrict o0, __global f32 *restrict w0, __global u32 *restrict w1) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __local u32 last1[1];
  __local f32 part0[256];
  __local f32 part1[256];
  __attribute__((aligned(16))) u16 x0[8];
  f32 v0 = (-inf_f32);
  #pragma unroll 4
  for (s32 step2 = 0; step2 < 5; step2++) {
    const s32 j3 = th_x + bl_x * 256 + step2 * 32768;
    if (j3 * 8 + 7 <= 1500000) {
      *(__private u16x8 *)(x0) = *(__global const u16x8 *)(p0 + j3 * 8);
      #pragma unroll 8
      for (s32 vector_index4 = 0; vector_index4 < 8; vector_index4++) {
        const u16 v5 = x0[vector_index4];
        const f32 v6 = decode_bf16(v5);
        const f32 v7 = abs_f32(v6);
        const f32 v8 = maximum_f32(v0, v7);
        v0 = v8;
      }
    } else {
      #pragma unroll 7
      for (s32 vector_1 = 0; vector_1 < 7; vector_1++) {
        if (j3 * 8 + vector_1 <= 1500000) {
          const u16 v5_1 = p0[j3 * 8 + vector_1];
          const f32 v6_1 = decode_bf16(v5_1);
          const f32 v7_1 = abs_f32(v6_1);
          const f32 v8_1 = maximum_f32(v0, v7_1);
          v0 = v8_1;
        }
      }
    }
  }
  if (th_x + bl_x * 256 + 163840 <= 187500) {
    const s32 j3_1 = th_x + bl_x * 256 + 163840;
    if (j3_1 * 8 + 7 <= 1500000) {
      __attribute__((aligned(16))) u16 x1[8];
      *(__private u16x8 *)(x1) = *(__global const u16x8 *)(p0 + j3_1 * 8);
      #pragma unroll 8
      for (s32 vector_2 = 0; vector_2 < 8; vector_2++) {
        const u16 v5_2 = x1[vector_2];
        const f32 v6_2 = decode_bf16(v5_2);
        const f32 v7_2 = abs_f32(v6_2);
        const f32 v8_2 = maximum_f32(v0, v7_2);
        v0 = v8_2;
      }
    } else {
      #pragma unroll 7
      for (s32 vector_3 = 0; vector_3 < 7; vector_3++) {
        if (j3_1 * 8 + vector_3 <= 1500000) {
          const u16 v5_3 = p0[j3_1 * 8 + vector_3];
          const f32 v6_3 = decode_bf16(v5_3);
          const f32 v7_3 = abs_f32(v6_3);
          const f32 v8_3 = maximum_f32(v0, v7_3);
          v0 = v8_3;
        }
      }
    }
  }
  part1[th_x] = v0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 127) {
    const f32 t14 = part1[th_x + 128];
    const f32 v0_1 = maximum_f32(v0, t14);
    v0 = v0_1;
    part1[th_x] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 63) {
    const f32 t16 = part1[th_x + 64];
    const f32 v0_2 = maximum_f32(v0, t16);
    v0 = v0_2;
    part1[th_x] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 31) {
    const f32 t18 = part1[th_x + 32];
    const f32 v0_3 = maximum_f32(v0, t18);
    v0 = v0_3;
    part1[th_x] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 15) {
    const f32 t20 = part1[th_x + 16];
    const f32 v0_4 = maximum_f32(v0, t20);
    v0 = v0_4;
    part1[th_x] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 7) {
    const f32 t22 = part1[th_x + 8];
    const f32 v0_5 = maximum_f32(v0, t22);
    v0 = v0_5;
    part1[th_x] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 3) {
    const f32 t24 = part1[th_x + 4];
    const f32 v0_6 = maximum_f32(v0, t24);
    v0 = v0_6;
    part1[th_x] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 1) {
    const f32 t26 = part1[th_x + 2];
    const f32 v0_7 = maximum_f32(v0, t26);
    v0 = v0_7;
    part1[th_x] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 0) {
    const f32 t28 = part1[th_x + 1];
    const f32 v0_8 = maximum_f32(v0, t28);
    v0 = v0_8;
  }
  if (th_x <= 0) {
    w0[bl_x] = v0;
  }
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x <= 0) {
    const u32 arrived9 = atomic_add(w1, 1u);
    last1[0] = arrived9;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (last1[0] == 127u) {
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    if (th_x <= 0) {
      w1[0] = 0u;
    }
    v0 = (-inf_f32);
    if (th_x <= 127) {
      const s32 j10 = th_x;
      const f32 v11 = w0[j10];
      const f32 v12 = maximum_f32(v0, v11);
      v0 = v12;
    }
    part0[th_x] = v0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if ((th_x & 127) <= 63) {
      const f32 t0 = part0[th_x + 64];
      const f32 v0_9 = maximum_f32(v0, t0);
      v0 = v0_9;
      part0[th_x] = v0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if ((th_x & 127) <= 31) {
      const f32 t2 = part0[th_x + 32];
      const f32 v0_10 = maximum_f32(v0, t2);
      v0 = v0_10;
      part0[th_x] = v0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if ((th_x & 127) <= 15) {
      const f32 t4 = part0[th_x + 16];
      const f32 v0_11 = maximum_f32(v0, t4);
      v0 = v0_11;
      part0[th_x] = v0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if ((th_x & 127) <= 7) {
      const f32 t6 = part0[th_x + 8];
      const f32 v0_12 = maximum_f32(v0, t6);
      v0 = v0_12;
      part0[th_x] = v0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if ((th_x & 127) <= 3) {
      const f32 t8 = part0[th_x + 4];
      const f32 v0_13 = maximum_f32(v0, t8);
      v0 = v0_13;
      part0[th_x] = v0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if ((th_x & 127) <= 1) {
      const f32 t10 = part0[th_x + 2];
      const f32 v0_14 = maximum_f32(v0, t10);
      v0 = v0_14;
      part0[th_x] = v0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if ((th_x & 127) <= 0) {
      const f32 t12 = part0[th_x + 1];
      const f32 v0_15 = maximum_f32(v0, t12);
      v0 = v0_15;
    }
    if (th_x <= 0) {
      const f32 v13 = maximum_f32(0.0f, v0);
      o0[0] = v13;
    }
  }
}
