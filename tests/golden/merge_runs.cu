// fused: merge emitter, 157 blocks of 128 threads

typedef int s32;
typedef float f32;
typedef unsigned int u32;
typedef unsigned long long u64;

static __device__ s32 clamp_s32(s32 low, s32 x, s32 high) { s32 y = x < low ? low : x; return y > high ? high : y; }

static __device__ s32 maximum_s32(s32 a, s32 b) { return a > b ? a : b; }

static __device__ s32 minimum_s32(s32 a, s32 b) { return a < b ? a : b; }

static __device__ s32 quotient_s32(s32 x, s32 divisor, s32 shift) {
  const u32 reciprocal = (u32)((((u64)1 << (32 + shift)) + divisor - 1) / divisor);
  return (s32)((u64)(u32)x * reciprocal >> (32 + shift));
}

static __device__ s32 remainder_s32(s32 x, s32 divisor, s32 shift) { return x - quotient_s32(x, divisor, shift) * divisor; }

static __device__ s32 shr_logical_s32(s32 a, s32 n) { return (u32)n < 32 ? (s32)((u32)a >> (u32)n) : 0; }

static __device__ void store_vector_8(void *to, const void *from) {
  u32 words[2];
  memcpy(words, from, 8);
  asm volatile("st.global.v2.b32 [%0], {%1, %2};"
               : : "l"(__cvta_generic_to_global(to)), "r"(words[0]), "r"(words[1]) : "memory");
}

