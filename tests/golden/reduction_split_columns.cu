// fused: reduction emitter, 512 blocks of 192 threads

typedef int s32;
typedef unsigned int u32;
typedef float f32;
typedef struct __align__(16) { f32 v[4]; } f32x4;

extern "C" __global__ void __launch_bounds__(192) reduction_reduce(const f32 *__restrict__ p0, f32 *__restrict__ o0, f32 *w0, u32 *w1) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ u32 last33;
  __shared__ f32 part11[768];
  f32 v0[4] = {(-0.0f), (-0.0f), (-0.0f), (-0.0f)};
  #pragma unroll 4
  for (s32 r1 = 0; r1 < 6; ++r1) {
    const f32x4 x3 = ((const f32x4 *)p0)[th_x + bl_x * 192 + r1 * 98304];
    #pragma unroll
    for (s32 r2 = 0; r2 < 4; ++r2) {
      const f32 v4 = x3.v[r2];
      const f32 v5 = v0[r2] + v4;
      v0[r2] = v5;
    }
  }
  if ((bl_x * 32 + th_x / 6 + 98304) <= 99999) {
    const s32 j6 = bl_x * 32 + th_x / 6 + 98304;
    const f32x4 x8 = ((const f32x4 *)p0)[j6 * 6 + th_x % 6];
    #pragma unroll
    for (s32 r7 = 0; r7 < 4; ++r7) {
      const f32 v9 = x8.v[r7];
      const f32 v10 = v0[r7] + v9;
      v0[r7] = v10;
    }
  }
  #pragma unroll
  for (s32 r12 = 0; r12 < 4; ++r12) {
    part11[threadIdx.x + r12 * 192] = v0[r12];
  }
  __syncthreads();
  if (th_x / 6 < 16) {
    #pragma unroll
    for (s32 r13 = 0; r13 < 4; ++r13) {
      const f32 v14 = part11[threadIdx.x + r13 * 192 + 96];
      const f32 v15 = v0[r13] + v14;
      v0[r13] = v15;
    }
    #pragma unroll
    for (s32 r16 = 0; r16 < 4; ++r16) {
      part11[threadIdx.x + r16 * 192] = v0[r16];
    }
  }
  __syncthreads();
  if (th_x / 6 < 8) {
    #pragma unroll
    for (s32 r17 = 0; r17 < 4; ++r17) {
      const f32 v18 = part11[threadIdx.x + r17 * 192 + 48];
      const f32 v19 = v0[r17] + v18;
      v0[r17] = v19;
    }
    #pragma unroll
    for (s32 r20 = 0; r20 < 4; ++r20) {
      part11[threadIdx.x + r20 * 192] = v0[r20];
    }
  }
  __syncthreads();
  if (th_x / 6 < 4) {
    #pragma unroll
    for (s32 r21 = 0; r21 < 4; ++r21) {
      const f32 v22 = part11[threadIdx.x + r21 * 192 + 24];
      const f32 v23 = v0[r21] + v22;
      v0[r21] = v23;
    }
    #pragma unroll
    for (s32 r24 = 0; r24 < 4; ++r24) {
      part11[threadIdx.x + r24 * 192] = v0[r24];
    }
  }
  __syncthreads();
  if (th_x / 6 < 2) {
    #pragma unroll
    for (s32 r25 = 0; r25 < 4; ++r25) {
      const f32 v26 = part11[threadIdx.x + r25 * 192 + 12];
      const f32 v27 = v0[r25] + v26;
      v0[r25] = v27;
    }
    #pragma unroll
    for (s32 r28 = 0; r28 < 4; ++r28) {
      part11[threadIdx.x + r28 * 192] = v0[r28];
    }
  }
  __syncthreads();
  if (th_x / 6 < 1) {
    #pragma unroll
    for (s32 r29 = 0; r29 < 4; ++r29) {
      const f32 v30 = part11[threadIdx.x + r29 * 192 + 6];
      const f32 v31 = v0[r29] + v30;
      v0[r29] = v31;
    }
  }
  if (th_x / 6 == 0) {
    #pragma unroll
    for (s32 r32 = 0; r32 < 4; ++r32) {
      w0[bl_x * 24 + r32 * 6 + th_x % 6] = v0[r32];
    }
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last33 = atomicAdd(&w1[0], 1u);
    if (last33 == 511) w1[0] = 0;
  }
  __syncthreads();
  if (last33 == 511) {
    __threadfence();
    #pragma unroll
    for (s32 r34 = 0; r34 < 4; ++r34) {
      v0[r34] = (-0.0f);
    }
    const s32 q35 = th_x / 6;
    for (s32 r36 = 0; r36 < 16; ++r36) {
      #pragma unroll
      for (s32 r37 = 0; r37 < 4; ++r37) {
        const f32 v38 = w0[q35 * 24 + r36 * 768 + r37 * 6 + th_x % 6];
        const f32 v39 = v0[r37] + v38;
        v0[r37] = v39;
      }
    }
    #pragma unroll
    for (s32 r40 = 0; r40 < 4; ++r40) {
      part11[threadIdx.x + r40 * 192] = v0[r40];
    }
    __syncthreads();
    if (th_x / 6 < 16) {
      #pragma unroll
      for (s32 r41 = 0; r41 < 4; ++r41) {
        const f32 v42 = part11[threadIdx.x + r41 * 192 + 96];
        const f32 v43 = v0[r41] + v42;
        v0[r41] = v43;
      }
      #pragma unroll
      for (s32 r44 = 0; r44 < 4; ++r44) {
        part11[threadIdx.x + r44 * 192] = v0[r44];
      }
    }
    __syncthreads();
    if (th_x / 6 < 8) {
      #pragma unroll
      for (s32 r45 = 0; r45 < 4; ++r45) {
        const f32 v46 = part11[threadIdx.x + r45 * 192 + 48];
        const f32 v47 = v0[r45] + v46;
        v0[r45] = v47;
      }
      #pragma unroll
      for (s32 r48 = 0; r48 < 4; ++r48) {
        part11[threadIdx.x + r48 * 192] = v0[r48];
      }
    }
    __syncthreads();
    if (th_x / 6 < 4) {
      #pragma unroll
      for (s32 r49 = 0; r49 < 4; ++r49) {
        const f32 v50 = part11[threadIdx.x + r49 * 192 + 24];
        const f32 v51 = v0[r49] + v50;
        v0[r49] = v51;
      }
      #pragma unroll
      for (s32 r52 = 0; r52 < 4; ++r52) {
        part11[threadIdx.x + r52 * 192] = v0[r52];
      }
    }
    __syncthreads();
    if (th_x / 6 < 2) {
      #pragma unroll
      for (s32 r53 = 0; r53 < 4; ++r53) {
        const f32 v54 = part11[threadIdx.x + r53 * 192 + 12];
        const f32 v55 = v0[r53] + v54;
        v0[r53] = v55;
      }
      #pragma unroll
      for (s32 r56 = 0; r56 < 4; ++r56) {
        part11[threadIdx.x + r56 * 192] = v0[r56];
      }
    }
    __syncthreads();
    if (th_x / 6 < 1) {
      #pragma unroll
      for (s32 r57 = 0; r57 < 4; ++r57) {
        const f32 v58 = part11[threadIdx.x + r57 * 192 + 6];
        const f32 v59 = v0[r57] + v58;
        v0[r57] = v59;
      }
    }
    if (th_x / 6 == 0) {
      f32x4 y63;
      #pragma unroll
      for (s32 r60 = 0; r60 < 4; ++r60) {
        const f32 v61 = 0.0f + v0[r60];
        const f32 v62 = v61;
        y63.v[r60] = v62;
      }
      ((f32x4 *)o0)[th_x % 6] = y63;
    }
    __syncthreads();
  }
}
