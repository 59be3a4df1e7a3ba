// fused: reduction emitter, 50 blocks of 256 threads

typedef int s32;
typedef float f32;

extern "C" __global__ void __launch_bounds__(256) reduction_reduce(const f32 *__restrict__ p0, f32 *__restrict__ o0, s32 *__restrict__ o1) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ s32 part50[8];
  __shared__ f32 part49[8];
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
  const f32 v14 = __shfl_down_sync(0xffffffffu, v0, 16);
  const s32 v15 = __shfl_down_sync(0xffffffffu, v1, 16);
  const bool v16 = v0 > v14;
  const f32 v17 = v16 ? v0 : v14;
  const s32 v18 = v16 ? v1 : v15;
  const f32 v19 = v17;
  const s32 v20 = v18;
  v0 = v19;
  v1 = v20;
  const f32 v21 = __shfl_down_sync(0xffffffffu, v0, 8);
  const s32 v22 = __shfl_down_sync(0xffffffffu, v1, 8);
  const bool v23 = v0 > v21;
  const f32 v24 = v23 ? v0 : v21;
  const s32 v25 = v23 ? v1 : v22;
  const f32 v26 = v24;
  const s32 v27 = v25;
  v0 = v26;
  v1 = v27;
  const f32 v28 = __shfl_down_sync(0xffffffffu, v0, 4);
  const s32 v29 = __shfl_down_sync(0xffffffffu, v1, 4);
  const bool v30 = v0 > v28;
  const f32 v31 = v30 ? v0 : v28;
  const s32 v32 = v30 ? v1 : v29;
  const f32 v33 = v31;
  const s32 v34 = v32;
  v0 = v33;
  v1 = v34;
  const f32 v35 = __shfl_down_sync(0xffffffffu, v0, 2);
  const s32 v36 = __shfl_down_sync(0xffffffffu, v1, 2);
  const bool v37 = v0 > v35;
  const f32 v38 = v37 ? v0 : v35;
  const s32 v39 = v37 ? v1 : v36;
  const f32 v40 = v38;
  const s32 v41 = v39;
  v0 = v40;
  v1 = v41;
  const f32 v42 = __shfl_down_sync(0xffffffffu, v0, 1);
  const s32 v43 = __shfl_down_sync(0xffffffffu, v1, 1);
  const bool v44 = v0 > v42;
  const f32 v45 = v44 ? v0 : v42;
  const s32 v46 = v44 ? v1 : v43;
  const f32 v47 = v45;
  const s32 v48 = v46;
  v0 = v47;
  v1 = v48;
  if (threadIdx.x % 32 == 0) {
    part49[threadIdx.x / 32] = v0;
    part50[threadIdx.x / 32] = v1;
  }
  __syncthreads();
  v0 = part49[threadIdx.x / 256 * 8 + (th_x) % 8];
  v1 = part50[threadIdx.x / 256 * 8 + (th_x) % 8];
  const f32 v51 = __shfl_down_sync(0xffffffffu, v0, 4);
  const s32 v52 = __shfl_down_sync(0xffffffffu, v1, 4);
  const bool v53 = v0 > v51;
  const f32 v54 = v53 ? v0 : v51;
  const s32 v55 = v53 ? v1 : v52;
  const f32 v56 = v54;
  const s32 v57 = v55;
  v0 = v56;
  v1 = v57;
  const f32 v58 = __shfl_down_sync(0xffffffffu, v0, 2);
  const s32 v59 = __shfl_down_sync(0xffffffffu, v1, 2);
  const bool v60 = v0 > v58;
  const f32 v61 = v60 ? v0 : v58;
  const s32 v62 = v60 ? v1 : v59;
  const f32 v63 = v61;
  const s32 v64 = v62;
  v0 = v63;
  v1 = v64;
  const f32 v65 = __shfl_down_sync(0xffffffffu, v0, 1);
  const s32 v66 = __shfl_down_sync(0xffffffffu, v1, 1);
  const bool v67 = v0 > v65;
  const f32 v68 = v67 ? v0 : v65;
  const s32 v69 = v67 ? v1 : v66;
  const f32 v70 = v68;
  const s32 v71 = v69;
  v0 = v70;
  v1 = v71;
  if (th_x == 0) {
    const bool v72 = (-(1.0f / 0.0f)) > v0;
    const f32 v73 = v72 ? (-(1.0f / 0.0f)) : v0;
    const s32 v74 = v72 ? (-1) : v1;
    const f32 v75 = v73;
    const s32 v76 = v74;
    o0[bl_x] = v75;
    o1[bl_x] = v76;
  }
}
