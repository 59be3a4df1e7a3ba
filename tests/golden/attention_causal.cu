// heads: attention emitter, 40 blocks of 240 threads

typedef float f32;
typedef unsigned short u16;
#define exp_f32 expf
typedef int s32;
#define inf_f32 (1.0f / 0.0f)
#define abs_f32 fabsf
#define mul_add_f32 fmaf
typedef unsigned int u32;
typedef struct __align__(16) { u16 v[8]; } u16x8;
typedef struct __align__(16) { f32 v[4]; } f32x4;
typedef struct __align__(8) { u16 v[4]; } u16x4;

static __device__ f32 decode_bf16(u16 bits) {
  f32 x;
  asm("mov.b32 %0, {%1, %2};" : "=f"(x) : "h"((u16)0), "h"(bits));
  return x;
}

static __device__ u16 encode_bf16(f32 a) {
  u16 x;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(x) : "f"(a));
  return x;
}

static __device__ s32 floor_mod_s32(s32 a, s32 b) {
  s32 m = b < 0 ? -b : b, r = a % m;
  return r < 0 ? r + m : r;
}

static __device__ bool is_finite_f32(f32 x) { return abs_f32(x) < inf_f32; }

static __device__ f32 maximum_f32(f32 a, f32 b) {
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

extern "C" __global__ void __launch_bounds__(240) attention_dot(const u16 *__restrict__ p0, const u16 *__restrict__ p1, const u16 *__restrict__ p2, u16 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ __align__(16) f32 queries[2400];
  __shared__ __align__(16) f32 keys[2080];
  __shared__ __align__(16) f32 values[3328];
  __shared__ __align__(16) f32 logits[3120];
  __shared__ f32 largest[60];
  __shared__ f32 total[60];
  __shared__ f32 factor[60];
  f32 scores[16];
  f32 sums[16];
  f32 left[4];
  f32 right[4];
  __align__(16) u16 x0[8];
  __align__(16) f32 x1[8];
  __align__(16) u16 x4[4];
  __align__(16) u16 x5[4];
  __align__(16) f32 x6[4];
  __align__(16) u16 x7[4];
  __align__(16) f32 x8[4];
  __align__(16) f32 x9[4];
  __align__(16) u16 x10[4];
  __align__(16) f32 x11[4];
  __align__(16) f32 x12[4];
  __align__(16) f32 x13[4];
  __align__(16) f32 x14[4];
  __align__(16) u16 x15[4];
  const s32 j1_2 = th_x;
  const s32 left_2 = j1_2;
  *(u16x8 *)(x0) = *(const u16x8 *)(p0 + bl_x * 4800 + j1_2 * 8 + (bl_x / 20) * 47760 + (j1_2 / 15) * 120 - (bl_x / 10) * 47880);
  #pragma unroll 8
  for (s32 vector_6 = 0; vector_6 < 8; vector_6++) {
    const u16 v4_2 = x0[vector_6];
    const f32 v5_2 = decode_bf16(v4_2);
    x1[vector_6] = v5_2;
  }
  *(f32x4 *)(queries + left_2 * 8) = *(const f32x4 *)(x1);
  *(f32x4 *)(queries + left_2 * 8 + 4) = *(const f32x4 *)(x1 + 4);
  if (th_x + 240 <= 299) {
    __align__(16) u16 x2[8];
    __align__(16) f32 x3[8];
    const s32 j1_1 = th_x + 240;
    const s32 left_1 = j1_1;
    *(u16x8 *)(x2) = *(const u16x8 *)(p0 + bl_x * 4800 + j1_1 * 8 + (bl_x / 20) * 47760 + (j1_1 / 15) * 120 - (bl_x / 10) * 47880);
    #pragma unroll 8
    for (s32 vector_5 = 0; vector_5 < 8; vector_5++) {
      const u16 v4_1 = x2[vector_5];
      const f32 v5_1 = decode_bf16(v4_1);
      x3[vector_5] = v5_1;
    }
    *(f32x4 *)(queries + left_1 * 8) = *(const f32x4 *)(x3);
    *(f32x4 *)(queries + left_1 * 8 + 4) = *(const f32x4 *)(x3 + 4);
  }
  if (th_x <= 59) {
    const s32 j6 = th_x;
    largest[j6] = (-inf_f32);
    total[j6] = 0.0f;
  }
  #pragma unroll 16
  for (s32 register7 = 0; register7 < 16; register7++) {
    sums[register7] = 0.0f;
  }
  for (s32 step8 = 0; step8 < 4; step8++) {
    for (s32 turn9 = 0; turn9 < 2; turn9++) {
      const s32 j10 = th_x + turn9 * 240;
      if (step8 * 52 + j10 / 10 <= 199) {
        const s32 j11 = step8 * 52 + j10 / 10;
        *(u16x4 *)(x4) = *(const u16x4 *)(p1 + j11 * 80 + (bl_x / 10) * 40 + (bl_x / 20) * 15920 + (j10 % 10) * 4);
        const u16 v13_2 = x4[0];
        const f32 v14_2 = decode_bf16(v13_2);
        keys[(j10 % 10) * 208 + floor_mod_s32(-((j10 * 121) / 10) * 3, 52)] = v14_2;
        const u16 v13_3 = x4[1];
        const f32 v14_3 = decode_bf16(v13_3);
        keys[(j10 % 10) * 208 + floor_mod_s32(-((j10 * 121) / 10) * 3 + 4, 52) + 52] = v14_3;
        const u16 v13_4 = x4[2];
        const f32 v14_4 = decode_bf16(v13_4);
        keys[(j10 % 10) * 208 + floor_mod_s32(-((j10 * 121) / 10) * 3 + 8, 52) + 104] = v14_4;
        const u16 v13_5 = x4[3];
        const f32 v14_5 = decode_bf16(v13_5);
        keys[(j10 % 10) * 208 + floor_mod_s32(-((j10 * 121) / 10) * 3 + 12, 52) + 156] = v14_5;
      } else {
        keys[(j10 % 10) * 208 + floor_mod_s32(-((j10 * 121) / 10) * 3, 52)] = 0.0f;
        keys[(j10 % 10) * 208 + floor_mod_s32(-((j10 * 121) / 10) * 3 + 4, 52) + 52] = 0.0f;
        keys[(j10 % 10) * 208 + floor_mod_s32(-((j10 * 121) / 10) * 3 + 8, 52) + 104] = 0.0f;
        keys[(j10 % 10) * 208 + floor_mod_s32(-((j10 * 121) / 10) * 3 + 12, 52) + 156] = 0.0f;
      }
    }
    if (th_x + 480 <= 519) {
      const s32 j10_1 = th_x + 480;
      if (step8 * 52 + j10_1 / 10 <= 199) {
        const s32 j11_1 = step8 * 52 + j10_1 / 10;
        *(u16x4 *)(x5) = *(const u16x4 *)(p1 + j11_1 * 80 + (bl_x / 10) * 40 + (bl_x / 20) * 15920 + (j10_1 % 10) * 4);
        const u16 v13_6 = x5[0];
        const f32 v14_6 = decode_bf16(v13_6);
        keys[(j10_1 % 10) * 208 + floor_mod_s32(-((j10_1 * 121) / 10) * 3, 52)] = v14_6;
        const u16 v13_7 = x5[1];
        const f32 v14_7 = decode_bf16(v13_7);
        keys[(j10_1 % 10) * 208 + floor_mod_s32(-((j10_1 * 121) / 10) * 3 + 4, 52) + 52] = v14_7;
        const u16 v13_8 = x5[2];
        const f32 v14_8 = decode_bf16(v13_8);
        keys[(j10_1 % 10) * 208 + floor_mod_s32(-((j10_1 * 121) / 10) * 3 + 8, 52) + 104] = v14_8;
        const u16 v13_9 = x5[3];
        const f32 v14_9 = decode_bf16(v13_9);
        keys[(j10_1 % 10) * 208 + floor_mod_s32(-((j10_1 * 121) / 10) * 3 + 12, 52) + 156] = v14_9;
      } else {
        keys[(j10_1 % 10) * 208 + floor_mod_s32(-((j10_1 * 121) / 10) * 3, 52)] = 0.0f;
        keys[(j10_1 % 10) * 208 + floor_mod_s32(-((j10_1 * 121) / 10) * 3 + 4, 52) + 52] = 0.0f;
        keys[(j10_1 % 10) * 208 + floor_mod_s32(-((j10_1 * 121) / 10) * 3 + 8, 52) + 104] = 0.0f;
        keys[(j10_1 % 10) * 208 + floor_mod_s32(-((j10_1 * 121) / 10) * 3 + 12, 52) + 156] = 0.0f;
      }
    }
    __syncthreads();
    if (th_x <= 194) {
      const s32 j16 = th_x;
      #pragma unroll 16
      for (s32 register17 = 0; register17 < 16; register17++) {
        scores[register17] = 0.0f;
      }
      for (s32 k18 = 0; k18 < 40; k18++) {
        const s32 cell19 = k18 * 13 + (j16 + k18) % 13;
        *(f32x4 *)(x6) = *(const f32x4 *)(keys + cell19 * 4);
        const f32 v21_1 = x6[0];
        right[0] = v21_1;
        const f32 v21_2 = x6[1];
        right[1] = v21_2;
        const f32 v21_3 = x6[2];
        right[2] = v21_3;
        const f32 v21_4 = x6[3];
        right[3] = v21_4;
        const f32 v23_1 = queries[k18 + (j16 / 13) * 160];
        left[0] = v23_1;
        const f32 v23_2 = queries[k18 + (j16 / 13) * 160 + 40];
        left[1] = v23_2;
        const f32 v23_3 = queries[k18 + (j16 / 13) * 160 + 80];
        left[2] = v23_3;
        const f32 v23_4 = queries[k18 + (j16 / 13) * 160 + 120];
        left[3] = v23_4;
        #pragma unroll 4
        for (s32 i24 = 0; i24 < 4; i24++) {
          const f32 v26 = left[i24];
          const f32 v27_1 = right[0];
          const f32 v28_1 = scores[i24 * 4];
          scores[i24 * 4] = mul_add_f32(v26, v27_1, v28_1);
          const f32 v27_2 = right[1];
          const f32 v28_2 = scores[i24 * 4 + 1];
          scores[i24 * 4 + 1] = mul_add_f32(v26, v27_2, v28_2);
          const f32 v27_3 = right[2];
          const f32 v28_3 = scores[i24 * 4 + 2];
          scores[i24 * 4 + 2] = mul_add_f32(v26, v27_3, v28_3);
          const f32 v27_4 = right[3];
          const f32 v28_4 = scores[i24 * 4 + 3];
          scores[i24 * 4 + 3] = mul_add_f32(v26, v27_4, v28_4);
        }
      }
      #pragma unroll 4
      for (s32 i29 = 0; i29 < 4; i29++) {
        #pragma unroll 4
        for (s32 vector_index30 = 0; vector_index30 < 4; vector_index30++) {
          if (step8 * 52 + vector_index30 + (j16 % 13) * 4 <= 199) {
            const s32 j31 = step8 * 52 + vector_index30 + (j16 % 13) * 4;
            const f32 v32 = scores[i29 * 4 + vector_index30];
            const s32 v33 = (i29 + (j16 / 13) * 4) / 3 + (bl_x % 10) * 20;
            const s32 v34 = j31;
            const bool v35 = v33 >= v34;
            const f32 v36 = v32 * 0.15f;
            const f32 v37 = v35 ? v36 : (-inf_f32);
            logits[j16 * 4 + i29 * 52 + vector_index30 + (j16 / 13) * 156] = v37;
          } else {
            logits[j16 * 4 + i29 * 52 + vector_index30 + (j16 / 13) * 156] = (-inf_f32);
          }
        }
      }
    }
    for (s32 turn38 = 0; turn38 < 3; turn38++) {
      const s32 j39 = th_x + turn38 * 240;
      const s32 right_cell40 = j39 + (j39 >> 4) * 17 - ((j39 * 17) >> 8) * 16;
      if (step8 * 52 + (j39 >> 4) <= 199) {
        const s32 j41 = step8 * 52 + (j39 >> 4);
        *(u16x4 *)(x7) = *(const u16x4 *)(p2 + j41 * 128 + (bl_x / 10) * 64 + (bl_x / 20) * 25472 + (j39 & 15) * 4);
        const u16 v43_2 = x7[0];
        const f32 v44_2 = decode_bf16(v43_2);
        x8[0] = v44_2;
        const u16 v43_3 = x7[1];
        const f32 v44_3 = decode_bf16(v43_3);
        x8[1] = v44_3;
        const u16 v43_4 = x7[2];
        const f32 v44_4 = decode_bf16(v43_4);
        x8[2] = v44_4;
        const u16 v43_5 = x7[3];
        const f32 v44_5 = decode_bf16(v43_5);
        x8[3] = v44_5;
        *(f32x4 *)(values + right_cell40 * 4) = *(const f32x4 *)(x8);
      } else {
        x9[0] = 0.0f;
        x9[1] = 0.0f;
        x9[2] = 0.0f;
        x9[3] = 0.0f;
        *(f32x4 *)(values + right_cell40 * 4) = *(const f32x4 *)(x9);
      }
    }
    if (th_x + 720 <= 831) {
      const s32 j39_1 = th_x + 720;
      const s32 right_1 = j39_1 + (j39_1 >> 4) * 17 - ((j39_1 * 17) >> 8) * 16;
      if (step8 * 52 + (j39_1 >> 4) <= 199) {
        const s32 j41_1 = step8 * 52 + (j39_1 >> 4);
        *(u16x4 *)(x10) = *(const u16x4 *)(p2 + j41_1 * 128 + (bl_x / 10) * 64 + (bl_x / 20) * 25472 + (j39_1 & 15) * 4);
        const u16 v43_6 = x10[0];
        const f32 v44_6 = decode_bf16(v43_6);
        x11[0] = v44_6;
        const u16 v43_7 = x10[1];
        const f32 v44_7 = decode_bf16(v43_7);
        x11[1] = v44_7;
        const u16 v43_8 = x10[2];
        const f32 v44_8 = decode_bf16(v43_8);
        x11[2] = v44_8;
        const u16 v43_9 = x10[3];
        const f32 v44_9 = decode_bf16(v43_9);
        x11[3] = v44_9;
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
      const s32 j46 = th_x;
      const f32 v47 = largest[j46];
      scores[0] = (-inf_f32);
      scores[1] = (-inf_f32);
      scores[2] = (-inf_f32);
      scores[3] = (-inf_f32);
      for (s32 panel49 = 0; panel49 < 13; panel49++) {
        *(f32x4 *)(x13) = *(const f32x4 *)(logits + j46 * 52 + panel49 * 4);
        const f32 v51_1 = scores[0];
        const f32 v52_1 = x13[0];
        scores[0] = maximum_f32(v51_1, v52_1);
        const f32 v51_2 = scores[1];
        const f32 v52_2 = x13[1];
        scores[1] = maximum_f32(v51_2, v52_2);
        const f32 v51_3 = scores[2];
        const f32 v52_3 = x13[2];
        scores[2] = maximum_f32(v51_3, v52_3);
        const f32 v51_4 = scores[3];
        const f32 v52_4 = x13[3];
        scores[3] = maximum_f32(v51_4, v52_4);
      }
      const f32 v53 = scores[0];
      const f32 v54 = scores[1];
      const f32 v55 = scores[2];
      const f32 v56 = scores[3];
      const f32 v57 = maximum_f32(v53, v55);
      const f32 v58 = maximum_f32(v54, v56);
      const f32 v59 = maximum_f32(v57, v58);
      const f32 v60 = maximum_f32(v47, v59);
      const f32 v61 = is_finite_f32(v60) ? v60 : 0.0f;
      const f32 v62 = v47 == (-inf_f32) ? 1.0f : exp_f32((is_finite_f32(v47) ? v47 : 0.0f) - v61);
      const f32 v63 = total[j46];
      scores[0] = 0.0f;
      scores[1] = 0.0f;
      scores[2] = 0.0f;
      scores[3] = 0.0f;
      for (s32 panel65 = 0; panel65 < 13; panel65++) {
        #pragma unroll 4
        for (s32 vector_index66 = 0; vector_index66 < 4; vector_index66++) {
          const f32 v67 = scores[vector_index66];
          const f32 v68 = logits[j46 * 52 + panel65 * 4 + vector_index66];
          const f32 v69 = exp_f32(v68 - v61);
          logits[j46 * 52 + panel65 * 4 + vector_index66] = v69;
          scores[vector_index66] = v67 + v69;
        }
      }
      const f32 v70 = scores[0];
      const f32 v71 = scores[1];
      const f32 v72 = scores[2];
      const f32 v73 = scores[3];
      const f32 v74 = v70 + v72;
      const f32 v75 = v71 + v73;
      const f32 v76 = v74 + v75;
      const f32 v77 = v63 * v62 + v76;
      largest[j46] = v60;
      total[j46] = v77;
      factor[j46] = v62;
    }
    __syncthreads();
    #pragma unroll 4
    for (s32 i78 = 0; i78 < 4; i78++) {
      const f32 v80 = factor[i78 + (th_x >> 4) * 4];
      const f32 v81_1 = sums[i78 * 4];
      sums[i78 * 4] = v81_1 * v80;
      const f32 v81_2 = sums[i78 * 4 + 1];
      sums[i78 * 4 + 1] = v81_2 * v80;
      const f32 v81_3 = sums[i78 * 4 + 2];
      sums[i78 * 4 + 2] = v81_3 * v80;
      const f32 v81_4 = sums[i78 * 4 + 3];
      sums[i78 * 4 + 3] = v81_4 * v80;
    }
    for (s32 k82 = 0; k82 < 52; k82++) {
      const s32 cell83 = k82 * 16 + ((th_x + k82) & 15);
      *(f32x4 *)(x14) = *(const f32x4 *)(values + cell83 * 4);
      const f32 v85_1 = x14[0];
      right[0] = v85_1;
      const f32 v85_2 = x14[1];
      right[1] = v85_2;
      const f32 v85_3 = x14[2];
      right[2] = v85_3;
      const f32 v85_4 = x14[3];
      right[3] = v85_4;
      const f32 v87_1 = logits[k82 + (th_x >> 4) * 208];
      left[0] = v87_1;
      const f32 v87_2 = logits[k82 + (th_x >> 4) * 208 + 52];
      left[1] = v87_2;
      const f32 v87_3 = logits[k82 + (th_x >> 4) * 208 + 104];
      left[2] = v87_3;
      const f32 v87_4 = logits[k82 + (th_x >> 4) * 208 + 156];
      left[3] = v87_4;
      #pragma unroll 4
      for (s32 i88 = 0; i88 < 4; i88++) {
        const f32 v90 = left[i88];
        const f32 v91_1 = right[0];
        const f32 v92_1 = sums[i88 * 4];
        sums[i88 * 4] = mul_add_f32(v90, v91_1, v92_1);
        const f32 v91_2 = right[1];
        const f32 v92_2 = sums[i88 * 4 + 1];
        sums[i88 * 4 + 1] = mul_add_f32(v90, v91_2, v92_2);
        const f32 v91_3 = right[2];
        const f32 v92_3 = sums[i88 * 4 + 2];
        sums[i88 * 4 + 2] = mul_add_f32(v90, v91_3, v92_3);
        const f32 v91_4 = right[3];
        const f32 v92_4 = sums[i88 * 4 + 3];
        sums[i88 * 4 + 3] = mul_add_f32(v90, v91_4, v92_4);
      }
    }
  }
  __syncthreads();
  if (th_x <= 59) {
    const s32 j93 = th_x;
    const f32 v94 = largest[j93];
    const f32 v95 = total[j93];
    const f32 v96 = is_finite_f32(v94) ? v94 : 0.0f;
    const f32 v97 = maximum_f32((-inf_f32), v94);
    const f32 v98 = exp_f32(v96 - v97);
    const f32 v99 = 0.0f + v95 * v98;
    largest[j93] = v97;
    total[j93] = v99;
    factor[j93] = v98;
  }
  __syncthreads();
  #pragma unroll 4
  for (s32 i100 = 0; i100 < 4; i100++) {
    const f32 v103 = total[i100 + (th_x >> 4) * 4];
    const f32 v104 = factor[i100 + (th_x >> 4) * 4];
    #pragma unroll 4
    for (s32 vector_index101 = 0; vector_index101 < 4; vector_index101++) {
      const f32 v105 = sums[i100 * 4 + vector_index101];
      const f32 v106 = v105 * v104;
      const f32 v107 = v106 / v103;
      const u16 v108_bits = encode_bf16(v107);
      x15[vector_index101] = v108_bits;
    }
    store_vector_8(o0 + bl_x * 7680 + (bl_x / 20) * 76416 + ((i100 + (th_x >> 4) * 4) / 3) * 384 + ((th_x + i100 * 16) % 48) * 4 - (bl_x / 10) * 76608, x15);
  }
}
