// quantized: dot-tile emitter, 84 blocks of 32 threads

typedef float f32;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef signed char s8;
typedef struct __align__(2) { s8 v[2]; } s8x2;

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

static __device__ void load_transposed_bytes(u32 *to, const void *from) {
  u32 pairs[4];
  load_transposed(pairs, from);
  to[0] = __byte_perm(pairs[0], pairs[1], 0x6420);
  to[1] = __byte_perm(pairs[2], pairs[3], 0x6420);
  to[2] = __byte_perm(pairs[0], pairs[1], 0x7531);
  to[3] = __byte_perm(pairs[2], pairs[3], 0x7531);
}

static __device__ void multiply_matrices_s8(s32 *c, const u32 *a, const u32 *b) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ s32 quotient_s32(s32 x, s32 divisor, s32 shift) {
  const u32 reciprocal = (u32)((((u64)1 << (32 + shift)) + divisor - 1) / divisor);
  return (s32)((u64)(u32)x * reciprocal >> (32 + shift));
}

static __device__ void store_vector_8(void *to, const void *from) {
  u32 words[2];
  memcpy(words, from, 8);
  asm volatile("st.global.v2.b32 [%0], {%1, %2};"
               : : "l"(__cvta_generic_to_global(to)), "r"(words[0]), "r"(words[1]) : "memory");
}

