"""Convolutions as products of matrices: a row for each place of the window, a column for each output feature.

The left factor is the input, read at the places that a window's elements meet: zeros in padding, and in the holes of a dilated
input. Only convolutions without groups are single products.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from indexing.hlo.layout import major_to_minor
from indexing.ops.convolution import CONVOLUTION
from indexing.ops.element.loops import undilated
from indexing.ops.registry import traits_of

if TYPE_CHECKING:
    from indexing._core import SymbolicExpr
    from indexing.hlo import Instruction
    from indexing.kernels.function_builder import FunctionBuilder
    from indexing.ops.element_context import Index, Value


def is_product(i: Instruction) -> bool:
    """Whether an instruction is a convolution without groups."""
    if traits_of(i) is not CONVOLUTION:
        return False
    return i.integer("feature_group_count", 1) == i.integer("batch_group_count", 1) == 1


def result_places(convolution: Instruction) -> tuple[int, ...]:
    """The dimensions of the result: the batch and the spatial ones, of rows, then that of features, of columns.

    The batch comes first, unless it is the input's fastest dimension.
    """
    output = convolution.dim_labels().output
    if _fastest_role(convolution) == "batch":
        return (*output.spatial, output.batch, output.feature)
    return (output.batch, *output.spatial, output.feature)


def contracted_sizes(convolution: Instruction) -> tuple[int, ...]:
    """The sizes of the window and the number of input features, which are summed over, in the input's order in memory."""
    features = convolution.operands[1].shape.dimensions[convolution.dim_labels().kernel.batch]
    window = tuple(w.size for w in convolution.window())
    return (*window, features) if _fastest_role(convolution) == "feature" else (features, *window)


def conditions(body: FunctionBuilder, convolution: Instruction, k: int, free: Index, contracted: Index) -> list[Value]:
    """The conditions that a factor is an element of operand `k`, not a zero of padding or of a hole."""
    return [] if k == 1 else _met(body, convolution, free, contracted)[1]


def factor(body: FunctionBuilder, convolution: Instruction, k: int, free: Index, contracted: Index) -> Value:
    """The factor of operand `k` at an index of its rows or columns and of the dimensions that are summed over, if its
    conditions hold.
    """
    operand = convolution.operands[k]
    if k == 1:
        return body.read(operand, _kernel_index(convolution, free, contracted))
    labels, role = convolution.dim_labels().input, _fastest_role(convolution)
    at = dict(zip(labels.spatial, _met(body, convolution, free, contracted)[0], strict=True))
    at[labels.batch] = free[-1] if role == "batch" else free[0]
    at[labels.feature] = _taps_and_feature(convolution, contracted)[1]
    return body.read(operand, body.inside(tuple(at[d] for d in range(len(at))), operand.shape.dimensions))


def _taps_and_feature(convolution: Instruction, contracted: Index) -> tuple[Index, SymbolicExpr]:
    if _fastest_role(convolution) == "feature":
        return contracted[:-1], contracted[-1]
    return contracted[1:], contracted[0]


def _kernel_index(convolution: Instruction, free: Index, contracted: Index) -> Index:
    labels, (taps, feature) = convolution.dim_labels().kernel, _taps_and_feature(convolution, contracted)
    at = {labels.batch: feature, labels.feature: free[0]}
    for dimension, window, tap in zip(labels.spatial, convolution.window(), taps, strict=True):
        at[dimension] = tap * -1 + (window.size - 1) if window.reversed else tap
    return tuple(at[d] for d in range(len(at)))


def _met(body: FunctionBuilder, convolution: Instruction, free: Index, contracted: Index) -> tuple[Index, list[Value]]:
    """The places of the input that a window meets, and the conditions that an element is there."""
    taps, _ = _taps_and_feature(convolution, contracted)
    outputs = free[:-1] if _fastest_role(convolution) == "batch" else free[1:]
    met = [
        (place * w.stride + tap * w.rhs_dilation - w.pad_low, w.lhs_dilation)
        for place, tap, w in zip(outputs, taps, convolution.window(), strict=True)
    ]
    sizes = convolution.operands[0].shape.dimensions
    return undilated(body, met, [sizes[d] for d in convolution.dim_labels().input.spatial])


def fastest_in_memory(convolution: Instruction, k: int) -> tuple[Literal["free", "sum"], int]:
    """The role of an operand's fastest dimension in memory, and the number of neighbours in it that are neighbours there."""
    labels, shape, role = convolution.dim_labels().kernel, convolution.operands[k].shape, _fastest_role(convolution)
    last = major_to_minor(shape)[-1]
    size = shape.dimensions[last]
    if k == 0:
        return ("sum" if role == "feature" else "free"), 1 if role == "spatial" else size
    if last == labels.feature:
        return "free", size
    return "sum", size if last == labels.batch and role == "feature" else 1


def has_fast_loop(convolution: Instruction, width: int) -> bool:
    """Whether a loop over the window is fast beside panels of `width` columns: the input has so few features that its tiles are
    copied element by element, and vectors of output features, a power of two, are neighbours in the kernel.
    """
    (role, features), (kernel_role, columns) = (fastest_in_memory(convolution, k) for k in (0, 1))
    return role == "sum" and features < width and kernel_role == "free" and columns.bit_count() == 1


def _fastest_role(convolution: Instruction) -> Literal["batch", "feature", "spatial"]:
    """The role of the input's fastest dimension in memory."""
    labels, last = convolution.dim_labels().input, major_to_minor(convolution.operands[0].shape)[-1]
    if last == labels.feature:
        return "feature"
    return "batch" if last == labels.batch else "spatial"
