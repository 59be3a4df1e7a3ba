// fused: rows emitter, 64 blocks of 256 threads

typedef float f32;
typedef int s32;
typedef unsigned int u32;
typedef struct __align__(16) { f32 v[4]; } f32x4;
typedef struct __align__(8) { f32 v[2]; } f32x2;

static __device__ s32 maximum_s32(s32 a, s32 b) { return a > b ? a : b; }

// combined
typedef struct { f32 r0; s32 r1; f32 r2; f32 r3; } combine0_results;
static __device__ combine0_results combine0(f32 a0, s32 a1, f32 a2, f32 a3, f32 b0, s32 b1, f32 b2, f32 b3) {
  const f32 v0 = a0 + b0;
  const s32 v1 = (s32)((u32)a1 + (u32)b1);
  const f32 v2 = (f32)b1;
  const s32 v3 = maximum_s32(v1, 1);
  const f32 v4 = (f32)v3;
  const f32 v5 = v2 / v4;
  const f32 v6 = 1.0f - v5;
  const f32 v7 = a2 * v6;
  const f32 v8 = b2 * v5;
  const f32 v9 = v7 + v8;
  const f32 v10 = a3 + b3;
  const bool v11 = a2 == b2;
  const f32 v12 = b2 - a2;
  const f32 v13 = v11 ? 0.0f : v12;
  const f32 v14 = (f32)a1;
  const f32 v15 = v14 * v5;
  const f32 v16 = v13 * v15;
  const f32 v17 = v16 * v13;
  const f32 v18 = v10 + v17;
  combine0_results results;
  results.r0 = v0;
  results.r1 = v1;
  results.r2 = v9;
  results.r3 = v18;
  return results;
}

