"""The common parts of elementwise ops: their formula, the types in which they compute, and the construction of `Op`.

An elementwise op is defined by two functions: `reference`, on arrays of the *computing* types (integers as int64 or
uint64, narrow floats as f32), and `code`, from values of the operands to the value of the result in a kernel. Results
are rounded to their type here, for all ops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from indexing.errors import UnsupportedOp
from indexing.hlo import Instruction
from indexing.lazy import np
from indexing.ops.bounded import check_same_sizes
from indexing.ops.element_context import ElementContext, Index, Value
from indexing.ops.element_types import ElementType, element_type
from indexing.ops.op import Op
from indexing.ops.operand_indexing import Indexing, identity, scalar
from indexing.ops.operation_count import OperationRule, one_each_element
from indexing.ops.values import Array, HloValue, broadcast_sizes, only_array

Code: TypeAlias = "Callable[[ElementContext, Instruction, tuple[Value, ...]], Value]"
ArrayFunction: TypeAlias = "Callable[..., Array]"


def elementwise_indexing(instruction: Instruction, output: int) -> Indexing:
    """out[i...] = f(in[i...], ...); an operand that is a scalar beside a shaped result is read as a scalar."""
    sizes = instruction.shape.dimensions
    return [
        [identity(sizes) if operand.shape.dimensions == sizes else scalar(sizes)] for operand in instruction.operands
    ]


def _is_rounded(rounds: str, kind: str) -> bool:
    known = element_type(kind).format
    return rounds == "rounded" or (rounds == "whole" and known is not None and not known.ends_whole)


def elementwise_element(code: Code, rounds: str) -> Callable[[ElementContext, Instruction, int, Index], Value]:
    """Element code: reads the operands at the same index (scalars at the empty index) and applies `code`."""

    def element(ctx: ElementContext, instruction: Instruction, output: int, index: Index) -> Value:
        sizes = instruction.shape.dimensions
        values = tuple(
            ctx.operand(instruction, k, index if operand.shape.dimensions == sizes else ())
            for k, operand in enumerate(instruction.operands)
        )
        kind = instruction.shape.element_type
        return ctx.let(kind, code(ctx, instruction, values), rounds=_is_rounded(rounds, kind))

    return element


def by_numpy(name: str) -> ArrayFunction:
    """The reference that is numpy's function of that name; numpy is imported at the first call."""
    return lambda instruction, *arrays: getattr(np, name)(*arrays)


def kind_of(value: Value) -> ElementType:
    """The table entry of a value's element type."""
    return element_type(value.element_type)


def refuse(opcode: str, kind: ElementType) -> UnsupportedOp:
    """The error for an opcode that isn't defined on an element type."""
    return UnsupportedOp(f"{opcode} is not defined on {kind.name}")


def computed(ctx: ElementContext, opcode: str, *values: Value) -> Value:
    """An operation whose result has the operands' type; integers below a byte are reduced to their bits."""
    kind = kind_of(values[0])
    return narrow_integer(ctx, kind, ctx.op(opcode, kind.compute_type, *values))


def narrow_integer(ctx: ElementContext, kind: ElementType, value: Value) -> Value:
    """A value computed in a byte, reduced modulo 2**bits where `kind` is an integer below a byte."""
    if not (kind.is_integer and kind.is_byte_packed):
        return value
    return ctx.op("wrap", kind.compute_type, value, format=kind.name)


def computing(array: Array, kind: ElementType) -> Array:
    """The array in the reference's computing type: int64 or uint64 for integers, f32 for narrow floats, else its own."""
    if kind.kind == "signed":
        return array.astype(np.int64, copy=False)
    if kind.kind == "unsigned":
        return array.astype(np.uint64, copy=False)
    if kind.is_narrow_float:
        return array.astype(np.float32, copy=False)
    return array


def narrowed(array: Array, kind: ElementType) -> Array:
    """The computed array converted to `kind`: integers wrap modulo 2**bits, floats round to nearest even."""
    array = np.asarray(array)
    if kind.is_integer and array.dtype.kind in "iu" and array.dtype != kind.dtype:
        return _wrap(array, kind)
    if kind.name == "f4e2m1fn":  # this type has no NaN; any NaN becomes -0
        array = np.where(np.isnan(array), np.float32(np.nan), array)
    with np.errstate(all="ignore"):
        return array.astype(kind.dtype, copy=False)


def _wrap(array: Array, kind: ElementType) -> Array:
    if kind.bits >= 8:
        return array.astype(kind.dtype, copy=False)
    mask = (1 << kind.bits) - 1
    low = (array.astype(np.int64) & mask).astype(np.int8)
    if kind.kind == "signed":
        low = np.where(low > mask >> 1, low - np.int8(mask) - np.int8(1), low)
    return low.astype(kind.dtype)


def run_elementwise(
    instruction: Instruction, arguments: Sequence[HloValue], function: ArrayFunction, integers: str = "wide"
) -> Array:
    """Apply `function` to the operands in their computing types; scalar operands are broadcast.

    With `integers="own"`, integers of numpy's types are computed in their own type, in which `function` wraps as HLO does.
    """
    result = element_type(instruction.shape.element_type)
    kinds = [element_type(o.shape.element_type) for o in instruction.operands]
    own = integers == "own" and all(k.is_integer and k.bits >= 8 for k in kinds if k.name != "pred")
    arrays = [only_array(a) if own else computing(only_array(a), k) for a, k in zip(arguments, kinds, strict=True)]
    check_same_sizes(instruction, arrays)
    with np.errstate(all="ignore"):
        out = narrowed(np.asarray(function(instruction, *arrays)), result)
    shape = broadcast_sizes(*(np.shape(a) for a in arrays))
    return np.ascontiguousarray(np.broadcast_to(out, shape)) if out.shape != shape else out


def elementwise_op(
    opcode: str,
    formula: str,
    function: ArrayFunction,
    code: Code,
    *,
    rounds: str = "rounded",
    integers: str = "wide",
    is_expensive: bool = False,
    operations: OperationRule = one_each_element,
) -> Op:
    """An elementwise op. With `rounds="exact"`, the result needs no rounding (abs, select, maximum); with `rounds="whole"`, it
    does only for types whose largest number is not whole (ceil).

    With `integers="own"`, `function` computes integers of whole bytes in their own type.
    """

    def reference(instruction: Instruction, arguments: Sequence[HloValue]) -> HloValue:
        return run_elementwise(instruction, arguments, function, integers)

    return Op(
        opcode=opcode,
        formula=formula,
        output_to_input=elementwise_indexing,
        reference=reference,
        element=elementwise_element(code, rounds),
        bounded=True,
        is_expensive=is_expensive,
        operations=operations,
    )
