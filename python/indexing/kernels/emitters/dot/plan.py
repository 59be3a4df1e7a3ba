"""Launch dimensions and knobs of a product of matrices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar

from indexing.device.limits import Limits
from indexing.device.record import Device
from indexing.hlo import Instruction
from indexing.kernels.emitters.dot.match import NAME, Product, planned_product
from indexing.kernels.epilogue import Heroes
from indexing.kernels.kernel_builder import Dim3
from indexing.kernels.knob_space import KnobSpace, Values, nested_space

BLOCK_SIZE = 128  # threads, by default at most
ROWS = (1, 2, 4, 8)
MIN_THREADS = 1 << 10  # with fewer threads, each takes fewer rows
BUSY = 16  # or with fewer than this part of the threads that a GPU holds


@dataclass(frozen=True, slots=True)
class DotPlan:
    """Knobs and launch dimensions: `rows` of a column per thread, `block_size` threads per block."""

    product: Product
    rows: int
    block_size: int
    shared_bytes: ClassVar[int] = 0

    @property
    def tiles(self) -> tuple[int, int, int]:
        """The numbers of blocks along the batch, the columns, and the rows."""
        p = self.product
        return prod(p.batch), -(-prod(p.columns) // self.block_size), -(-prod(p.rows) // self.rows)

    @property
    def grid(self) -> Dim3:
        """The blocks, in one dimension."""
        return (prod(self.tiles), 1, 1)

    @property
    def block(self) -> Dim3:
        """The threads of a block, in one dimension."""
        return (self.block_size, 1, 1)


def plan_dot(
    match: Heroes,
    device: Device,
    *,
    rows: int | None = None,
    block_size: int | None = None,
) -> DotPlan:
    """Launch dimensions.

    Knobs: `rows` per thread, 1, 2, 4 or 8; `block_size`, from 1 thread to the most of a block.
    """
    dot = match.first
    p = planned_product(dot)
    most = device.limits.block_size
    size = block_size or _default_block_size(prod(p.columns), min(BLOCK_SIZE, most))
    return DotPlan(p, rows or _default_rows(p, dot, device), size)


def _default_rows(p: Product, dot: Instruction, device: Device) -> int:
    """The most rows with which there are threads enough to wait for loads."""
    least = max(MIN_THREADS, device.cores.count * device.cores.threads // BUSY)
    most = min(prod(p.rows), prod(dot.shape.dimensions) // least)
    return next((r for r in reversed(ROWS) if r <= most), 1)


def _default_block_size(columns: int, most: int) -> int:
    """The largest size up to `most` that divides the columns; half of `most` if none above a quarter does."""
    return next((n for n in range(most, most // 4, -16) if columns % n == 0), min(columns, max(most // 2, 1)))


def dot_knobs(match: Heroes, default: DotPlan, device: Device) -> KnobSpace:
    """Names, legal values and defaults of the knobs, and the sizes of blocks for which the grid is not too large."""
    limits = device.limits
    sizes: dict[tuple[int, ...], Values] = {
        (r,): range(_least_block_size(replace(default, rows=r), limits), limits.block_size + 1) for r in ROWS
    }
    return nested_space(NAME, ("rows", "block_size"), default, sizes)


def _least_block_size(plan: DotPlan, limits: Limits) -> int:
    """The least number of threads of a block for which there are not too many blocks; beyond all limits if there is none."""
    batch, _, row_tiles = plan.tiles
    across = limits.grid[0] // (batch * row_tiles)
    return -(-prod(plan.product.columns) // across) if across else limits.block_size + 1
