// Factors of matrices, and solutions of triangular systems, on CPUs. `$T` is the type of an element, `$R` that of its real part,
// `$PARTS` the number of its parts, `$KIND` its name in HLO.
//
// Most of the work are sums of products, in tiles of a few rows of two vectors, which stay in registers. Work areas have rows of
// whole pairs of vectors, so that there are no ends of rows: what is behind a row's end changes no element.

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
#ifdef __clang__
#pragma clang fp contract(fast)
#pragma STDC CX_LIMITED_RANGE ON
#define REASSOCIATES
#define REASSOCIATED _Pragma("clang fp reassociate(on)")
#else
#pragma GCC optimize("fp-contract=fast", "cx-fortran-rules")
#define REASSOCIATES __attribute__((optimize("associative-math", "no-signed-zeros")))
#define REASSOCIATED
#endif

typedef $T value;
typedef $R real;
typedef long long s64;
typedef _Bool bool;
enum { false, true };
typedef real vector __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(real)), may_alias));
enum { PARTS = $PARTS, LANES = VECTOR_BYTES / sizeof(value), PAIR = 2 * LANES, ROWS = 6 / PARTS, PANEL = 16, MAX_FEW = 3 };

// A matrix in memory: element (i, k) is at[i * down + k * across].
typedef struct {
  const value *at;
  s64 down, across;
} matrix;

static s64 smaller(s64 a, s64 b) { return a < b ? a : b; }

static s64 padded(s64 n) { return (n + PAIR - 1) / PAIR * PAIR; }

#if $PARTS == 1
static real size(value x) { return x < 0 ? -x : x; }

static value conjugate(value x) { return x; }

static vector sum_of_parts(const vector *sums, bool is_conjugate) { return sums[0]; }
#else
static real size(value x) {  // as LAPACK compares pivots
  const real re = __real__ x, im = __imag__ x;
  return (re < 0 ? -re : re) + (im < 0 ? -im : im);
}

static value conjugate(value x) { return ~x; }

// Products with real parts, and i times those with imaginary parts, or with these negated.
static vector sum_of_parts(const vector *sums, bool is_conjugate) {
  vector signs, turned;
#pragma GCC unroll 16
  for (s64 l = 0; l < 2 * LANES; l++) signs[l] = (l + is_conjugate) % 2 ? 1 : -1, turned[l] = sums[1][l ^ 1];
  return sums[0] + signs * turned;
}
#endif

// Subtracts the product of `a`, of count x depth, or of its conjugates, and `b` from `c`, of `wide` columns, in whole pairs of
// vectors.
__attribute__((noinline)) static void subtract_rows(value *c, s64 ldc, matrix a, bool is_conjugate, const value *b, s64 ldb,
                                                    s64 count, s64 depth, s64 wide) {
  const value *rows[ROWS];
  for (s64 i = 0; i < ROWS; i++) rows[i] = a.at + smaller(i, count - 1) * a.down;  // those behind the last are not stored
  for (s64 j = 0; j < wide; j += PAIR) {
    vector sums[ROWS][2][PARTS];
#pragma GCC unroll 16
    for (s64 i = 0; i < ROWS; i++)
#pragma GCC unroll 16
      for (s64 p = 0; p < PARTS; p++) sums[i][0][p] = sums[i][1][p] = (vector){0};
    for (s64 k = 0; k < depth; k++) {
      const vector low = *(const vector *)(b + k * ldb + j), high = *(const vector *)(b + k * ldb + j + LANES);
#pragma GCC unroll 16
      for (s64 i = 0; i < ROWS; i++)
#pragma GCC unroll 16
        for (s64 p = 0; p < PARTS; p++) {
          const real factor = ((const real *)(rows[i] + k * a.across))[p];
          sums[i][0][p] += low * factor, sums[i][1][p] += high * factor;
        }
    }
#pragma GCC unroll 16
    for (s64 i = 0; i < ROWS; i++)
      if (i < count) {
        *(vector *)(c + i * ldc + j) -= sum_of_parts(sums[i][0], is_conjugate);
        *(vector *)(c + i * ldc + j + LANES) -= sum_of_parts(sums[i][1], is_conjugate);
      }
  }
}

