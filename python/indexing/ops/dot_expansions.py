"""Expansions of dots, for operands whose memory layout a dot kernel doesn't read well.

Both take a right operand with batch dimensions first, then free ones, and contracting ones last.
"""

from __future__ import annotations

from indexing.hlo import Computation, Instruction
from indexing.ops.expansion import Expansion


def transposed_dot(dot: Instruction) -> Computation:
    """The dot with its right operand transposed so that the free dimensions are the last ones."""
    parts = Expansion(dot)
    left, right = parts.parameters
    batch, contracted, _ = _counts(dot)
    rank = len(right.dimensions)
    order = (*range(batch), *range(rank - contracted, rank), *range(batch, rank - contracted))
    product = parts.add(
        "dot",
        dot.shape.element_type,
        dot.shape.dimensions,
        [left, parts.transpose(right, order)],
        lhs_batch_dims=dot.ints("lhs_batch_dims"),
        lhs_contracting_dims=dot.ints("lhs_contracting_dims"),
        rhs_batch_dims=range(batch),
        rhs_contracting_dims=range(batch, batch + contracted),
    )
    return parts.finish([product])


def reduced_dot(dot: Instruction) -> Computation:
    """An elementwise product and a reduction, of operands that both have their contracting dimensions last; floats below
    f32 are multiplied and added in f32.
    """
    parts = Expansion(dot)
    left, right = parts.parameters
    batch, contracted, rows = _counts(dot)
    wide = dot.shape.element_type if dot.shape.element_type == "f64" else "f32"
    space = (*dot.shape.dimensions, *left.dimensions[len(left.dimensions) - contracted :])
    free = len(dot.shape.dimensions)
    last = range(free, len(space))
    places = ((*range(batch + rows), *last), (*range(batch), *range(batch + rows, free), *last))
    spread = [parts.broadcast(o, space, place) for o, place in zip((left, right), places, strict=True)]
    products = parts.apply("multiply", *(parts.convert(factor, wide) for factor in spread))
    return parts.finish([parts.convert(parts.reduce("add", products, last, 0), dot.shape.element_type)])


def _counts(dot: Instruction) -> tuple[int, int, int]:
    """The numbers of the left operand's batch, contracting and free dimensions."""
    batch, contracted = len(dot.ints("lhs_batch_dims")), len(dot.ints("lhs_contracting_dims"))
    return batch, contracted, dot.operands[0].shape.rank - batch - contracted
