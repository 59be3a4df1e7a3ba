"""reduce, of one array or several at once."""

from __future__ import annotations

from collections.abc import Sequence

from indexing.hlo import Computation, Instruction
from indexing.hlo.layout import is_row_major
from indexing.lazy import np
from indexing.ops.bounded import check_same_sizes
from indexing.ops.dependence import reduction_dependence, where_used
from indexing.ops.element import loops
from indexing.ops.expansion import Expansion
from indexing.ops.op import Interpreter, Op, RunsComputations
from indexing.ops.operand_indexing import Indexing, OperandIndexing, scalar, tensor_map, variables
from indexing.ops.operation_count import CountInside, OperationCount, called_once
from indexing.ops.reducer import apply, fold_rows, fold_ufunc, foldable, reducer_of
from indexing.ops.reducer_ops import neutral_element
from indexing.ops.values import Array, HloValue, only_array


def output_to_input(instruction: Instruction, output: int) -> Indexing:
    """out[i] = fold over s of in[i, s]; every result reads the same elements of each operand, and the initial values."""
    count = len(instruction.operands) // 2
    sizes = instruction.operands[0].shape.dimensions
    reduced = instruction.ints("dimensions")
    kept = [k for k in range(len(sizes)) if k not in reduced]
    inner = sorted(reduced)
    by_dimension = dict(zip((*kept, *inner), variables(len(sizes)), strict=True))
    kept_sizes = [sizes[k] for k in kept]
    read = tensor_map([by_dimension[k] for k in range(len(sizes))], kept_sizes, [sizes[k] for k in inner])
    used = reduction_dependence(instruction)[output]
    operands = [[where_used(OperandIndexing(read), used, count + k)] for k in range(count)]
    return operands + [[where_used(scalar(kept_sizes), used, k)] for k in range(count)]


def reference(instruction: Instruction, values: Sequence[HloValue], interpreter: Interpreter) -> HloValue:
    """The fold over the reduced dimensions, from the initial values."""
    arrays = [only_array(v) for v in values]
    count = len(arrays) // 2
    check_same_sizes(instruction, arrays[:count])
    dims = instruction.ints("dimensions")
    (computation,) = instruction.called
    reducer = reducer_of(computation, arrays[0].dtype) if count == 1 else None
    if reducer is not None and foldable(reducer, arrays[0].dtype):
        return fold_ufunc(reducer, arrays[0], dims, arrays[1])
    starts = arrays[count:]
    rows = [_rows(a, dims) for a in arrays[:count]]
    kept = tuple(n for k, n in enumerate(arrays[0].shape) if k not in dims)
    begin = [np.broadcast_to(s, kept) for s in starts]
    results = tuple(begin)
    if rows[0].shape[0]:
        results = apply(computation, [*begin, *fold_rows(computation, rows, interpreter)], interpreter)
    return results if instruction.shape.is_tuple else results[0]


def _rows(value: Array, dims: tuple[int, ...]) -> Array:
    """The value with its reduced dimensions flattened to one leading axis, in row-major order."""
    inner = sorted(dims)
    moved = value.transpose((*inner, *(k for k in range(value.ndim) if k not in dims)))
    return moved.reshape((int(np.prod(moved.shape[: len(inner)], dtype=np.int64)), *moved.shape[len(inner) :]))


def unit_reduction(instruction: Instruction) -> Computation | None:
    """A computation without a reduction, equal to a reduce over dimensions of size 1 (as in gradients of broadcasts); None
    for other instructions.
    """
    if instruction.shape.is_tuple or neutral_element(instruction) is None:
        return None
    operand, shape = instruction.operands[0].shape, instruction.shape
    if operand.element_count != shape.element_count or not all(map(is_row_major, (operand, shape))):
        return None
    parts = Expansion(instruction)
    value, start = parts.parameters
    flat, opcode = parts.reshape(value, shape.dimensions), instruction.computation_of("to_apply").root.opcode
    return parts.finish([parts.apply(opcode, parts.broadcast(start, shape.dimensions, ()), flat)])


def _operations(instruction: Instruction, inside: CountInside) -> OperationCount:
    """The computation once for each element of the operand, but for the first of each result."""
    elements = instruction.operands[0].shape.element_count - instruction.shape.leaves[0].element_count
    return called_once(instruction, inside).repeated(max(elements, 0))


REDUCE = Op(
    "reduce",
    "out[i] = fold(init, in[i, s] for all s), for each of the results",
    output_to_input,
    RunsComputations(reference),
    element=loops.reduce,
    exactness="exact; a bound for operands that the computation ignores",
    bounded=True,
    calls="combines",
    reads_many=True,
    expansion=unit_reduction,
    operations=_operations,
)

OPS = (REDUCE,)
