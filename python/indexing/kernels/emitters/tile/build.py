"""The kernel of a tile of a product: tiles of the operands to shared memory, fragments to registers, products, results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from math import prod
from typing import TYPE_CHECKING

from indexing._core import IndexingMap, SymbolicExpr, constant
from indexing.hlo.layout import delinearize
from indexing.kernels.emitters.dot.match import operand_index
from indexing.kernels.emitters.tile.match import NAME
from indexing.kernels.ir.fragments import COLUMNS, LANES, LINES, ROWS, SUM
from indexing.kernels.ir.memory import WORDS
from indexing.kernels.ir.nodes import Buffer, Constant, Load, LoadMatrices, MatrixMultiply
from indexing.kernels.ir.types import storage_type
from indexing.kernels.launch import Part, assembled, entry_builder, inside, loop_over, thread_id
from indexing.kernels.vectors import lanes
from indexing.ops.element_context import Value

if TYPE_CHECKING:
    from indexing.kernels.emitters.tile.plan import SharedTile, TilePlan
    from indexing.kernels.epilogue import Heroes
    from indexing.kernels.function_builder import FunctionBuilder
    from indexing.kernels.ir.nodes import Kernel
    from indexing.ops.element_context import Index

MATRICES, PAIR = 4, 2  # loaded together; neighbouring columns of a sum in one thread


def build_tile(match: Heroes, plan: TilePlan) -> Kernel:
    """The kernel."""
    builder = match.kernel_builder()
    body = entry_builder(builder, plan.grid, plan.block)
    _Body(match, plan, body).build()
    return assembled(builder, NAME, match.first, body, match.after, (plan.grid, plan.block))


class _Body:
    """Builds the entry."""

    def __init__(self, match: Heroes, plan: TilePlan, body: FunctionBuilder) -> None:
        self.match, self.plan, self.body = match, plan, body
        self.dot, self.instruction = match.first, plan.instruction
        self.batch, self.row_tile, self.column_tile = delinearize(thread_id("bl_x"), plan.tiles)
        self.lane = thread_id("th_x") % LANES
        warps = delinearize(thread_id("th_x") // LANES, plan.warps)
        self.corner = [w * n for w, n in zip(warps, plan.warp_tile, strict=True)]  # of the warp in the block's tile
        self.counts = plan.warp_tile[0] // ROWS, plan.warp_tile[1] // COLUMNS  # products of a warp
        kind = self.instruction.element_type
        for tile in plan.shared_tiles:
            self._buffer(f"{tile.side}_tile", kind, tile.lines * tile.run, "shared")
        self._buffer("left", "u32", self.counts[0] * WORDS["left"], "local")
        self._buffer("right", "u32", self.counts[1] * WORDS["right"], "local")
        self.sums = prod(self.counts) * WORDS["accumulator"]
        self._buffer("sums", self.instruction.accumulator, self.sums, "local")

    def _buffer(self, name: str, kind: str, size: int, space: str) -> None:
        self.body.kernel.add_buffer(Buffer(name, kind, (size,), space))  # type: ignore[arg-type]

    def build(self) -> None:
        """Build the loop along the sum, and the results."""
        body = self.body
        with loop_over(body, self.sums, "register") as register:
            body.store("sums", (register,), Constant(self.instruction.accumulator, 0))
        with loop_over(body, self.plan.steps, "step") as step:
            for k, tile in enumerate(self.plan.shared_tiles):
                self._fill(k, tile, step)
            body.barrier()
            self._multiply()
            if self.plan.steps > 1:
                body.barrier()
        self._finish()

    # ------------------------------------------------------------ operands to shared memory

    def _fill(self, k: int, tile: SharedTile, step: SymbolicExpr) -> None:
        """Copy a tile of an operand: each thread takes vectors along the dimension in which they are neighbours."""
        body, plan = self.body, self.plan
        width = tile.run if tile.reads == tile.fast else tile.lines
        height = tile.lines * tile.run // width
        vectors = width // tile.vector
        count, threads = height * vectors, plan.threads
        with loop_over(body, -(-count // threads), "turn") as turn:
            number = body.scope.simplify(turn * threads + thread_id("th_x"))
            with inside(body, [Part(number, count)]) as (at,):
                self._fill_vector(k, tile, step, body.scope.simplify(at // vectors), body.scope.simplify(at % vectors))

    def _fill_vector(
        self, k: int, tile: SharedTile, step: SymbolicExpr, slow: SymbolicExpr, vector: SymbolicExpr
    ) -> None:
        body, plan, p = self.body, self.plan, self.plan.sizes
        of_block = (self.row_tile * plan.tile_rows, self.column_tile * plan.tile_columns)[k]
        starts = {"free": of_block, "sum": step * plan.tile_depth}
        sizes = {"free": prod((p.rows, p.columns)[k]), "sum": prod(p.contracted)}
        along, across = tile.reads, "free" if tile.reads == "sum" else "sum"
        first = body.scope.simplify(starts[along] + vector * tile.vector)

        place = self._places(tile, slow, vector)
        parts = [starts[across] + slow, first // tile.vector]
        mapped = body.mapped(IndexingMap.identity([sizes[across], sizes[along] // tile.vector]), tuple(parts))
        with ExitStack() as stack:
            if mapped.conditions:
                stack.enter_context(body.when(mapped.conditions))
            line, whole = body.inside(mapped.index, [sizes[across], sizes[along] // tile.vector])
            with lanes(body, tile.vector) as lane, body.base_scope():
                at = {along: whole * tile.vector + lane, across: line}
                value = self._operand(k, at["free"], at["sum"])
                kind = self.dot.operands[k].shape.element_type
                body.store(f"{tile.side}_tile", place(lane), body.stored(kind, value))
        if mapped.conditions:
            with body.otherwise(), lanes(body, tile.vector) as lane:
                body.store(f"{tile.side}_tile", place(lane), Constant(storage_type(self.instruction.element_type), 0))

    def _places(self, tile: SharedTile, slow: SymbolicExpr, vector: SymbolicExpr) -> Callable[[SymbolicExpr], Index]:
        """The places in a tile of the lanes of a vector: neighbours, if its lines are along the dimension that is read."""
        width = tile.vector
        if tile.reads != tile.fast:
            return lambda lane: (self._at(tile.place, vector * width + lane, slow),)
        first = self._at(tile.place, slow, vector * width) // width
        cell = self.body.named_index(f"{tile.side}_cell", first, 0, tile.lines * tile.run // width - 1)
        return lambda lane: (cell * width + lane,)

    def _operand(self, k: int, free: SymbolicExpr, place: SymbolicExpr) -> Value:
        p = self.plan.sizes
        own = self._index((p.rows, p.columns)[k], free)
        index = operand_index(self.dot, k, self._index(p.batch, self.batch), own, self._index(p.contracted, place))
        return self.body.read(self.dot.operands[k], index)

    def _index(self, sizes: Sequence[int], position: SymbolicExpr) -> Index:
        return tuple(map(self.body.scope.simplify, delinearize(position, sizes)))

    def _at(self, m: IndexingMap, *values: SymbolicExpr, result: int = 0) -> SymbolicExpr:
        """A result of a map, simplified."""
        return self.body.scope.simplify(m.results[result].replace_variables(list(values)))

    # ------------------------------------------------------------ products

    def _multiply(self) -> None:
        """Load fragments and multiply them, along the tile's depth."""
        body, (rows, columns) = self.body, self.counts
        left, right = self.plan.shared_tiles
        with loop_over(body, self.plan.tile_depth // self.instruction.depth, "part") as part:
            depth = part * self.instruction.depth
            with loop_over(body, rows, "i") as i:
                self._load(left, i * WORDS["left"], i * ROWS, depth)
            with loop_over(body, columns // 2, "j") as j:
                self._load(right, j * MATRICES, j * 2 * COLUMNS, depth)
            with loop_over(body, rows, "i") as i, loop_over(body, columns, "j") as j:
                total = (i * columns + j) * WORDS["accumulator"]
                a, b = i * WORDS["left"], j * WORDS["right"]
                body.add(MatrixMultiply(self.instruction.element_type, "sums", total, "left", a, "right", b))

    def _load(self, tile: SharedTile, register: SymbolicExpr, free: SymbolicExpr, depth: SymbolicExpr) -> None:
        """Load four matrices, the registers of a fragment of the left tile, or of two of the right one.

        A matrix begins at the element that lane 0 gets; each lane gives the place of one of its lines.
        """
        matrix, line = self.lane // LINES, self.lane % LINES
        zero = constant(0)
        if tile.side == "left":
            fragment, begin = self.instruction.left, [zero, matrix, zero]
            own = self.corner[0] + free
        else:
            fragment, begin = self.instruction.right, [zero, matrix % 2, zero]
            own = self.corner[1] + free + matrix // 2 * COLUMNS
        own = own + self._at(fragment, *begin)
        along = depth + self._at(fragment, *begin, result=1)
        at = (along + line, own) if tile.is_transposed else (own + line, along)
        place = self._at(tile.place, *at)
        self.body.add(LoadMatrices(tile.side, register, f"{tile.side}_tile", place, tile.piece, tile.is_transposed))

    # ------------------------------------------------------------ results

    def _finish(self) -> None:
        """Build the epilogue and the stores of the sums of a thread, in pairs of neighbouring columns."""
        body, p, (rows, columns) = self.body, self.plan.sizes, self.counts
        pair = PAIR if prod(p.columns) % PAIR == 0 else 1
        halves = WORDS["accumulator"] // pair
        with (
            loop_over(body, rows, "i") as i,
            loop_over(body, columns, "j") as j,
            loop_over(body, halves, "half") as half,
        ):
            register = half * pair
            row, column = (self._at(SUM, self.lane, register, result=k) for k in range(2))
            row = self.row_tile * self.plan.tile_rows + self.corner[0] + i * ROWS + row
            column = self.column_tile * self.plan.tile_columns + self.corner[1] + j * COLUMNS + column
            parts = [Part(row, prod(p.rows)), Part(column // pair, prod(p.columns) // pair)]
            with inside(body, parts) as (at, vector), lanes(body, pair) as lane, body.base_scope():
                total = (i * columns + j) * WORDS["accumulator"] + register + lane
                self._finish_element(total, at, body.scope.simplify(vector * pair + lane))

    def _finish_element(self, register: SymbolicExpr, row: SymbolicExpr, column: SymbolicExpr) -> None:
        body, p, kind = self.body, self.plan.sizes, self.dot.shape.element_type
        held = Load(self.instruction.accumulator, "sums", (body.scope.simplify(register),))
        index = (*self._index(p.batch, self.batch), *self._index(p.rows, row), *self._index(p.columns, column))
        body.inject(self.dot, index, [body.let(kind, Value(held, kind))])
        self.match.build_after(body, index)
