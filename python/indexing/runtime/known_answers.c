/* Kernels whose answers are known, in the forms that the C target writes: they tell whether a compiler is right with its flags.
 *
 * The program reads calls (the number of a kernel, of its blocks, and its buffers), and writes the buffers after each. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#endif

typedef float f32;
typedef double f64;
typedef signed char s8;
typedef unsigned char u8;
typedef short s16;
typedef unsigned short u16;
typedef int s32;
typedef long long s64;

/* A window of 3 by 3 on a dilated operand: values are added under a condition, from places that are not adjacent. */
#define WINDOW(T, N)                                                                                                     \
  static void window_##T##_blocks(const T *restrict p0, T *restrict o0, s64 first_block, s64 last_block) {               \
    for (s64 block = first_block; block < last_block; block++) {                                                         \
      __attribute__((aligned(64))) T v0_of[N];                                                                           \
      _Pragma("GCC ivdep") for (s32 th_x = 0; th_x < N; th_x++) v0_of[th_x] = 1;                                         \
      for (s32 r1 = 0; r1 < 3; r1++) {                                                                                   \
        for (s32 r2 = 0; r2 < 3; r2++) {                                                                                 \
          _Pragma("GCC ivdep") for (s32 th_x = 0; th_x < N; th_x++) {                                                    \
            const s32 i = th_x;                                                                                          \
            if (((r1 + i / 12) & 1) <= 0 && (i >> 1) % 3 <= 0 && r2 + (i & 1) + 1 <= 2) {                                \
              const s32 j3 = r2 + (i & 1) + 1;                                                                           \
              v0_of[th_x] = v0_of[th_x] + p0[j3 + ((r1 + (i / 12) * 3) >> 1) * 9 + ((i / 6) & 1) * 3];                   \
            }                                                                                                            \
          }                                                                                                              \
        }                                                                                                                \
      }                                                                                                                  \
      _Pragma("GCC ivdep") for (s32 th_x = 0; th_x < N; th_x++) o0[block * N + th_x] = v0_of[th_x];                      \
    }                                                                                                                    \
  }                                                                                                                      \
  void window_##T(void *const *b, s64 first, s64 last) { window_##T##_blocks(b[0], b[1], first, last); }

WINDOW(f32, 120)
WINDOW(f64, 120)
WINDOW(s32, 120)
WINDOW(s64, 72)
WINDOW(s16, 120)
WINDOW(u8, 120)

/* A window of 4 by 2 by 4 on an operand that is dilated in two dimensions: a remainder of negative numbers is a condition. */
static inline s32 floor_mod_s32(s32 a, s32 b) {
  s32 m = b < 0 ? -b : b, r = a % m;
  return r < 0 ? r + m : r;
}
static void dilated_blocks(const s32 *restrict p0, s32 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    __attribute__((aligned(64))) s32 v0_of[128];
    _Pragma("GCC ivdep") for (s32 th_x = 0; th_x < 12; th_x++) v0_of[th_x] = 0;
    for (s32 r1 = 0; r1 < 4; r1++) {
      for (s32 r2 = 0; r2 < 2; r2++) {
        for (s32 r3 = 0; r3 < 4; r3++) {
          _Pragma("GCC ivdep") for (s32 th_x = 0; th_x < 12; th_x++) {
            const s32 i = th_x;
            if ((r1 + i / 6 <= 2) & (((r1 + i / 6) & 1) <= 0) & (floor_mod_s32(((i / 3) & 1) - r2, 3) <= 0) &
                (r3 + i % 3 <= 3)) {
              const s32 j4 = (i + r1 * 6) / 12;
              const s32 j5 = r3 + i % 3;
              v0_of[th_x] = p0[j4 * 8 + j5 + ((r2 * 6 + i % 6) / 9) * 4] ^ v0_of[th_x];
            }
          }
        }
      }
    }
    _Pragma("GCC ivdep") for (s32 th_x = 0; th_x < 12; th_x++) o0[th_x] = v0_of[th_x];
  }
}
void dilated(void *const *b, s64 first, s64 last) { dilated_blocks(b[0], b[1], first, last); }

