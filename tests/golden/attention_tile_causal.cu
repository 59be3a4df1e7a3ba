// heads: attention-tile emitter, 152 blocks of 32 threads

typedef unsigned int u32;
typedef float f32;
typedef unsigned short u16;
#define exp_f32 expf
#define inf_f32 (1.0f / 0.0f)
#define abs_f32 fabsf
typedef int s32;
typedef struct __align__(16) { u16 v[8]; } u16x8;

static __device__ void copy_async_16(void *to, const void *from) {
  const u32 place = (u32)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               : : "r"(place), "l"(__cvta_generic_to_global(from)) : "memory");
}

static __device__ u16 encode_bf16(f32 a) {
  u16 x;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(x) : "f"(a));
  return x;
}

static __device__ bool is_finite_f32(f32 x) { return abs_f32(x) < inf_f32; }

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

static __device__ u32 shl_u32(u32 a, u32 n) { return (u32)n < 32 ? (u32)((u32)a << (u32)n) : 0; }

static __device__ void store_vector_4(void *to, const void *from) {
  u32 words[1];
  memcpy(words, from, 4);
  asm volatile("st.global.b32 [%0], %1;"
               : : "l"(__cvta_generic_to_global(to)), "r"(words[0]) : "memory");
}

static __device__ void wait_copies() { asm volatile("cp.async.wait_all;" : : : "memory"); }

