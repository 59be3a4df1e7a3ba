// layer: dot emitter, 128 blocks of 50 threads

typedef float f32;
typedef unsigned int u32;
typedef int s32;
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define mul_add_f32(a, b, c) __builtin_fmaf(a, b, c)
#else
#define mul_add_f32(a, b, c) ((a) * (b) + (c))
#endif
typedef long long s64;

static inline u32 bits_f32(f32 x) { u32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline f32 float_f32(u32 x) { f32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline f32 choose_f32(u32 condition, f32 a, f32 b) {
  u32 mask = 0 - condition;
  return float_f32((bits_f32(a) & mask) | (bits_f32(b) & ~mask));
}

static inline f32 maximum_f32(f32 a, f32 b) {
  f32 equal = float_f32(bits_f32(a) & bits_f32(b));
  u32 first = (a > b) | (a != a);
  f32 other = __builtin_constant_p(a) | __builtin_constant_p(b) ? choose_f32(first, a, b) : first ? a : b;
  return choose_f32(a == b, equal, other);
}

static inline s32 minimum_s32(s32 a, s32 b) { return a < b ? a : b; }

static void dot_dot_blocks(const f32 *restrict p0, const f32 *restrict p1, const f32 *restrict p2, f32 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 128;
    __attribute__((aligned(64))) f32 v0_of[50];
    __attribute__((aligned(64))) f32 v1_of[50];
    __attribute__((aligned(64))) f32 v2_of[50];
    __attribute__((aligned(64))) f32 v3_of[50];
    __attribute__((aligned(64))) f32 v4_of[50];
    __attribute__((aligned(64))) f32 v5_of[50];
    __attribute__((aligned(64))) f32 v6_of[50];
    __attribute__((aligned(64))) f32 v7_of[50];
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 50; th_x++) {
      const s32 column = th_x;
      f32 v0 = 0.0f;
      f32 v1 = 0.0f;
      f32 v2 = 0.0f;
      f32 v3 = 0.0f;
      f32 v4 = 0.0f;
      f32 v5 = 0.0f;
      f32 v6 = 0.0f;
      f32 v7 = 0.0f;
      v0_of[th_x] = v0;
      v1_of[th_x] = v1;
      v2_of[th_x] = v2;
      v3_of[th_x] = v3;
      v4_of[th_x] = v4;
      v5_of[th_x] = v5;
      v6_of[th_x] = v6;
      v7_of[th_x] = v7;
    }
    for (s32 step8 = 0; step8 < 5; step8++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 50; th_x++) {
        f32 v0 = v0_of[th_x];
        f32 v1 = v1_of[th_x];
        f32 v2 = v2_of[th_x];
        f32 v3 = v3_of[th_x];
        f32 v4 = v4_of[th_x];
        f32 v5 = v5_of[th_x];
        f32 v6 = v6_of[th_x];
        f32 v7 = v7_of[th_x];
        const f32 v9 = p1[th_x + step8 * 400];
        const f32 v10 = p0[bl_x * 344 + step8 * 8];
        v0 = mul_add_f32(v10, v9, v0);
        const f32 v11 = p0[bl_x * 344 + step8 * 8 + 43];
        v1 = mul_add_f32(v11, v9, v1);
        const f32 v12 = p0[bl_x * 344 + step8 * 8 + 86];
        v2 = mul_add_f32(v12, v9, v2);
        const f32 v13 = p0[bl_x * 344 + step8 * 8 + 129];
        v3 = mul_add_f32(v13, v9, v3);
        const f32 v14 = p0[bl_x * 344 + step8 * 8 + 172];
        v4 = mul_add_f32(v14, v9, v4);
        const f32 v15 = p0[step8 * 8 + minimum_s32(bl_x * 8, 1015) * 43 + 215];
        v5 = mul_add_f32(v15, v9, v5);
        const f32 v16 = p0[step8 * 8 + minimum_s32(bl_x * 4, 507) * 86 + 258];
        v6 = mul_add_f32(v16, v9, v6);
        const f32 v17 = p0[step8 * 8 + minimum_s32(bl_x * 8, 1013) * 43 + 301];
        v7 = mul_add_f32(v17, v9, v7);
        const f32 v18 = p1[th_x + step8 * 400 + 50];
        const f32 v19 = p0[bl_x * 344 + step8 * 8 + 1];
        v0 = mul_add_f32(v19, v18, v0);
        const f32 v20 = p0[bl_x * 344 + step8 * 8 + 44];
        v1 = mul_add_f32(v20, v18, v1);
        const f32 v21 = p0[bl_x * 344 + step8 * 8 + 87];
        v2 = mul_add_f32(v21, v18, v2);
        const f32 v22 = p0[bl_x * 344 + step8 * 8 + 130];
        v3 = mul_add_f32(v22, v18, v3);
        const f32 v23 = p0[bl_x * 344 + step8 * 8 + 173];
        v4 = mul_add_f32(v23, v18, v4);
        const f32 v24 = p0[step8 * 8 + minimum_s32(bl_x * 8, 1015) * 43 + 216];
        v5 = mul_add_f32(v24, v18, v5);
        const f32 v25 = p0[step8 * 8 + minimum_s32(bl_x * 4, 507) * 86 + 259];
        v6 = mul_add_f32(v25, v18, v6);
        const f32 v26 = p0[step8 * 8 + minimum_s32(bl_x * 8, 1013) * 43 + 302];
        v7 = mul_add_f32(v26, v18, v7);
        const f32 v27 = p1[th_x + step8 * 400 + 100];
        const f32 v28 = p0[bl_x * 344 + step8 * 8 + 2];
        v0 = mul_add_f32(v28, v27, v0);
        const f32 v29 = p0[bl_x * 344 + step8 * 8 + 45];
        v1 = mul_add_f32(v29, v27, v1);
        const f32 v30 = p0[bl_x * 344 + step8 * 8 + 88];
        v2 = mul_add_f32(v30, v27, v2);
        const f32 v31 = p0[bl_x * 344 + step8 * 8 + 131];
        v3 = mul_add_f32(v31, v27, v3);
        const f32 v32 = p0[bl_x * 344 + step8 * 8 + 174];
        v4 = mul_add_f32(v32, v27, v4);
        const f32 v33 = p0[step8 * 8 + minimum_s32(bl_x * 8, 1015) * 43 + 217];
        v5 = mul_add_f32(v33, v27, v5);
        const f32 v34 = p0[step8 * 8 + minimum_s32(bl_x * 4, 507) * 86 + 260];
        v6 = mul_add_f32(v34, v27, v6);
        const f32 v35 = p0[step8 * 8 + minimum_s32(bl_x * 8, 1013) * 43 + 303];
        v7 = mul_add_f32(v35, v27, v7);
        const f32 v36 = p1[th_x + step8 * 400 + 150];
        const f32 v37 = p0[bl_x * 344 + step8 * 8 + 3];
        v0 = mul_add_f32(v37, v36, v0);
        const f32 v38 = p0[bl_x * 344 + step8 * 8 + 46];
        v1 = mul_add_f32(v38, v36, v1);
        const f32 v39 = p0[bl_x * 344 + step8 * 8 + 89];
        v2 = mul_add_f32(v39, v36, v2);
        const f32 v40 = p0[bl_x * 344 + step8 * 8 + 132];
        v3 = mul_add_f32(v40, v36, v3);
        const f32 v41 = p0[bl_x * 344 + step8 * 8 + 175];
        v4 = mul_add_f32(v41, v36, v4);
        const f32 v42 = p0[step8 * 8 + minimum_s32(bl_x * 8, 1015) * 43 + 218];
        v5 = mul_add_f32(v42, v36, v5);
        const f32 v43 = p0[step8 * 8 + minimum_s32(bl_x * 4, 507) * 86 + 261];
        v6 = mul_add_f32(v43, v36, v6);
        const f32 v44 = p0[step8 * 8 + minimum_s32(bl_x * 8, 1013) * 43 + 304];
        v7 = mul_add_f32(v44, v36, v7);
        const f32 v45 = p1[th_x + step8 * 400 + 200];
        const f32 v46 = p0[bl_x * 344 + step8 * 8 + 4];
        v0 = mul_add_f32(v46, v45, v0);
        const f32 v47 = p0[bl_x * 344 + step8 * 8 + 47];
        v1 = mul_add_f32(v47, v45, v1);
        const f32 v48 = p0[bl_x * 344 + step8 * 8 + 90];
        v2 = mul_add_f32(v48, v45, v2);
        const f32 v49 = p0[bl_x * 344 + step8 * 8 + 133];
        v3 = mul_add_f32(v49, v45, v3);
        const f32 v50 = p0[bl_x * 344 + step8 * 8 + 176];
        v4 = mul_add_f32(v50, v45, v4);
        const f32 v51 = p0[step8 * 8 + minimum_s32(bl_x * 8, 1015) * 43 + 219];
        v5 = mul_add_f32(v51, v45, v5);
        const f32 v52 = p0[step8 * 8 + minimum_s32(bl_x * 4, 507) * 86 + 262];
        v6 = mul_add_f32(v52, v45, v6);
        const f32 v53 = p0[step8 * 8 + minimum_s32(bl_x * 8, 1013) * 43 + 305];
        v7 = mul_add_f32(v53, v45, v7);
        const f32 v54 = p1[th_x + step8 * 400 + 250];
        const f32 v55 = p0[bl_x * 344 + step8 * 8 + 5];
        v0 = mul_add_f32(v55, v54, v0);
        const f32 v56 = p0[bl_x * 344 + step8 * 8 + 48];
        v1 = mul_add_f32(v56, v54, v1);
        const f32 v57 = p0[bl_x * 344 + step8 * 8 + 91];
        v2 = mul_add_f32(v57, v54, v2);
        const f32 v58 = p0[bl_x * 344 + step8 * 8 + 134];
        v3 = mul_add_f32(v58, v54, v3);
        const f32 v59 = p0[bl_x * 344 + step8 * 8 + 177];
        v4 = mul_add_f32(v59, v54, v4);
        const f32 v60 = p0[step8 * 8 + minimum_s32(bl_x * 8, 1015) * 43 + 220];
        v5 = mul_add_f32(v60, v54, v5);
        const f32 v61 = p0[step8 * 8 + minimum_s32(bl_x * 4, 507) * 86 + 263];
        v6 = mul_add_f32(v61, v54, v6);
        const f32 v62 = p0[step8 * 8 + minimum_s32(bl_x * 8, 1013) * 43 + 306];
        v7 = mul_add_f32(v62, v54, v7);
        const f32 v63 = p1[th_x + step8 * 400 + 300];
        const f32 v64 = p0[bl_x * 344 + step8 * 8 + 6];
        v0 = mul_add_f32(v64, v63, v0);
        const f32 v65 = p0[bl_x * 344 + step8 * 8 + 49];
        v1 = mul_add_f32(v65, v63, v1);
        const f32 v66 = p0[bl_x * 344 + step8 * 8 + 92];
        v2 = mul_add_f32(v66, v63, v2);
        const f32 v67 = p0[bl_x * 344 + step8 * 8 + 135];
        v3 = mul_add_f32(v67, v63, v3);
        const f32 v68 = p0[bl_x * 344 + step8 * 8 + 178];
        v4 = mul_add_f32(v68, v63, v4);
        const f32 v69 = p0[step8 * 8 + minimum_s32(bl_x * 8, 1015) * 43 + 221];
        v5 = mul_add_f32(v69, v63, v5);
        const f32 v70 = p0[step8 * 8 + minimum_s32(bl_x * 4, 507) * 86 + 264];
        v6 = mul_add_f32(v70, v63, v6);
        const f32 v71 = p0[step8 * 8 + minimum_s32(bl_x * 8, 1013) * 43 + 307];
        v7 = mul_add_f32(v71, v63, v7);
        const f32 v72 = p1[th_x + step8 * 400 + 350];
        const f32 v73 = p0[bl_x * 344 + step8 * 8 + 7];
        v0 = mul_add_f32(v73, v72, v0);
        const f32 v74 = p0[bl_x * 344 + step8 * 8 + 50];
        v1 = mul_add_f32(v74, v72, v1);
        const f32 v75 = p0[bl_x * 344 + step8 * 8 + 93];
        v2 = mul_add_f32(v75, v72, v2);
        const f32 v76 = p0[bl_x * 344 + step8 * 8 + 136];
        v3 = mul_add_f32(v76, v72, v3);
        const f32 v77 = p0[bl_x * 344 + step8 * 8 + 179];
        v4 = mul_add_f32(v77, v72, v4);
        const f32 v78 = p0[step8 * 8 + minimum_s32(bl_x * 8, 1015) * 43 + 222];
        v5 = mul_add_f32(v78, v72, v5);
        const f32 v79 = p0[step8 * 8 + minimum_s32(bl_x * 4, 507) * 86 + 265];
        v6 = mul_add_f32(v79, v72, v6);
        const f32 v80 = p0[step8 * 8 + minimum_s32(bl_x * 8, 1013) * 43 + 308];
        v7 = mul_add_f32(v80, v72, v7);
        v0_of[th_x] = v0;
        v1_of[th_x] = v1;
        v2_of[th_x] = v2;
        v3_of[th_x] = v3;
        v4_of[th_x] = v4;
        v5_of[th_x] = v5;
        v6_of[th_x] = v6;
        v7_of[th_x] = v7;
      }
    }
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 50; th_x++) {
      f32 v0 = v0_of[th_x];
      f32 v1 = v1_of[th_x];
      f32 v2 = v2_of[th_x];
      f32 v3 = v3_of[th_x];
      f32 v4 = v4_of[th_x];
      f32 v5 = v5_of[th_x];
      f32 v6 = v6_of[th_x];
      f32 v7 = v7_of[th_x];
      const f32 v81 = p1[th_x + 2000];
      const f32 v82 = p0[bl_x * 344 + 40];
      v0 = mul_add_f32(v82, v81, v0);
      const f32 v83 = p0[bl_x * 344 + 83];
      v1 = mul_add_f32(v83, v81, v1);
      const f32 v84 = p0[bl_x * 344 + 126];
      v2 = mul_add_f32(v84, v81, v2);
      const f32 v85 = p0[bl_x * 344 + 169];
      v3 = mul_add_f32(v85, v81, v3);
      const f32 v86 = p0[bl_x * 344 + 212];
      v4 = mul_add_f32(v86, v81, v4);
      const f32 v87 = p0[minimum_s32(bl_x * 8, 1015) * 43 + 255];
      v5 = mul_add_f32(v87, v81, v5);
      const f32 v88 = p0[minimum_s32(bl_x * 4, 507) * 86 + 298];
      v6 = mul_add_f32(v88, v81, v6);
      const f32 v89 = p0[minimum_s32(bl_x * 8, 1013) * 43 + 341];
      v7 = mul_add_f32(v89, v81, v7);
      const f32 v90 = p1[th_x + 2050];
      const f32 v91 = p0[bl_x * 344 + 41];
      v0 = mul_add_f32(v91, v90, v0);
      const f32 v92 = p0[bl_x * 344 + 84];
      v1 = mul_add_f32(v92, v90, v1);
      const f32 v93 = p0[bl_x * 344 + 127];
      v2 = mul_add_f32(v93, v90, v2);
      const f32 v94 = p0[bl_x * 344 + 170];
      v3 = mul_add_f32(v94, v90, v3);
      const f32 v95 = p0[bl_x * 344 + 213];
      v4 = mul_add_f32(v95, v90, v4);
      const f32 v96 = p0[minimum_s32(bl_x * 8, 1015) * 43 + 256];
      v5 = mul_add_f32(v96, v90, v5);
      const f32 v97 = p0[minimum_s32(bl_x * 4, 507) * 86 + 299];
      v6 = mul_add_f32(v97, v90, v6);
      const f32 v98 = p0[minimum_s32(bl_x * 8, 1013) * 43 + 342];
      v7 = mul_add_f32(v98, v90, v7);
      const f32 v99 = p1[th_x + 2100];
      const f32 v100 = p0[bl_x * 344 + 42];
      v0 = mul_add_f32(v100, v99, v0);
      const f32 v101 = p0[bl_x * 344 + 85];
      v1 = mul_add_f32(v101, v99, v1);
      const f32 v102 = p0[bl_x * 344 + 128];
      v2 = mul_add_f32(v102, v99, v2);
      const f32 v103 = p0[bl_x * 344 + 171];
      v3 = mul_add_f32(v103, v99, v3);
      const f32 v104 = p0[bl_x * 344 + 214];
      v4 = mul_add_f32(v104, v99, v4);
      const f32 v105 = p0[minimum_s32(bl_x * 8, 1015) * 43 + 257];
      v5 = mul_add_f32(v105, v99, v5);
      const f32 v106 = p0[minimum_s32(bl_x * 4, 507) * 86 + 300];
      v6 = mul_add_f32(v106, v99, v6);
      const f32 v107 = p0[minimum_s32(bl_x * 8, 1013) * 43 + 343];
      v7 = mul_add_f32(v107, v99, v7);
      const f32 v108 = v0;
      const f32 v109 = p2[th_x];
      const f32 v110 = v108 + v109;
      const f32 v111 = maximum_f32(v110, 0.0f);
      o0[th_x + bl_x * 400] = v111;
      const f32 v112 = v1;
      const f32 v113 = v112 + v109;
      const f32 v114 = maximum_f32(v113, 0.0f);
      o0[th_x + bl_x * 400 + 50] = v114;
      const f32 v115 = v2;
      const f32 v116 = v115 + v109;
      const f32 v117 = maximum_f32(v116, 0.0f);
      o0[th_x + bl_x * 400 + 100] = v117;
      const f32 v118 = v3;
      const f32 v119 = v118 + v109;
      const f32 v120 = maximum_f32(v119, 0.0f);
      o0[th_x + bl_x * 400 + 150] = v120;
      const f32 v121 = v4;
      const f32 v122 = v121 + v109;
      const f32 v123 = maximum_f32(v122, 0.0f);
      o0[th_x + bl_x * 400 + 200] = v123;
      const f32 v124 = v5;
      if (bl_x * 8 + 5 <= 1020) {
        const f32 v125 = v124 + v109;
        const f32 v126 = maximum_f32(v125, 0.0f);
        o0[th_x + minimum_s32(bl_x * 8, 1015) * 50 + 250] = v126;
      }
      const f32 v127 = v6;
      if (bl_x * 8 + 6 <= 1020) {
        const f32 v128 = v127 + v109;
        const f32 v129 = maximum_f32(v128, 0.0f);
        o0[th_x + minimum_s32(bl_x * 4, 507) * 100 + 300] = v129;
      }
      const f32 v130 = v7;
      if (bl_x * 8 + 7 <= 1020) {
        const f32 v131 = v130 + v109;
        const f32 v132 = maximum_f32(v131, 0.0f);
        o0[th_x + minimum_s32(bl_x * 8, 1013) * 50 + 350] = v132;
      }
      v0_of[th_x] = v0;
      v1_of[th_x] = v1;
      v2_of[th_x] = v2;
      v3_of[th_x] = v3;
      v4_of[th_x] = v4;
      v5_of[th_x] = v5;
      v6_of[th_x] = v6;
      v7_of[th_x] = v7;
    }
  }
}

void dot_dot(void *const *buffers, s64 first_block, s64 last_block) {
  dot_dot_blocks(buffers[0], buffers[1], buffers[2], buffers[3], first_block, last_block);
}
