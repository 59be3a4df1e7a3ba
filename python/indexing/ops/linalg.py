"""fft, cholesky, triangular-solve: maps are exact in batch dimensions, and within matrices as far as the algebra allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from indexing._core import SymbolicExpr
from indexing.hlo import Instruction
from indexing.lazy import np
from indexing.ops.contraction import accumulator, to_element
from indexing.ops.op import Op
from indexing.ops.operand_indexing import Constraint, Indexing, OperandIndexing, tensor_map, variables
from indexing.ops.operation_count import FMA, CountInside, OperationCount
from indexing.ops.substitution import cholesky_expansion, solve_expansion
from indexing.ops.values import Array, HloValue, only_array

# ---------------------------------------------------------------- fft


def fft_output_to_input(instruction: Instruction, output: int) -> Indexing:
    """out[b, k] = sum over x of in[b, x] * w^(k x): all transformed dimensions are read."""
    return [[_all_transformed(instruction, instruction.shape.dimensions, instruction.operands[0].shape.dimensions)]]


def _all_transformed(instruction: Instruction, sizes: Sequence[int], other: Sequence[int]) -> OperandIndexing:
    count = len(instruction.ints("fft_length"))
    batch = len(sizes) - count
    results = variables(batch) + variables(count, len(sizes))
    return OperandIndexing(tensor_map(results, sizes, other[batch:]))


def fft_reference(instruction: Instruction, values: Sequence[HloValue]) -> HloValue:
    """numpy's transforms over the last dimensions, in double precision; inverse transforms divide by the length."""
    operand = only_array(values[0])
    lengths = instruction.ints("fft_length")
    if 0 in operand.shape or 0 in instruction.shape.dimensions:
        return np.zeros(instruction.shape.dimensions, instruction.shape.dtype)
    axes = tuple(range(operand.ndim - len(lengths), operand.ndim))
    wide = operand.astype(accumulator(operand.dtype))
    transforms: dict[str, Callable[[], Array]] = {
        "FFT": lambda: np.fft.fftn(wide, axes=axes),
        "IFFT": lambda: np.fft.ifftn(wide, axes=axes),
        "RFFT": lambda: np.fft.rfftn(wide, s=lengths, axes=axes),
        "IRFFT": lambda: np.fft.irfftn(wide, s=lengths, axes=axes),
    }
    return transforms[instruction.text("fft_type")]().astype(instruction.shape.dtype)


# ---------------------------------------------------------------- cholesky


def cholesky_output_to_input(instruction: Instruction, output: int) -> Indexing:
    """out[i, j], i >= j, depends on in[i, :j+1] and the triangle up to row j; the other triangle of out is zero."""
    sizes = instruction.shape.dimensions
    *lead, n, _ = sizes
    batch, (p, q), (s, t) = variables(len(lead)), variables(2, len(lead)), variables(2, len(sizes))
    lower = instruction.flag("lower")
    i, j = (p, q) if lower else (q, p)
    row = _oriented(lower, i, s)
    triangle = _oriented(lower, s, t)
    own_row = [_at_least(i - j, 1, n), _at_least(j - s, 0, n)]
    above = [_at_least(i - j, 0, n), _at_least(j - s, 0, n), _at_least(s - t, 0, n)]
    return [
        [
            OperandIndexing(tensor_map([*batch, *row], sizes, [n], constraints=own_row)),
            OperandIndexing(tensor_map([*batch, *triangle], sizes, [n, n], constraints=above)),
        ]
    ]


def cholesky_input_to_output(instruction: Instruction, operand: int) -> Indexing:
    """in[r, c], r >= c, goes to out[r, c:r+1] and, below row r, to out[i, r:i+1]."""
    sizes = instruction.shape.dimensions
    *lead, n, _ = sizes
    batch, (p, q), (s, t) = variables(len(lead)), variables(2, len(lead)), variables(2, len(sizes))
    lower = instruction.flag("lower")
    r, c = (p, q) if lower else (q, p)
    own_row = [_at_least(r - c, 0, n), _at_least(s - c, 0, n), _at_least(r - s, 0, n)]
    below = [_at_least(r - c, 0, n), _at_least(t - r, 0, n), _at_least(s - t, 0, n), _at_least(s - r, 1, n)]
    return [
        [
            OperandIndexing(tensor_map([*batch, *_oriented(lower, r, s)], sizes, [n], constraints=own_row)),
            OperandIndexing(tensor_map([*batch, *_oriented(lower, s, t)], sizes, [n, n], constraints=below)),
        ]
    ]


def _at_least(difference: SymbolicExpr, least: int, n: int) -> Constraint:
    """The constraint that a difference of indices of a dimension of n is at least `least`."""
    return (difference, (least, n - 1))


def _oriented(lower: bool, row: SymbolicExpr, column: SymbolicExpr) -> list[SymbolicExpr]:
    """An index of the lower triangle, or its mirror image in the upper one."""
    return [row, column] if lower else [column, row]


def cholesky_reference(instruction: Instruction, values: Sequence[HloValue]) -> HloValue:
    """L with L L^H = in (or U with U^H U = in), from one triangle; NaN where a matrix isn't positive definite."""
    operand = only_array(values[0])
    lower = instruction.flag("lower")
    matrices = operand.astype(accumulator(operand.dtype))
    if not lower:
        matrices = np.conj(np.swapaxes(matrices, -1, -2))
    try:
        factor = np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:
        factor = _factor_by_columns(matrices)
    return to_element(factor if lower else np.conj(np.swapaxes(factor, -1, -2)), operand.dtype)


