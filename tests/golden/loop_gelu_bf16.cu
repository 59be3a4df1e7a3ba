// fused: loop emitter, 256 blocks of 128 threads

typedef unsigned short u16;
typedef int s32;
typedef unsigned int u32;
typedef float f32;
typedef struct __align__(16) { u16 v[8]; } u16x8;

static __device__ f32 decode_bf16(u16 bits) { return __uint_as_float((u32)bits << 16); }

static __device__ u16 encode_bf16(f32 x) {
  u16 bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}

static __device__ f32 round_bf16(f32 x) { return decode_bf16(encode_bf16(x)); }

extern "C" __global__ void __launch_bounds__(128) loop_convert(const u16 *__restrict__ p0, u16 *__restrict__ o0) {
  const s32 i = blockIdx.x * 128 + threadIdx.x;
  u16x8 y0;
  const u16x8 x1 = ((const u16x8 *)p0)[i];
  #pragma unroll
  for (s32 r0 = 0; r0 < 8; ++r0) {
    const f32 v2 = decode_bf16(x1.v[r0]);
    const f32 v3 = (f32)v2;
    const f32 v4 = v3 * 0.5f;
    const f32 v5 = v3 * 0.70710677f;
    const f32 v6 = erff(v5);
    const f32 v7 = v6 + 1.0f;
    const f32 v8 = v4 * v7;
    const f32 v9 = round_bf16(v8);
    y0.v[r0] = encode_bf16(v9);
  }
  ((u16x8 *)o0)[i] = y0;
}
