"""The kernel of a tile of a product: tiles of the operands to shared memory, fragments to registers, products, results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import gcd, prod

from indexing._core import IndexingMap, SymbolicExpr, constant
from indexing.hlo.layout import delinearize
from indexing.kernels.emitters.tile.fragments import load_fragments
from indexing.kernels.emitters.tile.match import NAME
from indexing.kernels.emitters.tile.plan import TilePlan
from indexing.kernels.emitters.tile.shared_tile import TileBuilder, position
from indexing.kernels.emitters.tile.splits import SharedSums
from indexing.kernels.emitters.tile.steps import Steps
from indexing.kernels.epilogue import Heroes
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.ir.fragments import COLUMNS, LANES, ROWS, SUM
from indexing.kernels.ir.memory import WORDS
from indexing.kernels.ir.nodes import Buffer, Kernel, Load, MatrixMultiply
from indexing.kernels.launch import Part, built, inside, loop_over, thread_id
from indexing.kernels.vectors import lanes

PAIR = 2  # neighbouring columns of a sum in one thread


def build_tile(match: Heroes, plan: TilePlan) -> Kernel:
    """The kernel."""
    return built(NAME, match.first, match.parts, plan, lambda body: _Body(match, plan, body).build())


class _Body:
    """Builds the entry."""

    def __init__(self, match: Heroes, plan: TilePlan, body: FunctionBuilder) -> None:
        self.plan, self.body, self.instruction = plan, body, plan.instruction
        self.shared = SharedSums(body, plan)
        batch, self.row_tile, self.column_tile = self.shared.tile
        self.tile = TileBuilder(body, match, batch, plan.block[0])
        self.lane = thread_id("th_x") % LANES
        warps = delinearize(thread_id("th_x") // LANES, plan.warps)
        self.corner = [w * n for w, n in zip(warps, plan.warp_tile, strict=True)]  # of the warp in the block's tile
        self.counts = plan.warp_tile[0] // ROWS, plan.warp_tile[1] // COLUMNS  # products of a warp
        self.stages = [[replace(t, stage=s) for t in plan.shared_tiles] for s in range(plan.stages)]
        self.parts = plan.tile_depth // self.instruction.depth
        self.halves = min(self.parts, 2)  # of the local buffers, in which the fragments of parts are by turns
        for tile in (t for stage in self.stages for t in stage):
            body.kernel.add_buffer(tile.buffer)
        for name, count in zip(("left", "right"), self.counts, strict=True):
            body.kernel.add_buffer(Buffer(name, "u32", (self.halves * count * WORDS[name],), "local"))

    def build(self) -> None:
        """Build the loop along the sum, and the results."""
        body = self.body
        sums = self.shared.declare(self.instruction.accumulator, prod(self.counts) * WORDS["accumulator"])
        Steps(body, self.plan.steps, self.plan.stages, self._copy, self._multiply_step).build()
        with self.shared.combined(sums):
            self._finish()

    def _copy(self, step: SymbolicExpr, stage: int) -> None:
        """Copy the tiles of a step to a stage of shared memory."""
        begins = self.row_tile * self.plan.tile_rows, self.column_tile * self.plan.tile_columns
        self.tile.copy_step(self.stages[stage], begins, self.shared.begin_of(step), self.plan.tile_depth)

    def _at(self, m: IndexingMap, *values: SymbolicExpr, result: int = 0) -> SymbolicExpr:
        """A result of a map, simplified."""
        return self.body.scope.simplify(position(m, *values, result=result))

    # ------------------------------------------------------------ products

    def _multiply_step(self, step: SymbolicExpr, stage: int, copy: Callable[[], None]) -> None:
        """Multiply the tiles of a step in a stage of shared memory, and copy those of a later step behind the first loads."""
        begin, depth = self.shared.begin_of(step), self.plan.tile_depth
        if self.tile.may_be_left_out(begin, depth):
            copy()
            with self.tile.step(begin, depth):
                self._multiply(stage, lambda: None)
        else:
            self._multiply(stage, copy)

    def _multiply(self, stage: int, copy: Callable[[], None]) -> None:
        """Load fragments and multiply them, along the tile's depth; the next ones are loaded before products of the last."""
        body, (rows, columns) = self.body, self.counts
        self._load(stage, 0)
        copy()
        for part in range(self.parts):
            if part + 1 < self.parts:
                self._load(stage, part + 1)
            begins = self._half(part)
            with loop_over(body, rows, "i") as i, loop_over(body, columns, "j") as j:
                total = (i * columns + j) * WORDS["accumulator"]
                a, b = begins[0] + i * WORDS["left"], begins[1] + j * WORDS["right"]
                body.add(MatrixMultiply(self.instruction.name, "sums", total, "left", a, "right", b))

    def _load(self, stage: int, part: int) -> None:
        """Load the fragments of a part of the tile's depth."""
        body, (rows, columns) = self.body, self.counts
        (left, right), begins, depth = self.stages[stage], self._half(part), constant(part * self.instruction.depth)
        with loop_over(body, rows, "i") as i:
            place = self.corner[0] + i * ROWS, depth
            load_fragments(body, left, self.instruction, place, begins[0] + i * WORDS["left"])
        with loop_over(body, columns // 2, "j") as j:
            place = self.corner[1] + j * 2 * COLUMNS, depth
            load_fragments(body, right, self.instruction, place, begins[1] + j * WORDS["loaded"])

    def _half(self, part: int) -> tuple[int, int]:
        """The first registers of the fragments of a part, of both factors."""
        half = part % self.halves
        return half * self.counts[0] * WORDS["left"], half * self.counts[1] * WORDS["right"]

    # ------------------------------------------------------------ results

    def _finish(self) -> None:
        """Build the epilogue and the stores of the sums of a thread, by neighbouring columns."""
        body, p, (rows, columns) = self.body, self.plan.product, self.counts
        together = 2 if self.plan.interleaves_columns else 1  # fragments whose columns alternate
        run = PAIR * together
        width = gcd(prod(p.columns), run)
        with (
            loop_over(body, rows, "i") as i,
            loop_over(body, columns // together, "j") as j,
            loop_over(body, WORDS["accumulator"] // PAIR, "half") as half,
            loop_over(body, run // width, "part") as part,
        ):
            row, column = (self._at(SUM, self.lane, half * PAIR, result=k) for k in range(2))
            row = self.row_tile * self.plan.tile_rows + self.corner[0] + i * ROWS + row
            column = (j * COLUMNS + column) * together + part * width
            column = self.column_tile * self.plan.tile_columns + self.corner[1] + column
            parts = [Part(row, prod(p.rows)), Part(column // width, prod(p.columns) // width)]
            with inside(body, parts) as (at, vector), lanes(body, width) as lane, body.base_scope():
                place = part * width + lane
                fragment = i * columns + j * together + place % together
                total = fragment * WORDS["accumulator"] + half * PAIR + place // together
                held = Load(self.instruction.accumulator, "sums", (body.scope.simplify(total),))
                self.tile.finish(held, at, body.scope.simplify(vector * width + lane))
