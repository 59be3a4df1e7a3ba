"""Library calls for triangular solves, Cholesky factors and top-k."""

from __future__ import annotations

from indexing.errors import UnsupportedOp
from indexing.hlo import BuiltInstruction, Computation, Instruction
from indexing.ops.expansion import Expansion
from indexing.ops.library_calls.configs import Config, letter
from indexing.walks import reached

_IN_KEYS = frozenset({"parameter", "constant", "bitcast", "bitcast-convert", "xor", "compare", "select", "convert"})
_TRANSPOSES = {"N": "NO_TRANSPOSE", "T": "TRANSPOSE", "C": "ADJOINT"}


def _solve(body: Expansion, left: bool, lower: bool, unit: bool, transpose: str) -> list[BuiltInstruction]:
    a, b = body.operand(0), body.operand(1)
    flags = {"left_side": left, "lower": lower, "unit_diagonal": unit}
    return [body.add("triangular-solve", b.element_type, b.dimensions, [a, b], **flags, transpose_a=transpose)]


def triangular_solve(body: Expansion, config: Config) -> list[BuiltInstruction]:
    """cuBLAS's trsm; its options are those of HLO's triangular-solve."""
    flags = [bool(config.get(name, False)) for name in ("left_side", "lower", "unit_diagonal")]
    transpose = str(config.get("transpose_a", "NO_TRANSPOSE"))
    if transpose not in _TRANSPOSES.values():
        raise UnsupportedOp(f"its transpose_a {transpose} is not known")
    return _solve(body, flags[0], flags[1], flags[2], transpose)


def lapack_solve(body: Expansion, config: Config) -> list[BuiltInstruction]:
    """LAPACK's trsm."""
    side, lower, unit = (letter(config, key) for key in ("side", "uplo", "diag"))
    transpose = letter(config, "trans_x")
    if transpose not in _TRANSPOSES:
        raise UnsupportedOp(f"its trans_x {transpose} is not known")
    return _solve(body, side == "L", lower == "L", unit == "U", _TRANSPOSES[transpose])


def cholesky(body: Expansion, config: Config) -> list[BuiltInstruction]:
    """The factor and, for each matrix, 0 or 1 if it has no factor; possibly with a workspace between the two."""
    lower = bool(config["lower"]) if "lower" in config else letter(config, "uplo") == "L"
    a = body.operand(0)
    factor = body.add("cholesky", a.element_type, a.dimensions, [a], lower=lower)
    broken = body.compare(factor, factor, "NE")
    rank = len(a.dimensions)
    info = body.convert(body.reduce("or", broken, (rank - 2, rank - 1), 0), "s32")
    if len(body.results) < 3:
        return [factor, info]
    shape = body.results[1]  # XLA's own call: factor, workspace, info
    workspace = body.filled(shape.element_type, 0, shape.dimensions)
    return [factor, workspace, info]


def top_k(body: Expansion, config: Config) -> list[BuiltInstruction]:
    """HLO's topk; k is the last size of the results."""
    if len(body.results) != 2:
        raise UnsupportedOp("its results are not two, values and indices")
    if not all(map(_is_greater, body.call.called)):
        raise UnsupportedOp("its comparator is not a plain greater-than")
    x, (values, _) = body.operand(0), body.results
    return body.several("topk", [x], k=values.dimensions[-1], largest=bool(config.get("largest", True)))


def _is_greater(comparator: Computation) -> bool:
    """Whether a comparator is the first value > the second one, possibly of bits that order floats totally."""
    root = comparator.root
    if root.opcode != "compare" or root.text("direction") != "GT":
        return False
    return all(_keys_of(operand) == {number} for number, operand in enumerate(root.operands))


def _keys_of(key: Instruction) -> set[int]:
    """The parameters that a key for a total order is made of; -1 stands for other instructions."""
    parts = list(reached([key], lambda i: i.operands))
    others = {-1 for i in parts if i.opcode not in _IN_KEYS}
    return others | {i.parameter_number for i in parts if i.is_parameter}
