"""The kernel of a product of matrices: a thread accumulates a few rows of a column, or of a vector of columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING

from indexing._core import SymbolicExpr, constant
from indexing.hlo.layout import delinearize
from indexing.kernels.emitters.dot.match import NAME, operand_index
from indexing.kernels.ir.nodes import Buffer, Load
from indexing.kernels.ir.types import compute_type
from indexing.kernels.launch import assembled, entry_builder, guarded, loop_over, thread_id
from indexing.kernels.vectors import lanes
from indexing.ops.element.loops import multiply_add
from indexing.ops.element.moves import zero
from indexing.ops.element_context import Value

if TYPE_CHECKING:
    from indexing.kernels.emitters.dot.plan import DotPlan
    from indexing.kernels.epilogue import Heroes
    from indexing.kernels.function_builder import FunctionBuilder
    from indexing.kernels.ir.nodes import Kernel
    from indexing.ops.element_context import Index

UNROLLED_STEPS = 8


def build_dot(match: Heroes, plan: DotPlan) -> Kernel:
    """The kernel."""
    builder = match.kernel_builder()
    body = entry_builder(builder, plan.grid, plan.block)
    _Body(body, match, plan).build()
    return assembled(builder, NAME, match.first, body, match.after, (plan.grid, plan.block))


class _Body:
    """Builds the entry."""

    def __init__(self, body: FunctionBuilder, match: Heroes, plan: DotPlan) -> None:
        self.body, self.match, self.plan = body, match, plan
        self.dot = match.first
        self.batch, self.column_tile, self.row_tile = delinearize(thread_id("bl_x"), plan.tiles)
        self.vector = self.column_tile * plan.block_size + thread_id("th_x")
        self.width = plan.vector_width
        kind = compute_type(self.dot.shape.element_type)
        if self.width > 1:
            for name, k, size in (("left", 0, plan.rows * UNROLLED_STEPS), ("right", 1, self.width)):
                body.kernel.add_buffer(Buffer(name, compute_type(self._factor_type(k)), (size,), "local"))
            body.kernel.add_buffer(Buffer("sums", kind, (self.width,), "local"))

    def build(self) -> None:
        """Declare accumulators, accumulate, and finish each row."""
        body, vectors = self.body, prod(self.plan.product.columns) // self.width
        with guarded(body, body.within(self.vector, 0, vectors - 1)), body.base_scope():
            self.vector = body.named_index("column", self.vector, 0, vectors - 1)
            kind = self.dot.shape.element_type
            totals = [[body.variable(kind, zero(body, kind)) for _ in range(self.width)] for _ in range(self.plan.rows)]
            self._accumulate(totals)
            for row, sums in zip(self._rows(), totals, strict=True):
                self._finish(row, sums)

    def _accumulate(self, totals: Sequence[Sequence[Value]]) -> None:
        count = prod(self.plan.product.contracted)
        whole, rest = divmod(count, UNROLLED_STEPS)
        if whole:
            with loop_over(self.body, whole, "step") as step, self.body.base_scope():
                self._add_together(totals, step * UNROLLED_STEPS)
        for k in range(count - rest, count):
            self._add(totals, constant(k), [self._left(row, constant(k)) for row in self._rows()])

    def _add_together(self, totals: Sequence[Sequence[Value]], first: SymbolicExpr) -> None:
        """Build several steps; with vectors, the elements of the left operand in all of them are loaded together."""
        body, rows = self.body, list(self._rows())
        for number, row in enumerate(rows) if self.width > 1 else ():
            with lanes(body, UNROLLED_STEPS) as lane:
                self._keep("left", lane + number * UNROLLED_STEPS, self._left(row, first + lane))
        for k in range(UNROLLED_STEPS):
            place = body.scope.simplify(first + k)
            if self.width == 1:
                self._add(totals, place, [self._left(row, place) for row in rows])
            else:
                self._add(totals, place, [self._held("left", 0, n * UNROLLED_STEPS + k) for n in range(len(rows))])

    def _add(self, totals: Sequence[Sequence[Value]], place: SymbolicExpr, lefts: Sequence[Value]) -> None:
        """Build one step: elements of the right operand times one of the left operand for each row."""
        rights = self._rights(place)
        for left, sums in zip(lefts, totals, strict=True):
            for right, total in zip(rights, sums, strict=True):
                with self.body.unrounded():
                    self.body.assign(total, multiply_add(self.body, self.dot, [left, right], total))

    def _rights(self, place: SymbolicExpr) -> list[Value]:
        """The elements of the right operand in the thread's columns."""
        if self.width == 1:
            return [self._right(self.vector, place)]
        with lanes(self.body, self.width) as lane:
            self._keep("right", lane, self._right(self.vector * self.width + lane, place))
        return [self._held("right", 1, k) for k in range(self.width)]

    def _left(self, row: SymbolicExpr, place: SymbolicExpr) -> Value:
        p = self.plan.product
        return self._operand(p.operands[0], self._index(p.rows, self._clamped(row)), place)

    def _right(self, column: SymbolicExpr, place: SymbolicExpr) -> Value:
        p = self.plan.product
        return self._operand(p.operands[1], self._index(p.columns, column), place)

    def _factor_type(self, side: int) -> str:
        return self.dot.operands[self.plan.product.operands[side]].shape.element_type

    def _keep(self, buffer: str, at: SymbolicExpr, value: Value) -> None:
        self.body.store(buffer, (self.body.scope.simplify(at),), self.body.node(value))

    def _held(self, buffer: str, side: int, at: int) -> Value:
        """An element of an operand that is held in a register."""
        kind = self._factor_type(side)
        return Value(self.body.name(Load(compute_type(kind), buffer, (constant(at),))), kind)

    def _operand(self, k: int, free: Index, place: SymbolicExpr) -> Value:
        p = self.plan.product
        index = operand_index(self.dot, k, self._index(p.batch, self.batch), free, self._index(p.contracted, place))
        return self.body.read(self.dot.operands[k], index)

    def _index(self, sizes: Sequence[int], position: SymbolicExpr) -> Index:
        return tuple(map(self.body.scope.simplify, delinearize(position, sizes)))

    def _rows(self) -> Iterator[SymbolicExpr]:
        return (self.row_tile * self.plan.rows + k for k in range(self.plan.rows))

    def _clamped(self, row: SymbolicExpr) -> SymbolicExpr:
        """The row clamped to the last one: sums of rows beyond it are not stored."""
        last = prod(self.plan.product.rows) - 1
        return row if self.body.range(row).upper <= last else row.min(last)

    def _finish(self, row: SymbolicExpr, sums: Sequence[Value]) -> None:
        """Build the values of one row, the epilogue and the stores, if the row exists."""
        body, p, kind = self.body, self.plan.product, self.dot.shape.element_type
        with guarded(body, body.within(row, 0, prod(p.rows) - 1)), body.base_scope():
            clamped = self._clamped(row)
            for k, total in enumerate(sums) if self.width > 1 else ():
                self._keep("sums", constant(k), total)
            with lanes(body, self.width) as lane:
                total = Value(Load(compute_type(kind), "sums", (lane,)), kind) if self.width > 1 else sums[0]
                parts = ((p.batch, self.batch), (p.rows, clamped), (p.columns, self.vector * self.width + lane))
                index = p.result_index(*(self._index(n, at) for n, at in parts))
                body.inject(self.dot, index, [body.let(kind, total)])
                self.match.build_after(body, index)
