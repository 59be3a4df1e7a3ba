// scores: dot-tile emitter, 18 blocks of 128 threads

typedef float f32;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef struct __align__(16) { u16 v[8]; } u16x8;

static __device__ u16 encode_bf16(f32 a) {
  u16 x;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(x) : "f"(a));
  return x;
}

static __device__ void load_matrices(u32 *to, const void *from) {
  const u32 place = (u32)__cvta_generic_to_shared(from);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(place) : "memory");
}

static __device__ void load_transposed(u32 *to, const void *from) {
  const u32 place = (u32)__cvta_generic_to_shared(from);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(place) : "memory");
}

static __device__ void multiply_matrices_bf16(f32 *c, const u32 *a, const u32 *b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ void store_vector_4(void *to, const void *from) {
  u32 words[1];
  memcpy(words, from, 4);
  asm volatile("st.global.b32 [%0], %1;"
               : : "l"(__cvta_generic_to_global(to)), "r"(words[0]) : "memory");
}

extern "C" __global__ void __launch_bounds__(128) dot_tile_dot(const u16 *__restrict__ p0, const u16 *__restrict__ p1, u16 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ __align__(16) u16 left_tile[512];
  __shared__ __align__(16) u16 right_tile[512];
  __align__(16) u32 left[4];
  __align__(16) u32 right[4];
  __align__(16) f32 sums[8];
  __align__(16) u16 x4[2];
  sums[0] = 0.0f;
  sums[1] = 0.0f;
  sums[2] = 0.0f;
  sums[3] = 0.0f;
  sums[4] = 0.0f;
  sums[5] = 0.0f;
  sums[6] = 0.0f;
  sums[7] = 0.0f;
  if (th_x <= 63) {
    __align__(16) u16 x0[8];
    __align__(16) u16 x1[8];
    const s32 j1 = th_x;
    const s32 left_cell2 = (j1 >> 1) * 2 + ((j1 + (j1 >> 3)) & 1);
    *(u16x8 *)(x0) = *(const u16x8 *)(p0 + j1 * 8 + (bl_x / 3) * 512);
    #pragma unroll 8
    for (s32 vector_index3 = 0; vector_index3 < 8; vector_index3++) {
      const u16 v4 = x0[vector_index3];
      x1[vector_index3] = v4;
    }
    *(u16x8 *)(left_tile + left_cell2 * 8) = *(const u16x8 *)(x1);
  }
  if (th_x <= 63) {
    __align__(16) u16 x2[8];
    __align__(16) u16 x3[8];
    const s32 j6 = th_x;
    const s32 right_cell7 = (j6 >> 2) * 4 + ((j6 + (j6 >> 3)) & 3);
    *(u16x8 *)(x2) = *(const u16x8 *)(p1 + j6 * 8 + (bl_x / 6) * 1536 + (j6 >> 2) * 64 + (bl_x % 3) * 32);
    #pragma unroll 8
    for (s32 vector_index8 = 0; vector_index8 < 8; vector_index8++) {
      const u16 v9 = x2[vector_index8];
      x3[vector_index8] = v9;
    }
    *(u16x8 *)(right_tile + right_cell7 * 8) = *(const u16x8 *)(x3);
  }
  __syncthreads();
  load_matrices(left, left_tile + (th_x >> 6) * 256 + (th_x & 15) * 16 + (((th_x >> 2) + (th_x >> 4)) & 1) * 8);
  load_transposed(right, right_tile + (th_x & 15) * 32 + (((th_x >> 1) + (th_x >> 4)) & 3) * 8);
  multiply_matrices_bf16(sums, left, right);
  multiply_matrices_bf16(sums + 4, left, right + 2);
  #pragma unroll 2
  for (s32 j12 = 0; j12 < 2; j12++) {
    #pragma unroll 2
    for (s32 half13 = 0; half13 < 2; half13++) {
      const u16 v15_1 = encode_bf16(sums[j12 * 4 + half13 * 2]);
      x4[0] = v15_1;
      const u16 v15_3 = encode_bf16(sums[j12 * 4 + half13 * 2 + 1]);
      x4[1] = v15_3;
      store_vector_4(o0 + th_x * 2 + bl_x * 32 + j12 * 8 + half13 * 768 + (th_x >> 2) * 88 + (th_x >> 6) * 1504 + (bl_x / 3) * 2976 - (th_x >> 5) * 752, x4);
    }
  }
}
