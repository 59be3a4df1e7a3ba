// fused: scatter emitter, 22 blocks of 128 threads

typedef int s32;
typedef float f32;
typedef unsigned short u16;

static __device__ s32 clamp_s32(s32 low, s32 x, s32 high) { s32 y = x < low ? low : x; return y > high ? high : y; }

static __device__ f32 decode_bf16(u16 bits) {
  f32 x;
  asm("mov.b32 %0, {%1, %2};" : "=f"(x) : "h"((u16)0), "h"(bits));
  return x;
}

static __device__ u16 encode_bf16(f32 a) {
  u16 x;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(x) : "f"(a));
  return x;
}

// add
static __device__ f32 combine0(f32 a0, f32 b0) {
  const f32 v0 = a0 + b0;
  return v0;
}

extern "C" __global__ void __launch_bounds__(128) scatter_scatter(u16 *p0, const s32 *__restrict__ p1, const u16 *__restrict__ p2) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  u16 *const o0 = (u16 *)p0;
  if (th_x + bl_x * 128 <= 2799) {
    const s32 i = th_x + bl_x * 128;
    const s32 v0 = p1[i / 70];
    const s32 j1 = clamp_s32(0, v0, 11);
    const bool v2 = ((v0 >= 0) & (v0 <= 11));
    if (v2) {
      const u16 v3 = p2[i];
      const f32 v4 = decode_bf16(v3);
      const f32 given_5 = v4;
      u16 *at_1 = (u16 *)o0 + j1 * 70 + i % 70;
      u16 old_2 = *(volatile u16 *)at_1, seen_3;
      do {
        seen_3 = old_2;
        const u16 stored_6 = (u16)(seen_3);
        const f32 now_4 = combine0(decode_bf16(stored_6), given_5);
        old_2 = atomicCAS(at_1, seen_3, (u16)encode_bf16(now_4));
      } while (old_2 != seen_3);
    }
  }
}
