// layer: dot emitter, 24 blocks of 64 threads

typedef float f32;
#define mul_add_f32 fmaf
typedef int s32;

extern "C" __global__ void __launch_bounds__(64) dot_dot(const f32 *__restrict__ p0, const f32 *__restrict__ p1, f32 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  if (th_x + (bl_x / 3) * 64 <= 499) {
    const s32 column = th_x + (bl_x / 3) * 64;
    f32 v0 = 0.0f;
    f32 v1 = 0.0f;
    #pragma unroll 4
    for (s32 step2 = 0; step2 < 5; step2++) {
      const f32 v3 = p1[column + step2 * 4000];
      const f32 v4 = p0[step2 * 8 + (bl_x % 3) * 86];
      v0 = mul_add_f32(v4, v3, v0);
      const f32 v5 = p0[step2 * 8 + (bl_x % 3) * 86 + 43];
      v1 = mul_add_f32(v5, v3, v1);
      const f32 v6 = p1[column + step2 * 4000 + 500];
      const f32 v7 = p0[step2 * 8 + (bl_x % 3) * 86 + 1];
      v0 = mul_add_f32(v7, v6, v0);
      const f32 v8 = p0[step2 * 8 + (bl_x % 3) * 86 + 44];
      v1 = mul_add_f32(v8, v6, v1);
      const f32 v9 = p1[column + step2 * 4000 + 1000];
      const f32 v10 = p0[step2 * 8 + (bl_x % 3) * 86 + 2];
      v0 = mul_add_f32(v10, v9, v0);
      const f32 v11 = p0[step2 * 8 + (bl_x % 3) * 86 + 45];
      v1 = mul_add_f32(v11, v9, v1);
      const f32 v12 = p1[column + step2 * 4000 + 1500];
      const f32 v13 = p0[step2 * 8 + (bl_x % 3) * 86 + 3];
      v0 = mul_add_f32(v13, v12, v0);
      const f32 v14 = p0[step2 * 8 + (bl_x % 3) * 86 + 46];
      v1 = mul_add_f32(v14, v12, v1);
      const f32 v15 = p1[column + step2 * 4000 + 2000];
      const f32 v16 = p0[step2 * 8 + (bl_x % 3) * 86 + 4];
      v0 = mul_add_f32(v16, v15, v0);
      const f32 v17 = p0[step2 * 8 + (bl_x % 3) * 86 + 47];
      v1 = mul_add_f32(v17, v15, v1);
      const f32 v18 = p1[column + step2 * 4000 + 2500];
      const f32 v19 = p0[step2 * 8 + (bl_x % 3) * 86 + 5];
      v0 = mul_add_f32(v19, v18, v0);
      const f32 v20 = p0[step2 * 8 + (bl_x % 3) * 86 + 48];
      v1 = mul_add_f32(v20, v18, v1);
      const f32 v21 = p1[column + step2 * 4000 + 3000];
      const f32 v22 = p0[step2 * 8 + (bl_x % 3) * 86 + 6];
      v0 = mul_add_f32(v22, v21, v0);
      const f32 v23 = p0[step2 * 8 + (bl_x % 3) * 86 + 49];
      v1 = mul_add_f32(v23, v21, v1);
      const f32 v24 = p1[column + step2 * 4000 + 3500];
      const f32 v25 = p0[step2 * 8 + (bl_x % 3) * 86 + 7];
      v0 = mul_add_f32(v25, v24, v0);
      const f32 v26 = p0[step2 * 8 + (bl_x % 3) * 86 + 50];
      v1 = mul_add_f32(v26, v24, v1);
    }
    const f32 v27 = p1[column + 20000];
    const f32 v28 = p0[(bl_x % 3) * 86 + 40];
    v0 = mul_add_f32(v28, v27, v0);
    const f32 v29 = p0[(bl_x % 3) * 86 + 83];
    v1 = mul_add_f32(v29, v27, v1);
    const f32 v30 = p1[column + 20500];
    const f32 v31 = p0[(bl_x % 3) * 86 + 41];
    v0 = mul_add_f32(v31, v30, v0);
    const f32 v32 = p0[(bl_x % 3) * 86 + 84];
    v1 = mul_add_f32(v32, v30, v1);
    const f32 v33 = p1[column + 21000];
    const f32 v34 = p0[(bl_x % 3) * 86 + 42];
    v0 = mul_add_f32(v34, v33, v0);
    const f32 v35 = p0[(bl_x % 3) * 86 + 85];
    v1 = mul_add_f32(v35, v33, v1);
    const f32 v36 = v0;
    o0[column + (bl_x % 3) * 1000] = v36;
    const f32 v37 = v1;
    o0[column + (bl_x % 3) * 1000 + 500] = v37;
  }
}
