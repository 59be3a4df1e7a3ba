"""The kernel of a product of panels: tiles of the operands as panels, sums in registers, results."""

from __future__ import annotations

from math import prod

from indexing._core import SymbolicExpr
from indexing.hlo.layout import delinearize
from indexing.kernels.emitters.panels.match import NAME
from indexing.kernels.emitters.panels.plan import PanelPlan
from indexing.kernels.emitters.tile.shared_tile import TileBuilder
from indexing.kernels.epilogue import Heroes
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.ir.nodes import Buffer, Constant, Kernel, Load, MultiplyPanels
from indexing.kernels.launch import Part, built, inside, loop_over, thread_id
from indexing.kernels.vectors import lanes


def build_panels(match: Heroes, plan: PanelPlan) -> Kernel:
    """The kernel."""
    return built(NAME, match.first, match.parts, plan, lambda body: _Body(match, plan, body).build())


class _Body:
    """Builds the entry."""

    def __init__(self, match: Heroes, plan: PanelPlan, body: FunctionBuilder) -> None:
        self.plan, self.body = plan, body
        batch, row_tile, column_tile = delinearize(thread_id("bl_x"), plan.tiles)
        self.tile = TileBuilder(body, match, batch, prod(plan.block))
        self.begins = row_tile * plan.tile_rows, column_tile * plan.tile_columns
        self.panel = delinearize(thread_id("th_x"), plan.panels)
        for tile in plan.shared_tiles:
            body.kernel.add_buffer(tile.buffer)
        body.kernel.add_buffer(Buffer("sums", plan.product.sums, (plan.rows * plan.columns,), "local"))

    def build(self) -> None:
        """Build the loop along the sum, and the results."""
        body, plan = self.body, self.plan
        with loop_over(body, plan.rows * plan.columns, "register") as register:
            body.store("sums", (register,), Constant(plan.product.sums, 0))
        with loop_over(body, plan.steps, "step") as step:
            begin = step * plan.tile_depth
            with self.tile.step(begin, plan.tile_depth):
                for tile, free in zip(plan.shared_tiles, self.begins, strict=True):
                    self.tile.fill(tile, {"free": free, "sum": begin})
            body.barrier()
            with self.tile.step(begin, plan.tile_depth), inside(body, self._firsts()):
                body.add(self._multiply())
            if plan.steps > 1:
                body.barrier()
        self._finish()

    def _multiply(self) -> MultiplyPanels:
        plan, simplify = self.plan, self.body.scope.simplify
        left, right = (t.buffer.name for t in plan.shared_tiles)
        places = [
            simplify(at * side * plan.tile_depth)
            for at, side in zip(self.panel, (plan.rows, plan.columns), strict=True)
        ]
        zero = self.body.constant(0)
        return MultiplyPanels(plan.name, "sums", zero, left, places[0], right, places[1], plan.tile_depth)

    def _firsts(self) -> list[Part]:
        """The first row and the first column of a tile of sums, by which it is empty, or is not."""
        sizes = prod(self.plan.sizes.rows), prod(self.plan.sizes.columns)
        return [Part(place, size) for place, size in zip(self._places(), sizes, strict=True)]

    def _places(self) -> list[SymbolicExpr]:
        sides = self.plan.rows, self.plan.columns
        return [b + at * n for b, at, n in zip(self.begins, self.panel, sides, strict=True)]

    def _finish(self) -> None:
        """Build the epilogue and the stores of a tile of sums, row by row."""
        body, plan = self.body, self.plan
        rows, columns = prod(plan.sizes.rows), prod(plan.sizes.columns)
        row, column = self._places()
        with (
            loop_over(body, plan.rows, "i") as i,
            inside(body, [Part(row + i, rows)]) as (of_row,),
            lanes(body, plan.columns) as lane,
            inside(body, [Part(column + lane, columns)]) as (of_column,),
            body.base_scope(),
        ):
            self.tile.finish(self._sum(i * plan.columns + lane), of_row, of_column)

    def _sum(self, register: SymbolicExpr) -> Load:
        return Load(self.plan.product.sums, "sums", (self.body.scope.simplify(register),))
