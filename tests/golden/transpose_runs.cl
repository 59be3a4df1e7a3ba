// fused: transpose emitter, 30 blocks of 128 threads

#pragma OPENCL FP_CONTRACT OFF
typedef int s32;
typedef char s8;
typedef struct __attribute__((aligned(2))) { s8 v[2]; } s8x2;
typedef struct __attribute__((aligned(4))) { s8 v[4]; } s8x4;

static s32 floor_div_s32(s32 a, s32 b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static s32 floor_mod_s32(s32 a, s32 b) {
  s32 m = b < 0 ? -b : b, r = a % m;
  return r < 0 ? r + m : r;
}

__kernel void __attribute__((reqd_work_group_size(128, 1, 1))) transpose_transpose(__global const s8 *restrict p0, __global s8 *restrict o0) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __local s8 tile0[3168];
  __attribute__((aligned(16))) s8 x0[2];
  __attribute__((aligned(16))) s8 x1[4];
  #pragma unroll 4
  for (s32 r0 = 0; r0 < 12; r0++) {
    if ((bl_x % 6) * 48 + floor_mod_s32(th_x - r0 * 16, 48) <= 254) {
      const s32 j1 = (bl_x % 6) * 48 + floor_mod_s32(th_x - r0 * 16, 48);
      *(__private s8x2 *)(x0) = *(__global const s8x2 *)(p0 + j1 * 2 + (bl_x / 6) * 16320 + ((th_x + r0 * 128) / 48) * 510);
      const s8 v3_1 = x0[0];
      tile0[th_x * 2 + r0 * 256 + ((th_x + r0 * 128) / 48) * 3] = v3_1;
      const s8 v3_2 = x0[1];
      tile0[th_x * 2 + r0 * 256 + ((th_x + r0 * 128) / 48) * 3 + 1] = v3_2;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (s32 r4 = 0; r4 < 6; r4++) {
    if ((th_x + r4 * 128) / 24 + (bl_x % 6) * 32 <= 169) {
      const s32 j5 = (th_x + r4 * 128) / 24 + (bl_x % 6) * 32;
      const s8 v7_1 = tile0[th_x * 100 + r4 * 1103 + floor_div_s32(th_x - r4, 3) * 96 - ((th_x + r4 * 8) / 24) * 3165];
      x1[0] = v7_1;
      const s8 v7_2 = tile0[th_x * 100 + r4 * 1103 + floor_div_s32(th_x - r4 + 1, 3) * 96 - ((th_x + r4 * 8) / 24) * 3165 + 1];
      x1[1] = v7_2;
      const s8 v7_3 = tile0[th_x * 100 + r4 * 1103 + floor_div_s32(th_x - r4 + 2, 3) * 96 - ((th_x + r4 * 8) / 24) * 3165 + 2];
      x1[2] = v7_3;
      const s8 v7_4 = tile0[th_x * 100 + r4 * 1103 + floor_div_s32(th_x - r4, 3) * 96 - ((th_x + r4 * 8) / 24) * 3165 + 99];
      x1[3] = v7_4;
      *(__global s8x4 *)(o0 + j5 * 480 + (bl_x / 6) * 96 + ((th_x + r4 * 8) % 24) * 4) = *(__private const s8x4 *)(x1);
    }
  }
}
