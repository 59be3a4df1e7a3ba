// fused: transpose emitter, 600 blocks of 256 threads

#define abs_f32 fabsf
#define exp_f32 expf
typedef float f32;
typedef int s32;

extern "C" __global__ void __launch_bounds__(256) transpose_transpose(const f32 *__restrict__ p0, f32 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ f32 tile0[1056];
  if ((th_x & 31) + (bl_x % 6) * 32 <= 169) {
    const s32 j1 = (th_x & 31) + (bl_x % 6) * 32;
    const f32 v2_1 = p0[j1 + (th_x >> 5) * 170 + (bl_x / 6) * 5440];
    const f32 v3_1 = exp_f32(v2_1);
    tile0[th_x + (th_x >> 5)] = v3_1;
    const f32 v2_2 = p0[j1 + (th_x >> 5) * 170 + (bl_x / 6) * 5440 + 1360];
    const f32 v3_2 = exp_f32(v2_2);
    tile0[th_x + (th_x >> 5) + 264] = v3_2;
    const f32 v2_3 = p0[j1 + (th_x >> 5) * 170 + (bl_x / 6) * 5440 + 2720];
    const f32 v3_3 = exp_f32(v2_3);
    tile0[th_x + (th_x >> 5) + 528] = v3_3;
    const f32 v2_4 = p0[j1 + (th_x >> 5) * 170 + (bl_x / 6) * 5440 + 4080];
    const f32 v3_4 = exp_f32(v2_4);
    tile0[th_x + (th_x >> 5) + 792] = v3_4;
  }
  __syncthreads();
  for (s32 r4 = 0; r4 < 4; r4++) {
    if (r4 * 8 + (th_x >> 5) + (bl_x % 6) * 32 <= 169) {
      const s32 j5 = r4 * 8 + (th_x >> 5) + (bl_x % 6) * 32;
      const f32 v6 = tile0[th_x * 33 + r4 * 8 - (th_x >> 5) * 1055];
      const f32 v7 = abs_f32(v6);
      o0[j5 * 160 + (bl_x / 6) * 32 + (bl_x / 30) * 27040 + (th_x & 31)] = v7;
    }
  }
}
