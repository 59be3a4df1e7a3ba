"""Elementwise ops on bits: and, or, xor, not, shifts, popcnt, count-leading-zeros.

A shift by the width or more gives 0, or the sign for an arithmetic one; amounts are unsigned, so that a negative amount
is beyond the width.
"""

from __future__ import annotations

from indexing.hlo import Instruction
from indexing.lazy import np
from indexing.ops.element_context import ElementContext, Value
from indexing.ops.element_types import ElementType, element_type
from indexing.ops.elementwise.builders import Code, by_numpy, computed, elementwise_op, kind_of, narrow_integer, refuse
from indexing.ops.op import Op
from indexing.ops.values import Array


def _logical(operation: str) -> Code:
    def code(ctx: ElementContext, instruction: Instruction, values: tuple[Value, ...]) -> Value:
        kind = kind_of(values[0])
        if not kind.is_integer and kind.kind != "pred":
            raise refuse(operation, kind)
        return ctx.op(operation, kind.compute_type, *values)

    return code


def _not_code(ctx: ElementContext, instruction: Instruction, values: tuple[Value, ...]) -> Value:
    kind = kind_of(values[0])
    return ctx.op("not", "pred", *values) if kind.kind == "pred" else computed(ctx, "not", *values)


def _integer(opcode: str, kind: ElementType) -> ElementType:
    if not kind.is_integer:
        raise refuse(opcode, kind)
    return kind


def _own_bits(ctx: ElementContext, kind: ElementType, value: Value) -> Value:
    """The operand's own bits: of a signed integer below a byte, without the sign extension to the byte."""
    if not kind.is_byte_packed:
        return value
    return ctx.op("and", kind.compute_type, value, ctx.number(kind.compute_type, (1 << kind.bits) - 1))


def _shift_left_code(ctx: ElementContext, instruction: Instruction, values: tuple[Value, ...]) -> Value:
    kind = _integer("shift-left", kind_of(values[0]))
    return computed(ctx, "shl", values[0], _own_bits(ctx, kind, values[1]))


def _shift_right_logical_code(ctx: ElementContext, instruction: Instruction, values: tuple[Value, ...]) -> Value:
    kind = _integer("shift-right-logical", kind_of(values[0]))
    a, amount = (_own_bits(ctx, kind, v) for v in values)
    return narrow_integer(ctx, kind, ctx.op("shr_logical", kind.compute_type, a, amount))


def _shift_right_arithmetic_code(ctx: ElementContext, instruction: Instruction, values: tuple[Value, ...]) -> Value:
    """Shift the operand's bits as those of a signed number, also where it is unsigned."""
    kind = _integer("shift-right-arithmetic", kind_of(values[0]))
    amount = _own_bits(ctx, kind, values[1])
    if kind.kind == "signed":
        return ctx.op("shr_arithmetic", kind.compute_type, values[0], amount)
    signed = element_type("s" + kind.name[1:])
    a, n = (ctx.op("convert", signed.compute_type, v) for v in (values[0], amount))
    shifted = ctx.op("shr_arithmetic", signed.compute_type, narrow_integer(ctx, signed, a), n)
    return narrow_integer(ctx, kind, ctx.op("convert", kind.compute_type, shifted))


def _popcnt_code(ctx: ElementContext, instruction: Instruction, values: tuple[Value, ...]) -> Value:
    kind = _integer("popcnt", kind_of(values[0]))
    return narrow_integer(ctx, kind, ctx.op("popcount", kind.compute_type, _own_bits(ctx, kind, values[0])))


def _clz_code(ctx: ElementContext, instruction: Instruction, values: tuple[Value, ...]) -> Value:
    kind = _integer("count-leading-zeros", kind_of(values[0]))
    zeros = ctx.op("clz", kind.compute_type, _own_bits(ctx, kind, values[0]))
    if not kind.is_byte_packed:
        return zeros
    return narrow_integer(
        ctx, kind, ctx.op("sub", kind.compute_type, zeros, ctx.number(kind.compute_type, 8 - kind.bits))
    )


