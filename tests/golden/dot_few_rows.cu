// layer: dot emitter, 48 blocks of 64 threads

typedef float f32;
#define mul_add_f32 fmaf
typedef int s32;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef struct __align__(16) { f32 v[4]; } f32x4;

static __device__ s32 quotient_s32(s32 x, s32 divisor, s32 shift) {
  const u32 reciprocal = (u32)((((u64)1 << (32 + shift)) + divisor - 1) / divisor);
  return (s32)((u64)(u32)x * reciprocal >> (32 + shift));
}

extern "C" __global__ void __launch_bounds__(64) dot_dot(const f32 *__restrict__ p0, const f32 *__restrict__ p1, f32 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  const s32 quotient_1 = quotient_s32(bl_x, 6, 0);
  if (th_x + quotient_1 * 64 <= 499) {
    __align__(16) f32 x0[24];
    const s32 column = th_x + quotient_1 * 64;
    f32 v0 = 0.0f;
    *(f32x4 *)(x0) = *(const f32x4 *)(p0 + (bl_x - quotient_1 * 6) * 24);
    *(f32x4 *)(x0 + 4) = *(const f32x4 *)(p0 + ((bl_x - quotient_1 * 6) * 24 + 4));
    *(f32x4 *)(x0 + 8) = *(const f32x4 *)(p0 + ((bl_x - quotient_1 * 6) * 24 + 8));
    *(f32x4 *)(x0 + 12) = *(const f32x4 *)(p0 + ((bl_x - quotient_1 * 6) * 24 + 12));
    *(f32x4 *)(x0 + 16) = *(const f32x4 *)(p0 + ((bl_x - quotient_1 * 6) * 24 + 16));
    *(f32x4 *)(x0 + 20) = *(const f32x4 *)(p0 + ((bl_x - quotient_1 * 6) * 24 + 20));
    #pragma unroll 3
    for (s32 step1 = 0; step1 < 3; step1++) {
      const f32 v2 = p1[column + step1 * 4000];
      const f32 v3 = x0[step1 * 8];
      v0 = mul_add_f32(v3, v2, v0);
      const f32 v4 = p1[column + step1 * 4000 + 500];
      const f32 v5 = x0[step1 * 8 + 1];
      v0 = mul_add_f32(v5, v4, v0);
      const f32 v6 = p1[column + step1 * 4000 + 1000];
      const f32 v7 = x0[step1 * 8 + 2];
      v0 = mul_add_f32(v7, v6, v0);
      const f32 v8 = p1[column + step1 * 4000 + 1500];
      const f32 v9 = x0[step1 * 8 + 3];
      v0 = mul_add_f32(v9, v8, v0);
      const f32 v10 = p1[column + step1 * 4000 + 2000];
      const f32 v11 = x0[step1 * 8 + 4];
      v0 = mul_add_f32(v11, v10, v0);
      const f32 v12 = p1[column + step1 * 4000 + 2500];
      const f32 v13 = x0[step1 * 8 + 5];
      v0 = mul_add_f32(v13, v12, v0);
      const f32 v14 = p1[column + step1 * 4000 + 3000];
      const f32 v15 = x0[step1 * 8 + 6];
      v0 = mul_add_f32(v15, v14, v0);
      const f32 v16 = p1[column + step1 * 4000 + 3500];
      const f32 v17 = x0[step1 * 8 + 7];
      v0 = mul_add_f32(v17, v16, v0);
    }
    const f32 v18 = v0;
    o0[column + (bl_x - quotient_1 * 6) * 500] = v18;
  }
}
