// fused: sort emitter, 4 blocks of 26 threads

typedef int s32;
typedef float f32;
typedef double f64;
typedef unsigned int u32;
typedef unsigned long long u64;
#define bits_f32 __float_as_uint
typedef unsigned char u8;
typedef struct __align__(16) { f32 v[4]; } f32x4;
typedef struct __align__(16) { s32 v[4]; } s32x4;

static __device__ s32 clamp_s32(s32 low, s32 x, s32 high) { s32 y = x < low ? low : x; return y > high ? high : y; }

static __device__ s32 maximum_s32(s32 a, s32 b) { return a > b ? a : b; }

static __device__ s32 minimum_s32(s32 a, s32 b) { return a < b ? a : b; }

static __device__ s32 quotient_s32(s32 x, s32 divisor, s32 shift) {
  const u32 reciprocal = (u32)((((u64)1 << (32 + shift)) + divisor - 1) / divisor);
  return (s32)((u64)(u32)x * reciprocal >> (32 + shift));
}

static __device__ s32 shl_s32(s32 a, s32 n) { return (u32)n < 32 ? (s32)((u32)a << (u32)n) : 0; }

static __device__ s32 shr_logical_s32(s32 a, s32 n) { return (u32)n < 32 ? (s32)((u32)a >> (u32)n) : 0; }

static __device__ s32 total_order_f32(f32 x) {
  s32 bits = (s32)bits_f32(x);
  return bits < 0 ? 0x7fffffff ^ bits : bits;
}

