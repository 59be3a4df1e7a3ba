// layer: dot-tile emitter, 80 blocks of 128 threads

typedef unsigned int u32;
typedef float f32;
typedef unsigned short u16;
typedef int s32;
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

static __device__ f32 maximum_f32(f32 a, f32 b) {
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

static __device__ u32 packed_encode_bf16(f32 a, f32 b) {
  u32 x;
  asm("cvt.rn.bf16x2.f32 %0, %2, %1;" : "=r"(x) : "f"(a), "f"(b));
  return x;
}

static __device__ u32 packed_maximum_bf16(u32 a, u32 b) {
  u32 x;
  asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(b));
  return x;
}

static __device__ void store_vector_4(void *to, const void *from) {
  u32 words[1];
  memcpy(words, from, 4);
  asm volatile("st.global.b32 [%0], %1;"
               : : "l"(__cvta_generic_to_global(to)), "r"(words[0]) : "memory");
}

static __device__ u16 unpack_high(u32 a) {
  u16 x;
  asm("mov.b32 {_, %0}, %1;" : "=h"(x) : "r"(a));
  return x;
}

static __device__ u16 unpack_low(u32 a) {
  u16 x;
  asm("mov.b32 {%0, _}, %1;" : "=h"(x) : "r"(a));
  return x;
}

static __device__ void wait_copies() { asm volatile("cp.async.wait_all;" : : : "memory"); }

