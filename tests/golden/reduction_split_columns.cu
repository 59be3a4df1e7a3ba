// fused: reduction emitter, 512 blocks of 192 threads

typedef float f32;
typedef int s32;
typedef unsigned int u32;
typedef struct __align__(16) { f32 v[4]; } f32x4;

static __device__ void store_vector_16(void *to, const void *from) {
  u32 words[4];
  memcpy(words, from, 16);
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
               : : "l"(__cvta_generic_to_global(to)), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
}

extern "C" __global__ void __launch_bounds__(192) reduction_reduce(const f32 *__restrict__ p0, f32 *__restrict__ o0, f32 *__restrict__ w0, u32 *__restrict__ w1) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ u32 last2[1];
  __shared__ f32 part0[192];
  __shared__ f32 part1[192];
  __shared__ f32 part2[192];
  __shared__ f32 part3[192];
  __shared__ f32 part4[192];
  __shared__ f32 part5[192];
  __shared__ f32 part6[192];
  __shared__ f32 part7[192];
  f32 sum0[4];
  __align__(16) f32 x0[4];
  sum0[0] = (-0.0f);
  sum0[1] = (-0.0f);
  sum0[2] = (-0.0f);
  sum0[3] = (-0.0f);
  #pragma unroll 6
  for (s32 step3 = 0; step3 < 6; step3++) {
    const s32 j4 = bl_x * 32 + step3 * 16384 + th_x / 6;
    *(f32x4 *)(x0) = *(const f32x4 *)(p0 + j4 * 24 + (th_x % 6) * 4);
    #pragma unroll 4
    for (s32 vector_index5 = 0; vector_index5 < 4; vector_index5++) {
      const f32 v6 = x0[vector_index5];
      const f32 v7 = sum0[vector_index5];
      const f32 v8 = v7 + v6;
      sum0[vector_index5] = v8;
    }
  }
  if (bl_x * 32 + th_x / 6 + 98304 <= 99999) {
    __align__(16) f32 x1[4];
    const s32 j4_1 = bl_x * 32 + th_x / 6 + 98304;
    *(f32x4 *)(x1) = *(const f32x4 *)(p0 + j4_1 * 24 + (th_x % 6) * 4);
    #pragma unroll 4
    for (s32 vector_1 = 0; vector_1 < 4; vector_1++) {
      const f32 v6_1 = x1[vector_1];
      const f32 v7_1 = sum0[vector_1];
      const f32 v8_1 = v7_1 + v6_1;
      sum0[vector_1] = v8_1;
    }
  }
  const f32 v9 = sum0[0];
  const f32 v10 = sum0[1];
  const f32 v11 = sum0[2];
  const f32 v12 = sum0[3];
  f32 v13 = v9;
  f32 v14 = v10;
  f32 v15 = v11;
  f32 v16 = v12;
  part4[th_x] = v13;
  part5[th_x] = v14;
  part6[th_x] = v15;
  part7[th_x] = v16;
  __syncthreads();
  if (th_x / 6 <= 3) {
    const f32 t80 = part4[th_x + 24];
    const f32 v0 = v13 + t80;
    v13 = v0;
    const f32 t82 = part4[th_x + 48];
    const f32 v0_1 = v13 + t82;
    v13 = v0_1;
    const f32 t84 = part4[th_x + 72];
    const f32 v0_2 = v13 + t84;
    v13 = v0_2;
    const f32 t86 = part4[th_x + 96];
    const f32 v0_3 = v13 + t86;
    v13 = v0_3;
    const f32 t88 = part4[th_x + 120];
    const f32 v0_4 = v13 + t88;
    v13 = v0_4;
    const f32 t90 = part4[th_x + 144];
    const f32 v0_5 = v13 + t90;
    v13 = v0_5;
    const f32 t92 = part4[th_x + 168];
    const f32 v0_6 = v13 + t92;
    v13 = v0_6;
    const f32 t94 = part5[th_x + 24];
    const f32 v0_7 = v14 + t94;
    v14 = v0_7;
    const f32 t96 = part5[th_x + 48];
    const f32 v0_8 = v14 + t96;
    v14 = v0_8;
    const f32 t98 = part5[th_x + 72];
    const f32 v0_9 = v14 + t98;
    v14 = v0_9;
    const f32 t100 = part5[th_x + 96];
    const f32 v0_10 = v14 + t100;
    v14 = v0_10;
    const f32 t102 = part5[th_x + 120];
    const f32 v0_11 = v14 + t102;
    v14 = v0_11;
    const f32 t104 = part5[th_x + 144];
    const f32 v0_12 = v14 + t104;
    v14 = v0_12;
    const f32 t106 = part5[th_x + 168];
    const f32 v0_13 = v14 + t106;
    v14 = v0_13;
    const f32 t108 = part6[th_x + 24];
    const f32 v0_14 = v15 + t108;
    v15 = v0_14;
    const f32 t110 = part6[th_x + 48];
    const f32 v0_15 = v15 + t110;
    v15 = v0_15;
    const f32 t112 = part6[th_x + 72];
    const f32 v0_16 = v15 + t112;
    v15 = v0_16;
    const f32 t114 = part6[th_x + 96];
    const f32 v0_17 = v15 + t114;
    v15 = v0_17;
    const f32 t116 = part6[th_x + 120];
    const f32 v0_18 = v15 + t116;
    v15 = v0_18;
    const f32 t118 = part6[th_x + 144];
    const f32 v0_19 = v15 + t118;
    v15 = v0_19;
    const f32 t120 = part6[th_x + 168];
    const f32 v0_20 = v15 + t120;
    v15 = v0_20;
    const f32 t122 = part7[th_x + 24];
    const f32 v0_21 = v16 + t122;
    v16 = v0_21;
    const f32 t124 = part7[th_x + 48];
    const f32 v0_22 = v16 + t124;
    v16 = v0_22;
    const f32 t126 = part7[th_x + 72];
    const f32 v0_23 = v16 + t126;
    v16 = v0_23;
    const f32 t128 = part7[th_x + 96];
    const f32 v0_24 = v16 + t128;
    v16 = v0_24;
    const f32 t130 = part7[th_x + 120];
    const f32 v0_25 = v16 + t130;
    v16 = v0_25;
    const f32 t132 = part7[th_x + 144];
    const f32 v0_26 = v16 + t132;
    v16 = v0_26;
    const f32 t134 = part7[th_x + 168];
    const f32 v0_27 = v16 + t134;
    v16 = v0_27;
    part4[th_x] = v13;
    part5[th_x] = v14;
    part6[th_x] = v15;
    part7[th_x] = v16;
  }
  __syncthreads();
  if (th_x / 6 <= 0) {
    const f32 t136 = part4[th_x + 6];
    const f32 v0_28 = v13 + t136;
    v13 = v0_28;
    const f32 t138 = part4[th_x + 12];
    const f32 v0_29 = v13 + t138;
    v13 = v0_29;
    const f32 t140 = part4[th_x + 18];
    const f32 v0_30 = v13 + t140;
    v13 = v0_30;
    const f32 t142 = part5[th_x + 6];
    const f32 v0_31 = v14 + t142;
    v14 = v0_31;
    const f32 t144 = part5[th_x + 12];
    const f32 v0_32 = v14 + t144;
    v14 = v0_32;
    const f32 t146 = part5[th_x + 18];
    const f32 v0_33 = v14 + t146;
    v14 = v0_33;
    const f32 t148 = part6[th_x + 6];
    const f32 v0_34 = v15 + t148;
    v15 = v0_34;
    const f32 t150 = part6[th_x + 12];
    const f32 v0_35 = v15 + t150;
    v15 = v0_35;
    const f32 t152 = part6[th_x + 18];
    const f32 v0_36 = v15 + t152;
    v15 = v0_36;
    const f32 t154 = part7[th_x + 6];
    const f32 v0_37 = v16 + t154;
    v16 = v0_37;
    const f32 t156 = part7[th_x + 12];
    const f32 v0_38 = v16 + t156;
    v16 = v0_38;
    const f32 t158 = part7[th_x + 18];
    const f32 v0_39 = v16 + t158;
    v16 = v0_39;
  }
  const f32 v17 = v13;
  sum0[0] = v17;
  const f32 v18 = v14;
  sum0[1] = v18;
  const f32 v19 = v15;
  sum0[2] = v19;
  const f32 v20 = v16;
  sum0[3] = v20;
  if (th_x / 6 <= 0) {
    const f32 v22_1 = sum0[0];
    w0[bl_x * 24 + th_x % 6] = v22_1;
    const f32 v22_2 = sum0[1];
    w0[bl_x * 24 + th_x % 6 + 6] = v22_2;
    const f32 v22_3 = sum0[2];
    w0[bl_x * 24 + th_x % 6 + 12] = v22_3;
    const f32 v22_4 = sum0[3];
    w0[bl_x * 24 + th_x % 6 + 18] = v22_4;
  }
  __threadfence();
  __syncthreads();
  if (th_x <= 0) {
    const u32 arrived23 = atomicAdd(w1, 1u);
    last2[0] = arrived23;
  }
  __syncthreads();
  if (last2[0] == 511u) {
    __threadfence();
    if (th_x <= 0) {
      w1[0] = 0u;
    }
    sum0[0] = (-0.0f);
    sum0[1] = (-0.0f);
    sum0[2] = (-0.0f);
    sum0[3] = (-0.0f);
    #pragma unroll 4
    for (s32 step25 = 0; step25 < 16; step25++) {
      #pragma unroll 4
      for (s32 column26 = 0; column26 < 4; column26++) {
        const f32 v27 = w0[th_x + step25 * 768 + column26 * 6 + (th_x / 6) * 18];
        const f32 v28 = sum0[column26];
        const f32 v29 = v28 + v27;
        sum0[column26] = v29;
      }
    }
    const f32 v30 = sum0[0];
    const f32 v31 = sum0[1];
    const f32 v32 = sum0[2];
    const f32 v33 = sum0[3];
    f32 v34 = v30;
    f32 v35 = v31;
    f32 v36 = v32;
    f32 v37 = v33;
    part0[th_x] = v34;
    part1[th_x] = v35;
    part2[th_x] = v36;
    part3[th_x] = v37;
    __syncthreads();
    if (th_x / 6 <= 3) {
      const f32 t0 = part0[th_x + 24];
      const f32 v0_40 = v34 + t0;
      v34 = v0_40;
      const f32 t2 = part0[th_x + 48];
      const f32 v0_41 = v34 + t2;
      v34 = v0_41;
      const f32 t4 = part0[th_x + 72];
      const f32 v0_42 = v34 + t4;
      v34 = v0_42;
      const f32 t6 = part0[th_x + 96];
      const f32 v0_43 = v34 + t6;
      v34 = v0_43;
      const f32 t8 = part0[th_x + 120];
      const f32 v0_44 = v34 + t8;
      v34 = v0_44;
      const f32 t10 = part0[th_x + 144];
      const f32 v0_45 = v34 + t10;
      v34 = v0_45;
      const f32 t12 = part0[th_x + 168];
      const f32 v0_46 = v34 + t12;
      v34 = v0_46;
      const f32 t14 = part1[th_x + 24];
      const f32 v0_47 = v35 + t14;
      v35 = v0_47;
      const f32 t16 = part1[th_x + 48];
      const f32 v0_48 = v35 + t16;
      v35 = v0_48;
      const f32 t18 = part1[th_x + 72];
      const f32 v0_49 = v35 + t18;
      v35 = v0_49;
      const f32 t20 = part1[th_x + 96];
      const f32 v0_50 = v35 + t20;
      v35 = v0_50;
      const f32 t22 = part1[th_x + 120];
      const f32 v0_51 = v35 + t22;
      v35 = v0_51;
      const f32 t24 = part1[th_x + 144];
      const f32 v0_52 = v35 + t24;
      v35 = v0_52;
      const f32 t26 = part1[th_x + 168];
      const f32 v0_53 = v35 + t26;
      v35 = v0_53;
      const f32 t28 = part2[th_x + 24];
      const f32 v0_54 = v36 + t28;
      v36 = v0_54;
      const f32 t30 = part2[th_x + 48];
      const f32 v0_55 = v36 + t30;
      v36 = v0_55;
      const f32 t32 = part2[th_x + 72];
      const f32 v0_56 = v36 + t32;
      v36 = v0_56;
      const f32 t34 = part2[th_x + 96];
      const f32 v0_57 = v36 + t34;
      v36 = v0_57;
      const f32 t36 = part2[th_x + 120];
      const f32 v0_58 = v36 + t36;
      v36 = v0_58;
      const f32 t38 = part2[th_x + 144];
      const f32 v0_59 = v36 + t38;
      v36 = v0_59;
      const f32 t40 = part2[th_x + 168];
      const f32 v0_60 = v36 + t40;
      v36 = v0_60;
      const f32 t42 = part3[th_x + 24];
      const f32 v0_61 = v37 + t42;
      v37 = v0_61;
      const f32 t44 = part3[th_x + 48];
      const f32 v0_62 = v37 + t44;
      v37 = v0_62;
      const f32 t46 = part3[th_x + 72];
      const f32 v0_63 = v37 + t46;
      v37 = v0_63;
      const f32 t48 = part3[th_x + 96];
      const f32 v0_64 = v37 + t48;
      v37 = v0_64;
      const f32 t50 = part3[th_x + 120];
      const f32 v0_65 = v37 + t50;
      v37 = v0_65;
      const f32 t52 = part3[th_x + 144];
      const f32 v0_66 = v37 + t52;
      v37 = v0_66;
      const f32 t54 = part3[th_x + 168];
      const f32 v0_67 = v37 + t54;
      v37 = v0_67;
      part0[th_x] = v34;
      part1[th_x] = v35;
      part2[th_x] = v36;
      part3[th_x] = v37;
    }
    __syncthreads();
    if (th_x / 6 <= 0) {
      const f32 t56 = part0[th_x + 6];
      const f32 v0_68 = v34 + t56;
      v34 = v0_68;
      const f32 t58 = part0[th_x + 12];
      const f32 v0_69 = v34 + t58;
      v34 = v0_69;
      const f32 t60 = part0[th_x + 18];
      const f32 v0_70 = v34 + t60;
      v34 = v0_70;
      const f32 t62 = part1[th_x + 6];
      const f32 v0_71 = v35 + t62;
      v35 = v0_71;
      const f32 t64 = part1[th_x + 12];
      const f32 v0_72 = v35 + t64;
      v35 = v0_72;
      const f32 t66 = part1[th_x + 18];
      const f32 v0_73 = v35 + t66;
      v35 = v0_73;
      const f32 t68 = part2[th_x + 6];
      const f32 v0_74 = v36 + t68;
      v36 = v0_74;
      const f32 t70 = part2[th_x + 12];
      const f32 v0_75 = v36 + t70;
      v36 = v0_75;
      const f32 t72 = part2[th_x + 18];
      const f32 v0_76 = v36 + t72;
      v36 = v0_76;
      const f32 t74 = part3[th_x + 6];
      const f32 v0_77 = v37 + t74;
      v37 = v0_77;
      const f32 t76 = part3[th_x + 12];
      const f32 v0_78 = v37 + t76;
      v37 = v0_78;
      const f32 t78 = part3[th_x + 18];
      const f32 v0_79 = v37 + t78;
      v37 = v0_79;
    }
    const f32 v38 = v34;
    sum0[0] = v38;
    const f32 v39 = v35;
    sum0[1] = v39;
    const f32 v40 = v36;
    sum0[2] = v40;
    const f32 v41 = v37;
    sum0[3] = v41;
    if (th_x / 6 <= 0) {
      __align__(16) f32 x2[4];
      const f32 v43_1 = sum0[0];
      const f32 v44_1 = 0.0f + v43_1;
      x2[0] = v44_1;
      const f32 v43_2 = sum0[1];
      const f32 v44_2 = 0.0f + v43_2;
      x2[1] = v44_2;
      const f32 v43_3 = sum0[2];
      const f32 v44_3 = 0.0f + v43_3;
      x2[2] = v44_3;
      const f32 v43_4 = sum0[3];
      const f32 v44_4 = 0.0f + v43_4;
      x2[3] = v44_4;
      store_vector_16(o0 + (th_x % 6) * 4, x2);
    }
  }
}
