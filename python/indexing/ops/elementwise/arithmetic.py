"""Elementwise arithmetic: abs, add, divide, maximum, minimum, multiply, negate, power, remainder, sign, subtract.

Integers wrap. Division by zero gives -1 (signed) or all ones (unsigned), the remainder by zero its dividend, the
smallest integer divided by -1 itself with remainder 0. Maximum and minimum propagate NaN and order -0 below +0.
"""

from __future__ import annotations

from indexing.hlo import Instruction
from indexing.lazy import np
from indexing.ops.element_context import ElementContext, Value
from indexing.ops.element_types import element_type
from indexing.ops.elementwise.builders import Code, by_numpy, computed, elementwise_op, kind_of, refuse
from indexing.ops.op import Op
from indexing.ops.operation_count import one_transcendental_each_element
from indexing.ops.values import Array, broadcast_sizes


def _code(opcode: str, operation: str, predicates: str = "", complex_numbers: bool = True) -> Code:
    """Code of one operation of the kernel IR; `predicates` is the one for predicates (empty: they are refused)."""

    def code(ctx: ElementContext, instruction: Instruction, values: tuple[Value, ...]) -> Value:
        kind = kind_of(values[0])
        if kind.kind == "pred":
            if not predicates:
                raise refuse(opcode, kind)
            return ctx.op(predicates, "pred", *values)
        if kind.kind == "complex" and not complex_numbers:
            raise refuse(opcode, kind)
        return computed(ctx, operation, *values)

    return code


def _abs_code(ctx: ElementContext, instruction: Instruction, values: tuple[Value, ...]) -> Value:
    kind = kind_of(values[0])
    if kind.kind == "complex":
        return ctx.op("abs", kind.real, *values)
    return values[0] if kind.kind in ("unsigned", "pred") else computed(ctx, "abs", *values)


def _negate_code(ctx: ElementContext, instruction: Instruction, values: tuple[Value, ...]) -> Value:
    return values[0] if kind_of(values[0]).kind == "pred" else computed(ctx, "neg", *values)


def _sign_code(ctx: ElementContext, instruction: Instruction, values: tuple[Value, ...]) -> Value:
    return values[0] if kind_of(values[0]).kind == "pred" else computed(ctx, "sign", *values)


def _subtract(instruction: Instruction, a: Array, b: Array) -> Array:
    return np.logical_xor(a, b) if a.dtype == np.bool_ else np.subtract(a, b)


def _divide(instruction: Instruction, a: Array, b: Array) -> Array:
    if a.dtype.kind == "c":
        return complex_quotient(a, b)
    return _truncated(a, b)[0] if a.dtype.kind in "iu" else np.true_divide(a, b)


def complex_quotient(a: Array, b: Array) -> Array:
    """a / b, with the results of C99's annex G for zero and infinite numbers, where numpy gives NaN or the other sign."""
    a, b = np.broadcast_arrays(a, b)
    quotient = np.array(np.true_divide(a, b))
    zero = b == 0
    quotient.real[zero], quotient.imag[zero] = a.real[zero] / b.real[zero], a.imag[zero] / b.real[zero]
    lost = np.isnan(quotient.real) & np.isnan(quotient.imag)
    for at, scale in ((lost & np.isinf(a) & np.isfinite(b), np.inf), (lost & np.isfinite(a) & np.isinf(b), 0.0)):
        (p, q), (r, s) = ((x.real, x.imag) for x in (_boxed(a[at]), _boxed(b[at])))
        quotient.real[at], quotient.imag[at] = scale * (p * r + q * s), scale * (q * r - p * s)
    return quotient


def _boxed(a: Array) -> Array:
    """Map infinite parts to +-1 and finite parts to +-0 in numbers with an infinite part, as annex G of C99 does."""
    infinite = np.isinf(a)
    boxed = a.copy()
    for part, of in ((boxed.real, a.real), (boxed.imag, a.imag)):
        part[infinite] = np.copysign(np.isinf(of[infinite]), of[infinite])
    return boxed


def _remainder(instruction: Instruction, a: Array, b: Array) -> Array:
    if a.dtype.kind == "c":
        raise refuse("remainder", element_type(instruction.shape.element_type))
    return _truncated(a, b)[1] if a.dtype.kind in "iu" else np.fmod(a, b)


def _truncated(a: Array, b: Array) -> tuple[Array, Array]:
    """Quotient towards zero and remainder of int64 or uint64, with HLO's answers for the divisors 0 and -1."""
    one = np.ones((), a.dtype)
    special = b == 0
    if a.dtype.kind == "i":
        special = special | (b == -1)
    divisor = np.where(special, one, b)
    quotient = a // divisor
    rest = a - quotient * divisor
    if a.dtype.kind == "i":
        inexact = (rest != 0) & ((a < 0) != (divisor < 0))
        quotient, rest = quotient + inexact, rest - np.where(inexact, divisor, 0)
        quotient = np.where(b == -1, 0 - a, quotient)
    zero = np.zeros((), a.dtype)
    return np.where(b == 0, zero - one, quotient), np.where(b == 0, a, rest)


