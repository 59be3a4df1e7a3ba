// fused: transpose emitter, 600 blocks of 256 threads

#pragma OPENCL FP_CONTRACT OFF
#define abs_f32 fabs
#define exp_f32 exp
typedef float f32;
typedef int s32;

__kernel void __attribute__((reqd_work_group_size(256, 1, 1))) transpose_transpose(__global const f32 *restrict p0, __global f32 *restrict o0) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __local f32 tile0[1056];
  if ((th_x & 31) + (bl_x % 6) * 32 <= 169) {
    const s32 j1 = (th_x & 31) + (bl_x % 6) * 32;
    const f32 v2_1 = p0[j1 + (th_x >> 5) * 170 + (bl_x / 6) * 5440];
    const f32 v3_1 = exp_f32(v2_1);
    tile0[th_x + (th_x >> 5)] = v3_1;
    const f32 v2_2 = p0[j1 + (th_x >> 5) * 170 + (bl_x / 6) * 5440 + 1360];
    const f32 v3_2 = exp_f32(v2_2);
    tile0[th_x + (th_x >> 5) + 264] = v3_2;
    const f32 v2_3 = p0[j1 + (th_x >> 5) * 170 + (bl_x / 6) * 5440 + 2720];
    const f32 v3_3 = exp_f32(v2_3);
    tile0[th_x + (th_x >> 5) + 528] = v3_3;
    const f32 v2_4 = p0[j1 + (th_x >> 5) * 170 + (bl_x / 6) * 5440 + 4080];
    const f32 v3_4 = exp_f32(v2_4);
    tile0[th_x + (th_x >> 5) + 792] = v3_4;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (s32 r4 = 0; r4 < 4; r4++) {
    if (r4 * 8 + (th_x >> 5) + (bl_x % 6) * 32 <= 169) {
      const s32 j5 = r4 * 8 + (th_x >> 5) + (bl_x % 6) * 32;
      const f32 v6 = tile0[th_x * 33 + r4 * 8 - (th_x >> 5) * 1055];
      const f32 v7 = abs_f32(v6);
      o0[j5 * 160 + (bl_x / 6) * 32 + (bl_x / 30) * 27040 + (th_x & 31)] = v7;
    }
  }
}
