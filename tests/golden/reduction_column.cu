// fused: reduction emitter, 143 blocks of 512 threads

typedef float f32;
typedef int s32;
typedef unsigned int u32;
typedef unsigned long long u64;

static __device__ s32 quotient_s32(s32 x, s32 divisor, s32 shift) {
  const u32 reciprocal = (u32)((((u64)1 << (32 + shift)) + divisor - 1) / divisor);
  return (s32)((u64)(u32)x * reciprocal >> (32 + shift));
}

extern "C" __global__ void __launch_bounds__(512) reduction_reduce(const f32 *__restrict__ p0, f32 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ f32 part0[512];
  const s32 quotient_1 = quotient_s32(bl_x, 11, 0);
  f32 v0 = (-0.0f);
  if ((th_x & 31) + (bl_x - quotient_1 * 11) * 32 <= 320) {
    const s32 j1 = (th_x & 31) + (bl_x - quotient_1 * 11) * 32;
    #pragma unroll 8
    for (s32 step2 = 0; step2 < 65; step2++) {
      const s32 j3 = step2 * 16 + (th_x >> 5);
      const f32 v4 = p0[j1 + j3 * 321 + quotient_1 * 337371];
      const f32 v5 = v0 + v4;
      v0 = v5;
    }
    if ((th_x >> 5) + 1040 <= 1050) {
      const s32 j3_1 = (th_x >> 5) + 1040;
      const f32 v4_1 = p0[j1 + j3_1 * 321 + quotient_1 * 337371];
      const f32 v5_1 = v0 + v4_1;
      v0 = v5_1;
    }
  }
  part0[th_x] = v0;
  __syncthreads();
  if ((th_x >> 5) <= 0) {
    const f32 t0 = part0[th_x + 32];
    const f32 v0_1 = v0 + t0;
    v0 = v0_1;
    const f32 t2 = part0[th_x + 64];
    const f32 v0_2 = v0 + t2;
    v0 = v0_2;
    const f32 t4 = part0[th_x + 96];
    const f32 v0_3 = v0 + t4;
    v0 = v0_3;
    const f32 t6 = part0[th_x + 128];
    const f32 v0_4 = v0 + t6;
    v0 = v0_4;
    const f32 t8 = part0[th_x + 160];
    const f32 v0_5 = v0 + t8;
    v0 = v0_5;
    const f32 t10 = part0[th_x + 192];
    const f32 v0_6 = v0 + t10;
    v0 = v0_6;
    const f32 t12 = part0[th_x + 224];
    const f32 v0_7 = v0 + t12;
    v0 = v0_7;
    const f32 t14 = part0[th_x + 256];
    const f32 v0_8 = v0 + t14;
    v0 = v0_8;
    const f32 t16 = part0[th_x + 288];
    const f32 v0_9 = v0 + t16;
    v0 = v0_9;
    const f32 t18 = part0[th_x + 320];
    const f32 v0_10 = v0 + t18;
    v0 = v0_10;
    const f32 t20 = part0[th_x + 352];
    const f32 v0_11 = v0 + t20;
    v0 = v0_11;
    const f32 t22 = part0[th_x + 384];
    const f32 v0_12 = v0 + t22;
    v0 = v0_12;
    const f32 t24 = part0[th_x + 416];
    const f32 v0_13 = v0 + t24;
    v0 = v0_13;
    const f32 t26 = part0[th_x + 448];
    const f32 v0_14 = v0 + t26;
    v0 = v0_14;
    const f32 t28 = part0[th_x + 480];
    const f32 v0_15 = v0 + t28;
    v0 = v0_15;
  }
  if ((th_x >> 5) <= 0 && (th_x & 31) + (bl_x - quotient_1 * 11) * 32 <= 320) {
    const s32 j6 = (th_x & 31) + (bl_x - quotient_1 * 11) * 32;
    const f32 v7 = 0.0f + v0;
    o0[j6 + quotient_1 * 321] = v7;
  }
}
