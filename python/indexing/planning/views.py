"""Computations that move nothing: their result has the bytes of a parameter in memory, under another shape."""

from __future__ import annotations

from indexing._core import IndexingMap, compose
from indexing.hlo import Computation, Shape
from indexing.hlo.layout import bit_width, bitcast_map
from indexing.indexing_analysis.instructions import output_to_input
from indexing.ops.registry import traits_of


def viewed_parameter(computation: Computation) -> int | None:
    """The number of the parameter whose memory holds a computation's result; None if a kernel must compute the result."""
    source = computation.root
    if not source.shape.is_array:
        return None
    read = IndexingMap.identity(source.shape.dimensions)
    while not source.is_parameter:
        if traits_of(source).kind != "moves" or len(source.operands) != 1:
            return None
        ((operand,),) = output_to_input(source)
        read = compose(read, operand.map)
        source = source.operands[0]
    is_view = _has_bytes_of(computation.root.shape, source.shape)
    if not is_view or read.simplify() != bitcast_map(computation.root.shape, source.shape).simplify():
        return None
    return source.parameter_number


def _has_bytes_of(shape: Shape, other: Shape) -> bool:
    """Whether arrays of both shapes have as many elements, with equal bytes for equal bits."""
    types = {shape.element_type, other.element_type}
    widths = {bit_width(t) for t in types}
    is_same = len(types) == 1 or ("pred" not in types and len(widths) == 1 and min(widths) >= 8)
    return is_same and shape.element_count == other.element_count
