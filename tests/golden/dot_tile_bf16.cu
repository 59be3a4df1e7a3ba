// layer: dot-tile emitter, 160 blocks of 128 threads

typedef float f32;
typedef unsigned short u16;
typedef unsigned int u32;
#define float_f32 __uint_as_float
typedef int s32;
typedef struct __align__(16) { u16 v[8]; } u16x8;
typedef struct __align__(8) { f32 v[2]; } f32x2;

static __device__ f32 decode_bf16(u16 bits) { return float_f32((u32)bits << 16); }

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

static __device__ void store_vector_4(void *to, const void *from) {
  u32 words[1];
  memcpy(words, from, 4);
  asm volatile("st.global.b32 [%0], %1;"
               : : "l"(__cvta_generic_to_global(to)), "r"(words[0]) : "memory");
}

extern "C" __global__ void __launch_bounds__(128) dot_tile_dot(const u16 *__restrict__ p0, const u16 *__restrict__ p1, const u16 *__restrict__ p2, const f32 *__restrict__ p3, u16 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ __align__(16) u16 left_tile[4096];
  __shared__ __align__(16) u16 right_tile[2048];
  __align__(16) u32 left[4];
  __align__(16) u32 right[8];
  __align__(16) f32 sums[16];
  __align__(16) u16 x0[8];
  __align__(16) u16 x1[8];
  __align__(16) u16 x2[8];
  __align__(16) u16 x3[8];
  __align__(16) u16 x4[8];
  __align__(16) u16 x5[8];
  __align__(16) u16 x6[8];
  __align__(16) f32 x7[2];
  __align__(16) u16 x8[2];
  #pragma unroll 16
  for (s32 register0 = 0; register0 < 16; register0++) {
    sums[register0] = 0.0f;
  }
  for (s32 step1 = 0; step1 < 2; step1++) {
    #pragma unroll 4
    for (s32 turn2 = 0; turn2 < 4; turn2++) {
      const s32 left_cell = th_x + turn2 * 128 + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8;
      if (step1 * 8 + (th_x & 7) <= 11) {
        const s32 j3 = step1 * 8 + (th_x & 7);
        *(u16x8 *)(x0) = *(const u16x8 *)(p0 + turn2 * 1536 + j3 * 8 + (th_x >> 3) * 96 + (bl_x / 20) * 6144);
        *(u16x8 *)(x1) = *(const u16x8 *)(p1 + j3 * 8);
        #pragma unroll 8
        for (s32 vector_index4 = 0; vector_index4 < 8; vector_index4++) {
          const u16 v5 = x0[vector_index4];
          const f32 v6 = decode_bf16(v5);
          const u16 v7 = x1[vector_index4];
          const f32 v8 = decode_bf16(v7);
          const f32 v9 = maximum_f32(v6, v8);
          x2[vector_index4] = encode_bf16(v9);
        }
        *(u16x8 *)(left_tile + left_cell * 8) = *(const u16x8 *)(x2);
      } else {
        x3[0] = 0;
        x3[1] = 0;
        x3[2] = 0;
        x3[3] = 0;
        x3[4] = 0;
        x3[5] = 0;
        x3[6] = 0;
        x3[7] = 0;
        *(u16x8 *)(left_tile + left_cell * 8) = *(const u16x8 *)(x3);
      }
    }
    for (s32 turn11 = 0; turn11 < 2; turn11++) {
      const s32 right_cell = th_x + turn11 * 128 + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8;
      if (step1 * 8 + (th_x & 7) <= 11) {
        const s32 j12 = step1 * 8 + (th_x & 7);
        *(u16x8 *)(x4) = *(const u16x8 *)(p2 + turn11 * 1536 + j12 * 8 + (th_x >> 3) * 96 + (bl_x % 20) * 3072);
        #pragma unroll 8
        for (s32 vector_index13 = 0; vector_index13 < 8; vector_index13++) {
          const u16 v14 = x4[vector_index13];
          x5[vector_index13] = v14;
        }
        *(u16x8 *)(right_tile + right_cell * 8) = *(const u16x8 *)(x5);
      } else {
        x6[0] = 0;
        x6[1] = 0;
        x6[2] = 0;
        x6[3] = 0;
        x6[4] = 0;
        x6[5] = 0;
        x6[6] = 0;
        x6[7] = 0;
        *(u16x8 *)(right_tile + right_cell * 8) = *(const u16x8 *)(x6);
      }
    }
    __syncthreads();
    for (s32 part17 = 0; part17 < 4; part17++) {
      load_matrices(left, left_tile + (th_x >> 5) * 1024 + (th_x & 15) * 64 + ((th_x + part17 * 2 + ((th_x >> 4) & 1)) & 7) * 8);
      load_matrices(right, right_tile + (th_x & 7) * 64 + ((th_x >> 4) & 1) * 512 + ((th_x + part17 * 2 + ((th_x >> 3) & 1)) & 7) * 8);
      load_matrices(right + 4, right_tile + (th_x & 7) * 64 + ((th_x >> 4) & 1) * 512 + ((th_x + part17 * 2 + ((th_x >> 3) & 1)) & 7) * 8 + 1024);
      multiply_matrices_bf16(sums, left, right);
      multiply_matrices_bf16(sums + 4, left, right + 2);
      multiply_matrices_bf16(sums + 8, left, right + 4);
      multiply_matrices_bf16(sums + 12, left, right + 6);
    }
    __syncthreads();
  }
  #pragma unroll 4
  for (s32 j20 = 0; j20 < 4; j20++) {
    #pragma unroll 2
    for (s32 half21 = 0; half21 < 2; half21++) {
      *(f32x2 *)(x7) = *(const f32x2 *)(p3 + j20 * 8 + (th_x & 3) * 2 + (bl_x % 20) * 32);
      #pragma unroll 2
      for (s32 vector_index22 = 0; vector_index22 < 2; vector_index22++) {
        const f32 v23 = sums[j20 * 4 + half21 * 2 + vector_index22];
        const f32 v24 = x7[vector_index22];
        const f32 v25 = v23 + v24;
        const f32 v26 = maximum_f32(v25, 0.0f);
        const u16 v27_bits = encode_bf16(v26);
        x8[vector_index22] = v27_bits;
      }
      store_vector_4(o0 + th_x * 2 + bl_x * 32 + j20 * 8 + half21 * 5120 + (th_x >> 2) * 632 + (th_x >> 5) * 5120 + (bl_x / 20) * 40320, x8);
    }
  }
}
