// fused: concatenate emitter, 256 blocks of 128 threads

#pragma OPENCL FP_CONTRACT OFF
typedef float f32;
typedef ushort u16;
typedef uint u32;
#define float_f32 as_float
#define bits_f32 as_uint
typedef int s32;
typedef struct __attribute__((aligned(16))) { u16 v[8]; } u16x8;

static f32 decode_bf16(u16 bits) { return float_f32((u32)bits << 16); }

static u16 encode_bf16(f32 x) {
  u32 bits = bits_f32(x);
  return (u16)(x != x ? 0x7fc0u : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

__kernel void __attribute__((reqd_work_group_size(128, 1, 1))) concatenate_concatenate(__global const u16 *restrict p0, __global const u16 *restrict p1, __global u16 *restrict o0) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __attribute__((aligned(16))) u16 x2[8];
  __attribute__((aligned(16))) u16 x3[8];
  const s32 i = th_x + bl_x * 128;
  if ((i & 63) <= 31) {
    __attribute__((aligned(16))) u16 x0[8];
    __attribute__((aligned(16))) u16 x1[8];
    const s32 j0 = (i & 63);
    *(__private u16x8 *)(x0) = *(__global const u16x8 *)(p0 + j0 * 8 + (i >> 6) * 256);
    #pragma unroll 8
    for (s32 vector_index1 = 0; vector_index1 < 8; vector_index1++) {
      const u16 v2 = x0[vector_index1];
      x1[vector_index1] = v2;
    }
    *(__global u16x8 *)(o0 + j0 * 8 + (i >> 6) * 768) = *(__private const u16x8 *)(x1);
  }
  *(__private u16x8 *)(x2) = *(__global const u16x8 *)(p1 + i * 8);
  #pragma unroll 8
  for (s32 vector_index4 = 0; vector_index4 < 8; vector_index4++) {
    const u16 v5 = x2[vector_index4];
    const f32 v6 = decode_bf16(v5);
    const f32 v7 = (-v6);
    x3[vector_index4] = encode_bf16(v7);
  }
  *(__global u16x8 *)(o0 + i * 8 + (i >> 6) * 256 + 256) = *(__private const u16x8 *)(x3);
}
