// heads: attention-tile emitter, 40 blocks of 128 threads

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

extern "C" __global__ void __launch_bounds__(128) attention_tile_dot(const u16 *__restrict__ p0, const u16 *__restrict__ p1, const u16 *__restrict__ p2, u16 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ __align__(16) u16 queries[3072];
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
  for (s32 turn0 = 0; turn0 < 3; turn0++) {
    const s32 left_cell1 = th_x + turn0 * 2 + ((th_x + turn0 * 128) / 6) * 7 - ((th_x * 7 + turn0 * 140) / 36) * 6;
    if ((th_x + turn0 * 128) / 6 + (bl_x % 10) * 64 <= 599) {
      const s32 j2 = (th_x + turn0 * 128) / 6 + (bl_x % 10) * 64;
      if ((th_x + turn0 * 2) % 6 <= 4) {
        const s32 j3 = (th_x + turn0 * 2) % 6;
        copy_async_16(queries + left_cell1 * 8, p0 + j2 * 40 + j3 * 8 + (bl_x / 10) * 120 + (bl_x / 20) * 47760 + (j2 / 3) * 120);
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
    for (s32 turn15 = 0; turn15 < 3; turn15++) {
      const s32 right_cell16 = th_x + turn15 * 2 + ((th_x + turn15 * 128) / 6) * 7 - ((th_x * 7 + turn15 * 140) / 36) * 6;
      if (step14 * 64 + (th_x + turn15 * 128) / 6 <= 199) {
        const s32 j17 = step14 * 64 + (th_x + turn15 * 128) / 6;
        if ((th_x + turn15 * 2) % 6 <= 4) {
          const s32 j18 = (th_x + turn15 * 2) % 6;
          copy_async_16(keys + right_cell16 * 8, p1 + j17 * 80 + j18 * 8 + (bl_x / 10) * 40 + (bl_x / 20) * 15920);
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
    for (s32 turn24 = 0; turn24 < 4; turn24++) {
      const s32 right_cell25 = th_x + turn24 * 128 + (th_x >> 3) * 9 - ((th_x * 9) >> 6) * 8;
      if (step14 * 64 + turn24 * 16 + (th_x >> 3) <= 199) {
        const s32 j26 = step14 * 64 + turn24 * 16 + (th_x >> 3);
        copy_async_16(values + right_cell25 * 8, p2 + j26 * 128 + (bl_x / 10) * 64 + (bl_x / 20) * 25472 + (th_x & 7) * 8);
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
      load_matrices(left, queries + (th_x >> 5) * 768 + (th_x & 15) * 48 + ((th_x + part32 * 2 + (th_x >> 4) * 3 + (th_x >> 5) * 2) % 6) * 8);
      load_matrices(right, keys + (th_x >> 4) * 384 + (th_x & 7) * 49 + (th_x * 7 + part32 * 16 + (th_x >> 5) * 16 + 7) % 48 - (th_x >> 5) * 768 - 7);
      multiply_matrices_bf16(scores, left, right);
      multiply_matrices_bf16(scores + 4, left, right + 2);
      load_matrices(right, keys + (th_x >> 4) * 384 + (th_x & 7) * 49 + (th_x * 7 + part32 * 16 + (th_x >> 5) * 16 + 39) % 48 - (th_x >> 5) * 768 + 761);
      multiply_matrices_bf16(scores + 8, left, right);
      multiply_matrices_bf16(scores + 12, left, right + 2);
      load_matrices(right, keys + (th_x >> 4) * 384 + (th_x & 7) * 49 + (th_x * 7 + part32 * 16 + (th_x >> 5) * 16 + 23) % 48 - (th_x >> 5) * 768 + 1529);
      multiply_matrices_bf16(scores + 16, left, right);
      multiply_matrices_bf16(scores + 20, left, right + 2);
      load_matrices(right, keys + (th_x >> 4) * 384 + (th_x & 7) * 49 + (th_x * 7 + part32 * 16 + (th_x >> 5) * 16 + 7) % 48 - (th_x >> 5) * 768 + 2297);
      multiply_matrices_bf16(scores + 24, left, right);
      multiply_matrices_bf16(scores + 28, left, right + 2);
    }
    if ((th_x >> 2) + (th_x >> 5) * 8 + (bl_x % 10) * 64 <= 599) {
      const s32 j35 = (th_x >> 2) + (th_x >> 5) * 8 + (bl_x % 10) * 64;
      #pragma unroll 8
      for (s32 block36 = 0; block36 < 8; block36++) {
        #pragma unroll 2
        for (s32 lane37 = 0; lane37 < 2; lane37++) {
          const f32 v38 = scores[block36 * 4 + lane37];
          if (step14 * 64 + block36 * 8 + lane37 + (th_x & 3) * 2 <= 199) {
            const s32 j39 = step14 * 64 + block36 * 8 + lane37 + (th_x & 3) * 2;
            const s32 v40 = j35 / 3;
            const s32 v41 = j39;
            const bool v42 = v40 >= v41;
            const f32 v43 = v38 * 0.15f;
            const f32 v44 = v42 ? v43 : (-inf_f32);
            scores[block36 * 4 + lane37] = v44;
          } else {
            scores[block36 * 4 + lane37] = (-inf_f32);
          }
        }
      }
    } else {
      #pragma unroll 8
      for (s32 block45 = 0; block45 < 8; block45++) {
        scores[block45 * 4] = (-inf_f32);
        scores[block45 * 4 + 1] = (-inf_f32);
      }
    }
    if ((th_x >> 2) + (th_x >> 5) * 8 + (bl_x % 10) * 64 + 8 <= 599) {
      const s32 j47 = (th_x >> 2) + (th_x >> 5) * 8 + (bl_x % 10) * 64 + 8;
      #pragma unroll 8
      for (s32 block48 = 0; block48 < 8; block48++) {
        #pragma unroll 2
        for (s32 lane49 = 0; lane49 < 2; lane49++) {
          const f32 v50 = scores[block48 * 4 + lane49 + 2];
          if (step14 * 64 + block48 * 8 + lane49 + (th_x & 3) * 2 <= 199) {
            const s32 j51 = step14 * 64 + block48 * 8 + lane49 + (th_x & 3) * 2;
            const s32 v52 = j47 / 3;
            const s32 v53 = j51;
            const bool v54 = v52 >= v53;
            const f32 v55 = v50 * 0.15f;
            const f32 v56 = v54 ? v55 : (-inf_f32);
            scores[block48 * 4 + lane49 + 2] = v56;
          } else {
            scores[block48 * 4 + lane49 + 2] = (-inf_f32);
          }
        }
      }
    } else {
      #pragma unroll 8
      for (s32 block57 = 0; block57 < 8; block57++) {
        scores[block57 * 4 + 2] = (-inf_f32);
        scores[block57 * 4 + 3] = (-inf_f32);
      }
    }
    const f32 v59 = v9;
    const f32 v60 = v10;
    #pragma unroll 8
    for (s32 block61 = 0; block61 < 8; block61++) {
      const f32 v63_1 = scores[block61 * 4];
      v9 = maximum_f32(v9, v63_1);
      const f32 v63_2 = scores[block61 * 4 + 1];
      v9 = maximum_f32(v9, v63_2);
    }
    #pragma unroll 8
    for (s32 block64 = 0; block64 < 8; block64++) {
      const f32 v66_1 = scores[block64 * 4 + 2];
      v10 = maximum_f32(v10, v66_1);
      const f32 v66_2 = scores[block64 * 4 + 3];
      v10 = maximum_f32(v10, v66_2);
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
    const f32 v67 = is_finite_f32(v9) ? v9 : 0.0f;
    const f32 v68 = v59 == (-inf_f32) ? 1.0f : exp_f32((is_finite_f32(v59) ? v59 : 0.0f) - v67);
    v11 = v11 * v68;
    #pragma unroll 8
    for (s32 block69 = 0; block69 < 8; block69++) {
      const f32 v71_1 = scores[block69 * 4];
      const f32 v72_1 = exp_f32(v71_1 - v67);
      scores[block69 * 4] = v72_1;
      v11 = v11 + v72_1;
      const f32 v71_2 = scores[block69 * 4 + 1];
      const f32 v72_2 = exp_f32(v71_2 - v67);
      scores[block69 * 4 + 1] = v72_2;
      v11 = v11 + v72_2;
    }
    #pragma unroll 8
    for (s32 block73 = 0; block73 < 8; block73++) {
      const f32 v75_1 = sums[block73 * 4];
      sums[block73 * 4] = v75_1 * v68;
      const f32 v75_2 = sums[block73 * 4 + 1];
      sums[block73 * 4 + 1] = v75_2 * v68;
    }
    const f32 v76 = is_finite_f32(v10) ? v10 : 0.0f;
    const f32 v77 = v60 == (-inf_f32) ? 1.0f : exp_f32((is_finite_f32(v60) ? v60 : 0.0f) - v76);
    v12 = v12 * v77;
    #pragma unroll 8
    for (s32 block78 = 0; block78 < 8; block78++) {
      const f32 v80_1 = scores[block78 * 4 + 2];
      const f32 v81_1 = exp_f32(v80_1 - v76);
      scores[block78 * 4 + 2] = v81_1;
      v12 = v12 + v81_1;
      const f32 v80_2 = scores[block78 * 4 + 3];
      const f32 v81_2 = exp_f32(v80_2 - v76);
      scores[block78 * 4 + 3] = v81_2;
      v12 = v12 + v81_2;
    }
    #pragma unroll 8
    for (s32 block82 = 0; block82 < 8; block82++) {
      const f32 v84_1 = sums[block82 * 4 + 2];
      sums[block82 * 4 + 2] = v84_1 * v77;
      const f32 v84_2 = sums[block82 * 4 + 3];
      sums[block82 * 4 + 3] = v84_2 * v77;
    }
    #pragma unroll 4
    for (s32 part85 = 0; part85 < 4; part85++) {
      const f32 v87_1 = scores[part85 * 8];
      const f32 v88_1 = scores[part85 * 8 + 1];
      weights[part85 * 4] = (u32)((u32)encode_bf16(v87_1) | shl_u32((u32)encode_bf16(v88_1), 16u));
      const f32 v87_2 = scores[part85 * 8 + 2];
      const f32 v88_2 = scores[part85 * 8 + 3];
      weights[part85 * 4 + 1] = (u32)((u32)encode_bf16(v87_2) | shl_u32((u32)encode_bf16(v88_2), 16u));
      const f32 v87_3 = scores[part85 * 8 + 4];
      const f32 v88_3 = scores[part85 * 8 + 5];
      weights[part85 * 4 + 2] = (u32)((u32)encode_bf16(v87_3) | shl_u32((u32)encode_bf16(v88_3), 16u));
      const f32 v87_4 = scores[part85 * 8 + 6];
      const f32 v88_4 = scores[part85 * 8 + 7];
      weights[part85 * 4 + 3] = (u32)((u32)encode_bf16(v87_4) | shl_u32((u32)encode_bf16(v88_4), 16u));
      load_transposed(right, values + part85 * 1024 + (th_x & 15) * 64 + ((th_x + ((th_x >> 4) & 1)) & 7) * 8);
      multiply_matrices_bf16(sums, weights + part85 * 4, right);
      multiply_matrices_bf16(sums + 4, weights + part85 * 4, right + 2);
      load_transposed(right, values + part85 * 1024 + (th_x & 15) * 64 + ((th_x + ((th_x >> 4) & 1) + 2) & 7) * 8);
      multiply_matrices_bf16(sums + 8, weights + part85 * 4, right);
      multiply_matrices_bf16(sums + 12, weights + part85 * 4, right + 2);
      load_transposed(right, values + part85 * 1024 + (th_x & 15) * 64 + ((th_x + ((th_x >> 4) & 1) + 4) & 7) * 8);
      multiply_matrices_bf16(sums + 16, weights + part85 * 4, right);
      multiply_matrices_bf16(sums + 20, weights + part85 * 4, right + 2);
      load_transposed(right, values + part85 * 1024 + (th_x & 15) * 64 + ((th_x + ((th_x >> 4) & 1) + 6) & 7) * 8);
      multiply_matrices_bf16(sums + 24, weights + part85 * 4, right);
      multiply_matrices_bf16(sums + 28, weights + part85 * 4, right + 2);
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
  if ((th_x >> 2) + (th_x >> 5) * 8 + (bl_x % 10) * 64 <= 599) {
    __align__(16) u16 x11[2];
    const s32 j91 = (th_x >> 2) + (th_x >> 5) * 8 + (bl_x % 10) * 64;
    const f32 v92 = is_finite_f32(v9) ? v9 : 0.0f;
    const f32 v93 = maximum_f32((-inf_f32), v9);
    const f32 v94 = exp_f32(v92 - v93);
    const f32 v95 = 0.0f + v11 * v94;
    #pragma unroll 8
    for (s32 block96 = 0; block96 < 8; block96++) {
      const f32 v98_1 = sums[block96 * 4];
      const f32 v99_1 = v98_1 * v94;
      const f32 v100_1 = v99_1 / v95;
      const u16 v101_1 = encode_bf16(v100_1);
      x11[0] = v101_1;
      const f32 v98_2 = sums[block96 * 4 + 1];
      const f32 v99_2 = v98_2 * v94;
      const f32 v100_2 = v99_2 / v95;
      const u16 v101_3 = encode_bf16(v100_2);
      x11[1] = v101_3;
      store_vector_4(o0 + j91 * 64 + block96 * 8 + (bl_x / 10) * 192 + (bl_x / 20) * 76416 + (j91 / 3) * 192 + (th_x & 3) * 2, x11);
    }
  }
  if ((th_x >> 2) + (th_x >> 5) * 8 + (bl_x % 10) * 64 + 8 <= 599) {
    __align__(16) u16 x12[2];
    const s32 j102 = (th_x >> 2) + (th_x >> 5) * 8 + (bl_x % 10) * 64 + 8;
    const f32 v103 = is_finite_f32(v10) ? v10 : 0.0f;
    const f32 v104 = maximum_f32((-inf_f32), v10);
    const f32 v105 = exp_f32(v103 - v104);
    const f32 v106 = 0.0f + v12 * v105;
    #pragma unroll 8
    for (s32 block107 = 0; block107 < 8; block107++) {
      const f32 v109_1 = sums[block107 * 4 + 2];
      const f32 v110_1 = v109_1 * v105;
      const f32 v111_1 = v110_1 / v106;
      const u16 v112_1 = encode_bf16(v111_1);
      x12[0] = v112_1;
      const f32 v109_2 = sums[block107 * 4 + 3];
      const f32 v110_2 = v109_2 * v105;
      const f32 v111_2 = v110_2 / v106;
      const u16 v112_3 = encode_bf16(v111_2);
      x12[1] = v112_3;
      store_vector_4(o0 + j102 * 64 + block107 * 8 + (bl_x / 10) * 192 + (bl_x / 20) * 76416 + (j102 / 3) * 192 + (th_x & 3) * 2, x12);
    }
  }
}
