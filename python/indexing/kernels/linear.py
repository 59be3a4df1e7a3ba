"""One-dimensional launches: each thread takes a vector of neighbouring elements of an array, in memory order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import lcm, prod
from typing import ClassVar

from indexing._core import SymbolicExpr
from indexing.device.limits import Limits
from indexing.device.record import Device
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.kernel_builder import Dim3
from indexing.kernels.knob_space import Knob
from indexing.kernels.launch import position_in_grid, unravelled
from indexing.kernels.targets import TARGETS
from indexing.kernels.vectors import LANES, WIDTHS
from indexing.ops.element_context import Index

BLOCK_SIZE = 128  # threads
# Where threads become loops, which end at the ends of rows, blocks have whole rows, of at most MAX_IN_ROWS elements together;
# if no number of short rows divides theirs, at most MAX_SHORT_ROW elements each, whole vectors of them.
MAX_IN_ROWS, MAX_SHORT_ROW = 640, 15


@dataclass(frozen=True, slots=True)
class LinearPlan:
    """Launch dimensions: `count` vectors of `vector_width` elements of an array of `sizes`, in blocks of `block_size` threads.

    `order` has the array's dimensions in memory order, slowest first; vectors are along the last one.
    """

    sizes: tuple[int, ...]
    order: tuple[int, ...]
    vector_width: int
    block_size: int
    shared_bytes: ClassVar[int] = 0

    @property
    def count(self) -> int:
        """The number of threads that have a vector."""
        return prod(self.vector_sizes)

    @property
    def fast(self) -> int | None:
        """The fastest dimension in memory; None for a scalar."""
        return self.order[-1] if self.order else None

    @property
    def vector_sizes(self) -> tuple[int, ...]:
        """The array's sizes, in vectors."""
        return tuple(s // self.vector_width if d == self.fast else s for d, s in enumerate(self.sizes))

    @property
    def grid(self) -> Dim3:
        """The blocks, in one dimension."""
        return (-(-self.count // self.block_size), 1, 1)

    @property
    def block(self) -> Dim3:
        """The threads of a block, in one dimension."""
        return (self.block_size, 1, 1)

    def element(self, vector: Sequence[SymbolicExpr], lane: SymbolicExpr) -> list[SymbolicExpr]:
        """The index of an element, given that of its vector, and its lane."""
        return [e * self.vector_width + lane if d == self.fast else e for d, e in enumerate(vector)]


def block_of_rows(sizes: Sequence[int], device: Device) -> int:
    """The threads of a block by default, for vectors of these sizes, slowest first: BLOCK_SIZE, unless that would cut rows that
    threads become loops over. A block then has as many rows as divide the size around them, and their place is that of one row.
    """
    row = sizes[-1] if sizes else 1
    is_uncut = not 1 < row <= MAX_IN_ROWS or BLOCK_SIZE % row == 0 or row % BLOCK_SIZE == 0
    if is_uncut or 0 in sizes or TARGETS[device.dialect].has_threads:
        return min(BLOCK_SIZE, device.limits.block_size)
    most = min(MAX_IN_ROWS, device.limits.block_size)
    block = 1
    for size in reversed(sizes):
        part = max(n for n in range(1, min(size, most // block) + 1) if size % n == 0)
        block *= part
        if part < size:
            break
    vectors = lcm(row, LANES)
    return vectors * (BLOCK_SIZE // vectors) if row <= MAX_SHORT_ROW and 2 * block < BLOCK_SIZE <= most else block


def linear_block_size(count: int, limits: Limits, default: int = BLOCK_SIZE) -> int:
    """The threads of a block for at most `count` threads: `default`, more only if the grid would be too large."""
    return min(max(default, least_block_size(count, limits)), limits.block_size)


def least_block_size(count: int, limits: Limits) -> int:
    """The threads of a block without which a grid for `count` threads would be too large."""
    return max(-(-count // limits.grid[0]), 1)


def linear_knobs(default: LinearPlan, divides: int, limits: Limits) -> tuple[Knob, Knob]:
    """The knobs for threads per block, bounded below by the largest grid, and for vector widths, which divide `divides`."""
    threads = range(least_block_size(prod(default.sizes), limits), limits.block_size + 1)
    widths = tuple(w for w in WIDTHS if divides % w == 0)
    return Knob("block_size", threads, default.block_size, "block"), Knob("vector_width", widths, default.vector_width)


@contextmanager
def vector_index(body: FunctionBuilder, plan: LinearPlan) -> Iterator[Index]:
    """Run the block for the index of the thread's vector, if it has one."""
    with position_in_grid(body, plan.count, plan.block_size) as position:
        yield tuple(map(body.scope.simplify, unravelled(position, plan.vector_sizes, plan.order)))
