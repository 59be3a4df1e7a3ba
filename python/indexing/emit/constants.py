"""Constants of HLO as C text: literals, and tables for arrays."""

from __future__ import annotations

from indexing.lazy import np
from indexing.ops.element_types import element_type


def literal(value: object, name: str) -> str:
    """C text of one element of type `name`; negative numbers stand in parentheses."""
    kind = element_type(name)
    if kind.kind == "pred":
        return "true" if value else "false"
    if kind.kind == "complex":
        number = complex(value)  # type: ignore[call-overload]
        return f"@{name}({_real(number.real, kind.real)}, {_real(number.imag, kind.real)})"
    if kind.kind == "float":
        return _real(float(value), kind.real)  # type: ignore[arg-type]
    return _integer(int(value), name)  # type: ignore[call-overload]


def entry(value: object, name: str) -> str:
    """C text of one element as an initializer within a table, which calls no function."""
    text = literal(value, name)
    call = f"@{name}("
    return f"{{{text[len(call) : -1]}}}" if text.startswith(call) else text


def _integer(value: int, name: str) -> str:
    kind = element_type(name)
    suffix = {"u32": "u", "s64": "ll", "u64": "ull"}.get(name, "")
    if kind.kind == "signed" and kind.bits >= 32 and value == -(1 << (kind.bits - 1)):
        return f"({value + 1}{suffix} - 1)"
    return f"({value}{suffix})" if value < 0 else f"{value}{suffix}"


def _real(value: float, real: str) -> str:
    if value != value:
        return f"@nan_{real}"
    if value in (float("inf"), float("-inf")):
        return f"@inf_{real}" if value > 0 else f"(-@inf_{real})"
    text = f"{np.float32(value)!s}f" if real == "f32" else repr(value)
    return f"({text})" if text.startswith("-") else text
