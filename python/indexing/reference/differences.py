"""Trial runs of a program: inputs for its parameters, and differences between two results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from indexing.hlo import Shape
from indexing.lazy import ml_dtypes, np
from indexing.ops.values import Array, HloValue

TOLERANCE = 1e-3  # relative error of sums that are added in another order


def make_inputs(shapes: Sequence[Shape], seed: int = 0) -> list[HloValue]:
    """One value for each shape, the same on every machine for a given seed; tuples for tuples, None for tokens.

    Floating-point elements are multiples of 1/8 in [-4, 4], as narrow types hold them; integers lie in [-8, 8), unsigned
    ones in [0, 8), and in the type's range if that is narrower, so that they are usable as small indices.
    """
    generator = np.random.default_rng(seed)
    return [_value(shape, generator) for shape in shapes]


def _value(shape: Shape, generator: np.random.Generator) -> HloValue:
    """The value of a shape; the recursion is as deep as the shape's nesting, which the parser bounds."""
    if shape.is_tuple:
        return tuple(_value(element, generator) for element in shape.elements)
    if shape.element_type in ("token", "opaque"):
        return None
    return _array(shape, generator)


def _array(shape: Shape, generator: np.random.Generator) -> Array:
    kind, size = shape.element_type, shape.dimensions
    if kind == "pred":
        return generator.integers(0, 2, size).astype(np.bool_)
    if kind in ("c64", "c128"):
        real, imaginary = generator.integers(-32, 33, size), generator.integers(-32, 33, size)
        return (real / 8 + 1j * (imaginary / 8)).astype(shape.dtype)
    if kind == "f8e8m0fnu":  # it holds powers of two only
        return np.exp2(generator.integers(-3, 4, size).astype(np.float32)).astype(shape.dtype)
    if kind[0] in "fb":
        return (generator.integers(-32, 33, size) / 8).astype(np.float32).astype(shape.dtype)
    bits = int(kind[1:])
    low, high = (-(2 ** (min(bits, 4) - 1)), 2 ** (min(bits, 4) - 1)) if kind[0] == "s" else (0, 2 ** min(bits, 3))
    return generator.integers(low, high, size).astype(shape.dtype)


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of an array from the one expected.

    `largest` is the largest |got - expected| / max(1, |expected|) where both are finite; `differing` counts unequal elements
    (two NaNs are equal), `misplaced` those that are infinite or NaN in one array only. `tolerance` is the largest error that
    counts as rounding.
    """

    largest: float
    differing: int
    misplaced: int
    elements: int
    tolerance: float

    @property
    def is_rounding(self) -> bool:
        """Whether the arrays agree up to rounding."""
        return self.largest <= self.tolerance and not self.misplaced

    def __str__(self) -> str:
        if not self.differing:
            return f"all {self.elements} elements equal the reference"
        if self.is_rounding:
            equal = self.elements - self.differing
            text = f"agrees with the reference up to rounding: error at most {self.largest:.2g}"
            return f"{text}, {equal} of {self.elements} equal"
        text = f"DIFFERS: error up to {self.largest:.2g} where {self.tolerance:.2g} is allowed"
        text += f", {self.differing} of {self.elements} elements"
        return text + (f", {self.misplaced} of them infinite or NaN in one only" if self.misplaced else "")


def rounding_tolerance(dtype: np.dtype) -> float:
    """The relative error that counts as rounding: 1e-3, or two units in the last place of a coarser type."""
    try:
        return max(TOLERANCE, 2 * float(ml_dtypes.finfo(dtype).eps))
    except ValueError:  # an integer
        return TOLERANCE


def difference(got: Array, expected: Array, tolerance: float | None = None) -> Difference:
    """Compare two arrays of one shape, element by element, in double precision.

    `tolerance` is the largest relative error that counts as rounding; None: that of `rounding_tolerance`. Raises
    ValueError where the shapes differ.
    """
    if got.shape != expected.shape:
        raise ValueError(f"shapes differ: {got.shape} against {expected.shape}")
    wide = np.complex128 if np.iscomplexobj(expected) else np.float64
    a, b = got.astype(wide), expected.astype(wide)
    finite = np.isfinite(a) & np.isfinite(b)
    same = (got == expected) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore", over="ignore"):
        errors = np.abs(a - b)[finite] / np.maximum(1.0, np.abs(b[finite]))
    return Difference(
        largest=float(errors.max(initial=0.0)),
        differing=int(np.sum(~same)),
        misplaced=int(np.sum(~finite & ~same)),
        elements=int(expected.size),
        tolerance=rounding_tolerance(expected.dtype) if tolerance is None else tolerance,
    )
