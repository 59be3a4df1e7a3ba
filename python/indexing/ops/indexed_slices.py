"""Slices of an array at places that index vectors give, as gather reads and scatter writes them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from indexing._core import SymbolicExpr, constant, variable
from indexing.hlo import Instruction
from indexing.lazy import np
from indexing.ops.operand_indexing import OperandIndexing, tensor_map, variables
from indexing.ops.slice_starts import Start, Starts, as_int64, box, index_grid, starts_of
from indexing.ops.values import Array


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
class IndexedSlices:
    """Slices of an array of sizes `operand`, one for each index vector, and the array of sizes `beside` that has them side by
    side: gather's result, or scatter's updates.

    `offset_dims` are the dimensions of the latter along a slice, `window_dims` those of the former that they run over: neither
    collapsed nor batching. A slice has `slice_sizes` along all dimensions of the former. One that is out of bounds is clamped
    or dropped.
    """

    vectors: IndexVectors
    operand: tuple[int, ...]
    beside: tuple[int, ...]
    offset_dims: tuple[int, ...]
    window_dims: tuple[int, ...]
    slice_sizes: tuple[int, ...]
    out_of_bounds: Literal["clamp", "drop"]

    @property
    def batch_dims(self) -> list[int]:
        """The dimensions of the array of slices that index vectors."""
        return [k for k in range(len(self.beside)) if k not in self.offset_dims]

    @property
    def window_sizes(self) -> list[int]:
        """The sizes of a slice along the dimensions that it keeps."""
        return [self.slice_sizes[k] for k in self.window_dims]

    @property
    def largest_starts(self) -> list[int]:
        """The greatest start of a slice inside the operand, for each dimension."""
        return [n - m for n, m in zip(self.operand, self.slice_sizes, strict=True)]

    @property
    def _free_batch(self) -> list[int]:
        """The dimensions of the vectors' array that index vectors and are not batching dimensions."""
        return [k for k in self.vectors.batch_dims if k not in self.vectors.own_batch]

    def starts(self, batch: Sequence[SymbolicExpr], sizes: Sequence[int], ranges: Sequence[int] = ()) -> Starts:
        """The starts of the slice of a batch index, in a map of `sizes` and `ranges`."""
        starts = [self.vectors.start(k, batch) for k in range(len(self.operand))]
        return starts_of(starts, self.largest_starts, sizes, ranges, self.out_of_bounds)

    def index(self, batch: Sequence[SymbolicExpr], offsets: Sequence[SymbolicExpr]) -> list[SymbolicExpr]:
        """The index in the array of slices of the element at `offsets` in the slice of a batch index."""
        at = dict(zip(self.batch_dims, batch, strict=True))
        at.update(zip(self.offset_dims, offsets, strict=True))
        return [at[k] for k in range(len(self.beside))]

    def _batch_of_element(self) -> tuple[list[SymbolicExpr], list[int]]:
        """The index of any vector of an element's own batch, over the element's index and ranges, and the sizes of these."""
        rank, free = len(self.operand), self._free_batch
        of = dict(zip(free, variables(len(free), rank), strict=True))
        of.update(zip(self.vectors.own_batch, (variable(k) for k in self.vectors.operand_batch), strict=True))
        return [of[k] for k in self.vectors.batch_dims], [self.vectors.sizes[k] for k in free]

    def with_element(self) -> OperandIndexing:
        """The map from an element of the operand to its places in the slices that contain it."""
        d = variables(len(self.operand))
        batch, ranges = self._batch_of_element()
        starts = self.starts(batch, self.operand, ranges)
        boxed = [k for k in range(len(d)) if k not in self.vectors.operand_batch]
        inside = box([d[k] for k in boxed], [starts.exprs[k] for k in boxed], [self.slice_sizes[k] for k in boxed])
        results = self.index(batch, [d[k] - starts.exprs[k] for k in self.window_dims])
        return starts.read_by(tensor_map(results, self.operand, ranges, starts.bounds, inside))

    def vectors_of_element(self) -> OperandIndexing:
        """The map from an element of the operand to all index vectors of its batch."""
        batch, ranges = self._batch_of_element()
        return self.vectors.whole(batch, self.operand, ranges)

    def positions(self, origins: Array) -> Array:
        """Linear positions in the operand of the elements of each slice, given where it begins: [vector, element]."""
        strides = np.array([math.prod(self.operand[k + 1 :]) for k in range(len(self.operand))], np.int64)
        return (origins @ strides)[:, None] + strides[list(self.window_dims)] @ index_grid(self.window_sizes)
