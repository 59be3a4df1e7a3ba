// fused: loop emitter, 12 blocks of 128 threads

typedef int s32;
typedef float f32;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef struct __align__(8) { s32 v[2]; } s32x2;

static __device__ s32 clamp_s32(s32 low, s32 x, s32 high) { s32 y = x < low ? low : x; return y > high ? high : y; }

static __device__ s32 quotient_s32(s32 x, s32 divisor, s32 shift) {
  const u32 reciprocal = (u32)((((u64)1 << (32 + shift)) + divisor - 1) / divisor);
  return (s32)((u64)(u32)x * reciprocal >> (32 + shift));
}

static __device__ s32 remainder_s32(s32 x, s32 divisor, s32 shift) { return x - quotient_s32(x, divisor, shift) * divisor; }

static __device__ bool within_s32(s32 x, s32 low, s32 high) { return low <= x && x <= high; }

extern "C" __global__ void __launch_bounds__(128) loop_pad(const f32 *__restrict__ p0, const s32 *__restrict__ p1, const f32 *__restrict__ p2, f32 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  if (th_x + bl_x * 128 <= 1427) {
    const s32 i = th_x + bl_x * 128;
    const f32 v0 = p2[0];
    f32 v1 = v0;
    if (within_s32(quotient_s32(i, 119, 0), 1, 10) && within_s32(remainder_s32(i, 17, 0), 1, 15) && (remainder_s32(i, 17, 0) & 1) >= 1) {
      __align__(16) s32 x0[2];
      *(s32x2 *)(x0) = *(const s32x2 *)(p1 + (quotient_s32(i, 119, 0) * 2 - 2));
      const s32 j3 = ((remainder_s32(i, 17, 0) + 1) >> 1) - 1;
      const s32 v4 = x0[0];
      const s32 j5 = clamp_s32(0, v4, 26);
      const s32 v6 = x0[1];
      const s32 j7 = clamp_s32(0, v6, 68);
      const f32 v8 = p0[j3 + j5 * 76 + j7 + remainder_s32(quotient_s32(i, 17, 0), 7, 0) * 76];
      v1 = v8;
    }
    o0[i] = v1;
  }
}
