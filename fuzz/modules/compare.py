"""When two arrays are the same: bit for bit, or within a number of units in the last place. NaN equals NaN."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from modules.program import Tolerance


def difference(ours: object, theirs: np.ndarray, tolerance: Tolerance) -> str | None:
    """Where the arrays differ, in words; None where they don't."""
    if not isinstance(ours, np.ndarray):
        return f"a {type(ours).__name__} instead of an array"
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return f"{ours.dtype}{list(ours.shape)} instead of {theirs.dtype}{list(theirs.shape)}"
    wrong = np.argwhere(~same(ours, theirs, tolerance))
    if not len(wrong):
        return None
    at = tuple(int(k) for k in wrong[0])
    return f"{ours[at]!r} instead of {theirs[at]!r} at {list(at)}, and at {len(wrong) - 1} more of {ours.size}"


def same(ours: np.ndarray, theirs: np.ndarray, tolerance: Tolerance) -> np.ndarray:
    """For each element, whether the two are the same."""
    if _is_complex(ours):
        return _same_complex(ours, theirs, tolerance)
    if not _is_float(ours):
        return ours == theirs
    a, b = ours.astype(np.float64), theirs.astype(np.float64)
    with np.errstate(all="ignore"):
        equal = ((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))
        if tolerance.ulps:
            equal |= np.abs(a - b) <= tolerance.ulps * _unit(ours.dtype, a, b, tolerance.of_largest)
        return equal


def _same_complex(ours: np.ndarray, theirs: np.ndarray, tolerance: Tolerance) -> np.ndarray:
    """By both parts where they are moved only; else by the distance, beside the number's magnitude."""
    real, imaginary = (same(p, q, Tolerance()) for p, q in ((ours.real, theirs.real), (ours.imag, theirs.imag)))
    if not tolerance.ulps:
        return real & imaginary
    a, b = ours.astype(np.complex128), theirs.astype(np.complex128)
    with np.errstate(all="ignore"):
        distance = np.abs(a - b)
        near = distance <= tolerance.ulps * _unit(ours.real.dtype, np.abs(a), np.abs(b), tolerance.of_largest)
        undefined = ~np.isfinite(a) & ~np.isfinite(b)
    return (real & imaginary) | near | undefined


def _unit(dtype: np.dtype, a: np.ndarray, b: np.ndarray, of_largest: bool) -> np.ndarray:
    """One unit in the last place of the smaller of the two, or of the largest of all."""
    info = ml_dtypes.finfo(dtype)
    size = np.minimum(np.abs(a), np.abs(b))
    if of_largest:
        finite = np.abs(b)[np.isfinite(b)]
        size = np.full(size.shape, max(finite.max(initial=0), 1))
    return np.maximum(size, float(info.tiny)) * float(info.eps)


def flushed(array: np.ndarray) -> np.ndarray:
    """Denormal numbers as zeros of their sign, as XLA's CPU reads and writes them.

    The least normal numbers too: half of one, as it stands in the formula of a complex sine, is denormal.
    """
    if _is_complex(array):
        zeroed = array.copy()
        zeroed.real, zeroed.imag = flushed(array.real), flushed(array.imag)
        return zeroed
    if not _is_float(array):
        return array
    tiny = float(np.finfo(np.float32).tiny) if array.dtype != np.float64 else np.finfo(np.float64).tiny
    with np.errstate(all="ignore"):
        wide = array.astype(np.float64)
        small = (np.abs(wide) < 4 * float(tiny)) & (wide != 0)
        return np.where(small, np.copysign(0.0, wide), wide).astype(array.dtype) if small.any() else array


def _is_complex(array: np.ndarray) -> bool:
    return array.dtype.kind == "c"


def _is_float(array: np.ndarray) -> bool:
    return array.dtype.kind == "f" or (array.dtype.kind == "V" and "float" in array.dtype.name)
