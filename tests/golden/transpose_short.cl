// fused: transpose emitter, 320 blocks of 256 threads

#pragma OPENCL FP_CONTRACT OFF
typedef uchar u8;
typedef int s32;
typedef struct __attribute__((aligned(4))) { u8 v[4]; } u8x4;

__attribute__((reqd_work_group_size(256, 1, 1))) __kernel void transpose_transpose(__global const u8 *restrict p0, __global u8 *restrict o0) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __local u8 tile0[3072];
  for (s32 r0 = 0; r0 < 3; ++r0) {
    if ((th_x + r0 * 256 + (bl_x % 40) * 768) <= 29999) {
      const s32 j1 = th_x + r0 * 256 + (bl_x % 40) * 768;
      const u8x4 x3 = ((__global const u8x4 *)p0)[j1 + (bl_x / 40) * 30000];
      #pragma unroll
      for (s32 r2 = 0; r2 < 4; ++r2) {
        const u8 v4 = x3.v[r2];
        tile0[th_x * 4 + r0 * 1024 + r2] = v4;
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (s32 r5 = 0; r5 < 3; ++r5) {
    if ((th_x + (bl_x % 40) * 256) <= 9999) {
      const s32 j6 = th_x + (bl_x % 40) * 256;
      u8x4 y9;
      #pragma unroll
      for (s32 r7 = 0; r7 < 4; ++r7) {
        const u8 v8 = tile0[th_x * 12 + r5 + r7 * 3];
        y9.v[r7] = v8;
      }
      ((__global u8x4 *)o0)[r5 * 10000 + j6 + (bl_x / 40) * 30000] = y9;
    }
  }
}
