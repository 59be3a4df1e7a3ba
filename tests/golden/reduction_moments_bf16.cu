// fused: reduction emitter, 512 blocks of 256 threads

typedef float f32;
typedef unsigned short u16;
typedef int s32;
typedef struct __align__(16) { u16 v[8]; } u16x8;

static __device__ __attribute__((const)) f32 decode_bf16(u16 bits) {
  f32 x;
  asm("mov.b32 %0, {%1, %2};" : "=f"(x) : "h"((u16)0), "h"(bits));
  return x;
}

extern "C" __global__ void __launch_bounds__(256) reduction_reduce(const u16 *__restrict__ p0, f32 *__restrict__ o0, f32 *__restrict__ o1) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __align__(16) u16 x0[8];
  f32 v0 = (-0.0f);
  f32 v1 = (-0.0f);
  #pragma unroll 4
  for (s32 step2 = 0; step2 < 4; step2++) {
    *(u16x8 *)(x0) = *(const u16x8 *)(p0 + (th_x * 8 + bl_x * 8192 + step2 * 256 + (th_x >> 5) * 768));
    #pragma unroll 8
    for (s32 vector_index3 = 0; vector_index3 < 8; vector_index3++) {
      const u16 v4 = x0[vector_index3];
      const f32 v5 = decode_bf16(v4);
      const f32 v6 = v0 + v5;
      v0 = v6;
      const f32 v7 = v5 * v5;
      const f32 v8 = v1 + v7;
      v1 = v8;
    }
  }
  const f32 t0 = __shfl_down_sync(0xffffffffu, v0, 16);
  const f32 v0_1 = v0 + t0;
  v0 = v0_1;
  const f32 t2 = __shfl_down_sync(0xffffffffu, v1, 16);
  const f32 v0_2 = v1 + t2;
  v1 = v0_2;
  const f32 t4 = __shfl_down_sync(0xffffffffu, v0, 8);
  const f32 v0_3 = v0 + t4;
  v0 = v0_3;
  const f32 t6 = __shfl_down_sync(0xffffffffu, v1, 8);
  const f32 v0_4 = v1 + t6;
  v1 = v0_4;
  const f32 t8 = __shfl_down_sync(0xffffffffu, v0, 4);
  const f32 v0_5 = v0 + t8;
  v0 = v0_5;
  const f32 t10 = __shfl_down_sync(0xffffffffu, v1, 4);
  const f32 v0_6 = v1 + t10;
  v1 = v0_6;
  const f32 t12 = __shfl_down_sync(0xffffffffu, v0, 2);
  const f32 v0_7 = v0 + t12;
  v0 = v0_7;
  const f32 t14 = __shfl_down_sync(0xffffffffu, v1, 2);
  const f32 v0_8 = v1 + t14;
  v1 = v0_8;
  const f32 t16 = __shfl_down_sync(0xffffffffu, v0, 1);
  const f32 v0_9 = v0 + t16;
  v0 = v0_9;
  const f32 t18 = __shfl_down_sync(0xffffffffu, v1, 1);
  const f32 v0_10 = v1 + t18;
  v1 = v0_10;
  if ((th_x & 31) <= 0) {
    const f32 v9 = 0.0f + v0;
    const f32 v10 = 0.0f + v1;
    const f32 v11 = v9 * 0.0009765625f;
    o0[bl_x * 8 + (th_x >> 5)] = v11;
    const f32 v12 = v10 * 0.0009765625f;
    const f32 v13 = v11 * v11;
    const f32 v14 = v12 - v13;
    o1[bl_x * 8 + (th_x >> 5)] = v14;
  }
}
