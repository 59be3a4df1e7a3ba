// layer: dot-tile emitter, 80 blocks of 128 threads

typedef unsigned int u32;
typedef float f32;
typedef unsigned short u16;
typedef int s32;
typedef unsigned long long u64;
typedef struct __align__(16) { u16 v[8]; } u16x8;
typedef struct __align__(8) { f32 v[2]; } f32x2;

static __device__ void copy_async_16(void *to, const void *from) {
  const u32 place = (u32)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               : : "r"(place), "l"(__cvta_generic_to_global(from)) : "memory");
}

static __device__ void load_matrices(u32 *to, const void *from) {
  const u32 place = (u32)__cvta_generic_to_shared(from);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(place) : "memory");
}

static __device__ __attribute__((const)) f32 maximum_f32(f32 a, f32 b) {
  f32 x;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(x) : "f"(a), "f"(b));
  return x;
}

static __device__ void multiply_matrices_bf16(f32 *c, const u32 *a, const u32 *b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ u32 pack(u16 low, u16 high) { return (u32)low | (u32)high << 16; }

static __device__ __attribute__((const)) u32 packed_encode_bf16(f32 a, f32 b) {
  u32 x;
  asm("cvt.rn.bf16x2.f32 %0, %2, %1;" : "=r"(x) : "f"(a), "f"(b));
  return x;
}

static __device__ __attribute__((const)) u32 packed_maximum_bf16(u32 a, u32 b) {
  u32 x;
  asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(b));
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

static __device__ void wait_copies_1() { asm volatile("cp.async.commit_group; cp.async.wait_group 1;" : : : "memory"); }

extern "C" __global__ void __launch_bounds__(128) dot_tile_dot(const u16 *__restrict__ p0, const u16 *__restrict__ p1, const u16 *__restrict__ p2, const f32 *__restrict__ p3, u16 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ __align__(16) u16 left_tile[4096];
  __shared__ __align__(16) u16 right_tile[1024];
  __shared__ __align__(16) u16 left_tile2[4096];
  __shared__ __align__(16) u16 right_tile2[1024];
  __shared__ __align__(16) u16 left_tile3[4096];
  __shared__ __align__(16) u16 right_tile3[1024];
  const s32 quotient_1 = quotient_s32(bl_x, 20, 0);
  __align__(16) u32 left[16];
  __align__(16) u32 right[16];
  __align__(16) f32 sums[32];
  __align__(16) u16 x0[8];
  __align__(16) u16 x1[8];
  __align__(16) u16 x2[8];
  __align__(16) u16 x3[8];
  __align__(16) u16 x4[8];
  __align__(16) u16 x5[8];
  __align__(16) u16 x6[8];
  __align__(16) u16 x7[8];
  __align__(16) u16 x8[8];
  __align__(16) f32 x9[2];
  __align__(16) u16 x10[2];
  #pragma unroll 32
  for (s32 column0 = 0; column0 < 32; column0++) {
    sums[column0] = 0.0f;
  }
  #pragma unroll 4
  for (s32 turn1 = 0; turn1 < 4; turn1++) {
    const s32 left_cell2 = turn1 * 128 + (th_x >> 2) * 4 + ((th_x + (th_x >> 3)) & 3);
    *(u16x8 *)(x0) = *(const u16x8 *)(p0 + (th_x * 8 + turn1 * 3072 + (th_x >> 2) * 64 + quotient_1 * 12288));
    *(u16x8 *)(x1) = *(const u16x8 *)(p1 + (th_x & 3) * 8);
    #pragma unroll 4
    for (s32 vector_1 = 0; vector_1 < 4; vector_1++) {
      const u16 v4_1 = x0[vector_1 * 2];
      const u16 v4_2 = x0[vector_1 * 2 + 1];
      const u16 v6_1 = x1[vector_1 * 2];
      const u16 v6_2 = x1[vector_1 * 2 + 1];
      const u32 v8_pair = packed_maximum_bf16(pack(v4_1, v4_2), pack(v6_1, v6_2));
      x2[vector_1 * 2] = unpack_low(v8_pair);
      x2[vector_1 * 2 + 1] = unpack_high(v8_pair);
    }
    *(u16x8 *)(left_tile + left_cell2 * 8) = *(const u16x8 *)(x2);
  }
  const s32 right_cell9 = (th_x >> 2) * 4 + ((th_x + (th_x >> 3)) & 3);
  copy_async_16(right_tile + right_cell9 * 8, p2 + (th_x * 8 + (th_x >> 2) * 64 + (bl_x - quotient_1 * 20) * 3072));
  wait_copies_1();
  #pragma unroll 4
  for (s32 turn13 = 0; turn13 < 4; turn13++) {
    const s32 left_cell14 = turn13 * 128 + (th_x >> 2) * 4 + ((th_x + (th_x >> 3)) & 3);
    *(u16x8 *)(x3) = *(const u16x8 *)(p0 + (th_x * 8 + turn13 * 3072 + (th_x >> 2) * 64 + quotient_1 * 12288 + 32));
    *(u16x8 *)(x4) = *(const u16x8 *)(p1 + ((th_x & 3) * 8 + 32));
    #pragma unroll 4
    for (s32 vector_2 = 0; vector_2 < 4; vector_2++) {
      const u16 v16_1 = x3[vector_2 * 2];
      const u16 v16_2 = x3[vector_2 * 2 + 1];
      const u16 v18_1 = x4[vector_2 * 2];
      const u16 v18_2 = x4[vector_2 * 2 + 1];
      const u32 v20_pair = packed_maximum_bf16(pack(v16_1, v16_2), pack(v18_1, v18_2));
      x5[vector_2 * 2] = unpack_low(v20_pair);
      x5[vector_2 * 2 + 1] = unpack_high(v20_pair);
    }
    *(u16x8 *)(left_tile2 + left_cell14 * 8) = *(const u16x8 *)(x5);
  }
  const s32 right_cell21 = (th_x >> 2) * 4 + ((th_x + (th_x >> 3)) & 3);
  copy_async_16(right_tile2 + right_cell21 * 8, p2 + (th_x * 8 + (th_x >> 2) * 64 + (bl_x - quotient_1 * 20) * 3072 + 32));
  wait_copies_1();
  __syncthreads();
  const s32 left_1 = (th_x >> 5) * 128 + (th_x & 15) * 4 + (((th_x >> 1) + ((th_x >> 4) & 1)) & 3);
  load_matrices(left, left_tile + left_1 * 8);
  const s32 left_2 = (th_x >> 5) * 128 + (th_x & 15) * 4 + (((th_x >> 1) + ((th_x >> 4) & 1)) & 3) + 64;
  load_matrices(left + 4, left_tile + left_2 * 8);
  const s32 right_1 = (th_x & 7) * 4 + ((th_x >> 4) & 1) * 32 + (((th_x >> 1) + ((th_x >> 3) & 1)) & 3);
  load_matrices(right, right_tile + right_1 * 8);
  const s32 right_2 = (th_x & 7) * 4 + ((th_x >> 4) & 1) * 32 + (((th_x >> 1) + ((th_x >> 3) & 1)) & 3) + 64;
  load_matrices(right + 4, right_tile + right_2 * 8);
  #pragma unroll 4
  for (s32 turn29 = 0; turn29 < 4; turn29++) {
    const s32 left_cell30 = turn29 * 128 + (th_x >> 2) * 4 + ((th_x + (th_x >> 3)) & 3);
    *(u16x8 *)(x6) = *(const u16x8 *)(p0 + (th_x * 8 + turn29 * 3072 + (th_x >> 2) * 64 + quotient_1 * 12288 + 64));
    *(u16x8 *)(x7) = *(const u16x8 *)(p1 + ((th_x & 3) * 8 + 64));
    #pragma unroll 4
    for (s32 vector_3 = 0; vector_3 < 4; vector_3++) {
      const u16 v32_1 = x6[vector_3 * 2];
      const u16 v32_2 = x6[vector_3 * 2 + 1];
      const u16 v34_1 = x7[vector_3 * 2];
      const u16 v34_2 = x7[vector_3 * 2 + 1];
      const u32 v36_pair = packed_maximum_bf16(pack(v32_1, v32_2), pack(v34_1, v34_2));
      x8[vector_3 * 2] = unpack_low(v36_pair);
      x8[vector_3 * 2 + 1] = unpack_high(v36_pair);
    }
    *(u16x8 *)(left_tile3 + left_cell30 * 8) = *(const u16x8 *)(x8);
  }
  const s32 right_cell37 = (th_x >> 2) * 4 + ((th_x + (th_x >> 3)) & 3);
  copy_async_16(right_tile3 + right_cell37 * 8, p2 + (th_x * 8 + (th_x >> 2) * 64 + (bl_x - quotient_1 * 20) * 3072 + 64));
  const s32 left_3 = (th_x >> 5) * 128 + (th_x & 15) * 4 + (((th_x >> 1) + ((th_x >> 4) & 1) + 2) & 3);
  load_matrices(left + 8, left_tile + left_3 * 8);
  const s32 left_4 = (th_x >> 5) * 128 + (th_x & 15) * 4 + (((th_x >> 1) + ((th_x >> 4) & 1) + 2) & 3) + 64;
  load_matrices(left + 12, left_tile + left_4 * 8);
  const s32 right_3 = (th_x & 7) * 4 + ((th_x >> 4) & 1) * 32 + (((th_x >> 1) + ((th_x >> 3) & 1) + 2) & 3);
  load_matrices(right + 8, right_tile + right_3 * 8);
  const s32 right_4 = (th_x & 7) * 4 + ((th_x >> 4) & 1) * 32 + (((th_x >> 1) + ((th_x >> 3) & 1) + 2) & 3) + 64;
  load_matrices(right + 12, right_tile + right_4 * 8);
  multiply_matrices_bf16(sums, left, right);
  multiply_matrices_bf16(sums + 4, left, right + 2);
  multiply_matrices_bf16(sums + 8, left, right + 4);
  multiply_matrices_bf16(sums + 12, left, right + 6);
  multiply_matrices_bf16(sums + 16, left + 4, right);
  multiply_matrices_bf16(sums + 20, left + 4, right + 2);
  multiply_matrices_bf16(sums + 24, left + 4, right + 4);
  multiply_matrices_bf16(sums + 28, left + 4, right + 6);
  multiply_matrices_bf16(sums, left + 8, right + 8);
  multiply_matrices_bf16(sums + 4, left + 8, right + 10);
  multiply_matrices_bf16(sums + 8, left + 8, right + 12);
  multiply_matrices_bf16(sums + 12, left + 8, right + 14);
  multiply_matrices_bf16(sums + 16, left + 12, right + 8);
  multiply_matrices_bf16(sums + 20, left + 12, right + 10);
  multiply_matrices_bf16(sums + 24, left + 12, right + 12);
  multiply_matrices_bf16(sums + 28, left + 12, right + 14);
  wait_copies_1();
  __syncthreads();
  const s32 left_5 = (th_x >> 5) * 128 + (th_x & 15) * 4 + (((th_x >> 1) + ((th_x >> 4) & 1)) & 3);
  load_matrices(left, left_tile2 + left_5 * 8);
  const s32 left_6 = (th_x >> 5) * 128 + (th_x & 15) * 4 + (((th_x >> 1) + ((th_x >> 4) & 1)) & 3) + 64;
  load_matrices(left + 4, left_tile2 + left_6 * 8);
  const s32 right_5 = (th_x & 7) * 4 + ((th_x >> 4) & 1) * 32 + (((th_x >> 1) + ((th_x >> 3) & 1)) & 3);
  load_matrices(right, right_tile2 + right_5 * 8);
  const s32 right_6 = (th_x & 7) * 4 + ((th_x >> 4) & 1) * 32 + (((th_x >> 1) + ((th_x >> 3) & 1)) & 3) + 64;
  load_matrices(right + 4, right_tile2 + right_6 * 8);
  const s32 left_7 = (th_x >> 5) * 128 + (th_x & 15) * 4 + (((th_x >> 1) + ((th_x >> 4) & 1) + 2) & 3);
  load_matrices(left + 8, left_tile2 + left_7 * 8);
  const s32 left_8 = (th_x >> 5) * 128 + (th_x & 15) * 4 + (((th_x >> 1) + ((th_x >> 4) & 1) + 2) & 3) + 64;
  load_matrices(left + 12, left_tile2 + left_8 * 8);
  const s32 right_7 = (th_x & 7) * 4 + ((th_x >> 4) & 1) * 32 + (((th_x >> 1) + ((th_x >> 3) & 1) + 2) & 3);
  load_matrices(right + 8, right_tile2 + right_7 * 8);
  const s32 right_8 = (th_x & 7) * 4 + ((th_x >> 4) & 1) * 32 + (((th_x >> 1) + ((th_x >> 3) & 1) + 2) & 3) + 64;
  load_matrices(right + 12, right_tile2 + right_8 * 8);
  multiply_matrices_bf16(sums, left, right);
  multiply_matrices_bf16(sums + 4, left, right + 2);
  multiply_matrices_bf16(sums + 8, left, right + 4);
  multiply_matrices_bf16(sums + 12, left, right + 6);
  multiply_matrices_bf16(sums + 16, left + 4, right);
  multiply_matrices_bf16(sums + 20, left + 4, right + 2);
  multiply_matrices_bf16(sums + 24, left + 4, right + 4);
  multiply_matrices_bf16(sums + 28, left + 4, right + 6);
  multiply_matrices_bf16(sums, left + 8, right + 8);
  multiply_matrices_bf16(sums + 4, left + 8, right + 10);
  multiply_matrices_bf16(sums + 8, left + 8, right + 12);
  multiply_matrices_bf16(sums + 12, left + 8, right + 14);
  multiply_matrices_bf16(sums + 16, left + 12, right + 8);
  multiply_matrices_bf16(sums + 20, left + 12, right + 10);
  multiply_matrices_bf16(sums + 24, left + 12, right + 12);
  multiply_matrices_bf16(sums + 28, left + 12, right + 14);
  wait_copies_1();
  __syncthreads();
  const s32 left_9 = (th_x >> 5) * 128 + (th_x & 15) * 4 + (((th_x >> 1) + ((th_x >> 4) & 1)) & 3);
  load_matrices(left, left_tile3 + left_9 * 8);
  const s32 left_10 = (th_x >> 5) * 128 + (th_x & 15) * 4 + (((th_x >> 1) + ((th_x >> 4) & 1)) & 3) + 64;
  load_matrices(left + 4, left_tile3 + left_10 * 8);
  const s32 right_9 = (th_x & 7) * 4 + ((th_x >> 4) & 1) * 32 + (((th_x >> 1) + ((th_x >> 3) & 1)) & 3);
  load_matrices(right, right_tile3 + right_9 * 8);
  const s32 right_10 = (th_x & 7) * 4 + ((th_x >> 4) & 1) * 32 + (((th_x >> 1) + ((th_x >> 3) & 1)) & 3) + 64;
  load_matrices(right + 4, right_tile3 + right_10 * 8);
  const s32 left_11 = (th_x >> 5) * 128 + (th_x & 15) * 4 + (((th_x >> 1) + ((th_x >> 4) & 1) + 2) & 3);
  load_matrices(left + 8, left_tile3 + left_11 * 8);
  const s32 left_12 = (th_x >> 5) * 128 + (th_x & 15) * 4 + (((th_x >> 1) + ((th_x >> 4) & 1) + 2) & 3) + 64;
  load_matrices(left + 12, left_tile3 + left_12 * 8);
  const s32 right_11 = (th_x & 7) * 4 + ((th_x >> 4) & 1) * 32 + (((th_x >> 1) + ((th_x >> 3) & 1) + 2) & 3);
  load_matrices(right + 8, right_tile3 + right_11 * 8);
  const s32 right_12 = (th_x & 7) * 4 + ((th_x >> 4) & 1) * 32 + (((th_x >> 1) + ((th_x >> 3) & 1) + 2) & 3) + 64;
  load_matrices(right + 12, right_tile3 + right_12 * 8);
  multiply_matrices_bf16(sums, left, right);
  multiply_matrices_bf16(sums + 4, left, right + 2);
  multiply_matrices_bf16(sums + 8, left, right + 4);
  multiply_matrices_bf16(sums + 12, left, right + 6);
  multiply_matrices_bf16(sums + 16, left + 4, right);
  multiply_matrices_bf16(sums + 20, left + 4, right + 2);
  multiply_matrices_bf16(sums + 24, left + 4, right + 4);
  multiply_matrices_bf16(sums + 28, left + 4, right + 6);
  multiply_matrices_bf16(sums, left + 8, right + 8);
  multiply_matrices_bf16(sums + 4, left + 8, right + 10);
  multiply_matrices_bf16(sums + 8, left + 8, right + 12);
  multiply_matrices_bf16(sums + 12, left + 8, right + 14);
  multiply_matrices_bf16(sums + 16, left + 12, right + 8);
  multiply_matrices_bf16(sums + 20, left + 12, right + 10);
  multiply_matrices_bf16(sums + 24, left + 12, right + 12);
  multiply_matrices_bf16(sums + 28, left + 12, right + 14);
  #pragma unroll 2
  for (s32 i73 = 0; i73 < 2; i73++) {
    #pragma unroll 4
    for (s32 j74 = 0; j74 < 4; j74++) {
      #pragma unroll 2
      for (s32 half75 = 0; half75 < 2; half75++) {
        *(f32x2 *)(x9) = *(const f32x2 *)(p3 + (j74 * 8 + (th_x & 3) * 2 + (bl_x - quotient_1 * 20) * 32));
        const f32 v77_3 = sums[i73 * 16 + j74 * 4 + half75 * 2];
        const f32 v77_4 = sums[i73 * 16 + j74 * 4 + half75 * 2 + 1];
        const f32 v78_3 = x9[0];
        const f32 v78_4 = x9[1];
        const f32 v79_3 = v77_3 + v78_3;
        const f32 v79_4 = v77_4 + v78_4;
        const f32 v80_3 = maximum_f32(v79_3, 0.0f);
        const f32 v80_4 = maximum_f32(v79_4, 0.0f);
        const u32 v81_1 = packed_encode_bf16(v80_3, v80_4);
        x10[0] = unpack_low(v81_1);
        x10[1] = unpack_high(v81_1);
        store_vector_4(o0 + (th_x * 2 + bl_x * 32 + i73 * 10240 + j74 * 8 + half75 * 5120 + (th_x >> 2) * 632 + (th_x >> 5) * 15360 + quotient_1 * 81280), x10);
      }
    }
  }
}
