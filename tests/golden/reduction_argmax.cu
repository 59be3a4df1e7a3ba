// fused: reduction emitter, 7 blocks of 256 threads

typedef float f32;
typedef int s32;
typedef struct __align__(16) { f32 v[4]; } f32x4;

extern "C" __global__ void __launch_bounds__(256) reduction_reduce(const f32 *__restrict__ p0, f32 *__restrict__ o0, s32 *__restrict__ o1) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  f32 v0 = 0.0f;
  s32 v1 = 0;
  if (bl_x * 8 + (th_x >> 5) <= 49) {
    __align__(16) f32 x0[4];
    const s32 j2 = bl_x * 8 + (th_x >> 5);
    #pragma unroll 2
    for (s32 step3 = 0; step3 < 2; step3++) {
      const s32 j4 = step3 * 32 + (th_x & 31);
      *(f32x4 *)(x0) = *(const f32x4 *)(p0 + (j2 * 300 + j4 * 4));
      #pragma unroll 4
      for (s32 vector_index5 = 0; vector_index5 < 4; vector_index5++) {
        const f32 v6 = x0[vector_index5];
        const s32 v7 = j4 * 4 + vector_index5;
        if (step3 <= 0 && vector_index5 <= 0) {
          v0 = v6;
          v1 = v7;
        } else {
          const bool v8 = v0 > v6;
          const f32 v9 = v8 ? v0 : v6;
          const s32 v10 = v8 ? v1 : v7;
          v0 = v9;
          v1 = v10;
        }
      }
    }
    if ((th_x & 31) + 64 <= 74) {
      __align__(16) f32 x1[4];
      const s32 j4_1 = (th_x & 31) + 64;
      *(f32x4 *)(x1) = *(const f32x4 *)(p0 + (j2 * 300 + j4_1 * 4));
      #pragma unroll 4
      for (s32 vector_1 = 0; vector_1 < 4; vector_1++) {
        const f32 v6_1 = x1[vector_1];
        const s32 v7_1 = j4_1 * 4 + vector_1;
        const bool v8_1 = v0 > v6_1;
        const f32 v9_1 = v8_1 ? v0 : v6_1;
        const s32 v10_1 = v8_1 ? v1 : v7_1;
        v0 = v9_1;
        v1 = v10_1;
      }
    }
  }
  const f32 t0 = __shfl_down_sync(0xffffffffu, v0, 16);
  const s32 t1 = __shfl_down_sync(0xffffffffu, v1, 16);
  const bool v0_1 = v1 <= t1;
  const f32 v1_1 = v0_1 ? v0 : t0;
  const f32 v2 = v0_1 ? t0 : v0;
  const bool v3 = v1_1 > v2;
  const f32 v4 = v3 ? v1_1 : v2;
  const bool v5 = v1_1 > v2;
  const s32 v6_2 = v0_1 ? v1 : t1;
  const s32 v7_2 = v0_1 ? t1 : v1;
  const s32 v8_2 = v5 ? v6_2 : v7_2;
  v0 = v4;
  v1 = v8_2;
  const f32 t4 = __shfl_down_sync(0xffffffffu, v0, 8);
  const s32 t5 = __shfl_down_sync(0xffffffffu, v1, 8);
  const bool v0_2 = v1 <= t5;
  const f32 v1_2 = v0_2 ? v0 : t4;
  const f32 v2_1 = v0_2 ? t4 : v0;
  const bool v3_1 = v1_2 > v2_1;
  const f32 v4_1 = v3_1 ? v1_2 : v2_1;
  const bool v5_1 = v1_2 > v2_1;
  const s32 v6_3 = v0_2 ? v1 : t5;
  const s32 v7_3 = v0_2 ? t5 : v1;
  const s32 v8_3 = v5_1 ? v6_3 : v7_3;
  v0 = v4_1;
  v1 = v8_3;
  const f32 t8 = __shfl_down_sync(0xffffffffu, v0, 4);
  const s32 t9 = __shfl_down_sync(0xffffffffu, v1, 4);
  const bool v0_3 = v1 <= t9;
  const f32 v1_3 = v0_3 ? v0 : t8;
  const f32 v2_2 = v0_3 ? t8 : v0;
  const bool v3_2 = v1_3 > v2_2;
  const f32 v4_2 = v3_2 ? v1_3 : v2_2;
  const bool v5_2 = v1_3 > v2_2;
  const s32 v6_4 = v0_3 ? v1 : t9;
  const s32 v7_4 = v0_3 ? t9 : v1;
  const s32 v8_4 = v5_2 ? v6_4 : v7_4;
  v0 = v4_2;
  v1 = v8_4;
  const f32 t12 = __shfl_down_sync(0xffffffffu, v0, 2);
  const s32 t13 = __shfl_down_sync(0xffffffffu, v1, 2);
  const bool v0_4 = v1 <= t13;
  const f32 v1_4 = v0_4 ? v0 : t12;
  const f32 v2_3 = v0_4 ? t12 : v0;
  const bool v3_3 = v1_4 > v2_3;
  const f32 v4_3 = v3_3 ? v1_4 : v2_3;
  const bool v5_3 = v1_4 > v2_3;
  const s32 v6_5 = v0_4 ? v1 : t13;
  const s32 v7_5 = v0_4 ? t13 : v1;
  const s32 v8_5 = v5_3 ? v6_5 : v7_5;
  v0 = v4_3;
  v1 = v8_5;
  const f32 t16 = __shfl_down_sync(0xffffffffu, v0, 1);
  const s32 t17 = __shfl_down_sync(0xffffffffu, v1, 1);
  const bool v0_5 = v1 <= t17;
  const f32 v1_5 = v0_5 ? v0 : t16;
  const f32 v2_4 = v0_5 ? t16 : v0;
  const bool v3_4 = v1_5 > v2_4;
  const f32 v4_4 = v3_4 ? v1_5 : v2_4;
  const bool v5_4 = v1_5 > v2_4;
  const s32 v6_6 = v0_5 ? v1 : t17;
  const s32 v7_6 = v0_5 ? t17 : v1;
  const s32 v8_6 = v5_4 ? v6_6 : v7_6;
  v0 = v4_4;
  v1 = v8_6;
  if ((th_x & 31) <= 0 && bl_x * 8 + (th_x >> 5) <= 49) {
    const s32 j11 = bl_x * 8 + (th_x >> 5);
    const f32 v13 = v0;
    const s32 v14 = v1;
    o0[j11] = v13;
    o1[j11] = v14;
  }
}
