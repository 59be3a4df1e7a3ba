"""Matrix products of cuBLAS and cuBLASLt, as dots and what follows them."""

from __future__ import annotations

from collections.abc import Sequence

from indexing.errors import UnsupportedOp
from indexing.ops.library_calls.activations import activation
from indexing.ops.library_calls.hlo_text import Config, HloText, Value, braces, computing_kind

_EPILOGUES = {  # of cuBLASLt: whether a bias is added, the activation, whether its operand is a result as well
    "DEFAULT": (False, "", False),
    "BIAS": (True, "", False),
    "RELU": (False, "relu", False),
    "BIAS_RELU": (True, "relu", False),
    "GELU": (False, "gelu_tanh", False),
    "BIAS_GELU": (True, "gelu_tanh", False),
    "GELU_AUX": (False, "gelu_tanh", True),
    "BIAS_GELU_AUX": (True, "gelu_tanh", True),
    "SILU": (False, "silu", False),
    "BIAS_SILU": (True, "silu", False),
}
_ROLES = ("lhs_batch_dimensions", "lhs_contracting_dimensions", "rhs_batch_dimensions", "rhs_contracting_dimensions")


def _dimension_numbers(config: Config) -> dict[str, tuple[int, ...]]:
    numbers = config.get("dot_dimension_numbers", {})
    return {role: tuple(int(n) for n in numbers.get(role, ())) for role in _ROLES}


def product(text: HloText, kind: str, lhs: Value, rhs: Value, numbers: dict[str, tuple[int, ...]]) -> Value:
    """A dot; `numbers` are the dimensions by role."""
    sides = [(lhs, "lhs"), (rhs, "rhs")]
    batch = [lhs.sizes[k] for k in numbers["lhs_batch_dimensions"]]
    free = [
        n
        for value, side in sides
        for k, n in enumerate(value.sizes)
        if k not in numbers[f"{side}_batch_dimensions"] and k not in numbers[f"{side}_contracting_dimensions"]
    ]
    attributes = ", ".join(f"{role.replace('dimensions', 'dims')}={braces(numbers[role])}" for role in _ROLES)
    return text.line(kind, [*batch, *free], f"dot({lhs.name}, {rhs.name}), {attributes}")


def gemm(text: HloText, config: Config) -> list[Value]:
    """activation(alpha * lhs . rhs + beta * operand 2 + bias): cuBLAS and cuBLASLt."""
    config = config.get("gemm_backend_config", config)
    has_matrix = float(config.get("beta", 0)) != 0
    return _gemm(text, config, (), bias_at=3 if has_matrix else 2)


def scaled_gemm(text: HloText, config: Config) -> list[Value]:
    """The same of 8-bit floats, each factor times its scale; a result of 8 bits is scaled too, by the last operand."""
    config = config.get("gemm_backend_config", config)
    first = 3 if float(config.get("beta", 0)) != 0 else 2
    return _gemm(text, config, (text.operand(first), text.operand(first + 1)), bias_at=first + 2)


def _gemm(text: HloText, config: Config, scales: Sequence[Value], bias_at: int) -> list[Value]:
    result = text.results[0].element_type
    kind = computing_kind(result)
    lhs, rhs, numbers = text.operand(0), text.operand(1), _dimension_numbers(config)
    name = str(config.get("epilogue", "DEFAULT"))
    if name not in _EPILOGUES:
        raise UnsupportedOp(f"its epilogue {name} is not known")
    has_bias, function, keeps_operand = _EPILOGUES[name]
    alpha, beta = complex(config.get("alpha_real", 1), config.get("alpha_imag", 0)), float(config.get("beta", 0))
    factor = alpha if alpha.imag else alpha.real
    plain = alpha == 1 and beta == 0 and name == "DEFAULT" and not scales
    total = product(text, result if plain else kind, lhs, rhs, numbers)
    for scale in scales:
        total = text.scaled(total, scale)
    total = text.scaled(total, factor)
    if beta:
        total = text.apply("add", total, text.scaled(text.convert(text.operand(2), kind), beta))
    if has_bias:
        total = text.apply("add", total, text.aligned(text.convert(text.operand(bias_at), kind), total.sizes))
    before = total
    if function:
        total = activation(text, function, total)
    if not scales:
        return [total, before] if keeps_operand else [total]
    largest = [_largest(text, total)] if config.get("damax_output") else []
    if result.startswith("f8"):
        total = _narrowed(text, text.scaled(total, text.parameters[-1]), result)
    return [total, *([before] if keeps_operand else []), *largest]


def _largest(text: HloText, value: Value) -> Value:
    return text.reduce("maximum", text.apply("abs", value), range(len(value.sizes)), 0.0)


_MAX_FINITE = {"f8e4m3fn": 448.0, "f8e5m2": 57344.0}


def _narrowed(text: HloText, value: Value, kind: str) -> Value:
    """As 8-bit floats; the library saturates where a convert would overflow."""
    if kind not in _MAX_FINITE:
        raise UnsupportedOp(f"it gives {kind}, which cuBLASLt has not")
    bound = _MAX_FINITE[kind]
    return text.apply("clamp", text.constant(value.kind, -bound), value, text.constant(value.kind, bound))
