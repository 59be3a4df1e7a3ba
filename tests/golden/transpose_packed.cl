// fused: transpose emitter, 16 blocks of 256 threads

#pragma OPENCL FP_CONTRACT OFF
typedef ushort u16;
typedef int s32;
typedef uint u32;
typedef float f32;

static f32 decode_bf16(u16 bits) { return as_float((u32)bits << 16); }

static u16 encode_bf16(f32 x) {
  u32 bits = as_uint(x);
  return x != x ? (u16)0x7fc0 : (u16)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

__attribute__((reqd_work_group_size(256, 1, 1))) __kernel void transpose_transpose(__global const u16 *restrict p0, __global u16 *restrict o0) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __local u32 tile0[2112];
  for (s32 r0 = 0; r0 < 4; ++r0) {
    u32 square0[2];
    #pragma unroll
    for (s32 q = 0; q < 2; ++q) square0[q] = 0;
    #pragma unroll
    for (s32 r1 = 0; r1 < 2; ++r1) {
      #pragma unroll
      for (s32 r2 = 0; r2 < 2; ++r2) {
        if (r0 <= 1 && (r0 * 8 + (th_x >> 6) * 2 + ((th_x >> 4) & 1)) <= 14 && ((th_x & 15) + ((th_x >> 5) & 1) * 16) <= 14) {
          const s32 j3 = r0 * 16 + r1 + (th_x >> 6) * 4 + ((th_x >> 4) & 1) * 2;
          const s32 j4 = r2 + (th_x & 15) * 2 + ((th_x >> 5) & 1) * 32;
          const f32 v5 = decode_bf16(p0[bl_x * 30 + j3 * 480 + j4]);
          square0[r2] |= (u32)(u16)(encode_bf16(v5)) << (r1 * 16);
        }
      }
    }
    #pragma unroll
    for (s32 r6 = 0; r6 < 2; ++r6) {
      tile0[th_x * 66 + r0 * 8 + r6 * 33 + (th_x >> 5) * 1054 - (th_x >> 4) * 1055 - (th_x >> 6) * 2110] = square0[r6];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (s32 r7 = 0; r7 < 8; ++r7) {
    #pragma unroll
    for (s32 r8 = 0; r8 < 2; ++r8) {
      if (r7 <= 3 && (th_x & 31) <= 14 && (r7 * 8 + (th_x >> 5)) <= 29) {
        const s32 j9 = r7 * 8 + (th_x >> 5);
        const s32 j10 = r8 + (th_x & 31) * 2;
        const f32 v11 = decode_bf16((u16)(tile0[th_x + r7 * 264 + (th_x >> 5)] >> (r8 * 16)));
        o0[bl_x * 30 + j9 * 480 + j10] = encode_bf16(v11);
      }
    }
  }
}
