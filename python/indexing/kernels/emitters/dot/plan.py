"""Launch dimensions and knobs of a product of matrices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, ClassVar

from indexing.errors import IndexingError
from indexing.kernels.emitters.dot.match import NAME, Product, fastest, planned_product
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.knob_space import Condition, Knob, KnobSpace, Values
from indexing.kernels.launch import check_knob
from indexing.kernels.vectors import WIDTHS, check_width, widest_vector

if TYPE_CHECKING:
    from indexing.device.limits import Limits
    from indexing.device.record import Device
    from indexing.hlo import Instruction
    from indexing.kernels.epilogue import Heroes
    from indexing.kernels.kernel_builder import Dim3

BLOCK_SIZE = 128  # threads, by default at most
ROWS = (1, 2, 4, 8)
MAX_WIDTH = 8
MIN_VECTORS = 1 << 15  # with fewer threads, vectors are narrower
MIN_THREADS = 1 << 10  # with fewer threads, each takes fewer rows
BUSY = 16  # or with fewer than this part of the threads that a GPU holds


@dataclass(frozen=True, slots=True)
class DotPlan:
    """Knobs and launch dimensions: `rows` and `vector_width` columns per thread, `block_size` threads per block."""

    product: Product
    rows: int
    block_size: int
    vector_width: int = 1
    shared_bytes: ClassVar[int] = 0

    @property
    def tiles(self) -> tuple[int, int, int]:
        """The numbers of blocks along the batch, the columns, and the rows."""
        p = self.product
        vectors = prod(p.columns) // self.vector_width
        return prod(p.batch), -(-vectors // self.block_size), -(-prod(p.rows) // self.rows)

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
    vector_width: int | None = None,
    block_size: int | None = None,
) -> DotPlan:
    """Launch dimensions.

    Knobs: `rows` per thread, 1, 2, 4 or 8; `vector_width`, its neighbouring columns, 1, 2, 4 or 8, which divides all columns;
    `block_size`, from 1 thread to the most of a block.
    """
    dot = match.first
    p = planned_product(dot)
    most = device.limits.block_size
    if rows is None:
        rows = _default_rows(p, dot, device)
    elif rows not in ROWS:
        raise IndexingError(f"rows is 1, 2, 4 or 8; got {rows}")
    if vector_width is None:
        vector_width = _default_width(p, dot, rows)
    check_width(vector_width, prod(p.columns))
    if block_size is None:
        block_size = _default_block_size(prod(p.columns) // vector_width, min(BLOCK_SIZE, most))
    check_knob("block_size", block_size, 1, most)
    return DotPlan(p, rows, block_size, vector_width)


def _default_rows(p: Product, dot: Instruction, device: Device) -> int:
    """The most rows with which there are threads enough to wait for loads."""
    least = max(MIN_THREADS, device.cores.count * device.cores.threads // BUSY)
    most = min(prod(p.rows), prod(dot.shape.dimensions) // least)
    return next((r for r in reversed(ROWS) if r <= most), 1)


def _default_width(p: Product, dot: Instruction, rows: int) -> int:
    """The columns of a vector of the right operand, if its columns are neighbours in memory."""
    right = p.operands[1]
    if fastest(dot, right)[0] != "free":
        return 1
    columns = prod(p.columns)
    threads = prod(p.batch) * -(-prod(p.rows) // rows) * columns
    return widest_vector(
        MAX_WIDTH, storage_bytes(dot.operands[right].shape.element_type), threads, [columns], MIN_VECTORS
    )


def _default_block_size(columns: int, most: int) -> int:
    """The largest size up to `most` that divides the columns; half of `most` if none above a quarter does."""
    return next((n for n in range(most, most // 4, -16) if columns % n == 0), min(columns, max(most // 2, 1)))


def dot_knobs(match: Heroes, default: DotPlan, device: Device) -> KnobSpace:
    """Names, legal values and defaults of the knobs, and the sizes of blocks for which the grid is not too large."""
    limits, columns = device.limits, prod(default.product.columns)
    widths = tuple(w for w in WIDTHS if w <= MAX_WIDTH and columns % w == 0)
    sizes: dict[tuple[int, ...], Values] = {
        (r, w): range(_least_block_size(replace(default, rows=r, vector_width=w), limits), limits.block_size + 1)
        for r in ROWS
        for w in widths
    }
    rows = tuple(r for r in ROWS if sizes[r, 1])
    widest = max(sizes.values(), key=len)
    knobs = (
        Knob("rows", rows, default.rows),
        Knob("vector_width", widths, default.vector_width),
        Knob("block_size", widest, default.block_size),
    )
    legal: dict[tuple[int, ...], Values] = {(r, w): sizes[r, w] for r in rows for w in widths}
    return KnobSpace(NAME, knobs, (Condition("block_size", ("rows", "vector_width"), legal),))


def _least_block_size(plan: DotPlan, limits: Limits) -> int:
    """The least number of threads of a block for which there are not too many blocks; beyond all limits if there is none."""
    batch, _, row_tiles = plan.tiles
    across = limits.grid[0] // (batch * row_tiles)
    return -(-(prod(plan.product.columns) // plan.vector_width) // across) if across else limits.block_size + 1
