// scores: dot-tile emitter, 72 blocks of 32 threads

typedef float f32;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef unsigned short u16;
typedef struct __align__(16) { u16 v[8]; } u16x8;

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

static __device__ __attribute__((const)) u32 packed_encode_bf16(f32 a, f32 b) {
  u32 x;
  asm("cvt.rn.bf16x2.f32 %0, %2, %1;" : "=r"(x) : "f"(a), "f"(b));
  return x;
}

static __device__ s32 quotient_s32(s32 x, s32 divisor, s32 shift) {
  const u32 reciprocal = (u32)((((u64)1 << (32 + shift)) + divisor - 1) / divisor);
  return (s32)((u64)(u32)x * reciprocal >> (32 + shift));
}

static __device__ void store_vector_4(void *to, const void *from) {
  u32 words[1];
  memcpy(words, from, 4);
  asm volatile("st.global.b32 [%0], %1;"
               : : "l"(__cvta_generic_to_global(to)), "r"(words[0]) : "memory");
}

static __device__ __attribute__((const)) u16 unpack_high(u32 a) {
  u16 x;
  asm("mov.b32 {_, %0}, %1;" : "=h"(x) : "r"(a));
  return x;
}

static __device__ __attribute__((const)) u16 unpack_low(u32 a) {
  u16 x;
  asm("mov.b32 {%0, _}, %1;" : "=h"(x) : "r"(a));
  return x;
}

extern "C" __global__ void __launch_bounds__(32) dot_tile_dot(const u16 *__restrict__ p0, const u16 *__restrict__ p1, u16 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ __align__(16) u16 left_tile[256];
  __shared__ __align__(16) u16 right_tile[256];
  const s32 quotient_1 = quotient_s32(bl_x, 6, 0);
  __align__(16) u32 left[4];
  __align__(16) u32 right[4];
  __align__(16) f32 sums[8];
  __align__(16) u16 x0[2];
  __align__(16) u16 x1[8];
  __align__(16) u16 x2[8];
  __align__(16) u16 x3[8];
  __align__(16) u16 x4[8];
  sums[0] = 0.0f;
  sums[1] = 0.0f;
  sums[2] = 0.0f;
  sums[3] = 0.0f;
  sums[4] = 0.0f;
  sums[5] = 0.0f;
  sums[6] = 0.0f;
  sums[7] = 0.0f;
  const s32 left_cell1 = (th_x >> 1) * 2 + ((th_x + (th_x >> 3)) & 1);
  *(u16x8 *)(x1) = *(const u16x8 *)(p0 + (th_x * 8 + quotient_1 * 256));
  #pragma unroll 8
  for (s32 vector_index2 = 0; vector_index2 < 8; vector_index2++) {
    const u16 v3 = x1[vector_index2];
    x2[vector_index2] = v3;
  }
  *(u16x8 *)(left_tile + left_cell1 * 8) = *(const u16x8 *)(x2);
  const s32 right_cell5 = (th_x >> 1) * 2 + ((th_x + (th_x >> 3)) & 1);
  *(u16x8 *)(x3) = *(const u16x8 *)(p1 + (th_x * 8 + (th_x >> 1) * 80 + quotient_s32(bl_x, 24, 0) * 1536 + (bl_x - quotient_1 * 6) * 16));
  #pragma unroll 8
  for (s32 vector_index6 = 0; vector_index6 < 8; vector_index6++) {
    const u16 v7 = x3[vector_index6];
    x4[vector_index6] = v7;
  }
  *(u16x8 *)(right_tile + right_cell5 * 8) = *(const u16x8 *)(x4);
  __syncthreads();
  const s32 left_cell9 = (th_x & 15) * 2 + (((th_x >> 2) + (th_x >> 4)) & 1);
  load_matrices(left, left_tile + left_cell9 * 8);
  const s32 right_cell10 = (th_x & 15) * 2 + (((th_x >> 2) + (th_x >> 4)) & 1);
  load_transposed(right, right_tile + right_cell10 * 8);
  multiply_matrices_bf16(sums, left, right);
  multiply_matrices_bf16(sums + 4, left, right + 2);
  #pragma unroll 2
  for (s32 j12 = 0; j12 < 2; j12++) {
    const u32 v15_2 = packed_encode_bf16(sums[j12 * 4], sums[j12 * 4 + 1]);
    x0[0] = unpack_low(v15_2);
    x0[1] = unpack_high(v15_2);
    store_vector_4(o0 + (th_x * 2 + bl_x * 16 + j12 * 8 + (th_x >> 2) * 88 + quotient_1 * 1440), x0);
    const u32 v15_3 = packed_encode_bf16(sums[j12 * 4 + 2], sums[j12 * 4 + 3]);
    x0[0] = unpack_low(v15_3);
    x0[1] = unpack_high(v15_3);
    store_vector_4(o0 + (th_x * 2 + bl_x * 16 + j12 * 8 + (th_x >> 2) * 88 + quotient_1 * 1440 + 768), x0);
  }
}
