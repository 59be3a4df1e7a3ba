// fused: scatter emitter, 22 blocks of 128 threads

typedef int s32;
typedef float f32;
typedef unsigned int u32;
typedef unsigned long long u64;

static __device__ s32 clamp_s32(s32 low, s32 x, s32 high) { s32 y = x < low ? low : x; return y > high ? high : y; }

static __device__ s32 quotient_s32(s32 x, s32 divisor, s32 shift) {
  const u32 reciprocal = (u32)((((u64)1 << (32 + shift)) + divisor - 1) / divisor);
  return (s32)((u64)(u32)x * reciprocal >> (32 + shift));
}

static __device__ s32 remainder_s32(s32 x, s32 divisor, s32 shift) { return x - quotient_s32(x, divisor, shift) * divisor; }

extern "C" __global__ void __launch_bounds__(128) scatter_scatter(f32 *p0, const s32 *__restrict__ p1, const f32 *__restrict__ p2) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  f32 *const o0 = (f32 *)p0;
  if (th_x + bl_x * 128 <= 2799) {
    const s32 i = th_x + bl_x * 128;
    const s32 v0 = p1[quotient_s32(i, 70, 0)];
    const s32 j1 = clamp_s32(0, v0, 11);
    const bool v2 = (u32)v0 <= 11u;
    if (v2) {
      const f32 v3 = o0[j1 * 70 + remainder_s32(i, 70, 0)];
      f32 v4 = v3;
      const f32 v5 = p2[i];
      const f32 v6 = v4 + v5;
      v4 = v6;
      o0[j1 * 70 + remainder_s32(i, 70, 0)] = v4;
    }
  }
}
