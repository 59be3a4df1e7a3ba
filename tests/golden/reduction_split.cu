// fused: reduction emitter, 128 blocks of 256 threads

#define abs_f32 fabsf
typedef float f32;
typedef unsigned short u16;
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

static __device__ u32 pack(u16 low, u16 high) { return (u32)low | (u32)high << 16; }

static __device__ __attribute__((const)) u32 packed_abs_bf16(u32 a) {
  u32 x;
  asm("abs.bf16x2 %0, %1;" : "=r"(x) : "r"(a));
  return x;
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

extern "C" __global__ void __launch_bounds__(256) reduction_reduce(const u16 *__restrict__ p0, f32 *__restrict__ o0, f32 *__restrict__ w0, u32 *__restrict__ w1) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ u32 last1[1];
  __shared__ f32 part0[8];
  __shared__ f32 part1[8];
  __align__(16) u16 x0[8];
  f32 v0 = (-inf_f32);
  #pragma unroll 5
  for (s32 step2 = 0; step2 < 5; step2++) {
    const s32 j3 = th_x + bl_x * 256 + step2 * 32768;
    if (j3 * 8 + 7 <= 1500000) {
      *(u16x8 *)(x0) = *(const u16x8 *)(p0 + j3 * 8);
      #pragma unroll 4
      for (s32 vector_4 = 0; vector_4 < 4; vector_4++) {
        const u16 v5_4 = x0[vector_4 * 2];
        const u16 v5_5 = x0[vector_4 * 2 + 1];
        const u32 v7_pair = packed_abs_bf16(pack(v5_4, v5_5));
        const u16 v7_4_bits = unpack_low(v7_pair);
        const f32 v7_4 = decode_bf16(v7_4_bits);
        const u16 v7_5_bits = unpack_high(v7_pair);
        const f32 v7_5 = decode_bf16(v7_5_bits);
        const f32 v8_4 = maximum_f32(v0, v7_4);
        v0 = v8_4;
        const f32 v8_5 = maximum_f32(v0, v7_5);
        v0 = v8_5;
      }
    } else {
      #pragma unroll 7
      for (s32 vector_1 = 0; vector_1 < 7; vector_1++) {
        if (j3 * 8 + vector_1 <= 1500000) {
          const u16 v5_1 = p0[j3 * 8 + vector_1];
          const f32 v6_1 = decode_bf16(v5_1);
          const f32 v7_1 = abs_f32(v6_1);
          const f32 v8_1 = maximum_f32(v0, v7_1);
          v0 = v8_1;
        }
      }
    }
  }
  if (th_x + bl_x * 256 + 163840 <= 187500) {
    const s32 j3_1 = th_x + bl_x * 256 + 163840;
    if (j3_1 * 8 + 7 <= 1500000) {
      __align__(16) u16 x1[8];
      *(u16x8 *)(x1) = *(const u16x8 *)(p0 + j3_1 * 8);
      #pragma unroll 4
      for (s32 vector_5 = 0; vector_5 < 4; vector_5++) {
        const u16 v5_6 = x1[vector_5 * 2];
        const u16 v5_7 = x1[vector_5 * 2 + 1];
        const u32 v7_2_pair = packed_abs_bf16(pack(v5_6, v5_7));
        const u16 v7_6_bits = unpack_low(v7_2_pair);
        const f32 v7_6 = decode_bf16(v7_6_bits);
        const u16 v7_7_bits = unpack_high(v7_2_pair);
        const f32 v7_7 = decode_bf16(v7_7_bits);
        const f32 v8_6 = maximum_f32(v0, v7_6);
        v0 = v8_6;
        const f32 v8_7 = maximum_f32(v0, v7_7);
        v0 = v8_7;
      }
    } else {
      #pragma unroll 7
      for (s32 vector_3 = 0; vector_3 < 7; vector_3++) {
        if (j3_1 * 8 + vector_3 <= 1500000) {
          const u16 v5_3 = p0[j3_1 * 8 + vector_3];
          const f32 v6_3 = decode_bf16(v5_3);
          const f32 v7_3 = abs_f32(v6_3);
          const f32 v8_3 = maximum_f32(v0, v7_3);
          v0 = v8_3;
        }
      }
    }
  }
  const f32 t14 = __shfl_down_sync(0xffffffffu, v0, 16);
  const f32 v0_8 = maximum_f32(v0, t14);
  v0 = v0_8;
  const f32 t16 = __shfl_down_sync(0xffffffffu, v0, 8);
  const f32 v0_9 = maximum_f32(v0, t16);
  v0 = v0_9;
  const f32 t18 = __shfl_down_sync(0xffffffffu, v0, 4);
  const f32 v0_10 = maximum_f32(v0, t18);
  v0 = v0_10;
  const f32 t20 = __shfl_down_sync(0xffffffffu, v0, 2);
  const f32 v0_11 = maximum_f32(v0, t20);
  v0 = v0_11;
  const f32 t22 = __shfl_down_sync(0xffffffffu, v0, 1);
  const f32 v0_12 = maximum_f32(v0, t22);
  v0 = v0_12;
  if ((th_x & 31) <= 0) {
    part1[th_x >> 5] = v0;
  }
  __syncthreads();
  v0 = part1[(th_x & 7)];
  const f32 t24 = __shfl_down_sync(0xffffffffu, v0, 4);
  const f32 v0_13 = maximum_f32(v0, t24);
  v0 = v0_13;
  const f32 t26 = __shfl_down_sync(0xffffffffu, v0, 2);
  const f32 v0_14 = maximum_f32(v0, t26);
  v0 = v0_14;
  const f32 t28 = __shfl_down_sync(0xffffffffu, v0, 1);
  const f32 v0_15 = maximum_f32(v0, t28);
  v0 = v0_15;
  if (th_x <= 0) {
    w0[bl_x] = v0;
  }
  __threadfence();
  __syncthreads();
  if (th_x <= 0) {
    const u32 arrived9 = atomicAdd(w1, 1u);
    last1[0] = arrived9;
  }
  __syncthreads();
  if (last1[0] == 127u) {
    __threadfence();
    if (th_x <= 0) {
      w1[0] = 0u;
    }
    v0 = (-inf_f32);
    if (th_x <= 127) {
      const s32 j10 = th_x;
      const f32 v11 = w0[j10];
      v0 = v11;
    }
    const f32 t0 = __shfl_down_sync(0xffffffffu, v0, 16);
    const f32 v0_1 = maximum_f32(v0, t0);
    v0 = v0_1;
    const f32 t2 = __shfl_down_sync(0xffffffffu, v0, 8);
    const f32 v0_2 = maximum_f32(v0, t2);
    v0 = v0_2;
    const f32 t4 = __shfl_down_sync(0xffffffffu, v0, 4);
    const f32 v0_3 = maximum_f32(v0, t4);
    v0 = v0_3;
    const f32 t6 = __shfl_down_sync(0xffffffffu, v0, 2);
    const f32 v0_4 = maximum_f32(v0, t6);
    v0 = v0_4;
    const f32 t8 = __shfl_down_sync(0xffffffffu, v0, 1);
    const f32 v0_5 = maximum_f32(v0, t8);
    v0 = v0_5;
    if ((th_x & 31) <= 0) {
      part0[th_x >> 5] = v0;
    }
    __syncthreads();
    v0 = part0[(th_x >> 7) * 4 + (th_x & 3)];
    const f32 t10 = __shfl_down_sync(0xffffffffu, v0, 2);
    const f32 v0_6 = maximum_f32(v0, t10);
    v0 = v0_6;
    const f32 t12 = __shfl_down_sync(0xffffffffu, v0, 1);
    const f32 v0_7 = maximum_f32(v0, t12);
    v0 = v0_7;
    if (th_x <= 0) {
      const f32 v12 = maximum_f32(0.0f, v0);
      o0[0] = v12;
    }
  }
}