extern "C" __global__ void __launch_bounds__(128) merge_custom_call(const f32 *__restrict__ p0, s32 *__restrict__ o0, f32 *__restrict__ o1) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  if (th_x + bl_x * 128 <= 19999) {
    s32 own0[2];
    f32 own1[2];
    __align__(16) s32 x0[2];
    __align__(16) f32 x1[2];
    const s32 i = th_x + bl_x * 128;
    const s32 v0 = (remainder_s32(i, 10000, 0) >> 6) * 128;
    const s32 v1 = minimum_s32((remainder_s32(i, 10000, 0) >> 6) * 4, 623) * 32 + 64;
    const s32 v2 = minimum_s32((remainder_s32(i, 10000, 0) >> 6) * 4, 621) * 32 + 128;
    const s32 v3 = remainder_s32(i, 10000, 0) * 2;
    s32 v4 = maximum_s32(0, (s32)((u32)(s32)((u32)v3 - (u32)v0) - (u32)(s32)((u32)v2 - (u32)v1)));
    s32 v5 = minimum_s32((s32)((u32)v3 - (u32)v0), (s32)((u32)v1 - (u32)v0));
    const s32 v6 = (s32)((u32)(s32)((u32)v1 + (u32)(s32)((u32)v3 - (u32)v0)) - (u32)1);
    for (s32 step7 = 0; step7 < 7; step7++) {
      if (v4 >= v5) break;
      const s32 v8 = shr_logical_s32((s32)((u32)v4 + (u32)v5), 1);
      const s32 j9 = clamp_s32(0, (s32)((u32)v0 + (u32)v8), 19999);
      const s32 v10 = j9;
      const s32 v12 = (j9 & 63);
      const s32 v13 = j9 >> 1;
      const s32 v14 = (s32)(v10 & v13);
      const s32 v16 = (s32)(v14 & 64);
      const bool v17 = v16 == 64;
      const s32 v18 = v17 ? 63 : 0;
      const s32 v19 = (s32)((u32)v12 - (u32)v18);
      const s32 j21 = clamp_s32(0, (s32)((u32)v6 - (u32)v8), 19999);
      const s32 v22 = j21;
      const s32 v24 = (j21 & 63);
      const s32 v25 = j21 >> 1;
      const s32 v26 = (s32)(v22 & v25);
      const s32 v28 = (s32)(v26 & 64);
      const bool v29 = v28 == 64;
      const s32 v30 = v29 ? 63 : 0;
      const s32 v31 = (s32)((u32)v24 - (u32)v30);
      const bool v33 = v31 < v19;
      const s32 v34 = (s32)((u32)v8 + (u32)1);
      const s32 v35 = v33 ? v4 : v34;
      const s32 v36 = v33 ? v8 : v5;
      v4 = v35;
      v5 = v36;
    }
    const s32 v37 = (s32)((u32)v0 + (u32)v4);
    s32 v38 = v37;
    const s32 v39 = (s32)((u32)v1 + (u32)(s32)((u32)(s32)((u32)v3 - (u32)v0) - (u32)v4));
    s32 v40 = v39;
    const s32 j41 = clamp_s32(0, v38, 19999);
    const s32 v42 = j41;
    const s32 v44 = (j41 & 63);
    const s32 v45 = j41 >> 1;
    const s32 v46 = (s32)(v42 & v45);
    const s32 v48 = (s32)(v46 & 64);
    const bool v49 = v48 == 64;
    const s32 v50 = v49 ? 63 : 0;
    const s32 v51 = (s32)((u32)v44 - (u32)v50);
    const f32 v52 = p0[j41 + quotient_s32(i, 10000, 0) * 20000];
    s32 v53 = v51;
    f32 v54 = v52;
    const s32 j55 = clamp_s32(0, v40, 19999);
    const s32 v56 = j55;
    const s32 v58 = (j55 & 63);
    const s32 v59 = j55 >> 1;
    const s32 v60 = (s32)(v56 & v59);
    const s32 v62 = (s32)(v60 & 64);
    const bool v63 = v62 == 64;
    const s32 v64 = v63 ? 63 : 0;
    const s32 v65 = (s32)((u32)v58 - (u32)v64);
    const f32 v66 = p0[j55 + quotient_s32(i, 10000, 0) * 20000];
    s32 v67 = v65;
    f32 v68 = v66;
    #pragma unroll 2
    for (s32 lane69 = 0; lane69 < 2; lane69++) {
      const s32 v70 = v67;
      const s32 v71 = v53;
      const bool v72 = v70 < v71;
      const bool v73 = ((v40 < v2) & (!(v38 < v1) | v72));
      const s32 v74 = v73 ? v67 : v53;
      const f32 v75 = v73 ? v68 : v54;
      own0[lane69] = v74;
      own1[lane69] = v75;
      const s32 v76 = (s32)((u32)v38 + (u32)1);
      const s32 v77 = (s32)((u32)v40 + (u32)1);
      v38 = v73 ? v38 : v76;
      v40 = v73 ? v77 : v40;
      const s32 v78 = v73 ? v77 : v76;
      const s32 j79 = clamp_s32(0, v78, 19999);
      const s32 v80 = j79;
      const s32 v82 = (j79 & 63);
      const s32 v83 = j79 >> 1;
      const s32 v84 = (s32)(v80 & v83);
      const s32 v86 = (s32)(v84 & 64);
      const bool v87 = v86 == 64;
      const s32 v88 = v87 ? 63 : 0;
      const s32 v89 = (s32)((u32)v82 - (u32)v88);
      const f32 v90 = p0[j79 + quotient_s32(i, 10000, 0) * 20000];
      const s32 v91 = v73 ? v53 : v89;
      const f32 v92 = v73 ? v54 : v90;
      v53 = v91;
      v54 = v92;
      const s32 v93 = v73 ? v89 : v67;
      const f32 v94 = v73 ? v90 : v68;
      v67 = v93;
      v68 = v94;
    }
    const s32 v96_1 = own0[0];
    const f32 v97_1 = own1[0];
    x0[0] = v96_1;
    x1[0] = v97_1;
    const s32 v96_2 = own0[1];
    const f32 v97_2 = own1[1];
    x0[1] = v96_2;
    x1[1] = v97_2;
    store_vector_8(o0 + i * 2, x0);
    store_vector_8(o1 + i * 2, x1);
  }
}
