// scores: dot emitter, 24 blocks of 96 threads

typedef float f32;
typedef unsigned short u16;
typedef unsigned int u32;
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define mul_add_f32(a, b, c) __builtin_fmaf(a, b, c)
#else
#define mul_add_f32(a, b, c) ((a) * (b) + (c))
#endif
typedef int s32;
typedef long long s64;

static inline f32 float_f32(u32 x) { f32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline f32 decode_bf16(u16 bits) { return float_f32((u32)bits << 16); }

static inline u32 bits_f32(f32 x) { u32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline u16 encode_bf16(f32 x) {
  u32 bits = bits_f32(x);
  return (u16)(x != x ? 0x7fc0u : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

static void dot_dot_blocks(const u16 *restrict p0, const u16 *restrict p1, u16 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 24;
    __attribute__((aligned(64))) f32 v0_of[96];
    __attribute__((aligned(64))) f32 v1_of[96];
    __attribute__((aligned(64))) f32 v2_of[96];
    __attribute__((aligned(64))) f32 v3_of[96];
    __attribute__((aligned(64))) f32 v4_of[96];
    __attribute__((aligned(64))) f32 v5_of[96];
    __attribute__((aligned(64))) f32 v6_of[96];
    __attribute__((aligned(64))) f32 v7_of[96];
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 96; th_x++) {
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
    for (s32 step8 = 0; step8 < 2; step8++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 96; th_x++) {
        f32 v0 = v0_of[th_x];
        f32 v1 = v1_of[th_x];
        f32 v2 = v2_of[th_x];
        f32 v3 = v3_of[th_x];
        f32 v4 = v4_of[th_x];
        f32 v5 = v5_of[th_x];
        f32 v6 = v6_of[th_x];
        f32 v7 = v7_of[th_x];
        const u16 v9 = p1[th_x + step8 * 768 + (bl_x >> 3) * 1536];
        const f32 v10 = decode_bf16(v9);
        const u16 v11 = p0[bl_x * 128 + step8 * 8];
        const f32 v12 = decode_bf16(v11);
        v0 = mul_add_f32(v12, v10, v0);
        const u16 v13 = p0[bl_x * 128 + step8 * 8 + 16];
        const f32 v14 = decode_bf16(v13);
        v1 = mul_add_f32(v14, v10, v1);
        const u16 v15 = p0[bl_x * 128 + step8 * 8 + 32];
        const f32 v16 = decode_bf16(v15);
        v2 = mul_add_f32(v16, v10, v2);
        const u16 v17 = p0[bl_x * 128 + step8 * 8 + 48];
        const f32 v18 = decode_bf16(v17);
        v3 = mul_add_f32(v18, v10, v3);
        const u16 v19 = p0[bl_x * 128 + step8 * 8 + 64];
        const f32 v20 = decode_bf16(v19);
        v4 = mul_add_f32(v20, v10, v4);
        const u16 v21 = p0[bl_x * 128 + step8 * 8 + 80];
        const f32 v22 = decode_bf16(v21);
        v5 = mul_add_f32(v22, v10, v5);
        const u16 v23 = p0[bl_x * 128 + step8 * 8 + 96];
        const f32 v24 = decode_bf16(v23);
        v6 = mul_add_f32(v24, v10, v6);
        const u16 v25 = p0[bl_x * 128 + step8 * 8 + 112];
        const f32 v26 = decode_bf16(v25);
        v7 = mul_add_f32(v26, v10, v7);
        const u16 v27 = p1[th_x + step8 * 768 + (bl_x >> 3) * 1536 + 96];
        const f32 v28 = decode_bf16(v27);
        const u16 v29 = p0[bl_x * 128 + step8 * 8 + 1];
        const f32 v30 = decode_bf16(v29);
        v0 = mul_add_f32(v30, v28, v0);
        const u16 v31 = p0[bl_x * 128 + step8 * 8 + 17];
        const f32 v32 = decode_bf16(v31);
        v1 = mul_add_f32(v32, v28, v1);
        const u16 v33 = p0[bl_x * 128 + step8 * 8 + 33];
        const f32 v34 = decode_bf16(v33);
        v2 = mul_add_f32(v34, v28, v2);
        const u16 v35 = p0[bl_x * 128 + step8 * 8 + 49];
        const f32 v36 = decode_bf16(v35);
        v3 = mul_add_f32(v36, v28, v3);
        const u16 v37 = p0[bl_x * 128 + step8 * 8 + 65];
        const f32 v38 = decode_bf16(v37);
        v4 = mul_add_f32(v38, v28, v4);
        const u16 v39 = p0[bl_x * 128 + step8 * 8 + 81];
        const f32 v40 = decode_bf16(v39);
        v5 = mul_add_f32(v40, v28, v5);
        const u16 v41 = p0[bl_x * 128 + step8 * 8 + 97];
        const f32 v42 = decode_bf16(v41);
        v6 = mul_add_f32(v42, v28, v6);
        const u16 v43 = p0[bl_x * 128 + step8 * 8 + 113];
        const f32 v44 = decode_bf16(v43);
        v7 = mul_add_f32(v44, v28, v7);
        const u16 v45 = p1[th_x + step8 * 768 + (bl_x >> 3) * 1536 + 192];
        const f32 v46 = decode_bf16(v45);
        const u16 v47 = p0[bl_x * 128 + step8 * 8 + 2];
        const f32 v48 = decode_bf16(v47);
        v0 = mul_add_f32(v48, v46, v0);
        const u16 v49 = p0[bl_x * 128 + step8 * 8 + 18];
        const f32 v50 = decode_bf16(v49);
        v1 = mul_add_f32(v50, v46, v1);
        const u16 v51 = p0[bl_x * 128 + step8 * 8 + 34];
        const f32 v52 = decode_bf16(v51);
        v2 = mul_add_f32(v52, v46, v2);
        const u16 v53 = p0[bl_x * 128 + step8 * 8 + 50];
        const f32 v54 = decode_bf16(v53);
        v3 = mul_add_f32(v54, v46, v3);
        const u16 v55 = p0[bl_x * 128 + step8 * 8 + 66];
        const f32 v56 = decode_bf16(v55);
        v4 = mul_add_f32(v56, v46, v4);
        const u16 v57 = p0[bl_x * 128 + step8 * 8 + 82];
        const f32 v58 = decode_bf16(v57);
        v5 = mul_add_f32(v58, v46, v5);
        const u16 v59 = p0[bl_x * 128 + step8 * 8 + 98];
        const f32 v60 = decode_bf16(v59);
        v6 = mul_add_f32(v60, v46, v6);
        const u16 v61 = p0[bl_x * 128 + step8 * 8 + 114];
        const f32 v62 = decode_bf16(v61);
        v7 = mul_add_f32(v62, v46, v7);
        const u16 v63 = p1[th_x + step8 * 768 + (bl_x >> 3) * 1536 + 288];
        const f32 v64 = decode_bf16(v63);
        const u16 v65 = p0[bl_x * 128 + step8 * 8 + 3];
        const f32 v66 = decode_bf16(v65);
        v0 = mul_add_f32(v66, v64, v0);
        const u16 v67 = p0[bl_x * 128 + step8 * 8 + 19];
        const f32 v68 = decode_bf16(v67);
        v1 = mul_add_f32(v68, v64, v1);
        const u16 v69 = p0[bl_x * 128 + step8 * 8 + 35];
        const f32 v70 = decode_bf16(v69);
        v2 = mul_add_f32(v70, v64, v2);
        const u16 v71 = p0[bl_x * 128 + step8 * 8 + 51];
        const f32 v72 = decode_bf16(v71);
        v3 = mul_add_f32(v72, v64, v3);
        const u16 v73 = p0[bl_x * 128 + step8 * 8 + 67];
        const f32 v74 = decode_bf16(v73);
        v4 = mul_add_f32(v74, v64, v4);
        const u16 v75 = p0[bl_x * 128 + step8 * 8 + 83];
        const f32 v76 = decode_bf16(v75);
        v5 = mul_add_f32(v76, v64, v5);
        const u16 v77 = p0[bl_x * 128 + step8 * 8 + 99];
        const f32 v78 = decode_bf16(v77);
        v6 = mul_add_f32(v78, v64, v6);
        const u16 v79 = p0[bl_x * 128 + step8 * 8 + 115];
        const f32 v80 = decode_bf16(v79);
        v7 = mul_add_f32(v80, v64, v7);
        const u16 v81 = p1[th_x + step8 * 768 + (bl_x >> 3) * 1536 + 384];
        const f32 v82 = decode_bf16(v81);
        const u16 v83 = p0[bl_x * 128 + step8 * 8 + 4];
        const f32 v84 = decode_bf16(v83);
        v0 = mul_add_f32(v84, v82, v0);
        const u16 v85 = p0[bl_x * 128 + step8 * 8 + 20];
        const f32 v86 = decode_bf16(v85);
        v1 = mul_add_f32(v86, v82, v1);
        const u16 v87 = p0[bl_x * 128 + step8 * 8 + 36];
        const f32 v88 = decode_bf16(v87);
        v2 = mul_add_f32(v88, v82, v2);
        const u16 v89 = p0[bl_x * 128 + step8 * 8 + 52];
        const f32 v90 = decode_bf16(v89);
        v3 = mul_add_f32(v90, v82, v3);
        const u16 v91 = p0[bl_x * 128 + step8 * 8 + 68];
        const f32 v92 = decode_bf16(v91);
        v4 = mul_add_f32(v92, v82, v4);
        const u16 v93 = p0[bl_x * 128 + step8 * 8 + 84];
        const f32 v94 = decode_bf16(v93);
        v5 = mul_add_f32(v94, v82, v5);
        const u16 v95 = p0[bl_x * 128 + step8 * 8 + 100];
        const f32 v96 = decode_bf16(v95);
        v6 = mul_add_f32(v96, v82, v6);
        const u16 v97 = p0[bl_x * 128 + step8 * 8 + 116];
        const f32 v98 = decode_bf16(v97);
        v7 = mul_add_f32(v98, v82, v7);
        const u16 v99 = p1[th_x + step8 * 768 + (bl_x >> 3) * 1536 + 480];
        const f32 v100 = decode_bf16(v99);
        const u16 v101 = p0[bl_x * 128 + step8 * 8 + 5];
        const f32 v102 = decode_bf16(v101);
        v0 = mul_add_f32(v102, v100, v0);
        const u16 v103 = p0[bl_x * 128 + step8 * 8 + 21];
        const f32 v104 = decode_bf16(v103);
        v1 = mul_add_f32(v104, v100, v1);
        const u16 v105 = p0[bl_x * 128 + step8 * 8 + 37];
        const f32 v106 = decode_bf16(v105);
        v2 = mul_add_f32(v106, v100, v2);
        const u16 v107 = p0[bl_x * 128 + step8 * 8 + 53];
        const f32 v108 = decode_bf16(v107);
        v3 = mul_add_f32(v108, v100, v3);
        const u16 v109 = p0[bl_x * 128 + step8 * 8 + 69];
        const f32 v110 = decode_bf16(v109);
        v4 = mul_add_f32(v110, v100, v4);
        const u16 v111 = p0[bl_x * 128 + step8 * 8 + 85];
        const f32 v112 = decode_bf16(v111);
        v5 = mul_add_f32(v112, v100, v5);
        const u16 v113 = p0[bl_x * 128 + step8 * 8 + 101];
        const f32 v114 = decode_bf16(v113);
        v6 = mul_add_f32(v114, v100, v6);
        const u16 v115 = p0[bl_x * 128 + step8 * 8 + 117];
        const f32 v116 = decode_bf16(v115);
        v7 = mul_add_f32(v116, v100, v7);
        const u16 v117 = p1[th_x + step8 * 768 + (bl_x >> 3) * 1536 + 576];
        const f32 v118 = decode_bf16(v117);
        const u16 v119 = p0[bl_x * 128 + step8 * 8 + 6];
        const f32 v120 = decode_bf16(v119);
        v0 = mul_add_f32(v120, v118, v0);
        const u16 v121 = p0[bl_x * 128 + step8 * 8 + 22];
        const f32 v122 = decode_bf16(v121);
        v1 = mul_add_f32(v122, v118, v1);
        const u16 v123 = p0[bl_x * 128 + step8 * 8 + 38];
        const f32 v124 = decode_bf16(v123);
        v2 = mul_add_f32(v124, v118, v2);
        const u16 v125 = p0[bl_x * 128 + step8 * 8 + 54];
        const f32 v126 = decode_bf16(v125);
        v3 = mul_add_f32(v126, v118, v3);
        const u16 v127 = p0[bl_x * 128 + step8 * 8 + 70];
        const f32 v128 = decode_bf16(v127);
        v4 = mul_add_f32(v128, v118, v4);
        const u16 v129 = p0[bl_x * 128 + step8 * 8 + 86];
        const f32 v130 = decode_bf16(v129);
        v5 = mul_add_f32(v130, v118, v5);
        const u16 v131 = p0[bl_x * 128 + step8 * 8 + 102];
        const f32 v132 = decode_bf16(v131);
        v6 = mul_add_f32(v132, v118, v6);
        const u16 v133 = p0[bl_x * 128 + step8 * 8 + 118];
        const f32 v134 = decode_bf16(v133);
        v7 = mul_add_f32(v134, v118, v7);
        const u16 v135 = p1[th_x + step8 * 768 + (bl_x >> 3) * 1536 + 672];
        const f32 v136 = decode_bf16(v135);
        const u16 v137 = p0[bl_x * 128 + step8 * 8 + 7];
        const f32 v138 = decode_bf16(v137);
        v0 = mul_add_f32(v138, v136, v0);
        const u16 v139 = p0[bl_x * 128 + step8 * 8 + 23];
        const f32 v140 = decode_bf16(v139);
        v1 = mul_add_f32(v140, v136, v1);
        const u16 v141 = p0[bl_x * 128 + step8 * 8 + 39];
        const f32 v142 = decode_bf16(v141);
        v2 = mul_add_f32(v142, v136, v2);
        const u16 v143 = p0[bl_x * 128 + step8 * 8 + 55];
        const f32 v144 = decode_bf16(v143);
        v3 = mul_add_f32(v144, v136, v3);
        const u16 v145 = p0[bl_x * 128 + step8 * 8 + 71];
        const f32 v146 = decode_bf16(v145);
        v4 = mul_add_f32(v146, v136, v4);
        const u16 v147 = p0[bl_x * 128 + step8 * 8 + 87];
        const f32 v148 = decode_bf16(v147);
        v5 = mul_add_f32(v148, v136, v5);
        const u16 v149 = p0[bl_x * 128 + step8 * 8 + 103];
        const f32 v150 = decode_bf16(v149);
        v6 = mul_add_f32(v150, v136, v6);
        const u16 v151 = p0[bl_x * 128 + step8 * 8 + 119];
        const f32 v152 = decode_bf16(v151);
        v7 = mul_add_f32(v152, v136, v7);
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
    for (s32 th_x = 0; th_x < 96; th_x++) {
      const f32 v0 = v0_of[th_x];
      const f32 v1 = v1_of[th_x];
      const f32 v2 = v2_of[th_x];
      const f32 v3 = v3_of[th_x];
      const f32 v4 = v4_of[th_x];
      const f32 v5 = v5_of[th_x];
      const f32 v6 = v6_of[th_x];
      const f32 v7 = v7_of[th_x];
      const u16 v153_bits = encode_bf16(v0);
      o0[th_x + bl_x * 768] = v153_bits;
      const u16 v154_bits = encode_bf16(v1);
      o0[th_x + bl_x * 768 + 96] = v154_bits;
      const u16 v155_bits = encode_bf16(v2);
      o0[th_x + bl_x * 768 + 192] = v155_bits;
      const u16 v156_bits = encode_bf16(v3);
      o0[th_x + bl_x * 768 + 288] = v156_bits;
      const u16 v157_bits = encode_bf16(v4);
      o0[th_x + bl_x * 768 + 384] = v157_bits;
      const u16 v158_bits = encode_bf16(v5);
      o0[th_x + bl_x * 768 + 480] = v158_bits;
      const u16 v159_bits = encode_bf16(v6);
      o0[th_x + bl_x * 768 + 576] = v159_bits;
      const u16 v160_bits = encode_bf16(v7);
      o0[th_x + bl_x * 768 + 672] = v160_bits;
    }
  }
}

void dot_dot(void *const *buffers, s64 first_block, s64 last_block) {
  dot_dot_blocks(buffers[0], buffers[1], buffers[2], first_block, last_block);
}
