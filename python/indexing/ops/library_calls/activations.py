"""What library calls apply to the elements of a product before they are stored."""

from __future__ import annotations

import math

from indexing.errors import UnsupportedOp
from indexing.ops.library_calls.hlo_text import HloText, Value


def activation(text: HloText, name: str, x: Value, alpha: float = 0.0) -> Value:
    """The function of a name that cuDNN, cuBLASLt and oneDNN share; `alpha` is a leaky ReLU's slope below zero."""
    if name == "relu":
        return text.apply("maximum", x, text.constant(x.kind, 0.0))
    if name == "relu6":
        return text.apply("clamp", text.constant(x.kind, 0.0), x, text.constant(x.kind, 6.0))
    if name == "leaky_relu":
        return _below_zero(text, x, text.scaled(x, alpha))
    if name == "elu":
        return _below_zero(text, x, text.apply("exponential-minus-one", x))
    if name in ("tanh", "sigmoid"):
        return text.apply("logistic" if name == "sigmoid" else name, x)
    if name == "silu":
        return text.apply("multiply", x, text.apply("logistic", x))
    if name in ("gelu_tanh", "gelu_erf"):
        return _gelu(text, x, name)
    raise UnsupportedOp(f"{name!r} is no activation that is known here")


def _below_zero(text: HloText, x: Value, otherwise: Value) -> Value:
    zero = text.constant(x.kind, 0.0)
    above = text.line("pred", x.sizes, f"compare({x.name}, {text.broadcast(zero, x.sizes, ()).name}), direction=GT")
    return text.line(x.kind, x.sizes, f"select({above.name}, {x.name}, {otherwise.name})")


def _gelu(text: HloText, x: Value, name: str) -> Value:
    """x/2 * (1 + erf(x / sqrt 2)), or with tanh(sqrt(2/pi) * (x + 0.044715 * x**3)) in place of erf."""
    if name == "gelu_erf":
        bent = text.apply("erf", text.scaled(x, math.sqrt(0.5)))
    else:
        cube = text.apply("multiply", x, text.apply("multiply", x, x))
        inner = text.apply("add", x, text.scaled(cube, 0.044715))
        bent = text.apply("tanh", text.scaled(inner, math.sqrt(2 / math.pi)))
    return text.apply("multiply", text.scaled(x, 0.5), text.apply("add", bent, text.constant(x.kind, 1.0)))