/* Padding with gaps: elements from the operand where they lie in it, else a constant; 300 elements in blocks of 128. */
static void padded_blocks(const f32 *restrict p0, f32 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    const s32 last = 300 - block * 128 < 128 ? (s32)(300 - block * 128) : 128;
    _Pragma("GCC ivdep") for (s32 th_x = 0; th_x < last; th_x++) {
      const s32 i = (s32)block * 128 + th_x, row = i / 20 - 1, column = i % 20 - 3;
      f32 v = -1.0f;
      if (row >= 0 && row < 13 && column >= 0 && column < 15 && column % 2 == 0) v = p0[row * 8 + column / 2];
      o0[i] = v;
    }
  }
}
void padded(void *const *b, s64 first, s64 last) { padded_blocks(b[0], b[1], first, last); }

/* Rows of a table by clamped indices, added to the output where a predicate holds. */
static void take_blocks(const f32 *restrict p0, const s32 *restrict p1, const u8 *restrict p2, f32 *restrict o0,
                        s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    _Pragma("GCC ivdep") for (s32 th_x = 0; th_x < 200; th_x++) {
      s32 row = p1[th_x / 5];
      row = row < 0 ? 0 : row > 10 ? 10 : row;
      if (p2[th_x]) o0[th_x] = o0[th_x] + p0[row * 5 + th_x % 5];
    }
  }
}
void take(void *const *b, s64 first, s64 last) { take_blocks(b[0], b[1], b[2], b[3], first, last); }

/* Sums of columns, and the largest of each column with its row. */
static void columns_blocks(const s32 *restrict p0, s32 *restrict o0, s32 *restrict o1, s32 *restrict o2, s64 first_block,
                           s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    s32 sum_of[64], best_of[64], row_of[64];
    for (s32 th_x = 0; th_x < 53; th_x++) sum_of[th_x] = 0, best_of[th_x] = -2147483647 - 1, row_of[th_x] = 0;
    for (s32 r = 0; r < 37; r++) {
      _Pragma("GCC ivdep") for (s32 th_x = 0; th_x < 53; th_x++) {
        const s32 v = p0[(s32)block * 37 * 53 + r * 53 + th_x];
        sum_of[th_x] = (s32)((uint32_t)sum_of[th_x] + (uint32_t)v);
        if (v > best_of[th_x]) {
          best_of[th_x] = v;
          row_of[th_x] = r;
        }
      }
    }
    for (s32 th_x = 0; th_x < 53; th_x++) {
      const s64 i = block * 53 + th_x;
      o0[i] = sum_of[th_x], o1[i] = best_of[th_x], o2[i] = row_of[th_x];
    }
  }
}
void columns(void *const *b, s64 first, s64 last) { columns_blocks(b[0], b[1], b[2], b[3], first, last); }

/* For each row, the sum in a wider type and the maximum; NaN if one is. */
static void rows_blocks(const f32 *restrict p0, const s8 *restrict p1, f32 *restrict o0, s64 *restrict o1, s64 first_block,
                        s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    f32 largest = -__builtin_inff();
    s64 sum = 0;
    for (s32 r = 0; r < 77; r++) {
      const f32 v = p0[block * 77 + r];
      largest = largest != largest || v <= largest ? largest : v;
    }
    for (s32 r = 0; r < 77; r++) sum += (s64)p1[block * 77 + r] * p1[block * 77 + 76 - r];
    o0[block] = largest, o1[block] = sum;
  }
}
void rows(void *const *b, s64 first, s64 last) { rows_blocks(b[0], b[1], b[2], b[3], first, last); }

