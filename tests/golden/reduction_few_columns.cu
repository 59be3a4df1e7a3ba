// fused: reduction emitter, 1 blocks of 768 threads

typedef int s32;
typedef float f32;

extern "C" __global__ void __launch_bounds__(768) reduction_reduce(const f32 *__restrict__ p0, f32 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  __shared__ f32 part4[768];
  f32 v0 = (-0.0f);
  #pragma unroll 4
  for (s32 r1 = 0; r1 < 32; ++r1) {
    const f32 v2 = p0[th_x + r1 * 768];
    const f32 v3 = v0 + v2;
    v0 = v3;
  }
  part4[threadIdx.x] = v0;
  __syncthreads();
  if (th_x / 6 < 64) {
    const f32 v5 = part4[threadIdx.x + 384];
    const f32 v6 = v0 + v5;
    v0 = v6;
    part4[threadIdx.x] = v0;
  }
  __syncthreads();
  if (th_x / 6 < 32) {
    const f32 v7 = part4[threadIdx.x + 192];
    const f32 v8 = v0 + v7;
    v0 = v8;
    part4[threadIdx.x] = v0;
  }
  __syncthreads();
  if (th_x / 6 < 16) {
    const f32 v9 = part4[threadIdx.x + 96];
    const f32 v10 = v0 + v9;
    v0 = v10;
    part4[threadIdx.x] = v0;
  }
  __syncthreads();
  if (th_x / 6 < 8) {
    const f32 v11 = part4[threadIdx.x + 48];
    const f32 v12 = v0 + v11;
    v0 = v12;
    part4[threadIdx.x] = v0;
  }
  __syncthreads();
  if (th_x / 6 < 4) {
    const f32 v13 = part4[threadIdx.x + 24];
    const f32 v14 = v0 + v13;
    v0 = v14;
    part4[threadIdx.x] = v0;
  }
  __syncthreads();
  if (th_x / 6 < 2) {
    const f32 v15 = part4[threadIdx.x + 12];
    const f32 v16 = v0 + v15;
    v0 = v16;
    part4[threadIdx.x] = v0;
  }
  __syncthreads();
  if (th_x / 6 < 1) {
    const f32 v17 = part4[threadIdx.x + 6];
    const f32 v18 = v0 + v17;
    v0 = v18;
  }
  if (th_x / 6 == 0) {
    const f32 v19 = 0.0f + v0;
    const f32 v20 = v19;
    o0[th_x % 6] = v20;
  }
}
