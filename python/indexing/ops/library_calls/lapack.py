"""LAPACK's factorizations as JAX calls them on CPUs: sizes of results, and values by numpy, one matrix or a batch of them.

They follow LAPACK's conventions (1-based pivots, signs of reflectors), so that what is computed from a factor is the same.
Elements of a result may depend on each element of the matrices at the same index of the batch, and on no other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from indexing.errors import UnsupportedOp
from indexing.hlo import BuiltInstruction, Instruction, Shape
from indexing.lazy import np
from indexing.ops.expansion import Expansion
from indexing.ops.library_calls.configs import Config, letter
from indexing.ops.library_calls.elimination import factor_in_place
from indexing.ops.library_calls.reflections import product_of_reflections, reflected_columns
from indexing.ops.operand_indexing import OperandIndexing, tensor_map, variables
from indexing.ops.values import Array

Sizes: TypeAlias = tuple[int, ...]
#: A result without its batch dimensions: the kind of its elements (`a`, those of the matrix; its `real` or `complex` type;
#: `s32`) and its sizes; None where LAPACK leaves them to its caller.
Result: TypeAlias = tuple[str, Sizes | None]
_KINDS = {
    "s": ("f32", "f32", "c64"),
    "d": ("f64", "f64", "c128"),
    "c": ("c64", "f32", "c64"),
    "z": ("c128", "f64", "c128"),
}
_WHOLE = "LAPACK computes it from whole matrices"


@dataclass(frozen=True, slots=True)
class LapackCall:
    """A routine: its name without the letter of the type, the results for matrices of given sizes, and their values.

    `compute` gives None for a result that is a workspace, or that the call does not ask for. `expand` builds the HLO by which
    kernels compute it; None if there is none.
    """

    routine: str
    letters: str
    results: Callable[[Sequence[Sizes], Config, str], list[Result]]
    compute: Callable[[Config, Sequence[Array]], Sequence[Array | None]]
    expand: Callable[[Expansion], Sequence[BuiltInstruction] | None] = lambda _: None

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets of custom calls."""
        return tuple(f"lapack_{kind}{self.routine}_ffi" for kind in self.letters)


def batch_rank(instruction: Instruction) -> int:
    """The number of leading dimensions that number the matrices."""
    return max((int(o.shape.rank) - 2 for o in instruction.operands[:1]), default=0)


def check(call: LapackCall, instruction: Instruction, config: Config) -> None:
    """Raise UnsupportedOp unless the operands and the results are those of the routine."""
    kind = instruction.text("custom_call_target", "").removeprefix("lapack_")[0]
    shapes, count = [o.shape for o in instruction.operands], batch_rank(instruction)
    if not shapes or shapes[0].rank < 2 or shapes[0].element_type != _KINDS[kind][0]:
        raise UnsupportedOp(f"its first operand is no matrix of {_KINDS[kind][0]}")
    batch = shapes[0].dimensions[:count]
    leaves = instruction.shape.leaves
    if any(s.dimensions[:count] != batch or any(map(s.is_dynamic, range(s.rank))) for s in (*shapes, *leaves)):
        raise UnsupportedOp(f"its operands and results do not all begin with the batch {batch}")
    if any(s.element_type not in (_KINDS[kind][0], "s32") for s in shapes):
        raise UnsupportedOp(f"its operands are not all of {_KINDS[kind][0]} or s32")
    wanted = call.results([s.dimensions[count:] for s in shapes], config, kind)
    if len(wanted) != len(leaves) or not all(_is(s, w, kind, count) for s, w in zip(leaves, wanted, strict=True)):
        raise UnsupportedOp(f"its results are not those of {call.routine}: {instruction.shape}")


def _is(shape: Shape, wanted: Result, kind: str, count: int) -> bool:
    types = dict(zip(("a", "real", "complex"), _KINDS[kind], strict=True))
    name, sizes = wanted
    return shape.element_type == types.get(name, name) and sizes in (None, shape.dimensions[count:])


