"""Sums of products in HLO's accumulation types, as dot and convolution need them.

Integers are summed exactly and wrap once at the end, which is the same as wrapping at each step; floats are summed in
float64 (complex in complex128) and rounded once to the result's type; predicates are ored conjunctions.
"""

from __future__ import annotations

from indexing.lazy import np
from indexing.ops.values import Array

_EXACT_IN_FLOAT64 = 2**53


def is_float(dtype: np.dtype) -> bool:
    """Whether a type is a real floating-point type, including those of ml_dtypes (numpy gives them kind V or f)."""
    return dtype.kind == "f" or dtype.name.startswith(("bfloat", "float"))


def is_complex(dtype: np.dtype) -> bool:
    """Whether a type is complex64 or complex128."""
    return dtype.kind == "c"


def is_integer(dtype: np.dtype) -> bool:
    """Whether a type is an integer type, including int2 to uint4 of ml_dtypes."""
    return dtype.kind in "iu" or dtype.name.startswith(("int", "uint"))


def accumulator(dtype: np.dtype) -> np.dtype:
    """The numpy type that accumulates values of an element type; results are rounded once."""
    if is_complex(dtype):
        return np.dtype(np.complex128)
    if is_float(dtype):
        return np.dtype(np.float64)
    return np.dtype(np.bool_) if dtype.kind == "b" else np.dtype(np.int64)


def to_element(values: Array, dtype: np.dtype) -> Array:
    """Values of an accumulator, rounded or wrapped to an element type."""
    if values.dtype == dtype:
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        if is_integer(dtype) and dtype.kind not in "iu":  # ml_dtypes: wrap to the bits first
            bits = int(dtype.name.lstrip("uint"))
            low = values.astype(np.int64) & ((1 << bits) - 1)
            signed = not dtype.name.startswith("u")
            return (low - ((low >> (bits - 1)) << bits if signed else 0)).astype(np.int8).astype(dtype)
        return values.astype(dtype)


def matmul(lhs: Array, rhs: Array, dtype: np.dtype) -> Array:
    """lhs[..., m, k] @ rhs[..., k, n] in the accumulator of element type `dtype` (the result isn't rounded yet)."""
    wide = accumulator(dtype)
    if wide.kind == "b":
        counts = lhs.astype(np.float64) @ rhs.astype(np.float64)
        return counts > 0
    if wide.kind != "i":
        return np.matmul(lhs.astype(wide), rhs.astype(wide))
    left, right = lhs.astype(np.int64), rhs.astype(np.int64)
    if _largest(left) * _largest(right) * max(left.shape[-1], 1) < _EXACT_IN_FLOAT64:
        return np.matmul(left.astype(np.float64), right.astype(np.float64)).astype(np.int64)
    return np.matmul(left, right)


def _largest(values: Array) -> int:
    return max(abs(int(values.max())), abs(int(values.min()))) if values.size else 0
