"""Where jaxlib's CPU client, or a device that kernels run on, is known to answer otherwise than HLO's operation semantics,
each with the reason.

Denormal numbers are no line of this table: XLA's CPU takes them for zeros in most places, and in some for other numbers.
Where results differ, `check` asks again with the denormal numbers of the arguments replaced by zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from modules.compare import same
from modules.program import Program, Tolerance


@dataclass(frozen=True)
class Deviation:
    """An output is excused if it comes from one of `opcodes`, and `excuses` holds for each element that differs: of results of
    `device`, if it is named.
    """

    name: str
    reason: str
    opcodes: tuple[str, ...]
    excuses: Callable[[np.ndarray, np.ndarray], np.ndarray]
    device: str = ""


def _diagonals(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    del theirs
    return np.abs(np.abs(ours.astype(np.float64)) - np.pi / 4) < 0.1


def _zero_for_nan(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    return np.isnan(theirs) & (ours == 0)


def _infinity_for_nan(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    return np.isnan(theirs) & (ours == np.inf)


def _underflown(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    return (ours.dtype == np.float16) & (theirs == 0) & (np.abs(ours) < np.float16(2e-5))


def _conjugates(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    return np.isclose(ours, np.conj(theirs)) & (ours.dtype.kind == "c") & (np.abs(ours.real) < np.abs(ours.imag))


def _cancelled(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    if ours.dtype.kind != "c":
        return np.zeros(ours.shape, bool)
    return np.abs(ours - theirs) <= 64 * np.finfo(ours.real.dtype).eps


def _nan_of_f8e3m4(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    return np.isnan(theirs.astype(np.float32)) & (ours.dtype.name == "float8_e3m4")


def _below_half_floats(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    small = np.abs(np.stack([ours, theirs]).astype(np.float32)).max(axis=0) <= 2.0**-14
    return small & (ours.dtype.name == "float8_e5m2fnuz")


def _half_of_the_bits(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    return (ours.dtype == np.float64) & (np.abs(ours - theirs) <= 2.0**-19 * np.abs(theirs))


DEVIATIONS = (
    Deviation(
        "atan2(x, x)", "XLA computes x / x first, which is undefined for zeros and infinities", ("atan2",), _diagonals
    ),
    Deviation("logistic of f16", "XLA divides by exp(-x) in f16, which overflows", ("logistic",), _underflown),
    Deviation("sqrt of -x - 0i", "XLA ignores the sign of an imaginary zero", ("sqrt",), _conjugates),
    Deviation(
        "rounded constants of f8e3m4",
        "XLA folds them to NaN",
        ("round-nearest-even", "round-nearest-afz"),
        _nan_of_f8e3m4,
    ),
    Deviation(
        "f8e5m2fnuz up to 2 ** -14",
        "in loops, XLA keeps them as f16, and loses the denormal ones",
        ("while",),
        _below_half_floats,
    ),
    Deviation("exp(-inf + i NaN)", "XLA says NaN; annex G of C99 says 0", ("exponential",), _zero_for_nan),
    Deviation(
        "sine and cosine of complex numbers near 0",
        "XLA subtracts exp(-y) from exp(y), which cancels",
        ("sine", "cosine"),
        _cancelled,
    ),
    Deviation("log of complex numbers of magnitude near 1", "XLA adds squares, which cancels", ("log",), _cancelled),
    Deviation("abs(inf + i NaN)", "XLA says NaN; annex G of C99 says infinity", ("abs",), _infinity_for_nan),
    Deviation(
        "rsqrt of f64 as PTX",
        "the runner clears the lower 32 bits of rsqrt.approx.f64, as PTX does of rsqrt.approx.ftz.f64 only",
        ("rsqrt",),
        _half_of_the_bits,
        device="ptx",
    ),
)


# What no program has, since XLA's answers are no help; "any" data otherwise includes special values and all bits.
AVOIDED = {
    "power of integers with exponents beyond 63": "XLA stops after six squarings",
    "popcnt and count-leading-zeros of s2 and s4": "XLA counts the bits of a sign-extended byte",
    "a reversed window as large as its array": "XLA turns such a convolution into a dot, and forgets to reverse",
    "convolutions padded by less than 0 before a dimension, by more after": "XLA reads other elements, of f32 and f16",
    "power of complex infinities, NaN and zeros": "every library gives a different result",
    "atan2 of complex numbers": "XLA is on the other side of the branch cut",
    "iota of complex numbers": "XLA crashes on its real part",
    "0 in a literal of integers": "XLA crashes on constants that are divided by 0, or returns arbitrary results",
    "-0 in a literal": "XLA reads it as the integer 0, that is +0; it reads -0.0 correctly",
    "initial values that are not neutral": "XLA may apply them more than once, or not at all",
    "NaN and ties in select-and-scatter, topk, sorts without a total order": "the order of elements decides",
    "cholesky of matrices that are not positive definite": "the result is unspecified",
    "reductions of floats that round": "the order of additions is unspecified; sums of small integers are exact in any order",
}


def known(
    program: Program, output: str, ours: object, theirs: np.ndarray, tolerance: Tolerance, device: str = ""
) -> bool:
    """Does a line of the table explain the difference of a result, which kernels computed on `device` if it is named?"""
    if not isinstance(ours, np.ndarray) or ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return False
    differs = ~same(ours, theirs, tolerance)
    opcodes = set(program.reduced([output]).opcodes())
    possible = [d for d in DEVIATIONS if d.device in ("", device) and not opcodes.isdisjoint(d.opcodes)]
    with np.errstate(all="ignore"):
        return any(d.excuses(ours[differs], theirs[differs]).all() for d in possible)
