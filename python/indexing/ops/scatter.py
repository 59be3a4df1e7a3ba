"""scatter: updates combined into the operands at indices read from an array; windows that don't fit are dropped."""

from __future__ import annotations

from collections.abc import Sequence

from indexing.hlo import Computation, Instruction
from indexing.lazy import np
from indexing.ops.contraction import to_element
from indexing.ops.dependence import fold_dependence, parameters_used
from indexing.ops.element import dynamic
from indexing.ops.indexed_slices import IndexedSlices, IndexVectors
from indexing.ops.op import Interpreter, Op, RunsComputations
from indexing.ops.operand_indexing import Indexing, OperandIndexing, identity
from indexing.ops.operation_count import CountInside, OperationCount, called_once
from indexing.ops.reducer import apply, foldable, reducer_of, widen
from indexing.ops.values import Array, HloValue, only_array

_REPLACED_INCLUDED = "elements that an update replaces are included: which they are depends on the indices' values"
_UPDATED_ONLY = "the other operand's element is read only where an update falls"


def _array_count(instruction: Instruction) -> int:
    """The number of arrays that are updated: they come first, then the indices, then as many updates."""
    return len(instruction.operands) // 2


def _slices(instruction: Instruction) -> IndexedSlices:
    count = _array_count(instruction)
    batching = instruction.ints("input_batching_dims")
    vectors = IndexVectors(
        instruction.operands[count],
        instruction.integer("index_vector_dim"),
        instruction.ints("scatter_dims_to_operand_dims"),
        batching,
        instruction.ints("scatter_indices_batching_dims"),
    )
    operand, update = (tuple(instruction.operands[k].shape.dimensions) for k in (0, count + 1))
    inserted, offset_dims = instruction.ints("inserted_window_dims"), instruction.ints("update_window_dims")
    window_dims = tuple(k for k in range(len(operand)) if k not in inserted and k not in batching)
    size_of = dict(zip(window_dims, (update[k] for k in offset_dims), strict=True))
    slice_sizes = tuple(size_of.get(k, 1) for k in range(len(operand)))
    return IndexedSlices(vectors, operand, update, offset_dims, window_dims, slice_sizes, "drop")


# ---------------------------------------------------------------- output to input


def output_to_input(instruction: Instruction, output: int) -> Indexing:
    """out[i] = fold(in[i], update[b, i - index(b)] for all b whose window holds i and lies inside the operand).

    Every index vector (of the element's own batch) is read, to decide whether its window covers the element.
    """
    s, count = _slices(instruction), _array_count(instruction)
    used = fold_dependence(instruction.called[0], count, count, elements_first=False).closed[output]
    operands = [[_operand_map(s, k, output, used)] if k in used or k == output else [] for k in range(count)]
    updates = [[s.with_element()] if count + k in used else [] for k in range(count)]
    return [*operands, [s.vectors_of_element()], *updates]


def _operand_map(s: IndexedSlices, operand: int, output: int, used: frozenset[int]) -> OperandIndexing:
    same = identity(s.operand)
    if operand != output:
        return OperandIndexing(same.map, (), "over-approximate", _UPDATED_ONLY)
    return same if operand in used else OperandIndexing(same.map, (), "over-approximate", _REPLACED_INCLUDED)


# ---------------------------------------------------------------- reference


def reference(instruction: Instruction, values: Sequence[HloValue], interpreter: Interpreter) -> HloValue:
    """The operands with updates combined in row-major order of the indices; windows that don't fit are dropped entirely."""
    s, count = _slices(instruction), _array_count(instruction)
    arrays = [only_array(v) for v in values]
    operands, indices, updates = arrays[:count], arrays[count], arrays[count + 1 :]
    origins = s.vectors.operand_origins(s.vectors.read(indices), len(s.operand))
    fits = ((origins >= 0) & (origins <= np.array(s.largest_starts, np.int64))).all(axis=1)
    positions = s.positions(origins[fits]).reshape(-1)
    rows = [_rows(s, u)[fits].reshape(-1) for u in updates]
    flat = combine_at(instruction.called[0], [a.reshape(-1) for a in operands], positions, rows, interpreter)
    results = tuple(f.reshape(s.operand) for f in flat)
    return results if instruction.shape.is_tuple else results[0]


def _rows(s: IndexedSlices, update: Array) -> Array:
    moved = update.transpose((*s.batch_dims, *s.offset_dims))
    count = int(np.prod(moved.shape[: len(s.batch_dims)], dtype=np.int64))
    return moved.reshape(count, int(np.prod(moved.shape[len(s.batch_dims) :], dtype=np.int64)))


def combine_at(
    computation: Computation,
    flat: Sequence[Array],
    positions: Array,
    updates: Sequence[Array],
    interpreter: Interpreter,
) -> tuple[Array, ...]:
    """flat[k][positions[n]] = computation(flat at positions[n], updates at n)[k] for each n in turn; new arrays."""
    reducer = reducer_of(computation, flat[0].dtype) if len(flat) == 1 else None
    if reducer is not None and foldable(reducer, flat[0].dtype):
        total = widen(flat[0], reducer)
        with np.errstate(all="ignore"):
            reducer.ufunc.at(total, positions, widen(updates[0], reducer))
        return (to_element(total, flat[0].dtype),)
    out = tuple(f.copy() for f in flat)
    order = np.argsort(positions, kind="stable")
    turns = _occurrences(positions[order])
    if all(k not in used for used in parameters_used(computation) for k in range(len(flat))):
        last = _last_of_each(positions[order])
        order, turns = order[last], np.zeros(int(last.sum()), np.int64)
    for turn in range(int(turns.max(initial=-1)) + 1):
        chosen = order[turns == turn]
        at = positions[chosen]
        new = apply(computation, [*(f[at] for f in out), *(u[chosen] for u in updates)], interpreter)
        for f, n in zip(out, new, strict=True):
            f[at] = n
    return out


def _occurrences(ordered: Array) -> Array:
    """For each element of a sorted array, the number of equal ones before it."""
    first = np.concatenate([[True], ordered[1:] != ordered[:-1]]) if ordered.size else np.zeros(0, np.bool_)
    begin = np.flatnonzero(first)
    return np.arange(ordered.size) - np.repeat(begin, np.diff(np.append(begin, ordered.size)))


def _last_of_each(ordered: Array) -> Array:
    return np.concatenate([ordered[1:] != ordered[:-1], [True]]) if ordered.size else np.zeros(0, np.bool_)


def _operations(instruction: Instruction, inside: CountInside) -> OperationCount:
    """The computation once for each update."""
    return called_once(instruction, inside).repeated(instruction.operands[-1].shape.element_count)


SCATTER = Op(
    "scatter",
    "out[i] = fold(in[i], update[b, i - scatter_indices[b]] for all b whose window fits into the operand)",
    output_to_input,
    RunsComputations(reference),
    element=dynamic.scatter,
    exactness="exact for what is written; a bound for what may be replaced",
    calls="combines",
    reads_many=True,
    index_vectors="scatter_dims_to_operand_dims",
    is_scatter_like=True,
    in_place_operands=_array_count,
    operations=_operations,
)

OPS = (SCATTER,)
