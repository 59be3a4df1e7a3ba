// fused: loop emitter, 256 blocks of 128 threads

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

static f32 round_bf16(f32 x) { return decode_bf16(encode_bf16(x)); }

__attribute__((reqd_work_group_size(128, 1, 1))) __kernel void loop_convert(__global const u16 *restrict p0, __global u16 *restrict o0) {
  const s32 i = get_group_id(0) * 128 + get_local_id(0);
  u16x8 y0;
  const u16x8 x1 = ((__global const u16x8 *)p0)[i];
  #pragma unroll
  for (s32 r0 = 0; r0 < 8; ++r0) {
    const f32 v2 = decode_bf16(x1.v[r0]);
    const f32 v3 = (f32)v2;
    const f32 v4 = v3 * 0.5f;
    const f32 v5 = v3 * 0.70710677f;
    const f32 v6 = erf(v5);
    const f32 v7 = v6 + 1.0f;
    const f32 v8 = v4 * v7;
    const f32 v9 = round_bf16(v8);
    y0.v[r0] = encode_bf16(v9);
  }
  ((__global u16x8 *)o0)[i] = y0;
}
