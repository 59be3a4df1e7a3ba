// fused: sort emitter, 12 blocks of 32 threads

typedef int s32;
typedef float f32;
typedef unsigned short u16;
typedef unsigned int u32;
#define bits_f32 __float_as_uint
typedef struct __align__(16) { u16 v[8]; } u16x8;

static __device__ s32 clamp_s32(s32 low, s32 x, s32 high) { s32 y = x < low ? low : x; return y > high ? high : y; }

static __device__ __attribute__((const)) f32 decode_bf16(u16 bits) {
  f32 x;
  asm("mov.b32 %0, {%1, %2};" : "=f"(x) : "h"((u16)0), "h"(bits));
  return x;
}

static __device__ s32 maximum_s32(s32 a, s32 b) { return a > b ? a : b; }

static __device__ s32 minimum_s32(s32 a, s32 b) { return a < b ? a : b; }

static __device__ s32 shl_s32(s32 a, s32 n) { return (u32)n < 32 ? (s32)((u32)a << (u32)n) : 0; }

static __device__ s32 shr_logical_s32(s32 a, s32 n) { return (u32)n < 32 ? (s32)((u32)a >> (u32)n) : 0; }

static __device__ s32 total_order_f32(f32 x) {
  s32 bits = (s32)bits_f32(x);
  return bits < 0 ? 0x7fffffff ^ bits : bits;
}