extern "C" __global__ void __launch_bounds__(26) sort_sort(const f32 *__restrict__ p0, const f64 *__restrict__ p1, const u8 *__restrict__ p2, f32 *__restrict__ o0, f64 *__restrict__ o1, u8 *__restrict__ o2) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ __align__(16) f32 run0[208];
  __shared__ __align__(16) s32 run1[208];
  const s32 quotient_1 = quotient_s32(th_x, 13, 0);
  f32 own0[8];
  s32 own1[8];
  __align__(16) f32 x0[8];
  __align__(16) s32 x1[8];
  __align__(16) f32 x2[8];
  __align__(16) s32 x3[8];
  __align__(16) f32 x4[8];
  __align__(16) s32 x5[8];
  #pragma unroll 8
  for (s32 i0 = 0; i0 < 8; i0++) {
    const f32 v1 = p0[minimum_s32(th_x + (i0 & 3) * 26, 99) + minimum_s32(bl_x * 2 + (i0 >> 2), 6) * 100];
    const f32 v2 = (-v1);
    const s32 v3 = minimum_s32(th_x + (i0 & 3) * 26, 99);
    run0[th_x + i0 * 26] = v2;
    run1[th_x + i0 * 26] = v3;
  }
  __syncthreads();
  *(f32x4 *)(x2) = *(const f32x4 *)(run0 + th_x * 8);
  *(f32x4 *)(x2 + 4) = *(const f32x4 *)(run0 + (th_x * 8 + 4));
  *(s32x4 *)(x3) = *(const s32x4 *)(run1 + th_x * 8);
  *(s32x4 *)(x3 + 4) = *(const s32x4 *)(run1 + (th_x * 8 + 4));
  #pragma unroll 8
  for (s32 vector_index4 = 0; vector_index4 < 8; vector_index4++) {
    const f32 v5 = x2[vector_index4];
    const s32 v6 = x3[vector_index4];
    own0[vector_index4] = v5;
    own1[vector_index4] = v6;
  }
  for (s32 turn7 = 0; turn7 < 4; turn7++) {
    #pragma unroll 4
    for (s32 pair8 = 0; pair8 < 4; pair8++) {
      if (pair8 * 2 + (th_x - quotient_1 * 13) * 8 - 99 <= (-1)) {
        const f32 v9 = own0[pair8 * 2];
        const s32 v10 = own1[pair8 * 2];
        const f32 v11 = own0[pair8 * 2 + 1];
        const s32 v12 = own1[pair8 * 2 + 1];
        const bool v13 = total_order_f32(v11) < total_order_f32(v9);
        const f32 v14 = v13 ? v11 : v9;
        const s32 v15 = v13 ? v12 : v10;
        own0[pair8 * 2] = v14;
        own1[pair8 * 2] = v15;
        const f32 v16 = v13 ? v9 : v11;
        const s32 v17 = v13 ? v10 : v12;
        own0[pair8 * 2 + 1] = v16;
        own1[pair8 * 2 + 1] = v17;
      }
    }
    #pragma unroll 3
    for (s32 pair18 = 0; pair18 < 3; pair18++) {
      if (pair18 * 2 + (th_x - quotient_1 * 13) * 8 - 98 <= (-1)) {
        const f32 v19 = own0[pair18 * 2 + 1];
        const s32 v20 = own1[pair18 * 2 + 1];
        const f32 v21 = own0[pair18 * 2 + 2];
        const s32 v22 = own1[pair18 * 2 + 2];
        const bool v23 = total_order_f32(v21) < total_order_f32(v19);
        const f32 v24 = v23 ? v21 : v19;
        const s32 v25 = v23 ? v22 : v20;
        own0[pair18 * 2 + 1] = v24;
        own1[pair18 * 2 + 1] = v25;
        const f32 v26 = v23 ? v19 : v21;
        const s32 v27 = v23 ? v20 : v22;
        own0[pair18 * 2 + 2] = v26;
        own1[pair18 * 2 + 2] = v27;
      }
    }
  }
  __syncthreads();
  #pragma unroll 8
  for (s32 vector_index28 = 0; vector_index28 < 8; vector_index28++) {
    const f32 v29 = own0[vector_index28];
    const s32 v30 = own1[vector_index28];
    x4[vector_index28] = v29;
    x5[vector_index28] = v30;
  }
  *(f32x4 *)(run0 + th_x * 8) = *(const f32x4 *)(x4);
  *(f32x4 *)(run0 + (th_x * 8 + 4)) = *(const f32x4 *)(x4 + 4);
  *(s32x4 *)(run1 + th_x * 8) = *(const s32x4 *)(x5);
  *(s32x4 *)(run1 + (th_x * 8 + 4)) = *(const s32x4 *)(x5 + 4);
  __syncthreads();
  const s32 v34 = minimum_s32((th_x - quotient_1 * 13) * 8, 100);
  for (s32 turn31 = 0; turn31 < 4; turn31++) {
    const s32 v33 = shl_s32(8, turn31);
    const s32 v35 = (s32)(v34 & (s32)(0 - (u32)shl_s32(v33, 1)));
    const s32 v36 = minimum_s32((s32)((u32)v35 + (u32)v33), 100);
    const s32 v37 = minimum_s32((s32)((u32)v36 + (u32)v33), 100);
    s32 v39 = maximum_s32(0, (s32)((u32)(s32)((u32)v34 - (u32)v35) - (u32)(s32)((u32)v37 - (u32)v36)));
    s32 v40 = minimum_s32((s32)((u32)v34 - (u32)v35), (s32)((u32)v36 - (u32)v35));
    const s32 v41 = (s32)((u32)(s32)((u32)v36 + (u32)(s32)((u32)v34 - (u32)v35)) - (u32)1);
    for (s32 step42 = 0; step42 < 6; step42++) {
      if (v39 >= v40) break;
      const s32 v43 = shr_logical_s32((s32)((u32)v39 + (u32)v40), 1);
      const s32 j44 = clamp_s32(0, (s32)((u32)v35 + (u32)v43), 99);
      const f32 v45 = run0[j44 + quotient_1 * 104];
      const s32 j47 = clamp_s32(0, (s32)((u32)v41 - (u32)v43), 99);
      const f32 v48 = run0[j47 + quotient_1 * 104];
      const bool v50 = total_order_f32(v48) < total_order_f32(v45);
      const s32 v51 = (s32)((u32)v43 + (u32)1);
      const s32 v52 = v50 ? v39 : v51;
      const s32 v53 = v50 ? v43 : v40;
      v39 = v52;
      v40 = v53;
    }
    const s32 v54 = (s32)((u32)v35 + (u32)v39);
    s32 v55 = v54;
    const s32 v56 = (s32)((u32)v36 + (u32)(s32)((u32)(s32)((u32)v34 - (u32)v35) - (u32)v39));
    s32 v57 = v56;
    const s32 j58 = clamp_s32(0, v55, 99);
    const f32 v59 = run0[j58 + quotient_1 * 104];
    const s32 v60 = run1[j58 + quotient_1 * 104];
    f32 v61 = v59;
    s32 v62 = v60;
    const s32 j63 = clamp_s32(0, v57, 99);
    const f32 v64 = run0[j63 + quotient_1 * 104];
    const s32 v65 = run1[j63 + quotient_1 * 104];
    f32 v66 = v64;
    s32 v67 = v65;
    #pragma unroll 8
    for (s32 lane68 = 0; lane68 < 8; lane68++) {
      const f32 v69 = v66;
      const f32 v70 = v61;
      const bool v71 = total_order_f32(v69) < total_order_f32(v70);
      const bool v72 = ((v57 < v37) & (!(v55 < v36) | v71));
      const f32 v73 = v72 ? v66 : v61;
      const s32 v74 = v72 ? v67 : v62;
      own0[lane68] = v73;
      own1[lane68] = v74;
      const s32 v75 = (s32)((u32)v55 + (u32)1);
      const s32 v76 = (s32)((u32)v57 + (u32)1);
      v55 = v72 ? v55 : v75;
      v57 = v72 ? v76 : v57;
      const s32 v77 = v72 ? v76 : v75;
      const s32 j78 = clamp_s32(0, v77, 99);
      const f32 v79 = run0[j78 + quotient_1 * 104];
      const s32 v80 = run1[j78 + quotient_1 * 104];
      const f32 v81 = v72 ? v61 : v79;
      const s32 v82 = v72 ? v62 : v80;
      v61 = v81;
      v62 = v82;
      const f32 v83 = v72 ? v79 : v66;
      const s32 v84 = v72 ? v80 : v67;
      v66 = v83;
      v67 = v84;
    }
    __syncthreads();
    #pragma unroll 8
    for (s32 vector_index85 = 0; vector_index85 < 8; vector_index85++) {
      const f32 v86 = own0[vector_index85];
      const s32 v87 = own1[vector_index85];
      x0[vector_index85] = v86;
      x1[vector_index85] = v87;
    }
    *(f32x4 *)(run0 + th_x * 8) = *(const f32x4 *)(x0);
    *(f32x4 *)(run0 + (th_x * 8 + 4)) = *(const f32x4 *)(x0 + 4);
    *(s32x4 *)(run1 + th_x * 8) = *(const s32x4 *)(x1);
    *(s32x4 *)(run1 + (th_x * 8 + 4)) = *(const s32x4 *)(x1 + 4);
    __syncthreads();
  }
  #pragma unroll 8
  for (s32 i88 = 0; i88 < 8; i88++) {
    if (bl_x * 2 + (i88 >> 2) <= 6 && th_x + (i88 & 3) * 26 <= 99) {
      const s32 j89 = bl_x * 2 + (i88 >> 2);
      const s32 j90 = th_x + (i88 & 3) * 26;
      const f32 v91 = run0[th_x + i88 * 26];
      const s32 v92 = run1[th_x + i88 * 26];
      const s32 j93 = clamp_s32(0, v92, 99);
      const f64 v94 = p1[j89 * 100 + j93];
      const u8 v95 = p2[j89 * 100 + j93];
      const f32 v96 = (-v91);
      o0[j89 * 100 + j90] = v96;
      o1[j89 * 100 + j90] = v94;
      o2[j89 * 100 + j90] = v95;
    }
  }
}
