"""HLO's element types in kernels: the storage type in memory, and the compute type of values."""

from __future__ import annotations

from indexing.kernels.ir.nodes import Constant, Op, Value
from indexing.ops.element_types import element_type


def compute_type(name: str) -> str:
    """The IR type in which an element type is computed; UnsupportedOp for token and opaque."""
    return element_type(name).compute_type


def storage_type(name: str) -> str:
    """The IR type of elements in memory."""
    return element_type(name).storage_type


def storage_bytes(name: str) -> int:
    """The size of an element in memory, in bytes."""
    kind = element_type(name)
    return 1 if kind.kind == "pred" else max(kind.bits, 8) // 8


def decoded(name: str, held: Value) -> Value:
    """The value of an element in memory, converted from its storage type to its compute type."""
    kind = element_type(name)
    if kind.kind == "pred":
        return Op("ne", "pred", (held, Constant("u8", 0)))
    if kind.is_narrow_float:
        return Op("decode", "f32", (held,), name)
    return Op("wrap", held.type, (held,), name) if kind.is_byte_packed else held


def encoded(name: str, value: Value) -> Value:
    """The element in memory for a value, converted from its compute type to its storage type."""
    kind = element_type(name)
    if kind.kind == "pred":
        return Op("convert", "u8", (value,))
    return Op("encode", storage_type(name), (value,), name) if kind.is_narrow_float else value