def _own(instruction: Instruction) -> ElementType:
    return element_type(instruction.operands[0].shape.element_type)


def _bits(array: Array, kind: ElementType) -> Array:
    """The low `kind.bits` bits of each element, as the unsigned type of that width, or as uint64."""
    if array.dtype.kind in "iu" and array.dtype.itemsize * 8 == kind.bits:
        return array.view(f"u{array.dtype.itemsize}")
    wide = array.astype(np.uint64, copy=False)
    return wide & np.uint64((1 << kind.bits) - 1)


def _shifted(shift: np.ufunc, a: Array, by: Array, kind: ElementType) -> Array:
    """The shifted bits; 0 for a shift by the type's width or more."""
    if not by.size or by.max() < kind.bits:
        return np.asarray(shift(a, by))
    inside = by < kind.bits
    return np.where(inside, shift(a, np.where(inside, by, by.dtype.type(0))), a.dtype.type(0))


def _shift_left(instruction: Instruction, a: Array, amount: Array) -> Array:
    kind = _own(instruction)
    return _shifted(np.left_shift, _bits(a, kind), _bits(amount, kind), kind)


def _shift_right_logical(instruction: Instruction, a: Array, amount: Array) -> Array:
    kind = _own(instruction)
    return _shifted(np.right_shift, _bits(a, kind), _bits(amount, kind), kind)


def _shift_right_arithmetic(instruction: Instruction, a: Array, amount: Array) -> Array:
    kind = _own(instruction)
    by = np.minimum(_bits(amount, kind), np.uint64(kind.bits - 1)).astype(np.int64)
    top = np.int64(64 - kind.bits)
    return ((a.astype(np.int64) << top) >> top) >> by


def _popcnt(instruction: Instruction, a: Array) -> Array:
    return np.bitwise_count(_bits(a, _own(instruction))).astype(np.uint64)


def _clz(instruction: Instruction, a: Array) -> Array:
    kind = _own(instruction)
    rest, length = _bits(a, kind), np.zeros(a.shape, np.uint64)
    for step in (32, 16, 8, 4, 2, 1):
        large = rest >= np.uint64(1 << step)
        length = length + np.where(large, np.uint64(step), np.uint64(0))
        rest = np.where(large, rest >> np.uint64(step), rest)
    return np.uint64(kind.bits) - (length + rest)


OPS: tuple[Op, ...] = (
    elementwise_op(
        "and", "out[i] = a[i] & b[i]", by_numpy("bitwise_and"), _logical("and"), rounds="exact", integers="own"
    ),
    elementwise_op("count-leading-zeros", "out[i] = zeros above the highest set bit of in[i]", _clz, _clz_code),
    elementwise_op("not", "out[i] = ~in[i]", by_numpy("invert"), _not_code, rounds="exact", integers="own"),
    elementwise_op(
        "or", "out[i] = a[i] | b[i]", by_numpy("bitwise_or"), _logical("or"), rounds="exact", integers="own"
    ),
    elementwise_op("popcnt", "out[i] = set bits of in[i]", _popcnt, _popcnt_code),
    elementwise_op(
        "shift-left", "out[i] = a[i] << b[i], 0 beyond the width", _shift_left, _shift_left_code, integers="own"
    ),
    elementwise_op(
        "shift-right-arithmetic",
        "out[i] = a[i] >> b[i] with copies of the sign",
        _shift_right_arithmetic,
        _shift_right_arithmetic_code,
    ),
    elementwise_op(
        "shift-right-logical",
        "out[i] = a[i] >> b[i] with zeros, 0 beyond the width",
        _shift_right_logical,
        _shift_right_logical_code,
        integers="own",
    ),
    elementwise_op(
        "xor", "out[i] = a[i] ^ b[i]", by_numpy("bitwise_xor"), _logical("xor"), rounds="exact", integers="own"
    ),
)
