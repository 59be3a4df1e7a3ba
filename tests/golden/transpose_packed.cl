// fused: transpose emitter, 16 blocks of 256 threads

#pragma OPENCL FP_CONTRACT OFF
typedef ushort u16;
typedef int s32;
typedef uint u32;
typedef struct __attribute__((aligned(4))) { u16 v[2]; } u16x2;

__attribute__((reqd_work_group_size(256, 1, 1))) __kernel void transpose_transpose(__global const u16 *restrict p0, __global u16 *restrict o0) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __local u32 tile0[2112];
  for (s32 r0 = 0; r0 < 4; ++r0) {
    u32 square0[2] = {0, 0};
    #pragma unroll
    for (s32 r1 = 0; r1 < 2; ++r1) {
      if ((r0 * 16 + r1 + (th_x >> 6) * 4 + ((th_x >> 4) & 1) * 2) <= 29) {
        const s32 j2 = r0 * 16 + r1 + (th_x >> 6) * 4 + ((th_x >> 4) & 1) * 2;
        if (((th_x & 15) + ((th_x >> 5) & 1) * 16) <= 14) {
          const s32 j3 = (th_x & 15) + ((th_x >> 5) & 1) * 16;
          const u16x2 x5 = ((__global const u16x2 *)p0)[bl_x * 15 + j2 * 240 + j3];
          #pragma unroll
          for (s32 r4 = 0; r4 < 2; ++r4) {
            square0[r4] |= (u32)(u16)(x5.v[r4]) << (r1 * 16);
          }
        }
      }
    }
    #pragma unroll
    for (s32 r7 = 0; r7 < 2; ++r7) {
      tile0[th_x * 66 + r0 * 8 + r7 * 33 + (th_x >> 5) * 1054 - (th_x >> 4) * 1055 - (th_x >> 6) * 2110] = square0[r7];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (s32 r8 = 0; r8 < 8; ++r8) {
    if ((r8 * 8 + (th_x >> 5)) <= 29) {
      const s32 j9 = r8 * 8 + (th_x >> 5);
      if ((th_x & 31) <= 14) {
        const s32 j10 = (th_x & 31);
        u16x2 y13;
        #pragma unroll
        for (s32 r11 = 0; r11 < 2; ++r11) {
          y13.v[r11] = (u16)(tile0[th_x + r8 * 264 + (th_x >> 5)] >> (r11 * 16));
        }
        ((__global u16x2 *)o0)[bl_x * 15 + j9 * 240 + j10] = y13;
      }
    }
  }
}
