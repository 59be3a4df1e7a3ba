// fused: scatter emitter, 22 blocks of 128 threads

typedef int s32;
typedef float f32;

extern "C" __global__ void __launch_bounds__(128) scatter_scatter(f32 *o0, const s32 *__restrict__ p1, const f32 *__restrict__ p2) {
  const s32 i = blockIdx.x * 128 + threadIdx.x;
  if (i >= 2800) return;
  bool v0 = i / 70 == 0;
  if (!v0) {
    const s32 j1 = i / 70 - 1;
    const s32 v2 = p1[j1];
    const s32 v3 = p1[i / 70];
    v0 = v2 != v3;
  }
  if (v0) {
    const s32 v4 = p1[i / 70];
    const s32 j5 = (s32)v4;
    if (v4 >= 0 && v4 <= 11) {
      f32 v6 = o0[j5 * 70 + i % 70];
      const f32 v7 = p2[i];
      const f32 v8 = v6 + v7;
      const f32 v9 = v8;
      v6 = v9;
      for (s32 r10 = 0; r10 < 39; ++r10) {
        if (r10 + i / 70 + 1 >= 40) break;
        const s32 j11 = r10 + i / 70 + 1;
        const s32 v12 = p1[j11];
        if (v12 != v4) break;
        const f32 v13 = p2[j11 * 70 + i % 70];
        const f32 v14 = v6 + v13;
        const f32 v15 = v14;
        v6 = v15;
      }
      o0[j5 * 70 + i % 70] = v6;
    }
  }
}
