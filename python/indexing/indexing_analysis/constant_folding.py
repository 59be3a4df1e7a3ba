"""Known runtime values: constants and iotas, also through ops that only move them. The core folds them into maps.

HLO's clamp is applied: an iota folds to min(max(i, lower), upper). A constant within its bounds folds to itself; one
outside stays a runtime variable, whose value is the constant and whose bounds are those of the clamp. Where values out of
bounds are dropped instead of clamped, a value folds to itself, and the bounds become a constraint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from indexing._core import SymbolicExpr
from indexing.hlo.program import INTEGER_FORMATS
from indexing.ops.op import ByStructure, ThroughComputations
from indexing.ops.registry import op_of, traits_of

if TYPE_CHECKING:
    from indexing.hlo import Instruction

MAX_OPS = 64  # that a value is traced through


def may_be_known(instruction: Instruction) -> bool:
    """Whether an instruction is a constant or an iota, possibly through ops that only move its elements."""
    return _source(instruction) is not None


def _source(instruction: Instruction) -> Instruction | None:
    for _ in range(MAX_OPS):
        op = traits_of(instruction)
        if instruction.is_constant or op.kind == "counts":
            return instruction
        if op.kind != "moves" or instruction.shape.is_tuple:
            return None
        instruction = instruction.operands[0]
    return None


def known_value(instruction: Instruction, index: Sequence[SymbolicExpr]) -> int | SymbolicExpr | None:
    """Element `index` of an integer instruction, if it depends on constants and iotas only; None otherwise."""
    for _ in range(MAX_OPS):
        if instruction.is_constant:
            return _element(instruction, index)
        if traits_of(instruction).kind == "counts":
            return _counted(instruction, index)
        op = op_of(instruction)
        formula = op.output_to_input
        if op.kind != "moves" or instruction.shape.is_tuple or isinstance(formula, ByStructure | ThroughComputations):
            return None
        (found,) = formula(instruction, 0)[0]
        if found.map.ranges:  # a bitcast to another width
            return None
        index = [e.replace_variables(list(index)) for e in found.map.results]
        instruction = instruction.operands[0]
    return None


def _counted(iota: Instruction, index: Sequence[SymbolicExpr]) -> SymbolicExpr | None:
    """The index along the iota's dimension; None if the element type can't hold all of its indices."""
    d, kind = iota.integer("iota_dimension"), iota.shape.element_type
    if kind not in INTEGER_FORMATS:
        return None
    bits = int(kind[1:]) - (kind[0] == "s")
    return index[d] if iota.shape.dimensions[d] <= 1 << bits else None


def _element(literal: Instruction, index: Sequence[SymbolicExpr]) -> int | None:
    elements = literal.literal_integers
    if not elements:
        return None
    one = elements[:1].tobytes()
    if elements.tobytes() == one * len(elements):
        return int(elements[0])
    if any(e.used_variables() for e in index):
        return None
    place = 0
    for e, size in zip(index, literal.shape.dimensions, strict=True):
        at = e.evaluate([])
        if not 0 <= at < size:
            return None
        place = place * size + at
    return int(elements[place])
