// fused: transpose emitter, 30 blocks of 128 threads

typedef int s32;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char s8;
typedef struct __align__(2) { s8 v[2]; } s8x2;

static __device__ s32 quotient_s32(s32 x, s32 divisor, s32 shift) {
  const u32 reciprocal = (u32)((((u64)1 << (32 + shift)) + divisor - 1) / divisor);
  return (s32)((u64)(u32)x * reciprocal >> (32 + shift));
}

static __device__ s32 remainder_s32(s32 x, s32 divisor, s32 shift) { return x - quotient_s32(x, divisor, shift) * divisor; }

static __device__ void store_vector_4(void *to, const void *from) {
  u32 words[1];
  memcpy(words, from, 4);
  asm volatile("st.global.b32 [%0], %1;"
               : : "l"(__cvta_generic_to_global(to)), "r"(words[0]) : "memory");
}

extern "C" __global__ void __launch_bounds__(128) transpose_transpose(const s8 *__restrict__ p0, s8 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ s8 tile0[3168];
  const s32 quotient_1 = quotient_s32(bl_x, 6, 0);
  __align__(16) s8 x0[2];
  __align__(16) s8 x1[4];
  #pragma unroll 12
  for (s32 r0 = 0; r0 < 12; r0++) {
    if ((bl_x - quotient_1 * 6) * 48 + remainder_s32(th_x - r0 * 16 + 192, 48, 0) <= 254) {
      const s32 j1 = (bl_x - quotient_1 * 6) * 48 + remainder_s32(th_x - r0 * 16 + 192, 48, 0);
      *(s8x2 *)(x0) = *(const s8x2 *)(p0 + (j1 * 2 + quotient_1 * 16320 + quotient_s32(th_x + r0 * 128, 48, 0) * 510));
      const s8 v3_1 = x0[0];
      tile0[th_x * 2 + r0 * 256 + quotient_s32(th_x + r0 * 128, 48, 0) * 3] = v3_1;
      const s8 v3_2 = x0[1];
      tile0[th_x * 2 + r0 * 256 + quotient_s32(th_x + r0 * 128, 48, 0) * 3 + 1] = v3_2;
    }
  }
  __syncthreads();
  #pragma unroll 6
  for (s32 r4 = 0; r4 < 6; r4++) {
    if (quotient_s32(th_x + r4 * 128, 24, 0) + (bl_x - quotient_1 * 6) * 32 <= 169) {
      const s32 j5 = quotient_s32(th_x + r4 * 128, 24, 0) + (bl_x - quotient_1 * 6) * 32;
      const s8 v7_1 = tile0[th_x * 100 + r4 * 1103 + (quotient_s32(th_x - r4 + 6, 3, 0) - 2) * 96 - quotient_s32(th_x + r4 * 8, 24, 0) * 3165];
      x1[0] = v7_1;
      const s8 v7_2 = tile0[th_x * 100 + r4 * 1103 + (quotient_s32(th_x - r4 + 1 + 6, 3, 0) - 2) * 96 - quotient_s32(th_x + r4 * 8, 24, 0) * 3165 + 1];
      x1[1] = v7_2;
      const s8 v7_3 = tile0[th_x * 100 + r4 * 1103 + (quotient_s32(th_x - r4 + 2 + 3, 3, 0) - 1) * 96 - quotient_s32(th_x + r4 * 8, 24, 0) * 3165 + 2];
      x1[2] = v7_3;
      const s8 v7_4 = tile0[th_x * 100 + r4 * 1103 + (quotient_s32(th_x - r4 + 6, 3, 0) - 2) * 96 - quotient_s32(th_x + r4 * 8, 24, 0) * 3165 + 99];
      x1[3] = v7_4;
      store_vector_4(o0 + (j5 * 480 + quotient_1 * 96 + remainder_s32(th_x + r4 * 8, 24, 0) * 4), x1);
    }
  }
}
