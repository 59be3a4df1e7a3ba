"""gather: slices of the operand at start indices read from an array, with all its dimension numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from indexing._core import SymbolicExpr, constant, variable
from indexing.hlo import Instruction
from indexing.lazy import np
from indexing.ops.element import dynamic
from indexing.ops.op import Op
from indexing.ops.operand_indexing import Indexing, OperandIndexing, tensor_map, variables
from indexing.ops.operation_count import no_operations
from indexing.ops.slice_starts import Start, Starts, as_int64, box, index_grid, starts_of
from indexing.ops.values import Array, HloValue, only_array


@dataclass(frozen=True, slots=True)
class IndexVectors:
    """An array of index vectors, gather's start_indices or scatter's scatter_indices: one vector for each batch index.

    `component` is the dimension along the vectors (the rank itself: each scalar is a vector of one component), `targets[c]`
    the operand dimension whose start component c gives; the index of operand dimension `operand_batch[k]` is that of
    dimension `own_batch[k]` of this array.
    """

    instruction: Instruction
    component: int
    targets: tuple[int, ...]
    operand_batch: tuple[int, ...]
    own_batch: tuple[int, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of this array."""
        return tuple(self.instruction.shape.dimensions)

    @property
    def batch_dims(self) -> list[int]:
        """The dimensions of this array that index vectors, in order."""
        return [k for k in range(len(self.sizes)) if k != self.component]

    @property
    def batch_sizes(self) -> list[int]:
        """The number of vectors, by dimension."""
        return [self.sizes[k] for k in self.batch_dims]

    def element(self, batch: Sequence[SymbolicExpr], component: SymbolicExpr) -> tuple[SymbolicExpr, ...]:
        """The index in this array of a component of the vector at a batch index."""
        at = dict(zip(self.batch_dims, batch, strict=True))
        at[self.component] = component
        return tuple(at[k] for k in range(len(self.sizes)))

    def whole(self, batch: Sequence[SymbolicExpr], sizes: Sequence[int], ranges: Sequence[int] = ()) -> OperandIndexing:
        """The map from an index of `sizes`, with `ranges`, to each component of the vector at a batch index over both."""
        component = variable(len(sizes) + len(ranges))
        along = [n for k, n in enumerate(self.sizes) if k == self.component]
        return OperandIndexing(tensor_map(self.element(batch, component), sizes, [*ranges, *along]))

    def start(self, dimension: int, batch: Sequence[SymbolicExpr]) -> Start | None:
        """The element of this array that holds an operand dimension's start; None if no component gives it."""
        if dimension not in self.targets:
            return None
        return Start(self.instruction, self.element(batch, constant(self.targets.index(dimension))))

    def batch_index(self, dimension: int, batch: Sequence[SymbolicExpr]) -> SymbolicExpr | None:
        """The index of an operand dimension that is a batching dimension; None for the others."""
        if dimension not in self.operand_batch:
            return None
        own = self.own_batch[self.operand_batch.index(dimension)]
        return batch[self.batch_dims.index(own)]

    def operand_index(
        self, starts: Starts, batch: Sequence[SymbolicExpr], offsets: Mapping[int, SymbolicExpr]
    ) -> list[SymbolicExpr]:
        """The operand's index of the element at `offsets` (by operand dimension) in the window of a batch index."""
        index: list[SymbolicExpr] = []
        for k, start in enumerate(starts.exprs):
            own = self.batch_index(k, batch)
            index.append(own if own is not None else start + offsets[k] if k in offsets else start)
        return index

    def read(self, value: Array) -> Array:
        """The vectors as rows: [batch, component], int64."""
        wide = as_int64(value)
        if self.component == wide.ndim:
            return wide.reshape(-1, 1)
        rows = np.moveaxis(wide, self.component, -1)
        return rows.reshape(int(np.prod(rows.shape[:-1], dtype=np.int64)), rows.shape[-1])

    def operand_origins(self, rows: Array, rank: int) -> Array:
        """For each vector, the operand index at which its slice starts, not yet clamped: [batch, operand dimension]."""
        origins = np.zeros((rows.shape[0], rank), np.int64)
        for c, dimension in enumerate(self.targets):
            origins[:, dimension] = rows[:, c]
        grid = index_grid(self.batch_sizes)
        for dimension, own in zip(self.operand_batch, self.own_batch, strict=True):
            origins[:, dimension] = grid[self.batch_dims.index(own)]
        return origins


@dataclass(frozen=True, slots=True)
class _Gather:
    vectors: IndexVectors
    operand: tuple[int, ...]
    out: tuple[int, ...]
    slice_sizes: tuple[int, ...]
    offset_dims: tuple[int, ...]
    window_dims: tuple[int, ...]  # operand dimensions that offset_dims run over: neither collapsed nor batching

    @property
    def batch_dims(self) -> list[int]:
        """The output's dimensions that index vectors."""
        return [k for k in range(len(self.out)) if k not in self.offset_dims]

    @property
    def largest_starts(self) -> list[int]:
        return [n - m for n, m in zip(self.operand, self.slice_sizes, strict=True)]

    def starts(self, batch: Sequence[SymbolicExpr], sizes: Sequence[int], ranges: Sequence[int] = ()) -> Starts:
        starts = [self.vectors.start(k, batch) for k in range(len(self.operand))]
        return starts_of(starts, self.largest_starts, sizes, ranges)


