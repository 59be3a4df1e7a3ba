// fused: reduction emitter, 50 blocks of 256 threads

#pragma OPENCL FP_CONTRACT OFF
typedef int s32;
typedef float f32;

__attribute__((reqd_work_group_size(256, 1, 1))) __kernel void reduction_reduce(__global const f32 *restrict p0, __global f32 *restrict o0, __global s32 *restrict o1) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __local s32 part14[256];
  __local f32 part13[256];
  f32 v0 = 0.0f;
  s32 v1 = 0;
  for (s32 r2 = 0; r2 < 2; ++r2) {
    if ((th_x + r2 * 256) <= 299) {
      const s32 j3 = th_x + r2 * 256;
      const f32 v4 = p0[bl_x * 300 + j3];
      const s32 v5 = (s32)(j3);
      if (r2 == 0) {
        const f32 v6 = v4;
        const s32 v7 = v5;
        v0 = v6;
        v1 = v7;
      }
      else {
        const bool v8 = v0 > v4;
        const f32 v9 = v8 ? v0 : v4;
        const s32 v10 = v8 ? v1 : v5;
        const f32 v11 = v9;
        const s32 v12 = v10;
        v0 = v11;
        v1 = v12;
      }
    }
  }
  part13[get_local_id(0)] = v0;
  part14[get_local_id(0)] = v1;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 128) {
    const f32 v15 = part13[get_local_id(0) + 128];
    const s32 v16 = part14[get_local_id(0) + 128];
    const bool v17 = v0 > v15;
    const f32 v18 = v17 ? v0 : v15;
    const s32 v19 = v17 ? v1 : v16;
    const f32 v20 = v18;
    const s32 v21 = v19;
    v0 = v20;
    v1 = v21;
    part13[get_local_id(0)] = v0;
    part14[get_local_id(0)] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 64) {
    const f32 v22 = part13[get_local_id(0) + 64];
    const s32 v23 = part14[get_local_id(0) + 64];
    const bool v24 = v0 > v22;
    const f32 v25 = v24 ? v0 : v22;
    const s32 v26 = v24 ? v1 : v23;
    const f32 v27 = v25;
    const s32 v28 = v26;
    v0 = v27;
    v1 = v28;
    part13[get_local_id(0)] = v0;
    part14[get_local_id(0)] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 32) {
    const f32 v29 = part13[get_local_id(0) + 32];
    const s32 v30 = part14[get_local_id(0) + 32];
    const bool v31 = v0 > v29;
    const f32 v32 = v31 ? v0 : v29;
    const s32 v33 = v31 ? v1 : v30;
    const f32 v34 = v32;
    const s32 v35 = v33;
    v0 = v34;
    v1 = v35;
    part13[get_local_id(0)] = v0;
    part14[get_local_id(0)] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 16) {
    const f32 v36 = part13[get_local_id(0) + 16];
    const s32 v37 = part14[get_local_id(0) + 16];
    const bool v38 = v0 > v36;
    const f32 v39 = v38 ? v0 : v36;
    const s32 v40 = v38 ? v1 : v37;
    const f32 v41 = v39;
    const s32 v42 = v40;
    v0 = v41;
    v1 = v42;
    part13[get_local_id(0)] = v0;
    part14[get_local_id(0)] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 8) {
    const f32 v43 = part13[get_local_id(0) + 8];
    const s32 v44 = part14[get_local_id(0) + 8];
    const bool v45 = v0 > v43;
    const f32 v46 = v45 ? v0 : v43;
    const s32 v47 = v45 ? v1 : v44;
    const f32 v48 = v46;
    const s32 v49 = v47;
    v0 = v48;
    v1 = v49;
    part13[get_local_id(0)] = v0;
    part14[get_local_id(0)] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 4) {
    const f32 v50 = part13[get_local_id(0) + 4];
    const s32 v51 = part14[get_local_id(0) + 4];
    const bool v52 = v0 > v50;
    const f32 v53 = v52 ? v0 : v50;
    const s32 v54 = v52 ? v1 : v51;
    const f32 v55 = v53;
    const s32 v56 = v54;
    v0 = v55;
    v1 = v56;
    part13[get_local_id(0)] = v0;
    part14[get_local_id(0)] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 2) {
    const f32 v57 = part13[get_local_id(0) + 2];
    const s32 v58 = part14[get_local_id(0) + 2];
    const bool v59 = v0 > v57;
    const f32 v60 = v59 ? v0 : v57;
    const s32 v61 = v59 ? v1 : v58;
    const f32 v62 = v60;
    const s32 v63 = v61;
    v0 = v62;
    v1 = v63;
    part13[get_local_id(0)] = v0;
    part14[get_local_id(0)] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 1) {
    const f32 v64 = part13[get_local_id(0) + 1];
    const s32 v65 = part14[get_local_id(0) + 1];
    const bool v66 = v0 > v64;
    const f32 v67 = v66 ? v0 : v64;
    const s32 v68 = v66 ? v1 : v65;
    const f32 v69 = v67;
    const s32 v70 = v68;
    v0 = v69;
    v1 = v70;
  }
  if (th_x == 0) {
    const bool v71 = (-INFINITY) > v0;
    const f32 v72 = v71 ? (-INFINITY) : v0;
    const s32 v73 = v71 ? (-1) : v1;
    const f32 v74 = v72;
    const s32 v75 = v73;
    o0[bl_x] = v74;
    o1[bl_x] = v75;
  }
}