/* A transpose of 40 by 33 through a tile. */
static void transposed_blocks(const u16 *restrict p0, u16 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    u16 tile[8 * 33];
    for (s32 y = 0; y < 8; y++)
      for (s32 th_x = 0; th_x < 33; th_x++) tile[y * 33 + th_x] = p0[((s32)block * 8 + y) * 33 + th_x];
    for (s32 th_x = 0; th_x < 33; th_x++) {
      _Pragma("GCC ivdep") for (s32 y = 0; y < 8; y++) o0[th_x * 40 + (s32)block * 8 + y] = tile[y * 33 + th_x];
    }
  }
}
void transposed(void *const *b, s64 first, s64 last) { transposed_blocks(b[0], b[1], first, last); }

/* Narrow integers that wrap, shifts, quotients and remainders of both signs. */
static void integers_blocks(const s8 *restrict p0, const s32 *restrict p1, s8 *restrict o0, s32 *restrict o1,
                            u16 *restrict o2, s64 first_block, s64 last_block) {
  for (s64 i = first_block; i < last_block; i++) {
    _Pragma("GCC ivdep") for (s32 th_x = 0; th_x < 50; th_x++) {
      const s32 k = (s32)i * 50 + th_x, a = p1[k], q = a / 7 - (a % 7 < 0);
      o0[k] = (s8)(p0[k] * p0[k] + a);
      o1[k] = q * 100 + (a - q * 7) + (a >> 3);
      o2[k] = (u16)((u16)a << (k & 15)) >> 2;
    }
  }
}
void integers(void *const *b, s64 first, s64 last) { integers_blocks(b[0], b[1], b[2], b[3], b[4], first, last); }

/* Updates, several of which meet one element; those out of bounds are left out. */
static void scattered_blocks(const s32 *restrict p0, const f32 *restrict p1, f32 *restrict o0, s64 first_block,
                           s64 last_block) {
  for (s64 block = first_block; block < last_block; block++)
    for (s32 th_x = 0; th_x < 150; th_x++) {
      const s32 j = p0[th_x];
      if (j >= 0 && j < 24) o0[j] = o0[j] + p1[th_x];
    }
}
void scattered(void *const *b, s64 first, s64 last) { scattered_blocks(b[0], b[1], b[2], first, last); }

/* A product of 20 by 24 and 24 by 28, a row of the result for each block. */
static void product_blocks(const f32 *restrict p0, const f32 *restrict p1, f32 *restrict o0, s64 first_block,
                           s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    f32 sum_of[28];
    for (s32 th_x = 0; th_x < 28; th_x++) sum_of[th_x] = 0.0f;
    for (s32 r = 0; r < 24; r++) {
      _Pragma("GCC ivdep") for (s32 th_x = 0; th_x < 28; th_x++)
        sum_of[th_x] = sum_of[th_x] + p0[block * 24 + r] * p1[r * 28 + th_x];
    }
    for (s32 th_x = 0; th_x < 28; th_x++) o0[block * 28 + th_x] = sum_of[th_x];
  }
}
void product(void *const *b, s64 first, s64 last) { product_blocks(b[0], b[1], b[2], first, last); }

/* A product of 9 by 12 and 12 by 4, all in one block: neighbouring elements share a row, or a column. */
#ifdef __FMA__
#define mul_add_f32(a, b, c) __builtin_fmaf(a, b, c)
#else
#define mul_add_f32(a, b, c) ((a) * (b) + (c))
#endif
static void narrow_blocks(const f32 *restrict p0, const f32 *restrict p1, f32 *restrict o0, s64 first_block,
                          s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    __attribute__((aligned(64))) f32 v0_of[128];
    _Pragma("GCC ivdep") for (s32 th_x = 0; th_x < 36; th_x++) v0_of[th_x] = 0.0f;
    for (s32 r1 = 0; r1 < 12; r1++) {
      _Pragma("GCC ivdep") for (s32 th_x = 0; th_x < 36; th_x++) {
        const s32 i = th_x;
        v0_of[th_x] = mul_add_f32(p0[r1 + (i >> 2) * 12], p1[r1 * 4 + (i & 3)], v0_of[th_x]);
      }
    }
    _Pragma("GCC ivdep") for (s32 th_x = 0; th_x < 36; th_x++) o0[th_x] = v0_of[th_x];
  }
}
void narrow(void *const *b, s64 first, s64 last) { narrow_blocks(b[0], b[1], b[2], first, last); }

