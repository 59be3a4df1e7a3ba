// fused: scatter emitter, 22 blocks of 128 threads

#pragma OPENCL FP_CONTRACT OFF
typedef ushort u16;
typedef int s32;
typedef uint u32;
typedef long s64;
typedef float f32;

static f32 decode_bf16(u16 bits) { return as_float((u32)bits << 16); }

static u16 encode_bf16(f32 x) {
  u32 bits = as_uint(x);
  return x != x ? (u16)0x7fc0 : (u16)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

static f32 round_bf16(f32 x) { return decode_bf16(encode_bf16(x)); }

__attribute__((reqd_work_group_size(128, 1, 1))) __kernel void scatter_scatter(__global u16 *o0, __global const s32 *restrict p1, __global const u16 *restrict p2) {
  const s32 i = get_group_id(0) * 128 + get_local_id(0);
  if (i >= 2800) return;
  const s32 v0 = p1[i / 70];
  const s32 j1 = (s32)v0;
  if (v0 >= 0 && v0 <= 11) {
    const f32 v2 = decode_bf16(p2[i]);
    const s64 place6 = j1 * 70 + i % 70;
    __global volatile u32 *at3 = (__global volatile u32 *)o0 + place6 / 2;
    u32 old4 = *at3, seen5;
    do {
      seen5 = old4;
      const f32 v7 = decode_bf16((u16)((seen5 >> ((s32)(place6 % 2) * 16))));
      const f32 v8 = round_bf16(v7 + v2);
      old4 = atomic_cmpxchg(at3, seen5, (seen5 & ~(65535u << ((s32)(place6 % 2) * 16))) | ((u32)((u16)(encode_bf16(v8))) << ((s32)(place6 % 2) * 16)));
    } while (old4 != seen5);
  }
}
