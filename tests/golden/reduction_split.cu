// fused: reduction emitter, 128 blocks of 256 threads

typedef unsigned short u16;
typedef int s32;
typedef unsigned int u32;
typedef float f32;
typedef struct __align__(16) { u16 v[8]; } u16x8;

static __device__ f32 decode_bf16(u16 bits) { return __uint_as_float((u32)bits << 16); }

static __device__ f32 maximum_f32(f32 a, f32 b) {
  f32 x;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(x) : "f"(a), "f"(b));
  return x;
}

extern "C" __global__ void __launch_bounds__(256) reduction_reduce(const u16 *__restrict__ p0, f32 *__restrict__ o0, f32 *w0, u32 *w1) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ u32 last32;
  __shared__ f32 part25[8];
  f32 v0 = (-(1.0f / 0.0f));
  for (s32 r1 = 0; r1 < 6; ++r1) {
    if ((th_x + bl_x * 256 + r1 * 32768) <= 187500) {
      const s32 j2 = th_x + bl_x * 256 + r1 * 32768;
      if (j2 < 187500) {
        const s32 j3 = j2;
        const u16x8 x5 = ((const u16x8 *)p0)[j3];
        #pragma unroll
        for (s32 r4 = 0; r4 < 8; ++r4) {
          const f32 v6 = decode_bf16(x5.v[r4]);
          const f32 v7 = (f32)v6;
          const f32 v8 = fabsf(v7);
          const f32 v9 = maximum_f32(v0, v8);
          v0 = v9;
        }
      }
      else {
        for (s32 r10 = 0; r10 < 1; ++r10) {
          const f32 v11 = decode_bf16(p0[1500000]);
          const f32 v12 = (f32)v11;
          const f32 v13 = fabsf(v12);
          const f32 v14 = maximum_f32(v0, v13);
          v0 = v14;
        }
      }
    }
  }
  const f32 v15 = __shfl_down_sync(0xffffffffu, v0, 16);
  const f32 v16 = maximum_f32(v0, v15);
  v0 = v16;
  const f32 v17 = __shfl_down_sync(0xffffffffu, v0, 8);
  const f32 v18 = maximum_f32(v0, v17);
  v0 = v18;
  const f32 v19 = __shfl_down_sync(0xffffffffu, v0, 4);
  const f32 v20 = maximum_f32(v0, v19);
  v0 = v20;
  const f32 v21 = __shfl_down_sync(0xffffffffu, v0, 2);
  const f32 v22 = maximum_f32(v0, v21);
  v0 = v22;
  const f32 v23 = __shfl_down_sync(0xffffffffu, v0, 1);
  const f32 v24 = maximum_f32(v0, v23);
  v0 = v24;
  if (threadIdx.x % 32 == 0) {
    part25[threadIdx.x / 32] = v0;
  }
  __syncthreads();
  v0 = part25[threadIdx.x / 256 * 8 + (th_x) % 8];
  const f32 v26 = __shfl_down_sync(0xffffffffu, v0, 4);
  const f32 v27 = maximum_f32(v0, v26);
  v0 = v27;
  const f32 v28 = __shfl_down_sync(0xffffffffu, v0, 2);
  const f32 v29 = maximum_f32(v0, v28);
  v0 = v29;
  const f32 v30 = __shfl_down_sync(0xffffffffu, v0, 1);
  const f32 v31 = maximum_f32(v0, v30);
  v0 = v31;
  if (th_x == 0) {
    w0[bl_x] = v0;
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last32 = atomicAdd(&w1[0], 1u);
  __syncthreads();
  if (last32 == 127) {
    __threadfence();
    if (threadIdx.x == 0) w1[0] = 0;
    v0 = (-(1.0f / 0.0f));
    if (th_x < 128) {
      const s32 q33 = th_x;
      const f32 v34 = w0[q33];
      const f32 v35 = maximum_f32(v0, v34);
      v0 = v35;
    }
    const f32 v36 = __shfl_down_sync(0xffffffffu, v0, 16);
    const f32 v37 = maximum_f32(v0, v36);
    v0 = v37;
    const f32 v38 = __shfl_down_sync(0xffffffffu, v0, 8);
    const f32 v39 = maximum_f32(v0, v38);
    v0 = v39;
    const f32 v40 = __shfl_down_sync(0xffffffffu, v0, 4);
    const f32 v41 = maximum_f32(v0, v40);
    v0 = v41;
    const f32 v42 = __shfl_down_sync(0xffffffffu, v0, 2);
    const f32 v43 = maximum_f32(v0, v42);
    v0 = v43;
    const f32 v44 = __shfl_down_sync(0xffffffffu, v0, 1);
    const f32 v45 = maximum_f32(v0, v44);
    v0 = v45;
    if (threadIdx.x % 32 == 0) {
      part25[threadIdx.x / 32] = v0;
    }
    __syncthreads();
    v0 = part25[threadIdx.x / 256 * 8 + (th_x) % 4];
    const f32 v46 = __shfl_down_sync(0xffffffffu, v0, 2);
    const f32 v47 = maximum_f32(v0, v46);
    v0 = v47;
    const f32 v48 = __shfl_down_sync(0xffffffffu, v0, 1);
    const f32 v49 = maximum_f32(v0, v48);
    v0 = v49;
    if (th_x == 0) {
      const f32 v50 = maximum_f32(0.0f, v0);
      const f32 v51 = v50;
      o0[0] = v51;
    }
    __syncthreads();
  }
}