/* A step on floats that must not be contracted or reordered, and conversions of floats to integers within bounds. */
static void floats_blocks(const f32 *restrict p0, const f32 *restrict p1, f32 *restrict o0, s32 *restrict o1,
                          s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    _Pragma("GCC ivdep") for (s32 th_x = 0; th_x < 64; th_x++) {
      const s32 i = (s32)block * 64 + th_x;
      const f32 a = p0[i], c = p1[i];
      const f32 v = a * c + (a - c) - a;
      o0[i] = a != a || a > c ? v : c != c ? 0.0f : -v;
      o1[i] = a != a ? 0 : a > 1000.0f ? 1000 : a < -1000.0f ? -1000 : (s32)a;
    }
  }
}
void floats(void *const *b, s64 first, s64 last) { floats_blocks(b[0], b[1], b[2], b[3], first, last); }

/* Running sums of 4 elements, in loops that a compiler unrolls: what one iteration stores, the next one loads. */
static void triangle_blocks(const s8 *restrict p0, s8 *restrict o0, s64 first_block, s64 last_block) {
  for (s64 block = first_block; block < last_block; block++) {
    __attribute__((aligned(64))) s8 v2_of[128];
    __attribute__((aligned(64))) s8 v0_of[128];
    _Pragma("GCC ivdep") for (s32 th_x = 0; th_x < 4; th_x++) v0_of[th_x] = 0;
    _Pragma("GCC ivdep") for (s32 th_x = 1; th_x < 4; th_x++) v2_of[th_x] = 0;
    for (s32 r3 = 0; r3 < 4; r3++) {
      _Pragma("GCC ivdep") for (s32 th_x = -r3 + 4; th_x < 4; th_x++) {
        v2_of[th_x] = (s8)(v2_of[th_x] + p0[th_x + r3 - 4]);
      }
    }
    _Pragma("GCC ivdep") for (s32 th_x = 1; th_x < 4; th_x++) v0_of[th_x] = v2_of[th_x];
    _Pragma("GCC ivdep") for (s32 th_x = 0; th_x < 4; th_x++) o0[th_x] = v0_of[th_x];
  }
}
void triangle(void *const *b, s64 first, s64 last) { triangle_blocks(b[0], b[1], first, last); }

typedef void (*kernel_t)(void *const *, s64, s64);
static const kernel_t volatile kernels[] = {window_f32, window_f64, window_s32, window_s64, window_s16, window_u8,
                                            dilated,    padded,     take,       columns,    rows,       transposed,
                                            integers,   scattered,  product,    narrow,     floats,     triangle};

int main(void) {
  s64 call[3], sizes[8];
#ifdef _WIN32
  _setmode(_fileno(stdin), _O_BINARY);
  _setmode(_fileno(stdout), _O_BINARY);
#endif
  while (fread(call, sizeof call, 1, stdin)) {
    void *buffers[8];
    for (s64 k = 0; k < call[2]; k++) {
      if (!fread(&sizes[k], sizeof(s64), 1, stdin)) return 1;
      char *memory = malloc((size_t)sizes[k] + 64);
      if (!memory) return 1;
      buffers[k] = memory + (64 - (uintptr_t)memory % 64);
      if (!fread(buffers[k], (size_t)sizes[k], 1, stdin)) return 1;
    }
    kernels[call[0]](buffers, 0, call[1]);
    for (s64 k = 0; k < call[2]; k++) fwrite(buffers[k], (size_t)sizes[k], 1, stdout);
  }
  return 0;
}
