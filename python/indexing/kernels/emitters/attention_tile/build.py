"""The kernel of an attention by matrix instructions. The law of its rows is that of `attention/build.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import inf, prod

from indexing._core import SymbolicExpr, constant
from indexing.hlo import Instruction
from indexing.hlo.layout import delinearize
from indexing.kernels.emitters.attention.match import Attention
from indexing.kernels.emitters.attention.space import AttentionSpace
from indexing.kernels.emitters.attention_tile.match import NAME
from indexing.kernels.emitters.attention_tile.plan import AttentionTilePlan
from indexing.kernels.emitters.tile.fragments import load_fragments
from indexing.kernels.emitters.tile.shared_tile import SharedTile, TileCopies, position
from indexing.kernels.emitters.tile.steps import Steps
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.ir.fragments import COLUMNS, LANES, ROWS, SUM, SUM_OF_WORD, MatrixInstruction
from indexing.kernels.ir.memory import WORDS
from indexing.kernels.ir.nodes import Buffer, Constant, GroupReduce, Kernel, MatrixMultiply, Op, Ref, WaitCopies
from indexing.kernels.launch import Part, built, inside, loop_over, thread_id
from indexing.kernels.vectors import lanes
from indexing.ops.element_context import Value

ROW_LANES = 4  # neighbouring lanes that have the elements of a row
HALVES = 2  # rows of a thread in a fragment: one in each half
PAIR = 2  # neighbouring columns of a row that a thread has


def build_attention_tile(match: Attention, plan: AttentionTilePlan) -> Kernel:
    """The kernel."""
    return built(NAME, match.product, match.parts, plan, lambda body: _Body(match, plan, body).build())


class _Body:
    """Builds the entry."""

    def __init__(self, match: Attention, plan: AttentionTilePlan, body: FunctionBuilder) -> None:
        """Declare the tiles and the registers of a thread."""
        self.match, self.plan, self.body = match, plan, body
        batch, row_tile = delinearize(thread_id("bl_x"), plan.tiles)
        self.lane = thread_id("th_x") % LANES
        self.warp_row = thread_id("th_x") // LANES * ROWS  # the warp's first row in the block's tile
        self.first_row = row_tile * plan.rows
        self.copies, self.space = TileCopies(body, plan.threads), AttentionSpace(match, body, batch)
        self.queries, *of_step = plan.shared_tiles
        self.stages = [[replace(t, name=f"{t.name}{s or ''}", stage=s) for t in of_step] for s in range(plan.stages)]
        self.blocks = {"scores": plan.keys // COLUMNS, "sums": plan.columns // COLUMNS}  # fragments side by side
        for buffer in (
            *(t.buffer for tiles in ([self.queries], *self.stages) for t in tiles),
            *(Buffer(name, "u32", (WORDS["loaded"],), "local") for name in ("left", "right")),
            Buffer("weights", "u32", (plan.keys // plan.instructions[1].depth * WORDS["left"],), "local"),
            *(Buffer(name, "f32", (n * WORDS["accumulator"],), "local") for name, n in self.blocks.items()),
        ):
            body.kernel.add_buffer(buffer)

    def build(self) -> None:
        """Build the steps along the keys, and the results."""
        body, plan = self.body, self.plan
        self.copies.fill(self.queries, self.space.queries, {"free": self.first_row, "sum": constant(0)})
        self.largest = [body.variable("f32", body.number("f32", -inf)) for _ in range(HALVES)]
        self.total = [body.variable("f32", body.number("f32", 0)) for _ in range(HALVES)]
        self._clear("sums")
        Steps(body, plan.steps, plan.stages, self._copy, self._step).build()
        self._combine(self.match.softmax.total, self.total)
        self._finish()

    def _copy(self, step: SymbolicExpr, stage: int) -> None:
        """Copy the keys and values of a step to a stage of shared memory."""
        first, (keys, values) = step * self.plan.keys, self.stages[stage]
        self.copies.fill(keys, self.space.keys, {"free": first, "sum": constant(0)})
        self.copies.fill(values, self.space.values, {"free": constant(0), "sum": first})
        if self.plan.stages == 1:
            self.body.add(WaitCopies())

    def _step(self, step: SymbolicExpr, stage: int, copy: Callable[[], None]) -> None:
        """Copy the keys and values of a later step, and build the sums with those of a step, which a stage has."""
        copy()
        keys, values = self.stages[stage]
        self._score(step * self.plan.keys, keys)
        self._weigh()
        self._add(values)

    def _clear(self, sums: str) -> None:
        with loop_over(self.body, self.blocks[sums] * WORDS["accumulator"], "register") as register:
            self.body.store(sums, (register,), Constant("f32", 0))

    # ------------------------------------------------------------ scores

    def _score(self, first: SymbolicExpr, keys: SharedTile) -> None:
        """Build the logits of the step that begins at the key `first`."""
        body, instruction = self.body, self.plan.instructions[0]
        self._clear("scores")
        with loop_over(body, self.plan.depth_parts, "part") as part:
            along = part * instruction.depth
            load_fragments(body, self.queries, instruction, (self.warp_row, along), constant(0))
            self._multiply("scores", "left", constant(0), (keys, instruction, along))
        for half in range(HALVES):
            row = self._row(half)

            def with_row(of_row: SymbolicExpr, half: int = half) -> None:
                self._logits(of_row, half, first)

            def without_row(half: int = half) -> None:
                with self._each(half, "scores") as (register, _):
                    self.body.keep("scores", register, body.number("f32", -inf))

            self.copies.either(Part(row, prod(self.plan.sizes.rows)), with_row, without_row)

    def _multiply(
        self,
        sums: str,
        left: str,
        word: SymbolicExpr,
        right: tuple[SharedTile, MatrixInstruction, SymbolicExpr],
    ) -> None:
        """Build the product of a fragment and a part of a tile `along` the sum, in pairs of fragments of its columns."""
        body, (tile, instruction, along) = self.body, right
        with loop_over(body, self.blocks[sums] // 2, "pair") as pair:
            load_fragments(body, tile, instruction, (pair * 2 * COLUMNS, along), constant(0))
            with loop_over(body, 2, "block") as block:
                total = (pair * 2 + block) * WORDS["accumulator"]
                registers = block * WORDS["right"]
                body.add(MatrixMultiply(instruction.name, sums, total, left, word, "right", registers))

    def _row(self, half: int) -> SymbolicExpr:
        """The row of a thread in one half of its fragments."""
        return self.first_row + self.warp_row + position(SUM, self.lane, constant(half * PAIR))

    def _logits(self, row: SymbolicExpr, half: int, first: SymbolicExpr) -> None:
        """Build the logits of a row, in the place of its scores; beyond the last key, -inf, whose exponential is 0."""
        body, count = self.body, prod(self.plan.sizes.contracted)
        with self._each(half, "scores") as (register, column):
            score = self._loaded("scores", register)

            def with_key(key: SymbolicExpr) -> None:
                self.body.keep("scores", register, self.space.logit(row, key, score))

            def without_key() -> None:
                self.body.keep("scores", register, body.number("f32", -inf))

            self.copies.either(Part(first + column, count), with_key, without_key)

    # ------------------------------------------------------------ rows

    def _weigh(self) -> None:
        """Build the step's weights in the place of its logits, and rescale what was summed before."""
        body = self.body
        before = [self.body.named(v) for v in self.largest]
        for half, largest in enumerate(self.largest):
            with self._each(half, "scores") as (register, _):
                body.assign(largest, self.op("maximum", largest, self._loaded("scores", register)))
        self._combine(self.match.softmax.maximum, self.largest)
        for half, (largest, total) in enumerate(zip(self.largest, self.total, strict=True)):
            base = self.space.base(largest)
            factor = self.space.rescaling(before[half], base)
            body.assign(total, self.op("mul", total, factor))
            with self._each(half, "scores") as (register, _):
                weight = self.body.named(self.op("exp", self.op("sub", self._loaded("scores", register), base)))
                self.body.keep("scores", register, weight)
                body.assign(total, self.op("add", total, weight))
            with self._each(half, "sums") as (register, _):
                self.body.keep("sums", register, self.op("mul", self._loaded("sums", register), factor))

    def _combine(self, reduction: Instruction, values: Sequence[Value]) -> None:
        """Combine the values of a row's lanes in all of them."""
        kinds = (reduction.shape.element_type,)
        combiner = self.body.kernel.combiner(reduction.computation_of("to_apply"), kinds)
        for value in values:
            assert isinstance(value.node, Ref)
            self.body.add(GroupReduce((value.node.name,), ("f32",), combiner, ROW_LANES, 1, to_all=True))

    # ------------------------------------------------------------ sums

    def _add(self, values: SharedTile) -> None:
        """Build the sums with the step's weights times values; two neighbouring fragments of weights are one left factor."""
        body, instruction = self.body, self.plan.instructions[1]
        with loop_over(body, self.plan.keys // instruction.depth, "part") as part:
            with loop_over(body, WORDS["left"], "word") as word:
                places = [[position(SUM_OF_WORD, word, constant(e), result=k) for k in range(2)] for e in range(PAIR)]
                pair = [self._loaded("scores", (part * 2 + block) * WORDS["accumulator"] + r) for block, r in places]
                self._store_word(part * WORDS["left"] + word, pair, instruction.element_types[0])
            self._multiply("sums", "weights", part * WORDS["left"], (values, instruction, part * instruction.depth))

    def _store_word(self, place: SymbolicExpr, pair: Sequence[Value], kind: str) -> None:
        low, high = (Op("convert", "u32", (self.body.stored(kind, v),)) for v in pair)
        word = Op("or", "u32", (low, Op("shl", "u32", (high, Constant("u32", 16)))))
        self.body.store("weights", (self.body.scope.simplify(place),), word)

    def _finish(self) -> None:
        """Build the values of a thread's sums, what follows them, and the stores."""
        body, p = self.body, self.plan.sizes
        columns = prod(p.columns)
        width = PAIR if columns % PAIR == 0 else 1
        for half in range(HALVES):
            with inside(body, [Part(self._row(half), prod(p.rows))]) as (row,), body.base_scope():
                maximum, total, factor = self.space.finished_row(row, self.largest[half], self.total[half])
                with (
                    loop_over(body, self.blocks["sums"], "block") as block,
                    loop_over(body, PAIR // width, "turn") as turn,
                ):
                    first = block * COLUMNS + position(SUM, self.lane, turn * width, result=1)
                    with (
                        inside(body, [Part(first // width, columns // width)]) as (vector,),
                        lanes(body, width) as lane,
                        body.base_scope(),
                    ):
                        register = block * WORDS["accumulator"] + half * PAIR + turn * width + lane
                        exponentials = self.body.named(self.op("mul", self._loaded("sums", register), factor))
                        self.space.finish(row, vector * width + lane, (maximum, total, exponentials))

    # ------------------------------------------------------------ parts

    @contextmanager
    def _each(self, half: int, buffer: str) -> Iterator[tuple[SymbolicExpr, SymbolicExpr]]:
        """Run the block for the register and the column of each element of a thread's row in a buffer."""
        body = self.body
        with (
            loop_over(body, self.blocks[buffer], "block") as block,
            loop_over(body, PAIR, "lane") as lane,
            body.base_scope(),
        ):
            register = half * PAIR + lane
            column = position(SUM, self.lane, register, result=1)
            yield block * WORDS["accumulator"] + register, block * COLUMNS + column

    def _loaded(self, buffer: str, place: SymbolicExpr) -> Value:
        return self.body.element(buffer, "f32", place)

    def op(self, opcode: str, *operands: Value) -> Value:
        """An operation on values of f32."""
        return self.body.op(opcode, "f32", *operands)