// y -= factor * x, in whole vectors.
static void subtract_scaled(value *y, const value *x, value factor, s64 n) {
  for (s64 j = 0; j < n; j += LANES) {
    vector products[PARTS];
    for (s64 p = 0; p < PARTS; p++) products[p] = *(const vector *)(x + j) * ((const real *)&factor)[p];
    *(vector *)(y + j) -= sum_of_parts(products, false);
  }
}

// x / divisor; the inverse of a tiny divisor is no number.
static void divide(value *x, value divisor, s64 n) {
  const value inverse = 1 / divisor;
  if (inverse - inverse == 0)
    for (s64 j = 0; j < n; j++) x[j] *= inverse;
  else
    for (s64 j = 0; j < n; j++) x[j] /= divisor;
}

// Copies `rows` x `columns` elements, with rows of `ldt` elements from those with the strides of `from`, in blocks, since one
// of both is read or written across the lines of caches.
__attribute__((noinline)) static void copy_matrix(value *to, s64 ldt, matrix from, s64 rows, s64 columns) {
  enum { BLOCK = 16 };
  if (from.across == 1) {
    for (s64 i = 0; i < rows; i++) __builtin_memcpy(to + i * ldt, from.at + i * from.down, columns * sizeof(value));
    return;
  }
  for (s64 i = 0; i < rows; i += BLOCK)
    for (s64 k = 0; k < columns; k += BLOCK)
      for (s64 r = i; r < smaller(i + BLOCK, rows); r++)
        for (s64 c = k; c < smaller(k + BLOCK, columns); c++) to[r * ldt + c] = from.at[r * from.down + c * from.across];
}

// The factor L of `a` = L L^H, or U of U^H U, by the triangle that `lower` names; the other triangle is zero. A matrix that is
// not positive definite has NaN from the first column on where that is found.
static void factor(value *out, const value *a, s64 n, s64 lower, value *work) {
  const s64 ld = padded(n);
  // The rows of U: those of the matrix, or the columns of its lower triangle.
  copy_matrix(work, ld, lower ? (matrix){a, 1, n} : (matrix){a, n, 1}, n, n);
  for (s64 i = 0; i < n; i++)
    for (s64 j = n; j < ld; j++) work[i * ld + j] = 0;
  for (s64 k = 0; k < n; k += ROWS) {
    const s64 count = smaller(ROWS, n - k), begin = k / PAIR * PAIR;
    value *panel = work + k * ld;
    subtract_rows(panel + begin, ld, (matrix){work + k, 1, ld}, true, work + begin, ld, count, k, ld - begin);
    for (s64 i = 0; i < count; i++) {
      value *row = panel + i * ld;
      const real square = row[k + i], root = square > 0 ? $SQRT(square) : (real)__builtin_nanf("");
      divide(row + begin, root, ld - begin);
      row[k + i] = root;
      for (s64 r = i + 1; r < count; r++)
        subtract_scaled(panel + r * ld + begin, row + begin, conjugate(row[k + r]), ld - begin);
    }
  }
  for (s64 i = 0; i < n; i++)
    for (s64 j = 0; j < i; j++) work[i * ld + j] = 0;
  copy_matrix(out, n, lower ? (matrix){work, 1, ld} : (matrix){work, ld, 1}, n, n);
}

// Solves for one right-hand side x, in place. `down` of the coefficients is 1 or `across` is, or both are negative; element
// (i, k) is the coefficient of unknown k in equation i, which needs only those before it, or behind it.
REASSOCIATES static void solve_one(value *x, matrix a, s64 n, s64 is_lower, s64 is_unit) {
  REASSOCIATED
  for (s64 step = 0; step < n; step++) {
    const s64 i = is_lower ? step : n - 1 - step, first = is_lower ? 0 : i + 1, last = is_lower ? i : n;
    const value *row = a.at + i * a.down;
    if (a.across == 1) {
      value sum = 0;
      for (s64 k = first; k < last; k++) sum += row[k] * x[k];
      x[i] -= sum;
    }
    if (!is_unit) x[i] /= row[i * a.across];
    if (a.across != 1) {
      const value *column = a.at + i * a.across, known = x[i];
      const s64 end = is_lower ? n : i;
      for (s64 k = is_lower ? i + 1 : 0; k < end; k++) x[k] -= column[k] * known;
    }
  }
}

