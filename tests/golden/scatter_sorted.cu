// fused: scatter emitter, 22 blocks of 128 threads

typedef int s32;
typedef float f32;

extern "C" __global__ void __launch_bounds__(128) scatter_scatter(f32 *o0, const s32 *__restrict__ p1, const f32 *__restrict__ p2) {
  const s32 i = blockIdx.x * 128 + threadIdx.x;
  if (i >= 2800) return;
  bool v0 = i / 70 == 0;
  bool v1 = false;
  if (!v0) {
    const s32 j2 = i / 70 - 1;
    const s32 v3 = p1[j2];
    const s32 v4 = p1[i / 70];
    v0 = v3 != v4;
    v1 = !v0 && ((i / 70) & 31) == 0;
  }
  if (v0 || v1) {
    const s32 v5 = p1[i / 70];
    const s32 j6 = (s32)v5;
    if (v5 >= 0 && v5 <= 11) {
      const f32 v7 = p2[i];
      f32 v8 = v7;
      for (s32 r9 = 0; r9 < 32; ++r9) {
        if (r9 + i / 70 + 1 >= 40) break;
        const s32 j10 = r9 + i / 70 + 1;
        const s32 v11 = p1[j10];
        if (v11 != v5) break;
        if ((j10 & 31) == 0) {
          v1 = true;
          break;
        }
        const f32 v12 = p2[j10 * 70 + i % 70];
        const f32 v13 = v8 + v12;
        const f32 v14 = v13;
        v8 = v14;
      }
      if (v1) {
        atomicAdd(o0 + j6 * 70 + i % 70, v8);
      }
      else {
        const f32 v15 = o0[j6 * 70 + i % 70];
        const f32 v16 = v15 + v8;
        o0[j6 * 70 + i % 70] = v16;
      }
    }
  }
}
