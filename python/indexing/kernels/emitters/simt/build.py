"""The kernel of a product in registers: tiles of the operands to shared memory, vectors of these to registers, results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import gcd, prod

from indexing._core import SymbolicExpr
from indexing.hlo.layout import delinearize
from indexing.kernels.emitters.simt.match import NAME
from indexing.kernels.emitters.simt.plan import SimtPlan
from indexing.kernels.emitters.tile.shared_tile import SharedTile, TileBuilder, position
from indexing.kernels.emitters.tile.splits import SharedSums
from indexing.kernels.emitters.tile.steps import Steps
from indexing.kernels.epilogue import Heroes
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.ir.nodes import Buffer, Kernel, Load
from indexing.kernels.launch import Part, built, inside, loop_over, thread_id
from indexing.kernels.vectors import lanes
from indexing.ops.element.loops import multiply_add
from indexing.ops.element_context import Value


def build_simt(match: Heroes, plan: SimtPlan) -> Kernel:
    """The kernel."""
    return built(NAME, match.first, match.parts, plan, lambda body: _Body(match, plan, body).build())


@dataclass(frozen=True, slots=True)
class _ThreadSide:
    """The rows, or the columns, of a tile that a thread has: `count` of them, as one of so many `threads`, with the number
    `own`; in vectors of `piece`, or one by one, if the tile's lines are along the sum.
    """

    tile: SharedTile
    count: int
    threads: int
    own: SymbolicExpr
    piece: int

    @property
    def has_vectors(self) -> bool:
        """Whether neighbours in the tile are rows or columns."""
        return self.tile.fast == "free"

    @property
    def held(self) -> int:
        """The elements of the tile in registers at once."""
        return self.count if self.has_vectors else self.count * self.piece

    def place(self, k: SymbolicExpr) -> SymbolicExpr:
        """The row or column of the thread's `k`-th one in the tile."""
        if not self.has_vectors:
            return k * self.threads + self.own
        return (k // self.piece * self.threads + self.own) * self.piece + k % self.piece

    def register(self, k: SymbolicExpr, along: SymbolicExpr) -> SymbolicExpr:
        """The register of the `k`-th one at a place along the sum in a piece."""
        return k if self.has_vectors else k * self.piece + along


class _Body:
    """Builds the entry."""

    def __init__(self, match: Heroes, plan: SimtPlan, body: FunctionBuilder) -> None:
        self.plan, self.body, self.dot = plan, body, match.first
        self.shared = SharedSums(body, plan)
        batch, row_tile, column_tile = self.shared.tile
        self.begins = row_tile * plan.tile_rows, column_tile * plan.tile_columns
        self.tile = TileBuilder(body, match, batch, prod(plan.block))
        self.stages = [self._sides(stage) for stage in range(plan.stages)]
        for side in (side for stage in self.stages for side in stage):
            body.kernel.add_buffer(side.tile.buffer)
        for side in self.stages[0]:
            body.kernel.add_buffer(Buffer(side.tile.side, plan.element_type, (side.held,), "local"))

    def _sides(self, stage: int) -> list[_ThreadSide]:
        plan = self.plan
        own = delinearize(thread_id("th_x"), plan.threads)
        tiles = (replace(t, stage=stage) for t in plan.shared_tiles)
        counts = plan.thread_rows, plan.thread_columns
        return [_ThreadSide(*of, plan.piece) for of in zip(tiles, counts, plan.threads, own, strict=True)]

    def build(self) -> None:
        """Build the loop along the sum, and the results."""
        body, plan = self.body, self.plan
        sums = self.shared.declare(plan.element_type, plan.thread_rows * plan.thread_columns)
        Steps(body, plan.steps, plan.stages, self._copy, self._multiply_step).build()
        with self.shared.combined(sums):
            self._finish()

    def _copy(self, step: SymbolicExpr, stage: int) -> None:
        """Copy the tiles of a step to a stage of shared memory."""
        tiles = (side.tile for side in self.stages[stage])
        self.tile.copy_step(tiles, self.begins, self.shared.begin_of(step), self.plan.tile_depth)

    # ------------------------------------------------------------ products

    def _multiply_step(self, step: SymbolicExpr, stage: int, copy: Callable[[], None]) -> None:
        """Copy the tiles of a later step, and multiply those of a step in a stage of shared memory."""
        copy()
        with self.tile.step(self.shared.begin_of(step), self.plan.tile_depth):
            self._multiply(stage)

    def _multiply(self, stage: int) -> None:
        """Load the thread's rows and columns, and multiply them, along the tile's depth."""
        body, plan, sides = self.body, self.plan, self.stages[stage]
        with loop_over(body, plan.tile_depth // plan.piece, "part") as part:
            first = part * plan.piece
            for side in (s for s in sides if not s.has_vectors):
                with loop_over(body, side.count, "line") as line:
                    self._load(side, position(side.tile.place, side.place(line), first), line)
            with loop_over(body, plan.piece, "k") as k:
                for side in (s for s in sides if s.has_vectors):
                    with loop_over(body, side.count // plan.piece, "vector") as vector:
                        at = side.place(vector * plan.piece)
                        self._load(side, position(side.tile.place, first + k, at), vector)
                self._add(sides, k)

    def _load(self, side: _ThreadSide, place: SymbolicExpr, vector: SymbolicExpr) -> None:
        """Load the vector at a place of a tile."""
        body, tile, width = self.body, side.tile, self.plan.piece
        cell = body.scope.simplify(place // width)
        named = body.named_index(body.fresh(f"{tile.side}_cell"), cell, 0, tile.buffer.size // width - 1)
        with lanes(body, width) as lane:
            self.body.keep(tile.side, vector * width + lane, self._held(tile.buffer.name, named * width + lane))

    def _add(self, sides: list[_ThreadSide], along: SymbolicExpr) -> None:
        """Add the products at a place along the sum."""
        body, (left, right) = self.body, sides
        with loop_over(body, left.count, "i") as i, loop_over(body, right.count, "j") as j, body.unrounded():
            factors = [self._held(s.tile.side, s.register(n, along)) for s, n in ((left, i), (right, j))]
            register = i * right.count + j
            self.body.keep("sums", register, multiply_add(body, self.dot, factors, self._held("sums", register)))

    # ------------------------------------------------------------ results

    def _finish(self) -> None:
        """Build the epilogue and the stores of the sums of a thread, in vectors of neighbouring columns."""
        body, p, (left, right) = self.body, self.plan.product, self.stages[0]
        width = gcd(right.piece, prod(p.columns)) if right.has_vectors else 1
        with loop_over(body, left.count, "i") as i, loop_over(body, right.count // width, "j") as j:
            row = self.begins[0] + left.place(i)
            column = body.scope.simplify(self.begins[1] + right.place(j * width))
            parts = [Part(row, prod(p.rows)), Part(column // width, prod(p.columns) // width)]
            with inside(body, parts) as (at, vector), lanes(body, width) as lane, body.base_scope():
                total = Load(self.plan.element_type, "sums", (body.scope.simplify(i * right.count + j * width + lane),))
                self.tile.finish(total, at, body.scope.simplify(vector * width + lane))

    def _held(self, buffer: str, at: SymbolicExpr) -> Value:
        """An element of a buffer, as a value of the result's type."""
        return Value(self.body.element(buffer, self.plan.element_type, at).node, self.dot.shape.element_type)
