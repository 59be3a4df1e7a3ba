// fused: rows emitter, 48 blocks of 256 threads

#define abs_f32 fabsf
#define exp_f32 expf
typedef float f32;
#define inf_f32 (1.0f / 0.0f)
#define log_f32 logf
typedef int s32;
typedef unsigned int u32;
typedef struct __align__(16) { f32 v[4]; } f32x4;

static __device__ bool is_finite_f32(f32 x) { return abs_f32(x) < inf_f32; }

static __device__ f32 maximum_f32(f32 a, f32 b) {
  f32 x;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(x) : "f"(a), "f"(b));
  return x;
}

// combined
typedef struct { f32 r0; f32 r1; } combine0_results;
static __device__ combine0_results combine0(f32 a0, f32 a1, f32 b0, f32 b1) {
  const f32 v0 = maximum_f32(a0, b0);
  const bool v1 = a0 > b0;
  const bool v2 = a0 == b0;
  const f32 v3 = a0 - b0;
  const f32 v4 = abs_f32(v3);
  const f32 v5 = (-v4);
  const f32 v6 = exp_f32(v5);
  const f32 v7 = v2 ? 1.0f : v6;
  const f32 v8 = b1 * v7;
  const f32 v9 = a1 + v8;
  const f32 v10 = a1 * v7;
  const f32 v11 = v10 + b1;
  const f32 v12 = v1 ? v9 : v11;
  combine0_results results;
  results.r0 = v0;
  results.r1 = v12;
  return results;
}

