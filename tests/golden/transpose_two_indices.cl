// fused: transpose emitter, 4 blocks of 256 threads

#pragma OPENCL FP_CONTRACT OFF
typedef int s32;
typedef float f32;

// log0
static f32 fn1_log(__global const f32 *p0, s32 i0, s32 i1) {
  const f32 v0 = p0[i0 * 64 + i1];
  const f32 v1 = log(v0);
  return v1;
}

// log1
static f32 fn0_log(__global const f32 *p0, s32 i0, s32 i1) {
  const f32 v0 = fn1_log(p0, i0, i1);
  const f32 v1 = fn1_log(p0, i1, i0);
  const f32 v2 = v0 + v1;
  const f32 v3 = log(v2);
  return v3;
}

__attribute__((reqd_work_group_size(256, 1, 1))) __kernel void transpose_transpose(__global const f32 *restrict p0, __global f32 *restrict o0) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __local f32 tile0[1056];
  for (s32 r0 = 0; r0 < 4; ++r0) {
    const f32 v1 = fn0_log(p0, r0 * 8 + (th_x >> 5) + (bl_x >> 1) * 32, (th_x & 31) + (bl_x & 1) * 32);
    tile0[th_x + r0 * 264 + (th_x >> 5)] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (s32 r2 = 0; r2 < 4; ++r2) {
    const f32 v3 = tile0[th_x * 33 + r2 * 8 - (th_x >> 5) * 1055];
    const f32 v4 = fn0_log(p0, r2 * 8 + (th_x >> 5) + (bl_x & 1) * 32, (bl_x >> 1) * 32 + (th_x & 31));
    const f32 v5 = v4 + v3;
    o0[th_x + bl_x * 2048 + r2 * 512 + (th_x >> 5) * 32 - (bl_x >> 1) * 4064] = v5;
  }
}
