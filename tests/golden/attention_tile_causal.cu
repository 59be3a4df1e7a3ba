// heads: attention-tile emitter, 40 blocks of 128 threads

typedef unsigned int u32;
typedef unsigned short u16;
typedef float f32;
#define exp_f32 expf
#define inf_f32 (1.0f / 0.0f)
#define abs_f32 fabsf
typedef int s32;
typedef unsigned long long u64;
typedef struct __align__(16) { u16 v[8]; } u16x8;

static __device__ void copy_async_16(void *to, const void *from) {
  const u32 place = (u32)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               : : "r"(place), "l"(__cvta_generic_to_global(from)) : "memory");
}

static __device__ __attribute__((const)) u16 encode_bf16(f32 a) {
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

static __device__ __attribute__((const)) u32 packed_encode_bf16(f32 a, f32 b) {
  u32 x;
  asm("cvt.rn.bf16x2.f32 %0, %2, %1;" : "=r"(x) : "f"(a), "f"(b));
  return x;
}

static __device__ s32 quotient_s32(s32 x, s32 divisor, s32 shift) {
  const u32 reciprocal = (u32)((((u64)1 << (32 + shift)) + divisor - 1) / divisor);
  return (s32)((u64)(u32)x * reciprocal >> (32 + shift));
}

static __device__ s32 remainder_s32(s32 x, s32 divisor, s32 shift) { return x - quotient_s32(x, divisor, shift) * divisor; }

static __device__ u32 shl_u32(u32 a, u32 n) { return (u32)n < 32 ? (u32)((u32)a << (u32)n) : 0; }

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

extern "C" __global__ void __launch_bounds__(128) attention_tile_dot(const u16 *__restrict__ p0, const u16 *__restrict__ p1, const u16 *__restrict__ p2, u16 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ __align__(16) u16 queries[3072];
  __shared__ __align__(16) u16 keys[3072];
  __shared__ __align__(16) u16 values[4096];
  const s32 quotient_1 = quotient_s32(bl_x, 10, 0);
  const s32 quotient_2 = quotient_s32(bl_x, 20, 0);
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
  #pragma unroll 3
  for (s32 turn0 = 0; turn0 < 3; turn0++) {
    const s32 left_cell1 = th_x + turn0 * 2 + quotient_s32(th_x + turn0 * 128, 6, 0) * 7 - quotient_s32(th_x * 7 + turn0 * 140, 36, 0) * 6;
    if (quotient_s32(th_x + turn0 * 128, 6, 0) + (bl_x - quotient_1 * 10) * 64 <= 599) {
      const s32 j2 = quotient_s32(th_x + turn0 * 128, 6, 0) + (bl_x - quotient_1 * 10) * 64;
      if (remainder_s32(th_x + turn0 * 2, 6, 0) <= 4) {
        const s32 j3 = remainder_s32(th_x + turn0 * 2, 6, 0);
        copy_async_16(queries + left_cell1 * 8, p0 + (j2 * 40 + j3 * 8 + quotient_1 * 120 + quotient_2 * 47760 + quotient_s32(j2, 3, 0) * 120));
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
    #pragma unroll 3
    for (s32 turn15 = 0; turn15 < 3; turn15++) {
      const s32 right_cell16 = th_x + turn15 * 2 + quotient_s32(th_x + turn15 * 128, 6, 0) * 7 - quotient_s32(th_x * 7 + turn15 * 140, 36, 0) * 6;
      if (step14 * 64 + quotient_s32(th_x + turn15 * 128, 6, 0) <= 199) {
        const s32 j17 = step14 * 64 + quotient_s32(th_x + turn15 * 128, 6, 0);
        if (remainder_s32(th_x + turn15 * 2, 6, 0) <= 4) {
          const s32 j18 = remainder_s32(th_x + turn15 * 2, 6, 0);
          copy_async_16(keys + right_cell16 * 8, p1 + (j17 * 80 + j18 * 8 + quotient_1 * 40 + quotient_2 * 15920));
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
        copy_async_16(values + right_cell25 * 8, p2 + (j26 * 128 + quotient_1 * 64 + quotient_2 * 25472 + (th_x & 7) * 8));
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
    #pragma unroll 3
    for (s32 part32 = 0; part32 < 3; part32++) {
      const s32 left_cell33 = (th_x >> 5) * 96 + (th_x & 15) * 6 + remainder_s32(th_x + part32 * 2 + (th_x >> 4) * 3 + (th_x >> 5) * 2, 6, 0);
      load_matrices(left, queries + left_cell33 * 8);
      #pragma unroll 4
      for (s32 pair34 = 0; pair34 < 4; pair34++) {
        const s32 right_cell35 = pair34 * 96 + (th_x & 7) * 6 + ((th_x >> 4) & 1) * 48 + remainder_s32(th_x + part32 * 2 + (th_x >> 5) * 2 - pair34 * 2 - (th_x >> 3) + 6, 6, 0);
        load_matrices(right, keys + right_cell35 * 8);
        multiply_matrices_bf16(scores + pair34 * 8, left, right);
        multiply_matrices_bf16(scores + (pair34 * 8 + 4), left, right + 2);
      }
    }
    if ((th_x >> 2) + (th_x >> 5) * 8 + (bl_x - quotient_1 * 10) * 64 <= 599) {
      const s32 j37 = (th_x >> 2) + (th_x >> 5) * 8 + (bl_x - quotient_1 * 10) * 64;
      #pragma unroll 8
      for (s32 block38 = 0; block38 < 8; block38++) {
        #pragma unroll 2
        for (s32 lane39 = 0; lane39 < 2; lane39++) {
          const f32 v40 = scores[block38 * 4 + lane39];
          if (step14 * 64 + block38 * 8 + lane39 + (th_x & 3) * 2 <= 199) {
            const s32 j41 = step14 * 64 + block38 * 8 + lane39 + (th_x & 3) * 2;
            const s32 v42 = quotient_s32(j37, 3, 0);
            const s32 v43 = j41;
            const bool v44 = v42 >= v43;
            const f32 v45 = v40 * 0.15f;
            const f32 v46 = v44 ? v45 : (-inf_f32);
            scores[block38 * 4 + lane39] = v46;
          } else {
            scores[block38 * 4 + lane39] = (-inf_f32);
          }
        }
      }
    } else {
      #pragma unroll 8
      for (s32 block47 = 0; block47 < 8; block47++) {
        scores[block47 * 4] = (-inf_f32);
        scores[block47 * 4 + 1] = (-inf_f32);
      }
    }
    if ((th_x >> 2) + (th_x >> 5) * 8 + (bl_x - quotient_1 * 10) * 64 + 8 <= 599) {
      const s32 j49 = (th_x >> 2) + (th_x >> 5) * 8 + (bl_x - quotient_1 * 10) * 64 + 8;
      #pragma unroll 8
      for (s32 block50 = 0; block50 < 8; block50++) {
        #pragma unroll 2
        for (s32 lane51 = 0; lane51 < 2; lane51++) {
          const f32 v52 = scores[block50 * 4 + lane51 + 2];
          if (step14 * 64 + block50 * 8 + lane51 + (th_x & 3) * 2 <= 199) {
            const s32 j53 = step14 * 64 + block50 * 8 + lane51 + (th_x & 3) * 2;
            const s32 v54 = quotient_s32(j49, 3, 0);
            const s32 v55 = j53;
            const bool v56 = v54 >= v55;
            const f32 v57 = v52 * 0.15f;
            const f32 v58 = v56 ? v57 : (-inf_f32);
            scores[block50 * 4 + lane51 + 2] = v58;
          } else {
            scores[block50 * 4 + lane51 + 2] = (-inf_f32);
          }
        }
      }
    } else {
      #pragma unroll 8
      for (s32 block59 = 0; block59 < 8; block59++) {
        scores[block59 * 4 + 2] = (-inf_f32);
        scores[block59 * 4 + 3] = (-inf_f32);
      }
    }
    const f32 v61 = v9;
    const f32 v62 = v10;
    #pragma unroll 8
    for (s32 block63 = 0; block63 < 8; block63++) {
      const f32 v65_1 = scores[block63 * 4];
      v9 = maximum_f32(v9, v65_1);
      const f32 v65_2 = scores[block63 * 4 + 1];
      v9 = maximum_f32(v9, v65_2);
    }
    #pragma unroll 8
    for (s32 block66 = 0; block66 < 8; block66++) {
      const f32 v68_1 = scores[block66 * 4 + 2];
      v10 = maximum_f32(v10, v68_1);
      const f32 v68_2 = scores[block66 * 4 + 3];
      v10 = maximum_f32(v10, v68_2);
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
    const f32 v69 = is_finite_f32(v9) ? v9 : 0.0f;
    const f32 v70 = v61 == (-inf_f32) ? 1.0f : exp_f32((is_finite_f32(v61) ? v61 : 0.0f) - v69);
    v11 = v11 * v70;
    #pragma unroll 8
    for (s32 block71 = 0; block71 < 8; block71++) {
      const f32 v73_1 = scores[block71 * 4];
      const f32 v74_1 = exp_f32(v73_1 - v69);
      scores[block71 * 4] = v74_1;
      v11 = v11 + v74_1;
      const f32 v73_2 = scores[block71 * 4 + 1];
      const f32 v74_2 = exp_f32(v73_2 - v69);
      scores[block71 * 4 + 1] = v74_2;
      v11 = v11 + v74_2;
    }
    #pragma unroll 8
    for (s32 block75 = 0; block75 < 8; block75++) {
      const f32 v77_1 = sums[block75 * 4];
      sums[block75 * 4] = v77_1 * v70;
      const f32 v77_2 = sums[block75 * 4 + 1];
      sums[block75 * 4 + 1] = v77_2 * v70;
    }
    const f32 v78 = is_finite_f32(v10) ? v10 : 0.0f;
    const f32 v79 = v62 == (-inf_f32) ? 1.0f : exp_f32((is_finite_f32(v62) ? v62 : 0.0f) - v78);
    v12 = v12 * v79;
    #pragma unroll 8
    for (s32 block80 = 0; block80 < 8; block80++) {
      const f32 v82_1 = scores[block80 * 4 + 2];
      const f32 v83_1 = exp_f32(v82_1 - v78);
      scores[block80 * 4 + 2] = v83_1;
      v12 = v12 + v83_1;
      const f32 v82_2 = scores[block80 * 4 + 3];
      const f32 v83_2 = exp_f32(v82_2 - v78);
      scores[block80 * 4 + 3] = v83_2;
      v12 = v12 + v83_2;
    }
    #pragma unroll 8
    for (s32 block84 = 0; block84 < 8; block84++) {
      const f32 v86_1 = sums[block84 * 4 + 2];
      sums[block84 * 4 + 2] = v86_1 * v79;
      const f32 v86_2 = sums[block84 * 4 + 3];
      sums[block84 * 4 + 3] = v86_2 * v79;
    }
    #pragma unroll 4
    for (s32 part87 = 0; part87 < 4; part87++) {
      const f32 v89_1 = scores[part87 * 8];
      const f32 v90_1 = scores[part87 * 8 + 1];
      weights[part87 * 4] = (u32)((u32)encode_bf16(v89_1) | shl_u32((u32)encode_bf16(v90_1), 16u));
      const f32 v89_2 = scores[part87 * 8 + 2];
      const f32 v90_2 = scores[part87 * 8 + 3];
      weights[part87 * 4 + 1] = (u32)((u32)encode_bf16(v89_2) | shl_u32((u32)encode_bf16(v90_2), 16u));
      const f32 v89_3 = scores[part87 * 8 + 4];
      const f32 v90_3 = scores[part87 * 8 + 5];
      weights[part87 * 4 + 2] = (u32)((u32)encode_bf16(v89_3) | shl_u32((u32)encode_bf16(v90_3), 16u));
      const f32 v89_4 = scores[part87 * 8 + 6];
      const f32 v90_4 = scores[part87 * 8 + 7];
      weights[part87 * 4 + 3] = (u32)((u32)encode_bf16(v89_4) | shl_u32((u32)encode_bf16(v90_4), 16u));
      #pragma unroll 4
      for (s32 pair91 = 0; pair91 < 4; pair91++) {
        const s32 right_cell92 = part87 * 128 + (th_x & 15) * 8 + ((th_x + pair91 * 2 + ((th_x >> 4) & 1)) & 7);
        load_transposed(right, values + right_cell92 * 8);
        multiply_matrices_bf16(sums + pair91 * 8, weights + part87 * 4, right);
        multiply_matrices_bf16(sums + (pair91 * 8 + 4), weights + part87 * 4, right + 2);
      }
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
  if ((th_x >> 2) + (th_x >> 5) * 8 + (bl_x - quotient_1 * 10) * 64 <= 599) {
    __align__(16) u16 x11[2];
    const s32 j94 = (th_x >> 2) + (th_x >> 5) * 8 + (bl_x - quotient_1 * 10) * 64;
    const f32 v95 = is_finite_f32(v9) ? v9 : 0.0f;
    const f32 v96 = v9;
    const f32 v97 = exp_f32(v95 - v96);
    const f32 v98 = 0.0f + v11 * v97;
    #pragma unroll 8
    for (s32 block99 = 0; block99 < 8; block99++) {
      const f32 v101_3 = sums[block99 * 4];
      const f32 v101_4 = sums[block99 * 4 + 1];
      const f32 v102_3 = v101_3 * v97;
      const f32 v102_4 = v101_4 * v97;
      const f32 v103_3 = v102_3 / v98;
      const f32 v103_4 = v102_4 / v98;
      const u32 v104_1 = packed_encode_bf16(v103_3, v103_4);
      x11[0] = unpack_low(v104_1);
      x11[1] = unpack_high(v104_1);
      store_vector_4(o0 + (j94 * 64 + block99 * 8 + quotient_1 * 192 + quotient_2 * 76416 + quotient_s32(j94, 3, 0) * 192 + (th_x & 3) * 2), x11);
    }
  }
  if ((th_x >> 2) + (th_x >> 5) * 8 + (bl_x - quotient_1 * 10) * 64 + 8 <= 599) {
    __align__(16) u16 x12[2];
    const s32 j105 = (th_x >> 2) + (th_x >> 5) * 8 + (bl_x - quotient_1 * 10) * 64 + 8;
    const f32 v106 = is_finite_f32(v10) ? v10 : 0.0f;
    const f32 v107 = v10;
    const f32 v108 = exp_f32(v106 - v107);
    const f32 v109 = 0.0f + v12 * v108;
    #pragma unroll 8
    for (s32 block110 = 0; block110 < 8; block110++) {
      const f32 v112_3 = sums[block110 * 4 + 2];
      const f32 v112_4 = sums[block110 * 4 + 3];
      const f32 v113_3 = v112_3 * v108;
      const f32 v113_4 = v112_4 * v108;
      const f32 v114_3 = v113_3 / v109;
      const f32 v114_4 = v113_4 / v109;
      const u32 v115_1 = packed_encode_bf16(v114_3, v114_4);
      x12[0] = unpack_low(v115_1);
      x12[1] = unpack_high(v115_1);
      store_vector_4(o0 + (j105 * 64 + block110 * 8 + quotient_1 * 192 + quotient_2 * 76416 + quotient_s32(j105, 3, 0) * 192 + (th_x & 3) * 2), x12);
    }
  }
}