def _power(instruction: Instruction, a: Array, b: Array) -> Array:
    if a.dtype.kind in "iu":
        return _integer_power(a, b)
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    if wide is np.complex128:
        return np.where((a == 0) & (b == 0), 1, np.power(a.astype(wide), b.astype(wide)))
    return np.power(a.astype(wide), b.astype(wide))


def _integer_power(a: Array, b: Array) -> Array:
    """Power modulo 2**64 by squaring; a negative exponent gives the truncated reciprocal."""
    result, base, exponent = np.ones(broadcast_sizes(a.shape, b.shape), a.dtype), a, b.astype(np.uint64)
    for bit in range(64):
        if not (exponent >> np.uint64(bit)).any():
            break
        odd = (exponent >> np.uint64(bit)) & np.uint64(1)
        result = np.where(odd == 1, result * base, result)
        base = base * base
    if a.dtype.kind == "u":
        return result
    reciprocal = np.where(a == 1, 1, np.where(a == -1, np.where(b % 2 == 0, 1, -1), 0))
    return np.where(b < 0, reciprocal, result)


def larger(a: Array, b: Array) -> Array:
    """The elementwise maximum of two arrays; NaN wins, -0 is below +0."""
    if a.dtype.kind != "f":
        return np.maximum(a, b)
    return np.where(a == b, np.where(np.signbit(a), b, a), np.maximum(a, b))


def smaller(a: Array, b: Array) -> Array:
    """The elementwise minimum of two arrays; NaN wins, -0 is below +0."""
    if a.dtype.kind != "f":
        return np.minimum(a, b)
    return np.where(a == b, np.where(np.signbit(a), a, b), np.minimum(a, b))


def _negate(instruction: Instruction, a: Array) -> Array:
    if a.dtype == np.bool_:
        return a
    return 0 - a if a.dtype.kind in "iu" else np.negative(a)


def _abs(instruction: Instruction, a: Array) -> Array:
    return np.where(a < 0, 0 - a, a) if a.dtype.kind == "i" else np.abs(a)


def _sign(instruction: Instruction, a: Array) -> Array:
    if a.dtype.kind == "c":
        length = np.where(a == 0, 1, np.abs(a))
        out = np.empty_like(a)
        out.real, out.imag = a.real / length, a.imag / length
        return out
    if a.dtype.kind == "f":
        return np.where((a == 0) | np.isnan(a), a, np.copysign(1, a))
    return np.sign(a)


OPS: tuple[Op, ...] = (
    elementwise_op("abs", "out[i] = |in[i]|", _abs, _abs_code, rounds="exact"),
    elementwise_op("add", "out[i] = a[i] + b[i]", by_numpy("add"), _code("add", "add", "or"), integers="own"),
    elementwise_op("divide", "out[i] = a[i] / b[i]; integers truncate", _divide, _code("divide", "div")),
    elementwise_op(
        "maximum",
        "out[i] = max(a[i], b[i]); NaN wins",
        lambda i, a, b: larger(a, b),
        _code("maximum", "maximum", "or", complex_numbers=False),
        rounds="exact",
        integers="own",
    ),
    elementwise_op(
        "minimum",
        "out[i] = min(a[i], b[i]); NaN wins",
        lambda i, a, b: smaller(a, b),
        _code("minimum", "minimum", "and", complex_numbers=False),
        rounds="exact",
        integers="own",
    ),
    elementwise_op(
        "multiply", "out[i] = a[i] * b[i]", by_numpy("multiply"), _code("multiply", "mul", "and"), integers="own"
    ),
    elementwise_op("negate", "out[i] = -in[i]", _negate, _negate_code, rounds="exact", integers="own"),
    elementwise_op(
        "power",
        "out[i] = a[i] ** b[i]",
        _power,
        _code("power", "pow"),
        is_expensive=True,
        operations=one_transcendental_each_element,
    ),
    elementwise_op(
        "remainder",
        "out[i] = a[i] - b[i] * trunc(a[i] / b[i])",
        _remainder,
        _code("remainder", "rem", complex_numbers=False),
    ),
    elementwise_op("sign", "out[i] = sign(in[i]); of a complex number in[i] / |in[i]|", _sign, _sign_code),
    elementwise_op("subtract", "out[i] = a[i] - b[i]", _subtract, _code("subtract", "sub", "xor"), integers="own"),
)
