// heads: attention emitter, 40 blocks of 240 threads

#define exp_f32 expf
typedef float f32;
#define inf_f32 (1.0f / 0.0f)
#define abs_f32 fabsf
#define mul_add_f32 fmaf
typedef int s32;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef struct __align__(16) { f32 v[4]; } f32x4;

static __device__ bool is_finite_f32(f32 x) { return abs_f32(x) < inf_f32; }

static __device__ __attribute__((const)) f32 maximum_f32(f32 a, f32 b) {
  f32 x;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(x) : "f"(a), "f"(b));
  return x;
}

static __device__ s32 quotient_s32(s32 x, s32 divisor, s32 shift) {
  const u32 reciprocal = (u32)((((u64)1 << (32 + shift)) + divisor - 1) / divisor);
  return (s32)((u64)(u32)x * reciprocal >> (32 + shift));
}

static __device__ s32 remainder_s32(s32 x, s32 divisor, s32 shift) { return x - quotient_s32(x, divisor, shift) * divisor; }

static __device__ void store_vector_16(void *to, const void *from) {
  u32 words[4];
  memcpy(words, from, 16);
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
               : : "l"(__cvta_generic_to_global(to)), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
}

extern "C" __global__ void __launch_bounds__(240) attention_dot(const f32 *__restrict__ p0, const f32 *__restrict__ p1, const f32 *__restrict__ p2, f32 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ __align__(16) f32 queries[2400];
  __shared__ __align__(16) f32 keys[2080];
  __shared__ __align__(16) f32 values[3328];
  __shared__ __align__(16) f32 logits[3120];
  __shared__ f32 largest[60];
  __shared__ __align__(16) f32 total[60];
  __shared__ __align__(16) f32 factor[60];
  const s32 quotient_1 = quotient_s32(bl_x, 10, 0);
  const s32 quotient_2 = quotient_s32(bl_x, 20, 0);
  f32 scores[16];
  f32 sums[16];
  f32 left[4];
  f32 right[4];
  __align__(16) f32 x0[8];
  __align__(16) f32 x1[8];
  __align__(16) f32 x4[4];
  __align__(16) f32 x5[4];
  __align__(16) f32 x6[4];
  __align__(16) f32 x7[4];
  __align__(16) f32 x8[4];
  __align__(16) f32 x9[4];
  __align__(16) f32 x10[4];
  __align__(16) f32 x11[4];
  __align__(16) f32 x12[4];
  __align__(16) f32 x13[4];
  __align__(16) f32 x14[4];
  __align__(16) f32 x15[4];
  __align__(16) f32 x16[4];
  __align__(16) f32 x17[4];
  __align__(16) f32 x18[4];
  __align__(16) f32 x19[4];
  __align__(16) f32 x20[4];
  const s32 j1_2 = th_x;
  const s32 quotient_3 = quotient_s32(j1_2, 15, 0);
  const s32 left_2 = j1_2;
  *(f32x4 *)(x0) = *(const f32x4 *)(p0 + (bl_x * 4800 + j1_2 * 8 + quotient_2 * 47760 + quotient_3 * 120 - quotient_1 * 47880));
  *(f32x4 *)(x0 + 4) = *(const f32x4 *)(p0 + (bl_x * 4800 + j1_2 * 8 + quotient_2 * 47760 + quotient_3 * 120 - quotient_1 * 47880 + 4));
  #pragma unroll 8
  for (s32 vector_6 = 0; vector_6 < 8; vector_6++) {
    const f32 v4_2 = x0[vector_6];
    x1[vector_6] = v4_2;
  }
  *(f32x4 *)(queries + left_2 * 8) = *(const f32x4 *)(x1);
  *(f32x4 *)(queries + (left_2 * 8 + 4)) = *(const f32x4 *)(x1 + 4);
  if (th_x + 240 <= 299) {
    __align__(16) f32 x2[8];
    __align__(16) f32 x3[8];
    const s32 j1_1 = th_x + 240;
    const s32 left_1 = j1_1;
    *(f32x4 *)(x2) = *(const f32x4 *)(p0 + (bl_x * 4800 + j1_1 * 8 + quotient_2 * 47760 + quotient_s32(j1_1, 15, 0) * 120 - quotient_1 * 47880));
    *(f32x4 *)(x2 + 4) = *(const f32x4 *)(p0 + (bl_x * 4800 + j1_1 * 8 + quotient_2 * 47760 + quotient_s32(j1_1, 15, 0) * 120 - quotient_1 * 47880 + 4));
    #pragma unroll 8
    for (s32 vector_5 = 0; vector_5 < 8; vector_5++) {
      const f32 v4_1 = x2[vector_5];
      x3[vector_5] = v4_1;
    }
    *(f32x4 *)(queries + left_1 * 8) = *(const f32x4 *)(x3);
    *(f32x4 *)(queries + (left_1 * 8 + 4)) = *(const f32x4 *)(x3 + 4);
  }
  if (th_x <= 59) {
    const s32 j5 = th_x;
    largest[j5] = (-inf_f32);
    total[j5] = 0.0f;
  }
  #pragma unroll 16
  for (s32 register6 = 0; register6 < 16; register6++) {
    sums[register6] = 0.0f;
  }
  for (s32 step7 = 0; step7 < 4; step7++) {
    #pragma unroll 2
    for (s32 turn8 = 0; turn8 < 2; turn8++) {
      const s32 j9 = th_x + turn8 * 240;
      if (step7 * 52 + quotient_s32(j9, 10, 0) <= 199) {
        const s32 j10 = step7 * 52 + quotient_s32(j9, 10, 0);
        *(f32x4 *)(x4) = *(const f32x4 *)(p1 + (j10 * 80 + quotient_1 * 40 + quotient_2 * 15920 + remainder_s32(j9, 10, 0) * 4));
        const f32 v12_2 = x4[0];
        keys[remainder_s32(j9, 10, 0) * 208 + remainder_s32(-quotient_s32(j9 * 121, 10, 0) * 3 + 18876, 52, 0)] = v12_2;
        const f32 v12_3 = x4[1];
        keys[remainder_s32(j9, 10, 0) * 208 + remainder_s32(-quotient_s32(j9 * 121, 10, 0) * 3 + 4 + 18876, 52, 0) + 52] = v12_3;
        const f32 v12_4 = x4[2];
        keys[remainder_s32(j9, 10, 0) * 208 + remainder_s32(-quotient_s32(j9 * 121, 10, 0) * 3 + 8 + 18876, 52, 0) + 104] = v12_4;
        const f32 v12_5 = x4[3];
        keys[remainder_s32(j9, 10, 0) * 208 + remainder_s32(-quotient_s32(j9 * 121, 10, 0) * 3 + 12 + 18876, 52, 0) + 156] = v12_5;
      } else {
        keys[remainder_s32(j9, 10, 0) * 208 + remainder_s32(-quotient_s32(j9 * 121, 10, 0) * 3 + 18876, 52, 0)] = 0.0f;
        keys[remainder_s32(j9, 10, 0) * 208 + remainder_s32(-quotient_s32(j9 * 121, 10, 0) * 3 + 4 + 18876, 52, 0) + 52] = 0.0f;
        keys[remainder_s32(j9, 10, 0) * 208 + remainder_s32(-quotient_s32(j9 * 121, 10, 0) * 3 + 8 + 18876, 52, 0) + 104] = 0.0f;
        keys[remainder_s32(j9, 10, 0) * 208 + remainder_s32(-quotient_s32(j9 * 121, 10, 0) * 3 + 12 + 18876, 52, 0) + 156] = 0.0f;
      }
    }
    if (th_x + 480 <= 519) {
      const s32 j9_1 = th_x + 480;
      if (step7 * 52 + quotient_s32(j9_1, 10, 0) <= 199) {
        const s32 j10_1 = step7 * 52 + quotient_s32(j9_1, 10, 0);
        *(f32x4 *)(x5) = *(const f32x4 *)(p1 + (j10_1 * 80 + quotient_1 * 40 + quotient_2 * 15920 + remainder_s32(j9_1, 10, 0) * 4));
        const f32 v12_6 = x5[0];
        keys[remainder_s32(j9_1, 10, 0) * 208 + remainder_s32(-quotient_s32(j9_1 * 121, 10, 0) * 3 + 18876, 52, 0)] = v12_6;
        const f32 v12_7 = x5[1];
        keys[remainder_s32(j9_1, 10, 0) * 208 + remainder_s32(-quotient_s32(j9_1 * 121, 10, 0) * 3 + 4 + 18876, 52, 0) + 52] = v12_7;
        const f32 v12_8 = x5[2];
        keys[remainder_s32(j9_1, 10, 0) * 208 + remainder_s32(-quotient_s32(j9_1 * 121, 10, 0) * 3 + 8 + 18876, 52, 0) + 104] = v12_8;
        const f32 v12_9 = x5[3];
        keys[remainder_s32(j9_1, 10, 0) * 208 + remainder_s32(-quotient_s32(j9_1 * 121, 10, 0) * 3 + 12 + 18876, 52, 0) + 156] = v12_9;
      } else {
        keys[remainder_s32(j9_1, 10, 0) * 208 + remainder_s32(-quotient_s32(j9_1 * 121, 10, 0) * 3 + 18876, 52, 0)] = 0.0f;
        keys[remainder_s32(j9_1, 10, 0) * 208 + remainder_s32(-quotient_s32(j9_1 * 121, 10, 0) * 3 + 4 + 18876, 52, 0) + 52] = 0.0f;
        keys[remainder_s32(j9_1, 10, 0) * 208 + remainder_s32(-quotient_s32(j9_1 * 121, 10, 0) * 3 + 8 + 18876, 52, 0) + 104] = 0.0f;
        keys[remainder_s32(j9_1, 10, 0) * 208 + remainder_s32(-quotient_s32(j9_1 * 121, 10, 0) * 3 + 12 + 18876, 52, 0) + 156] = 0.0f;
      }
    }
    __syncthreads();
    if (th_x <= 194) {
      const s32 j14 = th_x;
      #pragma unroll 16
      for (s32 register15 = 0; register15 < 16; register15++) {
        scores[register15] = 0.0f;
      }
      for (s32 k16 = 0; k16 < 40; k16++) {
        const s32 cell17 = k16 * 13 + remainder_s32(j14 + k16, 13, 0);
        *(f32x4 *)(x6) = *(const f32x4 *)(keys + cell17 * 4);
        const f32 v19_1 = x6[0];
        right[0] = v19_1;
        const f32 v19_2 = x6[1];
        right[1] = v19_2;
        const f32 v19_3 = x6[2];
        right[2] = v19_3;
        const f32 v19_4 = x6[3];
        right[3] = v19_4;
        const f32 v21_1 = queries[k16 + quotient_s32(j14, 13, 0) * 160];
        left[0] = v21_1;
        const f32 v21_2 = queries[k16 + quotient_s32(j14, 13, 0) * 160 + 40];
        left[1] = v21_2;
        const f32 v21_3 = queries[k16 + quotient_s32(j14, 13, 0) * 160 + 80];
        left[2] = v21_3;
        const f32 v21_4 = queries[k16 + quotient_s32(j14, 13, 0) * 160 + 120];
        left[3] = v21_4;
        #pragma unroll 4
        for (s32 i22 = 0; i22 < 4; i22++) {
          const f32 v24 = left[i22];
          const f32 v25_1 = right[0];
          const f32 v26_1 = scores[i22 * 4];
          scores[i22 * 4] = mul_add_f32(v24, v25_1, v26_1);
          const f32 v25_2 = right[1];
          const f32 v26_2 = scores[i22 * 4 + 1];
          scores[i22 * 4 + 1] = mul_add_f32(v24, v25_2, v26_2);
          const f32 v25_3 = right[2];
          const f32 v26_3 = scores[i22 * 4 + 2];
          scores[i22 * 4 + 2] = mul_add_f32(v24, v25_3, v26_3);
          const f32 v25_4 = right[3];
          const f32 v26_4 = scores[i22 * 4 + 3];
          scores[i22 * 4 + 3] = mul_add_f32(v24, v25_4, v26_4);
        }
      }
      #pragma unroll 4
      for (s32 i27 = 0; i27 < 4; i27++) {
        #pragma unroll 4
        for (s32 vector_index28 = 0; vector_index28 < 4; vector_index28++) {
          if (step7 * 52 + vector_index28 + remainder_s32(j14, 13, 0) * 4 <= 199) {
            const s32 j29 = step7 * 52 + vector_index28 + remainder_s32(j14, 13, 0) * 4;
            const f32 v30 = scores[i27 * 4 + vector_index28];
            const s32 v31 = quotient_s32(i27 + quotient_s32(j14, 13, 0) * 4, 3, 0) + (bl_x - quotient_1 * 10) * 20;
            const s32 v32 = j29;
            const bool v33 = v31 >= v32;
            const f32 v34 = v30 * 0.15f;
            const f32 v35 = v33 ? v34 : (-inf_f32);
            logits[j14 * 4 + i27 * 52 + vector_index28 + quotient_s32(j14, 13, 0) * 156] = v35;
          } else {
            logits[j14 * 4 + i27 * 52 + vector_index28 + quotient_s32(j14, 13, 0) * 156] = (-inf_f32);
          }
        }
      }
    }
    #pragma unroll 3
    for (s32 turn36 = 0; turn36 < 3; turn36++) {
      const s32 j37 = th_x + turn36 * 240;
      const s32 right_cell38 = j37 + (j37 >> 4) * 17 - ((j37 * 17) >> 8) * 16;
      if (step7 * 52 + (j37 >> 4) <= 199) {
        const s32 j39 = step7 * 52 + (j37 >> 4);
        *(f32x4 *)(x7) = *(const f32x4 *)(p2 + (j39 * 128 + quotient_1 * 64 + quotient_2 * 25472 + (j37 & 15) * 4));
        const f32 v41_2 = x7[0];
        x8[0] = v41_2;
        const f32 v41_3 = x7[1];
        x8[1] = v41_3;
        const f32 v41_4 = x7[2];
        x8[2] = v41_4;
        const f32 v41_5 = x7[3];
        x8[3] = v41_5;
        *(f32x4 *)(values + right_cell38 * 4) = *(const f32x4 *)(x8);
      } else {
        x9[0] = 0.0f;
        x9[1] = 0.0f;
        x9[2] = 0.0f;
        x9[3] = 0.0f;
        *(f32x4 *)(values + right_cell38 * 4) = *(const f32x4 *)(x9);
      }
    }
    if (th_x + 720 <= 831) {
      const s32 j37_1 = th_x + 720;
      const s32 right_1 = j37_1 + (j37_1 >> 4) * 17 - ((j37_1 * 17) >> 8) * 16;
      if (step7 * 52 + (j37_1 >> 4) <= 199) {
        const s32 j39_1 = step7 * 52 + (j37_1 >> 4);
        *(f32x4 *)(x10) = *(const f32x4 *)(p2 + (j39_1 * 128 + quotient_1 * 64 + quotient_2 * 25472 + (j37_1 & 15) * 4));
        const f32 v41_6 = x10[0];
        x11[0] = v41_6;
        const f32 v41_7 = x10[1];
        x11[1] = v41_7;
        const f32 v41_8 = x10[2];
        x11[2] = v41_8;
        const f32 v41_9 = x10[3];
        x11[3] = v41_9;
        *(f32x4 *)(values + right_1 * 4) = *(const f32x4 *)(x11);
      } else {
        x12[0] = 0.0f;
        x12[1] = 0.0f;
        x12[2] = 0.0f;
        x12[3] = 0.0f;
        *(f32x4 *)(values + right_1 * 4) = *(const f32x4 *)(x12);
      }
    }
    __syncthreads();
    if (th_x <= 59) {
      const s32 j43 = th_x;
      const f32 v44 = largest[j43];
      scores[0] = (-inf_f32);
      scores[1] = (-inf_f32);
      scores[2] = (-inf_f32);
      scores[3] = (-inf_f32);
      #pragma unroll 13
      for (s32 panel46 = 0; panel46 < 13; panel46++) {
        *(f32x4 *)(x13) = *(const f32x4 *)(logits + (j43 * 52 + panel46 * 4));
        const f32 v48_1 = scores[0];
        const f32 v49_1 = x13[0];
        scores[0] = maximum_f32(v48_1, v49_1);
        const f32 v48_2 = scores[1];
        const f32 v49_2 = x13[1];
        scores[1] = maximum_f32(v48_2, v49_2);
        const f32 v48_3 = scores[2];
        const f32 v49_3 = x13[2];
        scores[2] = maximum_f32(v48_3, v49_3);
        const f32 v48_4 = scores[3];
        const f32 v49_4 = x13[3];
        scores[3] = maximum_f32(v48_4, v49_4);
      }
      const f32 v50 = scores[0];
      const f32 v51 = scores[1];
      const f32 v52 = scores[2];
      const f32 v53 = scores[3];
      const f32 v54 = maximum_f32(v50, v52);
      const f32 v55 = maximum_f32(v51, v53);
      const f32 v56 = maximum_f32(v54, v55);
      const f32 v57 = maximum_f32(v44, v56);
      const f32 v58 = is_finite_f32(v57) ? v57 : 0.0f;
      const f32 v59 = v44 == (-inf_f32) ? 1.0f : exp_f32((is_finite_f32(v44) ? v44 : 0.0f) - v58);
      const f32 v60 = total[j43];
      scores[0] = 0.0f;
      scores[1] = 0.0f;
      scores[2] = 0.0f;
      scores[3] = 0.0f;
      #pragma unroll 13
      for (s32 panel62 = 0; panel62 < 13; panel62++) {
        *(f32x4 *)(x14) = *(const f32x4 *)(logits + (j43 * 52 + panel62 * 4));
        #pragma unroll 4
        for (s32 vector_index63 = 0; vector_index63 < 4; vector_index63++) {
          const f32 v64 = scores[vector_index63];
          const f32 v65 = x14[vector_index63];
          const f32 v66 = exp_f32(v65 - v58);
          x15[vector_index63] = v66;
          scores[vector_index63] = v64 + v66;
        }
        *(f32x4 *)(logits + (j43 * 52 + panel62 * 4)) = *(const f32x4 *)(x15);
      }
      const f32 v67 = scores[0];
      const f32 v68 = scores[1];
      const f32 v69 = scores[2];
      const f32 v70 = scores[3];
      const f32 v71 = v67 + v69;
      const f32 v72 = v68 + v70;
      const f32 v73 = v71 + v72;
      const f32 v74 = v60 * v59 + v73;
      largest[j43] = v57;
      total[j43] = v74;
      factor[j43] = v59;
    }
    __syncthreads();
    *(f32x4 *)(x17) = *(const f32x4 *)(factor + (th_x >> 4) * 4);
    #pragma unroll 4
    for (s32 i75 = 0; i75 < 4; i75++) {
      const f32 v77 = x17[i75];
      const f32 v78_1 = sums[i75 * 4];
      sums[i75 * 4] = v78_1 * v77;
      const f32 v78_2 = sums[i75 * 4 + 1];
      sums[i75 * 4 + 1] = v78_2 * v77;
      const f32 v78_3 = sums[i75 * 4 + 2];
      sums[i75 * 4 + 2] = v78_3 * v77;
      const f32 v78_4 = sums[i75 * 4 + 3];
      sums[i75 * 4 + 3] = v78_4 * v77;
    }
    for (s32 k79 = 0; k79 < 52; k79++) {
      const s32 cell80 = k79 * 16 + ((th_x + k79) & 15);
      *(f32x4 *)(x16) = *(const f32x4 *)(values + cell80 * 4);
      const f32 v82_1 = x16[0];
      right[0] = v82_1;
      const f32 v82_2 = x16[1];
      right[1] = v82_2;
      const f32 v82_3 = x16[2];
      right[2] = v82_3;
      const f32 v82_4 = x16[3];
      right[3] = v82_4;
      const f32 v84_1 = logits[k79 + (th_x >> 4) * 208];
      left[0] = v84_1;
      const f32 v84_2 = logits[k79 + (th_x >> 4) * 208 + 52];
      left[1] = v84_2;
      const f32 v84_3 = logits[k79 + (th_x >> 4) * 208 + 104];
      left[2] = v84_3;
      const f32 v84_4 = logits[k79 + (th_x >> 4) * 208 + 156];
      left[3] = v84_4;
      #pragma unroll 4
      for (s32 i85 = 0; i85 < 4; i85++) {
        const f32 v87 = left[i85];
        const f32 v88_1 = right[0];
        const f32 v89_1 = sums[i85 * 4];
        sums[i85 * 4] = mul_add_f32(v87, v88_1, v89_1);
        const f32 v88_2 = right[1];
        const f32 v89_2 = sums[i85 * 4 + 1];
        sums[i85 * 4 + 1] = mul_add_f32(v87, v88_2, v89_2);
        const f32 v88_3 = right[2];
        const f32 v89_3 = sums[i85 * 4 + 2];
        sums[i85 * 4 + 2] = mul_add_f32(v87, v88_3, v89_3);
        const f32 v88_4 = right[3];
        const f32 v89_4 = sums[i85 * 4 + 3];
        sums[i85 * 4 + 3] = mul_add_f32(v87, v88_4, v89_4);
      }
    }
  }
  __syncthreads();
  if (th_x <= 59) {
    const s32 j90 = th_x;
    const f32 v91 = largest[j90];
    const f32 v92 = total[j90];
    const f32 v93 = is_finite_f32(v91) ? v91 : 0.0f;
    const f32 v95 = exp_f32(v93 - v91);
    const f32 v96 = 0.0f + v92 * v95;
    largest[j90] = v91;
    total[j90] = v96;
    factor[j90] = v95;
  }
  __syncthreads();
  *(f32x4 *)(x19) = *(const f32x4 *)(total + (th_x >> 4) * 4);
  *(f32x4 *)(x20) = *(const f32x4 *)(factor + (th_x >> 4) * 4);
  #pragma unroll 4
  for (s32 i97 = 0; i97 < 4; i97++) {
    const f32 v100 = x19[i97];
    const f32 v101 = x20[i97];
    #pragma unroll 4
    for (s32 vector_index98 = 0; vector_index98 < 4; vector_index98++) {
      const f32 v102 = sums[i97 * 4 + vector_index98];
      const f32 v103 = v102 * v101;
      const f32 v104 = v103 / v100;
      x18[vector_index98] = v104;
    }
    store_vector_16(o0 + (bl_x * 7680 + quotient_2 * 76416 + quotient_s32(i97 + (th_x >> 4) * 4, 3, 0) * 384 + remainder_s32(th_x + i97 * 16, 48, 0) * 4 - quotient_1 * 76608), x18);
  }
}
