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
  __shared__ __align__(16) f32 weights1[1000];
  __shared__ __align__(16) f32 weights2[1000];
  __shared__ f32 part0[8];
  __shared__ f32 part1[8];
  f32 kept0[16];
  __align__(16) f32 x4[4];
  __align__(16) f32 x6[4];
  __align__(16) f32 x7[4];
  __align__(16) f32 x8[4];
  if (th_x <= 249) {
    __align__(16) f32 x0[4];
    __align__(16) f32 x1[4];
    __align__(16) f32 x2[4];
    __align__(16) f32 x3[4];
    const s32 j3 = th_x;
    *(f32x4 *)(x0) = *(const f32x4 *)(p1 + j3 * 4);
    *(f32x4 *)(x1) = *(const f32x4 *)(p2 + j3 * 4);
    #pragma unroll 4
    for (s32 vector_index4 = 0; vector_index4 < 4; vector_index4++) {
      const f32 v5 = x0[vector_index4];
      x2[vector_index4] = v5;
      const f32 v6 = x1[vector_index4];
      x3[vector_index4] = v6;
    }
    *(f32x4 *)(weights1 + j3 * 4) = *(const f32x4 *)(x2);
    *(f32x4 *)(weights2 + j3 * 4) = *(const f32x4 *)(x3);
  }
  f32 v7 = (-0.0f);
  #pragma unroll 3
  for (s32 step8 = 0; step8 < 3; step8++) {
    const s32 j9 = step8 * 64 + (th_x & 63);
    *(f32x4 *)(x4) = *(const f32x4 *)(p0 + (bl_x * 4000 + j9 * 4 + (th_x >> 6) * 1000));
    #pragma unroll 4
    for (s32 vector_index10 = 0; vector_index10 < 4; vector_index10++) {
      const f32 v11 = x4[vector_index10];
      const f32 v12 = v7 + v11;
      v7 = v12;
      kept0[step8 * 4 + vector_index10] = v11;
    }
  }
  if ((th_x & 63) + 192 <= 249) {
    __align__(16) f32 x5[4];
    const s32 j9_1 = (th_x & 63) + 192;
    *(f32x4 *)(x5) = *(const f32x4 *)(p0 + (bl_x * 4000 + j9_1 * 4 + (th_x >> 6) * 1000));
    #pragma unroll 4
    for (s32 vector_1 = 0; vector_1 < 4; vector_1++) {
      const f32 v11_1 = x5[vector_1];
      const f32 v12_1 = v7 + v11_1;
      v7 = v12_1;
      kept0[vector_1 + 12] = v11_1;
    }
  }
  const f32 t0 = __shfl_down_sync(0xffffffffu, v7, 16);
  const f32 v0 = v7 + t0;
  v7 = v0;
  const f32 t2 = __shfl_down_sync(0xffffffffu, v7, 8);
  const f32 v0_1 = v7 + t2;
  v7 = v0_1;
  const f32 t4 = __shfl_down_sync(0xffffffffu, v7, 4);
  const f32 v0_2 = v7 + t4;
  v7 = v0_2;
  const f32 t6 = __shfl_down_sync(0xffffffffu, v7, 2);
  const f32 v0_3 = v7 + t6;
  v7 = v0_3;
  const f32 t8 = __shfl_down_sync(0xffffffffu, v7, 1);
  const f32 v0_4 = v7 + t8;
  v7 = v0_4;
  if ((th_x & 31) <= 0) {
    part0[th_x >> 5] = v7;
  }
  __syncthreads();
  v7 = part0[(th_x >> 6) * 2 + (th_x & 1)];
  const f32 t10 = __shfl_down_sync(0xffffffffu, v7, 1);
  const f32 v0_5 = v7 + t10;
  v7 = v0_5;
  const f32 t12 = __shfl_sync(0xffffffffu, v7, 0, 32);
  v7 = t12;
  const f32 v13 = 0.0f + v7;
  __syncthreads();
  f32 v14 = (-0.0f);
  const f32 v15 = v13 * 0.001f;
  #pragma unroll 3
  for (s32 step16 = 0; step16 < 3; step16++) {
    #pragma unroll 4
    for (s32 vector_index18 = 0; vector_index18 < 4; vector_index18++) {
      const f32 v19 = kept0[step16 * 4 + vector_index18];
      const f32 v20 = v19 - v15;
      const f32 v21 = v20 * v20;
      const f32 v22 = v14 + v21;
      v14 = v22;
    }
  }
  if ((th_x & 63) + 192 <= 249) {
    #pragma unroll 4
    for (s32 vector_2 = 0; vector_2 < 4; vector_2++) {
      const f32 v19_1 = kept0[vector_2 + 12];
      const f32 v20_1 = v19_1 - v15;
      const f32 v21_1 = v20_1 * v20_1;
      const f32 v22_1 = v14 + v21_1;
      v14 = v22_1;
    }
  }
  const f32 t13 = __shfl_down_sync(0xffffffffu, v14, 16);
  const f32 v0_6 = v14 + t13;
  v14 = v0_6;
  const f32 t15 = __shfl_down_sync(0xffffffffu, v14, 8);
  const f32 v0_7 = v14 + t15;
  v14 = v0_7;
  const f32 t17 = __shfl_down_sync(0xffffffffu, v14, 4);
  const f32 v0_8 = v14 + t17;
  v14 = v0_8;
  const f32 t19 = __shfl_down_sync(0xffffffffu, v14, 2);
  const f32 v0_9 = v14 + t19;
  v14 = v0_9;
  const f32 t21 = __shfl_down_sync(0xffffffffu, v14, 1);
  const f32 v0_10 = v14 + t21;
  v14 = v0_10;
  if ((th_x & 31) <= 0) {
    part1[th_x >> 5] = v14;
  }
  __syncthreads();
  v14 = part1[(th_x >> 6) * 2 + (th_x & 1)];
  const f32 t23 = __shfl_down_sync(0xffffffffu, v14, 1);
  const f32 v0_11 = v14 + t23;
  v14 = v0_11;
  const f32 t25 = __shfl_sync(0xffffffffu, v14, 0, 32);
  v14 = t25;
  const f32 v23 = 0.0f + v14;
  const f32 v24 = v23 * 0.001f;
  const f32 v25 = v24 + 1e-05f;
  const f32 v26 = rsqrt_f32(v25);
  #pragma unroll 3
  for (s32 step27 = 0; step27 < 3; step27++) {
    const s32 j28 = step27 * 64 + (th_x & 63);
    *(f32x4 *)(x6) = *(const f32x4 *)(weights1 + j28 * 4);
    *(f32x4 *)(x7) = *(const f32x4 *)(weights2 + j28 * 4);
    #pragma unroll 4
    for (s32 vector_index29 = 0; vector_index29 < 4; vector_index29++) {
      const f32 v30 = kept0[step27 * 4 + vector_index29];
      const f32 v31 = x6[vector_index29];
      const f32 v32 = x7[vector_index29];
      const f32 v33 = v30 - v15;
      const f32 v34 = v33 * v26;
      const f32 v35 = v34 * v31;
      const f32 v36 = v35 + v32;
      x8[vector_index29] = v36;
    }
    store_vector_16(o0 + (bl_x * 4000 + j28 * 4 + (th_x >> 6) * 1000), x8);
  }
  if ((th_x & 63) + 192 <= 249) {
    __align__(16) f32 x9[4];
    __align__(16) f32 x10[4];
    __align__(16) f32 x11[4];
    const s32 j28_1 = (th_x & 63) + 192;
    *(f32x4 *)(x9) = *(const f32x4 *)(weights1 + j28_1 * 4);
    *(f32x4 *)(x10) = *(const f32x4 *)(weights2 + j28_1 * 4);
    #pragma unroll 4
    for (s32 vector_3 = 0; vector_3 < 4; vector_3++) {
      const f32 v30_1 = kept0[vector_3 + 12];
      const f32 v31_1 = x9[vector_3];
      const f32 v32_1 = x10[vector_3];
      const f32 v33_1 = v30_1 - v15;
      const f32 v34_1 = v33_1 * v26;
      const f32 v35_1 = v34_1 * v31_1;
      const f32 v36_1 = v35_1 + v32_1;
      x11[vector_3] = v36_1;
    }
    store_vector_16(o0 + (bl_x * 4000 + j28_1 * 4 + (th_x >> 6) * 1000), x11);
  }
  if ((th_x & 63) <= 0) {
    o1[bl_x * 4 + (th_x >> 6)] = v15;
    o2[bl_x * 4 + (th_x >> 6)] = v26;
  }
}
