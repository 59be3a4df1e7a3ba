// fused: concatenate emitter, 256 blocks of 128 threads

typedef unsigned int u32;
typedef unsigned short u16;
typedef int s32;
typedef struct __align__(16) { u16 v[8]; } u16x8;

static __device__ u32 pack(u16 low, u16 high) { return (u32)low | (u32)high << 16; }

static __device__ __attribute__((const)) u32 packed_neg_bf16(u32 a) {
  u32 x;
  asm("neg.bf16x2 %0, %1;" : "=r"(x) : "r"(a));
  return x;
}

static __device__ void store_vector_16(void *to, const void *from) {
  u32 words[4];
  memcpy(words, from, 16);
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
               : : "l"(__cvta_generic_to_global(to)), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
}

static __device__ __attribute__((const)) u16 unpack_high(u32 a) {
  u16 x;
  asm("mov.b32 {_, %0}, %1;" : "=h"(x) : "r"(a));
  return x;
}

static __device__ __attribute__((const)) u16 unpack_low(u32 a) {
  u16 x;
  asm("mov.b32 {%0, _}, %1;" : "=h"(x) : "r"(a));
  return x;
}

extern "C" __global__ void __launch_bounds__(128) concatenate_concatenate(const u16 *__restrict__ p0, const u16 *__restrict__ p1, u16 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __align__(16) u16 x2[8];
  __align__(16) u16 x3[8];
  const s32 i = th_x + bl_x * 128;
  if ((i & 63) <= 31) {
    __align__(16) u16 x0[8];
    __align__(16) u16 x1[8];
    const s32 j0 = (i & 63);
    *(u16x8 *)(x0) = *(const u16x8 *)(p0 + (j0 * 8 + (i >> 6) * 256));
    #pragma unroll 8
    for (s32 vector_index1 = 0; vector_index1 < 8; vector_index1++) {
      const u16 v2 = x0[vector_index1];
      x1[vector_index1] = v2;
    }
    store_vector_16(o0 + (j0 * 8 + (i >> 6) * 768), x1);
  }
  *(u16x8 *)(x2) = *(const u16x8 *)(p1 + i * 8);
  #pragma unroll 4
  for (s32 vector_1 = 0; vector_1 < 4; vector_1++) {
    const u16 v5_1 = x2[vector_1 * 2];
    const u16 v5_2 = x2[vector_1 * 2 + 1];
    const u32 v7_pair = packed_neg_bf16(pack(v5_1, v5_2));
    x3[vector_1 * 2] = unpack_low(v7_pair);
    x3[vector_1 * 2 + 1] = unpack_high(v7_pair);
  }
  store_vector_16(o0 + (i * 8 + (i >> 6) * 256 + 256), x3);
}
