"""Elementwise real and complex functions: exponential, log, sine, tanh, erf, rounding to integers, ...

The reference computes in f64 or c128 and rounds once; a kernel computes f32 and narrower types in f32, f64 in f64.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from indexing.hlo import Instruction
from indexing.lazy import np
from indexing.ops.element_context import ElementContext, Value
from indexing.ops.elementwise.arithmetic import complex_quotient
from indexing.ops.elementwise.builders import Code, elementwise_op, kind_of, refuse
from indexing.ops.op import Op
from indexing.ops.operation_count import one_each_element, one_transcendental_each_element
from indexing.ops.values import Array

COMPLEX_FUNCTIONS = frozenset(  # functions defined on c64 and c128
    [
        *("atan2", "cbrt", "cos", "cosh", "exp", "expm1", "log", "log1p", "logistic", "pow", "rsqrt", "sin", "sinh"),
        *("sqrt", "tan", "tanh"),
    ]
)

#: Functions with an operation of fewer digits, for results that are rounded to a narrow float.
NARROW_FUNCTIONS = frozenset(["exp"])


def _call(opcode: str, function: str) -> Code:
    """Code of one function of the kernel IR."""

    def code(ctx: ElementContext, instruction: Instruction, values: tuple[Value, ...]) -> Value:
        kind = kind_of(values[0])
        if kind.kind == "float" or (kind.kind == "complex" and function in COMPLEX_FUNCTIONS):
            name = f"{function}_narrow" if kind.is_narrow_float and function in NARROW_FUNCTIONS else function
            return ctx.op(name, kind.compute_type, *values)
        raise refuse(opcode, kind)

    return code


def _wide(function: Callable[..., Array]) -> Callable[..., Array]:
    """`function` on f64 or c128 copies of the operands."""

    def apply(instruction: Instruction, *arrays: Array) -> Array:
        return function(*(a.astype(np.complex128 if a.dtype.kind == "c" else np.float64) for a in arrays))

    return apply


def _numpy(name: str) -> Callable[..., Array]:
    """A numpy function; numpy is imported at the first call."""
    return lambda *arrays: getattr(np, name)(*arrays)


def _erf(a: Array) -> Array:
    return np.asarray(np.frompyfunc(math.erf, 1, 1)(a)).astype(np.float64)


def _expm1(a: Array) -> Array:
    if a.dtype.kind != "c":
        return np.expm1(a)
    on_axis = np.empty_like(a)
    on_axis.real, on_axis.imag = np.expm1(a.real), a.imag
    return np.where(a.imag == 0, on_axis, np.expm1(a))  # numpy multiplies infinities by the zero imaginary part


def _logistic(a: Array) -> Array:
    if a.dtype.kind != "c":
        return 1 / (1 + np.exp(-a))
    e = np.exp(np.where(a.real < 0, a, -a))  # exp of a non-positive real part does not overflow
    return np.where(a.real < 0, e, 1) / (1 + e)


def _rsqrt(a: Array) -> Array:
    root = np.sqrt(a)
    return complex_quotient(np.ones((), a.dtype), root) if a.dtype.kind == "c" else 1 / root


def _log_plus_one(a: Array) -> Array:
    """log(1 + a); numpy's loses the real part of small complex numbers and overflows for large ones."""
    if a.dtype.kind != "c":
        return np.log1p(a)
    shifted = a.copy()
    shifted.real += 1
    log = np.array(np.log(shifted))
    x, y = a.real, a.imag
    small = (np.abs(x) < 0.5) & (np.abs(y) < 0.5)
    log.real = np.where(small, np.log1p(x * (x + 2) + y * y) / 2, log.real)
    return log


def _cbrt(a: Array) -> Array:
    return np.where(a == 0, 0, np.exp(np.log(a) / 3)) if a.dtype.kind == "c" else np.cbrt(a)


def _atan2(a: Array, b: Array) -> Array:
    if a.dtype.kind != "c":
        return np.arctan2(a, b)
    return -1j * np.log((b + 1j * a) / np.sqrt(b * b + a * a))


def _round_away(a: Array) -> Array:
    """Round halves away from zero; numbers too large to have a fraction are unchanged."""
    whole = np.trunc(a)
    return np.copysign(np.where(np.abs(a - whole) >= 0.5, whole + np.copysign(1, a), whole), a)


def _function(
    opcode: str,
    formula: str,
    name: str,
    function: Callable[..., Array],
    rounds: str = "rounded",
    *,
    is_expensive: bool = False,
) -> Op:
    # A rounding to a whole number is one operation; all others are functions.
    operations = one_each_element if rounds == "whole" else one_transcendental_each_element
    return elementwise_op(
        opcode,
        formula,
        _wide(function),
        _call(opcode, name),
        rounds=rounds,
        is_expensive=is_expensive,
        operations=operations,
    )


OPS: tuple[Op, ...] = (
    _function("acos", "out[i] = acos(in[i])", "acos", _numpy("arccos")),
    _function("acosh", "out[i] = acosh(in[i])", "acosh", _numpy("arccosh")),
    _function("asin", "out[i] = asin(in[i])", "asin", _numpy("arcsin")),
    _function("asinh", "out[i] = asinh(in[i])", "asinh", _numpy("arcsinh")),
    _function("atan2", "out[i] = atan2(a[i], b[i])", "atan2", _atan2, is_expensive=True),
    _function("atanh", "out[i] = atanh(in[i])", "atanh", _numpy("arctanh")),
    _function("cbrt", "out[i] = in[i] ** (1/3)", "cbrt", _cbrt, is_expensive=True),
    _function("ceil", "out[i] = ceil(in[i])", "ceil", _numpy("ceil"), rounds="whole"),
    _function("cosh", "out[i] = cosh(in[i])", "cosh", _numpy("cosh")),
    _function("cosine", "out[i] = cos(in[i])", "cos", _numpy("cos"), is_expensive=True),
    _function("erf", "out[i] = erf(in[i])", "erf", _erf, is_expensive=True),
    _function("exponential", "out[i] = exp(in[i])", "exp", _numpy("exp"), is_expensive=True),
    _function("exponential-minus-one", "out[i] = exp(in[i]) - 1", "expm1", _expm1, is_expensive=True),
    _function("floor", "out[i] = floor(in[i])", "floor", _numpy("floor"), rounds="whole"),
    _function("log", "out[i] = ln(in[i])", "log", _numpy("log"), is_expensive=True),
    _function("log-plus-one", "out[i] = ln(in[i] + 1)", "log1p", _log_plus_one, is_expensive=True),
    _function("logistic", "out[i] = 1 / (1 + exp(-in[i]))", "logistic", _logistic, is_expensive=True),
    _function("round-nearest-afz", "out[i] = in[i] rounded, halves away from zero", "round_away", _round_away, "whole"),
    _function("round-nearest-even", "out[i] = in[i] rounded, halves to even", "round_even", _numpy("rint"), "whole"),
    _function("rsqrt", "out[i] = 1 / sqrt(in[i])", "rsqrt", _rsqrt),
    _function("sine", "out[i] = sin(in[i])", "sin", _numpy("sin"), is_expensive=True),
    _function("sinh", "out[i] = sinh(in[i])", "sinh", _numpy("sinh")),
    _function("sqrt", "out[i] = sqrt(in[i])", "sqrt", _numpy("sqrt")),
    _function("tan", "out[i] = tan(in[i])", "tan", _numpy("tan"), is_expensive=True),
    _function("tanh", "out[i] = tanh(in[i])", "tanh", _numpy("tanh"), is_expensive=True),
)
