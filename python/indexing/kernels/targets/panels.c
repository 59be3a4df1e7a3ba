// The products of panels for CPUs: a tile of sums in vector registers, by the vector extensions of gcc and clang. `$T` is the type
// of an element, `$W` that of a word whose sums wrap.
//
// The width of a vector is that of the machine for which a kernel is compiled. Products are added by fused operations where the
// machine has them, as `mul_add` does in `math.c`; only here may the compiler contract a product and a sum, so no function that
// was compiled under other rules takes this one in.

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

#ifdef __clang__
#define CONTRACTS
#else
#define CONTRACTS __attribute__((optimize("fp-contract=fast")))
#endif

CONTRACTS __attribute__((noinline)) void multiply_panels_$NAME($T *sums, const $T *left, const $T *right, s64 depth) {
#ifdef __clang__
#pragma clang fp contract(fast)
#endif
  typedef $W vector __attribute__((vector_size(VECTOR_BYTES)));
  enum { rows = $ROWS, columns = $COLUMNS, lanes = VECTOR_BYTES / sizeof($T) };
  enum { vectors = $BYTES > VECTOR_BYTES ? 2 : 1, part = vectors * lanes };  // of a row, whose sums stay in registers
  for (s32 first = 0; first < columns; first += part) {
    vector total[rows][vectors];
#pragma GCC unroll 16
    for (s32 i = 0; i < rows; i++)
#pragma GCC unroll 16
      for (s32 j = 0; j < vectors; j++) total[i][j] = *(const vector *)(sums + first + i * columns + j * lanes);
    for (s64 k = 0; k < depth; k++) {
      vector row[vectors];
#pragma GCC unroll 16
      for (s32 j = 0; j < vectors; j++) row[j] = *(const vector *)(right + first + k * columns + j * lanes);
#pragma GCC unroll 16
      for (s32 i = 0; i < rows; i++) {
        const $W factor = left[i * depth + k];
#pragma GCC unroll 16
        for (s32 j = 0; j < vectors; j++) total[i][j] = row[j] * factor + total[i][j];
      }
    }
#pragma GCC unroll 16
    for (s32 i = 0; i < rows; i++)
#pragma GCC unroll 16
      for (s32 j = 0; j < vectors; j++) *(vector *)(sums + first + i * columns + j * lanes) = total[i][j];
  }
}
