// fused: transpose emitter, 600 blocks of 128 threads

#pragma OPENCL FP_CONTRACT OFF
#define abs_f32 fabs
#define exp_f32 exp
typedef float f32;
typedef int s32;

__kernel void __attribute__((reqd_work_group_size(128, 1, 1))) transpose_transpose(__global const f32 *restrict p0, __global f32 *restrict o0) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __local f32 tile0[1056];
  if ((th_x & 31) + (bl_x % 6) * 32 <= 169) {
    const s32 j1 = (th_x & 31) + (bl_x % 6) * 32;
    #pragma unroll 8
    for (s32 r0 = 0; r0 < 8; r0++) {
      const f32 v2 = p0[r0 * 680 + j1 + (th_x >> 5) * 170 + (bl_x / 6) * 5440];
      const f32 v3 = exp_f32(v2);
      tile0[th_x + r0 * 132 + (th_x >> 5)] = v3;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  #pragma unroll 8
  for (s32 r4 = 0; r4 < 8; r4++) {
    if (r4 * 4 + (th_x >> 5) + (bl_x % 6) * 32 <= 169) {
      const s32 j5 = r4 * 4 + (th_x >> 5) + (bl_x % 6) * 32;
      const f32 v6 = tile0[th_x * 33 + r4 * 4 - (th_x >> 5) * 1055];
      const f32 v7 = abs_f32(v6);
      o0[j5 * 160 + (bl_x / 6) * 32 + (bl_x / 30) * 27040 + (th_x & 31)] = v7;
    }
  }
}
