"""The parts of a softmax, as instructions state them: exponentials of differences, and what is linear in them."""

from __future__ import annotations

from indexing.hlo import Instruction
from indexing.ops.element_types import element_type
from indexing.ops.reducer_ops import reducer_opcode
from indexing.ops.registry import traits_of
from indexing.ops.tuples import array_source

_LINEAR = {"multiply": (0, 1), "divide": (0,), "convert": (0,)}


def operand_of(i: Instruction, k: int) -> Instruction:
    """The instruction that computes operand `k`."""
    return array_source(i.operands[k], 0)[0]


def exponent_difference(i: Instruction) -> Instruction | None:
    """The subtraction whose exponential `i` is; None for other instructions."""
    if i.opcode != "exponential" or operand_of(i, 0).opcode != "subtract":
        return None
    return operand_of(i, 0)


def linear_operands(i: Instruction) -> tuple[int, ...]:
    """The operands in which a float instruction is linear, but for rounding, while the others stay the same."""
    shapes = [i.shape, *(o.shape for o in i.operands)]
    if any(s.is_tuple or element_type(s.element_type).kind != "float" for s in shapes):
        return ()
    is_move = traits_of(i).has_no_compute and len(i.operands) == 1
    return (0,) if is_move else _LINEAR.get(i.opcode, ())


def before_moves(i: Instruction, *, rounds: bool = False) -> Instruction:
    """The first of a chain of moves, and of conversions that keep every float as it is, or, with `rounds`, of any."""
    while linear_operands(i) == (0,) and (traits_of(i).has_no_compute or _converts(i, rounds)):
        i = operand_of(i, 0)
    return i


def _converts(i: Instruction, rounds: bool) -> bool:
    """Whether an instruction is a conversion of floats; without `rounds`, to a type that has each value of the other."""
    narrow, wide = (element_type(s.element_type).format for s in (i.operands[0].shape, i.shape))
    if i.opcode != "convert" or narrow is None or wide is None:
        return False
    return rounds or (narrow.exponent <= wide.exponent and narrow.mantissa <= wide.mantissa)


def is_maximum(reduce: Instruction) -> bool:
    """Whether a reduction is the maximum of its elements."""
    return reducer_opcode(reduce.computation_of("to_apply")) == "maximum"


def is_sum(reduce: Instruction) -> bool:
    """Whether a reduction is the sum of its elements."""
    return reducer_opcode(reduce.computation_of("to_apply")) == "add"


def is_exponential(i: Instruction) -> bool:
    """Whether an instruction is an exponential."""
    return bool(i.opcode == "exponential")
