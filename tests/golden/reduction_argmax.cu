// fused: reduction emitter, 50 blocks of 256 threads

typedef int s32;
typedef float f32;

extern "C" __global__ void __launch_bounds__(256) reduction_reduce(const f32 *__restrict__ p0, f32 *__restrict__ o0, s32 *__restrict__ o1) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ s32 part49[8];
  __shared__ f32 part48[8];
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
  const f32 v13 = __shfl_down_sync(0xffffffffu, v0, 16);
  const s32 v14 = __shfl_down_sync(0xffffffffu, v1, 16);
  const bool v15 = v0 > v13;
  const f32 v16 = v15 ? v0 : v13;
  const s32 v17 = v15 ? v1 : v14;
  const f32 v18 = v16;
  const s32 v19 = v17;
  v0 = v18;
  v1 = v19;
  const f32 v20 = __shfl_down_sync(0xffffffffu, v0, 8);
  const s32 v21 = __shfl_down_sync(0xffffffffu, v1, 8);
  const bool v22 = v0 > v20;
  const f32 v23 = v22 ? v0 : v20;
  const s32 v24 = v22 ? v1 : v21;
  const f32 v25 = v23;
  const s32 v26 = v24;
  v0 = v25;
  v1 = v26;
  const f32 v27 = __shfl_down_sync(0xffffffffu, v0, 4);
  const s32 v28 = __shfl_down_sync(0xffffffffu, v1, 4);
  const bool v29 = v0 > v27;
  const f32 v30 = v29 ? v0 : v27;
  const s32 v31 = v29 ? v1 : v28;
  const f32 v32 = v30;
  const s32 v33 = v31;
  v0 = v32;
  v1 = v33;
  const f32 v34 = __shfl_down_sync(0xffffffffu, v0, 2);
  const s32 v35 = __shfl_down_sync(0xffffffffu, v1, 2);
  const bool v36 = v0 > v34;
  const f32 v37 = v36 ? v0 : v34;
  const s32 v38 = v36 ? v1 : v35;
  const f32 v39 = v37;
  const s32 v40 = v38;
  v0 = v39;
  v1 = v40;
  const f32 v41 = __shfl_down_sync(0xffffffffu, v0, 1);
  const s32 v42 = __shfl_down_sync(0xffffffffu, v1, 1);
  const bool v43 = v0 > v41;
  const f32 v44 = v43 ? v0 : v41;
  const s32 v45 = v43 ? v1 : v42;
  const f32 v46 = v44;
  const s32 v47 = v45;
  v0 = v46;
  v1 = v47;
  if (threadIdx.x % 32 == 0) {
    part48[threadIdx.x / 32] = v0;
    part49[threadIdx.x / 32] = v1;
  }
  __syncthreads();
  v0 = part48[threadIdx.x / 256 * 8 + (th_x) % 8];
  v1 = part49[threadIdx.x / 256 * 8 + (th_x) % 8];
  const f32 v50 = __shfl_down_sync(0xffffffffu, v0, 4);
  const s32 v51 = __shfl_down_sync(0xffffffffu, v1, 4);
  const bool v52 = v0 > v50;
  const f32 v53 = v52 ? v0 : v50;
  const s32 v54 = v52 ? v1 : v51;
  const f32 v55 = v53;
  const s32 v56 = v54;
  v0 = v55;
  v1 = v56;
  const f32 v57 = __shfl_down_sync(0xffffffffu, v0, 2);
  const s32 v58 = __shfl_down_sync(0xffffffffu, v1, 2);
  const bool v59 = v0 > v57;
  const f32 v60 = v59 ? v0 : v57;
  const s32 v61 = v59 ? v1 : v58;
  const f32 v62 = v60;
  const s32 v63 = v61;
  v0 = v62;
  v1 = v63;
  const f32 v64 = __shfl_down_sync(0xffffffffu, v0, 1);
  const s32 v65 = __shfl_down_sync(0xffffffffu, v1, 1);
  const bool v66 = v0 > v64;
  const f32 v67 = v66 ? v0 : v64;
  const s32 v68 = v66 ? v1 : v65;
  const f32 v69 = v67;
  const s32 v70 = v68;
  v0 = v69;
  v1 = v70;
  if (th_x == 0) {
    const bool v71 = (-(1.0f / 0.0f)) > v0;
    const f32 v72 = v71 ? (-(1.0f / 0.0f)) : v0;
    const s32 v73 = v71 ? (-1) : v1;
    const f32 v74 = v72;
    const s32 v75 = v73;
    o0[bl_x] = v74;
    o1[bl_x] = v75;
  }
}
