// fused: reduction emitter, 286 blocks of 256 threads

typedef float f32;
typedef int s32;
typedef unsigned int u32;

extern "C" __global__ void __launch_bounds__(256) reduction_reduce(const f32 *__restrict__ p0, f32 *__restrict__ o0, f32 *__restrict__ w0, u32 *__restrict__ w1) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ u32 last1[1];
  __shared__ f32 part0[256];
  __shared__ f32 part1[256];
  f32 v0 = (-0.0f);
  if ((th_x & 31) + ((bl_x >> 1) % 11) * 32 <= 320) {
    const s32 j2 = (th_x & 31) + ((bl_x >> 1) % 11) * 32;
    #pragma unroll 4
    for (s32 step3 = 0; step3 < 65; step3++) {
      const s32 j4 = step3 * 16 + (th_x >> 5) + (bl_x & 1) * 8;
      const f32 v5 = p0[j2 + j4 * 321 + (bl_x / 22) * 337371];
      const f32 v6 = v0 + v5;
      v0 = v6;
    }
    if ((th_x >> 5) + (bl_x & 1) * 8 + 1040 <= 1050) {
      const s32 j4_1 = (th_x >> 5) + (bl_x & 1) * 8 + 1040;
      const f32 v5_1 = p0[j2 + j4_1 * 321 + (bl_x / 22) * 337371];
      const f32 v6_1 = v0 + v5_1;
      v0 = v6_1;
    }
  }
  part1[th_x] = v0;
  __syncthreads();
  if ((th_x >> 5) <= 3) {
    const f32 t2 = part1[th_x + 128];
    const f32 v0_1 = v0 + t2;
    v0 = v0_1;
    part1[th_x] = v0;
  }
  __syncthreads();
  if ((th_x >> 5) <= 1) {
    const f32 t4 = part1[th_x + 64];
    const f32 v0_2 = v0 + t4;
    v0 = v0_2;
    part1[th_x] = v0;
  }
  __syncthreads();
  if ((th_x >> 5) <= 0) {
    const f32 t6 = part1[th_x + 32];
    const f32 v0_3 = v0 + t6;
    v0 = v0_3;
  }
  if ((th_x >> 5) <= 0) {
    w0[bl_x * 32 + (th_x & 31)] = v0;
  }
  __threadfence();
  __syncthreads();
  if (th_x <= 0) {
    const u32 arrived7 = atomicAdd(w1 + (bl_x >> 1), 1u);
    last1[0] = arrived7;
  }
  __syncthreads();
  if (last1[0] == 1u) {
    __threadfence();
    if (th_x <= 0) {
      w1[bl_x >> 1] = 0u;
    }
    v0 = (-0.0f);
    if ((th_x >> 5) <= 1) {
      const s32 j8 = th_x >> 5;
      const f32 v9 = w0[j8 * 32 + (bl_x >> 1) * 64 + (th_x & 31)];
      const f32 v10 = v0 + v9;
      v0 = v10;
    }
    part0[th_x] = v0;
    __syncthreads();
    if (((th_x >> 5) & 1) <= 0) {
      const f32 t0 = part0[th_x + 32];
      const f32 v0_4 = v0 + t0;
      v0 = v0_4;
    }
    if ((th_x >> 5) <= 0 && (th_x & 31) + ((bl_x >> 1) % 11) * 32 <= 320) {
      const s32 j11 = (th_x & 31) + ((bl_x >> 1) % 11) * 32;
      const f32 v12 = 0.0f + v0;
      o0[j11 + (bl_x / 22) * 321] = v12;
    }
  }
}
