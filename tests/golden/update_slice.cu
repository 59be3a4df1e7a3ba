// fused: dynamic-update-slice emitter, 469 blocks of 128 threads

typedef int s32;
typedef float f32;
typedef unsigned int u32;
typedef struct __align__(16) { f32 v[4]; } f32x4;

static __device__ s32 clamp_s32(s32 low, s32 x, s32 high) { s32 y = x < low ? low : x; return y > high ? high : y; }

static __device__ void store_vector_16(void *to, const void *from) {
  u32 words[4];
  memcpy(words, from, 16);
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
               : : "l"(__cvta_generic_to_global(to)), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
}

extern "C" __global__ void __launch_bounds__(128) dynamic_update_slice_dynamic_update_slice(f32 *p0, const f32 *__restrict__ p1, const s32 *__restrict__ p2) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  f32 *const o0 = (f32 *)p0;
  if (th_x + bl_x * 128 <= 59999) {
    __align__(16) f32 x0[4];
    __align__(16) f32 x1[4];
    const s32 i = th_x + bl_x * 128;
    const s32 v0 = p2[0];
    const s32 j1 = clamp_s32(0, v0, 20);
    *(f32x4 *)(x0) = *(const f32x4 *)(p1 + i * 4);
    const f32 v3_1 = x0[0];
    x1[0] = v3_1;
    const f32 v3_2 = x0[1];
    x1[1] = v3_2;
    const f32 v3_3 = x0[2];
    x1[2] = v3_3;
    const f32 v3_4 = x0[3];
    x1[3] = v3_4;
    store_vector_16(o0 + (i * 4 + j1 * 12000), x1);
  }
}
