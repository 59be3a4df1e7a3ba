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
  __local u32 last32;
  __local f32 part15[256];
  f32 v0 = (-INFINITY);
  for (s32 r1 = 0; r1 < 6; ++r1) {
    if ((th_x + bl_x * 256 + r1 * 32768) <= 187500) {
      const s32 j2 = th_x + bl_x * 256 + r1 * 32768;
      if (j2 < 187500) {
        const s32 j3 = j2;
        const u16x8 x5 = ((__global const u16x8 *)p0)[j3];
        #pragma unroll
        for (s32 r4 = 0; r4 < 8; ++r4) {
          const f32 v6 = decode_bf16(x5.v[r4]);
          const f32 v7 = (f32)v6;
          const f32 v8 = fabs(v7);
          const f32 v9 = maximum_f32(v0, v8);
          v0 = v9;
        }
      }
      else {
        for (s32 r10 = 0; r10 < 1; ++r10) {
          const f32 v11 = decode_bf16(p0[1500000]);
          const f32 v12 = (f32)v11;
          const f32 v13 = fabs(v12);
          const f32 v14 = maximum_f32(v0, v13);
          v0 = v14;
        }
      }
    }
  }
  part15[get_local_id(0)] = v0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 128) {
    const f32 v16 = part15[get_local_id(0) + 128];
    const f32 v17 = maximum_f32(v0, v16);
    v0 = v17;
    part15[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 64) {
    const f32 v18 = part15[get_local_id(0) + 64];
    const f32 v19 = maximum_f32(v0, v18);
    v0 = v19;
    part15[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 32) {
    const f32 v20 = part15[get_local_id(0) + 32];
    const f32 v21 = maximum_f32(v0, v20);
    v0 = v21;
    part15[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 16) {
    const f32 v22 = part15[get_local_id(0) + 16];
    const f32 v23 = maximum_f32(v0, v22);
    v0 = v23;
    part15[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 8) {
    const f32 v24 = part15[get_local_id(0) + 8];
    const f32 v25 = maximum_f32(v0, v24);
    v0 = v25;
    part15[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 4) {
    const f32 v26 = part15[get_local_id(0) + 4];
    const f32 v27 = maximum_f32(v0, v26);
    v0 = v27;
    part15[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 2) {
    const f32 v28 = part15[get_local_id(0) + 2];
    const f32 v29 = maximum_f32(v0, v28);
    v0 = v29;
    part15[get_local_id(0)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 1) {
    const f32 v30 = part15[get_local_id(0) + 1];
    const f32 v31 = maximum_f32(v0, v30);
    v0 = v31;
  }
  if (th_x == 0) {
    w0[bl_x] = v0;
  }
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) last32 = atomic_add(&w1[0], 1u);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (last32 == 127) {
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) w1[0] = 0;
    v0 = (-INFINITY);
    if (th_x < 128) {
      const s32 q33 = th_x;
      const f32 v34 = w0[q33];
      const f32 v35 = maximum_f32(v0, v34);
      v0 = v35;
    }
    part15[get_local_id(0)] = v0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (th_x < 64) {
      const f32 v36 = part15[get_local_id(0) + 64];
      const f32 v37 = maximum_f32(v0, v36);
      v0 = v37;
      part15[get_local_id(0)] = v0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (th_x < 32) {
      const f32 v38 = part15[get_local_id(0) + 32];
      const f32 v39 = maximum_f32(v0, v38);
      v0 = v39;
      part15[get_local_id(0)] = v0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (th_x < 16) {
      const f32 v40 = part15[get_local_id(0) + 16];
      const f32 v41 = maximum_f32(v0, v40);
      v0 = v41;
      part15[get_local_id(0)] = v0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (th_x < 8) {
      const f32 v42 = part15[get_local_id(0) + 8];
      const f32 v43 = maximum_f32(v0, v42);
      v0 = v43;
      part15[get_local_id(0)] = v0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (th_x < 4) {
      const f32 v44 = part15[get_local_id(0) + 4];
      const f32 v45 = maximum_f32(v0, v44);
      v0 = v45;
      part15[get_local_id(0)] = v0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (th_x < 2) {
      const f32 v46 = part15[get_local_id(0) + 2];
      const f32 v47 = maximum_f32(v0, v46);
      v0 = v47;
      part15[get_local_id(0)] = v0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (th_x < 1) {
      const f32 v48 = part15[get_local_id(0) + 1];
      const f32 v49 = maximum_f32(v0, v48);
      v0 = v49;
    }
    if (th_x == 0) {
      const f32 v50 = maximum_f32(0.0f, v0);
      const f32 v51 = v50;
      o0[0] = v51;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