// Solves for `wide` right-hand sides, in whole pairs of vectors, in place; an equation needs only the unknowns before its own.
static void solve_many(value *x, matrix a, s64 n, s64 wide, s64 is_unit) {
  for (s64 k = 0; k < n; k += ROWS) {
    const s64 count = smaller(ROWS, n - k);
    subtract_rows(x + k * wide, wide, (matrix){a.at + k * a.down, a.down, a.across}, false, x, wide, count, k, wide);
    for (s64 i = k; i < k + count; i++) {
      if (!is_unit) divide(x + i * wide, a.at[i * (a.down + a.across)], wide);
      for (s64 r = i + 1; r < k + count; r++)
        subtract_scaled(x + r * wide, x + i * wide, a.at[r * a.down + i * a.across], wide);
    }
  }
}

static void conjugate_all(value *x, s64 n) {
  for (s64 k = 0; k < n; k++) x[k] = conjugate(x[k]);
}

// Solves for `count` right-hand sides, which have the strides of `within`, as the solutions. The conjugates of the coefficients
// have the conjugates of what conjugate right-hand sides have as solutions.
static void solve(value *out, matrix a, bool is_conjugate, const value *given, matrix within, s64 n, s64 count, s64 is_lower,
                  s64 is_unit, value *x) {
  const s64 down = within.down, across = within.across;
  if (count <= MAX_FEW) {
    copy_matrix(x, n, (matrix){given, across, down}, count, n);
    if (is_conjugate) conjugate_all(x, count * n);
    for (s64 c = 0; c < count; c++) solve_one(x + c * n, a, n, is_lower, is_unit);
    if (is_conjugate) conjugate_all(x, count * n);
    if (across == 1) copy_matrix(out, down, (matrix){x, 1, n}, n, count);
    else copy_matrix(out, across, (matrix){x, n, 1}, count, n);
    return;
  }
  const s64 wide = padded(count);
  for (s64 i = 0; i < n; i++)
    for (s64 j = count; j < wide; j++) x[i * wide + j] = 0;
  // Equations that need the unknowns behind their own are turned around.
  matrix rows = {x, wide, 1}, turned = {given, down, across};
  if (!is_lower) {
    a = (matrix){a.at + (n - 1) * (a.down + a.across), -a.down, -a.across};
    turned = (matrix){given + (n - 1) * down, -down, across};
    rows = (matrix){x + (n - 1) * wide, -wide, 1};
  }
  copy_matrix(x, wide, turned, n, count);
  if (is_conjugate) conjugate_all(x, n * wide);
  solve_many(x, a, n, wide, is_unit);
  if (is_conjugate) conjugate_all(x, n * wide);
  if (across == 1) copy_matrix(out, down, rows, n, count);
  else copy_matrix(out, across, (matrix){rows.at, 1, rows.down}, count, n);
}

static void exchange(value *a, value *b, s64 n, s64 stride) {
  for (s64 i = 0; i < n; i++) {
    const value kept = a[i * stride];
    a[i * stride] = b[i * stride], b[i * stride] = kept;
  }
}

