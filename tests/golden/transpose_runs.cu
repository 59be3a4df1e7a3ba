// fused: transpose emitter, 30 blocks of 256 threads

typedef signed char s8;
typedef int s32;

static __device__ s32 floor_div_s32(s32 a, s32 b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static __device__ s32 floor_mod_s32(s32 a, s32 b) {
  s32 m = b < 0 ? -b : b, r = a % m;
  return r < 0 ? r + m : r;
}

extern "C" __global__ void __launch_bounds__(256) transpose_transpose(const s8 *__restrict__ p0, s8 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ s8 tile0[3168];
  for (s32 r0 = 0; r0 < 12; ++r0) {
    if (((bl_x % 6) * 32 + (floor_div_s32(th_x - r0 * 32, 3) & 31)) <= 169) {
      const s32 j1 = (bl_x % 6) * 32 + (floor_div_s32(th_x - r0 * 32, 3) & 31);
      const s8 v2 = p0[j1 * 3 + (bl_x / 6) * 16320 + ((th_x + r0 * 256) / 96) * 510 + (th_x + r0) % 3];
      tile0[th_x + r0 * 256 + ((th_x + r0 * 256) / 96) * 3] = v2;
    }
  }
  __syncthreads();
  for (s32 r3 = 0; r3 < 12; ++r3) {
    if (((th_x + r3 * 256) / 96 + (bl_x % 6) * 32) <= 169) {
      const s32 j4 = (th_x + r3 * 256) / 96 + (bl_x % 6) * 32;
      const s8 v5 = tile0[th_x + r3 * 8416 + ((th_x + r3) / 3) * 96 - ((th_x + r3 * 256) / 96) * 3165];
      o0[j4 * 480 + (bl_x / 6) * 96 + floor_mod_s32(th_x - r3 * 32, 96)] = v5;
    }
  }
}
