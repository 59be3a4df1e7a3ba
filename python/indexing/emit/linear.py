"""Launches of one dimension: each thread takes a vector of neighbouring elements of an array, in the order of memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from indexing._core import constant
from indexing.emit.launch import Bounds, position_in_grid, range_variable, thread_map, unravelled, write_position

if TYPE_CHECKING:
    from indexing._core import IndexingMap, SymbolicExpr
    from indexing.emit.elemental import FunctionWriter
    from indexing.emit.kernel import Dim3
    from indexing.ops.element import Index


@dataclass(frozen=True, slots=True)
class LinearPlan:
    """Launch dimensions: `count` vectors of `vector_width` elements of an array of `sizes`, `block_size` threads a block.

    `order` are the array's dimensions as memory has them, the slowest first; vectors lie along the last.
    """

    sizes: tuple[int, ...]
    order: tuple[int, ...]
    vector_width: int
    block_size: int

    @property
    def count(self) -> int:
        """Threads that have a vector."""
        return prod(self.vector_sizes)

    @property
    def fast(self) -> int | None:
        """The dimension of neighbours in memory; a scalar has none."""
        return self.order[-1] if self.order else None

    @property
    def vector_sizes(self) -> tuple[int, ...]:
        """The array's sizes, in vectors."""
        return tuple(s // self.vector_width if d == self.fast else s for d, s in enumerate(self.sizes))

    @property
    def grid(self) -> Dim3:
        """Blocks in one dimension."""
        return (-(-self.count // self.block_size), 1, 1)

    @property
    def block(self) -> Dim3:
        """Threads of a block in one dimension."""
        return (self.block_size, 1, 1)

    def element(self, vector: Sequence[SymbolicExpr], lane: SymbolicExpr) -> list[SymbolicExpr]:
        """The index of an element, given that of its vector."""
        return [e * self.vector_width + lane if d == self.fast else e for d, e in enumerate(vector)]


def vector_index(body: FunctionWriter, plan: LinearPlan) -> Index:
    """The index of the thread's vector; threads without one leave."""
    position = write_position(body, plan.count, plan.block_size)
    return tuple(map(body.scope.simplify, unravelled(position, plan.vector_sizes, plan.order)))


def place(plan: LinearPlan, lane: int = 0) -> tuple[list[SymbolicExpr], list[tuple[SymbolicExpr, Bounds]]]:
    """The index of a thread's element as thread maps say it, and where it has one; `lane` numbers the range variable."""
    position = position_in_grid(plan.block_size)
    bounds = [] if plan.count % plan.block_size == 0 else [(position, (0, plan.count - 1))]
    vector = unravelled(position, plan.vector_sizes, plan.order)
    return plan.element(vector, range_variable(lane) if plan.vector_width > 1 else constant(0)), bounds


def element_map(plan: LinearPlan) -> IndexingMap:
    """From threads to the index of their elements."""
    index, bounds = place(plan)
    ranges = [("vector_index", plan.vector_width)] if plan.vector_width > 1 else []
    return thread_map(plan.grid, plan.block, index, ranges, bounds)
