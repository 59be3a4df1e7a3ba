// fused: scatter emitter, 22 blocks of 128 threads

#pragma OPENCL FP_CONTRACT OFF
typedef int s32;
typedef uint u32;
typedef float f32;

__attribute__((reqd_work_group_size(128, 1, 1))) __kernel void scatter_scatter(__global f32 *o0, __global const s32 *restrict p1, __global const f32 *restrict p2) {
  const s32 i = get_group_id(0) * 128 + get_local_id(0);
  if (i >= 2800) return;
  bool v0 = i / 70 == 0;
  bool v1 = false;
  if (!v0) {
    const s32 j2 = i / 70 - 1;
    const s32 v3 = p1[j2];
    const s32 v4 = p1[i / 70];
    v0 = v3 != v4;
    v1 = !v0 && ((i / 70) & 31) == 0;
  }
  if (v0 || v1) {
    const s32 v5 = p1[i / 70];
    const s32 j6 = (s32)v5;
    if (v5 >= 0 && v5 <= 11) {
      const f32 v7 = p2[i];
      f32 v8 = v7;
      for (s32 r9 = 0; r9 < 32; ++r9) {
        if (r9 + i / 70 + 1 >= 40) break;
        const s32 j10 = r9 + i / 70 + 1;
        const s32 v11 = p1[j10];
        if (v11 != v5) break;
        if ((j10 & 31) == 0) {
          v1 = true;
          break;
        }
        const f32 v12 = p2[j10 * 70 + i % 70];
        const f32 v13 = v8 + v12;
        const f32 v14 = v13;
        v8 = v14;
      }
      if (v1) {
        __global volatile u32 *at15 = (__global volatile u32 *)o0 + j6 * 70 + i % 70;
        u32 old16 = *at15, seen17;
        do {
          seen17 = old16;
          const f32 v18 = as_float(seen17);
          const f32 v19 = v18 + v8;
          old16 = atomic_cmpxchg(at15, seen17, as_uint(v19));
        } while (old16 != seen17);
      }
      else {
        const f32 v20 = o0[j6 * 70 + i % 70];
        const f32 v21 = v20 + v8;
        o0[j6 * 70 + i % 70] = v21;
      }
    }
  }
}
