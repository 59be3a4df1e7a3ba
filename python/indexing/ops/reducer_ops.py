"""Reducers that are one binary op on their two parameters: the opcode, and its neutral element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.ops.element_types import ElementType, element_type

if TYPE_CHECKING:
    from indexing.hlo import Computation, Instruction

SECOND = "second"  # stands for the opcode of a reducer that returns its second parameter
_NEUTRAL: dict[str, dict[str, complex | bool | str]] = {
    "add": {"float": -0.0, "signed": 0, "unsigned": 0, "complex": 0j},
    "multiply": {"float": 1.0, "signed": 1, "unsigned": 1, "pred": True, "complex": 1 + 0j},
    "maximum": {"float": float("-inf"), "signed": "lowest", "unsigned": "lowest", "pred": False},
    "minimum": {"float": float("inf"), "signed": "highest", "unsigned": "highest", "pred": True},
    "and": {"signed": -1, "unsigned": "highest", "pred": True},
    "or": {"signed": 0, "unsigned": 0, "pred": False},
    "xor": {"signed": 0, "unsigned": 0, "pred": False},
}


def reducer_opcode(computation: Computation) -> str | None:
    """The opcode of a reducer that is one op on its two parameters; SECOND if it returns the second one."""
    root = computation.root
    if root.is_parameter and root.parameter_number == 1:
        return SECOND
    if [o.is_parameter for o in root.operands] != [True, True] or root.operands[0] is root.operands[1]:
        return None
    return str(root.opcode)


def neutral_element(reduce: Instruction) -> complex | bool | None:
    """The reducer's neutral element; None if the reducer isn't a single op, or has none."""
    root = reduce.computation_of("to_apply").root
    if reduce.shape.is_tuple or [o.is_parameter for o in root.operands] != [True, True]:
        return None
    if root.operands[0] is root.operands[1]:
        return None
    kind = element_type(reduce.shape.element_type)
    found = _NEUTRAL.get(root.opcode, {}).get(kind.kind)
    return _limit(kind, found) if isinstance(found, str) else found


def _limit(kind: ElementType, which: str) -> int:
    if which == "lowest":
        return -(1 << (kind.bits - 1)) if kind.kind == "signed" else 0
    return (1 << (kind.bits - (kind.kind == "signed"))) - 1
