// scores: dot-simt emitter, 72 blocks of 16 threads

#pragma OPENCL FP_CONTRACT OFF
typedef float f32;
typedef ushort u16;
#define float_f32 as_float
typedef uint u32;
#define bits_f32 as_uint
#define mul_add_f32 fma
typedef int s32;
typedef struct __attribute__((aligned(8))) { u16 v[4]; } u16x4;
typedef struct __attribute__((aligned(16))) { f32 v[4]; } f32x4;

static f32 decode_bf16(u16 bits) { return float_f32((u32)bits << 16); }

static u16 encode_bf16(f32 x) {
  u32 bits = bits_f32(x);
  return (u16)(x != x ? 0x7fc0u : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

__kernel void __attribute__((reqd_work_group_size(16, 1, 1))) dot_simt_dot(__global const u16 *restrict p0, __global const u16 *restrict p1, __global u16 *restrict o0) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __local __attribute__((aligned(16))) f32 left_tile[256];
  __local __attribute__((aligned(16))) f32 right_tile[256];
  f32 left[16];
  f32 right[4];
  f32 sums[16];
  __attribute__((aligned(16))) u16 x0[4];
  __attribute__((aligned(16))) f32 x1[4];
  __attribute__((aligned(16))) u16 x2[4];
  __attribute__((aligned(16))) f32 x3[4];
  __attribute__((aligned(16))) f32 x4[4];
  __attribute__((aligned(16))) f32 x5[4];
  __attribute__((aligned(16))) u16 x6[4];
  #pragma unroll 16
  for (s32 column0 = 0; column0 < 16; column0++) {
    sums[column0] = 0.0f;
  }
  #pragma unroll 4
  for (s32 turn1 = 0; turn1 < 4; turn1++) {
    const s32 left_cell2 = turn1 * 16 + (th_x >> 2) * 4 + ((th_x + turn1 * 2 + (th_x >> 3)) & 3);
    *(__private u16x4 *)(x0) = *(__global const u16x4 *)(p0 + (th_x * 4 + turn1 * 64 + (bl_x / 6) * 256));
    const u16 v4_1 = x0[0];
    const f32 v5_1 = decode_bf16(v4_1);
    x1[0] = v5_1;
    const u16 v4_2 = x0[1];
    const f32 v5_2 = decode_bf16(v4_2);
    x1[1] = v5_2;
    const u16 v4_3 = x0[2];
    const f32 v5_3 = decode_bf16(v4_3);
    x1[2] = v5_3;
    const u16 v4_4 = x0[3];
    const f32 v5_4 = decode_bf16(v4_4);
    x1[3] = v5_4;
    *(__local f32x4 *)(left_tile + left_cell2 * 4) = *(__private const f32x4 *)(x1);
  }
  #pragma unroll 4
  for (s32 turn6 = 0; turn6 < 4; turn6++) {
    const s32 right_cell7 = th_x + turn6 * 16;
    *(__private u16x4 *)(x2) = *(__global const u16x4 *)(p1 + (th_x * 4 + turn6 * 384 + (th_x >> 2) * 80 + (bl_x / 24) * 1536 + (bl_x % 6) * 16));
    const u16 v9_1 = x2[0];
    const f32 v10_1 = decode_bf16(v9_1);
    x3[0] = v10_1;
    const u16 v9_2 = x2[1];
    const f32 v10_2 = decode_bf16(v9_2);
    x3[1] = v10_2;
    const u16 v9_3 = x2[2];
    const f32 v10_3 = decode_bf16(v9_3);
    x3[2] = v10_3;
    const u16 v9_4 = x2[3];
    const f32 v10_4 = decode_bf16(v9_4);
    x3[3] = v10_4;
    *(__local f32x4 *)(right_tile + right_cell7 * 4) = *(__private const f32x4 *)(x3);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  #pragma unroll 4
  for (s32 part11 = 0; part11 < 4; part11++) {
    #pragma unroll 4
    for (s32 line12 = 0; line12 < 4; line12++) {
      const s32 left_cell13 = line12 * 16 + (th_x >> 2) * 4 + ((part11 + line12 * 2 + (th_x >> 3)) & 3);
      *(__private f32x4 *)(x4) = *(__local const f32x4 *)(left_tile + left_cell13 * 4);
      const f32 v15_1 = x4[0];
      left[line12 * 4] = v15_1;
      const f32 v15_2 = x4[1];
      left[line12 * 4 + 1] = v15_2;
      const f32 v15_3 = x4[2];
      left[line12 * 4 + 2] = v15_3;
      const f32 v15_4 = x4[3];
      left[line12 * 4 + 3] = v15_4;
    }
    #pragma unroll 4
    for (s32 k16 = 0; k16 < 4; k16++) {
      const s32 right_cell17 = part11 * 16 + k16 * 4 + (th_x & 3);
      *(__private f32x4 *)(x5) = *(__local const f32x4 *)(right_tile + right_cell17 * 4);
      const f32 v19_1 = x5[0];
      right[0] = v19_1;
      const f32 v19_2 = x5[1];
      right[1] = v19_2;
      const f32 v19_3 = x5[2];
      right[2] = v19_3;
      const f32 v19_4 = x5[3];
      right[3] = v19_4;
      #pragma unroll 4
      for (s32 i20 = 0; i20 < 4; i20++) {
        const f32 v22 = left[k16 + i20 * 4];
        const f32 v23_1 = right[0];
        const f32 v24_1 = sums[i20 * 4];
        sums[i20 * 4] = mul_add_f32(v22, v23_1, v24_1);
        const f32 v23_2 = right[1];
        const f32 v24_2 = sums[i20 * 4 + 1];
        sums[i20 * 4 + 1] = mul_add_f32(v22, v23_2, v24_2);
        const f32 v23_3 = right[2];
        const f32 v24_3 = sums[i20 * 4 + 2];
        sums[i20 * 4 + 2] = mul_add_f32(v22, v23_3, v24_3);
        const f32 v23_4 = right[3];
        const f32 v24_4 = sums[i20 * 4 + 3];
        sums[i20 * 4 + 3] = mul_add_f32(v22, v23_4, v24_4);
      }
    }
  }
  #pragma unroll 4
  for (s32 i25 = 0; i25 < 4; i25++) {
    const u16 v27_1 = encode_bf16(sums[i25 * 4]);
    x6[0] = v27_1;
    const u16 v27_3 = encode_bf16(sums[i25 * 4 + 1]);
    x6[1] = v27_3;
    const u16 v27_5 = encode_bf16(sums[i25 * 4 + 2]);
    x6[2] = v27_5;
    const u16 v27_7 = encode_bf16(sums[i25 * 4 + 3]);
    x6[3] = v27_7;
    *(__global u16x4 *)(o0 + (th_x * 4 + bl_x * 16 + i25 * 384 + (th_x >> 2) * 80 + (bl_x / 6) * 1440)) = *(__private const u16x4 *)(x6);
  }
}
