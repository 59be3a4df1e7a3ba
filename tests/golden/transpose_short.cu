// fused: transpose emitter, 320 blocks of 128 threads

typedef int s32;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned char u8;
typedef struct __align__(4) { u8 v[4]; } u8x4;

static __device__ s32 quotient_s32(s32 x, s32 divisor, s32 shift) {
  const u32 reciprocal = (u32)((((u64)1 << (32 + shift)) + divisor - 1) / divisor);
  return (s32)((u64)(u32)x * reciprocal >> (32 + shift));
}

static __device__ void store_vector_4(void *to, const void *from) {
  u32 words[1];
  memcpy(words, from, 4);
  asm volatile("st.global.b32 [%0], %1;"
               : : "l"(__cvta_generic_to_global(to)), "r"(words[0]) : "memory");
}

extern "C" __global__ void __launch_bounds__(128) transpose_transpose(const u8 *__restrict__ p0, u8 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ __align__(16) u8 tile0[3072];
  const s32 quotient_1 = quotient_s32(bl_x, 40, 0);
  __align__(16) u8 x0[4];
  __align__(16) u8 x1[4];
  __align__(16) u8 x2[4];
  #pragma unroll 6
  for (s32 r0 = 0; r0 < 6; r0++) {
    if (th_x + r0 * 128 + (bl_x - quotient_1 * 40) * 768 <= 29999) {
      const s32 j1 = th_x + r0 * 128 + (bl_x - quotient_1 * 40) * 768;
      *(u8x4 *)(x0) = *(const u8x4 *)(p0 + (j1 * 4 + quotient_1 * 120000));
      const u8 v3_1 = x0[0];
      x1[0] = v3_1;
      const u8 v3_2 = x0[1];
      x1[1] = v3_2;
      const u8 v3_3 = x0[2];
      x1[2] = v3_3;
      const u8 v3_4 = x0[3];
      x1[3] = v3_4;
      *(u8x4 *)(tile0 + (th_x * 4 + r0 * 512)) = *(const u8x4 *)(x1);
    }
  }
  __syncthreads();
  #pragma unroll 6
  for (s32 r4 = 0; r4 < 6; r4++) {
    if (th_x + (bl_x - quotient_1 * 40) * 256 + (r4 & 1) * 128 <= 9999) {
      const s32 j5 = th_x + (bl_x - quotient_1 * 40) * 256 + (r4 & 1) * 128;
      const u8 v7_1 = tile0[th_x * 12 + ((r4 + 1) >> 1) * 3071 - r4 * 1535];
      x2[0] = v7_1;
      const u8 v7_2 = tile0[th_x * 12 + ((r4 + 1) >> 1) * 3071 - r4 * 1535 + 3];
      x2[1] = v7_2;
      const u8 v7_3 = tile0[th_x * 12 + ((r4 + 1) >> 1) * 3071 - r4 * 1535 + 6];
      x2[2] = v7_3;
      const u8 v7_4 = tile0[th_x * 12 + ((r4 + 1) >> 1) * 3071 - r4 * 1535 + 9];
      x2[3] = v7_4;
      store_vector_4(o0 + (j5 * 4 + quotient_1 * 120000 + (r4 >> 1) * 40000), x2);
    }
  }
}
