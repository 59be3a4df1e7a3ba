"""Ops that move elements without computing (broadcast, reshape, transpose, slice, ...), and ops for dynamic sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from indexing._core import constant
from indexing.errors import IndexingError, UnsupportedOp
from indexing.hlo import Instruction
from indexing.hlo.layout import bit_width, bitcast_map, major_to_minor, physical_sizes, reshape_results
from indexing.lazy import np
from indexing.ops.element.moves import bitcast, move
from indexing.ops.element_types import element_type
from indexing.ops.elementwise.bitcast_convert import resized
from indexing.ops.op import Op
from indexing.ops.operand_indexing import (
    Indexing,
    OperandIndexing,
    identity,
    same_indices,
    scalar,
    tensor_map,
    variables,
)
from indexing.ops.operation_count import no_operations
from indexing.ops.tuples import operand_itself, reads_nothing
from indexing.ops.values import Array, HloValue, only_array


def _sizes(instruction: Instruction) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return instruction.shape.dimensions, instruction.operands[0].shape.dimensions


# ---------------------------------------------------------------- broadcast


def _broadcast_from_output(i: Instruction, output: int) -> Indexing:
    index = variables(len(i.shape.dimensions))
    return [[OperandIndexing(tensor_map([index[d] for d in i.ints("dimensions")], i.shape.dimensions))]]


def _broadcast(i: Instruction, operands: Sequence[HloValue]) -> Array:
    x, dims = only_array(operands[0]), i.ints("dimensions")
    order = np.argsort(np.array(dims, dtype=np.int64), kind="stable")
    placed = [1] * len(i.shape.dimensions)
    for k, d in enumerate(dims):
        placed[d] = x.shape[k]
    return np.broadcast_to(np.transpose(x, order).reshape(placed), i.shape.dimensions)


# ---------------------------------------------------------------- transpose


def _transpose_from_output(i: Instruction, output: int) -> Indexing:
    sizes, _ = _sizes(i)
    index = variables(len(sizes))
    at = {d: k for k, d in enumerate(i.ints("dimensions"))}
    return [[OperandIndexing(tensor_map([index[at[d]] for d in range(len(sizes))], sizes))]]


def _transpose(i: Instruction, operands: Sequence[HloValue]) -> Array:
    return np.transpose(only_array(operands[0]), i.ints("dimensions"))


# ---------------------------------------------------------------- reshape, bitcast, copy


def _reshape_from_output(i: Instruction, output: int) -> Indexing:
    sizes, operand_sizes = _sizes(i)
    return [[OperandIndexing(tensor_map(reshape_results(variables(len(sizes)), sizes, operand_sizes), sizes))]]


def _reshape_from_input(i: Instruction, operand: int) -> Indexing:
    sizes, operand_sizes = _sizes(i)
    index = variables(len(operand_sizes))
    return [[OperandIndexing(tensor_map(reshape_results(index, operand_sizes, sizes), operand_sizes))]]


def _reshape(i: Instruction, operands: Sequence[HloValue]) -> Array:
    """Of a dimension with a bound, as many elements are in use as the others leave."""
    array = only_array(operands[0])
    if not i.shape.is_bounded:
        return np.reshape(array, i.shape.dimensions)
    sizes = [-1 if i.shape.is_dynamic(d) else size for d, size in enumerate(i.shape.dimensions)]
    others = math.prod(size for size in sizes if size >= 0)
    if sizes.count(-1) > 1 or not others or array.size % others:
        used = f"the {array.size} elements in use do not tell the sizes of {i.shape}"
        raise UnsupportedOp(f"{i.name}: {used}; state them by a dynamic-reshape")
    return array.reshape(sizes)


def _bitcast_from_output(i: Instruction, output: int) -> Indexing:
    return [[OperandIndexing(bitcast_map(i.shape, i.operands[0].shape))]]


def _bitcast_from_input(i: Instruction, operand: int) -> Indexing:
    return [[OperandIndexing(bitcast_map(i.operands[0].shape, i.shape))]]


def _bitcast(i: Instruction, operands: Sequence[HloValue]) -> Array:
    """The operand's memory, reinterpreted with the output's type, shape and layout."""
    source, target = i.operands[0].shape, i.shape
    memory = np.ascontiguousarray(np.transpose(only_array(operands[0]), major_to_minor(source))).reshape(-1)
    if min(bit_width(source.element_type), bit_width(target.element_type)) < 8:
        memory = resized(memory, element_type(source.element_type), element_type(target.element_type))
    else:
        memory = memory.view(target.dtype)
    return np.transpose(memory.reshape(physical_sizes(target)), np.argsort(major_to_minor(target)))


# ---------------------------------------------------------------- slice, reverse


def _slice_from_output(i: Instruction, output: int) -> Indexing:
    sizes, _ = _sizes(i)
    index = variables(len(sizes))
    results = [x * stride + start for x, (start, _, stride) in zip(index, i.slices(), strict=True)]
    return [[OperandIndexing(tensor_map(results, sizes))]]


def _slice(i: Instruction, operands: Sequence[HloValue]) -> Array:
    return only_array(operands[0])[tuple(slice(*bounds) for bounds in i.slices())]


def _reverse_from_output(i: Instruction, output: int) -> Indexing:
    sizes, _ = _sizes(i)
    turned = i.ints("dimensions")
    index = variables(len(sizes))
    results = [constant(sizes[d] - 1) - index[d] if d in turned else index[d] for d in range(len(sizes))]
    return [[OperandIndexing(tensor_map(results, sizes))]]


def _reverse(i: Instruction, operands: Sequence[HloValue]) -> Array:
    return np.flip(only_array(operands[0]), i.ints("dimensions"))


# ---------------------------------------------------------------- dynamic sizes


def _dynamic_reshape_from_output(i: Instruction, output: int) -> Indexing:
    return [_reshape_from_output(i, output)[0], *([scalar(i.shape.dimensions)] for _ in i.operands[1:])]


def _dynamic_reshape(i: Instruction, operands: Sequence[HloValue]) -> Array:
    if not i.shape.is_bounded:
        return _reshape(i, operands)
    array, sizes = only_array(operands[0]), [int(only_array(s)) for s in operands[1:]]
    if min(sizes, default=0) < 0 or math.prod(sizes) != array.size:
        raise IndexingError(f"{i.name}: {array.size} elements in use can't have sizes {sizes}")
    return array.reshape(sizes)


def _get_dimension_size(i: Instruction, operands: Sequence[HloValue]) -> Array:
    return np.array(only_array(operands[0]).shape[i.ints("dimensions")[0]], dtype=i.shape.dtype)


def _set_dimension_size(i: Instruction, operands: Sequence[HloValue]) -> Array:
    """The first elements of a bounded dimension; of another one, whose elements are all in use, the size is checked."""
    array, (dimension,) = only_array(operands[0]), i.ints("dimensions")
    size = int(only_array(operands[1]))
    if not i.shape.is_dynamic(dimension):
        whole = i.shape.dimensions[dimension]
        if size != whole:
            used = f"but {size} elements of dimension {dimension} are in use"
            raise IndexingError(f"{i.name} is {i.shape}, {used}; write <={whole} as its size")
        return array
    if not 0 <= size <= array.shape[dimension]:
        raise IndexingError(
            f"{i.name}: {size} is no size for a dimension with {array.shape[dimension]} elements in use"
        )
    return array[(slice(None),) * dimension + (slice(size),)]


def _set_dimension_size_from_output(i: Instruction, output: int) -> Indexing:
    return [[identity(i.shape.dimensions)], [scalar(i.shape.dimensions)]]


_moves = partial(Op, element=move, kind="moves")
_sized = partial(Op, bounded=True, operations=no_operations)

TRANSPOSE = _moves(
    "transpose",
    "out[i] = in[j], j[dimensions[k]] = i[k]",
    _transpose_from_output,
    _transpose,
    bounded=True,
)
COPY = _moves("copy", "out[i] = in[i]", same_indices, operand_itself, bounded=True, passes_operand=True)

OPS: tuple[Op, ...] = (
    _moves("broadcast", "out[i] = in[i[dimensions]]", _broadcast_from_output, _broadcast),
    TRANSPOSE,
    _moves(
        "reshape",
        "out[i] = in[j], equal row-major positions",
        _reshape_from_output,
        _reshape,
        _reshape_from_input,
        bounded=True,
    ),
    _moves(
        "bitcast",
        "out[i] = in[j], equal positions in memory",
        _bitcast_from_output,
        _bitcast,
        _bitcast_from_input,
        element=bitcast,
        same_memory=True,
    ),
    COPY,
    _moves("slice", "out[i] = in[start + i * stride]", _slice_from_output, _slice),
    _moves(
        "reverse",
        "out[i] = in[size - 1 - i] in dimensions",
        _reverse_from_output,
        _reverse,
        bounded=True,
    ),
    _sized(
        "dynamic-reshape",
        "out[i] = in[j], equal positions among elements in use",
        _dynamic_reshape_from_output,
        _dynamic_reshape,
        exactness="exact; unknown with bounded sizes",
    ),
    _sized("get-dimension-size", "out = size of a dimension; no element is read", reads_nothing, _get_dimension_size),
    _sized(
        "set-dimension-size",
        "out[i] = in[i], i below the new size where the dimension has a bound",
        _set_dimension_size_from_output,
        _set_dimension_size,
    ),
)
