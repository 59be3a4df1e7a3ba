// Functions of CUDA alone.

// Of a shift, ptxas makes three instructions for the upper half of a loaded word, of this one.
__attribute__((const)) f32 decode_bf16(u16 bits) {
  f32 x;
  asm("mov.b32 %0, {%1, %2};" : "=f"(x) : "h"((u16)0), "h"(bits));
  return x;
}

// A product that is rounded once has enough digits for a result of 11 bits, and the instruction for powers of 2 has more.
__attribute__((const)) f32 exp_narrow_f32(f32 x) {
  f32 y;
  asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x * 1.44269504f));
  return y;
}

// Of a number that is not negative; the shift is that of its range. Compilers don't know the range: for an operator, they
// make instructions for the sign and for more digits of the reciprocal. `__umulhi` is the same instruction in the end, but
// NVRTC folds no constants in it, and moves it out of no loop.
s32 quotient_s32(s32 x, s32 divisor, s32 shift) {
  const u32 reciprocal = (u32)((((u64)1 << (32 + shift)) + divisor - 1) / divisor);
  return (s32)((u64)(u32)x * reciprocal >> (32 + shift));
}

s32 remainder_s32(s32 x, s32 divisor, s32 shift) { return x - quotient_s32(x, divisor, shift) * divisor; }

u32 pack(u16 low, u16 high) { return (u32)low | (u32)high << 16; }

void wait_copies() { asm volatile("cp.async.wait_all;" : : : "memory"); }

// ---------------------------------------------------------------- fragments of matrices

void load_matrices(u32 *to, const void *from) {
  const u32 place = (u32)__cvta_generic_to_shared(from);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(place) : "memory");
}

void load_transposed(u32 *to, const void *from) {
  const u32 place = (u32)__cvta_generic_to_shared(from);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(place) : "memory");
}

void load_transposed_bytes(u32 *to, const void *from) {
  u32 pairs[4];
  load_transposed(pairs, from);
  to[0] = __byte_perm(pairs[0], pairs[1], 0x6420);
  to[1] = __byte_perm(pairs[2], pairs[3], 0x6420);
  to[2] = __byte_perm(pairs[0], pairs[1], 0x7531);
  to[3] = __byte_perm(pairs[2], pairs[3], 0x7531);
}

void load_matrices_rounded(u32 *to, const void *from) {
  load_matrices(to, from);
  for (s32 k = 0; k < 4; k++) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(to[k]) : "f"(__uint_as_float(to[k])));
}
