// fused: reduction emitter, 512 blocks of 256 threads

typedef unsigned short u16;
typedef int s32;
typedef unsigned int u32;
typedef float f32;
typedef struct __align__(16) { u16 v[8]; } u16x8;

static __device__ f32 decode_bf16(u16 bits) { return __uint_as_float((u32)bits << 16); }

extern "C" __global__ void __launch_bounds__(256) reduction_reduce(const u16 *__restrict__ p0, f32 *__restrict__ o0, f32 *__restrict__ o1) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  f32 v0 = (-0.0f);
  f32 v1 = (-0.0f);
  #pragma unroll 4
  for (s32 r2 = 0; r2 < 4; ++r2) {
    const u16x8 x4 = ((const u16x8 *)p0)[th_x + bl_x * 1024 + r2 * 32 + (th_x >> 5) * 96];
    #pragma unroll
    for (s32 r3 = 0; r3 < 8; ++r3) {
      const f32 v5 = decode_bf16(x4.v[r3]);
      const f32 v6 = (f32)v5;
      const f32 v7 = v0 + v6;
      v0 = v7;
      const f32 v8 = v6 * v6;
      const f32 v9 = v1 + v8;
      v1 = v9;
    }
  }
  const f32 v10 = __shfl_down_sync(0xffffffffu, v0, 16);
  const f32 v11 = v0 + v10;
  v0 = v11;
  const f32 v12 = __shfl_down_sync(0xffffffffu, v0, 8);
  const f32 v13 = v0 + v12;
  v0 = v13;
  const f32 v14 = __shfl_down_sync(0xffffffffu, v0, 4);
  const f32 v15 = v0 + v14;
  v0 = v15;
  const f32 v16 = __shfl_down_sync(0xffffffffu, v0, 2);
  const f32 v17 = v0 + v16;
  v0 = v17;
  const f32 v18 = __shfl_down_sync(0xffffffffu, v0, 1);
  const f32 v19 = v0 + v18;
  v0 = v19;
  const f32 v20 = __shfl_down_sync(0xffffffffu, v1, 16);
  const f32 v21 = v1 + v20;
  v1 = v21;
  const f32 v22 = __shfl_down_sync(0xffffffffu, v1, 8);
  const f32 v23 = v1 + v22;
  v1 = v23;
  const f32 v24 = __shfl_down_sync(0xffffffffu, v1, 4);
  const f32 v25 = v1 + v24;
  v1 = v25;
  const f32 v26 = __shfl_down_sync(0xffffffffu, v1, 2);
  const f32 v27 = v1 + v26;
  v1 = v27;
  const f32 v28 = __shfl_down_sync(0xffffffffu, v1, 1);
  const f32 v29 = v1 + v28;
  v1 = v29;
  if ((th_x & 31) == 0) {
    const f32 v30 = 0.0f + v0;
    const f32 v31 = v30;
    const f32 v32 = 0.0f + v1;
    const f32 v33 = v32;
    const f32 v34 = v31 * 0.0009765625f;
    o0[bl_x * 8 + (th_x >> 5)] = v34;
    const f32 v35 = v33 * 0.0009765625f;
    const f32 v36 = v34 * v34;
    const f32 v37 = v35 - v36;
    o1[bl_x * 8 + (th_x >> 5)] = v37;
  }
}
