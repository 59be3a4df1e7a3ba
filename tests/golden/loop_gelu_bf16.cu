// fused: loop emitter, 256 blocks of 128 threads

typedef float f32;
typedef unsigned short u16;
#define erf_f32 erff
typedef int s32;
typedef unsigned int u32;
typedef struct __align__(16) { u16 v[8]; } u16x8;

static __device__ f32 decode_bf16(u16 bits) {
  f32 x;
  asm("mov.b32 %0, {%1, %2};" : "=f"(x) : "h"((u16)0), "h"(bits));
  return x;
}

static __device__ u16 encode_bf16(f32 a) {
  u16 x;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(x) : "f"(a));
  return x;
}

static __device__ void store_vector_16(void *to, const void *from) {
  u32 words[4];
  memcpy(words, from, 16);
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
               : : "l"(__cvta_generic_to_global(to)), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
}

extern "C" __global__ void __launch_bounds__(128) loop_convert(const u16 *__restrict__ p0, u16 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __align__(16) u16 x0[8];
  __align__(16) u16 x1[8];
  const s32 i = th_x + bl_x * 128;
  *(u16x8 *)(x0) = *(const u16x8 *)(p0 + i * 8);
  #pragma unroll 8
  for (s32 vector_index0 = 0; vector_index0 < 8; vector_index0++) {
    const u16 v1 = x0[vector_index0];
    const f32 v2 = decode_bf16(v1);
    const f32 v3 = v2 * 0.5f;
    const f32 v4 = v2 * 0.70710677f;
    const f32 v5 = erf_f32(v4);
    const f32 v6 = v5 + 1.0f;
    const f32 v7 = v3 * v6;
    const u16 v8_bits = encode_bf16(v7);
    x1[vector_index0] = v8_bits;
  }
  store_vector_16(o0 + i * 8, x1);
}
