"""HLO's element types: kind, width, numpy type, and the format of floats, from the core's table.

Sub-byte types (s2, s4, u2, u4, f4e2m1fn) take one byte an element in arrays, as ml_dtypes lays them out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from indexing import _core
from indexing.errors import UnsupportedOp
from indexing.hlo.shape import DTYPES
from indexing.lazy import np

Kind = Literal["pred", "signed", "unsigned", "float", "complex"]


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """A float with a sign: bits of exponent and mantissa, the bias, codes of the largest finite number, infinity and NaN.

    Where the code of NaN is that of minus zero, there is no minus zero.
    """

    exponent: int
    mantissa: int
    bias: int
    largest: int
    infinity: int | None
    nan: int | None

    @property
    def ends_whole(self) -> bool:
        """Whether the largest finite number is whole, so that no number is rounded to a whole one beyond it."""
        return (self.largest >> self.mantissa) - self.bias >= self.mantissa


@dataclass(frozen=True, slots=True)
class ElementType:
    """An element type of HLO.

    `bits` is the logical width of one element (1 for pred, both halves for a complex type). `format` is that of a float, or of
    each half; None where there is none, as for powers of two alone.
    """

    name: str
    kind: Kind
    bits: int
    format: FloatFormat | None

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The numpy type of one element."""
        return DTYPES[self.name]

    @property
    def is_integer(self) -> bool:
        """Signed or unsigned; pred is not an integer type."""
        return self.kind in ("signed", "unsigned")

    @property
    def is_narrow_float(self) -> bool:
        """A float type below f32: operations compute in f32, and round to the type."""
        return self.kind == "float" and self.bits < 32

    @property
    def real(self) -> str:
        """The type in which this type's real arithmetic is done: "f32" or "f64"."""
        return "f64" if self.name in ("f64", "c128") else "f32"

    @property
    def compute_type(self) -> str:
        """The type in which a kernel computes: f32 for floats below it, s8 or u8 for integers below a byte."""
        if self.is_narrow_float:
            return "f32"
        return self.name[0] + "8" if self.is_integer and self.is_byte_packed else self.name

    @property
    def storage_type(self) -> str:
        """The type that a kernel's memory holds: unsigned bits for floats below f32, a byte for pred and what is narrower."""
        if self.kind == "pred":
            return "u8"
        return f"u{max(self.bits, 8)}" if self.is_narrow_float else self.compute_type

    @property
    def is_byte_packed(self) -> bool:
        """Narrower than a byte, stored one byte an element."""
        return self.bits < 8


_KINDS: dict[str, Kind] = {
    "p": "pred",
    "s": "signed",
    "u": "unsigned",
    "c": "complex",
}  # by the first letter of the name
#: s1 and u1 are names in texts only: no array of numpy holds them.
ELEMENT_TYPES: dict[str, ElementType] = {
    name: ElementType(name, _KINDS.get(name[0], "float"), 1 if name == "pred" else bits, codes and FloatFormat(*codes))
    for name, bits, codes in _core.hlo_element_types()
    if bits > 1
}


def element_type(name: str) -> ElementType:
    """Return the entry of `name`; `UnsupportedOp` when the type has no elements of its own (token, opaque)."""
    row = ELEMENT_TYPES.get(name)
    if row is None:
        raise UnsupportedOp(f"element type {name!r} holds no data; supported are {', '.join(ELEMENT_TYPES)}")
    return row
