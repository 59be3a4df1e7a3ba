// fused: concatenate emitter, 256 blocks of 128 threads

#pragma OPENCL FP_CONTRACT OFF
typedef ushort u16;
typedef int s32;
typedef uint u32;
typedef float f32;
typedef struct __attribute__((aligned(16))) { u16 v[8]; } u16x8;

static f32 decode_bf16(u16 bits) { return as_float((u32)bits << 16); }

static u16 encode_bf16(f32 x) {
  u32 bits = as_uint(x);
  return x != x ? (u16)0x7fc0 : (u16)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

__attribute__((reqd_work_group_size(128, 1, 1))) __kernel void concatenate_concatenate(__global const u16 *restrict p0, __global const u16 *restrict p1, __global u16 *restrict o0) {
  const s32 i = get_group_id(0) * 128 + get_local_id(0);
  if ((i & 63) <= 31) {
    const s32 j0 = (i & 63);
    const u16x8 x2 = ((__global const u16x8 *)p0)[j0 + (i >> 6) * 32];
    u16x8 y4;
    #pragma unroll
    for (s32 r1 = 0; r1 < 8; ++r1) {
      y4.v[r1] = x2.v[r1];
    }
    ((__global u16x8 *)o0)[j0 + (i >> 6) * 96] = y4;
  }
  const u16x8 x6 = ((__global const u16x8 *)p1)[i];
  u16x8 y9;
  #pragma unroll
  for (s32 r5 = 0; r5 < 8; ++r5) {
    const f32 v7 = decode_bf16(x6.v[r5]);
    const f32 v8 = -v7;
    y9.v[r5] = encode_bf16(v8);
  }
  ((__global u16x8 *)o0)[i + (i >> 6) * 32 + 32] = y9;
}
