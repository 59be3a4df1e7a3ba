"""Table of HLO's element types: kind, width and numpy type of each.

Sub-byte types (s2, s4, u2, u4, f4e2m1fn) take one byte an element in arrays, as ml_dtypes lays them out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from indexing.errors import UnsupportedOp
from indexing.hlo.shape import DTYPES

if TYPE_CHECKING:
    from indexing.lazy import np

Kind = Literal["pred", "signed", "unsigned", "float", "complex"]


@dataclass(frozen=True, slots=True)
class ElementType:
    """An element type of HLO.

    `bits` is the logical width of one element (1 for pred, both halves for a complex type).
    """

    name: str
    kind: Kind
    bits: int

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


def _entry(name: str, kind: Kind, bits: int) -> tuple[str, ElementType]:
    return name, ElementType(name, kind, bits)


ELEMENT_TYPES: dict[str, ElementType] = dict(
    (
        _entry("pred", "pred", 1),
        _entry("s2", "signed", 2),
        _entry("s4", "signed", 4),
        _entry("s8", "signed", 8),
        _entry("s16", "signed", 16),
        _entry("s32", "signed", 32),
        _entry("s64", "signed", 64),
        _entry("u2", "unsigned", 2),
        _entry("u4", "unsigned", 4),
        _entry("u8", "unsigned", 8),
        _entry("u16", "unsigned", 16),
        _entry("u32", "unsigned", 32),
        _entry("u64", "unsigned", 64),
        _entry("f4e2m1fn", "float", 4),
        _entry("f8e3m4", "float", 8),
        _entry("f8e4m3", "float", 8),
        _entry("f8e4m3b11fnuz", "float", 8),
        _entry("f8e4m3fn", "float", 8),
        _entry("f8e4m3fnuz", "float", 8),
        _entry("f8e5m2", "float", 8),
        _entry("f8e5m2fnuz", "float", 8),
        _entry("f8e8m0fnu", "float", 8),
        _entry("bf16", "float", 16),
        _entry("f16", "float", 16),
        _entry("f32", "float", 32),
        _entry("f64", "float", 64),
        _entry("c64", "complex", 64),
        _entry("c128", "complex", 128),
    )
)


def element_type(name: str) -> ElementType:
    """Return the entry of `name`; `UnsupportedOp` when the type has no elements of its own (token, opaque)."""
    row = ELEMENT_TYPES.get(name)
    if row is None:
        raise UnsupportedOp(f"element type {name!r} holds no data; supported are {', '.join(ELEMENT_TYPES)}")
    return row
