// fused: dot-tile emitter, 98 blocks of 128 threads

typedef unsigned int u32;
typedef float f32;
typedef unsigned short u16;
typedef int s32;
typedef unsigned long long u64;
typedef struct __align__(16) { u16 v[8]; } u16x8;
typedef struct __align__(4) { u16 v[2]; } u16x2;

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

static __device__ u32 pack(u16 low, u16 high) { return (u32)low | (u32)high << 16; }

static __device__ __attribute__((const)) u32 packed_add_bf16(u32 a, u32 b) {
  u32 x;
  asm("fma.rn.bf16x2 %0, %1, %3, %2;" : "=r"(x) : "r"(a), "r"(b), "r"(0x3f803f80u));
  return x;
}

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

static __device__ s32 remainder_s32(s32 x, s32 divisor, s32 shift) { return x - quotient_s32(x, divisor, shift) * divisor; }

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

static __device__ void wait_copies() { asm volatile("cp.async.wait_all;" : : : "memory"); }

static __device__ bool within_s32(s32 x, s32 low, s32 high) { return low <= x && x <= high; }

extern "C" __global__ void __launch_bounds__(128) dot_tile_convolution(const u16 *__restrict__ p0, const u16 *__restrict__ p1, const u16 *__restrict__ p2, u16 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ __align__(16) u16 left_tile[8192];
  __shared__ __align__(16) u16 right_tile[4096];
  __shared__ __align__(16) u16 left_tile2[8192];
  __shared__ __align__(16) u16 right_tile2[4096];
  __align__(16) u32 left[16];
  __align__(16) u32 right[32];
  __align__(16) f32 sums[64];
  __align__(16) u16 x2[8];
  __align__(16) u16 x7[8];
  __align__(16) u16 x12[8];
  __align__(16) u16 x15[2];
  __align__(16) u16 x16[2];
  #pragma unroll 64
  for (s32 column0 = 0; column0 < 64; column0++) {
    sums[column0] = 0.0f;
  }
  #pragma unroll 8
  for (s32 turn1 = 0; turn1 < 8; turn1++) {
    const s32 left_cell2 = th_x + turn1 * 128 + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8;
    if (remainder_s32(quotient_s32(th_x + turn1 * 128 + (bl_x >> 1) * 1024, 224, 0), 28, 0) - 1 >= 0 && remainder_s32((th_x >> 3) - turn1 * 12 - (bl_x >> 1) * 12 + 672, 28, 0) - 1 >= 0) {
      const s32 j4 = remainder_s32(quotient_s32(th_x + turn1 * 128 + (bl_x >> 1) * 1024, 224, 0), 28, 0) - 1;
      const s32 j5 = remainder_s32((th_x >> 3) - turn1 * 12 - (bl_x >> 1) * 12 + 672, 28, 0) - 1;
      copy_async_16(left_tile + left_cell2 * 8, p0 + (j4 * 1792 + j5 * 64 + quotient_s32(turn1 + (bl_x >> 1) * 8, 49, 0) * 50176 + (th_x & 7) * 8));
    } else {
      x2[0] = 0;
      x2[1] = 0;
      x2[2] = 0;
      x2[3] = 0;
      x2[4] = 0;
      x2[5] = 0;
      x2[6] = 0;
      x2[7] = 0;
      *(u16x8 *)(left_tile + left_cell2 * 8) = *(const u16x8 *)(x2);
    }
  }
  const s32 right_41 = th_x + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8;
  copy_async_16(right_tile + right_41 * 8, p1 + (th_x * 8 + (th_x >> 3) * 64 + (bl_x & 1) * 64));
  const s32 right_42 = th_x + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8 + 128;
  copy_async_16(right_tile + right_42 * 8, p1 + (th_x * 8 + (th_x >> 3) * 64 + (bl_x & 1) * 64 + 2048));
  const s32 right_43 = th_x + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8 + 256;
  copy_async_16(right_tile + right_43 * 8, p1 + (th_x * 8 + (th_x >> 3) * 64 + (bl_x & 1) * 64 + 4096));
  const s32 right_44 = th_x + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8 + 384;
  copy_async_16(right_tile + right_44 * 8, p1 + (th_x * 8 + (th_x >> 3) * 64 + (bl_x & 1) * 64 + 6144));
  for (s32 turn14 = 0; turn14 < 4; turn14++) {
    wait_copies();
    __syncthreads();
    const s32 left_1 = th_x * 9 - ((th_x * 16 + (th_x & 31)) >> 7) * 8 - ((th_x >> 4) & 1) * 127;
    load_matrices(left, left_tile + left_1 * 8);
    const s32 left_2 = th_x * 9 - ((th_x * 16 + (th_x & 31)) >> 7) * 8 - ((th_x >> 4) & 1) * 127 + 128;
    load_matrices(left + 4, left_tile + left_2 * 8);
    const s32 right_1 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1)) & 7);
    load_transposed(right, right_tile + right_1 * 8);
    const s32 right_2 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 2) & 7);
    load_transposed(right + 4, right_tile + right_2 * 8);
    const s32 right_3 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 4) & 7);
    load_transposed(right + 8, right_tile + right_3 * 8);
    const s32 right_4 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 6) & 7);
    load_transposed(right + 12, right_tile + right_4 * 8);
    #pragma unroll 8
    for (s32 turn19 = 0; turn19 < 8; turn19++) {
      const s32 left_cell20 = th_x + turn19 * 128 + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8;
      if (within_s32(((turn14 + 1) >> 1) + remainder_s32(quotient_s32(th_x + turn19 * 128 + (bl_x >> 1) * 1024, 224, 0), 28, 0) - 1, 0, 27) && within_s32(remainder_s32(-turn14 + 1 + 3, 3, 0) + remainder_s32((th_x >> 3) - turn19 * 12 - (bl_x >> 1) * 12 + 672, 28, 0) - 1, 0, 27)) {
        const s32 j22 = ((turn14 + 1) >> 1) + remainder_s32(quotient_s32(th_x + turn19 * 128 + (bl_x >> 1) * 1024, 224, 0), 28, 0) - 1;
        const s32 j23 = remainder_s32(-turn14 + 1 + 3, 3, 0) + remainder_s32((th_x >> 3) - turn19 * 12 - (bl_x >> 1) * 12 + 672, 28, 0) - 1;
        copy_async_16(left_tile2 + left_cell20 * 8, p0 + (j22 * 1792 + j23 * 64 + quotient_s32(turn19 + (bl_x >> 1) * 8, 49, 0) * 50176 + (th_x & 7) * 8));
      } else {
        x7[0] = 0;
        x7[1] = 0;
        x7[2] = 0;
        x7[3] = 0;
        x7[4] = 0;
        x7[5] = 0;
        x7[6] = 0;
        x7[7] = 0;
        *(u16x8 *)(left_tile2 + left_cell20 * 8) = *(const u16x8 *)(x7);
      }
    }
    const s32 right_5 = th_x + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8;
    copy_async_16(right_tile2 + right_5 * 8, p1 + (th_x * 8 + turn14 * 16384 + (th_x >> 3) * 64 + (bl_x & 1) * 64 + 8192));
    const s32 right_6 = th_x + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8 + 128;
    copy_async_16(right_tile2 + right_6 * 8, p1 + (th_x * 8 + turn14 * 16384 + (th_x >> 3) * 64 + (bl_x & 1) * 64 + 10240));
    const s32 right_7 = th_x + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8 + 256;
    copy_async_16(right_tile2 + right_7 * 8, p1 + (th_x * 8 + turn14 * 16384 + (th_x >> 3) * 64 + (bl_x & 1) * 64 + 12288));
    const s32 right_8 = th_x + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8 + 384;
    copy_async_16(right_tile2 + right_8 * 8, p1 + (th_x * 8 + turn14 * 16384 + (th_x >> 3) * 64 + (bl_x & 1) * 64 + 14336));
    const s32 left_3 = th_x * 9 - ((th_x * 16 + (th_x & 31) + 32) >> 7) * 8 - ((th_x >> 4) & 1) * 127 + 2;
    load_matrices(left + 8, left_tile + left_3 * 8);
    const s32 left_4 = th_x * 9 - ((th_x * 16 + (th_x & 31) + 32) >> 7) * 8 - ((th_x >> 4) & 1) * 127 + 130;
    load_matrices(left + 12, left_tile + left_4 * 8);
    const s32 right_9 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1)) & 7) + 128;
    load_transposed(right + 16, right_tile + right_9 * 8);
    const s32 right_10 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 2) & 7) + 128;
    load_transposed(right + 20, right_tile + right_10 * 8);
    const s32 right_11 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 4) & 7) + 128;
    load_transposed(right + 24, right_tile + right_11 * 8);
    const s32 right_12 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 6) & 7) + 128;
    load_transposed(right + 28, right_tile + right_12 * 8);
    #pragma unroll 2
    for (s32 i36 = 0; i36 < 2; i36++) {
      multiply_matrices_bf16(sums + i36 * 32, left + i36 * 4, right);
      multiply_matrices_bf16(sums + (i36 * 32 + 4), left + i36 * 4, right + 2);
      multiply_matrices_bf16(sums + (i36 * 32 + 8), left + i36 * 4, right + 4);
      multiply_matrices_bf16(sums + (i36 * 32 + 12), left + i36 * 4, right + 6);
      multiply_matrices_bf16(sums + (i36 * 32 + 16), left + i36 * 4, right + 8);
      multiply_matrices_bf16(sums + (i36 * 32 + 20), left + i36 * 4, right + 10);
      multiply_matrices_bf16(sums + (i36 * 32 + 24), left + i36 * 4, right + 12);
      multiply_matrices_bf16(sums + (i36 * 32 + 28), left + i36 * 4, right + 14);
    }
    const s32 left_5 = th_x * 9 - ((th_x * 16 + (th_x & 31) + 64) >> 7) * 8 - ((th_x >> 4) & 1) * 127 + 4;
    load_matrices(left, left_tile + left_5 * 8);
    const s32 left_6 = th_x * 9 - ((th_x * 16 + (th_x & 31) + 64) >> 7) * 8 - ((th_x >> 4) & 1) * 127 + 132;
    load_matrices(left + 4, left_tile + left_6 * 8);
    const s32 right_13 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1)) & 7) + 256;
    load_transposed(right, right_tile + right_13 * 8);
    const s32 right_14 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 2) & 7) + 256;
    load_transposed(right + 4, right_tile + right_14 * 8);
    const s32 right_15 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 4) & 7) + 256;
    load_transposed(right + 8, right_tile + right_15 * 8);
    const s32 right_16 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 6) & 7) + 256;
    load_transposed(right + 12, right_tile + right_16 * 8);
    #pragma unroll 2
    for (s32 i42 = 0; i42 < 2; i42++) {
      multiply_matrices_bf16(sums + i42 * 32, left + (i42 * 4 + 8), right + 16);
      multiply_matrices_bf16(sums + (i42 * 32 + 4), left + (i42 * 4 + 8), right + 18);
      multiply_matrices_bf16(sums + (i42 * 32 + 8), left + (i42 * 4 + 8), right + 20);
      multiply_matrices_bf16(sums + (i42 * 32 + 12), left + (i42 * 4 + 8), right + 22);
      multiply_matrices_bf16(sums + (i42 * 32 + 16), left + (i42 * 4 + 8), right + 24);
      multiply_matrices_bf16(sums + (i42 * 32 + 20), left + (i42 * 4 + 8), right + 26);
      multiply_matrices_bf16(sums + (i42 * 32 + 24), left + (i42 * 4 + 8), right + 28);
      multiply_matrices_bf16(sums + (i42 * 32 + 28), left + (i42 * 4 + 8), right + 30);
    }
    const s32 left_7 = th_x * 9 - ((th_x * 16 + (th_x & 31) + 96) >> 7) * 8 - ((th_x >> 4) & 1) * 127 + 6;
    load_matrices(left + 8, left_tile + left_7 * 8);
    const s32 left_8 = th_x * 9 - ((th_x * 16 + (th_x & 31) + 96) >> 7) * 8 - ((th_x >> 4) & 1) * 127 + 134;
    load_matrices(left + 12, left_tile + left_8 * 8);
    const s32 right_17 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1)) & 7) + 384;
    load_transposed(right + 16, right_tile + right_17 * 8);
    const s32 right_18 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 2) & 7) + 384;
    load_transposed(right + 20, right_tile + right_18 * 8);
    const s32 right_19 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 4) & 7) + 384;
    load_transposed(right + 24, right_tile + right_19 * 8);
    const s32 right_20 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 6) & 7) + 384;
    load_transposed(right + 28, right_tile + right_20 * 8);
    #pragma unroll 2
    for (s32 i48 = 0; i48 < 2; i48++) {
      multiply_matrices_bf16(sums + i48 * 32, left + i48 * 4, right);
      multiply_matrices_bf16(sums + (i48 * 32 + 4), left + i48 * 4, right + 2);
      multiply_matrices_bf16(sums + (i48 * 32 + 8), left + i48 * 4, right + 4);
      multiply_matrices_bf16(sums + (i48 * 32 + 12), left + i48 * 4, right + 6);
      multiply_matrices_bf16(sums + (i48 * 32 + 16), left + i48 * 4, right + 8);
      multiply_matrices_bf16(sums + (i48 * 32 + 20), left + i48 * 4, right + 10);
      multiply_matrices_bf16(sums + (i48 * 32 + 24), left + i48 * 4, right + 12);
      multiply_matrices_bf16(sums + (i48 * 32 + 28), left + i48 * 4, right + 14);
    }
    #pragma unroll 2
    for (s32 i50 = 0; i50 < 2; i50++) {
      multiply_matrices_bf16(sums + i50 * 32, left + (i50 * 4 + 8), right + 16);
      multiply_matrices_bf16(sums + (i50 * 32 + 4), left + (i50 * 4 + 8), right + 18);
      multiply_matrices_bf16(sums + (i50 * 32 + 8), left + (i50 * 4 + 8), right + 20);
      multiply_matrices_bf16(sums + (i50 * 32 + 12), left + (i50 * 4 + 8), right + 22);
      multiply_matrices_bf16(sums + (i50 * 32 + 16), left + (i50 * 4 + 8), right + 24);
      multiply_matrices_bf16(sums + (i50 * 32 + 20), left + (i50 * 4 + 8), right + 26);
      multiply_matrices_bf16(sums + (i50 * 32 + 24), left + (i50 * 4 + 8), right + 28);
      multiply_matrices_bf16(sums + (i50 * 32 + 28), left + (i50 * 4 + 8), right + 30);
    }
    wait_copies();
    __syncthreads();
    const s32 left_9 = th_x * 9 - ((th_x * 16 + (th_x & 31)) >> 7) * 8 - ((th_x >> 4) & 1) * 127;
    load_matrices(left, left_tile2 + left_9 * 8);
    const s32 left_10 = th_x * 9 - ((th_x * 16 + (th_x & 31)) >> 7) * 8 - ((th_x >> 4) & 1) * 127 + 128;
    load_matrices(left + 4, left_tile2 + left_10 * 8);
    const s32 right_21 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1)) & 7);
    load_transposed(right, right_tile2 + right_21 * 8);
    const s32 right_22 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 2) & 7);
    load_transposed(right + 4, right_tile2 + right_22 * 8);
    const s32 right_23 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 4) & 7);
    load_transposed(right + 8, right_tile2 + right_23 * 8);
    const s32 right_24 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 6) & 7);
    load_transposed(right + 12, right_tile2 + right_24 * 8);
    #pragma unroll 8
    for (s32 turn56 = 0; turn56 < 8; turn56++) {
      const s32 left_cell57 = th_x + turn56 * 128 + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8;
      if (within_s32(quotient_s32(turn14 * 2 + 2, 3, 0) + remainder_s32(quotient_s32(th_x + turn56 * 128 + (bl_x >> 1) * 1024, 224, 0), 28, 0) - 1, 0, 27) && within_s32(remainder_s32((th_x >> 3) - turn56 * 12 - (bl_x >> 1) * 12 + 672, 28, 0) - remainder_s32(turn14, 3, 0) + 1, 0, 27)) {
        const s32 j59 = quotient_s32(turn14 * 2 + 2, 3, 0) + remainder_s32(quotient_s32(th_x + turn56 * 128 + (bl_x >> 1) * 1024, 224, 0), 28, 0) - 1;
        const s32 j60 = remainder_s32((th_x >> 3) - turn56 * 12 - (bl_x >> 1) * 12 + 672, 28, 0) - remainder_s32(turn14, 3, 0) + 1;
        copy_async_16(left_tile + left_cell57 * 8, p0 + (j59 * 1792 + j60 * 64 + quotient_s32(turn56 + (bl_x >> 1) * 8, 49, 0) * 50176 + (th_x & 7) * 8));
      } else {
        x12[0] = 0;
        x12[1] = 0;
        x12[2] = 0;
        x12[3] = 0;
        x12[4] = 0;
        x12[5] = 0;
        x12[6] = 0;
        x12[7] = 0;
        *(u16x8 *)(left_tile + left_cell57 * 8) = *(const u16x8 *)(x12);
      }
    }
    const s32 right_25 = th_x + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8;
    copy_async_16(right_tile + right_25 * 8, p1 + (th_x * 8 + turn14 * 16384 + (th_x >> 3) * 64 + (bl_x & 1) * 64 + 16384));
    const s32 right_26 = th_x + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8 + 128;
    copy_async_16(right_tile + right_26 * 8, p1 + (th_x * 8 + turn14 * 16384 + (th_x >> 3) * 64 + (bl_x & 1) * 64 + 18432));
    const s32 right_27 = th_x + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8 + 256;
    copy_async_16(right_tile + right_27 * 8, p1 + (th_x * 8 + turn14 * 16384 + (th_x >> 3) * 64 + (bl_x & 1) * 64 + 20480));
    const s32 right_28 = th_x + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8 + 384;
    copy_async_16(right_tile + right_28 * 8, p1 + (th_x * 8 + turn14 * 16384 + (th_x >> 3) * 64 + (bl_x & 1) * 64 + 22528));
    const s32 left_11 = th_x * 9 - ((th_x * 16 + (th_x & 31) + 32) >> 7) * 8 - ((th_x >> 4) & 1) * 127 + 2;
    load_matrices(left + 8, left_tile2 + left_11 * 8);
    const s32 left_12 = th_x * 9 - ((th_x * 16 + (th_x & 31) + 32) >> 7) * 8 - ((th_x >> 4) & 1) * 127 + 130;
    load_matrices(left + 12, left_tile2 + left_12 * 8);
    const s32 right_29 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1)) & 7) + 128;
    load_transposed(right + 16, right_tile2 + right_29 * 8);
    const s32 right_30 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 2) & 7) + 128;
    load_transposed(right + 20, right_tile2 + right_30 * 8);
    const s32 right_31 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 4) & 7) + 128;
    load_transposed(right + 24, right_tile2 + right_31 * 8);
    const s32 right_32 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 6) & 7) + 128;
    load_transposed(right + 28, right_tile2 + right_32 * 8);
    #pragma unroll 2
    for (s32 i73 = 0; i73 < 2; i73++) {
      multiply_matrices_bf16(sums + i73 * 32, left + i73 * 4, right);
      multiply_matrices_bf16(sums + (i73 * 32 + 4), left + i73 * 4, right + 2);
      multiply_matrices_bf16(sums + (i73 * 32 + 8), left + i73 * 4, right + 4);
      multiply_matrices_bf16(sums + (i73 * 32 + 12), left + i73 * 4, right + 6);
      multiply_matrices_bf16(sums + (i73 * 32 + 16), left + i73 * 4, right + 8);
      multiply_matrices_bf16(sums + (i73 * 32 + 20), left + i73 * 4, right + 10);
      multiply_matrices_bf16(sums + (i73 * 32 + 24), left + i73 * 4, right + 12);
      multiply_matrices_bf16(sums + (i73 * 32 + 28), left + i73 * 4, right + 14);
    }
    const s32 left_13 = th_x * 9 - ((th_x * 16 + (th_x & 31) + 64) >> 7) * 8 - ((th_x >> 4) & 1) * 127 + 4;
    load_matrices(left, left_tile2 + left_13 * 8);
    const s32 left_14 = th_x * 9 - ((th_x * 16 + (th_x & 31) + 64) >> 7) * 8 - ((th_x >> 4) & 1) * 127 + 132;
    load_matrices(left + 4, left_tile2 + left_14 * 8);
    const s32 right_33 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1)) & 7) + 256;
    load_transposed(right, right_tile2 + right_33 * 8);
    const s32 right_34 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 2) & 7) + 256;
    load_transposed(right + 4, right_tile2 + right_34 * 8);
    const s32 right_35 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 4) & 7) + 256;
    load_transposed(right + 8, right_tile2 + right_35 * 8);
    const s32 right_36 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 6) & 7) + 256;
    load_transposed(right + 12, right_tile2 + right_36 * 8);
    #pragma unroll 2
    for (s32 i79 = 0; i79 < 2; i79++) {
      multiply_matrices_bf16(sums + i79 * 32, left + (i79 * 4 + 8), right + 16);
      multiply_matrices_bf16(sums + (i79 * 32 + 4), left + (i79 * 4 + 8), right + 18);
      multiply_matrices_bf16(sums + (i79 * 32 + 8), left + (i79 * 4 + 8), right + 20);
      multiply_matrices_bf16(sums + (i79 * 32 + 12), left + (i79 * 4 + 8), right + 22);
      multiply_matrices_bf16(sums + (i79 * 32 + 16), left + (i79 * 4 + 8), right + 24);
      multiply_matrices_bf16(sums + (i79 * 32 + 20), left + (i79 * 4 + 8), right + 26);
      multiply_matrices_bf16(sums + (i79 * 32 + 24), left + (i79 * 4 + 8), right + 28);
      multiply_matrices_bf16(sums + (i79 * 32 + 28), left + (i79 * 4 + 8), right + 30);
    }
    const s32 left_15 = th_x * 9 - ((th_x * 16 + (th_x & 31) + 96) >> 7) * 8 - ((th_x >> 4) & 1) * 127 + 6;
    load_matrices(left + 8, left_tile2 + left_15 * 8);
    const s32 left_16 = th_x * 9 - ((th_x * 16 + (th_x & 31) + 96) >> 7) * 8 - ((th_x >> 4) & 1) * 127 + 134;
    load_matrices(left + 12, left_tile2 + left_16 * 8);
    const s32 right_37 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1)) & 7) + 384;
    load_transposed(right + 16, right_tile2 + right_37 * 8);
    const s32 right_38 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 2) & 7) + 384;
    load_transposed(right + 20, right_tile2 + right_38 * 8);
    const s32 right_39 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 4) & 7) + 384;
    load_transposed(right + 24, right_tile2 + right_39 * 8);
    const s32 right_40 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 6) & 7) + 384;
    load_transposed(right + 28, right_tile2 + right_40 * 8);
    #pragma unroll 2
    for (s32 i85 = 0; i85 < 2; i85++) {
      multiply_matrices_bf16(sums + i85 * 32, left + i85 * 4, right);
      multiply_matrices_bf16(sums + (i85 * 32 + 4), left + i85 * 4, right + 2);
      multiply_matrices_bf16(sums + (i85 * 32 + 8), left + i85 * 4, right + 4);
      multiply_matrices_bf16(sums + (i85 * 32 + 12), left + i85 * 4, right + 6);
      multiply_matrices_bf16(sums + (i85 * 32 + 16), left + i85 * 4, right + 8);
      multiply_matrices_bf16(sums + (i85 * 32 + 20), left + i85 * 4, right + 10);
      multiply_matrices_bf16(sums + (i85 * 32 + 24), left + i85 * 4, right + 12);
      multiply_matrices_bf16(sums + (i85 * 32 + 28), left + i85 * 4, right + 14);
    }
    #pragma unroll 2
    for (s32 i87 = 0; i87 < 2; i87++) {
      multiply_matrices_bf16(sums + i87 * 32, left + (i87 * 4 + 8), right + 16);
      multiply_matrices_bf16(sums + (i87 * 32 + 4), left + (i87 * 4 + 8), right + 18);
      multiply_matrices_bf16(sums + (i87 * 32 + 8), left + (i87 * 4 + 8), right + 20);
      multiply_matrices_bf16(sums + (i87 * 32 + 12), left + (i87 * 4 + 8), right + 22);
      multiply_matrices_bf16(sums + (i87 * 32 + 16), left + (i87 * 4 + 8), right + 24);
      multiply_matrices_bf16(sums + (i87 * 32 + 20), left + (i87 * 4 + 8), right + 26);
      multiply_matrices_bf16(sums + (i87 * 32 + 24), left + (i87 * 4 + 8), right + 28);
      multiply_matrices_bf16(sums + (i87 * 32 + 28), left + (i87 * 4 + 8), right + 30);
    }
  }
  wait_copies();
  __syncthreads();
  const s32 left_17 = th_x * 9 - ((th_x * 16 + (th_x & 31)) >> 7) * 8 - ((th_x >> 4) & 1) * 127;
  load_matrices(left, left_tile + left_17 * 8);
  const s32 left_18 = th_x * 9 - ((th_x * 16 + (th_x & 31)) >> 7) * 8 - ((th_x >> 4) & 1) * 127 + 128;
  load_matrices(left + 4, left_tile + left_18 * 8);
  const s32 right_45 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1)) & 7);
  load_transposed(right, right_tile + right_45 * 8);
  const s32 right_46 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 2) & 7);
  load_transposed(right + 4, right_tile + right_46 * 8);
  const s32 right_47 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 4) & 7);
  load_transposed(right + 8, right_tile + right_47 * 8);
  const s32 right_48 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 6) & 7);
  load_transposed(right + 12, right_tile + right_48 * 8);
  const s32 left_19 = th_x * 9 - ((th_x * 16 + (th_x & 31) + 32) >> 7) * 8 - ((th_x >> 4) & 1) * 127 + 2;
  load_matrices(left + 8, left_tile + left_19 * 8);
  const s32 left_20 = th_x * 9 - ((th_x * 16 + (th_x & 31) + 32) >> 7) * 8 - ((th_x >> 4) & 1) * 127 + 130;
  load_matrices(left + 12, left_tile + left_20 * 8);
  const s32 right_49 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1)) & 7) + 128;
  load_transposed(right + 16, right_tile + right_49 * 8);
  const s32 right_50 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 2) & 7) + 128;
  load_transposed(right + 20, right_tile + right_50 * 8);
  const s32 right_51 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 4) & 7) + 128;
  load_transposed(right + 24, right_tile + right_51 * 8);
  const s32 right_52 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 6) & 7) + 128;
  load_transposed(right + 28, right_tile + right_52 * 8);
  #pragma unroll 2
  for (s32 i97 = 0; i97 < 2; i97++) {
    multiply_matrices_bf16(sums + i97 * 32, left + i97 * 4, right);
    multiply_matrices_bf16(sums + (i97 * 32 + 4), left + i97 * 4, right + 2);
    multiply_matrices_bf16(sums + (i97 * 32 + 8), left + i97 * 4, right + 4);
    multiply_matrices_bf16(sums + (i97 * 32 + 12), left + i97 * 4, right + 6);
    multiply_matrices_bf16(sums + (i97 * 32 + 16), left + i97 * 4, right + 8);
    multiply_matrices_bf16(sums + (i97 * 32 + 20), left + i97 * 4, right + 10);
    multiply_matrices_bf16(sums + (i97 * 32 + 24), left + i97 * 4, right + 12);
    multiply_matrices_bf16(sums + (i97 * 32 + 28), left + i97 * 4, right + 14);
  }
  const s32 left_21 = th_x * 9 - ((th_x * 16 + (th_x & 31) + 64) >> 7) * 8 - ((th_x >> 4) & 1) * 127 + 4;
  load_matrices(left, left_tile + left_21 * 8);
  const s32 left_22 = th_x * 9 - ((th_x * 16 + (th_x & 31) + 64) >> 7) * 8 - ((th_x >> 4) & 1) * 127 + 132;
  load_matrices(left + 4, left_tile + left_22 * 8);
  const s32 right_53 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1)) & 7) + 256;
  load_transposed(right, right_tile + right_53 * 8);
  const s32 right_54 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 2) & 7) + 256;
  load_transposed(right + 4, right_tile + right_54 * 8);
  const s32 right_55 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 4) & 7) + 256;
  load_transposed(right + 8, right_tile + right_55 * 8);
  const s32 right_56 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 6) & 7) + 256;
  load_transposed(right + 12, right_tile + right_56 * 8);
  #pragma unroll 2
  for (s32 i103 = 0; i103 < 2; i103++) {
    multiply_matrices_bf16(sums + i103 * 32, left + (i103 * 4 + 8), right + 16);
    multiply_matrices_bf16(sums + (i103 * 32 + 4), left + (i103 * 4 + 8), right + 18);
    multiply_matrices_bf16(sums + (i103 * 32 + 8), left + (i103 * 4 + 8), right + 20);
    multiply_matrices_bf16(sums + (i103 * 32 + 12), left + (i103 * 4 + 8), right + 22);
    multiply_matrices_bf16(sums + (i103 * 32 + 16), left + (i103 * 4 + 8), right + 24);
    multiply_matrices_bf16(sums + (i103 * 32 + 20), left + (i103 * 4 + 8), right + 26);
    multiply_matrices_bf16(sums + (i103 * 32 + 24), left + (i103 * 4 + 8), right + 28);
    multiply_matrices_bf16(sums + (i103 * 32 + 28), left + (i103 * 4 + 8), right + 30);
  }
  const s32 left_23 = th_x * 9 - ((th_x * 16 + (th_x & 31) + 96) >> 7) * 8 - ((th_x >> 4) & 1) * 127 + 6;
  load_matrices(left + 8, left_tile + left_23 * 8);
  const s32 left_24 = th_x * 9 - ((th_x * 16 + (th_x & 31) + 96) >> 7) * 8 - ((th_x >> 4) & 1) * 127 + 134;
  load_matrices(left + 12, left_tile + left_24 * 8);
  const s32 right_57 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1)) & 7) + 384;
  load_transposed(right + 16, right_tile + right_57 * 8);
  const s32 right_58 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 2) & 7) + 384;
  load_transposed(right + 20, right_tile + right_58 * 8);
  const s32 right_59 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 4) & 7) + 384;
  load_transposed(right + 24, right_tile + right_59 * 8);
  const s32 right_60 = (th_x & 15) * 8 + ((th_x + ((th_x >> 4) & 1) + 6) & 7) + 384;
  load_transposed(right + 28, right_tile + right_60 * 8);
  #pragma unroll 2
  for (s32 i109 = 0; i109 < 2; i109++) {
    multiply_matrices_bf16(sums + i109 * 32, left + i109 * 4, right);
    multiply_matrices_bf16(sums + (i109 * 32 + 4), left + i109 * 4, right + 2);
    multiply_matrices_bf16(sums + (i109 * 32 + 8), left + i109 * 4, right + 4);
    multiply_matrices_bf16(sums + (i109 * 32 + 12), left + i109 * 4, right + 6);
    multiply_matrices_bf16(sums + (i109 * 32 + 16), left + i109 * 4, right + 8);
    multiply_matrices_bf16(sums + (i109 * 32 + 20), left + i109 * 4, right + 10);
    multiply_matrices_bf16(sums + (i109 * 32 + 24), left + i109 * 4, right + 12);
    multiply_matrices_bf16(sums + (i109 * 32 + 28), left + i109 * 4, right + 14);
  }
  #pragma unroll 2
  for (s32 i111 = 0; i111 < 2; i111++) {
    multiply_matrices_bf16(sums + i111 * 32, left + (i111 * 4 + 8), right + 16);
    multiply_matrices_bf16(sums + (i111 * 32 + 4), left + (i111 * 4 + 8), right + 18);
    multiply_matrices_bf16(sums + (i111 * 32 + 8), left + (i111 * 4 + 8), right + 20);
    multiply_matrices_bf16(sums + (i111 * 32 + 12), left + (i111 * 4 + 8), right + 22);
    multiply_matrices_bf16(sums + (i111 * 32 + 16), left + (i111 * 4 + 8), right + 24);
    multiply_matrices_bf16(sums + (i111 * 32 + 20), left + (i111 * 4 + 8), right + 26);
    multiply_matrices_bf16(sums + (i111 * 32 + 24), left + (i111 * 4 + 8), right + 28);
    multiply_matrices_bf16(sums + (i111 * 32 + 28), left + (i111 * 4 + 8), right + 30);
  }
  #pragma unroll 2
  for (s32 i113 = 0; i113 < 2; i113++) {
    #pragma unroll 8
    for (s32 j114 = 0; j114 < 8; j114++) {
      #pragma unroll 2
      for (s32 half115 = 0; half115 < 2; half115++) {
        *(u16x2 *)(x15) = *(const u16x2 *)(p2 + (j114 * 8 + (th_x & 3) * 2 + (bl_x & 1) * 64));
        const u32 v117_1 = packed_encode_bf16(sums[i113 * 32 + j114 * 4 + half115 * 2], sums[i113 * 32 + j114 * 4 + half115 * 2 + 1]);
        const u16 v118_3 = x15[0];
        const u16 v118_4 = x15[1];
        const u32 v120_1 = packed_add_bf16(v117_1, pack(v118_3, v118_4));
        const u32 v121_1 = packed_maximum_bf16(v120_1, 0u);
        x16[0] = unpack_low(v121_1);
        x16[1] = unpack_high(v121_1);
        store_vector_4(o0 + (j114 * 8 + quotient_s32(i113 + (th_x >> 5) * 2 + (bl_x >> 1) * 8, 49, 0) * 100352 + (th_x & 3) * 2 + remainder_s32(bl_x + i113 * 32 + half115 * 16 + (th_x >> 2) * 2 + (th_x >> 5) * 48 + (bl_x >> 1) * 254, 1568, 0) * 64), x16);
      }
    }
  }
}
