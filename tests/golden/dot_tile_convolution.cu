// fused: dot-tile emitter, 98 blocks of 128 threads

typedef unsigned int u32;
typedef float f32;
typedef unsigned short u16;
typedef int s32;
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

static __device__ u32 packed_add_bf16(u32 a, u32 b) {
  u32 x;
  asm("fma.rn.bf16x2 %0, %1, %3, %2;" : "=r"(x) : "r"(a), "r"(b), "r"(0x3f803f80u));
  return x;
}

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

static __device__ bool within_s32(s32 x, s32 low, s32 high) { return low <= x && x <= high; }

extern "C" __global__ void __launch_bounds__(128) dot_tile_convolution(const u16 *__restrict__ p0, const u16 *__restrict__ p1, const u16 *__restrict__ p2, u16 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ __align__(16) u16 left_tile[8192];
  __shared__ __align__(16) u16 right_tile[4096];
  __shared__ __align__(16) u16 left_tile2[8192];
  __shared__ __align__(16) u16 right_tile2[4096];
  __align__(16) u32 left[16];
  __align__(16) u32 right[8];
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
    if (((th_x + turn1 * 128 + (bl_x >> 1) * 1024) / 224) % 28 - 1 >= 0 && ((th_x >> 3) - turn1 * 12 - (bl_x >> 1) * 12 + 672) % 28 - 1 >= 0) {
      const s32 j4 = ((th_x + turn1 * 128 + (bl_x >> 1) * 1024) / 224) % 28 - 1;
      const s32 j5 = ((th_x >> 3) - turn1 * 12 - (bl_x >> 1) * 12 + 672) % 28 - 1;
      copy_async_16(left_tile + left_cell2 * 8, p0 + (j4 * 1792 + j5 * 64 + ((turn1 + (bl_x >> 1) * 8) / 49) * 50176 + (th_x & 7) * 8));
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
  const s32 right_15 = th_x + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8;
  copy_async_16(right_tile + right_15 * 8, p1 + (th_x * 8 + (th_x >> 3) * 64 + (bl_x & 1) * 64));
  const s32 right_16 = th_x + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8 + 128;
  copy_async_16(right_tile + right_16 * 8, p1 + (th_x * 8 + (th_x >> 3) * 64 + (bl_x & 1) * 64 + 2048));
  const s32 right_17 = th_x + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8 + 256;
  copy_async_16(right_tile + right_17 * 8, p1 + (th_x * 8 + (th_x >> 3) * 64 + (bl_x & 1) * 64 + 4096));
  const s32 right_18 = th_x + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8 + 384;
  copy_async_16(right_tile + right_18 * 8, p1 + (th_x * 8 + (th_x >> 3) * 64 + (bl_x & 1) * 64 + 6144));
  for (s32 turn14 = 0; turn14 < 4; turn14++) {
    wait_copies();
    __syncthreads();
    #pragma unroll 8
    for (s32 turn15 = 0; turn15 < 8; turn15++) {
      const s32 left_cell16 = th_x + turn15 * 128 + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8;
      if (within_s32(((turn14 + 1) >> 1) + ((th_x + turn15 * 128 + (bl_x >> 1) * 1024) / 224) % 28 - 1, 0, 27) && within_s32((-turn14 + 1 + 3) % 3 + ((th_x >> 3) - turn15 * 12 - (bl_x >> 1) * 12 + 672) % 28 - 1, 0, 27)) {
        const s32 j18 = ((turn14 + 1) >> 1) + ((th_x + turn15 * 128 + (bl_x >> 1) * 1024) / 224) % 28 - 1;
        const s32 j19 = (-turn14 + 1 + 3) % 3 + ((th_x >> 3) - turn15 * 12 - (bl_x >> 1) * 12 + 672) % 28 - 1;
        copy_async_16(left_tile2 + left_cell16 * 8, p0 + (j18 * 1792 + j19 * 64 + ((turn15 + (bl_x >> 1) * 8) / 49) * 50176 + (th_x & 7) * 8));
      } else {
        x7[0] = 0;
        x7[1] = 0;
        x7[2] = 0;
        x7[3] = 0;
        x7[4] = 0;
        x7[5] = 0;
        x7[6] = 0;
        x7[7] = 0;
        *(u16x8 *)(left_tile2 + left_cell16 * 8) = *(const u16x8 *)(x7);
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
    for (s32 part28 = 0; part28 < 4; part28++) {
      const s32 left_1 = (th_x >> 6) * 512 + (th_x & 15) * 8 + ((th_x + part28 * 2 + ((th_x >> 4) & 1)) & 7);
      load_matrices(left, left_tile + left_1 * 8);
      const s32 left_2 = (th_x >> 6) * 512 + (th_x & 15) * 8 + ((th_x + part28 * 2 + ((th_x >> 4) & 1)) & 7) + 128;
      load_matrices(left + 4, left_tile + left_2 * 8);
      const s32 left_3 = (th_x >> 6) * 512 + (th_x & 15) * 8 + ((th_x + part28 * 2 + ((th_x >> 4) & 1)) & 7) + 256;
      load_matrices(left + 8, left_tile + left_3 * 8);
      const s32 left_4 = (th_x >> 6) * 512 + (th_x & 15) * 8 + ((th_x + part28 * 2 + ((th_x >> 4) & 1)) & 7) + 384;
      load_matrices(left + 12, left_tile + left_4 * 8);
      const s32 right_1 = part28 * 128 + (th_x & 15) * 8 + ((th_x + (th_x >> 4) + (th_x >> 5) * 2) & 7);
      load_transposed(right, right_tile + right_1 * 8);
      const s32 right_2 = part28 * 128 + (th_x & 15) * 8 + ((th_x + (th_x >> 4) + (th_x >> 5) * 2 + 2) & 7);
      load_transposed(right + 4, right_tile + right_2 * 8);
      #pragma unroll 4
      for (s32 i33 = 0; i33 < 4; i33++) {
        multiply_matrices_bf16(sums + i33 * 16, left + i33 * 4, right);
        multiply_matrices_bf16(sums + (i33 * 16 + 4), left + i33 * 4, right + 2);
        multiply_matrices_bf16(sums + (i33 * 16 + 8), left + i33 * 4, right + 4);
        multiply_matrices_bf16(sums + (i33 * 16 + 12), left + i33 * 4, right + 6);
      }
    }
    wait_copies();
    __syncthreads();
    #pragma unroll 8
    for (s32 turn35 = 0; turn35 < 8; turn35++) {
      const s32 left_cell36 = th_x + turn35 * 128 + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8;
      if (within_s32((turn14 * 2 + 2) / 3 + ((th_x + turn35 * 128 + (bl_x >> 1) * 1024) / 224) % 28 - 1, 0, 27) && within_s32(((th_x >> 3) - turn35 * 12 - (bl_x >> 1) * 12 + 672) % 28 - turn14 % 3 + 1, 0, 27)) {
        const s32 j38 = (turn14 * 2 + 2) / 3 + ((th_x + turn35 * 128 + (bl_x >> 1) * 1024) / 224) % 28 - 1;
        const s32 j39 = ((th_x >> 3) - turn35 * 12 - (bl_x >> 1) * 12 + 672) % 28 - turn14 % 3 + 1;
        copy_async_16(left_tile + left_cell36 * 8, p0 + (j38 * 1792 + j39 * 64 + ((turn35 + (bl_x >> 1) * 8) / 49) * 50176 + (th_x & 7) * 8));
      } else {
        x12[0] = 0;
        x12[1] = 0;
        x12[2] = 0;
        x12[3] = 0;
        x12[4] = 0;
        x12[5] = 0;
        x12[6] = 0;
        x12[7] = 0;
        *(u16x8 *)(left_tile + left_cell36 * 8) = *(const u16x8 *)(x12);
      }
    }
    const s32 right_9 = th_x + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8;
    copy_async_16(right_tile + right_9 * 8, p1 + (th_x * 8 + turn14 * 16384 + (th_x >> 3) * 64 + (bl_x & 1) * 64 + 16384));
    const s32 right_10 = th_x + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8 + 128;
    copy_async_16(right_tile + right_10 * 8, p1 + (th_x * 8 + turn14 * 16384 + (th_x >> 3) * 64 + (bl_x & 1) * 64 + 18432));
    const s32 right_11 = th_x + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8 + 256;
    copy_async_16(right_tile + right_11 * 8, p1 + (th_x * 8 + turn14 * 16384 + (th_x >> 3) * 64 + (bl_x & 1) * 64 + 20480));
    const s32 right_12 = th_x + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8 + 384;
    copy_async_16(right_tile + right_12 * 8, p1 + (th_x * 8 + turn14 * 16384 + (th_x >> 3) * 64 + (bl_x & 1) * 64 + 22528));
    for (s32 part48 = 0; part48 < 4; part48++) {
      const s32 left_5 = (th_x >> 6) * 512 + (th_x & 15) * 8 + ((th_x + part48 * 2 + ((th_x >> 4) & 1)) & 7);
      load_matrices(left, left_tile2 + left_5 * 8);
      const s32 left_6 = (th_x >> 6) * 512 + (th_x & 15) * 8 + ((th_x + part48 * 2 + ((th_x >> 4) & 1)) & 7) + 128;
      load_matrices(left + 4, left_tile2 + left_6 * 8);
      const s32 left_7 = (th_x >> 6) * 512 + (th_x & 15) * 8 + ((th_x + part48 * 2 + ((th_x >> 4) & 1)) & 7) + 256;
      load_matrices(left + 8, left_tile2 + left_7 * 8);
      const s32 left_8 = (th_x >> 6) * 512 + (th_x & 15) * 8 + ((th_x + part48 * 2 + ((th_x >> 4) & 1)) & 7) + 384;
      load_matrices(left + 12, left_tile2 + left_8 * 8);
      const s32 right_3 = part48 * 128 + (th_x & 15) * 8 + ((th_x + (th_x >> 4) + (th_x >> 5) * 2) & 7);
      load_transposed(right, right_tile2 + right_3 * 8);
      const s32 right_4 = part48 * 128 + (th_x & 15) * 8 + ((th_x + (th_x >> 4) + (th_x >> 5) * 2 + 2) & 7);
      load_transposed(right + 4, right_tile2 + right_4 * 8);
      #pragma unroll 4
      for (s32 i53 = 0; i53 < 4; i53++) {
        multiply_matrices_bf16(sums + i53 * 16, left + i53 * 4, right);
        multiply_matrices_bf16(sums + (i53 * 16 + 4), left + i53 * 4, right + 2);
        multiply_matrices_bf16(sums + (i53 * 16 + 8), left + i53 * 4, right + 4);
        multiply_matrices_bf16(sums + (i53 * 16 + 12), left + i53 * 4, right + 6);
      }
    }
  }
  wait_copies();
  __syncthreads();
  for (s32 part55 = 0; part55 < 4; part55++) {
    const s32 left_9 = (th_x >> 6) * 512 + (th_x & 15) * 8 + ((th_x + part55 * 2 + ((th_x >> 4) & 1)) & 7);
    load_matrices(left, left_tile + left_9 * 8);
    const s32 left_10 = (th_x >> 6) * 512 + (th_x & 15) * 8 + ((th_x + part55 * 2 + ((th_x >> 4) & 1)) & 7) + 128;
    load_matrices(left + 4, left_tile + left_10 * 8);
    const s32 left_11 = (th_x >> 6) * 512 + (th_x & 15) * 8 + ((th_x + part55 * 2 + ((th_x >> 4) & 1)) & 7) + 256;
    load_matrices(left + 8, left_tile + left_11 * 8);
    const s32 left_12 = (th_x >> 6) * 512 + (th_x & 15) * 8 + ((th_x + part55 * 2 + ((th_x >> 4) & 1)) & 7) + 384;
    load_matrices(left + 12, left_tile + left_12 * 8);
    const s32 right_13 = part55 * 128 + (th_x & 15) * 8 + ((th_x + (th_x >> 4) + (th_x >> 5) * 2) & 7);
    load_transposed(right, right_tile + right_13 * 8);
    const s32 right_14 = part55 * 128 + (th_x & 15) * 8 + ((th_x + (th_x >> 4) + (th_x >> 5) * 2 + 2) & 7);
    load_transposed(right + 4, right_tile + right_14 * 8);
    #pragma unroll 4
    for (s32 i60 = 0; i60 < 4; i60++) {
      multiply_matrices_bf16(sums + i60 * 16, left + i60 * 4, right);
      multiply_matrices_bf16(sums + (i60 * 16 + 4), left + i60 * 4, right + 2);
      multiply_matrices_bf16(sums + (i60 * 16 + 8), left + i60 * 4, right + 4);
      multiply_matrices_bf16(sums + (i60 * 16 + 12), left + i60 * 4, right + 6);
    }
  }
  #pragma unroll 4
  for (s32 i62 = 0; i62 < 4; i62++) {
    #pragma unroll 4
    for (s32 j63 = 0; j63 < 4; j63++) {
      #pragma unroll 2
      for (s32 half64 = 0; half64 < 2; half64++) {
        *(u16x2 *)(x15) = *(const u16x2 *)(p2 + (j63 * 8 + (th_x & 3) * 2 + (bl_x & 1) * 64 + ((th_x >> 5) & 1) * 32));
        const u32 v66_1 = packed_encode_bf16(sums[i62 * 16 + j63 * 4 + half64 * 2], sums[i62 * 16 + j63 * 4 + half64 * 2 + 1]);
        const u16 v67_3 = x15[0];
        const u16 v67_4 = x15[1];
        const u32 v69_1 = packed_add_bf16(v66_1, pack(v67_3, v67_4));
        const u32 v70_1 = packed_maximum_bf16(v69_1, 0u);
        x16[0] = unpack_low(v70_1);
        x16[1] = unpack_high(v70_1);
        store_vector_4(o0 + (th_x * 2 + bl_x * 64 + i62 * 2048 + j63 * 8 + half64 * 1024 + (th_x >> 2) * 120 + (th_x >> 6) * 8128 + (bl_x >> 1) * 16256 - (th_x >> 5) * 992), x16);
      }
    }
  }
}
