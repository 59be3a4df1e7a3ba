"""mulhi: the upper half of the product of two integers, which has twice their bits."""

from __future__ import annotations

from indexing.hlo import Instruction
from indexing.lazy import np
from indexing.ops.element_context import ElementContext, Value
from indexing.ops.element_types import element_type
from indexing.ops.elementwise.builders import elementwise_op, kind_of, narrow_integer, refuse
from indexing.ops.op import Op
from indexing.ops.values import Array

_HALF = 32


def _mulhi(instruction: Instruction, a: Array, b: Array) -> Array:
    bits = element_type(instruction.shape.element_type).bits
    if bits <= _HALF:
        return (a * b) >> a.dtype.type(bits)
    x, y = a.view(np.uint64), b.view(np.uint64)
    high = _high_unsigned(x, y)
    if a.dtype.kind == "i":  # a negative number is its bits, less 2**64
        high = high - np.where(a < 0, y, np.uint64(0)) - np.where(b < 0, x, np.uint64(0))
    return high.view(a.dtype)


def _high_unsigned(x: Array, y: Array) -> Array:
    """The upper half of products of 64 bits, as one multiplies by hand in base 2**32."""
    half, low = np.uint64(_HALF), np.uint64(2**_HALF - 1)
    middle = (x >> half) * (y & low) + (((x & low) * (y & low)) >> half)
    other = (x & low) * (y >> half) + (middle & low)
    return (x >> half) * (y >> half) + (middle >> half) + (other >> half)


def _mulhi_code(ctx: ElementContext, instruction: Instruction, values: tuple[Value, ...]) -> Value:
    kind = kind_of(values[0])
    if not kind.is_integer:
        raise refuse("mulhi", kind)
    if kind.bits > _HALF:
        return _high_in_halves(ctx, values)
    wide = "s64" if kind.kind == "signed" else "u64"
    x, y = (ctx.op("convert", wide, v) for v in values)
    shift = "shr_arithmetic" if kind.kind == "signed" else "shr_logical"
    high = ctx.op(shift, wide, ctx.op("mul", wide, x, y), ctx.number(wide, kind.bits))
    return narrow_integer(ctx, kind, ctx.op("convert", kind.compute_type, high))


def _high_in_halves(ctx: ElementContext, values: tuple[Value, ...]) -> Value:
    """As `_high_unsigned`, and its correction for negative numbers."""

    def unsigned(opcode: str, a: Value, b: Value) -> Value:
        return ctx.let("u64", ctx.op(opcode, "u64", a, b))

    def upper(value: Value) -> Value:
        return unsigned("shr_logical", value, ctx.number("u64", _HALF))

    def lower(value: Value) -> Value:
        return unsigned("and", value, ctx.number("u64", 2**_HALF - 1))

    def product(a: Value, b: Value, more: Value) -> Value:
        return unsigned("add", unsigned("mul", a, b), more)

    x, y = (ctx.let("u64", ctx.op("convert", "u64", v)) for v in values)
    middle = product(upper(x), lower(y), upper(unsigned("mul", lower(x), lower(y))))
    other = product(lower(x), upper(y), lower(middle))
    high = unsigned("add", product(upper(x), upper(y), upper(middle)), upper(other))
    kind = kind_of(values[0]).name
    if kind == "u64":
        return high
    for value, factor in ((values[0], y), (values[1], x)):
        sign = ctx.op("convert", "u64", ctx.op("shr_arithmetic", kind, value, ctx.number(kind, 63)))
        high = unsigned("sub", high, unsigned("and", sign, factor))
    return ctx.op("convert", kind, high)


OPS: tuple[Op, ...] = (
    elementwise_op("mulhi", "out[i] = floor(a[i] * b[i] / 2**bits)", _mulhi, _mulhi_code, rounds="exact"),
)