extern "C" __global__ void __launch_bounds__(32) dot_tile_dot(const s8 *__restrict__ p0, const s8 *__restrict__ p1, f32 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ __align__(16) s8 left_tile[2048];
  __shared__ __align__(16) s8 right_tile[2048];
  const s32 quotient_1 = quotient_s32(bl_x, 28, 0);
  __align__(16) u32 left[8];
  __align__(16) u32 right[8];
  __align__(16) s32 sums[8];
  __align__(16) s8 x0[2];
  __align__(16) s8 x1[2];
  __align__(16) s8 x2[2];
  __align__(16) s8 x3[2];
  __align__(16) s8 x4[2];
  __align__(16) s8 x5[2];
  __align__(16) s8 x6[2];
  __align__(16) s8 x7[2];
  __align__(16) f32 x8[2];
  sums[0] = 0;
  sums[1] = 0;
  sums[2] = 0;
  sums[3] = 0;
  sums[4] = 0;
  sums[5] = 0;
  sums[6] = 0;
  sums[7] = 0;
  #pragma unroll 4
  for (s32 turn1 = 0; turn1 < 32; turn1++) {
    const s32 left_cell2 = (turn1 >> 1) * 64 + ((th_x + ((turn1 * 9) >> 1) * 8) & 63);
    if ((turn1 >> 1) + ((bl_x >> 2) - quotient_1 * 7) * 16 <= 99) {
      const s32 j3 = (turn1 >> 1) + ((bl_x >> 2) - quotient_1 * 7) * 16;
      if (th_x + (turn1 & 1) * 32 <= 34) {
        const s32 j4 = th_x + (turn1 & 1) * 32;
        *(s8x2 *)(x0) = *(const s8x2 *)(p0 + (j3 * 70 + j4 * 2 + quotient_1 * 7000));
        const s8 v6_1 = x0[0];
        x1[0] = v6_1;
        const s8 v6_2 = x0[1];
        x1[1] = v6_2;
        *(s8x2 *)(left_tile + left_cell2 * 2) = *(const s8x2 *)(x1);
      } else {
        x2[0] = 0;
        x2[1] = 0;
        *(s8x2 *)(left_tile + left_cell2 * 2) = *(const s8x2 *)(x2);
      }
    } else {
      x3[0] = 0;
      x3[1] = 0;
      *(s8x2 *)(left_tile + left_cell2 * 2) = *(const s8x2 *)(x3);
    }
  }
  #pragma unroll 4
  for (s32 turn9 = 0; turn9 < 32; turn9++) {
    const s32 right_cell10 = th_x + turn9 * 16 + (th_x >> 4) * 48 + (turn9 >> 2) * 64;
    if (turn9 * 4 + (th_x >> 3) <= 69) {
      const s32 j11 = turn9 * 4 + (th_x >> 3);
      if ((th_x & 7) + (bl_x & 3) * 8 <= 24) {
        const s32 j12 = (th_x & 7) + (bl_x & 3) * 8;
        *(s8x2 *)(x4) = *(const s8x2 *)(p1 + (j11 * 50 + j12 * 2 + quotient_1 * 3500));
        const s8 v14_1 = x4[0];
        x5[0] = v14_1;
        const s8 v14_2 = x4[1];
        x5[1] = v14_2;
        *(s8x2 *)(right_tile + right_cell10 * 2) = *(const s8x2 *)(x5);
      } else {
        x6[0] = 0;
        x6[1] = 0;
        *(s8x2 *)(right_tile + right_cell10 * 2) = *(const s8x2 *)(x6);
      }
    } else {
      x7[0] = 0;
      x7[1] = 0;
      *(s8x2 *)(right_tile + right_cell10 * 2) = *(const s8x2 *)(x7);
    }
  }
  __syncthreads();
  const s32 left_cell17 = th_x * 9 - (th_x >> 4) * 127 - ((th_x * 17) >> 7) * 8;
  load_matrices(left, left_tile + left_cell17 * 16);
  const s32 right_cell18 = th_x;
  load_transposed_bytes(right, right_tile + right_cell18 * 16);
  const s32 left_cell19 = (th_x & 15) * 8 + ((th_x + (th_x >> 4) + 2) & 7);
  load_matrices(left + 4, left_tile + left_cell19 * 16);
  const s32 right_cell20 = th_x + 32;
  load_transposed_bytes(right + 4, right_tile + right_cell20 * 16);
  multiply_matrices_s8(sums, left, right);
  multiply_matrices_s8(sums + 4, left, right + 2);
  const s32 left_cell22 = (th_x & 15) * 8 + ((th_x + (th_x >> 4) + 4) & 7);
  load_matrices(left, left_tile + left_cell22 * 16);
  const s32 right_cell23 = th_x + 64;
  load_transposed_bytes(right, right_tile + right_cell23 * 16);
  multiply_matrices_s8(sums, left + 4, right + 4);
  multiply_matrices_s8(sums + 4, left + 4, right + 6);
  const s32 left_cell25 = (th_x & 15) * 8 + ((th_x + (th_x >> 4) + 6) & 7);
  load_matrices(left + 4, left_tile + left_cell25 * 16);
  const s32 right_cell26 = th_x + 96;
  load_transposed_bytes(right + 4, right_tile + right_cell26 * 16);
  multiply_matrices_s8(sums, left, right);
  multiply_matrices_s8(sums + 4, left, right + 2);
  multiply_matrices_s8(sums, left + 4, right + 4);
  multiply_matrices_s8(sums + 4, left + 4, right + 6);
  #pragma unroll 2
  for (s32 half29 = 0; half29 < 2; half29++) {
    #pragma unroll 2
    for (s32 part30 = 0; part30 < 2; part30++) {
      if (half29 * 8 + (th_x >> 2) + ((bl_x >> 2) - quotient_1 * 7) * 16 <= 99 && part30 + (th_x & 3) * 2 + (bl_x & 3) * 8 <= 24) {
        const s32 j31 = half29 * 8 + (th_x >> 2) + ((bl_x >> 2) - quotient_1 * 7) * 16;
        const s32 j32 = part30 + (th_x & 3) * 2 + (bl_x & 3) * 8;
        const s32 v34_1 = sums[half29 * 2 + part30];
        const f32 v35_1 = (f32)v34_1;
        const f32 v36_1 = v35_1 * 0.125f;
        x8[0] = v36_1;
        const s32 v34_2 = sums[half29 * 2 + part30 + 4];
        const f32 v35_2 = (f32)v34_2;
        const f32 v36_2 = v35_2 * 0.125f;
        x8[1] = v36_2;
        store_vector_8(o0 + (j31 * 50 + j32 * 2 + quotient_1 * 5000), x8);
      }
    }
  }
}
