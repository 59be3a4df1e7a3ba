// fused: transpose emitter, 30 blocks of 256 threads

typedef signed char s8;
typedef int s32;
typedef struct __align__(2) { s8 v[2]; } s8x2;
typedef struct __align__(4) { s8 v[4]; } s8x4;

static __device__ s32 floor_mod_s32(s32 a, s32 b) {
  s32 m = b < 0 ? -b : b, r = a % m;
  return r < 0 ? r + m : r;
}

extern "C" __global__ void __launch_bounds__(256) transpose_transpose(const s8 *__restrict__ p0, s8 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ s8 tile0[3168];
  for (s32 r0 = 0; r0 < 6; ++r0) {
    if (((bl_x % 6) * 48 + (th_x + r0 * 16) % 48) <= 254) {
      const s32 j1 = (bl_x % 6) * 48 + (th_x + r0 * 16) % 48;
      const s8x2 x3 = ((const s8x2 *)p0)[j1 + (bl_x / 6) * 8160 + ((th_x + r0 * 256) / 48) * 255];
      #pragma unroll
      for (s32 r2 = 0; r2 < 2; ++r2) {
        const s8 v4 = x3.v[r2];
        tile0[th_x * 2 + r0 * 512 + r2 + ((th_x + r0 * 256) / 48) * 3] = v4;
      }
    }
  }
  __syncthreads();
  for (s32 r5 = 0; r5 < 3; ++r5) {
    if (((th_x + r5 * 256) / 24 + (bl_x % 6) * 32) <= 169) {
      const s32 j6 = (th_x + r5 * 256) / 24 + (bl_x % 6) * 32;
      s8x4 y9;
      #pragma unroll
      for (s32 r7 = 0; r7 < 4; ++r7) {
        const s8 v8 = tile0[th_x * 100 + r5 * 33760 + r7 + ((th_x + r5 + r7) / 3) * 96 - ((th_x + r5 * 256) / 24) * 3165];
        y9.v[r7] = v8;
      }
      ((s8x4 *)o0)[j6 * 120 + (bl_x / 6) * 24 + floor_mod_s32(th_x - r5 * 8, 24)] = y9;
    }
  }
}
