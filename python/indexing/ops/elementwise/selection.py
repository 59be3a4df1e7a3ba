"""Elementwise selection and inspection: clamp, compare, complex, real, imag, is-finite, select."""

from __future__ import annotations

from collections.abc import Callable

from indexing.errors import UnsupportedOp
from indexing.hlo import Instruction
from indexing.lazy import np
from indexing.ops.element_context import ElementContext, Value
from indexing.ops.element_types import ElementType, element_type
from indexing.ops.elementwise.arithmetic import larger, smaller
from indexing.ops.elementwise.builders import by_numpy, elementwise_op, kind_of, refuse
from indexing.ops.op import Op
from indexing.ops.values import Array, broadcast_sizes

_OPERATORS = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}
_FUNCTIONS = {
    "EQ": "equal",
    "NE": "not_equal",
    "LT": "less",
    "LE": "less_equal",
    "GT": "greater",
    "GE": "greater_equal",
}


def _direction(instruction: Instruction) -> str:
    direction = instruction.text("direction")
    if direction not in _OPERATORS:
        raise UnsupportedOp(f"compare has direction {direction!r}; supported are {', '.join(_OPERATORS)}")
    return direction


def _is_total_order(instruction: Instruction) -> bool:
    kind = element_type(instruction.operands[0].shape.element_type)
    return kind.kind == "float" and instruction.attributes.get("type") == "TOTALORDER"


def _compare_code(ctx: ElementContext, instruction: Instruction, values: tuple[Value, ...]) -> Value:
    kind = kind_of(values[0])
    direction = _direction(instruction)
    if kind.kind == "complex" and direction not in ("EQ", "NE"):
        raise refuse(f"compare {direction}", kind)
    if _is_total_order(instruction):
        order = "s64" if kind.real == "f64" else "s32"
        values = tuple(ctx.op("total_order", order, v) for v in values)
    return ctx.op(direction.lower(), "pred", *values)


def _select_code(ctx: ElementContext, instruction: Instruction, values: tuple[Value, ...]) -> Value:
    return ctx.op("select", kind_of(values[1]).compute_type, *values)


def _clamp_code(ctx: ElementContext, instruction: Instruction, values: tuple[Value, ...]) -> Value:
    low, x, high = values
    kind = kind_of(x)
    if kind.kind == "complex":
        raise refuse("clamp", kind)
    if kind.kind == "pred":
        return ctx.op("and", "pred", high, ctx.op("or", "pred", low, x))
    if kind.is_integer:
        return ctx.op("clamp", kind.compute_type, low, x, high)
    return ctx.op("minimum", kind.compute_type, high, ctx.op("maximum", kind.compute_type, low, x))


def _complex_code(ctx: ElementContext, instruction: Instruction, values: tuple[Value, ...]) -> Value:
    return ctx.op("complex", instruction.shape.element_type, *values)


def _real_code(ctx: ElementContext, instruction: Instruction, values: tuple[Value, ...]) -> Value:
    kind = kind_of(values[0])
    return ctx.op("real", kind.real, *values) if kind.kind == "complex" else values[0]


def _imag_code(ctx: ElementContext, instruction: Instruction, values: tuple[Value, ...]) -> Value:
    kind = kind_of(values[0])
    return ctx.op("imag", kind.real, *values) if kind.kind == "complex" else ctx.number(kind.name, 0.0)


def _is_finite_code(ctx: ElementContext, instruction: Instruction, values: tuple[Value, ...]) -> Value:
    kind = kind_of(values[0])
    if kind.kind != "float":
        raise refuse("is-finite", kind)
    return ctx.op("is_finite", "pred", *values)


def _compare(instruction: Instruction, a: Array, b: Array) -> Array:
    function: Callable[..., Array] = getattr(np, _FUNCTIONS[_direction(instruction)])
    if not _is_total_order(instruction):
        return function(a, b)
    return function(_total_order(a), _total_order(b))


def _total_order(a: Array) -> Array:
    """Signed integers in the total order of the floats: -NaN < -inf < ... < -0 < +0 < ... < inf < NaN."""
    signed = np.int64 if a.dtype == np.float64 else np.int32
    bits: Array = a.view(signed)
    return np.where(bits < 0, np.iinfo(signed).max ^ bits, bits)


def _clamp(instruction: Instruction, low: Array, x: Array, high: Array) -> Array:
    return smaller(high, larger(low, x))


def _complex(instruction: Instruction, real: Array, imaginary: Array) -> Array:
    shape = broadcast_sizes(real.shape, imaginary.shape)
    out = np.empty(shape, np.complex128 if real.dtype == np.float64 else np.complex64)
    out.real, out.imag = real, imaginary
    return out


def _is_finite(instruction: Instruction, a: Array) -> Array:
    kind: ElementType = element_type(instruction.operands[0].shape.element_type)
    if kind.kind != "float":
        raise refuse("is-finite", kind)
    return np.isfinite(a)


OPS: tuple[Op, ...] = (
    elementwise_op(
        "clamp", "out[i] = min(high[i], max(low[i], x[i]))", _clamp, _clamp_code, rounds="exact", integers="own"
    ),
    elementwise_op(
        "compare", "out[i] = a[i] <direction> b[i]", _compare, _compare_code, rounds="exact", integers="own"
    ),
    elementwise_op("complex", "out[i] = re[i] + im[i] * 1j", _complex, _complex_code, rounds="exact"),
    elementwise_op("imag", "out[i] = imaginary part of in[i]", by_numpy("imag"), _imag_code, rounds="exact"),
    elementwise_op(
        "is-finite", "out[i] = in[i] is neither infinite nor NaN", _is_finite, _is_finite_code, rounds="exact"
    ),
    elementwise_op("real", "out[i] = real part of in[i]", by_numpy("real"), _real_code, rounds="exact"),
    elementwise_op(
        "select", "out[i] = pred[i] ? a[i] : b[i]", by_numpy("where"), _select_code, rounds="exact", integers="own"
    ),
)
