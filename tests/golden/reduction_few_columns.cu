// fused: reduction emitter, 1 block of 768 threads

typedef float f32;
typedef int s32;
typedef unsigned int u32;
typedef unsigned long long u64;

static __device__ s32 quotient_s32(s32 x, s32 divisor, s32 shift) {
  const u32 reciprocal = (u32)((((u64)1 << (32 + shift)) + divisor - 1) / divisor);
  return (s32)((u64)(u32)x * reciprocal >> (32 + shift));
}

extern "C" __global__ void __launch_bounds__(768) reduction_reduce(const f32 *__restrict__ p0, f32 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  __shared__ f32 part0[768];
  const s32 quotient_1 = quotient_s32(th_x, 6, 0);
  f32 v0 = (-0.0f);
  #pragma unroll 32
  for (s32 step1 = 0; step1 < 32; step1++) {
    const f32 v2 = p0[th_x + step1 * 768];
    const f32 v3 = v0 + v2;
    v0 = v3;
  }
  part0[th_x] = v0;
  __syncthreads();
  if (quotient_1 <= 7) {
    const f32 t0 = part0[th_x + 48];
    const f32 v0_1 = v0 + t0;
    v0 = v0_1;
    const f32 t2 = part0[th_x + 96];
    const f32 v0_2 = v0 + t2;
    v0 = v0_2;
    const f32 t4 = part0[th_x + 144];
    const f32 v0_3 = v0 + t4;
    v0 = v0_3;
    const f32 t6 = part0[th_x + 192];
    const f32 v0_4 = v0 + t6;
    v0 = v0_4;
    const f32 t8 = part0[th_x + 240];
    const f32 v0_5 = v0 + t8;
    v0 = v0_5;
    const f32 t10 = part0[th_x + 288];
    const f32 v0_6 = v0 + t10;
    v0 = v0_6;
    const f32 t12 = part0[th_x + 336];
    const f32 v0_7 = v0 + t12;
    v0 = v0_7;
    const f32 t14 = part0[th_x + 384];
    const f32 v0_8 = v0 + t14;
    v0 = v0_8;
    const f32 t16 = part0[th_x + 432];
    const f32 v0_9 = v0 + t16;
    v0 = v0_9;
    const f32 t18 = part0[th_x + 480];
    const f32 v0_10 = v0 + t18;
    v0 = v0_10;
    const f32 t20 = part0[th_x + 528];
    const f32 v0_11 = v0 + t20;
    v0 = v0_11;
    const f32 t22 = part0[th_x + 576];
    const f32 v0_12 = v0 + t22;
    v0 = v0_12;
    const f32 t24 = part0[th_x + 624];
    const f32 v0_13 = v0 + t24;
    v0 = v0_13;
    const f32 t26 = part0[th_x + 672];
    const f32 v0_14 = v0 + t26;
    v0 = v0_14;
    const f32 t28 = part0[th_x + 720];
    const f32 v0_15 = v0 + t28;
    v0 = v0_15;
    part0[th_x] = v0;
  }
  __syncthreads();
  if (quotient_1 <= 0) {
    const f32 t30 = part0[th_x + 6];
    const f32 v0_16 = v0 + t30;
    v0 = v0_16;
    const f32 t32 = part0[th_x + 12];
    const f32 v0_17 = v0 + t32;
    v0 = v0_17;
    const f32 t34 = part0[th_x + 18];
    const f32 v0_18 = v0 + t34;
    v0 = v0_18;
    const f32 t36 = part0[th_x + 24];
    const f32 v0_19 = v0 + t36;
    v0 = v0_19;
    const f32 t38 = part0[th_x + 30];
    const f32 v0_20 = v0 + t38;
    v0 = v0_20;
    const f32 t40 = part0[th_x + 36];
    const f32 v0_21 = v0 + t40;
    v0 = v0_21;
    const f32 t42 = part0[th_x + 42];
    const f32 v0_22 = v0 + t42;
    v0 = v0_22;
  }
  if (quotient_1 <= 0) {
    const f32 v4 = 0.0f + v0;
    o0[th_x - quotient_1 * 6] = v4;
  }
}
