// fused: loop emitter, 256 blocks of 128 threads

#pragma OPENCL FP_CONTRACT OFF
typedef float f32;
typedef ushort u16;
typedef uint u32;
#define float_f32 as_float
#define bits_f32 as_uint
#define erf_f32 erf
typedef int s32;
typedef struct __attribute__((aligned(16))) { u16 v[8]; } u16x8;

static f32 decode_bf16(u16 bits) { return float_f32((u32)bits << 16); }

static u16 encode_bf16(f32 x) {
  u32 bits = bits_f32(x);
  return (u16)(x != x ? 0x7fc0u : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

__kernel void __attribute__((reqd_work_group_size(128, 1, 1))) loop_convert(__global const u16 *restrict p0, __global u16 *restrict o0) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __attribute__((aligned(16))) u16 x0[8];
  __attribute__((aligned(16))) u16 x1[8];
  const s32 i = th_x + bl_x * 128;
  *(__private u16x8 *)(x0) = *(__global const u16x8 *)(p0 + i * 8);
  #pragma unroll 8
  for (s32 vector_index0 = 0; vector_index0 < 8; vector_index0++) {
    const u16 v1 = x0[vector_index0];
    const f32 v2 = decode_bf16(v1);
    const f32 v3 = v2 * 0.5f;
    const f32 v4 = v2 * 0.70710677f;
    const f32 v5 = erf_f32(v4);
    const f32 v6 = v5 + 1.0f;
    const f32 v7 = v3 * v6;
    const u16 v8_bits = encode_bf16(v7);
    x1[vector_index0] = v8_bits;
  }
  *(__global u16x8 *)(o0 + i * 8) = *(__private const u16x8 *)(x1);
}
