"""Activation functions of library calls, applied to the elements of a product before they are stored."""

from __future__ import annotations

import math

from indexing.errors import UnsupportedOp
from indexing.hlo import BuiltInstruction
from indexing.ops.expansion import Expansion


def activation(body: Expansion, name: str, x: BuiltInstruction, alpha: float = 0.0) -> BuiltInstruction:
    """The activation of that name, as cuDNN, cuBLASLt and oneDNN define it; `alpha` is a leaky ReLU's slope below zero."""
    if name == "relu":
        return body.apply("maximum", x, body.constant(x.element_type, 0.0))
    if name == "relu6":
        return body.apply("clamp", body.constant(x.element_type, 0.0), x, body.constant(x.element_type, 6.0))
    if name == "leaky_relu":
        return _below_zero(body, x, body.scaled(x, alpha))
    if name == "elu":
        return _below_zero(body, x, body.apply("exponential-minus-one", x))
    if name in ("tanh", "sigmoid"):
        return body.apply("logistic" if name == "sigmoid" else name, x)
    if name == "silu":
        return body.apply("multiply", x, body.apply("logistic", x))
    if name in ("gelu_tanh", "gelu_erf"):
        return _gelu(body, x, name)
    raise UnsupportedOp(f"{name!r} is no activation that is known here")


def _below_zero(body: Expansion, x: BuiltInstruction, otherwise: BuiltInstruction) -> BuiltInstruction:
    zero = body.constant(x.element_type, 0.0)
    above = body.compare(x, zero, "GT")
    return body.select(above, x, otherwise)


def _gelu(body: Expansion, x: BuiltInstruction, name: str) -> BuiltInstruction:
    """x/2 * (1 + erf(x / sqrt 2)), or with tanh(sqrt(2/pi) * (x + 0.044715 * x**3)) in place of erf."""
    if name == "gelu_erf":
        bent = body.apply("erf", body.scaled(x, math.sqrt(0.5)))
    else:
        cube = body.apply("multiply", x, body.apply("multiply", x, x))
        inner = body.apply("add", x, body.scaled(cube, 0.044715))
        bent = body.apply("tanh", body.scaled(inner, math.sqrt(2 / math.pi)))
    return body.apply("multiply", body.scaled(x, 0.5), body.apply("add", bent, body.constant(x.element_type, 1.0)))
