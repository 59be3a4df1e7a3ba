// fused: scatter emitter, 22 blocks of 128 threads

#pragma OPENCL FP_CONTRACT OFF
#define bits_f32 as_uint
typedef int s32;
typedef float f32;
#define float_f32 as_float
typedef uint u32;

static s32 clamp_s32(s32 low, s32 x, s32 high) { s32 y = x < low ? low : x; return y > high ? high : y; }

// add
static f32 combine0(f32 a0, f32 b0) {
  const f32 v0 = a0 + b0;
  return v0;
}

__kernel void __attribute__((reqd_work_group_size(128, 1, 1))) scatter_scatter(__global f32 *p0, __global const s32 *restrict p1, __global const f32 *restrict p2) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __global f32 *const o0 = (__global f32 *)p0;
  if (th_x + bl_x * 128 <= 2799) {
    const s32 i = th_x + bl_x * 128;
    const s32 v0 = p1[i / 70];
    const s32 j1 = clamp_s32(0, v0, 11);
    const bool v2 = (u32)v0 <= 11u;
    if (v2) {
      const f32 v3 = p2[i];
      const f32 given_5 = v3;
      __global u32 *at_1 = (__global u32 *)o0 + (j1 * 70 + i % 70);
      u32 old_2 = *(__global volatile u32 *)at_1, seen_3;
      do {
        seen_3 = old_2;
        const f32 stored_6 = float_f32(seen_3);
        const f32 now_4 = combine0(stored_6, given_5);
        old_2 = atomic_cmpxchg(at_1, seen_3, bits_f32(now_4));
      } while (old_2 != seen_3);
    }
  }
}
