"""Matrix products of cuBLAS and cuBLASLt, as dots with their epilogues."""

from __future__ import annotations

from collections.abc import Sequence

from indexing.errors import UnsupportedOp
from indexing.hlo import BuiltInstruction
from indexing.ops.expansion import Expansion, computing_kind
from indexing.ops.library_calls.activations import activation
from indexing.ops.library_calls.configs import Config

_EPILOGUES = {  # cuBLASLt's: whether a bias is added, the activation, whether the activation's operand is a result as well
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


def product(
    body: Expansion, kind: str, lhs: BuiltInstruction, rhs: BuiltInstruction, numbers: dict[str, tuple[int, ...]]
) -> BuiltInstruction:
    """A dot; `numbers` are the dimensions by role."""
    sides = [(lhs, "lhs"), (rhs, "rhs")]
    batch = [lhs.dimensions[k] for k in numbers["lhs_batch_dimensions"]]
    free = [
        n
        for value, side in sides
        for k, n in enumerate(value.dimensions)
        if k not in numbers[f"{side}_batch_dimensions"] and k not in numbers[f"{side}_contracting_dimensions"]
    ]
    attributes = {role.replace("dimensions", "dims"): numbers[role] for role in _ROLES}
    return body.add("dot", kind, [*batch, *free], [lhs, rhs], **attributes)


def gemm(body: Expansion, config: Config) -> list[BuiltInstruction]:
    """activation(alpha * lhs . rhs + beta * operand 2 + bias): cuBLAS and cuBLASLt."""
    config = config.get("gemm_backend_config", config)
    has_matrix = float(config.get("beta", 0)) != 0
    return _gemm(body, config, (), bias_at=3 if has_matrix else 2)


def scaled_gemm(body: Expansion, config: Config) -> list[BuiltInstruction]:
    """As `gemm`, of 8-bit floats, each factor times its scale; an 8-bit result is scaled too, by the last operand."""
    config = config.get("gemm_backend_config", config)
    first = 3 if float(config.get("beta", 0)) != 0 else 2
    return _gemm(body, config, (body.operand(first), body.operand(first + 1)), bias_at=first + 2)


def _gemm(body: Expansion, config: Config, scales: Sequence[BuiltInstruction], bias_at: int) -> list[BuiltInstruction]:
    result = body.results[0].element_type
    kind = computing_kind(result)
    lhs, rhs, numbers = body.operand(0), body.operand(1), _dimension_numbers(config)
    name = str(config.get("epilogue", "DEFAULT"))
    if name not in _EPILOGUES:
        raise UnsupportedOp(f"its epilogue {name} is not known")
    has_bias, function, keeps_operand = _EPILOGUES[name]
    alpha, beta = complex(config.get("alpha_real", 1), config.get("alpha_imag", 0)), float(config.get("beta", 0))
    factor = alpha if alpha.imag else alpha.real
    plain = alpha == 1 and beta == 0 and name == "DEFAULT" and not scales
    total = product(body, result if plain else kind, lhs, rhs, numbers)
    for scale in scales:
        total = body.scaled(total, scale)
    total = body.scaled(total, factor)
    if beta:
        total = body.apply("add", total, body.scaled(body.convert(body.operand(2), kind), beta))
    if has_bias:
        total = body.apply("add", total, body.aligned(body.convert(body.operand(bias_at), kind), total.dimensions))
    before = total
    if function:
        total = activation(body, function, total)
    if not scales:
        return [total, before] if keeps_operand else [total]
    largest = [_largest(body, total)] if config.get("damax_output") else []
    if result.startswith("f8"):
        total = _narrowed(body, body.scaled(total, body.parameters[-1]), result)
    return [total, *([before] if keeps_operand else []), *largest]


def _largest(body: Expansion, value: BuiltInstruction) -> BuiltInstruction:
    return body.reduce("maximum", body.apply("abs", value), range(len(value.dimensions)), 0.0)


_MAX_FINITE = {"f8e4m3fn": 448.0, "f8e5m2": 57344.0}


def _narrowed(body: Expansion, value: BuiltInstruction, kind: str) -> BuiltInstruction:
    """The value as 8-bit floats; the library saturates where a convert would overflow."""
    if kind not in _MAX_FINITE:
        raise UnsupportedOp(f"its result is {kind}, which cuBLASLt doesn't have")
    bound = _MAX_FINITE[kind]
    return body.apply(
        "clamp", body.constant(value.element_type, -bound), value, body.constant(value.element_type, bound)
    )
