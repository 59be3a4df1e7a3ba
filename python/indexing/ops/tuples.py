"""Ops without computation: parameters, constants, tuples, tokens, asynchronous copies."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import partial

from indexing.errors import IndexingError
from indexing.hlo import Instruction, Shape
from indexing.lazy import np
from indexing.ops.element import moves
from indexing.ops.op import ByStructure, Op, Reference
from indexing.ops.operand_indexing import Indexing, OperandIndexing, identity
from indexing.ops.operation_count import no_operations
from indexing.ops.values import HloValue

NAMES_ARRAYS = frozenset({"get-tuple-element", "tuple"})  # these compute nothing, but name arrays of their operands


def is_array(shape: Shape) -> bool:
    """Whether a shape has elements; tokens and opaque values have none."""
    return shape.element_type not in ("token", "opaque")


def alias(shape: Shape, leaf: int) -> list[OperandIndexing]:
    """The identity to array `leaf` of the operand; empty for a token, which has no elements."""
    if not is_array(shape):
        return []
    return [OperandIndexing(identity(shape.dimensions).map, leaf=leaf)]


def leaf_before(shape: Shape, element: int) -> int:
    """The number of arrays of a tuple shape before its `element`-th element."""
    return shape.leaf_offsets[element]


def named_array(instruction: Instruction, leaf: int) -> tuple[Instruction, int]:
    """The operand of a tuple or get-tuple-element that has array `leaf`, and the array's number in that operand."""
    if instruction.opcode == "get-tuple-element":
        (operand,) = instruction.operands
        return operand, leaf + leaf_before(operand.shape, instruction.integer("index"))
    element = bisect_right(instruction.shape.leaf_offsets, leaf) - 1  # empty tuples have no arrays and are skipped
    return instruction.operands[element], leaf - instruction.shape.leaf_offsets[element]


def array_source(instruction: Instruction, leaf: int) -> tuple[Instruction, int]:
    """The instruction that computes array `leaf`, found through tuples, and the array's number in that instruction."""
    while instruction.opcode in NAMES_ARRAYS:
        instruction, leaf = named_array(instruction, leaf)
    return instruction, leaf


def nest(shape: Shape, flat: Sequence[HloValue]) -> HloValue:
    """Values of the leaves of `shape`, in order, as the nested tuple that it describes."""
    if not shape.is_tuple:
        return flat[0]
    parts, at = [], 0
    for part in shape.elements:
        width = len(part.leaves)
        parts.append(nest(part, flat[at : at + width]))
        at += width
    return tuple(parts)


def reads_nothing(i: Instruction, output: int) -> Indexing:
    """No maps to any operand."""
    return [[] for _ in i.operands]


def _parameter(i: Instruction, operands: Sequence[HloValue]) -> HloValue:
    raise IndexingError(f"parameter {i.name} has no value of its own: evaluate its computation with arguments")


def _constant(i: Instruction, operands: Sequence[HloValue]) -> HloValue:
    value: HloValue = i.literal
    return value


def _tuple(i: Instruction, operands: Sequence[HloValue]) -> HloValue:
    return tuple(operands)


def _element(i: Instruction, operands: Sequence[HloValue]) -> HloValue:
    whole = operands[0]
    if not isinstance(whole, tuple):
        raise IndexingError(f"{i.name} takes an element of a value that is no tuple")
    return whole[i.integer("index")]


def same_leaf_from_output(i: Instruction, output: int) -> Indexing:
    """The identity from each array of the result to that of operand 0; further operands only order the instruction."""
    return [alias(i.shape.leaves[output], output), *([] for _ in i.operands[1:])]


def operand_itself(i: Instruction, operands: Sequence[HloValue]) -> HloValue:
    """The value of operand 0."""
    return operands[0]


def token(i: Instruction, operands: Sequence[HloValue]) -> HloValue:
    """The value of a token."""
    return None


def _copy_start_from_output(i: Instruction, output: int) -> Indexing:
    """Outputs are the copy, the source, and a context without data."""
    return [alias(i.shape.leaves[output], 0) if output < 2 else []]


def _copy_start(i: Instruction, operands: Sequence[HloValue]) -> HloValue:
    contexts = [np.zeros(part.dimensions, part.dtype) for part in i.shape.leaves[2:]]
    return (operands[0], operands[0], *contexts)


def element_of_started(number: int) -> Reference:
    """The reference of the end of an operation: an element of the tuple that its start gave."""

    def reference(i: Instruction, operands: Sequence[HloValue]) -> HloValue:
        started = operands[0]
        if not isinstance(started, tuple) or len(started) <= number:
            whole = i.operands[0].shape
            raise IndexingError(f"{i.name} ends an operation that was not started: its operand is {whole}")
        return started[number]

    return reference


_pass_on = partial(
    Op,
    output_to_input=same_leaf_from_output,
    reference=operand_itself,
    element=moves.pass_on,
    bounded=True,
    passes_operand=True,
    operations=no_operations,
)
_by_name = partial(
    Op, output_to_input=ByStructure("alias"), input_to_output=ByStructure("alias"), bounded=True, kind="alias"
)
TUPLE = _by_name("tuple", "out.k[i] = in_k[i]", reference=_tuple)
GET_TUPLE_ELEMENT = _by_name("get-tuple-element", "out[i] = in.index[i]", reference=_element)

OPS: tuple[Op, ...] = (
    Op("parameter", "an argument of its computation", reads_nothing, _parameter, bounded=True, kind="leaf"),
    Op("constant", "a literal", reads_nothing, _constant, element=moves.constant, kind="leaf"),
    TUPLE,
    GET_TUPLE_ELEMENT,
    Op("after-all", "a token; no element is read", reads_nothing, token, kind="orders"),
    _pass_on("add-dependency", "out[i] = in[i], after the token"),
    _pass_on("opt-barrier", "out.k[i] = in.k[i]"),
    _pass_on("domain", "out[i] = in[i]"),
    Op(
        "copy-start",
        "out.0[i] = in[i], out.1[i] = in[i]",
        _copy_start_from_output,
        _copy_start,
        result_index=0,
        operations=no_operations,
    ),
    Op(
        "copy-done",
        "out[i] = in.0[i]",
        same_leaf_from_output,
        element_of_started(0),
        is_done=True,
        operations=no_operations,
    ),
)
