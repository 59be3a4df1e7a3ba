"""Elementwise conversion of types: convert, reduce-precision, stochastic-convert.

Floats saturate when converted to integers, and NaN becomes 0; integers wrap when narrowed; conversions to floats below
f32 round to f32 first, as XLA's elemental emitter does.
"""

from __future__ import annotations

from indexing.errors import UnsupportedOp
from indexing.hlo import Instruction
from indexing.lazy import np
from indexing.ops.element_context import ElementContext, Value
from indexing.ops.element_types import ELEMENT_TYPES, ElementType, element_type
from indexing.ops.elementwise.builders import elementwise_op, kind_of, narrow_integer, refuse
from indexing.ops.op import Op
from indexing.ops.values import Array

#: Exponent and mantissa bits of the floats that reduce-precision takes.
FLOAT_FORMATS = {
    kind.name: (kind.format.exponent, kind.format.mantissa)
    for kind in ELEMENT_TYPES.values()
    if kind.format is not None and kind.kind == "float" and kind.bits >= 16
}


def _target(instruction: Instruction) -> ElementType:
    return element_type(instruction.shape.element_type)


def convert_code(ctx: ElementContext, value: Value, target: ElementType) -> Value:
    """`value` in the compute type of `target`; rounding to a narrow float is left to the caller."""
    source = kind_of(value)
    if target.kind == "pred":
        return ctx.op("ne", "pred", value, ctx.number(source.compute_type, 0))
    if target.kind == "complex":
        if source.kind == "complex":
            return _as_type(ctx, source.compute_type, target.compute_type, value)
        real = _as_type(ctx, source.compute_type, target.real, value)
        return ctx.op("complex", target.name, real, ctx.number(target.real, 0.0))
    if source.kind == "complex":
        value, source = ctx.op("real", source.real, value), element_type(source.real)
    if target.is_integer and source.kind == "float":
        return ctx.op("saturate", target.compute_type, value, format=target.name)
    return narrow_integer(ctx, target, _as_type(ctx, source.compute_type, target.compute_type, value))


def _as_type(ctx: ElementContext, source: str, target: str, value: Value) -> Value:
    return value if source == target else ctx.op("convert", target, value)


def _convert_code(ctx: ElementContext, instruction: Instruction, values: tuple[Value, ...]) -> Value:
    return convert_code(ctx, values[0], _target(instruction))


def convert_array(array: Array, source: ElementType, target: ElementType) -> Array:
    """`array` (of `source`, or its computing type) converted to `target`, or to a computing type that rounds to it."""
    if target.kind == "complex":
        return array.astype(target.dtype)
    if target.kind == "pred":
        return array != 0
    if array.dtype.kind == "c":
        array = np.real(array)
    if target.is_narrow_float:
        return array.astype(np.float32)
    if target.kind == "float":
        return array.astype(target.dtype)
    if source.kind in ("float", "complex"):
        return saturated(array, target)
    return array.astype(np.int64) if array.dtype == np.bool_ else array


def saturated(array: Array, target: ElementType) -> Array:
    """Floats truncated to the range of an integer type; NaN gives 0."""
    signed = target.kind == "signed"
    low = -(1 << (target.bits - 1)) if signed else 0
    high = (1 << (target.bits - (1 if signed else 0))) - 1
    wide = np.dtype(np.int64 if signed else np.uint64)
    values = np.where(np.isnan(array), 0, array).astype(np.float64)
    inside = (values > float(low)) & (values < float(high))
    whole = np.where(inside, values, 0.0).astype(wide)
    return np.where(inside, whole, np.where(values <= float(low), wide.type(low), wide.type(high)))


def _convert(instruction: Instruction, a: Array) -> Array:
    return convert_array(a, element_type(instruction.operands[0].shape.element_type), _target(instruction))


def _precision(instruction: Instruction) -> tuple[int, int]:
    exponent, mantissa = instruction.integer("exponent_bits"), instruction.integer("mantissa_bits")
    if exponent < 1 or mantissa < 0:
        raise UnsupportedOp(f"reduce-precision to {exponent} exponent and {mantissa} mantissa bits; needs 1 and 0")
    return exponent, mantissa


