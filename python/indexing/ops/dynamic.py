"""dynamic-slice and dynamic-update-slice: slices at run-time start indices, clamped so that they lie inside."""

from __future__ import annotations

from collections.abc import Sequence

from indexing.hlo import Instruction
from indexing.ops.element import dynamic
from indexing.ops.op import Op
from indexing.ops.operand_indexing import Bounds, Constraint, Indexing, OperandIndexing, identity, tensor_map, variables
from indexing.ops.operation_count import no_operations
from indexing.ops.slice_starts import Starts, box, read_starts, scalar_starts, start_map, starts_of
from indexing.ops.values import HloValue, only_array

_OVERWRITTEN_INCLUDED = (
    "elements that update replaces are included, for one map can't leave out a box at a place known at run time; "
    "pieces holds the maps that do"
)


def _all_outputs(instruction: Instruction, operand: int) -> OperandIndexing:
    """Every element of the output depends on a start index."""
    inner = instruction.operands[operand].shape.dimensions
    sizes = instruction.shape.dimensions
    return OperandIndexing(tensor_map(variables(len(sizes), len(inner)), inner, sizes))


def _largest_starts(sizes: Sequence[int], slice_sizes: Sequence[int]) -> list[int]:
    return [n - m for n, m in zip(sizes, slice_sizes, strict=True)]


# ---------------------------------------------------------------- dynamic-slice


def _slice_starts(instruction: Instruction, sizes: Sequence[int]) -> Starts:
    operand = instruction.operands[0].shape.dimensions
    starts = scalar_starts(instruction, 1, len(operand))
    return starts_of(starts, _largest_starts(operand, instruction.shape.dimensions), sizes)


def slice_output_to_input(instruction: Instruction, output: int) -> Indexing:
    """out[i] = in[start + i], start clamped to [0, size - slice size]."""
    sizes = instruction.shape.dimensions
    starts = _slice_starts(instruction, sizes)
    results = [d + s for d, s in zip(variables(len(sizes)), starts.exprs, strict=True)]
    read = starts.read_by(tensor_map(results, sizes, (), starts.bounds))
    indices = range(1, len(instruction.operands))
    return [[read], *([OperandIndexing(start_map(instruction, k, sizes))] for k in indices)]


def slice_reference(instruction: Instruction, values: Sequence[HloValue]) -> HloValue:
    """The slice at the clamped starts."""
    operand, *starts = (only_array(v) for v in values)
    sizes = instruction.shape.dimensions
    at = read_starts(starts, _largest_starts(operand.shape, sizes))
    return operand[tuple(slice(a, a + n) for a, n in zip(at, sizes, strict=True))]


# ---------------------------------------------------------------- dynamic-update-slice


def _update_starts(instruction: Instruction, sizes: Sequence[int]) -> Starts:
    operand, update = (instruction.operands[k].shape.dimensions for k in range(2))
    return starts_of(scalar_starts(instruction, 2, len(operand)), _largest_starts(operand, update), sizes)


def _untouched(instruction: Instruction) -> OperandIndexing:
    """The identity where update doesn't write: one map is a bound, its pieces are exact."""
    sizes, update = (instruction.operands[k].shape.dimensions for k in range(2))
    if 0 in update:
        return identity(sizes)
    edges = ((k, edge) for k, n in enumerate(update) for edge in ((-sizes[k], -1), (n, sizes[k])))
    beside = (_outside(instruction, k, edge) for k, edge in edges)
    pieces = tuple(piece for piece in beside if not piece.map.simplify().is_known_empty)
    return OperandIndexing(identity(sizes).map, (), "over-approximate", _OVERWRITTEN_INCLUDED, pieces=pieces)


def _outside(instruction: Instruction, dimension: int, edge: Bounds) -> OperandIndexing:
    """The identity where an index minus update's start is inside update before `dimension`, and inside `edge` there."""
    sizes, update = (instruction.operands[k].shape.dimensions for k in range(2))
    starts = _update_starts(instruction, sizes)
    d = variables(len(sizes))
    constraints: list[Constraint] = box(d[:dimension], starts.exprs[:dimension], update[:dimension])
    constraints.append((d[dimension] - starts.exprs[dimension], edge))
    return starts.read_by(tensor_map(d, sizes, (), starts.bounds, constraints))


def update_output_to_input(instruction: Instruction, output: int) -> Indexing:
    """out[i] = update[i - start] inside update's extent, in[i] elsewhere; start clamped to [0, size - update size]."""
    sizes, update = (instruction.operands[k].shape.dimensions for k in range(2))
    starts = _update_starts(instruction, sizes)
    d = variables(len(sizes))
    results = [e - s for e, s in zip(d, starts.exprs, strict=True)]
    written = tensor_map(results, sizes, (), starts.bounds, box(d, starts.exprs, update))
    indices = range(2, len(instruction.operands))
    return [
        [_untouched(instruction)],
        [starts.read_by(written)],
        *([OperandIndexing(start_map(instruction, k, sizes))] for k in indices),
    ]


def update_input_to_output(instruction: Instruction, operand: int) -> Indexing:
    """in[i] stays where update doesn't write; update[i] goes to out[start + i]; a start index reaches all of out."""
    if operand == 0:
        return [[_untouched(instruction)]]
    if operand > 1:
        return [[_all_outputs(instruction, operand)]]
    sizes = instruction.operands[1].shape.dimensions
    starts = _update_starts(instruction, sizes)
    results = [d + s for d, s in zip(variables(len(sizes)), starts.exprs, strict=True)]
    return [[starts.read_by(tensor_map(results, sizes, (), starts.bounds))]]


def update_reference(instruction: Instruction, values: Sequence[HloValue]) -> HloValue:
    """A copy of the operand with update at the clamped starts."""
    operand, update, *starts = (only_array(v) for v in values)
    at = read_starts(starts, _largest_starts(operand.shape, update.shape))
    out = operand.copy()
    out[tuple(slice(a, a + n) for a, n in zip(at, update.shape, strict=True))] = update
    return out


def _one_array(instruction: Instruction) -> int:
    return 1


DYNAMIC_UPDATE_SLICE = Op(
    "dynamic-update-slice",
    "out[i] = update[i - clamp(0, start, size - update_size)] where that is inside update, else in[i]",
    update_output_to_input,
    update_reference,
    update_input_to_output,
    dynamic.dynamic_update_slice,
    exactness="exact, in pieces for the operand",
    in_place_operands=_one_array,
    operations=no_operations,
)

OPS = (
    Op(
        "dynamic-slice",
        "out[i] = in[clamp(0, start, size - slice_size) + i]",
        slice_output_to_input,
        slice_reference,
        element=dynamic.dynamic_slice,
        operations=no_operations,
    ),
    DYNAMIC_UPDATE_SLICE,
)
