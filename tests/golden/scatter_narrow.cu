// fused: scatter emitter, 22 blocks of 128 threads

typedef unsigned short u16;
typedef int s32;
typedef unsigned int u32;
typedef long long s64;
typedef float f32;

static __device__ f32 decode_bf16(u16 bits) { return __uint_as_float((u32)bits << 16); }

static __device__ u16 encode_bf16(f32 x) {
  u16 bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}

static __device__ f32 round_bf16(f32 x) { return decode_bf16(encode_bf16(x)); }

extern "C" __global__ void __launch_bounds__(128) scatter_scatter(u16 *o0, const s32 *__restrict__ p1, const u16 *__restrict__ p2) {
  const s32 i = blockIdx.x * 128 + threadIdx.x;
  if (i >= 2800) return;
  const s32 v0 = p1[i / 70];
  const s32 j1 = (s32)v0;
  if (v0 >= 0 && v0 <= 11) {
    const f32 v2 = decode_bf16(p2[i]);
    const s64 place6 = j1 * 70 + i % 70;
    u32 *at3 = (u32 *)o0 + place6 / 2;
    u32 old4 = *at3, seen5;
    do {
      seen5 = old4;
      const f32 v7 = decode_bf16((u16)((seen5 >> ((s32)(place6 % 2) * 16))));
      const f32 v8 = round_bf16(v7 + v2);
      old4 = atomicCAS(at3, seen5, (seen5 & ~(65535u << ((s32)(place6 % 2) * 16))) | ((u32)((u16)(encode_bf16(v8))) << ((s32)(place6 % 2) * 16)));
    } while (old4 != seen5);
  }
}