extern "C" __global__ void __launch_bounds__(32) sort_custom_call(const u16 *__restrict__ p0, u16 *__restrict__ o0) {
  const s32 th_x = threadIdx.x;
  const s32 bl_x = blockIdx.x;
  __shared__ __align__(16) u16 run0[256];
  u16 own0[8];
  __align__(16) u16 x0[8];
  __align__(16) u16 x1[8];
  __align__(16) u16 x2[8];
  #pragma unroll 8
  for (s32 i0 = 0; i0 < 8; i0++) {
    const u16 v1 = p0[(bl_x >> 2) * 1003 + minimum_s32(th_x + i0 * 32 + (bl_x & 3) * 256, 1002)];
    run0[th_x + i0 * 32] = v1;
  }
  __syncthreads();
  *(u16x8 *)(x1) = *(const u16x8 *)(run0 + th_x * 8);
  #pragma unroll 8
  for (s32 vector_index3 = 0; vector_index3 < 8; vector_index3++) {
    const u16 v4 = x1[vector_index3];
    own0[vector_index3] = v4;
  }
  for (s32 turn5 = 0; turn5 < 4; turn5++) {
    #pragma unroll 4
    for (s32 pair6 = 0; pair6 < 4; pair6++) {
      if (pair6 * 2 + maximum_s32(th_x * 8 + (bl_x & 3) * 256, (th_x & 7) * 8 + 939) - 1002 <= (-1)) {
        const u16 v7 = own0[pair6 * 2];
        const u16 v8 = own0[pair6 * 2 + 1];
        const f32 v9 = decode_bf16(v8);
        const f32 v10 = decode_bf16(v7);
        const bool v11 = total_order_f32(v9) > total_order_f32(v10);
        const u16 v12 = v11 ? v8 : v7;
        own0[pair6 * 2] = v12;
        const u16 v13 = v11 ? v7 : v8;
        own0[pair6 * 2 + 1] = v13;
      }
    }
    #pragma unroll 3
    for (s32 pair14 = 0; pair14 < 3; pair14++) {
      if (pair14 * 2 + maximum_s32(th_x * 8 + (bl_x & 3) * 256, (th_x & 7) * 8 + 939) - 1001 <= (-1)) {
        const u16 v15 = own0[pair14 * 2 + 1];
        const u16 v16 = own0[pair14 * 2 + 2];
        const f32 v17 = decode_bf16(v16);
        const f32 v18 = decode_bf16(v15);
        const bool v19 = total_order_f32(v17) > total_order_f32(v18);
        const u16 v20 = v19 ? v16 : v15;
        own0[pair14 * 2 + 1] = v20;
        const u16 v21 = v19 ? v15 : v16;
        own0[pair14 * 2 + 2] = v21;
      }
    }
  }
  __syncthreads();
  #pragma unroll 8
  for (s32 vector_index22 = 0; vector_index22 < 8; vector_index22++) {
    const u16 v23 = own0[vector_index22];
    x2[vector_index22] = v23;
  }
  *(u16x8 *)(run0 + th_x * 8) = *(const u16x8 *)(x2);
  __syncthreads();
  const s32 v25 = -maximum_s32((th_x >> 3) * 64 + (bl_x & 3) * 256, 939) + 1003;
  const s32 v27 = minimum_s32((th_x & 7) * 8, v25);
  const s32 v31 = (s32)((u32)v25 - (u32)1);
  for (s32 turn24 = 0; turn24 < 3; turn24++) {
    const s32 v26 = shl_s32(8, turn24);
    const s32 v28 = (s32)(v27 & (s32)(0 - (u32)shl_s32(v26, 1)));
    const s32 v29 = minimum_s32((s32)((u32)v28 + (u32)v26), v25);
    const s32 v30 = minimum_s32((s32)((u32)v29 + (u32)v26), v25);
    s32 v32 = maximum_s32(0, (s32)((u32)(s32)((u32)v27 - (u32)v28) - (u32)(s32)((u32)v30 - (u32)v29)));
    s32 v33 = minimum_s32((s32)((u32)v27 - (u32)v28), (s32)((u32)v29 - (u32)v28));
    const s32 v34 = (s32)((u32)(s32)((u32)v29 + (u32)(s32)((u32)v27 - (u32)v28)) - (u32)1);
    for (s32 step35 = 0; step35 < 6; step35++) {
      if (v32 >= v33) break;
      const s32 v36 = shr_logical_s32((s32)((u32)v32 + (u32)v33), 1);
      const s32 j37 = clamp_s32(0, minimum_s32((s32)((u32)v28 + (u32)v36), v31), 63);
      const u16 v38 = run0[j37 + (th_x >> 3) * 64];
      const s32 j39 = clamp_s32(0, minimum_s32((s32)((u32)v34 - (u32)v36), v31), 63);
      const u16 v40 = run0[j39 + (th_x >> 3) * 64];
      const f32 v41 = decode_bf16(v40);
      const f32 v42 = decode_bf16(v38);
      const bool v43 = total_order_f32(v41) > total_order_f32(v42);
      const s32 v44 = (s32)((u32)v36 + (u32)1);
      const s32 v45 = v43 ? v32 : v44;
      const s32 v46 = v43 ? v36 : v33;
      v32 = v45;
      v33 = v46;
    }
    const s32 v47 = (s32)((u32)v28 + (u32)v32);
    s32 v48 = v47;
    const s32 v49 = (s32)((u32)v29 + (u32)(s32)((u32)(s32)((u32)v27 - (u32)v28) - (u32)v32));
    s32 v50 = v49;
    const s32 j51 = clamp_s32(0, minimum_s32(v48, v31), 63);
    const u16 v52 = run0[j51 + (th_x >> 3) * 64];
    u16 v53 = v52;
    const s32 j54 = clamp_s32(0, minimum_s32(v50, v31), 63);
    const u16 v55 = run0[j54 + (th_x >> 3) * 64];
    u16 v56 = v55;
    #pragma unroll 8
    for (s32 lane57 = 0; lane57 < 8; lane57++) {
      const u16 v58 = v56;
      const f32 v59 = decode_bf16(v58);
      const u16 v60 = v53;
      const f32 v61 = decode_bf16(v60);
      const bool v62 = total_order_f32(v59) > total_order_f32(v61);
      const bool v63 = ((v50 < v30) & (!(v48 < v29) | v62));
      const u16 v64 = v63 ? v56 : v53;
      own0[lane57] = v64;
      const s32 v65 = (s32)((u32)v48 + (u32)1);
      const s32 v66 = (s32)((u32)v50 + (u32)1);
      v48 = v63 ? v48 : v65;
      v50 = v63 ? v66 : v50;
      const s32 v67 = v63 ? v66 : v65;
      const s32 j68 = clamp_s32(0, minimum_s32(v67, v31), 63);
      const u16 v69 = run0[j68 + (th_x >> 3) * 64];
      const u16 v70 = v63 ? v53 : v69;
      v53 = v70;
      const u16 v71 = v63 ? v69 : v56;
      v56 = v71;
    }
    __syncthreads();
    #pragma unroll 8
    for (s32 vector_index72 = 0; vector_index72 < 8; vector_index72++) {
      const u16 v73 = own0[vector_index72];
      x0[vector_index72] = v73;
    }
    *(u16x8 *)(run0 + th_x * 8) = *(const u16x8 *)(x0);
    __syncthreads();
  }
  #pragma unroll 7
  for (s32 i74 = 0; i74 < 7; i74++) {
    const s32 j75 = th_x + i74 * 32 + (bl_x & 3) * 256;
    const u16 v76 = run0[th_x + i74 * 32];
    o0[j75 + (bl_x >> 2) * 1003] = v76;
  }
  if (th_x + (bl_x & 3) * 256 + 224 <= 1002) {
    const s32 j75_1 = th_x + (bl_x & 3) * 256 + 224;
    const u16 v76_1 = run0[th_x + 224];
    o0[j75_1 + (bl_x >> 2) * 1003] = v76_1;
  }
}
