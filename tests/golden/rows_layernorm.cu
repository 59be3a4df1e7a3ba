// fused: rows emitter, 75 blocks of 256 threads

typedef float f32;
#define rsqrt_f32 rsqrtf
typedef int s32;
typedef unsigned int u32;
typedef struct __align__(16) { f32 v[4]; } f32x4;

static __device__ void store_vector_16(void *to, const void *from) {
  u32 words[4];
  memcpy(words, from, 16);
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
               : : "l"(__cvta_generic_to_global(to)), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
}

extern "C" __global__ void __launch_bounds__(256) rows_reduce(const f32 *__restrict__ p0, const f32 *__restrict__ p1, const f32 *__restrict__ p2, f32 *__restrict__ o0, f32 *__restrict__ o1, f32 *__restrict__ o2) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ f32 part0[8];
  __shared__ f32 part1[8];
  f32 kept0[16];
  __align__(16) f32 x0[4];
  __align__(16) f32 x2[4];
  __align__(16) f32 x3[4];
  __align__(16) f32 x4[4];
  f32 v1 = (-0.0f);
  #pragma unroll 3
  for (s32 step2 = 0; step2 < 3; step2++) {
    const s32 j3 = step2 * 64 + (th_x & 63);
    *(f32x4 *)(x0) = *(const f32x4 *)(p0 + (bl_x * 4000 + j3 * 4 + (th_x >> 6) * 1000));
    #pragma unroll 4
    for (s32 vector_index4 = 0; vector_index4 < 4; vector_index4++) {
      const f32 v5 = x0[vector_index4];
      const f32 v6 = v1 + v5;
      v1 = v6;
      kept0[step2 * 4 + vector_index4] = v5;
    }
  }
  if ((th_x & 63) + 192 <= 249) {
    __align__(16) f32 x1[4];
    const s32 j3_1 = (th_x & 63) + 192;
    *(f32x4 *)(x1) = *(const f32x4 *)(p0 + (bl_x * 4000 + j3_1 * 4 + (th_x >> 6) * 1000));
    #pragma unroll 4
    for (s32 vector_1 = 0; vector_1 < 4; vector_1++) {
      const f32 v5_1 = x1[vector_1];
      const f32 v6_1 = v1 + v5_1;
      v1 = v6_1;
      kept0[vector_1 + 12] = v5_1;
    }
  }
  const f32 t0 = __shfl_down_sync(0xffffffffu, v1, 16);
  const f32 v0 = v1 + t0;
  v1 = v0;
  const f32 t2 = __shfl_down_sync(0xffffffffu, v1, 8);
  const f32 v0_1 = v1 + t2;
  v1 = v0_1;
  const f32 t4 = __shfl_down_sync(0xffffffffu, v1, 4);
  const f32 v0_2 = v1 + t4;
  v1 = v0_2;
  const f32 t6 = __shfl_down_sync(0xffffffffu, v1, 2);
  const f32 v0_3 = v1 + t6;
  v1 = v0_3;
  const f32 t8 = __shfl_down_sync(0xffffffffu, v1, 1);
  const f32 v0_4 = v1 + t8;
  v1 = v0_4;
  if ((th_x & 31) <= 0) {
    part0[th_x >> 5] = v1;
  }
  __syncthreads();
  v1 = part0[(th_x >> 6) * 2 + (th_x & 1)];
  const f32 t10 = __shfl_down_sync(0xffffffffu, v1, 1);
  const f32 v0_5 = v1 + t10;
  v1 = v0_5;
  const f32 t12 = __shfl_sync(0xffffffffu, v1, 0, 32);
  v1 = t12;
  const f32 v7 = 0.0f + v1;
  f32 v8 = (-0.0f);
  const f32 v9 = v7 * 0.001f;
  #pragma unroll 3
  for (s32 step10 = 0; step10 < 3; step10++) {
    #pragma unroll 4
    for (s32 vector_index12 = 0; vector_index12 < 4; vector_index12++) {
      const f32 v13 = kept0[step10 * 4 + vector_index12];
      const f32 v14 = v13 - v9;
      const f32 v15 = v14 * v14;
      const f32 v16 = v8 + v15;
      v8 = v16;
    }
  }
  if ((th_x & 63) + 192 <= 249) {
    #pragma unroll 4
    for (s32 vector_2 = 0; vector_2 < 4; vector_2++) {
      const f32 v13_1 = kept0[vector_2 + 12];
      const f32 v14_1 = v13_1 - v9;
      const f32 v15_1 = v14_1 * v14_1;
      const f32 v16_1 = v8 + v15_1;
      v8 = v16_1;
    }
  }
  const f32 t13 = __shfl_down_sync(0xffffffffu, v8, 16);
  const f32 v0_6 = v8 + t13;
  v8 = v0_6;
  const f32 t15 = __shfl_down_sync(0xffffffffu, v8, 8);
  const f32 v0_7 = v8 + t15;
  v8 = v0_7;
  const f32 t17 = __shfl_down_sync(0xffffffffu, v8, 4);
  const f32 v0_8 = v8 + t17;
  v8 = v0_8;
  const f32 t19 = __shfl_down_sync(0xffffffffu, v8, 2);
  const f32 v0_9 = v8 + t19;
  v8 = v0_9;
  const f32 t21 = __shfl_down_sync(0xffffffffu, v8, 1);
  const f32 v0_10 = v8 + t21;
  v8 = v0_10;
  if ((th_x & 31) <= 0) {
    part1[th_x >> 5] = v8;
  }
  __syncthreads();
  v8 = part1[(th_x >> 6) * 2 + (th_x & 1)];
  const f32 t23 = __shfl_down_sync(0xffffffffu, v8, 1);
  const f32 v0_11 = v8 + t23;
  v8 = v0_11;
  const f32 t25 = __shfl_sync(0xffffffffu, v8, 0, 32);
  v8 = t25;
  const f32 v17 = 0.0f + v8;
  const f32 v18 = v17 * 0.001f;
  const f32 v19 = v18 + 1e-05f;
  const f32 v20 = rsqrt_f32(v19);
  #pragma unroll 3
  for (s32 step21 = 0; step21 < 3; step21++) {
    const s32 j22 = step21 * 64 + (th_x & 63);
    *(f32x4 *)(x2) = *(const f32x4 *)(p1 + j22 * 4);
    *(f32x4 *)(x3) = *(const f32x4 *)(p2 + j22 * 4);
    #pragma unroll 4
    for (s32 vector_index23 = 0; vector_index23 < 4; vector_index23++) {
      const f32 v24 = kept0[step21 * 4 + vector_index23];
      const f32 v25 = v24 - v9;
      const f32 v26 = v25 * v20;
      const f32 v27 = x2[vector_index23];
      const f32 v28 = v26 * v27;
      const f32 v29 = x3[vector_index23];
      const f32 v30 = v28 + v29;
      x4[vector_index23] = v30;
    }
    store_vector_16(o0 + (bl_x * 4000 + j22 * 4 + (th_x >> 6) * 1000), x4);
  }
  if ((th_x & 63) + 192 <= 249) {
    __align__(16) f32 x5[4];
    __align__(16) f32 x6[4];
    __align__(16) f32 x7[4];
    const s32 j22_1 = (th_x & 63) + 192;
    *(f32x4 *)(x5) = *(const f32x4 *)(p1 + j22_1 * 4);
    *(f32x4 *)(x6) = *(const f32x4 *)(p2 + j22_1 * 4);
    #pragma unroll 4
    for (s32 vector_3 = 0; vector_3 < 4; vector_3++) {
      const f32 v24_1 = kept0[vector_3 + 12];
      const f32 v25_1 = v24_1 - v9;
      const f32 v26_1 = v25_1 * v20;
      const f32 v27_1 = x5[vector_3];
      const f32 v28_1 = v26_1 * v27_1;
      const f32 v29_1 = x6[vector_3];
      const f32 v30_1 = v28_1 + v29_1;
      x7[vector_3] = v30_1;
    }
    store_vector_16(o0 + (bl_x * 4000 + j22_1 * 4 + (th_x >> 6) * 1000), x7);
  }
  if ((th_x & 63) <= 0) {
    o1[bl_x * 4 + (th_x >> 6)] = v9;
    o2[bl_x * 4 + (th_x >> 6)] = v20;
  }
}