def _read(instruction: Instruction) -> _Gather:
    operand, indices = instruction.operands
    batching = instruction.ints("operand_batching_dims")
    vectors = IndexVectors(
        indices,
        instruction.integer("index_vector_dim"),
        instruction.ints("start_index_map"),
        batching,
        instruction.ints("start_indices_batching_dims"),
    )
    sizes = tuple(operand.shape.dimensions)
    collapsed = instruction.ints("collapsed_slice_dims")
    windows = tuple(k for k in range(len(sizes)) if k not in collapsed and k not in batching)
    out = tuple(instruction.shape.dimensions)
    return _Gather(vectors, sizes, out, instruction.ints("slice_sizes"), instruction.ints("offset_dims"), windows)


def output_to_input(instruction: Instruction, output: int) -> Indexing:
    """out[b, o] = in[start(b) + o], start(b) the clamped index vector b; the vector is read whole."""
    g = _read(instruction)
    d = variables(len(g.out))
    batch = [d[k] for k in g.batch_dims]
    starts = g.starts(batch, g.out)
    offsets = dict(zip(g.window_dims, (d[k] for k in g.offset_dims), strict=True))
    read = starts.read_by(tensor_map(g.vectors.operand_index(starts, batch, offsets), g.out, (), starts.bounds))
    return [[read], [g.vectors.whole(batch, g.out)]]


def input_to_output(instruction: Instruction, operand: int) -> Indexing:
    """in[i] goes to out[b, i - start(b)] for each b whose slice contains i; an index vector reaches its whole slice."""
    g = _read(instruction)
    return [[_from_vector(g) if operand else _from_operand(g)]]


def _from_operand(g: _Gather) -> OperandIndexing:
    d = variables(len(g.operand))
    free = [k for k in g.vectors.batch_dims if k not in g.vectors.own_batch]
    ranges = [g.vectors.sizes[k] for k in free]
    batch_of = dict(zip(free, variables(len(free), len(d)), strict=True))
    batch_of.update(zip(g.vectors.own_batch, (d[k] for k in g.vectors.operand_batch), strict=True))
    batch = [batch_of[k] for k in g.vectors.batch_dims]
    starts = g.starts(batch, g.operand, ranges)
    boxed = [k for k in range(len(d)) if k not in g.vectors.operand_batch]
    inside = box([d[k] for k in boxed], [starts.exprs[k] for k in boxed], [g.slice_sizes[k] for k in boxed])
    at = dict(zip(g.batch_dims, batch, strict=True))
    at.update(zip(g.offset_dims, (d[k] - starts.exprs[k] for k in g.window_dims), strict=True))
    results = [at[k] for k in range(len(g.out))]
    return starts.read_by(tensor_map(results, g.operand, ranges, starts.bounds, inside))


def _from_vector(g: _Gather) -> OperandIndexing:
    sizes = g.vectors.sizes
    d = variables(len(sizes))
    at = dict(zip(g.batch_dims, (d[k] for k in g.vectors.batch_dims), strict=True))
    at.update(zip(g.offset_dims, variables(len(g.offset_dims), len(sizes)), strict=True))
    ranges = [g.out[k] for k in g.offset_dims]
    return OperandIndexing(tensor_map([at[k] for k in range(len(g.out))], sizes, ranges))


def window_positions(
    operand: Sequence[int], origins: Array, windows: Sequence[int], window_dims: Sequence[int]
) -> Array:
    """Linear positions in the operand of each window's elements: [vector, window element]."""
    strides = np.array([math.prod(operand[k + 1 :]) for k in range(len(operand))], np.int64)
    return (origins @ strides)[:, None] + strides[list(window_dims)] @ index_grid(windows)


def reference(instruction: Instruction, values: Sequence[HloValue]) -> HloValue:
    """Each vector's slice, its start clamped so that the slice lies inside the operand."""
    g = _read(instruction)
    operand, indices = (only_array(v) for v in values)
    if 0 in g.out:
        return np.zeros(g.out, operand.dtype)
    origins = g.vectors.operand_origins(g.vectors.read(indices), operand.ndim).clip(
        0, np.array(g.largest_starts, np.int64)
    )
    windows = [g.slice_sizes[k] for k in g.window_dims]
    taken = operand.reshape(-1)[window_positions(g.operand, origins, windows, g.window_dims)]
    shaped = taken.reshape([*g.vectors.batch_sizes, *windows])
    return np.moveaxis(shaped, range(len(g.batch_dims), len(g.out)), g.offset_dims) if windows else shaped


OPS = (
    Op(
        "gather",
        "out[b, o] = in[clamp(0, start_indices[b], size - slice_size) + o]",
        output_to_input,
        reference,
        input_to_output,
        dynamic.gather,
        is_expensive=True,
        index_vectors="start_index_map",
        operations=no_operations,
    ),
)
