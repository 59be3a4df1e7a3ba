// layer: dot emitter, 48 blocks of 64 threads

typedef float f32;
#define mul_add_f32 fmaf
typedef int s32;

extern "C" __global__ void __launch_bounds__(64) dot_dot(const f32 *__restrict__ p0, const f32 *__restrict__ p1, f32 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  if (th_x + (bl_x / 6) * 64 <= 499) {
    const s32 column = th_x + (bl_x / 6) * 64;
    f32 v0 = 0.0f;
    #pragma unroll 4
    for (s32 step1 = 0; step1 < 5; step1++) {
      const f32 v2 = p0[step1 * 8 + (bl_x % 6) * 43];
      const f32 v3 = p1[column + step1 * 4000];
      v0 = mul_add_f32(v2, v3, v0);
      const f32 v4 = p0[step1 * 8 + (bl_x % 6) * 43 + 1];
      const f32 v5 = p1[column + step1 * 4000 + 500];
      v0 = mul_add_f32(v4, v5, v0);
      const f32 v6 = p0[step1 * 8 + (bl_x % 6) * 43 + 2];
      const f32 v7 = p1[column + step1 * 4000 + 1000];
      v0 = mul_add_f32(v6, v7, v0);
      const f32 v8 = p0[step1 * 8 + (bl_x % 6) * 43 + 3];
      const f32 v9 = p1[column + step1 * 4000 + 1500];
      v0 = mul_add_f32(v8, v9, v0);
      const f32 v10 = p0[step1 * 8 + (bl_x % 6) * 43 + 4];
      const f32 v11 = p1[column + step1 * 4000 + 2000];
      v0 = mul_add_f32(v10, v11, v0);
      const f32 v12 = p0[step1 * 8 + (bl_x % 6) * 43 + 5];
      const f32 v13 = p1[column + step1 * 4000 + 2500];
      v0 = mul_add_f32(v12, v13, v0);
      const f32 v14 = p0[step1 * 8 + (bl_x % 6) * 43 + 6];
      const f32 v15 = p1[column + step1 * 4000 + 3000];
      v0 = mul_add_f32(v14, v15, v0);
      const f32 v16 = p0[step1 * 8 + (bl_x % 6) * 43 + 7];
      const f32 v17 = p1[column + step1 * 4000 + 3500];
      v0 = mul_add_f32(v16, v17, v0);
    }
    const f32 v18 = p0[(bl_x % 6) * 43 + 40];
    const f32 v19 = p1[column + 20000];
    v0 = mul_add_f32(v18, v19, v0);
    const f32 v20 = p0[(bl_x % 6) * 43 + 41];
    const f32 v21 = p1[column + 20500];
    v0 = mul_add_f32(v20, v21, v0);
    const f32 v22 = p0[(bl_x % 6) * 43 + 42];
    const f32 v23 = p1[column + 21000];
    v0 = mul_add_f32(v22, v23, v0);
    const f32 v24 = v0;
    o0[column + (bl_x % 6) * 500] = v24;
  }
}
