// fused: loop emitter, 2048 blocks of 128 threads

typedef float f32;
typedef unsigned short u16;
typedef unsigned int u32;
typedef double f64;
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define mul_add_f64(a, b, c) __builtin_fma(a, b, c)
#else
#define mul_add_f64(a, b, c) ((a) * (b) + (c))
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

static inline f64 limit_f64(f64 x, f64 bound) { return x < -bound ? -bound : x > bound ? bound : x; }  // NaN stays

static inline f32 erf_f32(f32 x) {
  f64 w = limit_f64(x, 4), t = mul_add_f64(w, w * 0.125, -1.0);
  return (f32)(w * mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(mul_add_f64(1.3255538617166426e-05, t, -3.671408860250442e-05), t, 3.1074309902391585e-05), t, -7.231690046160307e-05), t, 0.00029918116308082703), t, -0.0006730864421860812), t, 0.001272323989597212), t, -0.002530356632088158), t, 0.00486462767525471), t, -0.008630037695059569), t, 0.014345736948418225), t, -0.02246618344167174), t, 0.03306146917048697), t, -0.045766481947016074), t, 0.059886799539816724), t, -0.07472772607124918), t, 0.09020900091693765), t, -0.10771044904001163), t, 0.13167511672362636), t, -0.17657623321207105), t, 0.3535309956441157));
}

static void loop_convert_blocks(const u16 *restrict p0, u16 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 bl_x = block % 2048;
    #pragma GCC ivdep
    for (s32 th_x = 0; th_x < 128; th_x++) {
      const s32 i = th_x + bl_x * 128;
      const u16 v0 = p0[th_x + bl_x * 128];
      const f32 v1 = decode_bf16(v0);
      const f32 v2 = v1 * 0.5f;
      const f32 v3 = v1 * 0.70710677f;
      const f32 v4 = erf_f32(v3);
      const f32 v5 = v4 + 1.0f;
      const f32 v6 = v2 * v5;
      const u16 v7_bits = encode_bf16(v6);
      o0[th_x + bl_x * 128] = v7_bits;
    }
  }
}

void loop_convert(void *const *buffers, s64 first_block, s64 last_block) {
  loop_convert_blocks(buffers[0], buffers[1], first_block, last_block);
}
