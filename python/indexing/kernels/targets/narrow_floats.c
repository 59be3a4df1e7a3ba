// Conversions between f32 and narrow floats with formulas of their own. Targets that have an instruction replace those of f16
// and bf16.

// Powers of two only: no sign, no zero, no infinity; ties go to the larger one.

u8 encode_f8e8m0fnu(f32 x) {
  u32 bits = bits_f32(x), below = bits >= 0x00600000u, rounded = (bits + 0x400000u) >> 23;
  return (u8)(bits == 0 || bits >= 0x7f800000u ? 0xffu : bits < 0x00800000u ? below : rounded);
}

f32 decode_f8e8m0fnu(u8 code) {
  return float_f32(code == 0 ? 0x00400000u : code == 0xff ? 0x7fc00000u : (u32)code << 23);
}

u16 encode_f16(f32 x) {
  u32 bits = bits_f32(x), sign = bits >> 16 & 0x8000u, m = bits & 0x7fffffffu;
  u32 below = bits_f32(float_f32(m) + 0.5f) - 0x3f000000u, rounded = (m + 0xc8000fffu + (m >> 13 & 1u)) >> 13;
  return (u16)(sign | (m > 0x7f800000u ? 0x7e00u : m >= 0x47800000u ? 0x7c00u : m < 0x38800000u ? below : rounded));
}

f32 decode_f16(u16 bits) {
  u32 sign = (u32)(bits & 0x8000) << 16, m = (u32)(bits & 0x7fff) << 13;
  u32 below = bits_f32(float_f32(m + 0x38800000u) - float_f32(0x38800000u));
  u32 above = m + (m >= 0x0f800000u ? 0x70000000u : 0x38000000u);
  return float_f32(sign | (m < 0x00800000u ? below : above));
}

u16 encode_bf16(f32 x) {
  u32 bits = bits_f32(x);
  return (u16)(x != x ? 0x7fc0u : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

f32 decode_bf16(u16 bits) { return float_f32((u32)bits << 16); }

// These preserve the bits of a NaN, if they came from memory.

u16 exact_bits_f16(f32 x) {
  u32 bits = bits_f32(x);
  return x != x ? (u16)((bits >> 16 & 0x8000u) | 0x7c00u | (bits >> 13 & 0x3ffu)) : encode_f16(x);
}

u16 exact_bits_bf16(f32 x) { return x != x ? (u16)(bits_f32(x) >> 16) : encode_bf16(x); }
