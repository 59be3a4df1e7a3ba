"""reduce-window (of one array or several) and select-and-scatter."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

from indexing._core import SymbolicExpr
from indexing.hlo import Instruction, WindowDim
from indexing.lazy import np
from indexing.ops.contraction import to_element
from indexing.ops.dependence import reduction_dependence, where_used
from indexing.ops.element import loops
from indexing.ops.op import Interpreter, Op, RunsComputations
from indexing.ops.operand_indexing import Constraint, Indexing, OperandIndexing, scalar, tensor_map, variables
from indexing.ops.operation_count import CountInside, OperationCount, called_once
from indexing.ops.prefix import prefix_in_parts
from indexing.ops.reducer import Reducer, apply, foldable, reducer_of, widen
from indexing.ops.scatter import combine_at
from indexing.ops.selected_elements import select_and_scatter_expansion
from indexing.ops.values import Array, HloValue, only_array
from indexing.ops.window_index import gather_window, read_position, source_indices, written_position

_SELECTED_UNKNOWN = "which element of its window a source element goes to depends on the operand's values"


def _index(
    position: Callable[[WindowDim, SymbolicExpr, SymbolicExpr, int], tuple[SymbolicExpr, list[Constraint]]],
    dims: Sequence[WindowDim],
    elements: Sequence[SymbolicExpr],
    windows: Sequence[SymbolicExpr],
    sizes: Sequence[int],
) -> tuple[list[SymbolicExpr], list[Constraint]]:
    """The index that has `position` along each dimension, and the constraints of all."""
    positions = [position(*one) for one in zip(dims, elements, windows, sizes, strict=True)]
    return [e for e, _ in positions], [c for _, constraints in positions for c in constraints]


# ---------------------------------------------------------------- reduce-window


def reduce_window_output_to_input(instruction: Instruction, output: int) -> Indexing:
    """out[x] = fold over w of in[(x * stride + w * rhs_dilation - pad) / lhs_dilation], padding left out."""
    count = len(instruction.operands) // 2
    sizes, out = instruction.operands[0].shape.dimensions, instruction.shape.leaves[0].dimensions
    dims, rank = instruction.window(), len(out)
    results, constraints = _index(read_position, dims, variables(rank), variables(rank, rank), sizes)
    read = tensor_map(results, out, [dim.size for dim in dims], constraints=constraints)
    used = reduction_dependence(instruction)[output]
    operands = [[where_used(OperandIndexing(read), used, count + k)] for k in range(count)]
    return operands + [[where_used(scalar(out), used, k)] for k in range(count)]


def reduce_window_input_to_output(instruction: Instruction, operand: int) -> Indexing:
    """in[x] goes to the outputs whose windows contain it; an initial value reaches all elements."""
    sizes, out = instruction.operands[0].shape.dimensions, instruction.shape.leaves[0].dimensions
    dims, rank = instruction.window(), len(sizes)
    if operand < len(instruction.operands) // 2:
        results, constraints = _index(written_position, dims, variables(rank), variables(rank, rank), out)
        written = tensor_map(results, sizes, [dim.size for dim in dims], constraints=constraints)
    else:
        written = tensor_map(variables(rank), [], out)
    count = len(instruction.operands) // 2
    number = operand + count if operand < count else operand - count
    return [[where_used(OperandIndexing(written), used, number)] for used in reduction_dependence(instruction)]


def reduce_window_reference(instruction: Instruction, values: Sequence[HloValue], interpreter: Interpreter) -> HloValue:
    """Each window's elements folded in order, from the initial values."""
    arrays = [only_array(v) for v in values]
    count = len(arrays) // 2
    (computation,) = instruction.called
    out = tuple(instruction.shape.leaves[0].dimensions)
    dims = instruction.window()
    reducer = reducer_of(computation, arrays[0].dtype) if count == 1 else None
    if reducer is not None and foldable(reducer, arrays[0].dtype):
        return _fold_windows(reducer, dims, arrays[0], arrays[1], out)
    totals = tuple(np.broadcast_to(start, out) for start in arrays[count:])
    for window in itertools.product(*(range(dim.size) for dim in dims)):
        taken = [gather_window(dims, window, a, out) for a in arrays[:count]]
        valid = taken[0][1]
        folded = apply(computation, [*totals, *(t for t, _ in taken)], interpreter)
        totals = tuple(np.where(valid, f, t) for f, t in zip(folded, totals, strict=True))
    return totals if instruction.shape.is_tuple else totals[0]


def _fold_windows(
    reducer: Reducer, dims: tuple[WindowDim, ...], value: Array, start: Array, out: tuple[int, ...]
) -> Array:
    """Fold windows one dimension at a time, as the ufunc is commutative."""
    wide = widen(value, reducer)
    with np.errstate(all="ignore"):
        for axis, (dim, n) in enumerate(zip(dims, out, strict=True)):
            wide = _fold_lines(reducer, dim, wide, axis, n)
        return to_element(reducer.ufunc(widen(start, reducer), wide), value.dtype)