extern "C" __global__ void __launch_bounds__(256) rows_reduce(const f32 *__restrict__ p0, f32 *__restrict__ o0, f32 *__restrict__ o1, f32 *__restrict__ w0, s32 *__restrict__ w1, f32 *__restrict__ w2, f32 *__restrict__ w3, u32 *__restrict__ w4) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ u32 last27[1];
  __shared__ __align__(16) f32 part0[16];
  __shared__ f32 part2[8];
  __shared__ s32 part3[8];
  __align__(16) f32 x0[4];
  __align__(16) f32 parts0[2];
  f32 v0 = (-0.0f);
  s32 v1 = 0;
  f32 v2 = 0.0f;
  f32 v3 = 0.0f;
  #pragma unroll 4
  for (s32 step4 = 0; step4 < 4; step4++) {
    *(f32x4 *)(x0) = *(const f32x4 *)(p0 + (th_x * 4 + bl_x * 1024 + step4 * 16384 + (bl_x >> 4) * 49152));
    #pragma unroll 4
    for (s32 vector_index5 = 0; vector_index5 < 4; vector_index5++) {
      const f32 v6 = x0[vector_index5];
      const f32 v7 = v6 + 1.0f;
      const f32 v8 = v0 + v7;
      const s32 v9 = (s32)((u32)v1 + (u32)1);
      const s32 v11 = maximum_s32(v9, 1);
      const f32 v12 = (f32)v11;
      const f32 v13 = 1.0f / v12;
      const f32 v14 = 1.0f - v13;
      const f32 v15 = v2 * v14;
      const f32 v16 = v7 * v13;
      const f32 v17 = v15 + v16;
      const f32 v18 = v3 + (-0.0f);
      const bool v19 = v2 == v7;
      const f32 v20 = v7 - v2;
      const f32 v21 = v19 ? 0.0f : v20;
      const f32 v22 = (f32)v1;
      const f32 v23 = v22 * v13;
      const f32 v24 = v21 * v23;
      const f32 v25 = v24 * v21;
      const f32 v26 = v18 + v25;
      v0 = v8;
      v1 = v9;
      v2 = v17;
      v3 = v26;
    }
  }
  const f32 t32 = __shfl_down_sync(0xffffffffu, v0, 16);
  const s32 t33 = __shfl_down_sync(0xffffffffu, v1, 16);
  const f32 t34 = __shfl_down_sync(0xffffffffu, v2, 16);
  const f32 t35 = __shfl_down_sync(0xffffffffu, v3, 16);
  const combine0_results results_1 = combine0(v0, v1, v2, v3, t32, t33, t34, t35);
  const f32 t36 = results_1.r0;
  const s32 t37 = results_1.r1;
  const f32 t38 = results_1.r2;
  const f32 t39 = results_1.r3;
  v0 = t36;
  v1 = t37;
  v2 = t38;
  v3 = t39;
  const f32 t40 = __shfl_down_sync(0xffffffffu, v0, 8);
  const s32 t41 = __shfl_down_sync(0xffffffffu, v1, 8);
  const f32 t42 = __shfl_down_sync(0xffffffffu, v2, 8);
  const f32 t43 = __shfl_down_sync(0xffffffffu, v3, 8);
  const combine0_results results_2 = combine0(v0, v1, v2, v3, t40, t41, t42, t43);
  const f32 t44 = results_2.r0;
  const s32 t45 = results_2.r1;
  const f32 t46 = results_2.r2;
  const f32 t47 = results_2.r3;
  v0 = t44;
  v1 = t45;
  v2 = t46;
  v3 = t47;
  const f32 t48 = __shfl_down_sync(0xffffffffu, v0, 4);
  const s32 t49 = __shfl_down_sync(0xffffffffu, v1, 4);
  const f32 t50 = __shfl_down_sync(0xffffffffu, v2, 4);
  const f32 t51 = __shfl_down_sync(0xffffffffu, v3, 4);
  const combine0_results results_3 = combine0(v0, v1, v2, v3, t48, t49, t50, t51);
  const f32 t52 = results_3.r0;
  const s32 t53 = results_3.r1;
  const f32 t54 = results_3.r2;
  const f32 t55 = results_3.r3;
  v0 = t52;
  v1 = t53;
  v2 = t54;
  v3 = t55;
  const f32 t56 = __shfl_down_sync(0xffffffffu, v0, 2);
  const s32 t57 = __shfl_down_sync(0xffffffffu, v1, 2);
  const f32 t58 = __shfl_down_sync(0xffffffffu, v2, 2);
  const f32 t59 = __shfl_down_sync(0xffffffffu, v3, 2);
  const combine0_results results_4 = combine0(v0, v1, v2, v3, t56, t57, t58, t59);
  const f32 t60 = results_4.r0;
  const s32 t61 = results_4.r1;
  const f32 t62 = results_4.r2;
  const f32 t63 = results_4.r3;
  v0 = t60;
  v1 = t61;
  v2 = t62;
  v3 = t63;
  const f32 t64 = __shfl_down_sync(0xffffffffu, v0, 1);
  const s32 t65 = __shfl_down_sync(0xffffffffu, v1, 1);
  const f32 t66 = __shfl_down_sync(0xffffffffu, v2, 1);
  const f32 t67 = __shfl_down_sync(0xffffffffu, v3, 1);
  const combine0_results results_5 = combine0(v0, v1, v2, v3, t64, t65, t66, t67);
  const f32 t68 = results_5.r0;
  const s32 t69 = results_5.r1;
  const f32 t70 = results_5.r2;
  const f32 t71 = results_5.r3;
  v0 = t68;
  v1 = t69;
  v2 = t70;
  v3 = t71;
  if ((th_x & 31) <= 0) {
    parts0[0] = v0;
    parts0[1] = v2;
    *(f32x2 *)(part0 + (th_x >> 5) * 2) = *(const f32x2 *)(parts0);
    part2[th_x >> 5] = v3;
    part3[th_x >> 5] = v1;
  }
  __syncthreads();
  *(f32x2 *)(parts0) = *(const f32x2 *)(part0 + (th_x & 7) * 2);
  v0 = parts0[0];
  v2 = parts0[1];
  v3 = part2[(th_x & 7)];
  v1 = part3[(th_x & 7)];
  const f32 t72 = __shfl_down_sync(0xffffffffu, v0, 4);
  const s32 t73 = __shfl_down_sync(0xffffffffu, v1, 4);
  const f32 t74 = __shfl_down_sync(0xffffffffu, v2, 4);
  const f32 t75 = __shfl_down_sync(0xffffffffu, v3, 4);
  const combine0_results results_6 = combine0(v0, v1, v2, v3, t72, t73, t74, t75);
  const f32 t76 = results_6.r0;
  const s32 t77 = results_6.r1;
  const f32 t78 = results_6.r2;
  const f32 t79 = results_6.r3;
  v0 = t76;
  v1 = t77;
  v2 = t78;
  v3 = t79;
  const f32 t80 = __shfl_down_sync(0xffffffffu, v0, 2);
  const s32 t81 = __shfl_down_sync(0xffffffffu, v1, 2);
  const f32 t82 = __shfl_down_sync(0xffffffffu, v2, 2);
  const f32 t83 = __shfl_down_sync(0xffffffffu, v3, 2);
  const combine0_results results_7 = combine0(v0, v1, v2, v3, t80, t81, t82, t83);
  const f32 t84 = results_7.r0;
  const s32 t85 = results_7.r1;
  const f32 t86 = results_7.r2;
  const f32 t87 = results_7.r3;
  v0 = t84;
  v1 = t85;
  v2 = t86;
  v3 = t87;
  const f32 t88 = __shfl_down_sync(0xffffffffu, v0, 1);
  const s32 t89 = __shfl_down_sync(0xffffffffu, v1, 1);
  const f32 t90 = __shfl_down_sync(0xffffffffu, v2, 1);
  const f32 t91 = __shfl_down_sync(0xffffffffu, v3, 1);
  const combine0_results results_8 = combine0(v0, v1, v2, v3, t88, t89, t90, t91);
  const f32 t92 = results_8.r0;
  const s32 t93 = results_8.r1;
  const f32 t94 = results_8.r2;
  const f32 t95 = results_8.r3;
  v0 = t92;
  v1 = t93;
  v2 = t94;
  v3 = t95;
  if (th_x <= 0) {
    w0[bl_x] = v0;
    w1[bl_x] = v1;
    w2[bl_x] = v2;
    w3[bl_x] = v3;
  }
  __threadfence();
  __syncthreads();
  if (th_x <= 0) {
    const u32 arrived28 = atomicAdd(w4 + (bl_x >> 4), 1u);
    last27[0] = arrived28;
  }
  __syncthreads();
  if (last27[0] == 15u) {
    __threadfence();
    if (th_x <= 0) {
      w4[bl_x >> 4] = 0u;
    }
    v0 = (-0.0f);
    v1 = 0;
    v2 = 0.0f;
    v3 = 0.0f;
    if (th_x <= 15) {
      const s32 j29 = th_x;
      const f32 v30 = w0[j29 + (bl_x >> 4) * 16];
      const s32 v31 = w1[j29 + (bl_x >> 4) * 16];
      const f32 v32 = w2[j29 + (bl_x >> 4) * 16];
      const f32 v33 = w3[j29 + (bl_x >> 4) * 16];
      v0 = v30;
      v1 = v31;
      v2 = v32;
      v3 = v33;
    }
    const f32 t0 = __shfl_down_sync(0xffffffffu, v0, 8);
    const s32 t1 = __shfl_down_sync(0xffffffffu, v1, 8);
    const f32 t2 = __shfl_down_sync(0xffffffffu, v2, 8);
    const f32 t3 = __shfl_down_sync(0xffffffffu, v3, 8);
    const combine0_results results_9 = combine0(v0, v1, v2, v3, t0, t1, t2, t3);
    const f32 t4 = results_9.r0;
    const s32 t5 = results_9.r1;
    const f32 t6 = results_9.r2;
    const f32 t7 = results_9.r3;
    v0 = t4;
    v1 = t5;
    v2 = t6;
    v3 = t7;
    const f32 t8 = __shfl_down_sync(0xffffffffu, v0, 4);
    const s32 t9 = __shfl_down_sync(0xffffffffu, v1, 4);
    const f32 t10 = __shfl_down_sync(0xffffffffu, v2, 4);
    const f32 t11 = __shfl_down_sync(0xffffffffu, v3, 4);
    const combine0_results results_10 = combine0(v0, v1, v2, v3, t8, t9, t10, t11);
    const f32 t12 = results_10.r0;
    const s32 t13 = results_10.r1;
    const f32 t14 = results_10.r2;
    const f32 t15 = results_10.r3;
    v0 = t12;
    v1 = t13;
    v2 = t14;
    v3 = t15;
    const f32 t16 = __shfl_down_sync(0xffffffffu, v0, 2);
    const s32 t17 = __shfl_down_sync(0xffffffffu, v1, 2);
    const f32 t18 = __shfl_down_sync(0xffffffffu, v2, 2);
    const f32 t19 = __shfl_down_sync(0xffffffffu, v3, 2);
    const combine0_results results_11 = combine0(v0, v1, v2, v3, t16, t17, t18, t19);
    const f32 t20 = results_11.r0;
    const s32 t21 = results_11.r1;
    const f32 t22 = results_11.r2;
    const f32 t23 = results_11.r3;
    v0 = t20;
    v1 = t21;
    v2 = t22;
    v3 = t23;
    const f32 t24 = __shfl_down_sync(0xffffffffu, v0, 1);
    const s32 t25 = __shfl_down_sync(0xffffffffu, v1, 1);
    const f32 t26 = __shfl_down_sync(0xffffffffu, v2, 1);
    const f32 t27 = __shfl_down_sync(0xffffffffu, v3, 1);
    const combine0_results results_12 = combine0(v0, v1, v2, v3, t24, t25, t26, t27);
    const f32 t28 = results_12.r0;
    const s32 t29 = results_12.r1;
    const f32 t30 = results_12.r2;
    const f32 t31 = results_12.r3;
    v0 = t28;
    v1 = t29;
    v2 = t30;
    v3 = t31;
    const f32 v34 = 0.0f + v0;
    const f32 v35 = v34 / 65536.0f;
    const f32 v36 = (f32)v1;
    const f32 v37 = v2 - v35;
    const f32 v38 = v37 * v37;
    const f32 v39 = v36 * v38;
    const f32 v40 = v3 + v39;
    v3 = v40;
    const f32 v41 = 0.0f + v3;
    if (th_x <= 0) {
      o0[bl_x >> 4] = v35;
      o1[bl_x >> 4] = v41;
    }
  }
}
