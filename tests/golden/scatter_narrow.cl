// fused: scatter emitter, 22 blocks of 128 threads

#pragma OPENCL FP_CONTRACT OFF
typedef int s32;
typedef float f32;
typedef ushort u16;
typedef uint u32;
#define float_f32 as_float
#define bits_f32 as_uint
typedef long s64;

static s32 clamp_s32(s32 low, s32 x, s32 high) { s32 y = x < low ? low : x; return y > high ? high : y; }

static f32 decode_bf16(u16 bits) { return float_f32((u32)bits << 16); }

static u16 encode_bf16(f32 x) {
  u32 bits = bits_f32(x);
  return (u16)(x != x ? 0x7fc0u : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

// add
static f32 combine0(f32 a0, f32 b0) {
  const f32 v0 = a0 + b0;
  return v0;
}

__kernel void __attribute__((reqd_work_group_size(128, 1, 1))) scatter_scatter(__global u16 *p0, __global const s32 *restrict p1, __global const u16 *restrict p2) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __global u16 *const o0 = (__global u16 *)p0;
  if (th_x + bl_x * 128 <= 2799) {
    const s32 i = th_x + bl_x * 128;
    const s32 v0 = p1[i / 70];
    const s32 j1 = clamp_s32(0, v0, 11);
    const bool v2 = ((v0 >= 0) & (v0 <= 11));
    if (v2) {
      const u16 v3 = p2[i];
      const f32 v4 = decode_bf16(v3);
      const s64 place_5 = j1 * 70 + i % 70;
      const f32 given_6 = v4;
      __global u32 *at_1 = (__global u32 *)o0 + place_5 / 2;
      u32 old_2 = *(__global volatile u32 *)at_1, seen_3;
      do {
        seen_3 = old_2;
        const u16 stored_7 = (u16)((seen_3 >> ((s32)(place_5 % 2) * 16)));
        const f32 now_4 = combine0(decode_bf16(stored_7), given_6);
        old_2 = atomic_cmpxchg(at_1, seen_3, (seen_3 & ~(65535u << ((s32)(place_5 % 2) * 16))) | ((u32)((u16)encode_bf16(now_4)) << ((s32)(place_5 % 2) * 16)));
      } while (old_2 != seen_3);
    }
  }
}
