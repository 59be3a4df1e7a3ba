// fused: reduction emitter, 128 blocks of 256 threads

#pragma OPENCL FP_CONTRACT OFF
typedef ushort u16;
typedef int s32;
typedef uint u32;
typedef float f32;
typedef struct __attribute__((aligned(16))) { u16 v[8]; } u16x8;

static f32 decode_bf16(u16 bits) { return as_float((u32)bits << 16); }

static f32 maximum_f32(f32 a, f32 b) {
  if (a == b) return as_uint(a) <= as_uint(b) ? a : b;
  return a > b || a != a ? a : b;
}

__attribute__((reqd_work_group_size(256, 1, 1))) __kernel void reduction_reduce(__global const u16 *restrict p0, __global f32 *restrict o0, __global f32 *w0, __global u32 *w1) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __local u32 last38;
  __local f32 part21[256];
  f32 v0 = (-INFINITY);
  #pragma unroll 4
  for (s32 r1 = 0; r1 < 5; ++r1) {
    const u16x8 x3 = ((__global const u16x8 *)p0)[th_x + bl_x * 256 + r1 * 32768];
    #pragma unroll
    for (s32 r2 = 0; r2 < 8; ++r2) {
      const f32 v4 = decode_bf16(x3.v[r2]);
      const f32 v5 = (f32)v4;
      const f32 v6 = fabs(v5);
      const f32 v7 = maximum_f32(v0, v6);
      v0 = v7;
    }
  }
  if ((th_x + bl_x * 256 + 163840) <= 187500) {
    const s32 j8 = th_x + bl_x * 256 + 163840;
    if (j8 < 187500) {
      const s32 j9 = j8;
      const u16x8 x11 = ((__global const u16x8 *)p0)[j9];
      #pragma unroll
      for (s32 r10 = 0; r10 < 8; ++r10) {
        const f32 v12 = decode_bf16(x11.v[r10]);
        const f32 v13 = (f32)v12;
        const f32 v14 = fabs(v13);
        const f32 v15 = maximum_f32(v0, v14);
        v0 = v15;
      }
    }
    else {
      for (s32 r16 = 0; r16 < 1; ++r16) {
        const f32 v17 = decode_bf16(p0[1500000]);
        const f32 v18 = (f32)v17;
        const f32 v19 = fabs(v18);
        const f32 v20 = maximum_f32(v0, v19);
        v0 = v20;
      }
    }
  }
  part21[get_local_id(0)] = v0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 128) {
    const f32 v22 = part21[get_local_id(0) + 128];
    const f32 v23 = maximum_f32(v0, v22);
    v0 = v23;
    part21[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 64) {
    const f32 v24 = part21[get_local_id(0) + 64];
    const f32 v25 = maximum_f32(v0, v24);
    v0 = v25;
    part21[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 32) {
    const f32 v26 = part21[get_local_id(0) + 32];
    const f32 v27 = maximum_f32(v0, v26);
    v0 = v27;
    part21[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 16) {
    const f32 v28 = part21[get_local_id(0) + 16];
    const f32 v29 = maximum_f32(v0, v28);
    v0 = v29;
    part21[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 8) {
    const f32 v30 = part21[get_local_id(0) + 8];
    const f32 v31 = maximum_f32(v0, v30);
    v0 = v31;
    part21[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 4) {
    const f32 v32 = part21[get_local_id(0) + 4];
    const f32 v33 = maximum_f32(v0, v32);
    v0 = v33;
    part21[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 2) {
    const f32 v34 = part21[get_local_id(0) + 2];
    const f32 v35 = maximum_f32(v0, v34);
    v0 = v35;
    part21[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 1) {
    const f32 v36 = part21[get_local_id(0) + 1];
    const f32 v37 = maximum_f32(v0, v36);
    v0 = v37;
  }
  if (th_x == 0) {
    w0[bl_x] = v0;
  }
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    last38 = atomic_add(&w1[0], 1u);
    if (last38 == 127) w1[0] = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (last38 == 127) {
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    v0 = (-INFINITY);
    if (th_x < 128) {
      const s32 q39 = th_x;
      const f32 v40 = w0[q39];
      const f32 v41 = maximum_f32(v0, v40);
      v0 = v41;
    }
    part21[get_local_id(0)] = v0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (th_x < 64) {
      const f32 v42 = part21[get_local_id(0) + 64];
      const f32 v43 = maximum_f32(v0, v42);
      v0 = v43;
      part21[get_local_id(0)] = v0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (th_x < 32) {
      const f32 v44 = part21[get_local_id(0) + 32];
      const f32 v45 = maximum_f32(v0, v44);
      v0 = v45;
      part21[get_local_id(0)] = v0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (th_x < 16) {
      const f32 v46 = part21[get_local_id(0) + 16];
      const f32 v47 = maximum_f32(v0, v46);
      v0 = v47;
      part21[get_local_id(0)] = v0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (th_x < 8) {
      const f32 v48 = part21[get_local_id(0) + 8];
      const f32 v49 = maximum_f32(v0, v48);
      v0 = v49;
      part21[get_local_id(0)] = v0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (th_x < 4) {
      const f32 v50 = part21[get_local_id(0) + 4];
      const f32 v51 = maximum_f32(v0, v50);
      v0 = v51;
      part21[get_local_id(0)] = v0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (th_x < 2) {
      const f32 v52 = part21[get_local_id(0) + 2];
      const f32 v53 = maximum_f32(v0, v52);
      v0 = v53;
      part21[get_local_id(0)] = v0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (th_x < 1) {
      const f32 v54 = part21[get_local_id(0) + 1];
      const f32 v55 = maximum_f32(v0, v54);
      v0 = v55;
    }
    if (th_x == 0) {
      const f32 v56 = maximum_f32(0.0f, v0);
      const f32 v57 = v56;
      o0[0] = v57;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