extern "C" __global__ void __launch_bounds__(256) rows_reduce(const f32 *__restrict__ p0, f32 *__restrict__ o0, f32 *__restrict__ w0, f32 *__restrict__ w1, u32 *__restrict__ w2) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ u32 last19[1];
  __shared__ f32 part0[8];
  __shared__ f32 part1[8];
  __align__(16) f32 x0[4];
  f32 v0 = (-inf_f32);
  f32 v1 = 0.0f;
  #pragma unroll 4
  for (s32 step2 = 0; step2 < 6; step2++) {
    const s32 j3 = th_x + step2 * 4096 + (bl_x & 15) * 256;
    *(f32x4 *)(x0) = *(const f32x4 *)(p0 + j3 * 4 + (bl_x >> 4) * 100000);
    #pragma unroll 4
    for (s32 vector_index4 = 0; vector_index4 < 4; vector_index4++) {
      const f32 v5 = x0[vector_index4];
      const f32 v6 = maximum_f32(v0, v5);
      const bool v7 = v0 > v5;
      const bool v8 = v0 == v5;
      const f32 v9 = v0 - v5;
      const f32 v10 = abs_f32(v9);
      const f32 v11 = (-v10);
      const f32 v12 = exp_f32(v11);
      const f32 v13 = v8 ? 1.0f : v12;
      const f32 v14 = 1.0f * v13;
      const f32 v15 = v1 + v14;
      const f32 v16 = v1 * v13;
      const f32 v17 = v16 + 1.0f;
      const f32 v18 = v7 ? v15 : v17;
      v0 = v6;
      v1 = v18;
    }
  }
  if (th_x + (bl_x & 15) * 256 + 24576 <= 24999) {
    __align__(16) f32 x1[4];
    const s32 j3_1 = th_x + (bl_x & 15) * 256 + 24576;
    *(f32x4 *)(x1) = *(const f32x4 *)(p0 + j3_1 * 4 + (bl_x >> 4) * 100000);
    #pragma unroll 4
    for (s32 vector_1 = 0; vector_1 < 4; vector_1++) {
      const f32 v5_1 = x1[vector_1];
      const f32 v6_1 = maximum_f32(v0, v5_1);
      const bool v7_1 = v0 > v5_1;
      const bool v8_1 = v0 == v5_1;
      const f32 v9_1 = v0 - v5_1;
      const f32 v10_1 = abs_f32(v9_1);
      const f32 v11_1 = (-v10_1);
      const f32 v12_1 = exp_f32(v11_1);
      const f32 v13_1 = v8_1 ? 1.0f : v12_1;
      const f32 v14_1 = 1.0f * v13_1;
      const f32 v15_1 = v1 + v14_1;
      const f32 v16_1 = v1 * v13_1;
      const f32 v17_1 = v16_1 + 1.0f;
      const f32 v18_1 = v7_1 ? v15_1 : v17_1;
      v0 = v6_1;
      v1 = v18_1;
    }
  }
  const f32 t16 = __shfl_down_sync(0xffffffffu, v0, 16);
  const f32 t17 = __shfl_down_sync(0xffffffffu, v1, 16);
  const combine0_results results_1 = combine0(v0, v1, t16, t17);
  const f32 t18 = results_1.r0;
  const f32 t19 = results_1.r1;
  v0 = t18;
  v1 = t19;
  const f32 t20 = __shfl_down_sync(0xffffffffu, v0, 8);
  const f32 t21 = __shfl_down_sync(0xffffffffu, v1, 8);
  const combine0_results results_2 = combine0(v0, v1, t20, t21);
  const f32 t22 = results_2.r0;
  const f32 t23 = results_2.r1;
  v0 = t22;
  v1 = t23;
  const f32 t24 = __shfl_down_sync(0xffffffffu, v0, 4);
  const f32 t25 = __shfl_down_sync(0xffffffffu, v1, 4);
  const combine0_results results_3 = combine0(v0, v1, t24, t25);
  const f32 t26 = results_3.r0;
  const f32 t27 = results_3.r1;
  v0 = t26;
  v1 = t27;
  const f32 t28 = __shfl_down_sync(0xffffffffu, v0, 2);
  const f32 t29 = __shfl_down_sync(0xffffffffu, v1, 2);
  const combine0_results results_4 = combine0(v0, v1, t28, t29);
  const f32 t30 = results_4.r0;
  const f32 t31 = results_4.r1;
  v0 = t30;
  v1 = t31;
  const f32 t32 = __shfl_down_sync(0xffffffffu, v0, 1);
  const f32 t33 = __shfl_down_sync(0xffffffffu, v1, 1);
  const combine0_results results_5 = combine0(v0, v1, t32, t33);
  const f32 t34 = results_5.r0;
  const f32 t35 = results_5.r1;
  v0 = t34;
  v1 = t35;
  if ((th_x & 31) <= 0) {
    part0[th_x >> 5] = v0;
    part1[th_x >> 5] = v1;
  }
  __syncthreads();
  v0 = part0[(th_x & 7)];
  v1 = part1[(th_x & 7)];
  const f32 t36 = __shfl_down_sync(0xffffffffu, v0, 4);
  const f32 t37 = __shfl_down_sync(0xffffffffu, v1, 4);
  const combine0_results results_6 = combine0(v0, v1, t36, t37);
  const f32 t38 = results_6.r0;
  const f32 t39 = results_6.r1;
  v0 = t38;
  v1 = t39;
  const f32 t40 = __shfl_down_sync(0xffffffffu, v0, 2);
  const f32 t41 = __shfl_down_sync(0xffffffffu, v1, 2);
  const combine0_results results_7 = combine0(v0, v1, t40, t41);
  const f32 t42 = results_7.r0;
  const f32 t43 = results_7.r1;
  v0 = t42;
  v1 = t43;
  const f32 t44 = __shfl_down_sync(0xffffffffu, v0, 1);
  const f32 t45 = __shfl_down_sync(0xffffffffu, v1, 1);
  const combine0_results results_8 = combine0(v0, v1, t44, t45);
  const f32 t46 = results_8.r0;
  const f32 t47 = results_8.r1;
  v0 = t46;
  v1 = t47;
  if (th_x <= 0) {
    w0[bl_x] = v0;
    w1[bl_x] = v1;
  }
  __threadfence();
  __syncthreads();
  if (th_x <= 0) {
    const u32 arrived20 = atomicAdd(w2 + (bl_x >> 4), 1u);
    last19[0] = arrived20;
  }
  __syncthreads();
  if (last19[0] == 15u) {
    __threadfence();
    if (th_x <= 0) {
      w2[bl_x >> 4] = 0u;
    }
    v0 = (-inf_f32);
    v1 = 0.0f;
    if (th_x <= 15) {
      const s32 j21 = th_x;
      const f32 v22 = w0[j21 + (bl_x >> 4) * 16];
      const f32 v23 = w1[j21 + (bl_x >> 4) * 16];
      const f32 v24 = maximum_f32(v0, v22);
      const bool v25 = v0 > v22;
      const bool v26 = v0 == v22;
      const f32 v27 = v0 - v22;
      const f32 v28 = abs_f32(v27);
      const f32 v29 = (-v28);
      const f32 v30 = exp_f32(v29);
      const f32 v31 = v26 ? 1.0f : v30;
      const f32 v32 = v23 * v31;
      const f32 v33 = v1 + v32;
      const f32 v34 = v1 * v31;
      const f32 v35 = v34 + v23;
      const f32 v36 = v25 ? v33 : v35;
      v0 = v24;
      v1 = v36;
    }
    const f32 t0 = __shfl_down_sync(0xffffffffu, v0, 8);
    const f32 t1 = __shfl_down_sync(0xffffffffu, v1, 8);
    const combine0_results results_9 = combine0(v0, v1, t0, t1);
    const f32 t2 = results_9.r0;
    const f32 t3 = results_9.r1;
    v0 = t2;
    v1 = t3;
    const f32 t4 = __shfl_down_sync(0xffffffffu, v0, 4);
    const f32 t5 = __shfl_down_sync(0xffffffffu, v1, 4);
    const combine0_results results_10 = combine0(v0, v1, t4, t5);
    const f32 t6 = results_10.r0;
    const f32 t7 = results_10.r1;
    v0 = t6;
    v1 = t7;
    const f32 t8 = __shfl_down_sync(0xffffffffu, v0, 2);
    const f32 t9 = __shfl_down_sync(0xffffffffu, v1, 2);
    const combine0_results results_11 = combine0(v0, v1, t8, t9);
    const f32 t10 = results_11.r0;
    const f32 t11 = results_11.r1;
    v0 = t10;
    v1 = t11;
    const f32 t12 = __shfl_down_sync(0xffffffffu, v0, 1);
    const f32 t13 = __shfl_down_sync(0xffffffffu, v1, 1);
    const combine0_results results_12 = combine0(v0, v1, t12, t13);
    const f32 t14 = results_12.r0;
    const f32 t15 = results_12.r1;
    v0 = t14;
    v1 = t15;
    const f32 v37 = maximum_f32((-inf_f32), v0);
    const bool v38 = is_finite_f32(v37);
    const f32 v39 = v38 ? v37 : 0.0f;
    const f32 v40 = v0 - v39;
    const f32 v41 = exp_f32(v40);
    const f32 v42 = v1 * v41;
    v1 = v42;
    const f32 v43 = 0.0f + v1;
    if (th_x <= 0) {
      const f32 v44 = log_f32(v43);
      const f32 v45 = v44 + v39;
      o0[bl_x >> 4] = v45;
    }
  }
}
