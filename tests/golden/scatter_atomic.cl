// fused: scatter emitter, 22 blocks of 128 threads

#pragma OPENCL FP_CONTRACT OFF
typedef int s32;
typedef uint u32;
typedef float f32;

__attribute__((reqd_work_group_size(128, 1, 1))) __kernel void scatter_scatter(__global f32 *o0, __global const s32 *restrict p1, __global const f32 *restrict p2) {
  const s32 i = get_group_id(0) * 128 + get_local_id(0);
  if (i >= 2800) return;
  const s32 v0 = p1[i / 70];
  const s32 j1 = (s32)v0;
  if (v0 >= 0 && v0 <= 11) {
    const f32 v2 = p2[i];
    __global volatile u32 *at3 = (__global volatile u32 *)o0 + j1 * 70 + i % 70;
    u32 old4 = *at3, seen5;
    do {
      seen5 = old4;
      const f32 v6 = as_float(seen5);
      const f32 v7 = v6 + v2;
      old4 = atomic_cmpxchg(at3, seen5, as_uint(v7));
    } while (old4 != seen5);
  }
}