extern "C" __global__ void __launch_bounds__(128) dot_tile_dot(const u16 *__restrict__ p0, const u16 *__restrict__ p1, const u16 *__restrict__ p2, const f32 *__restrict__ p3, u16 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ __align__(16) u16 left_tile[4096];
  __shared__ __align__(16) u16 right_tile[4096];
  __shared__ __align__(16) u16 left_tile2[4096];
  __shared__ __align__(16) u16 right_tile2[4096];
  __align__(16) u32 left[8];
  __align__(16) u32 right[8];
  __align__(16) f32 sums[32];
  __align__(16) u16 x0[8];
  __align__(16) u16 x1[8];
  __align__(16) u16 x2[8];
  __align__(16) u16 x5[8];
  __align__(16) u16 x6[8];
  __align__(16) u16 x7[8];
  __align__(16) u16 x8[8];
  __align__(16) u16 x11[8];
  __align__(16) f32 x12[2];
  __align__(16) u16 x13[2];
  #pragma unroll 32
  for (s32 column0 = 0; column0 < 32; column0++) {
    sums[column0] = 0.0f;
  }
  #pragma unroll 4
  for (s32 turn1 = 0; turn1 < 4; turn1++) {
    const s32 left_cell2 = th_x + turn1 * 128 + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8;
    *(u16x8 *)(x0) = *(const u16x8 *)(p0 + (th_x * 8 + turn1 * 1536 + (th_x >> 3) * 32 + (bl_x / 10) * 6144));
    *(u16x8 *)(x1) = *(const u16x8 *)(p1 + (th_x & 7) * 8);
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
  const s32 right_5 = th_x + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8;
  copy_async_16(right_tile + right_5 * 8, p2 + (th_x * 8 + (th_x >> 3) * 32 + (bl_x % 10) * 6144));
  const s32 right_6 = th_x + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8 + 128;
  copy_async_16(right_tile + right_6 * 8, p2 + (th_x * 8 + (th_x >> 3) * 32 + (bl_x % 10) * 6144 + 1536));
  const s32 right_7 = th_x + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8 + 256;
  copy_async_16(right_tile + right_7 * 8, p2 + (th_x * 8 + (th_x >> 3) * 32 + (bl_x % 10) * 6144 + 3072));
  const s32 right_8 = th_x + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8 + 384;
  copy_async_16(right_tile + right_8 * 8, p2 + (th_x * 8 + (th_x >> 3) * 32 + (bl_x % 10) * 6144 + 4608));
  wait_copies();
  __syncthreads();
  #pragma unroll 4
  for (s32 turn14 = 0; turn14 < 4; turn14++) {
    const s32 left_cell15 = th_x + turn14 * 128 + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8;
    if ((th_x & 7) + 8 <= 11) {
      const s32 j16 = (th_x & 7) + 8;
      *(u16x8 *)(x5) = *(const u16x8 *)(p0 + (turn14 * 1536 + j16 * 8 + (th_x >> 3) * 96 + (bl_x / 10) * 6144));
      *(u16x8 *)(x6) = *(const u16x8 *)(p1 + j16 * 8);
      #pragma unroll 4
      for (s32 vector_2 = 0; vector_2 < 4; vector_2++) {
        const u16 v18_1 = x5[vector_2 * 2];
        const u16 v18_2 = x5[vector_2 * 2 + 1];
        const u16 v20_1 = x6[vector_2 * 2];
        const u16 v20_2 = x6[vector_2 * 2 + 1];
        const u32 v22_pair = packed_maximum_bf16(pack(v18_1, v18_2), pack(v20_1, v20_2));
        x7[vector_2 * 2] = unpack_low(v22_pair);
        x7[vector_2 * 2 + 1] = unpack_high(v22_pair);
      }
      *(u16x8 *)(left_tile2 + left_cell15 * 8) = *(const u16x8 *)(x7);
    } else {
      x8[0] = 0;
      x8[1] = 0;
      x8[2] = 0;
      x8[3] = 0;
      x8[4] = 0;
      x8[5] = 0;
      x8[6] = 0;
      x8[7] = 0;
      *(u16x8 *)(left_tile2 + left_cell15 * 8) = *(const u16x8 *)(x8);
    }
  }
  #pragma unroll 4
  for (s32 turn24 = 0; turn24 < 4; turn24++) {
    const s32 right_cell25 = th_x + turn24 * 128 + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8;
    if ((th_x & 7) + 8 <= 11) {
      const s32 j26 = (th_x & 7) + 8;
      copy_async_16(right_tile2 + right_cell25 * 8, p2 + (turn24 * 1536 + j26 * 8 + (th_x >> 3) * 96 + (bl_x % 10) * 6144));
    } else {
      x11[0] = 0;
      x11[1] = 0;
      x11[2] = 0;
      x11[3] = 0;
      x11[4] = 0;
      x11[5] = 0;
      x11[6] = 0;
      x11[7] = 0;
      *(u16x8 *)(right_tile2 + right_cell25 * 8) = *(const u16x8 *)(x11);
    }
  }
  for (s32 part31 = 0; part31 < 4; part31++) {
    const s32 left_1 = (th_x >> 6) * 256 + (th_x & 15) * 8 + ((th_x + part31 * 2 + ((th_x >> 4) & 1)) & 7);
    load_matrices(left, left_tile + left_1 * 8);
    const s32 left_2 = (th_x >> 6) * 256 + (th_x & 15) * 8 + ((th_x + part31 * 2 + ((th_x >> 4) & 1)) & 7) + 128;
    load_matrices(left + 4, left_tile + left_2 * 8);
    const s32 right_1 = (th_x & 7) * 8 + ((th_x >> 4) & 1) * 64 + ((th_x >> 5) & 1) * 256 + ((th_x + part31 * 2 + ((th_x >> 3) & 1)) & 7);
    load_matrices(right, right_tile + right_1 * 8);
    const s32 right_2 = (th_x & 7) * 8 + ((th_x >> 4) & 1) * 64 + ((th_x >> 5) & 1) * 256 + ((th_x + part31 * 2 + ((th_x >> 3) & 1)) & 7) + 128;
    load_matrices(right + 4, right_tile + right_2 * 8);
    multiply_matrices_bf16(sums, left, right);
    multiply_matrices_bf16(sums + 4, left, right + 2);
    multiply_matrices_bf16(sums + 8, left, right + 4);
    multiply_matrices_bf16(sums + 12, left, right + 6);
    multiply_matrices_bf16(sums + 16, left + 4, right);
    multiply_matrices_bf16(sums + 20, left + 4, right + 2);
    multiply_matrices_bf16(sums + 24, left + 4, right + 4);
    multiply_matrices_bf16(sums + 28, left + 4, right + 6);
  }
  wait_copies();
  __syncthreads();
  for (s32 part38 = 0; part38 < 4; part38++) {
    const s32 left_3 = (th_x >> 6) * 256 + (th_x & 15) * 8 + ((th_x + part38 * 2 + ((th_x >> 4) & 1)) & 7);
    load_matrices(left, left_tile2 + left_3 * 8);
    const s32 left_4 = (th_x >> 6) * 256 + (th_x & 15) * 8 + ((th_x + part38 * 2 + ((th_x >> 4) & 1)) & 7) + 128;
    load_matrices(left + 4, left_tile2 + left_4 * 8);
    const s32 right_3 = (th_x & 7) * 8 + ((th_x >> 4) & 1) * 64 + ((th_x >> 5) & 1) * 256 + ((th_x + part38 * 2 + ((th_x >> 3) & 1)) & 7);
    load_matrices(right, right_tile2 + right_3 * 8);
    const s32 right_4 = (th_x & 7) * 8 + ((th_x >> 4) & 1) * 64 + ((th_x >> 5) & 1) * 256 + ((th_x + part38 * 2 + ((th_x >> 3) & 1)) & 7) + 128;
    load_matrices(right + 4, right_tile2 + right_4 * 8);
    multiply_matrices_bf16(sums, left, right);
    multiply_matrices_bf16(sums + 4, left, right + 2);
    multiply_matrices_bf16(sums + 8, left, right + 4);
    multiply_matrices_bf16(sums + 12, left, right + 6);
    multiply_matrices_bf16(sums + 16, left + 4, right);
    multiply_matrices_bf16(sums + 20, left + 4, right + 2);
    multiply_matrices_bf16(sums + 24, left + 4, right + 4);
    multiply_matrices_bf16(sums + 28, left + 4, right + 6);
  }
  #pragma unroll 2
  for (s32 i45 = 0; i45 < 2; i45++) {
    #pragma unroll 4
    for (s32 j46 = 0; j46 < 4; j46++) {
      #pragma unroll 2
      for (s32 half47 = 0; half47 < 2; half47++) {
        *(f32x2 *)(x12) = *(const f32x2 *)(p3 + (j46 * 8 + (th_x & 3) * 2 + (bl_x % 10) * 64 + ((th_x >> 5) & 1) * 32));
        const f32 v49_3 = sums[i45 * 16 + j46 * 4 + half47 * 2];
        const f32 v49_4 = sums[i45 * 16 + j46 * 4 + half47 * 2 + 1];
        const f32 v50_3 = x12[0];
        const f32 v50_4 = x12[1];
        const f32 v51_3 = v49_3 + v50_3;
        const f32 v51_4 = v49_4 + v50_4;
        const f32 v52_3 = maximum_f32(v51_3, 0.0f);
        const f32 v52_4 = maximum_f32(v51_4, 0.0f);
        const u32 v53_1 = packed_encode_bf16(v52_3, v52_4);
        x13[0] = unpack_low(v53_1);
        x13[1] = unpack_high(v53_1);
        store_vector_4(o0 + (th_x * 2 + bl_x * 64 + i45 * 10240 + j46 * 8 + half47 * 5120 + (th_x >> 2) * 632 + (th_x >> 6) * 20416 + (bl_x / 10) * 40320 - (th_x >> 5) * 5088), x13);
      }
    }
  }
}
