"""The dot emitter: each thread computes a column of a few rows of a product of matrices.

Neighbouring threads have neighbouring columns. At each step along the contracting dimensions, a thread reads one element of
the right operand and uses it for all of its rows; the elements of the left operand are the same for all threads of a block.
Several steps are unrolled, so that, where threads become loops, an accumulator is loaded and stored once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, ClassVar

from indexing._core import SymbolicExpr, constant
from indexing.errors import IndexingError
from indexing.hlo.layout import delinearize, major_to_minor
from indexing.hlo.module_cache import cached_on_module
from indexing.kernels.epilogue import Heroes, single_hero_of
from indexing.kernels.knob_space import Condition, Knob, KnobSpace, Values
from indexing.kernels.launch import assembled, check_knob, entry_builder, guarded, loop_over, thread_id
from indexing.ops.dot import DOT
from indexing.ops.element.loops import multiply_add
from indexing.ops.element.moves import zero
from indexing.ops.element_context import Value
from indexing.ops.element_types import element_type
from indexing.ops.registry import traits_of

if TYPE_CHECKING:
    from indexing.device.limits import Limits
    from indexing.device.record import Device
    from indexing.hlo import Computation, Instruction
    from indexing.kernels.function_builder import FunctionBuilder
    from indexing.kernels.ir.nodes import Kernel
    from indexing.kernels.kernel_builder import Dim3
    from indexing.ops.element_context import Index

NAME = DOT.opcode
MIN_COLUMNS = 16
MIN_CONTRACTED = 4
BLOCK_SIZE = 128  # threads, by default at most
ROWS = (1, 2, 4, 8)
MIN_THREADS = 1 << 10  # with fewer threads, each takes fewer rows
UNROLLED_STEPS = 8


@dataclass(frozen=True, slots=True)
class Product:
    """The sizes of a product by role: `batch` of both operands, `rows` of the left one, `columns` of the right one,
    `contracted`.
    """

    batch: tuple[int, ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    contracted: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DotPlan:
    """Knobs and launch dimensions: `rows` per thread, `block_size` columns per block."""

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


def matches(computation: Computation) -> bool:
    """Whether every output follows one dot of floats with enough columns."""
    return match(computation) is not None


@cached_on_module
def match(computation: Computation) -> Heroes | None:
    """The hero; None if there is none, or several."""
    return single_hero_of(computation, _is_hero)


def _is_hero(i: Instruction) -> bool:
    if traits_of(i) is not DOT or element_type(i.shape.element_type).kind != "float":
        return False
    shapes = [i.shape, *(o.shape for o in i.operands)]
    if any(0 in s.dimensions for s in shapes) or major_to_minor(i.shape) != tuple(range(i.shape.rank)):
        return False
    p = product_of(i)
    return prod(p.columns) >= MIN_COLUMNS and prod(p.contracted) >= MIN_CONTRACTED


def product_of(dot: Instruction) -> Product:
    """The sizes of a dot."""
    (batch, lhs), (_, rhs) = _numbers(dot)
    left, right = (o.shape.dimensions for o in dot.operands)
    sizes = dot.shape.dimensions
    first = len(left) - len(lhs)
    return Product(
        tuple(left[d] for d in batch), sizes[len(batch) : first], sizes[first:], tuple(right[d] for d in rhs)
    )


def _numbers(dot: Instruction) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The batch and contracting dimensions of each operand."""
    return [(dot.ints(f"{side}_batch_dims"), dot.ints(f"{side}_contracting_dims")) for side in ("lhs", "rhs")]


