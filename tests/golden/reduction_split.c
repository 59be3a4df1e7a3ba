// fused: reduction emitter, 256 blocks of 64 threads

#define abs_f32 __builtin_fabsf
typedef float f32;
typedef unsigned short u16;
typedef unsigned int u32;
#define inf_f32 __builtin_inff()
typedef int s32;
typedef long long s64;

static inline f32 float_f32(u32 x) { f32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

static inline f32 decode_bf16(u16 bits) { return float_f32((u32)bits << 16); }

static inline u32 bits_f32(f32 x) { u32 y; __builtin_memcpy(&y, &x, sizeof y); return y; }

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

static inline s32 maximum_s32(s32 a, s32 b) { return a > b ? a : b; }

// greater
static inline f32 combine0(f32 a0, f32 b0) {
  const f32 v0 = maximum_f32(a0, b0);
  return v0;
}

static void reduction_reduce_blocks(const u16 *restrict p0, f32 *restrict o0, f32 *restrict w0, u32 *restrict w1, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 256;
    __attribute__((aligned(64))) u32 last1[1];
    __attribute__((aligned(64))) f32 v0_of[64];
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 64; th_x++) {
      f32 v0 = (-inf_f32);
      v0_of[th_x] = v0;
    }
    for (s32 step2 = 0; step2 < 91; step2++) {
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 64; th_x++) {
        f32 v0 = v0_of[th_x];
        const u16 v3 = p0[th_x + bl_x * 5824 + step2 * 64];
        const f32 v4 = decode_bf16(v3);
        const f32 v5 = abs_f32(v4);
        const f32 v6 = maximum_f32(v0, v5);
        v0 = v6;
        v0_of[th_x] = v0;
      }
    }
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < -maximum_s32(bl_x * 64, 8993) + 9057; th_x++) {
      f32 v0 = v0_of[th_x];
      const s32 j7 = th_x + bl_x * 64 + 1490944;
      const u16 v8 = p0[th_x + bl_x * 64 + 1490944];
      const f32 v9 = decode_bf16(v8);
      const f32 v10 = abs_f32(v9);
      const f32 v11 = maximum_f32(v0, v10);
      v0 = v11;
      v0_of[th_x] = v0;
    }
    for (s32 cell9 = 0; cell9 < 32; cell9++) {
      const f32 v0_both = combine0(v0_of[cell9], v0_of[cell9 + 32]);
      v0_of[cell9] = v0_both;
    }
    for (s32 cell10 = 0; cell10 < 16; cell10++) {
      const f32 v0_both1 = combine0(v0_of[cell10], v0_of[cell10 + 16]);
      v0_of[cell10] = v0_both1;
    }
    for (s32 cell11 = 0; cell11 < 8; cell11++) {
      const f32 v0_both2 = combine0(v0_of[cell11], v0_of[cell11 + 8]);
      v0_of[cell11] = v0_both2;
    }
    for (s32 cell12 = 0; cell12 < 4; cell12++) {
      const f32 v0_both3 = combine0(v0_of[cell12], v0_of[cell12 + 4]);
      v0_of[cell12] = v0_both3;
    }
    for (s32 cell13 = 0; cell13 < 2; cell13++) {
      const f32 v0_both4 = combine0(v0_of[cell13], v0_of[cell13 + 2]);
      v0_of[cell13] = v0_both4;
    }
    const f32 v0_both5 = combine0(v0_of[0], v0_of[1]);
    v0_of[0] = v0_both5;
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 1; th_x++) {
      const f32 v0 = v0_of[th_x];
      w0[bl_x] = v0;
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (s32 th_x = 0; th_x < 1; th_x++) {
      const u32 arrived12 = __atomic_fetch_add(w1, 1u, __ATOMIC_ACQ_REL);
      last1[0] = arrived12;
    }
    if (last1[0] == 255u) {
      __atomic_thread_fence(__ATOMIC_SEQ_CST);
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 64; th_x++) {
        f32 v0 = v0_of[th_x];
        if (th_x <= 0) {
          w1[0] = 0u;
        }
        v0 = (-inf_f32);
        const f32 v14_1 = w0[th_x];
        const f32 v15_1 = maximum_f32(v0, v14_1);
        v0 = v15_1;
        const f32 v14_2 = w0[th_x + 64];
        const f32 v15_2 = maximum_f32(v0, v14_2);
        v0 = v15_2;
        const f32 v14_3 = w0[th_x + 128];
        const f32 v15_3 = maximum_f32(v0, v14_3);
        v0 = v15_3;
        const f32 v14_4 = w0[th_x + 192];
        const f32 v15_4 = maximum_f32(v0, v14_4);
        v0 = v15_4;
        v0_of[th_x] = v0;
      }
      for (s32 cell14 = 0; cell14 < 32; cell14++) {
        const f32 v0_both6 = combine0(v0_of[cell14], v0_of[cell14 + 32]);
        v0_of[cell14] = v0_both6;
      }
      for (s32 cell15 = 0; cell15 < 16; cell15++) {
        const f32 v0_both7 = combine0(v0_of[cell15], v0_of[cell15 + 16]);
        v0_of[cell15] = v0_both7;
      }
      for (s32 cell16 = 0; cell16 < 8; cell16++) {
        const f32 v0_both8 = combine0(v0_of[cell16], v0_of[cell16 + 8]);
        v0_of[cell16] = v0_both8;
      }
      for (s32 cell17 = 0; cell17 < 4; cell17++) {
        const f32 v0_both9 = combine0(v0_of[cell17], v0_of[cell17 + 4]);
        v0_of[cell17] = v0_both9;
      }
      for (s32 cell18 = 0; cell18 < 2; cell18++) {
        const f32 v0_both10 = combine0(v0_of[cell18], v0_of[cell18 + 2]);
        v0_of[cell18] = v0_both10;
      }
      const f32 v0_both11 = combine0(v0_of[0], v0_of[1]);
      v0_of[0] = v0_both11;
      #pragma GCC ivdep
      for (s32 th_x = 0; th_x < 1; th_x++) {
        const f32 v0 = v0_of[th_x];
        const f32 v16 = maximum_f32(0.0f, v0);
        o0[0] = v16;
      }
    }
  }
}

void reduction_reduce(void *const *buffers, s64 first_block, s64 last_block) {
  reduction_reduce_blocks(buffers[0], buffers[1], buffers[2], buffers[3], first_block, last_block);
}
