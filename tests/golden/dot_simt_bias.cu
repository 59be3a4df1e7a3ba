// layer: dot-simt emitter, 128 blocks of 32 threads

typedef unsigned int u32;
typedef float f32;
#define mul_add_f32 fmaf
typedef int s32;
typedef struct __align__(8) { f32 v[2]; } f32x2;
typedef struct __align__(16) { f32 v[4]; } f32x4;

static __device__ void copy_async_8(void *to, const void *from) {
  const u32 place = (u32)__cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;"
               : : "r"(place), "l"(__cvta_generic_to_global(from)) : "memory");
}

static __device__ __attribute__((const)) f32 maximum_f32(f32 a, f32 b) {
  f32 x;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(x) : "f"(a), "f"(b));
  return x;
}

static __device__ void store_vector_8(void *to, const void *from) {
  u32 words[2];
  memcpy(words, from, 8);
  asm volatile("st.global.v2.b32 [%0], {%1, %2};"
               : : "l"(__cvta_generic_to_global(to)), "r"(words[0]), "r"(words[1]) : "memory");
}

static __device__ void wait_copies() { asm volatile("cp.async.wait_all;" : : : "memory"); }

extern "C" __global__ void __launch_bounds__(32) dot_simt_dot(const f32 *__restrict__ p0, const f32 *__restrict__ p1, const f32 *__restrict__ p2, f32 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ __align__(16) f32 left_tile[512];
  __shared__ __align__(16) f32 right_tile[256];
  __shared__ __align__(16) f32 left_tile2[512];
  __shared__ __align__(16) f32 right_tile2[256];
  f32 left[16];
  f32 right[4];
  f32 sums[16];
  __align__(16) f32 x2[2];
  __align__(16) f32 x5[2];
  __align__(16) f32 x6[4];
  __align__(16) f32 x7[4];
  __align__(16) f32 x10[2];
  __align__(16) f32 x11[2];
  __align__(16) f32 x12[4];
  __align__(16) f32 x13[4];
  __align__(16) f32 x14[4];
  __align__(16) f32 x15[4];
  __align__(16) f32 x16[2];
  __align__(16) f32 x17[2];
  #pragma unroll 16
  for (s32 column0 = 0; column0 < 16; column0++) {
    sums[column0] = 0.0f;
  }
  #pragma unroll 16
  for (s32 turn1 = 0; turn1 < 16; turn1++) {
    const s32 left_cell2 = turn1 * 32 + (th_x >> 4) * 16 + ((th_x + turn1 * 4) & 15);
    if (turn1 * 2 + (th_x >> 4) + (bl_x >> 2) * 32 <= 1020) {
      const s32 j3 = turn1 * 2 + (th_x >> 4) + (bl_x >> 2) * 32;
      const f32 v4 = p0[j3 * 43 + (th_x & 15)];
      left_tile[left_cell2] = v4;
    } else {
      left_tile[left_cell2] = 0.0f;
    }
  }
  #pragma unroll 4
  for (s32 turn5 = 0; turn5 < 4; turn5++) {
    const s32 right_cell6 = th_x + turn5 * 32;
    if ((th_x & 7) + (bl_x & 3) * 8 <= 24) {
      const s32 j7 = (th_x & 7) + (bl_x & 3) * 8;
      copy_async_8(right_tile + right_cell6 * 2, p1 + (turn5 * 200 + j7 * 2 + (th_x >> 3) * 50));
    } else {
      x2[0] = 0.0f;
      x2[1] = 0.0f;
      *(f32x2 *)(right_tile + right_cell6 * 2) = *(const f32x2 *)(x2);
    }
  }
  wait_copies();
  __syncthreads();
  #pragma unroll 16
  for (s32 turn11 = 0; turn11 < 16; turn11++) {
    const s32 left_cell12 = turn11 * 32 + (th_x >> 4) * 16 + ((th_x + turn11 * 4) & 15);
    if (turn11 * 2 + (th_x >> 4) + (bl_x >> 2) * 32 <= 1020) {
      const s32 j13 = turn11 * 2 + (th_x >> 4) + (bl_x >> 2) * 32;
      const f32 v14 = p0[j13 * 43 + (th_x & 15) + 16];
      left_tile2[left_cell12] = v14;
    } else {
      left_tile2[left_cell12] = 0.0f;
    }
  }
  #pragma unroll 4
  for (s32 turn15 = 0; turn15 < 4; turn15++) {
    const s32 right_cell16 = th_x + turn15 * 32;
    if ((th_x & 7) + (bl_x & 3) * 8 <= 24) {
      const s32 j17 = (th_x & 7) + (bl_x & 3) * 8;
      copy_async_8(right_tile2 + right_cell16 * 2, p1 + (turn15 * 200 + j17 * 2 + (th_x >> 3) * 50 + 800));
    } else {
      x5[0] = 0.0f;
      x5[1] = 0.0f;
      *(f32x2 *)(right_tile2 + right_cell16 * 2) = *(const f32x2 *)(x5);
    }
  }
  #pragma unroll 4
  for (s32 part21 = 0; part21 < 4; part21++) {
    #pragma unroll 4
    for (s32 line22 = 0; line22 < 4; line22++) {
      const s32 left_cell23 = line22 * 32 + (th_x >> 2) * 4 + ((part21 + (th_x >> 3)) & 3);
      *(f32x4 *)(x6) = *(const f32x4 *)(left_tile + left_cell23 * 4);
      const f32 v25_1 = x6[0];
      left[line22 * 4] = v25_1;
      const f32 v25_2 = x6[1];
      left[line22 * 4 + 1] = v25_2;
      const f32 v25_3 = x6[2];
      left[line22 * 4 + 2] = v25_3;
      const f32 v25_4 = x6[3];
      left[line22 * 4 + 3] = v25_4;
    }
    #pragma unroll 4
    for (s32 k26 = 0; k26 < 4; k26++) {
      const s32 right_cell27 = part21 * 16 + k26 * 4 + (th_x & 3);
      *(f32x4 *)(x7) = *(const f32x4 *)(right_tile + right_cell27 * 4);
      const f32 v29_1 = x7[0];
      right[0] = v29_1;
      const f32 v29_2 = x7[1];
      right[1] = v29_2;
      const f32 v29_3 = x7[2];
      right[2] = v29_3;
      const f32 v29_4 = x7[3];
      right[3] = v29_4;
      #pragma unroll 4
      for (s32 i30 = 0; i30 < 4; i30++) {
        const f32 v32 = left[k26 + i30 * 4];
        const f32 v33_1 = right[0];
        const f32 v34_1 = sums[i30 * 4];
        sums[i30 * 4] = mul_add_f32(v32, v33_1, v34_1);
        const f32 v33_2 = right[1];
        const f32 v34_2 = sums[i30 * 4 + 1];
        sums[i30 * 4 + 1] = mul_add_f32(v32, v33_2, v34_2);
        const f32 v33_3 = right[2];
        const f32 v34_3 = sums[i30 * 4 + 2];
        sums[i30 * 4 + 2] = mul_add_f32(v32, v33_3, v34_3);
        const f32 v33_4 = right[3];
        const f32 v34_4 = sums[i30 * 4 + 3];
        sums[i30 * 4 + 3] = mul_add_f32(v32, v33_4, v34_4);
      }
    }
  }
  wait_copies();
  __syncthreads();
  #pragma unroll 16
  for (s32 turn35 = 0; turn35 < 16; turn35++) {
    const s32 left_cell36 = turn35 * 32 + (th_x >> 4) * 16 + ((th_x + turn35 * 4) & 15);
    if (turn35 * 2 + (th_x >> 4) + (bl_x >> 2) * 32 <= 1020) {
      const s32 j37 = turn35 * 2 + (th_x >> 4) + (bl_x >> 2) * 32;
      if ((th_x & 15) + 32 <= 42) {
        const s32 j38 = (th_x & 15) + 32;
        const f32 v39 = p0[j37 * 43 + j38];
        left_tile[left_cell36] = v39;
      } else {
        left_tile[left_cell36] = 0.0f;
      }
    } else {
      left_tile[left_cell36] = 0.0f;
    }
  }
  #pragma unroll 4
  for (s32 turn40 = 0; turn40 < 4; turn40++) {
    const s32 right_cell41 = th_x + turn40 * 32;
    if (turn40 * 4 + (th_x >> 3) + 32 <= 42) {
      const s32 j42 = turn40 * 4 + (th_x >> 3) + 32;
      if ((th_x & 7) + (bl_x & 3) * 8 <= 24) {
        const s32 j43 = (th_x & 7) + (bl_x & 3) * 8;
        copy_async_8(right_tile + right_cell41 * 2, p1 + (j42 * 50 + j43 * 2));
      } else {
        x10[0] = 0.0f;
        x10[1] = 0.0f;
        *(f32x2 *)(right_tile + right_cell41 * 2) = *(const f32x2 *)(x10);
      }
    } else {
      x11[0] = 0.0f;
      x11[1] = 0.0f;
      *(f32x2 *)(right_tile + right_cell41 * 2) = *(const f32x2 *)(x11);
    }
  }
  #pragma unroll 4
  for (s32 part48 = 0; part48 < 4; part48++) {
    #pragma unroll 4
    for (s32 line49 = 0; line49 < 4; line49++) {
      const s32 left_cell50 = line49 * 32 + (th_x >> 2) * 4 + ((part48 + (th_x >> 3)) & 3);
      *(f32x4 *)(x12) = *(const f32x4 *)(left_tile2 + left_cell50 * 4);
      const f32 v52_1 = x12[0];
      left[line49 * 4] = v52_1;
      const f32 v52_2 = x12[1];
      left[line49 * 4 + 1] = v52_2;
      const f32 v52_3 = x12[2];
      left[line49 * 4 + 2] = v52_3;
      const f32 v52_4 = x12[3];
      left[line49 * 4 + 3] = v52_4;
    }
    #pragma unroll 4
    for (s32 k53 = 0; k53 < 4; k53++) {
      const s32 right_cell54 = part48 * 16 + k53 * 4 + (th_x & 3);
      *(f32x4 *)(x13) = *(const f32x4 *)(right_tile2 + right_cell54 * 4);
      const f32 v56_1 = x13[0];
      right[0] = v56_1;
      const f32 v56_2 = x13[1];
      right[1] = v56_2;
      const f32 v56_3 = x13[2];
      right[2] = v56_3;
      const f32 v56_4 = x13[3];
      right[3] = v56_4;
      #pragma unroll 4
      for (s32 i57 = 0; i57 < 4; i57++) {
        const f32 v59 = left[k53 + i57 * 4];
        const f32 v60_1 = right[0];
        const f32 v61_1 = sums[i57 * 4];
        sums[i57 * 4] = mul_add_f32(v59, v60_1, v61_1);
        const f32 v60_2 = right[1];
        const f32 v61_2 = sums[i57 * 4 + 1];
        sums[i57 * 4 + 1] = mul_add_f32(v59, v60_2, v61_2);
        const f32 v60_3 = right[2];
        const f32 v61_3 = sums[i57 * 4 + 2];
        sums[i57 * 4 + 2] = mul_add_f32(v59, v60_3, v61_3);
        const f32 v60_4 = right[3];
        const f32 v61_4 = sums[i57 * 4 + 3];
        sums[i57 * 4 + 3] = mul_add_f32(v59, v60_4, v61_4);
      }
    }
  }
  wait_copies();
  __syncthreads();
  #pragma unroll 4
  for (s32 part62 = 0; part62 < 4; part62++) {
    #pragma unroll 4
    for (s32 line63 = 0; line63 < 4; line63++) {
      const s32 left_cell64 = line63 * 32 + (th_x >> 2) * 4 + ((part62 + (th_x >> 3)) & 3);
      *(f32x4 *)(x14) = *(const f32x4 *)(left_tile + left_cell64 * 4);
      const f32 v66_1 = x14[0];
      left[line63 * 4] = v66_1;
      const f32 v66_2 = x14[1];
      left[line63 * 4 + 1] = v66_2;
      const f32 v66_3 = x14[2];
      left[line63 * 4 + 2] = v66_3;
      const f32 v66_4 = x14[3];
      left[line63 * 4 + 3] = v66_4;
    }
    #pragma unroll 4
    for (s32 k67 = 0; k67 < 4; k67++) {
      const s32 right_cell68 = part62 * 16 + k67 * 4 + (th_x & 3);
      *(f32x4 *)(x15) = *(const f32x4 *)(right_tile + right_cell68 * 4);
      const f32 v70_1 = x15[0];
      right[0] = v70_1;
      const f32 v70_2 = x15[1];
      right[1] = v70_2;
      const f32 v70_3 = x15[2];
      right[2] = v70_3;
      const f32 v70_4 = x15[3];
      right[3] = v70_4;
      #pragma unroll 4
      for (s32 i71 = 0; i71 < 4; i71++) {
        const f32 v73 = left[k67 + i71 * 4];
        const f32 v74_1 = right[0];
        const f32 v75_1 = sums[i71 * 4];
        sums[i71 * 4] = mul_add_f32(v73, v74_1, v75_1);
        const f32 v74_2 = right[1];
        const f32 v75_2 = sums[i71 * 4 + 1];
        sums[i71 * 4 + 1] = mul_add_f32(v73, v74_2, v75_2);
        const f32 v74_3 = right[2];
        const f32 v75_3 = sums[i71 * 4 + 2];
        sums[i71 * 4 + 2] = mul_add_f32(v73, v74_3, v75_3);
        const f32 v74_4 = right[3];
        const f32 v75_4 = sums[i71 * 4 + 3];
        sums[i71 * 4 + 3] = mul_add_f32(v73, v74_4, v75_4);
      }
    }
  }
  #pragma unroll 4
  for (s32 i76 = 0; i76 < 4; i76++) {
    #pragma unroll 2
    for (s32 j77 = 0; j77 < 2; j77++) {
      if (i76 * 8 + (th_x >> 2) + (bl_x >> 2) * 32 <= 1020 && j77 + (th_x & 3) * 2 + (bl_x & 3) * 8 <= 24) {
        const s32 j78 = i76 * 8 + (th_x >> 2) + (bl_x >> 2) * 32;
        const s32 j79 = j77 + (th_x & 3) * 2 + (bl_x & 3) * 8;
        *(f32x2 *)(x16) = *(const f32x2 *)(p2 + j79 * 2);
        const f32 v81_1 = sums[i76 * 4 + j77 * 2];
        const f32 v82_1 = x16[0];
        const f32 v83_1 = v81_1 + v82_1;
        const f32 v84_1 = maximum_f32(v83_1, 0.0f);
        x17[0] = v84_1;
        const f32 v81_2 = sums[i76 * 4 + j77 * 2 + 1];
        const f32 v82_2 = x16[1];
        const f32 v83_2 = v81_2 + v82_2;
        const f32 v84_2 = maximum_f32(v83_2, 0.0f);
        x17[1] = v84_2;
        store_vector_8(o0 + (j78 * 50 + j79 * 2), x17);
      }
    }
  }
}
