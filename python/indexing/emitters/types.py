"""How HLO's element types appear in a kernel: the type that memory holds, and the type that is computed with."""

from __future__ import annotations

from indexing.ops.element_types import element_type


def compute_type(name: str) -> str:
    """The type of the IR in which an element type is computed: f32 for floats below it, s8 or u8 for integers below a byte."""
    kind = element_type(name)
    if kind.is_narrow_float:
        return "f32"
    return kind.name[0] + "8" if kind.is_byte_packed else kind.name


def storage_type(name: str) -> str:
    """The type of the IR that memory holds: unsigned bits for floats below f32, a byte for pred and what is narrower."""
    kind = element_type(name)
    if kind.kind == "pred":
        return "u8"
    if kind.is_narrow_float:
        return f"u{max(kind.bits, 8)}"
    return kind.name[0] + "8" if kind.is_byte_packed else kind.name


def storage_bytes(name: str) -> int:
    """Bytes of one element in memory."""
    kind = element_type(name)
    return 1 if kind.kind == "pred" else max(kind.bits, 8) // 8
