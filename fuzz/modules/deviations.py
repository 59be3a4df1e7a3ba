"""Where jaxlib's CPU client is known to answer otherwise than HLO's operation semantics, each with the reason.

Denormal numbers are no line of this table: XLA's CPU takes them for zeros in most places, and in some for other numbers.
Where results differ, `judge` asks again with the denormal numbers of the arguments replaced by zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from modules.compare import same
from modules.program import Program, Tolerance


@dataclass(frozen=True)
class Deviation:
    """An output is excused if it comes from one of `opcodes`, and `excuses` holds for each element that differs."""

    name: str
    reason: str
    opcodes: tuple[str, ...]
    excuses: Callable[[np.ndarray, np.ndarray], np.ndarray]


def _diagonals(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    del theirs
    return np.abs(np.abs(ours.astype(np.float64)) - np.pi / 4) < 0.1


def _other_sign(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    return ours == -theirs


DEVIATIONS = (
    Deviation("atan2(x, x)", "XLA computes x / x first, which zeros and infinities don't have", ("atan2",), _diagonals),
    Deviation("abs(x * x)", "XLA takes a product for positive, which may have overflowed", ("abs",), _other_sign),
)


# What no program has, since XLA's answers are no help; "any" data otherwise includes special values and all bits.
AVOIDED = {
    "power of integers with exponents beyond 63": "XLA stops after six squarings",
    "popcnt of s2 and s4": "XLA counts the bits of a sign-extended byte",
    "power of complex infinities, NaN and zeros": "each library has its own",
    "atan2 of complex numbers": "XLA is on the other side of the branch cut",
    "iota of complex numbers": "XLA dies of its real part",
    "-0 in a literal": "XLA reads it as the integer 0, and so as +0; -0.0 is read as it is",
    "initial values that are not neutral": "XLA may apply them more than once, or not at all",
    "NaN and ties in select-and-scatter, topk, sorts without a total order": "the order of elements decides",
    "cholesky of matrices that are not positive definite": "the result is left open",
    "reductions of floats that round": "the order of additions is left open; sums of small integers are exact in any",
}


def known(program: Program, output: str, ours: object, theirs: np.ndarray, tolerance: Tolerance) -> bool:
    """Does a line of the table explain the difference?"""
    if not isinstance(ours, np.ndarray) or ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return False
    differs = ~same(ours, theirs, tolerance)
    opcodes = set(program.reduced([output]).opcodes())
    with np.errstate(all="ignore"):
        return any(
            d.excuses(ours[differs], theirs[differs]).all() for d in DEVIATIONS if not opcodes.isdisjoint(d.opcodes)
        )
