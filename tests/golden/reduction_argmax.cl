// fused: reduction emitter, 50 blocks of 256 threads

#pragma OPENCL FP_CONTRACT OFF
typedef int s32;
typedef float f32;

__attribute__((reqd_work_group_size(256, 1, 1))) __kernel void reduction_reduce(__global const f32 *restrict p0, __global f32 *restrict o0, __global s32 *restrict o1) {
  const s32 th_x = get_local_id(0);
  const s32 bl_x = get_group_id(0);
  __local s32 part15[256];
  __local f32 part14[256];
  f32 v0 = 0.0f;
  s32 v1 = 0;
  const f32 v2 = p0[th_x + bl_x * 300];
  const s32 v3 = (s32)(th_x);
  const f32 v4 = v2;
  const s32 v5 = v3;
  v0 = v4;
  v1 = v5;
  if ((th_x + 256) <= 299) {
    const s32 j6 = th_x + 256;
    const f32 v7 = p0[bl_x * 300 + j6];
    const s32 v8 = (s32)(j6);
    const bool v9 = v0 > v7;
    const f32 v10 = v9 ? v0 : v7;
    const s32 v11 = v9 ? v1 : v8;
    const f32 v12 = v10;
    const s32 v13 = v11;
    v0 = v12;
    v1 = v13;
  }
  part14[get_local_id(0)] = v0;
  part15[get_local_id(0)] = v1;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 128) {
    const f32 v16 = part14[get_local_id(0) + 128];
    const s32 v17 = part15[get_local_id(0) + 128];
    const bool v18 = v0 > v16;
    const f32 v19 = v18 ? v0 : v16;
    const s32 v20 = v18 ? v1 : v17;
    const f32 v21 = v19;
    const s32 v22 = v20;
    v0 = v21;
    v1 = v22;
    part14[get_local_id(0)] = v0;
    part15[get_local_id(0)] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 64) {
    const f32 v23 = part14[get_local_id(0) + 64];
    const s32 v24 = part15[get_local_id(0) + 64];
    const bool v25 = v0 > v23;
    const f32 v26 = v25 ? v0 : v23;
    const s32 v27 = v25 ? v1 : v24;
    const f32 v28 = v26;
    const s32 v29 = v27;
    v0 = v28;
    v1 = v29;
    part14[get_local_id(0)] = v0;
    part15[get_local_id(0)] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 32) {
    const f32 v30 = part14[get_local_id(0) + 32];
    const s32 v31 = part15[get_local_id(0) + 32];
    const bool v32 = v0 > v30;
    const f32 v33 = v32 ? v0 : v30;
    const s32 v34 = v32 ? v1 : v31;
    const f32 v35 = v33;
    const s32 v36 = v34;
    v0 = v35;
    v1 = v36;
    part14[get_local_id(0)] = v0;
    part15[get_local_id(0)] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 16) {
    const f32 v37 = part14[get_local_id(0) + 16];
    const s32 v38 = part15[get_local_id(0) + 16];
    const bool v39 = v0 > v37;
    const f32 v40 = v39 ? v0 : v37;
    const s32 v41 = v39 ? v1 : v38;
    const f32 v42 = v40;
    const s32 v43 = v41;
    v0 = v42;
    v1 = v43;
    part14[get_local_id(0)] = v0;
    part15[get_local_id(0)] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 8) {
    const f32 v44 = part14[get_local_id(0) + 8];
    const s32 v45 = part15[get_local_id(0) + 8];
    const bool v46 = v0 > v44;
    const f32 v47 = v46 ? v0 : v44;
    const s32 v48 = v46 ? v1 : v45;
    const f32 v49 = v47;
    const s32 v50 = v48;
    v0 = v49;
    v1 = v50;
    part14[get_local_id(0)] = v0;
    part15[get_local_id(0)] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 4) {
    const f32 v51 = part14[get_local_id(0) + 4];
    const s32 v52 = part15[get_local_id(0) + 4];
    const bool v53 = v0 > v51;
    const f32 v54 = v53 ? v0 : v51;
    const s32 v55 = v53 ? v1 : v52;
    const f32 v56 = v54;
    const s32 v57 = v55;
    v0 = v56;
    v1 = v57;
    part14[get_local_id(0)] = v0;
    part15[get_local_id(0)] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 2) {
    const f32 v58 = part14[get_local_id(0) + 2];
    const s32 v59 = part15[get_local_id(0) + 2];
    const bool v60 = v0 > v58;
    const f32 v61 = v60 ? v0 : v58;
    const s32 v62 = v60 ? v1 : v59;
    const f32 v63 = v61;
    const s32 v64 = v62;
    v0 = v63;
    v1 = v64;
    part14[get_local_id(0)] = v0;
    part15[get_local_id(0)] = v1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (th_x < 1) {
    const f32 v65 = part14[get_local_id(0) + 1];
    const s32 v66 = part15[get_local_id(0) + 1];
    const bool v67 = v0 > v65;
    const f32 v68 = v67 ? v0 : v65;
    const s32 v69 = v67 ? v1 : v66;
    const f32 v70 = v68;
    const s32 v71 = v69;
    v0 = v70;
    v1 = v71;
  }
  if (th_x == 0) {
    const bool v72 = (-INFINITY) > v0;
    const f32 v73 = v72 ? (-INFINITY) : v0;
    const s32 v74 = v72 ? (-1) : v1;
    const f32 v75 = v73;
    const s32 v76 = v74;
    o0[bl_x] = v75;
    o1[bl_x] = v76;
  }
}
