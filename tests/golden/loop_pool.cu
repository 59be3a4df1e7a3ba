// fused: loop emitter, 196 blocks of 128 threads

typedef float f32;
#define inf_f32 (1.0f / 0.0f)
typedef int s32;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef struct __align__(16) { f32 v[4]; } f32x4;

static __device__ __attribute__((const)) f32 maximum_f32(f32 a, f32 b) {
  f32 x;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(x) : "f"(a), "f"(b));
  return x;
}

static __device__ s32 quotient_s32(s32 x, s32 divisor, s32 shift) {
  const u32 reciprocal = (u32)((((u64)1 << (32 + shift)) + divisor - 1) / divisor);
  return (s32)((u64)(u32)x * reciprocal >> (32 + shift));
}

static __device__ void store_vector_16(void *to, const void *from) {
  u32 words[4];
  memcpy(words, from, 16);
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
               : : "l"(__cvta_generic_to_global(to)), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
}

extern "C" __global__ void __launch_bounds__(128) loop_reduce_window(const f32 *__restrict__ p0, f32 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __align__(16) f32 x0[4];
  __align__(16) f32 x1[4];
  __align__(16) f32 x2[4];
  __align__(16) f32 x3[4];
  __align__(16) f32 x4[4];
  __align__(16) f32 x5[4];
  __align__(16) f32 x6[4];
  __align__(16) f32 x7[4];
  __align__(16) f32 x8[4];
  __align__(16) f32 x9[4];
  const s32 i = th_x + bl_x * 128;
  const s32 quotient_1 = quotient_s32(i, 224, 0);
  const s32 quotient_2 = quotient_s32(i, 6272, 0);
  *(f32x4 *)(x0) = *(const f32x4 *)(p0 + i * 4);
  if ((quotient_1 - quotient_2 * 28) - 1 >= 0 && ((i >> 3) - quotient_1 * 28) - 1 >= 0) {
    *(f32x4 *)(x1) = *(const f32x4 *)(p0 + (i * 4 - 928));
  }
  if ((quotient_1 - quotient_2 * 28) - 1 >= 0) {
    *(f32x4 *)(x2) = *(const f32x4 *)(p0 + (i * 4 - 896));
  }
  if ((quotient_1 - quotient_2 * 28) - 1 >= 0 && ((i >> 3) - quotient_1 * 28) + 1 <= 27) {
    *(f32x4 *)(x3) = *(const f32x4 *)(p0 + (i * 4 - 864));
  }
  if (((i >> 3) - quotient_1 * 28) - 1 >= 0) {
    *(f32x4 *)(x4) = *(const f32x4 *)(p0 + (i * 4 - 32));
  }
  if (((i >> 3) - quotient_1 * 28) + 1 <= 27) {
    *(f32x4 *)(x5) = *(const f32x4 *)(p0 + (i * 4 + 32));
  }
  if ((quotient_1 - quotient_2 * 28) + 1 <= 27 && ((i >> 3) - quotient_1 * 28) - 1 >= 0) {
    *(f32x4 *)(x6) = *(const f32x4 *)(p0 + (i * 4 + 864));
  }
  if ((quotient_1 - quotient_2 * 28) + 1 <= 27) {
    *(f32x4 *)(x7) = *(const f32x4 *)(p0 + (i * 4 + 896));
  }
  if ((quotient_1 - quotient_2 * 28) + 1 <= 27 && ((i >> 3) - quotient_1 * 28) + 1 <= 27) {
    *(f32x4 *)(x8) = *(const f32x4 *)(p0 + (i * 4 + 928));
  }
  #pragma unroll 4
  for (s32 vector_index0 = 0; vector_index0 < 4; vector_index0++) {
    f32 v1 = (-inf_f32);
    if ((quotient_1 - quotient_2 * 28) - 1 >= 0 && ((i >> 3) - quotient_1 * 28) - 1 >= 0) {
      const f32 v6_4 = x1[vector_index0];
      const f32 v7_4 = maximum_f32(v1, v6_4);
      v1 = v7_4;
    }
    if ((quotient_1 - quotient_2 * 28) - 1 >= 0) {
      const f32 v6_5 = x2[vector_index0];
      const f32 v7_5 = maximum_f32(v1, v6_5);
      v1 = v7_5;
    }
    if ((quotient_1 - quotient_2 * 28) - 1 >= 0 && ((i >> 3) - quotient_1 * 28) + 1 <= 27) {
      const f32 v6_6 = x3[vector_index0];
      const f32 v7_6 = maximum_f32(v1, v6_6);
      v1 = v7_6;
    }
    if (((i >> 3) - quotient_1 * 28) - 1 >= 0) {
      const f32 v6_7 = x4[vector_index0];
      const f32 v7_7 = maximum_f32(v1, v6_7);
      v1 = v7_7;
    }
    const f32 v6_8 = x0[vector_index0];
    const f32 v7_8 = maximum_f32(v1, v6_8);
    v1 = v7_8;
    if (((i >> 3) - quotient_1 * 28) + 1 <= 27) {
      const f32 v6_9 = x5[vector_index0];
      const f32 v7_9 = maximum_f32(v1, v6_9);
      v1 = v7_9;
    }
    if ((quotient_1 - quotient_2 * 28) + 1 <= 27 && ((i >> 3) - quotient_1 * 28) - 1 >= 0) {
      const f32 v6_10 = x6[vector_index0];
      const f32 v7_10 = maximum_f32(v1, v6_10);
      v1 = v7_10;
    }
    if ((quotient_1 - quotient_2 * 28) + 1 <= 27) {
      const f32 v6_11 = x7[vector_index0];
      const f32 v7_11 = maximum_f32(v1, v6_11);
      v1 = v7_11;
    }
    if ((quotient_1 - quotient_2 * 28) + 1 <= 27 && ((i >> 3) - quotient_1 * 28) + 1 <= 27) {
      const f32 v6_12 = x8[vector_index0];
      const f32 v7_12 = maximum_f32(v1, v6_12);
      v1 = v7_12;
    }
    x9[vector_index0] = v1;
  }
  store_vector_16(o0 + i * 4, x9);
}
