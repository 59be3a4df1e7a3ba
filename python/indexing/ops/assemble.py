"""Ops that assemble an array: iota, concatenate, pad."""

from __future__ import annotations

from collections.abc import Sequence

from indexing._core import SymbolicExpr
from indexing.errors import IndexingError
from indexing.hlo import Instruction
from indexing.lazy import np
from indexing.ops.element import moves
from indexing.ops.op import Op
from indexing.ops.operand_indexing import Constraint, Indexing, OperandIndexing, tensor_map, variables
from indexing.ops.operation_count import no_operations
from indexing.ops.tuples import reads_nothing
from indexing.ops.values import Array, HloValue, only_array

# ---------------------------------------------------------------- iota


def _iota_from_input(i: Instruction, operand: int) -> Indexing:
    sizes = i.shape.dimensions
    return [[OperandIndexing(tensor_map(variables(len(sizes)), [], sizes))]]


def _iota(i: Instruction, operands: Sequence[HloValue]) -> Array:
    sizes, d = i.shape.dimensions, i.integer("iota_dimension")
    column = [1] * len(sizes)
    column[d] = sizes[d]
    if 0 in sizes:  # another size may be too large for memory
        return np.zeros(sizes, i.shape.dtype)
    # ml_dtypes' narrow integers wrap through int64, as HLO's do
    return np.broadcast_to(np.arange(sizes[d]).astype(i.shape.dtype).reshape(column), sizes)


# ---------------------------------------------------------------- concatenate


def _concatenate_from_output(i: Instruction, output: int) -> Indexing:
    sizes, d = i.shape.dimensions, i.ints("dimensions")[0]
    indexing: Indexing = []
    start = 0
    for operand in i.operands:
        index = variables(len(sizes))
        size = operand.shape.dimensions[d]
        bounds: Constraint = (index[d], (start, start + size - 1))
        index[d] = index[d] - start
        indexing.append([OperandIndexing(tensor_map(index, sizes, constraints=[bounds]))])
        start += size
    return indexing


def _concatenate(i: Instruction, operands: Sequence[HloValue]) -> Array:
    return np.concatenate([only_array(x) for x in operands], axis=i.ints("dimensions")[0])


# ---------------------------------------------------------------- pad

_PADDED = "every element is said to read the padding value; those that come from the operand do not"


def _pad_from_output(i: Instruction, output: int) -> Indexing:
    sizes, operand_sizes = i.shape.dimensions, i.operands[0].shape.dimensions
    results: list[SymbolicExpr] = []
    constraints: list[Constraint] = []
    for x, size, (low, _, interior) in zip(variables(len(sizes)), operand_sizes, i.padding(), strict=True):
        step = interior + 1
        results.append((x - low) // step)
        constraints.append((x, (low, low + (size - 1) * step)))
        if step != 1:
            constraints.append(((x - low) % step, (0, 0)))
    data = OperandIndexing(tensor_map(results, sizes, constraints=constraints))
    value = OperandIndexing(tensor_map([], sizes), (), "over-approximate", _PADDED)
    return [[data], [value]]


def _pad_from_input(i: Instruction, operand: int) -> Indexing:
    sizes, operand_sizes = i.shape.dimensions, i.operands[0].shape.dimensions
    if operand == 1:
        everywhere = tensor_map(variables(len(sizes)), [], sizes)
        return [[OperandIndexing(everywhere, (), "over-approximate", _PADDED)]]
    results: list[SymbolicExpr] = []
    constraints: list[Constraint] = []
    for x, size, (low, _, interior) in zip(variables(len(sizes)), sizes, i.padding(), strict=True):
        results.append(x * (interior + 1) + low)
        constraints.append((results[-1], (0, size - 1)))
    return [[OperandIndexing(tensor_map(results, operand_sizes, constraints=constraints))]]


def _pad(i: Instruction, operands: Sequence[HloValue]) -> Array:
    x, value = only_array(operands[0]), only_array(operands[1])
    sizes = i.shape.dimensions
    if i.shape.is_bounded:
        steps = zip(x.shape, i.padding(), strict=True)
        sizes = tuple(low + n + max(n - 1, 0) * interior + high for n, (low, high, interior) in steps)
        if min(sizes) < 0:
            raise IndexingError(f"{i.name}: the padding takes away more elements than are in use")
    out = np.full(sizes, value, dtype=i.shape.dtype)
    into, of = [], []
    for size, new_size, (low, _, interior) in zip(x.shape, out.shape, i.padding(), strict=True):
        step = interior + 1
        first = max(0, -(low // step)) if low < 0 else 0
        last = min(size, max(first, -((low - new_size) // step)))
        of.append(slice(first, last))
        into.append(
            slice(low + first * step, low + (last - 1) * step + 1 if last > first else low + first * step, step)
        )
    out[tuple(into)] = x[tuple(of)]
    return out


CONCATENATE = Op(
    "concatenate",
    "out[i] = in_k[i - start_k] where start_k <= i < start_k + size_k",
    _concatenate_from_output,
    _concatenate,
    element=moves.concatenate,
    bounded=True,
    operations=no_operations,
)

OPS: tuple[Op, ...] = (
    Op("iota", "out[i] = i[iota_dimension]", reads_nothing, _iota, _iota_from_input, moves.iota, kind="counts"),
    CONCATENATE,
    Op(
        "pad",
        "out[low + i * (interior + 1)] = in[i], the rest is value",
        _pad_from_output,
        _pad,
        _pad_from_input,
        moves.pad,
        exactness="exact; a bound for the padding value",
        bounded=True,
        operations=no_operations,
    ),
)