def _reduce_precision_code(ctx: ElementContext, instruction: Instruction, values: tuple[Value, ...]) -> Value:
    exponent, mantissa = _precision(instruction)
    kind = kind_of(values[0])
    if kind.name not in FLOAT_FORMATS:
        raise refuse("reduce-precision", kind)
    own = FLOAT_FORMATS[kind.name]
    widths = [ctx.number("s32", min(exponent, own[0])), ctx.number("s32", min(mantissa, own[1]))]
    return ctx.op("reduce_precision", kind.compute_type, values[0], *widths, format=kind.name)


def _reduce_precision(instruction: Instruction, a: Array) -> Array:
    kind = _target(instruction)
    if kind.name not in FLOAT_FORMATS:
        raise refuse("reduce-precision", kind)
    exponent, mantissa = _precision(instruction)
    a = a.astype(kind.dtype)
    bits = a.view(np.dtype(f"u{kind.bits // 8}")).astype(np.uint64)
    own_exponent, own_mantissa = FLOAT_FORMATS[kind.name]
    reduced = _round_mantissa(bits, own_mantissa - mantissa) if mantissa < own_mantissa else bits
    if exponent < own_exponent:
        reduced = _clip_exponent(reduced, own_exponent, own_mantissa, exponent)
    out = reduced.astype(f"u{kind.bits // 8}").view(kind.dtype)
    return np.where(np.isnan(a), a, out)


def _round_mantissa(bits: Array, dropped: int) -> Array:
    """Round to nearest even at bit `dropped`; a carry increments the exponent, which is correct."""
    last = (bits >> np.uint64(dropped)) & np.uint64(1)
    bias = np.uint64((1 << dropped >> 1) - 1) + last
    return (bits + bias) & ~np.uint64((1 << dropped) - 1)


def _clip_exponent(bits: Array, exponent: int, mantissa: int, reduced: int) -> Array:
    """Replace values above the reduced exponent's range by infinity, those below it by zero; signs are kept."""
    mask = np.uint64(((1 << exponent) - 1) << mantissa)
    bias, reduced_bias = (1 << (exponent - 1)) - 1, (1 << (reduced - 1)) - 1
    own = bits & mask
    zero = bits & np.uint64(1 << (exponent + mantissa))
    bits = np.where(own > np.uint64((bias + reduced_bias) << mantissa), zero | mask, bits)
    return np.where(own <= np.uint64((bias - reduced_bias) << mantissa), zero, bits)


def _stochastic_code(ctx: ElementContext, instruction: Instruction, values: tuple[Value, ...]) -> Value:
    x, random = values
    target, source, noise = _target(instruction), kind_of(x), kind_of(random)
    if source.kind != "float" or not target.is_integer or noise.kind != "unsigned":
        raise UnsupportedOp(f"stochastic-convert from {source.name} with {noise.name} to {target.name}")
    real = source.compute_type
    whole = ctx.let(real, ctx.op("trunc", real, x))
    fraction = ctx.op("abs", real, ctx.op("sub", real, x, whole))
    scaled = ctx.op("mul", real, fraction, ctx.number(real, float(2**noise.bits)))
    part = ctx.op("saturate", "u64", scaled, format="u64")
    is_up = ctx.op("lt", "pred", _as_type(ctx, noise.compute_type, "u64", random), part)
    away = ctx.op("copysign", real, ctx.number(real, 1.0), x)
    step = ctx.op("select", real, is_up, away, ctx.number(real, 0.0))
    return ctx.op("saturate", target.compute_type, ctx.op("add", real, whole, step), format=target.name)


def _stochastic(instruction: Instruction, a: Array, random: Array) -> Array:
    noise = element_type(instruction.operands[1].shape.element_type)
    finite = np.where(np.isfinite(a), a, 0)
    whole = np.trunc(finite)
    part = (np.abs(finite - whole).astype(np.float64) * float(2**noise.bits)).astype(np.uint64)
    rounded = whole + np.where(random < part, np.copysign(1, finite), 0).astype(a.dtype)
    return saturated(np.where(np.isfinite(a), rounded, a), _target(instruction))


OPS: tuple[Op, ...] = (
    elementwise_op("convert", "out[i] = in[i] as another type; floats saturate to integers", _convert, _convert_code),
    elementwise_op(
        "reduce-precision",
        "out[i] = in[i] rounded to fewer exponent and mantissa bits",
        _reduce_precision,
        _reduce_precision_code,
        rounds="exact",
    ),
    elementwise_op(
        "stochastic-convert",
        "out[i] = trunc(in[i]), one further from 0 when random[i] / 2**bits is below the fraction",
        _stochastic,
        _stochastic_code,
        rounds="exact",
    ),
)
