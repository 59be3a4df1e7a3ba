"""Index arithmetic of windows, for convolution, reduce-window and select-and-scatter.

Along one dimension, element w of the window of output o is at position o * stride + w * rhs_dilation, and reads input x
if that position is pad_low + x * lhs_dilation; otherwise it reads padding.
"""

from __future__ import annotations

from math import gcd

from indexing._core import SymbolicExpr
from indexing.hlo import WindowDim
from indexing.lazy import np
from indexing.ops.operand_indexing import Constraint
from indexing.ops.values import Array


def read_position(
    dim: WindowDim, output: SymbolicExpr, window: SymbolicExpr, size: int
) -> tuple[SymbolicExpr, list[Constraint]]:
    """The input index that `window` of `output` reads in a dimension of `size`, and constraints that it isn't padding."""
    at = output * dim.stride + window * dim.rhs_dilation - dim.pad_low
    if dim.lhs_dilation == 1:
        return at, [(at, (0, size - 1))]
    inside = (at, (0, (size - 1) * dim.lhs_dilation))
    return at // dim.lhs_dilation, [inside, (at % dim.lhs_dilation, (0, 0))]


def written_position(
    dim: WindowDim, element: SymbolicExpr, window: SymbolicExpr, size: int
) -> tuple[SymbolicExpr, list[Constraint]]:
    """The output index (of `size` many) whose `window` reads input `element`, and constraints that there is one."""
    at = element * dim.lhs_dilation + dim.pad_low - window * dim.rhs_dilation
    if dim.stride == 1:
        return at, [(at, (0, size - 1))]
    inside = (at, (0, (size - 1) * dim.stride))
    return at // dim.stride, [inside, (at % dim.stride, (0, 0))]


def never_pads(dim: WindowDim, size: int, output_size: int) -> bool:
    """Whether no window reads padding along the dimension."""
    last = (output_size - 1) * dim.stride + (dim.size - 1) * dim.rhs_dilation - dim.pad_low
    return dim.lhs_dilation == 1 and dim.pad_low <= 0 and last < size


def meets_holes(dim: WindowDim, window: int, output_size: int) -> Array:
    """For each output, whether a hole of a dilated input is at `window`."""
    at = np.arange(output_size, dtype=np.int64) * dim.stride + window * dim.rhs_dilation - dim.pad_low
    return at % dim.lhs_dilation != 0


def source_indices(dim: WindowDim, window: int, size: int, output_size: int) -> tuple[Array, Array]:
    """For each output, the input index at `window` and True; 0 and False for padding."""
    at = np.arange(output_size, dtype=np.int64) * dim.stride + window * dim.rhs_dilation - dim.pad_low
    valid = (at >= 0) & (at <= (size - 1) * dim.lhs_dilation) & (at % dim.lhs_dilation == 0)
    return np.where(valid, at // dim.lhs_dilation, 0), valid


def count_inside(dim: WindowDim, window: int, size: int, output_size: int) -> int:
    """The number of outputs that read no padding at `window`: of o in [0, output_size) where lhs_dilation divides the position,
    and the input there is one of `size`.
    """
    start = window * dim.rhs_dilation - dim.pad_low
    shared = gcd(dim.stride, dim.lhs_dilation)
    if start % shared:
        return 0
    period = dim.lhs_dilation // shared
    residue = -start // shared * pow(dim.stride // shared, -1, period)
    first = max(0, -(start // dim.stride))
    last = min(output_size - 1, ((size - 1) * dim.lhs_dilation - start) // dim.stride)
    return max(0, (last - residue) // period - (first - 1 - residue) // period)


def gather_window(
    dims: tuple[WindowDim, ...], window: tuple[int, ...], value: Array, output_sizes: tuple[int, ...]
) -> tuple[Array, Array]:
    """The elements at one window position, and the mask (of `output_sizes`) of those that are not padding.

    The value's leading dimensions are the window's; further ones are kept.
    """
    valid = np.ones(output_sizes, np.bool_)
    rank = len(dims)
    if 0 in value.shape[:rank]:
        return np.zeros(output_sizes + value.shape[rank:], value.dtype), np.zeros(output_sizes, np.bool_)
    for axis, (dim, w, out) in enumerate(zip(dims, window, output_sizes, strict=True)):
        index, inside = source_indices(dim, w, value.shape[axis], out)
        valid &= inside.reshape([-1 if k == axis else 1 for k in range(rank)])
        value = value.take(index, axis=axis)
    return value, valid