def plan(
    computation: Computation, device: Device, *, rows: int | None = None, block_size: int | None = None
) -> DotPlan:
    """Launch dimensions.

    Knobs: `rows` per thread, 1, 2, 4 or 8; `block_size`, from 1 thread to the most of a block, each with one column.
    """
    found = match(computation)
    if found is None:
        raise IndexingError(f"{computation.name} has no dot that all outputs follow; the loop emitter takes it")
    p = product_of(found.first)
    most = device.limits.block_size
    if block_size is None:
        block_size = _default_block_size(prod(p.columns), min(BLOCK_SIZE, most))
    check_knob("block_size", block_size, 1, most)
    if rows is None:
        most = min(prod(p.rows), prod(found.first.shape.dimensions) // MIN_THREADS)
        rows = next((r for r in reversed(ROWS) if r <= most), 1)
    elif rows not in ROWS:
        raise IndexingError(f"rows is 1, 2, 4 or 8; got {rows}")
    return DotPlan(p, rows, block_size)


def _default_block_size(columns: int, most: int) -> int:
    """The largest size up to `most` that divides the columns; half of `most` if none above a quarter does."""
    return next((n for n in range(most, most // 4, -16) if columns % n == 0), min(columns, max(most // 2, 1)))


def knobs(computation: Computation, default: DotPlan, device: Device) -> KnobSpace:
    """Names, legal values and defaults of the knobs, and the sizes of blocks for which the grid is not too large."""
    limits = device.limits
    sizes: dict[tuple[int, ...], Values] = {
        (rows,): range(_least_block_size(replace(default, rows=rows), limits), limits.block_size + 1) for rows in ROWS
    }
    rows = tuple(r for r in ROWS if sizes[r,])
    widest = max(sizes.values(), key=len)
    return KnobSpace(
        NAME,
        (Knob("rows", rows, default.rows), Knob("block_size", widest, default.block_size)),
        (Condition("block_size", ("rows",), {(r,): sizes[r,] for r in rows}),),
    )


def _least_block_size(plan: DotPlan, limits: Limits) -> int:
    """The least number of columns of a block for which there are not too many blocks; beyond all limits if there is none."""
    batch, _, row_tiles = plan.tiles
    across = limits.grid[0] // (batch * row_tiles)
    return -(-prod(plan.product.columns) // across) if across else limits.block_size + 1


def kernel(computation: Computation, plan: DotPlan) -> Kernel:
    """The kernel."""
    found = match(computation)
    assert found is not None
    builder = found.kernel_builder(computation)
    body = entry_builder(builder, plan.grid, plan.block)
    _Body(body, found, plan).build()
    return assembled(builder, NAME, found.first, body, found.after, (plan.grid, plan.block))


class _Body:
    """Builds the entry."""

    def __init__(self, body: FunctionBuilder, found: Heroes, plan: DotPlan) -> None:
        self.body, self.found, self.plan = body, found, plan
        self.dot = found.first
        self.batch, self.column_tile, self.row_tile = delinearize(thread_id("bl_x"), plan.tiles)
        self.column = self.column_tile * plan.block_size + thread_id("th_x")

    def build(self) -> None:
        """Declare accumulators, accumulate, and finish each row."""
        body, p = self.body, self.plan.product
        with guarded(body, body.within(self.column, 0, prod(p.columns) - 1)), body.base_scope():
            self.column = body.named_index("column", self.column, 0, prod(p.columns) - 1)
            kind = self.dot.shape.element_type
            totals = [body.variable(kind, zero(body, kind)) for _ in range(self.plan.rows)]
            with body.unrounded():
                self._accumulate(totals)
            for row, total in zip(self._rows(), totals, strict=True):
                self._finish(row, body.let(kind, total))

    def _accumulate(self, totals: Sequence[Value]) -> None:
        count = prod(self.plan.product.contracted)
        whole, rest = divmod(count, UNROLLED_STEPS)
        if whole:
            with loop_over(self.body, whole, "step") as step, self.body.base_scope():
                for k in range(UNROLLED_STEPS):
                    self._add(totals, self.body.scope.simplify(step * UNROLLED_STEPS + k))
        for k in range(count - rest, count):
            self._add(totals, constant(k))

    def _add(self, totals: Sequence[Value], place: SymbolicExpr) -> None:
        """Build one step: an element of the right operand times one of the left operand for each row."""
        right = self._operand(1, self._index(self.plan.product.columns, self.column), place)
        for row, total in zip(self._rows(), totals, strict=True):
            left = self._operand(0, self._index(self.plan.product.rows, self._clamped(row)), place)
            self.body.assign(total, multiply_add(self.body, self.dot, [left, right], total))

    def _operand(self, k: int, free: Index, place: SymbolicExpr) -> Value:
        batch, contracting = _numbers(self.dot)[k]
        p = self.plan.product
        at = dict(zip(batch, self._index(p.batch, self.batch), strict=True))
        at |= dict(zip(contracting, self._index(p.contracted, place), strict=True))
        rest = iter(free)
        operand = self.dot.operands[k]
        index = tuple(at[d] if d in at else next(rest) for d in range(operand.shape.rank))
        return self.body.read(operand, index)

    def _index(self, sizes: Sequence[int], position: SymbolicExpr) -> Index:
        return tuple(map(self.body.scope.simplify, delinearize(position, sizes)))

    def _rows(self) -> Iterator[SymbolicExpr]:
        return (self.row_tile * self.plan.rows + k for k in range(self.plan.rows))

    def _clamped(self, row: SymbolicExpr) -> SymbolicExpr:
        """The row clamped to the last one: sums of rows beyond it are not stored."""
        last = prod(self.plan.product.rows) - 1
        return row if self.body.range(row).upper <= last else row.min(last)

    def _finish(self, row: SymbolicExpr, total: Value) -> None:
        """Build the value of one row, the epilogue and the stores, if the row exists."""
        body, p = self.body, self.plan.product
        with guarded(body, body.within(row, 0, prod(p.rows) - 1)), body.base_scope():
            found = self._clamped(row)
            index = (
                *self._index(p.batch, self.batch),
                *self._index(p.rows, found),
                *self._index(p.columns, self.column),
            )
            body.inject(self.dot, index, [total])
            self.found.build_after(body, index)