def _factor_by_columns(matrices: Array) -> Array:
    """The lower factors of matrices that need not be positive definite: NaN from where they are not."""
    factor = np.zeros(matrices.shape, matrices.dtype)
    with np.errstate(all="ignore"):
        for j in range(matrices.shape[-1]):
            rest = matrices[..., j:, j] - np.einsum("...ik,...k->...i", factor[..., j:, :j], factor[..., j, :j].conj())
            pivot = rest[..., 0].real
            root = np.sqrt(np.where(pivot > 0, pivot, np.nan))
            factor[..., j:, j] = rest / root[..., None]
            factor[..., j, j] = root
    return factor


# ---------------------------------------------------------------- triangular-solve


def _solves_forward(instruction: Instruction) -> bool:
    """Whether element i of a solution depends on the elements before it, not on those after it."""
    lower = instruction.flag("lower") != (instruction.text("transpose_a") != "NO_TRANSPOSE")
    return lower == instruction.flag("left_side")


def _transposed_access(instruction: Instruction) -> bool:
    """Whether a's coefficient of unknown c in equation i is a[c, i], not a[i, c]."""
    return (instruction.text("transpose_a") != "NO_TRANSPOSE") == instruction.flag("left_side")


def _not_behind(
    instruction: Instruction, first: SymbolicExpr, second: SymbolicExpr, n: int, gap: int = 0
) -> Constraint:
    """The constraint that `first` is solved before `second` (by at least `gap`)."""
    return _at_least(second - first if _solves_forward(instruction) else first - second, gap, n)


def _coefficient(instruction: Instruction, equation: SymbolicExpr, unknown: SymbolicExpr) -> list[SymbolicExpr]:
    return [unknown, equation] if _transposed_access(instruction) else [equation, unknown]


def solve_output_to_input(instruction: Instruction, output: int) -> Indexing:
    """x[i] = (b[i] - sum over the solved c of a[i, c] x[c]) / a[i, i], for each column (or row) of b."""
    sizes = instruction.shape.dimensions
    rank = len(sizes)
    batch, (p, q) = variables(rank - 2), variables(2, rank - 2)
    s, t = variables(2, rank)
    left = instruction.flag("left_side")
    i, n = (p, sizes[-2]) if left else (q, sizes[-1])
    gap = 1 if instruction.flag("unit_diagonal") else 0
    a = [*batch, *_coefficient(instruction, s, t)]
    solved = [_not_behind(instruction, s, i, n), _not_behind(instruction, t, s, n, gap)]
    b = [*batch, *((s, q) if left else (p, s))]
    return [
        [OperandIndexing(tensor_map(a, sizes, [n, n], constraints=solved))],
        [OperandIndexing(tensor_map(b, sizes, [n], constraints=solved[:1]))],
    ]


def solve_reference(instruction: Instruction, values: Sequence[HloValue]) -> HloValue:
    """Substitution, row by row, for all systems at once; only a's triangle is read."""
    a, b = (only_array(v) for v in values)
    wide = accumulator(b.dtype)
    matrix, right = a.astype(wide), b.astype(wide)
    if instruction.text("transpose_a") == "ADJOINT":
        matrix = matrix.conj()
    if _transposed_access(instruction):
        matrix = np.swapaxes(matrix, -1, -2)
    left = instruction.flag("left_side")
    x = (right if left else np.swapaxes(right, -1, -2)).copy()
    n = x.shape[-2]
    forward = _solves_forward(instruction)
    with np.errstate(all="ignore"):
        for i in range(n) if forward else reversed(range(n)):
            done = slice(0, i) if forward else slice(i + 1, n)
            x[..., i, :] -= np.einsum("...c,...cm->...m", matrix[..., i, done], x[..., done, :])
            if not instruction.flag("unit_diagonal"):
                x[..., i, :] /= matrix[..., i, i][..., None]
    return to_element(x if left else np.swapaxes(x, -1, -2), b.dtype)


def _fft_operations(instruction: Instruction, inside: CountInside) -> OperationCount:
    """Four multiplications and additions for each element of the operand and each halving of all lengths, as XLA estimates."""
    halvings = prod(max(n.bit_length() - 1, 0) for n in instruction.ints("fft_length"))
    return OperationCount(FMA * 4 * instruction.operands[0].shape.element_count * halvings)


def _cholesky_operations(instruction: Instruction, inside: CountInside) -> OperationCount:
    """n^3 / 3 for each matrix."""
    shape = instruction.shape
    return OperationCount(shape.element_count * shape.dimensions[-1] // 3)


def _solve_operations(instruction: Instruction, inside: CountInside) -> OperationCount:
    """n multiplications and additions for each element of the right-hand sides."""
    matrix = instruction.operands[0].shape
    return OperationCount(FMA * instruction.shape.element_count * matrix.dimensions[-1])


FFT = Op(
    "fft",
    "out[b, k] = sum_x in[b, x] * exp(-2 pi i k x / n); IFFT, RFFT, IRFFT alike",
    fft_output_to_input,
    fft_reference,
    reads_many=True,
    operations=_fft_operations,
)

CHOLESKY = Op(
    "cholesky",
    "out[i, j] = (in[i, j] - sum_{k < j} out[i, k] * conj(out[j, k])) / out[j, j] for i >= j, else 0",
    cholesky_output_to_input,
    cholesky_reference,
    cholesky_input_to_output,
    expansion=cholesky_expansion,
    operations=_cholesky_operations,
)
TRIANGULAR_SOLVE = Op(
    "triangular-solve",
    "out[i] = (b[i] - sum_{c solved} op(a)[i, c] * out[c]) / op(a)[i, i], for each column of b",
    solve_output_to_input,
    solve_reference,
    expansion=solve_expansion,
    operations=_solve_operations,
)
OPS = (FFT, CHOLESKY, TRIANGULAR_SOLVE)
