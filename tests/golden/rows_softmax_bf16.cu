// fused: rows emitter, 512 blocks of 256 threads

typedef float f32;
typedef unsigned short u16;
#define exp_f32 expf
#define inf_f32 (1.0f / 0.0f)
typedef unsigned int u32;
typedef int s32;
typedef struct __align__(16) { u16 v[8]; } u16x8;

static __device__ __attribute__((const)) f32 decode_bf16(u16 bits) {
  f32 x;
  asm("mov.b32 %0, {%1, %2};" : "=f"(x) : "h"((u16)0), "h"(bits));
  return x;
}

static __device__ __attribute__((const)) f32 maximum_f32(f32 a, f32 b) {
  f32 x;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(x) : "f"(a), "f"(b));
  return x;
}

static __device__ __attribute__((const)) u32 packed_encode_bf16(f32 a, f32 b) {
  u32 x;
  asm("cvt.rn.bf16x2.f32 %0, %2, %1;" : "=r"(x) : "f"(a), "f"(b));
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

extern "C" __global__ void __launch_bounds__(256) rows_reduce(const u16 *__restrict__ p0, u16 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  f32 kept0[32];
  u16 kept1[32];
  __align__(16) u16 x0[8];
  __align__(16) u16 x1[8];
  f32 v2 = (-inf_f32);
  #pragma unroll 4
  for (s32 step3 = 0; step3 < 4; step3++) {
    *(u16x8 *)(x0) = *(const u16x8 *)(p0 + (th_x * 8 + bl_x * 8192 + step3 * 256 + (th_x >> 5) * 768));
    #pragma unroll 8
    for (s32 vector_index4 = 0; vector_index4 < 8; vector_index4++) {
      const u16 v5 = x0[vector_index4];
      const f32 v6 = decode_bf16(v5);
      const f32 v7 = maximum_f32(v2, v6);
      v2 = v7;
      kept1[step3 * 8 + vector_index4] = v5;
    }
  }
  const f32 t0 = __shfl_down_sync(0xffffffffu, v2, 16);
  const f32 v0 = maximum_f32(v2, t0);
  v2 = v0;
  const f32 t2 = __shfl_down_sync(0xffffffffu, v2, 8);
  const f32 v0_1 = maximum_f32(v2, t2);
  v2 = v0_1;
  const f32 t4 = __shfl_down_sync(0xffffffffu, v2, 4);
  const f32 v0_2 = maximum_f32(v2, t4);
  v2 = v0_2;
  const f32 t6 = __shfl_down_sync(0xffffffffu, v2, 2);
  const f32 v0_3 = maximum_f32(v2, t6);
  v2 = v0_3;
  const f32 t8 = __shfl_down_sync(0xffffffffu, v2, 1);
  const f32 v0_4 = maximum_f32(v2, t8);
  v2 = v0_4;
  const f32 t10 = __shfl_sync(0xffffffffu, v2, 0, 32);
  v2 = t10;
  const f32 v8 = v2;
  f32 v9 = (-0.0f);
  #pragma unroll 4
  for (s32 step10 = 0; step10 < 4; step10++) {
    #pragma unroll 8
    for (s32 vector_index11 = 0; vector_index11 < 8; vector_index11++) {
      const u16 v12 = kept1[step10 * 8 + vector_index11];
      const f32 v13 = decode_bf16(v12);
      const f32 v14 = v13 - v8;
      const f32 v15 = exp_f32(v14);
      const f32 v16 = v9 + v15;
      v9 = v16;
      kept0[step10 * 8 + vector_index11] = v15;
    }
  }
  const f32 t11 = __shfl_down_sync(0xffffffffu, v9, 16);
  const f32 v0_5 = v9 + t11;
  v9 = v0_5;
  const f32 t13 = __shfl_down_sync(0xffffffffu, v9, 8);
  const f32 v0_6 = v9 + t13;
  v9 = v0_6;
  const f32 t15 = __shfl_down_sync(0xffffffffu, v9, 4);
  const f32 v0_7 = v9 + t15;
  v9 = v0_7;
  const f32 t17 = __shfl_down_sync(0xffffffffu, v9, 2);
  const f32 v0_8 = v9 + t17;
  v9 = v0_8;
  const f32 t19 = __shfl_down_sync(0xffffffffu, v9, 1);
  const f32 v0_9 = v9 + t19;
  v9 = v0_9;
  const f32 t21 = __shfl_sync(0xffffffffu, v9, 0, 32);
  v9 = t21;
  const f32 v17 = 0.0f + v9;
  #pragma unroll 4
  for (s32 step18 = 0; step18 < 4; step18++) {
    #pragma unroll 4
    for (s32 vector_2 = 0; vector_2 < 4; vector_2++) {
      const f32 v20_1 = kept0[step18 * 8 + vector_2 * 2];
      const f32 v20_2 = kept0[step18 * 8 + vector_2 * 2 + 1];
      const f32 v21_1 = v20_1 / v17;
      const f32 v21_2 = v20_2 / v17;
      const u32 v22_pair = packed_encode_bf16(v21_1, v21_2);
      x1[vector_2 * 2] = unpack_low(v22_pair);
      x1[vector_2 * 2 + 1] = unpack_high(v22_pair);
    }
    store_vector_16(o0 + (th_x * 8 + bl_x * 8192 + step18 * 256 + (th_x >> 5) * 768), x1);
  }
}
