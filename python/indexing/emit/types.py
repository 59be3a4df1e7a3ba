"""How HLO's element types appear in C: the type that memory holds, and the type that is computed with.

Both dialects name their C types as HLO does (`s32`, `f32`, `c64`, ...; `bool` for pred); `typedefs` gives the lines
that declare them. Floats below f32 are stored as their bits and computed in f32.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from indexing.emit.kernel import Dialect
from indexing.ops.element_types import element_type


@dataclass(frozen=True, slots=True)
class CType:
    """C types of one element type: `storage` in memory (`size` bytes, one element each), `compute` in variables."""

    storage: str
    compute: str
    size: int


def c_type(name: str) -> CType:
    """The C types of an element type; UnsupportedOp for token and opaque."""
    kind = element_type(name)
    if kind.kind == "pred":
        return CType("u8", "bool", 1)
    if kind.is_narrow_float:
        return CType(f"u{max(kind.bits, 8)}", "f32", max(kind.bits // 8, 1))
    if kind.is_byte_packed:
        byte = kind.name[0] + "8"
        return CType(byte, byte, 1)
    return CType(kind.name, kind.name, kind.bits // 8)


def decoded(name: str, text: str) -> str:
    """C text of the value that a storage element `text` holds."""
    kind = element_type(name)
    if kind.kind == "pred":
        return f"({text} != 0)"
    if kind.is_narrow_float:
        return f"@decode_{name}({text})"
    return f"@wrap_{name}({text})" if kind.is_byte_packed else text


def encoded(name: str, text: str) -> str:
    """C text of the storage element that holds the value `text`."""
    return f"@encode_{name}({text})" if element_type(name).is_narrow_float else text


_BASE: dict[str, tuple[str, str]] = {  # name: (CUDA C++, OpenCL C)
    "s8": ("signed char", "char"),
    "u8": ("unsigned char", "uchar"),
    "s16": ("short", "short"),
    "u16": ("unsigned short", "ushort"),
    "s32": ("int", "int"),
    "u32": ("unsigned int", "uint"),
    "s64": ("long long", "long"),
    "u64": ("unsigned long long", "ulong"),
    "f32": ("float", "float"),
    "f64": ("double", "double"),
    "c64": ("float2", "float2"),
    "c128": ("double2", "double2"),
}

_TYPE_NAME = re.compile(r"\b(?:" + "|".join(_BASE) + r")\b")


def typedefs(text: str, dialect: Dialect) -> list[str]:
    """The typedef lines for the type names that occur in `text`, in the order of the table."""
    used = set(_TYPE_NAME.findall(text))
    column = 0 if dialect == "cuda" else 1
    return [f"typedef {names[column]} {name};" for name, names in _BASE.items() if name in used]
