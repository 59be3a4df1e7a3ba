"""Triangular solves, Cholesky factors and top-k of libraries."""

from __future__ import annotations

from indexing.errors import UnsupportedOp
from indexing.ops.library_calls.hlo_text import Config, HloText, Value

_TRANSPOSES = {"N": "NO_TRANSPOSE", "T": "TRANSPOSE", "C": "ADJOINT"}


def _letter(config: Config, key: str) -> str:
    """A flag of LAPACK: a letter, or its code."""
    found = config.get(key)
    if found is None:
        raise UnsupportedOp(f"its backend_config has no {key}")
    return chr(found) if isinstance(found, int) else str(found)


def _solve(text: HloText, left: bool, lower: bool, unit: bool, transpose: str) -> list[Value]:
    a, b = text.operand(0), text.operand(1)
    flags = {"left_side": left, "lower": lower, "unit_diagonal": unit}
    attributes = ", ".join(f"{name}={str(flag).lower()}" for name, flag in flags.items())
    rest = f"triangular-solve({a.name}, {b.name}), {attributes}, transpose_a={transpose}"
    return [text.line(b.kind, b.sizes, rest)]


def triangular_solve(text: HloText, config: Config) -> list[Value]:
    """The options of HLO's triangular-solve as they are: cuBLAS."""
    flags = [bool(config.get(name, False)) for name in ("left_side", "lower", "unit_diagonal")]
    transpose = str(config.get("transpose_a", "NO_TRANSPOSE"))
    if transpose not in _TRANSPOSES.values():
        raise UnsupportedOp(f"its transpose_a {transpose} is not known")
    return _solve(text, flags[0], flags[1], flags[2], transpose)


def lapack_solve(text: HloText, config: Config) -> list[Value]:
    """LAPACK's trsm."""
    side, lower, unit = (_letter(config, key) for key in ("side", "uplo", "diag"))
    transpose = _letter(config, "trans_x")
    if transpose not in _TRANSPOSES:
        raise UnsupportedOp(f"its trans_x {transpose} is not known")
    return _solve(text, side == "L", lower == "L", unit == "U", _TRANSPOSES[transpose])


def cholesky(text: HloText, config: Config) -> list[Value]:
    """The factor, and a 1 for each matrix that has none (0 for the others); or with a workspace between them."""
    lower = bool(config["lower"]) if "lower" in config else _letter(config, "uplo") == "L"
    a = text.operand(0)
    factor = text.line(a.kind, a.sizes, f"cholesky({a.name}), lower={str(lower).lower()}")
    broken = text.line("pred", a.sizes, f"compare({factor.name}, {factor.name}), direction=NE")
    rank = len(a.sizes)
    info = text.convert(text.reduce("or", broken, (rank - 2, rank - 1), 0), "s32")
    if len(text.results) < 3:
        return [factor, info]
    shape = text.results[1]  # XLA's own call: factor, workspace, info
    workspace = text.broadcast(text.constant(shape.element_type, 0), shape.dimensions, ())
    return [factor, workspace, info]


def top_k(text: HloText, config: Config) -> list[Value]:
    """HLO's topk; k is the last size of the results."""
    if len(text.results) != 2:
        raise UnsupportedOp("it has not two results, values and indices")
    directions = {
        i.text("direction") for c in text.call.called for i in c.instructions.values() if i.opcode == "compare"
    }
    if directions > {"GT"} or (directions and "GT" not in directions):
        raise UnsupportedOp("its comparator is not plain greater-than")
    x, (values, indices) = text.operand(0), text.results
    largest = config.get("largest", True)
    attributes = f"k={values.dimensions[-1]}, largest={str(bool(largest)).lower()}"
    return text.tuple_line((values, indices), f"topk({x.name}), {attributes}")