// Gaussian elimination of m x n elements with row exchanges: the largest pivot of each column, the first of equal ones, NaN before
// numbers. `pivots` has the row, from 1 on, that each row was exchanged with; `info` the first column without a pivot, or 0.
static void eliminate(value *out, int *pivots, int *info, const value *a, s64 m, s64 n, value *work) {
  // Whole pairs of vectors begin at any vector, so rows have one more. The panels' width is a multiple of that of a vector.
  const s64 ld = padded(n) + LANES, steps = smaller(m, n), tall = padded(m);
  value *panel = work + m * ld;  // columns k to k + count, from row k on, each of `tall` elements
  copy_matrix(work, ld, (matrix){a, n, 1}, m, n);
  for (s64 i = 0; i < m; i++)
    for (s64 j = n; j < ld; j++) work[i * ld + j] = 0;
  *info = 0;
  for (s64 k = 0; k < steps; k += PANEL) {
    const s64 count = smaller(PANEL, steps - k), left = m - k;
    const s64 begin = (k + count) / LANES * LANES, wide = padded(n - begin);
    value *rest = work + k * ld;
    copy_matrix(panel, tall, (matrix){rest + k, 1, ld}, count, left);
    for (s64 j = 0; j < count; j++) {
      value *column = panel + j * tall;
      s64 place = j;
      real most = -1;
      for (s64 i = j; i < left; i++) {
        const real its = size(column[i]);
        if (its > most || (its != its && most == most)) place = i, most = its;
      }
      pivots[k + j] = (int)(k + place + 1);
      if (place != j) {
        exchange(rest + j * ld, rest + place * ld, ld, 1);
        exchange(panel + j, panel + place, count, tall);
      }
      const value pivot = column[j];
      if (pivot == 0) {
        if (!*info) *info = (int)(k + j + 1);
      } else {
        divide(column + j + 1, pivot, left - j - 1);
      }
      for (s64 c = j + 1; c < count; c++) {
        value *other = panel + c * tall;
        const value above = other[j];
        for (s64 i = j + 1; i < left; i++) other[i] -= column[i] * above;
      }
    }
    for (s64 i = 0; i < count; i += ROWS) {
      const s64 some = smaller(ROWS, count - i);
      subtract_rows(rest + i * ld + begin, ld, (matrix){panel + i, 1, tall}, false, rest + begin, ld, some, i, wide);
      for (s64 j = i; j < i + some; j++)
        for (s64 r = j + 1; r < i + some; r++)
          subtract_scaled(rest + r * ld + begin, rest + j * ld + begin, panel[j * tall + r], wide);
    }
    for (s64 i = count; i < left; i += ROWS)
      subtract_rows(rest + i * ld + begin, ld, (matrix){panel + i, 1, tall}, false, rest + begin, ld, smaller(ROWS, left - i),
                    count, wide);
    copy_matrix(rest + k, ld, (matrix){panel, 1, tall}, left, count);
  }
  copy_matrix(out, n, (matrix){work, ld, 1}, m, n);
}

// Blocks `first` to `last` of a launch. Buffers: the sizes, the matrices, the factors, the work area of each block.
void cholesky_$KIND(void *const *buffers, s64 first, s64 last) {
  const s64 *sizes = buffers[0], n = sizes[0], is_lower = sizes[1], work = sizes[2];
  for (s64 b = first; b < last; b++)
    factor((value *)buffers[2] + b * n * n, (const value *)buffers[1] + b * n * n, n, is_lower,
           (value *)buffers[3] + b * work);
}

// Buffers: the sizes, the matrices, the factors, the pivots, the first columns without one, the work area of each block.
void eliminate_$KIND(void *const *buffers, s64 first, s64 last) {
  const s64 *sizes = buffers[0], m = sizes[0], n = sizes[1], work = sizes[2];
  for (s64 b = first; b < last; b++)
    eliminate((value *)buffers[2] + b * m * n, (int *)buffers[3] + b * smaller(m, n), (int *)buffers[4] + b,
              (const value *)buffers[1] + b * m * n, m, n, (value *)buffers[5] + b * work);
}

// Buffers: the sizes, the triangular matrices, the right-hand sides, the solutions, the work area of each block. A block solves
// for `chunk` columns, whole pairs of vectors. Where a transposed matrix or a solution on the right is asked for, but not both,
// the coefficient of unknown k in equation i is element (k, i).
void solve_$KIND(void *const *buffers, s64 first, s64 last) {
  const s64 *sizes = buffers[0], n = sizes[0], columns = sizes[1], is_left = sizes[2], is_transposed = sizes[3] == is_left;
  const s64 is_lower = sizes[4] != is_transposed, is_unit = sizes[5], chunk = sizes[7], work = sizes[8];
  const s64 chunks = (columns + chunk - 1) / chunk;
  const matrix within = {0, is_left ? columns : 1, is_left ? 1 : n};  // of right-hand sides and solutions
  for (s64 block = first; block < last; block++) {
    const s64 b = block / chunks, begin = block % chunks * chunk;
    const s64 place = b * n * columns + begin * within.across;
    const value *a = (const value *)buffers[1] + b * n * n;
    const matrix coefficients = {a, is_transposed ? 1 : n, is_transposed ? n : 1};
    solve((value *)buffers[3] + place, coefficients, sizes[6], (const value *)buffers[2] + place, within, n,
          smaller(chunk, columns - begin), is_lower, is_unit, (value *)buffers[4] + block * work);
  }
}
