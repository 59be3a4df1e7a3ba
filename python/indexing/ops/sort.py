"""sort and topk: each result element may come from anywhere in its row."""

from __future__ import annotations

import math
from collections.abc import Sequence

from indexing._core import IndexingMap, variable
from indexing.hlo import Instruction
from indexing.lazy import np
from indexing.ops.dependence import parameters_used
from indexing.ops.op import Interpreter, Op, RunsComputations
from indexing.ops.operand_indexing import Indexing, OperandIndexing, tensor_map, variables
from indexing.ops.operation_count import CountInside, OperationCount, no_operations
from indexing.ops.sort_order import order_of_rows, ordered_keys, sorted_values, stable_order
from indexing.ops.top_elements import top_elements_expansion
from indexing.ops.values import HloValue, only_array


def row_map(sizes: Sequence[int], dimension: int, row: int) -> IndexingMap:
    """The map from every element of `sizes` to its whole row (of `row` elements) along a dimension."""
    index = variables(len(sizes))
    index[dimension] = variable(len(sizes))
    return tensor_map(index, sizes, [row])


# ---------------------------------------------------------------- sort


def _sort_dimension(instruction: Instruction) -> int:
    (dimension,) = instruction.ints("dimensions") or (0,)
    return dimension


def _reads(instruction: Instruction, operand: int, output: int) -> bool:
    """Whether an output reads an operand: its own, and those that the comparator reads."""
    (used,) = parameters_used(instruction.called[0])
    return operand == output or 2 * operand in used or 2 * operand + 1 in used


def sort_output_to_input(instruction: Instruction, output: int) -> Indexing:
    """out[b, i] = in[b, order(b)[i]]: reads the row of its own operand, and the rows that the comparator reads."""
    sizes = instruction.operands[0].shape.dimensions
    dimension = _sort_dimension(instruction)
    read = OperandIndexing(row_map(sizes, dimension, sizes[dimension]))
    return [[read] if _reads(instruction, k, output) else [] for k in range(len(instruction.operands))]


def sort_reference(instruction: Instruction, values: Sequence[HloValue], interpreter: Interpreter) -> HloValue:
    """All rows in the stable order of the computation's "less than"."""
    arrays = [only_array(v) for v in values]
    dimension = _sort_dimension(instruction)
    if not arrays[0].size:
        return tuple(arrays) if instruction.shape.is_tuple else arrays[0]
    moved = np.moveaxis(arrays[0], dimension, -1).shape
    rows = [np.moveaxis(a, dimension, -1).reshape(-1, moved[-1]) for a in arrays]
    alone = sorted_values(instruction.called[0], rows[0], interpreter) if len(rows) == 1 else None
    if alone is None:
        order = order_of_rows(instruction.called[0], rows, interpreter)
        taken = [np.take_along_axis(r, order, axis=-1) for r in rows]
    else:
        taken = [alone]
    results = tuple(np.moveaxis(t.reshape(moved), -1, dimension) for t in taken)
    return results if instruction.shape.is_tuple else results[0]


# ---------------------------------------------------------------- topk


def topk_output_to_input(instruction: Instruction, output: int) -> Indexing:
    """values[b, i], indices[b, i] = the i-th largest of row in[b, :], and its place."""
    sizes = instruction.shape.leaves[output].dimensions
    row = instruction.operands[0].shape.dimensions[-1]
    return [[OperandIndexing(row_map(sizes, len(sizes) - 1, row))]]


def topk_reference(instruction: Instruction, values: Sequence[HloValue]) -> HloValue:
    """The k largest (or smallest) of each row in order; of equal ones the first; NaN counts as larger than infinity."""
    operand = only_array(values[0])
    shapes = instruction.shape.leaves
    k = shapes[0].dimensions[-1]
    rows = operand.reshape(math.prod(operand.shape[:-1]), operand.shape[-1])
    falls = instruction.attributes.get("largest", "true") == "true"
    order = stable_order([ordered_keys(rows)], falls, k)
    chosen = (np.take_along_axis(rows, order, axis=-1), order)
    results = tuple(f.reshape(s.dimensions).astype(s.dtype) for f, s in zip(chosen, shapes, strict=False))
    return results if instruction.shape.is_tuple else results[0]


def _sort_operations(instruction: Instruction, inside: CountInside) -> OperationCount:
    """n log n comparisons of all n elements, as if they were one list."""
    elements = instruction.operands[0].shape.element_count
    return OperationCount(elements * max(elements - 1, 0).bit_length())


SORT = Op(
    "sort",
    "out_k[b, i] = in_k[b, order[b, i]], order by the comparator on row b of all operands",
    sort_output_to_input,
    RunsComputations(sort_reference),
    calls="combines",
    bounded=True,
    by_rows=True,
    operations=_sort_operations,
)

TOPK = Op(
    "topk",
    "values[b, i], indices[b, i] = the i-th largest element of in[b, :] and its index",
    topk_output_to_input,
    topk_reference,
    expansion=top_elements_expansion,
    by_rows=True,
    operations=no_operations,
)

OPS = (SORT, TOPK)
