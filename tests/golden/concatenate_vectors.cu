// fused: concatenate emitter, 256 blocks of 128 threads

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

extern "C" __global__ void __launch_bounds__(128) concatenate_concatenate(const u16 *__restrict__ p0, const u16 *__restrict__ p1, u16 *__restrict__ o0) {
  const s32 i = blockIdx.x * 128 + threadIdx.x;
  if ((i & 63) <= 31) {
    const s32 j0 = (i & 63);
    const u16x8 x2 = ((const u16x8 *)p0)[j0 + (i >> 6) * 32];
    u16x8 y4;
    #pragma unroll
    for (s32 r1 = 0; r1 < 8; ++r1) {
      y4.v[r1] = x2.v[r1];
    }
    ((u16x8 *)o0)[j0 + (i >> 6) * 96] = y4;
  }
  const u16x8 x6 = ((const u16x8 *)p1)[i];
  u16x8 y9;
  #pragma unroll
  for (s32 r5 = 0; r5 < 8; ++r5) {
    const f32 v7 = decode_bf16(x6.v[r5]);
    const f32 v8 = -v7;
    y9.v[r5] = encode_bf16(v8);
  }
  ((u16x8 *)o0)[i + (i >> 6) * 32 + 32] = y9;
}
