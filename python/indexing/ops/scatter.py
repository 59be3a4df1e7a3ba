"""scatter: updates combined into the operands at indices read from an array; windows that don't fit are dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from indexing._core import SymbolicExpr
from indexing.hlo import Computation, Instruction
from indexing.lazy import np
from indexing.ops.contraction import to_element
from indexing.ops.dependence import fold_dependence, parameters_used
from indexing.ops.element import dynamic
from indexing.ops.gather import IndexVectors, window_positions
from indexing.ops.op import Interpreter, Op, RunsComputations
from indexing.ops.operand_indexing import Indexing, OperandIndexing, identity, tensor_map, variables
from indexing.ops.operation_count import CountInside, OperationCount, called_once
from indexing.ops.reducer import apply, foldable, reducer_of, widen
from indexing.ops.slice_starts import Starts, box, starts_of
from indexing.ops.values import Array, HloValue, only_array

_REPLACED_INCLUDED = "elements that an update replaces are included: which they are depends on the indices' values"
_UPDATED_ONLY = "the other operand's element is read only where an update falls"


@dataclass(frozen=True, slots=True)
class _Scatter:
    instruction: Instruction
    count: int
    vectors: IndexVectors
    operand: tuple[int, ...]
    update: tuple[int, ...]
    update_window_dims: tuple[int, ...]
    window_dims: tuple[int, ...]  # operand dimensions that update_window_dims run over

    @property
    def batch_dims(self) -> list[int]:
        """Dimensions of the updates that index index vectors."""
        return [k for k in range(len(self.update)) if k not in self.update_window_dims]

    @property
    def window_sizes(self) -> list[int]:
        """The extent of one update's window in each operand dimension."""
        size_of = dict(zip(self.window_dims, (self.update[k] for k in self.update_window_dims), strict=True))
        return [size_of.get(k, 1) for k in range(len(self.operand))]

    @property
    def largest_starts(self) -> list[int]:
        return [n - m for n, m in zip(self.operand, self.window_sizes, strict=True)]

    @property
    def free_batch(self) -> list[int]:
        """Dimensions of the indices that index vectors and are not batching dimensions."""
        return [k for k in self.vectors.batch_dims if k not in self.vectors.own_batch]

    def starts(self, batch: Sequence[SymbolicExpr], sizes: Sequence[int], ranges: Sequence[int] = ()) -> Starts:
        starts = [self.vectors.start(k, batch) for k in range(len(self.operand))]
        return starts_of(starts, self.largest_starts, sizes, ranges, "drop")

    def batch_of_operand(self, d: Sequence[SymbolicExpr], free: Sequence[SymbolicExpr]) -> list[SymbolicExpr]:
        """The batch index, from the operand's index (batching dimensions) and an index of the free ones."""
        of = dict(zip(self.free_batch, free, strict=True))
        of.update(zip(self.vectors.own_batch, (d[k] for k in self.vectors.operand_batch), strict=True))
        return [of[k] for k in self.vectors.batch_dims]


def _read(instruction: Instruction) -> _Scatter:
    count = len(instruction.operands) // 2
    indices = instruction.operands[count]
    batching = instruction.ints("input_batching_dims")
    vectors = IndexVectors(
        indices,
        instruction.integer("index_vector_dim"),
        instruction.ints("scatter_dims_to_operand_dims"),
        batching,
        instruction.ints("scatter_indices_batching_dims"),
    )
    operand = tuple(instruction.operands[0].shape.dimensions)
    inserted = instruction.ints("inserted_window_dims")
    return _Scatter(
        instruction,
        count,
        vectors,
        operand,
        tuple(instruction.operands[count + 1].shape.dimensions),
        instruction.ints("update_window_dims"),
        tuple(k for k in range(len(operand)) if k not in inserted and k not in batching),
    )


# ---------------------------------------------------------------- output to input


def output_to_input(instruction: Instruction, output: int) -> Indexing:
    """out[i] = fold(in[i], update[b, i - index(b)] for all b whose window holds i and lies inside the operand)."""
    s = _read(instruction)
    used = _dependence(s)[output]
    operands = [[_operand_map(s, k, output, used)] if k in used or k == output else [] for k in range(s.count)]
    updates = [[_update_map(s)] if s.count + k in used else [] for k in range(s.count)]
    return [*operands, [_indices_map(s)], *updates]


def _dependence(s: _Scatter) -> tuple[frozenset[int], ...]:
    return fold_dependence(s.instruction.called[0], s.count, s.count, elements_first=False).closed


def _operand_map(s: _Scatter, operand: int, output: int, used: frozenset[int]) -> OperandIndexing:
    same = identity(s.operand)
    if operand != output:
        return OperandIndexing(same.map, (), "over-approximate", _UPDATED_ONLY)
    return same if operand in used else OperandIndexing(same.map, (), "over-approximate", _REPLACED_INCLUDED)


def _update_map(s: _Scatter) -> OperandIndexing:
    d = variables(len(s.operand))
    ranges = [s.vectors.sizes[k] for k in s.free_batch]
    batch = s.batch_of_operand(d, variables(len(ranges), len(d)))
    starts = s.starts(batch, s.operand, ranges)
    at = dict(zip(s.batch_dims, batch, strict=True))
    at.update(zip(s.update_window_dims, (d[k] - starts.exprs[k] for k in s.window_dims), strict=True))
    boxed = [k for k in range(len(d)) if k not in s.vectors.operand_batch]
    inside = box([d[k] for k in boxed], [starts.exprs[k] for k in boxed], [s.window_sizes[k] for k in boxed])
    results = [at[k] for k in range(len(s.update))]
    return starts.read_by(tensor_map(results, s.operand, ranges, starts.bounds, inside))


def _indices_map(s: _Scatter) -> OperandIndexing:
    """Every index vector (of the element's own batch) is read, to decide whether its window covers the element."""
    rank, ranges = len(s.operand), [s.vectors.sizes[k] for k in s.free_batch]
    batch = s.batch_of_operand(variables(rank), variables(len(ranges), rank))
    return s.vectors.whole(batch, s.operand, ranges)


# ---------------------------------------------------------------- reference


def reference(instruction: Instruction, values: Sequence[HloValue], interpreter: Interpreter) -> HloValue:
    """The operands with updates combined in row-major order of the indices; windows that don't fit are dropped entirely."""
    s = _read(instruction)
    arrays = [only_array(v) for v in values]
    operands, indices, updates = arrays[: s.count], arrays[s.count], arrays[s.count + 1 :]
    origins = s.vectors.operand_origins(s.vectors.read(indices), len(s.operand))
    fits = ((origins >= 0) & (origins <= np.array(s.largest_starts, np.int64))).all(axis=1)
    windows = [s.update[k] for k in s.update_window_dims]
    positions = window_positions(s.operand, origins[fits], windows, s.window_dims).reshape(-1)
    rows = [_rows(s, u)[fits].reshape(-1) for u in updates]
    flat = combine_at(instruction.called[0], [a.reshape(-1) for a in operands], positions, rows, interpreter)
    results = tuple(f.reshape(s.operand) for f in flat)
    return results if instruction.shape.is_tuple else results[0]


def _rows(s: _Scatter, update: Array) -> Array:
    moved = update.transpose((*s.batch_dims, *s.update_window_dims))
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


def _array_count(instruction: Instruction) -> int:
    """The number of arrays that are updated: they come first, then the indices, then as many updates."""
    return len(instruction.operands) // 2


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
