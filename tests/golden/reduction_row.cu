// fused: reduction emitter, 4 blocks of 256 threads

typedef float f32;
#define log_f32 logf
typedef int s32;
typedef unsigned int u32;
typedef struct __align__(16) { f32 v[4]; } f32x4;

static __device__ void store_vector_16(void *to, const void *from) {
  u32 words[4];
  memcpy(words, from, 16);
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
               : : "l"(__cvta_generic_to_global(to)), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
}

extern "C" __global__ void __launch_bounds__(256) reduction_reduce(const f32 *__restrict__ p0, const f32 *__restrict__ p1, f32 *__restrict__ o0, f32 *__restrict__ o1) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ f32 part0[8];
  __align__(16) f32 x0[4];
  __align__(16) f32 x1[4];
  f32 v0 = (-0.0f);
  #pragma unroll 4
  for (s32 step1 = 0; step1 < 4; step1++) {
    *(f32x4 *)(x0) = *(const f32x4 *)(p0 + (th_x * 4 + bl_x * 4096 + step1 * 512 + (th_x >> 7) * 1536));
    #pragma unroll 4
    for (s32 vector_index2 = 0; vector_index2 < 4; vector_index2++) {
      const f32 v3 = x0[vector_index2];
      const f32 v4 = v0 + v3;
      v0 = v4;
      const f32 v5 = (-v3);
      x1[vector_index2] = v5;
    }
    store_vector_16(o1 + (th_x * 4 + bl_x * 4096 + step1 * 512 + (th_x >> 7) * 1536), x1);
  }
  const f32 t0 = __shfl_down_sync(0xffffffffu, v0, 16);
  const f32 v0_1 = v0 + t0;
  v0 = v0_1;
  const f32 t2 = __shfl_down_sync(0xffffffffu, v0, 8);
  const f32 v0_2 = v0 + t2;
  v0 = v0_2;
  const f32 t4 = __shfl_down_sync(0xffffffffu, v0, 4);
  const f32 v0_3 = v0 + t4;
  v0 = v0_3;
  const f32 t6 = __shfl_down_sync(0xffffffffu, v0, 2);
  const f32 v0_4 = v0 + t6;
  v0 = v0_4;
  const f32 t8 = __shfl_down_sync(0xffffffffu, v0, 1);
  const f32 v0_5 = v0 + t8;
  v0 = v0_5;
  if ((th_x & 31) <= 0) {
    part0[th_x >> 5] = v0;
  }
  __syncthreads();
  v0 = part0[(th_x >> 7) * 4 + (th_x & 3)];
  const f32 t10 = __shfl_down_sync(0xffffffffu, v0, 2);
  const f32 v0_6 = v0 + t10;
  v0 = v0_6;
  const f32 t12 = __shfl_down_sync(0xffffffffu, v0, 1);
  const f32 v0_7 = v0 + t12;
  v0 = v0_7;
  if ((th_x & 127) <= 0) {
    const f32 v6 = p1[0];
    const f32 v7 = v6 + v0;
    const f32 v8 = log_f32(v7);
    o0[bl_x * 2 + (th_x >> 7)] = v8;
  }
}
