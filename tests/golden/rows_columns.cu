// fused: rows emitter, 36 blocks of 256 threads

typedef float f32;
typedef int s32;
typedef unsigned int u32;
typedef unsigned long long u64;
#define rsqrt_f32 rsqrtf

static __device__ s32 quotient_s32(s32 x, s32 divisor, s32 shift) {
  const u32 reciprocal = (u32)((((u64)1 << (32 + shift)) + divisor - 1) / divisor);
  return (s32)((u64)(u32)x * reciprocal >> (32 + shift));
}

extern "C" __global__ void __launch_bounds__(256) rows_reduce(const f32 *__restrict__ p0, f32 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ f32 part0[256];
  const s32 quotient_1 = quotient_s32(bl_x, 9, 0);
  f32 kept0[3];
  f32 v1 = (-0.0f);
  if ((th_x & 7) + (bl_x - quotient_1 * 9) * 8 <= 69) {
    const s32 j2 = (th_x & 7) + (bl_x - quotient_1 * 9) * 8;
    #pragma unroll 2
    for (s32 step3 = 0; step3 < 2; step3++) {
      const s32 j4 = step3 * 32 + (th_x >> 3);
      const f32 v5 = p0[j2 + j4 * 70 + quotient_1 * 6300];
      const f32 v6 = v5 * v5;
      const f32 v7 = v1 + v6;
      v1 = v7;
      kept0[step3] = v5;
    }
    if ((th_x >> 3) + 64 <= 89) {
      const s32 j4_1 = (th_x >> 3) + 64;
      const f32 v5_1 = p0[j2 + j4_1 * 70 + quotient_1 * 6300];
      const f32 v6_1 = v5_1 * v5_1;
      const f32 v7_1 = v1 + v6_1;
      v1 = v7_1;
      kept0[2] = v5_1;
    }
  }
  part0[th_x] = v1;
  __syncthreads();
  if ((th_x >> 3) <= 1) {
    const f32 t0 = part0[th_x + 16];
    const f32 v0 = v1 + t0;
    v1 = v0;
    const f32 t2 = part0[th_x + 32];
    const f32 v0_1 = v1 + t2;
    v1 = v0_1;
    const f32 t4 = part0[th_x + 48];
    const f32 v0_2 = v1 + t4;
    v1 = v0_2;
    const f32 t6 = part0[th_x + 64];
    const f32 v0_3 = v1 + t6;
    v1 = v0_3;
    const f32 t8 = part0[th_x + 80];
    const f32 v0_4 = v1 + t8;
    v1 = v0_4;
    const f32 t10 = part0[th_x + 96];
    const f32 v0_5 = v1 + t10;
    v1 = v0_5;
    const f32 t12 = part0[th_x + 112];
    const f32 v0_6 = v1 + t12;
    v1 = v0_6;
    const f32 t14 = part0[th_x + 128];
    const f32 v0_7 = v1 + t14;
    v1 = v0_7;
    const f32 t16 = part0[th_x + 144];
    const f32 v0_8 = v1 + t16;
    v1 = v0_8;
    const f32 t18 = part0[th_x + 160];
    const f32 v0_9 = v1 + t18;
    v1 = v0_9;
    const f32 t20 = part0[th_x + 176];
    const f32 v0_10 = v1 + t20;
    v1 = v0_10;
    const f32 t22 = part0[th_x + 192];
    const f32 v0_11 = v1 + t22;
    v1 = v0_11;
    const f32 t24 = part0[th_x + 208];
    const f32 v0_12 = v1 + t24;
    v1 = v0_12;
    const f32 t26 = part0[th_x + 224];
    const f32 v0_13 = v1 + t26;
    v1 = v0_13;
    const f32 t28 = part0[th_x + 240];
    const f32 v0_14 = v1 + t28;
    v1 = v0_14;
    part0[th_x] = v1;
  }
  __syncthreads();
  if ((th_x >> 3) <= 0) {
    const f32 t30 = part0[th_x + 8];
    const f32 v0_15 = v1 + t30;
    v1 = v0_15;
    part0[th_x] = v1;
  }
  __syncthreads();
  v1 = part0[(th_x & 7)];
  const f32 v8 = 1.0f + v1;
  if ((th_x & 7) + (bl_x - quotient_1 * 9) * 8 <= 69) {
    const s32 j9 = (th_x & 7) + (bl_x - quotient_1 * 9) * 8;
    const f32 v10 = rsqrt_f32(v8);
    const s32 j12_2 = th_x >> 3;
    const f32 v13_2 = kept0[0];
    const f32 v14_2 = v13_2 * v10;
    o0[j9 + j12_2 * 70 + quotient_1 * 6300] = v14_2;
    const s32 j12_3 = (th_x >> 3) + 32;
    const f32 v13_3 = kept0[1];
    const f32 v14_3 = v13_3 * v10;
    o0[j9 + j12_3 * 70 + quotient_1 * 6300] = v14_3;
    if ((th_x >> 3) + 64 <= 89) {
      const s32 j12_1 = (th_x >> 3) + 64;
      const f32 v13_1 = kept0[2];
      const f32 v14_1 = v13_1 * v10;
      o0[j9 + j12_1 * 70 + quotient_1 * 6300] = v14_1;
    }
  }
}
