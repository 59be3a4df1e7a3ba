"""Remainders of integers by powers of two, which are bits: those of truncating division, as compilers of HLO write them, and
those of floor division, of which the sign is that of the divisor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from indexing.kernels.ir import nodes as ir


@dataclass(frozen=True, slots=True)
class Names:
    """The values of names; `is_final` says whether a name has one value wherever it is read."""

    value_of: Callable[[ir.Value], ir.Value]
    is_final: Callable[[ir.Ref], bool]

    def op(self, value: ir.Value, *opcodes: str) -> tuple[ir.Value, ...]:
        """The operands of a value, if it is one of these operations; else none."""
        value = self.value_of(value)
        return value.operands if isinstance(value, ir.Op) and value.opcode in opcodes else ()


def floor_remainder(select: ir.Op, names: Names) -> ir.Value | None:
    """`x and (n - 1)`, if an operation selects `r + n` where r, the remainder of x by n = 2^k, is negative, else r."""
    condition, moved, r = select.operands
    divided = _truncated(r, names)
    if divided is None or not _is_negative(condition, r, names):
        return None
    x, n = divided
    if names.op(moved, "add") not in ((r, n), (n, r)):
        return None
    return ir.Op("and", select.type, (x, ir.Constant(select.type, _number(n) - 1)))


def truncated_remainder(select: ir.Op, names: Names) -> ir.Value | None:
    """`x rem n`, if an operation selects the lowest bits of the magnitude of x, with the sign of x."""
    condition, negative, bits = select.operands
    if names.op(negative, "neg") != (bits,):
        return None
    operands = names.op(bits, "and")
    for magnitude, mask in (operands, operands[::-1]) if operands else ():
        n = _number(mask) + 1
        inner = names.op(magnitude, "select")
        if n > 1 and not n & (n - 1) and inner and inner[0] == condition and names.op(inner[1], "neg") == (inner[2],):
            x = inner[2]
            is_sign = _is_final(x, names) and _is_below_zero(condition, x, names) and n <= _most(select.type)
            return ir.Op("rem", select.type, (x, ir.Constant(select.type, n))) if is_sign else None
    return None


def _truncated(r: ir.Value, names: Names) -> tuple[ir.Value, ir.Value] | None:
    """The dividend and the divisor of a remainder by a power of two."""
    operands = names.op(r, "rem") if _is_final(r, names) and r.type[0] == "s" else ()
    n = _number(operands[1]) if operands else 0
    return (operands[0], operands[1]) if n > 0 and not n & (n - 1) and _is_final(operands[0], names) else None


def _is_negative(condition: ir.Value, r: ir.Value, names: Names) -> bool:
    """Whether a condition holds where r is negative, stated with or without r != 0."""
    both = names.op(condition, "and")
    for one, other in (both, both[::-1]) if both else ():
        if _is_compared(other, "ne", r, names) and _is_below_zero(one, r, names):
            return True
    return _is_below_zero(condition, r, names)


def _is_below_zero(condition: ir.Value, x: ir.Value, names: Names) -> bool:
    return _is_compared(condition, "lt", x, names)


def _is_compared(condition: ir.Value, opcode: str, x: ir.Value, names: Names) -> bool:
    return names.op(condition, opcode) == (x, ir.Constant(x.type, 0))


def _is_final(value: ir.Value, names: Names) -> bool:
    return isinstance(value, ir.Ref) and names.is_final(value)


def _number(value: ir.Value) -> int:
    """The number that an integer constant is; -1 for other values."""
    return int(value.value) if isinstance(value, ir.Constant) and isinstance(value.value, int) else -1


def _most(kind: str) -> int:
    """The greatest number of a signed type."""
    return (1 << (int(kind[1:]) - 1)) - 1
