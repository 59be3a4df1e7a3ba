// fused: loop emitter, 12 blocks of 128 threads

#pragma OPENCL FP_CONTRACT OFF
typedef int s32;
typedef float f32;
typedef struct __attribute__((aligned(8))) { s32 v[2]; } s32x2;

static s32 clamp_s32(s32 low, s32 x, s32 high) { s32 y = x < low ? low : x; return y > high ? high : y; }

static bool within_s32(s32 x, s32 low, s32 high) { return low <= x && x <= high; }

__kernel void __attribute__((reqd_work_group_size(128, 1, 1))) loop_pad(__global const f32 *restrict p0, __global const s32 *restrict p1, __global const f32 *restrict p2, __global f32 *restrict o0) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  if (th_x + bl_x * 128 <= 1427) {
    const s32 i = th_x + bl_x * 128;
    const f32 v0 = p2[0];
    f32 v1 = v0;
    if (within_s32(i / 119, 1, 10) && within_s32(i % 17, 1, 15) && ((i % 17) & 1) >= 1) {
      __attribute__((aligned(16))) s32 x0[2];
      *(__private s32x2 *)(x0) = *(__global const s32x2 *)(p1 + ((i / 119) * 2 - 2));
      const s32 j3 = ((i % 17 + 1) >> 1) - 1;
      const s32 v4 = x0[0];
      const s32 j5 = clamp_s32(0, v4, 26);
      const s32 v6 = x0[1];
      const s32 j7 = clamp_s32(0, v6, 68);
      const f32 v8 = p0[j3 + j5 * 76 + j7 + ((i / 17) % 7) * 76];
      v1 = v8;
    }
    o0[i] = v1;
  }
}
