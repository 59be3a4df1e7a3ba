"""Sums of exponentials of differences, as softmax has them, and how they are combined with the maximum."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from indexing.hlo import ModuleBuilder, Shape
from indexing.ops.reducer_ops import reducer_opcode
from indexing.ops.tuples import array_source

if TYPE_CHECKING:
    from indexing.hlo import BuiltInstruction, Computation, ComputationBuilder, Instruction

KINDS = ("f32", "f64")


def is_maximum(reduce: Instruction) -> bool:
    """Whether a reduction finds the maximum of floating point numbers."""
    return _is(reduce, "maximum")


def summed_difference(reduce: Instruction) -> Instruction | None:
    """The subtraction whose exponential a reduction adds; None for another reduction."""
    if not _is(reduce, "add"):
        return None
    exponential = array_source(reduce.operands[0], 0)[0]
    difference = array_source(exponential.operands[0], 0)[0] if exponential.opcode == "exponential" else None
    return difference if difference is not None and difference.opcode == "subtract" else None


def _is(reduce: Instruction, opcode: str) -> bool:
    if reduce.shape.is_tuple or reduce.shape.element_type not in KINDS:
        return False
    return reducer_opcode(reduce.computation_of("to_apply")) == opcode


@lru_cache(maxsize=len(KINDS))
def pair_computations(kind: str) -> tuple[Computation, Computation]:
    """Of pairs of a maximum m and a sum of exp(x - m): two of them combined; and from a sum, its maximum and what its elements
    really subtract to the sum that is wanted.

    With a larger maximum a sum is scaled (Milakov and Gimelshein, Online normalizer calculation for softmax, 2018). The
    exponential of equal numbers' difference counts as 1, infinite ones included; then the last factor is what it should be:
    exp(inf - inf) makes the row's sum NaN, exp(inf - 0) infinite.
    """
    scalar, module = Shape.array(kind, ()), ModuleBuilder("online", "scale")
    combine, scale = module.computation("combine"), module.entry
    _build_combination(combine, scalar)
    s, m, shift = (scale.parameter(scalar) for _ in range(3))
    factor = scale.add("exponential", scalar, [scale.add("subtract", scalar, [m, shift])])
    scale.add("multiply", scalar, [s, factor])
    built = module.build()
    return built.computations[combine.name], built.entry


def _build_combination(body: ComputationBuilder, scalar: Shape) -> None:
    m, s, n, t = (body.parameter(scalar) for _ in range(4))

    def add(opcode: str, *operands: BuiltInstruction) -> BuiltInstruction:
        return body.add(opcode, scalar, operands)

    condition = Shape.array("pred", ())
    below = add("exponential", add("negate", add("abs", add("subtract", m, n))))
    is_same = body.add("compare", condition, [m, n], direction="EQ")
    is_first = body.add("compare", condition, [m, n], direction="GT")
    factor = add("select", is_same, body.constant(scalar, 1.0), below)
    first, second = add("add", s, add("multiply", t, factor)), add("add", add("multiply", s, factor), t)
    body.tuple_of([add("maximum", m, n), add("select", is_first, first, second)])
