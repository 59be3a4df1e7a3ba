"""Householder reflectors of batches of columns, as LAPACK's larfg makes them: 1 - tau v v^H, where v begins with 1."""

from __future__ import annotations

from indexing.lazy import np
from indexing.ops.values import Array


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