def _fold_lines(reducer: Reducer, dim: WindowDim, value: Array, axis: int, output_size: int) -> Array:
    size = value.shape[axis]
    shape = (*value.shape[:axis], output_size, *value.shape[axis + 1 :])
    total = np.full(shape, reducer.neutral[()], reducer.wide)
    if size == 0:
        return total
    if dim.size == 1 and dim.stride == 1 and size == output_size and not dim.pad_low and dim.lhs_dilation == 1:
        return value
    for w in range(dim.size):
        index, valid = source_indices(dim, w, size, output_size)
        mask = valid.reshape([-1 if k == axis else 1 for k in range(value.ndim)])
        total = reducer.ufunc(total, np.where(mask, value.take(index, axis=axis), reducer.neutral[()]))
    return total


# ---------------------------------------------------------------- select-and-scatter


def select_and_scatter_output_to_input(instruction: Instruction, output: int) -> Indexing:
    """out[x] = fold over the source elements whose windows contain x and select it; to select, whole windows are read."""
    sizes, source = (instruction.operands[k].shape.dimensions for k in range(2))
    dims, rank = instruction.window(), len(sizes)
    windows = [dim.size for dim in dims]
    d, w, v = variables(rank), variables(rank, rank), variables(rank, 2 * rank)
    at, constraints = _index(written_position, dims, d, w, source)
    read, inside = _index(read_position, dims, at, v, sizes)
    return [
        [OperandIndexing(tensor_map(read, sizes, windows + windows, constraints=constraints + inside))],
        [
            OperandIndexing(
                tensor_map(at, sizes, windows, constraints=constraints), (), "over-approximate", _SELECTED_UNKNOWN
            )
        ],
        [scalar(sizes)],
    ]


def select_and_scatter_input_to_output(instruction: Instruction, operand: int) -> Indexing:
    """An operand element may change the selection of each window that contains it; a source element goes into its window."""
    sizes, source = (instruction.operands[k].shape.dimensions for k in range(2))
    dims, rank = instruction.window(), len(sizes)
    windows = [dim.size for dim in dims]
    d, w, v = variables(rank), variables(rank, rank), variables(rank, 2 * rank)
    if operand == 2:
        return [[OperandIndexing(tensor_map(variables(rank), [], sizes))]]
    if operand == 1:
        results, constraints = _index(read_position, dims, d, w, sizes)
        written = tensor_map(results, source, windows, constraints=constraints)
        return [[OperandIndexing(written, (), "over-approximate", _SELECTED_UNKNOWN)]]
    at, constraints = _index(written_position, dims, d, w, source)
    results, inside = _index(read_position, dims, at, v, sizes)
    return [[OperandIndexing(tensor_map(results, sizes, windows + windows, constraints=constraints + inside))]]


def select_and_scatter_reference(
    instruction: Instruction, values: Sequence[HloValue], interpreter: Interpreter
) -> HloValue:
    """Each window selects its first best element; the source element is combined into the output there."""
    operand, source, start = (only_array(v) for v in values)
    select = instruction.computation_of("select")
    scatter = instruction.computation_of("scatter")
    dims, out = instruction.window(), source.shape
    positions = np.arange(operand.size, dtype=np.int64).reshape(operand.shape)
    best, chosen = np.zeros(out, operand.dtype), np.full(out, -1, np.int64)
    for window in itertools.product(*(range(dim.size) for dim in dims)):
        element, valid = gather_window(dims, window, operand, out)
        (kept,) = apply(select, [best, element], interpreter)
        better = valid & ((chosen < 0) | ~kept.astype(np.bool_))
        best = np.where(better, element, best)
        chosen = np.where(better, gather_window(dims, window, positions, out)[0], chosen)
    hit = chosen.reshape(-1) >= 0
    flat = [np.full(operand.size, start, operand.dtype)]
    (total,) = combine_at(scatter, flat, chosen.reshape(-1)[hit], [source.reshape(-1)[hit]], interpreter)
    return total.reshape(operand.shape)


def _reduce_window_operations(instruction: Instruction, inside: CountInside) -> OperationCount:
    """The computation once for each element of each window, but for the first."""
    window = math.prod(dim.size for dim in instruction.window())
    return called_once(instruction, inside).repeated(instruction.shape.leaves[0].element_count * (window - 1))


def _select_and_scatter_operations(instruction: Instruction, inside: CountInside) -> OperationCount:
    """A selection for each element of each window but for the first; then one addition for each window."""
    window = math.prod(dim.size for dim in instruction.window())
    sources = instruction.operands[1].shape.element_count
    select, scatter = (inside(instruction.computation_of(name)) for name in ("select", "scatter"))
    return select.repeated(sources * (window - 1)) + scatter.repeated(sources)


OPS = (
    Op(
        "reduce-window",
        "out[x] = fold(init, in[(x * stride + w * rhs_dilation - pad) / lhs_dilation] for all w inside the input)",
        reduce_window_output_to_input,
        RunsComputations(reduce_window_reference),
        reduce_window_input_to_output,
        loops.reduce_window,
        exactness="exact; a bound for operands that the computation ignores",
        calls="combines",
        reads_many=True,
        expansion=prefix_in_parts,
        operations=_reduce_window_operations,
    ),
    Op(
        "select-and-scatter",
        "out[x] = fold(init, source[y] for all y whose window of the operand selects x)",
        select_and_scatter_output_to_input,
        RunsComputations(select_and_scatter_reference),
        select_and_scatter_input_to_output,
        exactness="a bound: what is selected depends on values",
        calls="combines",
        reads_many=True,
        expansion=select_and_scatter_expansion,
        operations=_select_and_scatter_operations,
    ),
)