def values(call: LapackCall, instruction: Instruction, config: Config, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """The results; workspaces are zeros."""
    count, leaves = batch_rank(instruction), instruction.shape.leaves
    batch = math.prod(arrays[0].shape[:count])
    flat = [a.reshape(batch, *a.shape[count:]) for a in arrays]
    with np.errstate(all="ignore"):
        computed = call.compute(config, flat) if flat[0].size else [None] * len(leaves)
    return tuple(
        np.zeros(s.dimensions, s.dtype) if f is None else f.astype(s.dtype).reshape(s.dimensions)
        for s, f in zip(leaves, computed, strict=True)
    )


def whole_matrices(sizes: Sizes, read: Sizes, count: int) -> OperandIndexing:
    """The map from an element of an array of `sizes` to all of another one at the same index of the batch."""
    results = [*variables(count), *variables(len(read) - count, len(sizes))]
    return OperandIndexing(tensor_map(results, sizes, read[count:]), (), "over-approximate", _WHOLE)


# ---------------------------------------------------------------- LU


def _of_lu(sizes: Sequence[Sizes], config: Config, kind: str) -> list[Result]:
    ((m, n),) = sizes
    return [("a", (m, n)), ("s32", (min(m, n),)), ("s32", ())]


def _lu(config: Config, arrays: Sequence[Array]) -> list[Array]:
    """Gaussian elimination with the largest pivot of each column; the row it came from, and the first column without one."""
    a = arrays[0].copy()
    each, steps = np.arange(len(a)), min(a.shape[1:])
    pivots, info = np.zeros((len(a), steps), np.int32), np.zeros(len(a), np.int32)
    for j in range(steps):
        row = j + np.argmax(abs(a[:, j:, j].real) + abs(a[:, j:, j].imag), axis=1)
        a[each, j], a[each, row] = a[each, row], a[each, j]
        pivots[:, j] = row + 1
        is_zero = a[:, j, j] == 0
        info = np.where((info == 0) & is_zero, j + 1, info)
        a[:, j + 1 :, j] /= np.where(is_zero, 1, a[:, j, j])[:, None]
        a[:, j + 1 :, j + 1 :] -= a[:, j + 1 :, j, None] * a[:, None, j, j + 1 :]
    return [a, pivots, info]


# ---------------------------------------------------------------- QR, Hessenberg form


def _of_qr(sizes: Sequence[Sizes], config: Config, kind: str) -> list[Result]:
    ((m, n),) = sizes
    return [("a", (m, n)), ("a", (min(m, n),))]


def _qr(config: Config, arrays: Sequence[Array]) -> list[Array]:
    """R on and above the diagonal, the reflectors below it, and their factors."""
    factors, taus = np.linalg.qr(arrays[0], mode="raw")
    return [np.swapaxes(factors, 1, 2), taus]


def _eliminate(a: Array, row: int, column: int) -> Array:
    """Reflect a column to zeros below `row`, keep the reflector there, and reflect the columns behind it."""
    v, tau, length = reflector(a[:, row:, column])
    apply_from_left(a[:, row:, column + 1 :], v, tau.conj())
    a[:, row, column], a[:, row + 1 :, column] = length, v[:, 1:]
    return tau


def _of_pivoted_qr(sizes: Sequence[Sizes], config: Config, kind: str) -> list[Result]:
    (m, n), columns = sizes
    if columns != (n,):
        raise UnsupportedOp(f"it has {columns} numbers of columns for a matrix of {n}")
    return [("a", (m, n)), ("s32", (n,)), ("a", (min(m, n),))]


def _pivoted_qr(config: Config, arrays: Sequence[Array]) -> list[Array]:
    """QR of the columns in the order of what the steps before leave of them."""
    a, fixed = arrays[0].copy(), arrays[1]
    if fixed.any():
        raise UnsupportedOp("lapack geqp3: columns that stay in front have no value here; pass zeros as their numbers")
    each, order = np.arange(len(a)), np.tile(np.arange(1, a.shape[2] + 1), (len(a), 1))
    taus = np.zeros((len(a), min(a.shape[1:])), a.dtype)
    for j in range(taus.shape[1]):
        column = j + np.argmax((abs(a[:, j:, j:]) ** 2).sum(axis=1), axis=1)
        a[each, :, j], a[each, :, column] = a[each, :, column], a[each, :, j]
        order[each, j], order[each, column] = order[each, column], order[each, j]
        taus[:, j] = _eliminate(a, j, j)
    return [a, order, taus]


def _of_q(sizes: Sequence[Sizes], config: Config, kind: str) -> list[Result]:
    (m, n), taus = sizes
    if len(taus) != 1 or not taus[0] <= n <= m:
        raise UnsupportedOp(f"it has {taus} reflectors for a matrix of {m} by {n}")
    return [("a", (m, n))]


def _q(config: Config, arrays: Sequence[Array]) -> list[Array]:
    """The product of the reflectors, 1 - V T V^H, where the inverse of T has 1/tau on its diagonal and V^H V above it."""
    a, taus = arrays
    n, count = a.shape[2], taus.shape[1]
    vectors = np.tril(a[:, :, :count], -1) + np.eye(a.shape[1], count, dtype=a.dtype)
    vectors *= (taus != 0)[:, None]  # then a factor of 0 is as good as any other
    inverse = np.triu(_adjoint(vectors) @ vectors, 1)
    diagonal = np.divide(1, taus, out=np.ones_like(taus), where=taus != 0)
    inverse[:, range(count), range(count)] = np.where(diagonal == 0, np.nan, diagonal)
    return [np.eye(*a.shape[1:], dtype=a.dtype) - vectors @ np.linalg.solve(inverse, _adjoint(vectors[:, :n]))]


def _adjoint(matrices: Array) -> Array:
    return np.swapaxes(matrices, 1, 2).conj()


def _of_hessenberg(sizes: Sequence[Sizes], config: Config, kind: str) -> list[Result]:
    n = _order(sizes)
    if not 1 <= config.get("low", 1) <= config.get("high", n) <= max(n, 1):
        raise UnsupportedOp(f"its low and high are no range of {n} rows")
    return [("a", (n, n)), ("a", (max(n - 1, 0),)), ("s32", ())]


def _hessenberg(config: Config, arrays: Sequence[Array]) -> list[Array | None]:
    """Zeros below the first subdiagonal, by reflections of rows and columns from `low` to `high`."""
    a = arrays[0].copy()
    high = config.get("high", a.shape[1])
    taus = np.zeros((len(a), a.shape[1] - 1), a.dtype)
    for j in range(config.get("low", 1) - 1, high - 1):
        v, tau, length = reflector(a[:, j + 1 : high, j])
        apply_from_right(a[:, :high, j + 1 : high], v, tau)
        apply_from_left(a[:, j + 1 : high, j + 1 :], v, tau.conj())
        a[:, j + 1, j], a[:, j + 2 : high, j], taus[:, j] = length, v[:, 1:], tau
    return [a, taus, None]


# ---------------------------------------------------------------- eigenvalues, singular values


def _order(sizes: Sequence[Sizes]) -> int:
    ((m, n),) = sizes
    if m != n:
        raise UnsupportedOp(f"its matrix of {m} by {n} is not square")
    return n


def _finite(a: Array) -> tuple[Array, Array]:
    """The matrices, zeros for those that are not finite, and 1 for these, which LAPACK fails on, else 0."""
    is_finite = np.isfinite(a).all(axis=(1, 2))
    return np.where(is_finite[:, None, None], a, 0), (~is_finite).astype(np.int32)


def _or_nan(result: Array, failed: Array) -> Array:
    return np.where(failed.reshape(-1, *[1] * (result.ndim - 1)) != 0, np.nan, result)


def _of_eigh(sizes: Sequence[Sizes], config: Config, kind: str) -> list[Result]:
    n = _order(sizes)
    return [("a", (n, n)), ("real", (n,)), ("s32", ())]


def _eigh(config: Config, arrays: Sequence[Array]) -> list[Array | None]:
    a, failed = _finite(arrays[0])
    eigenvalues, vectors = np.linalg.eigh(a, UPLO="L" if letter(config, "uplo") == "L" else "U")
    has_vectors = letter(config, "mode") == "V"
    return [_or_nan(vectors, failed) if has_vectors else None, _or_nan(eigenvalues, failed), failed]


def _of_eig(sizes: Sequence[Sizes], config: Config, kind: str) -> list[Result]:
    n = _order(sizes)
    if letter(config, "compute_left") != "N":
        raise UnsupportedOp("left eigenvectors have no value here: those of the adjoint matrix are the same")
    numbers: list[Result] = [("a", (n,))] if kind in "cz" else [("real", (n,)), ("real", (n,))]
    return [*numbers, ("complex", (n, n)), ("complex", (n, n)), ("s32", ())]


def _eig(config: Config, arrays: Sequence[Array]) -> list[Array | None]:
    a, failed = _finite(arrays[0])
    eigenvalues, vectors = np.linalg.eig(a)
    eigenvalues = _or_nan(eigenvalues, failed)
    numbers = [eigenvalues] if np.iscomplexobj(a) else [eigenvalues.real, eigenvalues.imag]
    return [*numbers, None, _or_nan(vectors, failed) if letter(config, "compute_right") == "V" else None, failed]


def _of_svd(sizes: Sequence[Sizes], config: Config, kind: str) -> list[Result]:
    ((m, n),) = sizes
    k, mode = min(m, n), letter(config, "mode")
    if mode not in "ASN":
        raise UnsupportedOp(f"its mode {mode} is not known")
    left, right = {"A": ((m, m), (n, n)), "S": ((m, k), (k, n)), "N": (None, None)}[mode]
    return [("a", (m, n)), ("real", (k,)), ("a", left), ("a", right), ("s32", ())]


def _svd(config: Config, arrays: Sequence[Array]) -> list[Array | None]:
    a, failed = _finite(arrays[0])
    mode = letter(config, "mode")
    if mode == "N":
        return [None, _or_nan(np.linalg.svd(a, compute_uv=False), failed), None, None, failed]
    left, singular_values, right = (_or_nan(x, failed) for x in np.linalg.svd(a, full_matrices=mode == "A"))
    return [None, singular_values, left, right, failed]


LAPACK_CALLS = (
    LapackCall("getrf", "sdcz", _of_lu, _lu, factor_in_place),
    LapackCall("geqrf", "sdcz", _of_qr, _qr, reflected_columns),
    LapackCall("geqp3", "sdcz", _of_pivoted_qr, _pivoted_qr),
    LapackCall("orgqr", "sd", _of_q, _q, product_of_reflections),
    LapackCall("ungqr", "cz", _of_q, _q),
    LapackCall("gehrd", "sdcz", _of_hessenberg, _hessenberg),
    LapackCall("syevd", "sd", _of_eigh, _eigh),
    LapackCall("heevd", "cz", _of_eigh, _eigh),
    LapackCall("geev", "sdcz", _of_eig, _eig),
    LapackCall("gesdd", "sdcz", _of_svd, _svd),
    LapackCall("gesvd", "sdcz", _of_svd, _svd),
)


# ---------------------------------------------------------------- Householder reflectors


def reflector(columns: Array) -> tuple[Array, Array, Array]:
    """v, tau, and the first element of the reflected column, which is real; the others are zeros."""
    first = columns[:, 0]
    rest = np.linalg.norm(columns[:, 1:], axis=1)
    length = -np.copysign(np.hypot(abs(first), rest), first.real)
    is_done = (rest == 0) & (first.imag == 0)
    tau = np.where(is_done, 0, (length - first) / np.where(is_done, 1, length)).astype(columns.dtype)
    v = columns / np.where(is_done, 1, first - length)[:, None]
    v[is_done] = 0
    v[:, 0] = 1
    return v.astype(columns.dtype), tau, np.where(is_done, first, length)


def apply_from_left(matrices: Array, v: Array, tau: Array) -> None:
    """Subtract tau v v^H A from each matrix A, in place."""
    matrices -= (tau[:, None] * v)[:, :, None] * (v.conj()[:, None, :] @ matrices)


def apply_from_right(matrices: Array, v: Array, tau: Array) -> None:
    """Subtract tau A v v^H from each matrix A, in place."""
    matrices -= (matrices @ (tau[:, None] * v)[:, :, None]) * v.conj()[:, None, :]