extern "C" __global__ void __launch_bounds__(32) attention_tile_dot(const u16 *__restrict__ p0, const u16 *__restrict__ p1, const u16 *__restrict__ p2, u16 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ __align__(16) u16 queries[768];
  __shared__ __align__(16) u16 keys[3072];
  __shared__ __align__(16) u16 values[4096];
  __align__(16) u32 left[4];
  __align__(16) u32 right[4];
  __align__(16) u32 weights[16];
  __align__(16) f32 scores[32];
  __align__(16) f32 sums[32];
  __align__(16) u16 x2[8];
  __align__(16) u16 x3[8];
  __align__(16) u16 x6[8];
  __align__(16) u16 x7[8];
  __align__(16) u16 x10[8];
  __align__(16) u16 x11[2];
  for (s32 turn0 = 0; turn0 < 3; turn0++) {
    const s32 left_cell1 = th_x + turn0 * 2 + ((th_x + turn0 * 32) / 6) * 7 - ((th_x * 7 + turn0 * 44) / 36) * 6;
    if ((th_x + turn0 * 32) / 6 + (bl_x % 38) * 16 <= 599) {
      const s32 j2 = (th_x + turn0 * 32) / 6 + (bl_x % 38) * 16;
      if ((th_x + turn0 * 2) % 6 <= 4) {
        const s32 j3 = (th_x + turn0 * 2) % 6;
        copy_async_16(queries + left_cell1 * 8, p0 + j2 * 40 + j3 * 8 + (bl_x / 38) * 120 + (bl_x / 76) * 47760 + (j2 / 3) * 120);
      } else {
        x2[0] = 0;
        x2[1] = 0;
        x2[2] = 0;
        x2[3] = 0;
        x2[4] = 0;
        x2[5] = 0;
        x2[6] = 0;
        x2[7] = 0;
        *(u16x8 *)(queries + left_cell1 * 8) = *(const u16x8 *)(x2);
      }
    } else {
      x3[0] = 0;
      x3[1] = 0;
      x3[2] = 0;
      x3[3] = 0;
      x3[4] = 0;
      x3[5] = 0;
      x3[6] = 0;
      x3[7] = 0;
      *(u16x8 *)(queries + left_cell1 * 8) = *(const u16x8 *)(x3);
    }
  }
  f32 v9 = (-inf_f32);
  f32 v10 = (-inf_f32);
  f32 v11 = 0.0f;
  f32 v12 = 0.0f;
  #pragma unroll 32
  for (s32 register13 = 0; register13 < 32; register13++) {
    sums[register13] = 0.0f;
  }
  for (s32 step14 = 0; step14 < 4; step14++) {
    #pragma unroll 4
    for (s32 turn15 = 0; turn15 < 12; turn15++) {
      const s32 right_cell16 = th_x + turn15 * 2 + ((th_x + turn15 * 32) / 6) * 7 - ((th_x * 7 + turn15 * 44) / 36) * 6;
      if (step14 * 64 + (th_x + turn15 * 32) / 6 <= 199) {
        const s32 j17 = step14 * 64 + (th_x + turn15 * 32) / 6;
        if ((th_x + turn15 * 2) % 6 <= 4) {
          const s32 j18 = (th_x + turn15 * 2) % 6;
          copy_async_16(keys + right_cell16 * 8, p1 + j17 * 80 + j18 * 8 + (bl_x / 38) * 40 + (bl_x / 76) * 15920);
        } else {
          x6[0] = 0;
          x6[1] = 0;
          x6[2] = 0;
          x6[3] = 0;
          x6[4] = 0;
          x6[5] = 0;
          x6[6] = 0;
          x6[7] = 0;
          *(u16x8 *)(keys + right_cell16 * 8) = *(const u16x8 *)(x6);
        }
      } else {
        x7[0] = 0;
        x7[1] = 0;
        x7[2] = 0;
        x7[3] = 0;
        x7[4] = 0;
        x7[5] = 0;
        x7[6] = 0;
        x7[7] = 0;
        *(u16x8 *)(keys + right_cell16 * 8) = *(const u16x8 *)(x7);
      }
    }
    #pragma unroll 4
    for (s32 turn24 = 0; turn24 < 16; turn24++) {
      const s32 right_cell25 = th_x + turn24 * 36 + (th_x >> 3) * 9 - ((th_x * 9 + turn24 * 32) >> 6) * 8;
      if (step14 * 64 + turn24 * 4 + (th_x >> 3) <= 199) {
        const s32 j26 = step14 * 64 + turn24 * 4 + (th_x >> 3);
        copy_async_16(values + right_cell25 * 8, p2 + j26 * 128 + (bl_x / 38) * 64 + (bl_x / 76) * 25472 + (th_x & 7) * 8);
      } else {
        x10[0] = 0;
        x10[1] = 0;
        x10[2] = 0;
        x10[3] = 0;
        x10[4] = 0;
        x10[5] = 0;
        x10[6] = 0;
        x10[7] = 0;
        *(u16x8 *)(values + right_cell25 * 8) = *(const u16x8 *)(x10);
      }
    }
    wait_copies();
    __syncthreads();
    #pragma unroll 32
    for (s32 register31 = 0; register31 < 32; register31++) {
      scores[register31] = 0.0f;
    }
    for (s32 part32 = 0; part32 < 3; part32++) {
      load_matrices(left, queries + (th_x & 15) * 48 + ((th_x + part32 * 2 + (th_x >> 4) * 3) % 6) * 8);
      load_matrices(right, keys + (th_x >> 4) * 384 + (th_x & 7) * 49 + (th_x * 7 + part32 * 16 + 7) % 48 - 7);
      multiply_matrices_bf16(scores, left, right);
      multiply_matrices_bf16(scores + 4, left, right + 2);
      load_matrices(right, keys + (th_x >> 4) * 384 + (th_x & 7) * 49 + (th_x * 7 + part32 * 16 + 39) % 48 + 761);
      multiply_matrices_bf16(scores + 8, left, right);
      multiply_matrices_bf16(scores + 12, left, right + 2);
      load_matrices(right, keys + (th_x >> 4) * 384 + (th_x & 7) * 49 + (th_x * 7 + part32 * 16 + 23) % 48 + 1529);
      multiply_matrices_bf16(scores + 16, left, right);
      multiply_matrices_bf16(scores + 20, left, right + 2);
      load_matrices(right, keys + (th_x >> 4) * 384 + (th_x & 7) * 49 + (th_x * 7 + part32 * 16 + 7) % 48 + 2297);
      multiply_matrices_bf16(scores + 24, left, right);
      multiply_matrices_bf16(scores + 28, left, right + 2);
    }
    #pragma unroll 8
    for (s32 block35 = 0; block35 < 8; block35++) {
      #pragma unroll 2
      for (s32 lane36 = 0; lane36 < 2; lane36++) {
        const f32 v37 = scores[block35 * 4 + lane36];
        if (step14 * 64 + block35 * 8 + lane36 + (th_x & 3) * 2 <= 199) {
          const s32 j38 = step14 * 64 + block35 * 8 + lane36 + (th_x & 3) * 2;
          const s32 v39 = (th_x + (bl_x % 38) * 64) / 12;
          const s32 v40 = j38;
          const bool v41 = v39 >= v40;
          const f32 v42 = v37 * 0.15f;
          const f32 v43 = v41 ? v42 : (-inf_f32);
          scores[block35 * 4 + lane36] = v43;
        } else {
          scores[block35 * 4 + lane36] = (-inf_f32);
        }
      }
    }
    if ((th_x >> 2) + (bl_x % 38) * 16 + 8 <= 599) {
      const s32 j44 = (th_x >> 2) + (bl_x % 38) * 16 + 8;
      #pragma unroll 8
      for (s32 block45 = 0; block45 < 8; block45++) {
        #pragma unroll 2
        for (s32 lane46 = 0; lane46 < 2; lane46++) {
          const f32 v47 = scores[block45 * 4 + lane46 + 2];
          if (step14 * 64 + block45 * 8 + lane46 + (th_x & 3) * 2 <= 199) {
            const s32 j48 = step14 * 64 + block45 * 8 + lane46 + (th_x & 3) * 2;
            const s32 v49 = j44 / 3;
            const s32 v50 = j48;
            const bool v51 = v49 >= v50;
            const f32 v52 = v47 * 0.15f;
            const f32 v53 = v51 ? v52 : (-inf_f32);
            scores[block45 * 4 + lane46 + 2] = v53;
          } else {
            scores[block45 * 4 + lane46 + 2] = (-inf_f32);
          }
        }
      }
    } else {
      #pragma unroll 8
      for (s32 block54 = 0; block54 < 8; block54++) {
        scores[block54 * 4 + 2] = (-inf_f32);
        scores[block54 * 4 + 3] = (-inf_f32);
      }
    }
    const f32 v56 = v9;
    const f32 v57 = v10;
    #pragma unroll 8
    for (s32 block58 = 0; block58 < 8; block58++) {
      const f32 v60_1 = scores[block58 * 4];
      v9 = maximum_f32(v9, v60_1);
      const f32 v60_2 = scores[block58 * 4 + 1];
      v9 = maximum_f32(v9, v60_2);
    }
    #pragma unroll 8
    for (s32 block61 = 0; block61 < 8; block61++) {
      const f32 v63_1 = scores[block61 * 4 + 2];
      v10 = maximum_f32(v10, v63_1);
      const f32 v63_2 = scores[block61 * 4 + 3];
      v10 = maximum_f32(v10, v63_2);
    }
    const f32 t0 = __shfl_down_sync(0xffffffffu, v9, 2);
    const f32 v0 = maximum_f32(v9, t0);
    v9 = v0;
    const f32 t2 = __shfl_down_sync(0xffffffffu, v10, 2);
    const f32 v0_1 = maximum_f32(v10, t2);
    v10 = v0_1;
    const f32 t4 = __shfl_down_sync(0xffffffffu, v9, 1);
    const f32 v0_2 = maximum_f32(v9, t4);
    v9 = v0_2;
    const f32 t6 = __shfl_down_sync(0xffffffffu, v10, 1);
    const f32 v0_3 = maximum_f32(v10, t6);
    v10 = v0_3;
    const f32 t8 = __shfl_sync(0xffffffffu, v9, 0, 4);
    v9 = t8;
    const f32 t9 = __shfl_sync(0xffffffffu, v10, 0, 4);
    v10 = t9;
    const f32 v64 = is_finite_f32(v9) ? v9 : 0.0f;
    const f32 v65 = v56 == (-inf_f32) ? 1.0f : exp_f32((is_finite_f32(v56) ? v56 : 0.0f) - v64);
    v11 = v11 * v65;
    #pragma unroll 8
    for (s32 block66 = 0; block66 < 8; block66++) {
      const f32 v68_1 = scores[block66 * 4];
      const f32 v69_1 = exp_f32(v68_1 - v64);
      scores[block66 * 4] = v69_1;
      v11 = v11 + v69_1;
      const f32 v68_2 = scores[block66 * 4 + 1];
      const f32 v69_2 = exp_f32(v68_2 - v64);
      scores[block66 * 4 + 1] = v69_2;
      v11 = v11 + v69_2;
    }
    #pragma unroll 8
    for (s32 block70 = 0; block70 < 8; block70++) {
      const f32 v72_1 = sums[block70 * 4];
      sums[block70 * 4] = v72_1 * v65;
      const f32 v72_2 = sums[block70 * 4 + 1];
      sums[block70 * 4 + 1] = v72_2 * v65;
    }
    const f32 v73 = is_finite_f32(v10) ? v10 : 0.0f;
    const f32 v74 = v57 == (-inf_f32) ? 1.0f : exp_f32((is_finite_f32(v57) ? v57 : 0.0f) - v73);
    v12 = v12 * v74;
    #pragma unroll 8
    for (s32 block75 = 0; block75 < 8; block75++) {
      const f32 v77_1 = scores[block75 * 4 + 2];
      const f32 v78_1 = exp_f32(v77_1 - v73);
      scores[block75 * 4 + 2] = v78_1;
      v12 = v12 + v78_1;
      const f32 v77_2 = scores[block75 * 4 + 3];
      const f32 v78_2 = exp_f32(v77_2 - v73);
      scores[block75 * 4 + 3] = v78_2;
      v12 = v12 + v78_2;
    }
    #pragma unroll 8
    for (s32 block79 = 0; block79 < 8; block79++) {
      const f32 v81_1 = sums[block79 * 4 + 2];
      sums[block79 * 4 + 2] = v81_1 * v74;
      const f32 v81_2 = sums[block79 * 4 + 3];
      sums[block79 * 4 + 3] = v81_2 * v74;
    }
    #pragma unroll 4
    for (s32 part82 = 0; part82 < 4; part82++) {
      const f32 v84_1 = scores[part82 * 8];
      const f32 v85_1 = scores[part82 * 8 + 1];
      weights[part82 * 4] = (u32)((u32)encode_bf16(v84_1) | shl_u32((u32)encode_bf16(v85_1), 16u));
      const f32 v84_2 = scores[part82 * 8 + 2];
      const f32 v85_2 = scores[part82 * 8 + 3];
      weights[part82 * 4 + 1] = (u32)((u32)encode_bf16(v84_2) | shl_u32((u32)encode_bf16(v85_2), 16u));
      const f32 v84_3 = scores[part82 * 8 + 4];
      const f32 v85_3 = scores[part82 * 8 + 5];
      weights[part82 * 4 + 2] = (u32)((u32)encode_bf16(v84_3) | shl_u32((u32)encode_bf16(v85_3), 16u));
      const f32 v84_4 = scores[part82 * 8 + 6];
      const f32 v85_4 = scores[part82 * 8 + 7];
      weights[part82 * 4 + 3] = (u32)((u32)encode_bf16(v84_4) | shl_u32((u32)encode_bf16(v85_4), 16u));
      load_transposed(right, values + th_x * 72 + part82 * 1024 - (th_x >> 4) * 1016 - ((th_x * 17) >> 7) * 64);
      multiply_matrices_bf16(sums, weights + part82 * 4, right);
      multiply_matrices_bf16(sums + 4, weights + part82 * 4, right + 2);
      load_transposed(right, values + th_x * 72 + part82 * 1024 - (th_x >> 4) * 1016 - ((th_x * 17 + 32) >> 7) * 64 + 16);
      multiply_matrices_bf16(sums + 8, weights + part82 * 4, right);
      multiply_matrices_bf16(sums + 12, weights + part82 * 4, right + 2);
      load_transposed(right, values + th_x * 72 + part82 * 1024 - (th_x >> 4) * 1016 - ((th_x * 17 + 64) >> 7) * 64 + 32);
      multiply_matrices_bf16(sums + 16, weights + part82 * 4, right);
      multiply_matrices_bf16(sums + 20, weights + part82 * 4, right + 2);
      load_transposed(right, values + th_x * 72 + part82 * 1024 - (th_x >> 4) * 1016 - ((th_x * 17 + 96) >> 7) * 64 + 48);
      multiply_matrices_bf16(sums + 24, weights + part82 * 4, right);
      multiply_matrices_bf16(sums + 28, weights + part82 * 4, right + 2);
    }
    __syncthreads();
  }
  const f32 t10 = __shfl_down_sync(0xffffffffu, v11, 2);
  const f32 v0_4 = v11 + t10;
  v11 = v0_4;
  const f32 t12 = __shfl_down_sync(0xffffffffu, v12, 2);
  const f32 v0_5 = v12 + t12;
  v12 = v0_5;
  const f32 t14 = __shfl_down_sync(0xffffffffu, v11, 1);
  const f32 v0_6 = v11 + t14;
  v11 = v0_6;
  const f32 t16 = __shfl_down_sync(0xffffffffu, v12, 1);
  const f32 v0_7 = v12 + t16;
  v12 = v0_7;
  const f32 t18 = __shfl_sync(0xffffffffu, v11, 0, 4);
  v11 = t18;
  const f32 t19 = __shfl_sync(0xffffffffu, v12, 0, 4);
  v12 = t19;
  const f32 v88 = is_finite_f32(v9) ? v9 : 0.0f;
  const f32 v89 = maximum_f32((-inf_f32), v9);
  const f32 v90 = exp_f32(v88 - v89);
  const f32 v91 = 0.0f + v11 * v90;
  #pragma unroll 8
  for (s32 block92 = 0; block92 < 8; block92++) {
    const f32 v94_1 = sums[block92 * 4];
    const f32 v95_1 = v94_1 * v90;
    const f32 v96_1 = v95_1 / v91;
    const u16 v97_1 = encode_bf16(v96_1);
    x11[0] = v97_1;
    const f32 v94_2 = sums[block92 * 4 + 1];
    const f32 v95_2 = v94_2 * v90;
    const f32 v96_2 = v95_2 / v91;
    const u16 v97_3 = encode_bf16(v96_2);
    x11[1] = v97_3;
    store_vector_4(o0 + th_x * 2 + bl_x * 1984 + block92 * 8 + (th_x >> 2) * 56 + (bl_x / 76) * 76416 + ((th_x + (bl_x % 38) * 4) / 12) * 192 - (bl_x / 38) * 75200, x11);
  }
  if ((th_x >> 2) + (bl_x % 38) * 16 + 8 <= 599) {
    __align__(16) u16 x12[2];
    const s32 j98 = (th_x >> 2) + (bl_x % 38) * 16 + 8;
    const f32 v99 = is_finite_f32(v10) ? v10 : 0.0f;
    const f32 v100 = maximum_f32((-inf_f32), v10);
    const f32 v101 = exp_f32(v99 - v100);
    const f32 v102 = 0.0f + v12 * v101;
    #pragma unroll 8
    for (s32 block103 = 0; block103 < 8; block103++) {
      const f32 v105_1 = sums[block103 * 4 + 2];
      const f32 v106_1 = v105_1 * v101;
      const f32 v107_1 = v106_1 / v102;
      const u16 v108_1 = encode_bf16(v107_1);
      x12[0] = v108_1;
      const f32 v105_2 = sums[block103 * 4 + 3];
      const f32 v106_2 = v105_2 * v101;
      const f32 v107_2 = v106_2 / v102;
      const u16 v108_3 = encode_bf16(v107_2);
      x12[1] = v108_3;
      store_vector_4(o0 + j98 * 64 + block103 * 8 + (bl_x / 38) * 192 + (bl_x / 76) * 76416 + (j98 / 3) * 192 + (th_x & 3) * 2, x12);
    }
  }
}
