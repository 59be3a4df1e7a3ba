"""HLO's element types in a kernel: the type that memory holds, and the type that is computed with."""

from __future__ import annotations

from indexing.ops.element_types import element_type


def compute_type(name: str) -> str:
    """The type of the IR in which an element type is computed; UnsupportedOp for token and opaque."""
    return element_type(name).compute_type


def storage_type(name: str) -> str:
    """The type of the IR that memory holds."""
    return element_type(name).storage_type


def storage_bytes(name: str) -> int:
    """Bytes of one element in memory."""
    kind = element_type(name)
    return 1 if kind.kind == "pred" else max(kind.bits, 8) // 8
