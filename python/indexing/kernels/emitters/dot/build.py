"""The kernel of a product of matrices: a thread accumulates a column of a few rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from indexing._core import SymbolicExpr, constant
from indexing.hlo.layout import delinearize
from indexing.kernels.emitters.dot.match import NAME, operand_index, result_index
from indexing.kernels.emitters.dot.plan import DotPlan
from indexing.kernels.epilogue import Heroes
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.ir.nodes import Kernel
from indexing.kernels.launch import built, guarded, loop_over, thread_id
from indexing.ops.element.loops import multiply_add
from indexing.ops.element.moves import zero
from indexing.ops.element_context import Index, Value

UNROLLED_STEPS = 8


def build_dot(match: Heroes, plan: DotPlan) -> Kernel:
    """The kernel."""
    return built(NAME, match.first, match.parts, plan, lambda body: _Body(body, match, plan).build())


class _Body:
    """Builds the entry."""

    def __init__(self, body: FunctionBuilder, match: Heroes, plan: DotPlan) -> None:
        self.body, self.match, self.plan = body, match, plan
        self.dot = match.first
        self.batch, self.column_tile, self.row_tile = delinearize(thread_id("bl_x"), plan.tiles)
        self.column = self.column_tile * plan.block_size + thread_id("th_x")

    def build(self) -> None:
        """Declare accumulators, accumulate, and finish each row."""
        body, p = self.body, self.plan.product
        with guarded(body, body.within(self.column, 0, prod(p.columns) - 1)), body.base_scope():
            self.column = body.named_index("column", self.column, 0, prod(p.columns) - 1)
            kind = self.dot.shape.element_type
            totals = [body.variable(kind, zero(body, kind)) for _ in range(self.plan.rows)]
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
        p = self.plan.product
        of_left, of_right = p.operands
        right = self._operand(of_right, self._index(p.columns, self.column), place)
        for row, total in zip(self._rows(), totals, strict=True):
            left = self._operand(of_left, self._index(p.rows, self._clamped(row)), place)
            with self.body.unrounded():
                self.body.assign(total, multiply_add(self.body, self.dot, [left, right], total))

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

    def _finish(self, row: SymbolicExpr, total: Value) -> None:
        """Build the value of one row, the epilogue and the stores, if the row exists."""
        body, p = self.body, self.plan.product
        with guarded(body, body.within(row, 0, prod(p.rows) - 1)), body.base_scope():
            clamped = self._clamped(row)
            parts = ((p.batch, self.batch), (p.rows, clamped), (p.columns, self.column))
            index = result_index(self.dot, p, *(self._index(n, at) for n, at in parts))
            body.inject(self.dot, index, [total])
            self.match.build_after(body, index)
