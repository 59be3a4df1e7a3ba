// fused: transpose emitter, 320 blocks of 256 threads

#pragma OPENCL FP_CONTRACT OFF
typedef int s32;
typedef uchar u8;
typedef struct __attribute__((aligned(4))) { u8 v[4]; } u8x4;

__kernel void __attribute__((reqd_work_group_size(256, 1, 1))) transpose_transpose(__global const u8 *restrict p0, __global u8 *restrict o0) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __local u8 tile0[3072];
  __attribute__((aligned(16))) u8 x0[4];
  for (s32 r0 = 0; r0 < 3; r0++) {
    if (th_x + r0 * 256 + (bl_x % 40) * 768 <= 29999) {
      const s32 j1 = th_x + r0 * 256 + (bl_x % 40) * 768;
      *(__private u8x4 *)(x0) = *(__global const u8x4 *)(p0 + j1 * 4 + (bl_x / 40) * 120000);
      #pragma unroll 4
      for (s32 vector_index2 = 0; vector_index2 < 4; vector_index2++) {
        const u8 v3 = x0[vector_index2];
        tile0[th_x * 4 + r0 * 1024 + vector_index2] = v3;
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x + (bl_x % 40) * 256 <= 9999) {
    __attribute__((aligned(16))) u8 x1[4];
    const s32 j5 = th_x + (bl_x % 40) * 256;
    for (s32 r4 = 0; r4 < 3; r4++) {
      #pragma unroll 4
      for (s32 vector_index6 = 0; vector_index6 < 4; vector_index6++) {
        const u8 v7 = tile0[th_x * 12 + r4 + vector_index6 * 3];
        x1[vector_index6] = v7;
      }
      *(__global u8x4 *)(o0 + r4 * 40000 + j5 * 4 + (bl_x / 40) * 120000) = *(__private const u8x4 *)(x1);
    }
  }
}
