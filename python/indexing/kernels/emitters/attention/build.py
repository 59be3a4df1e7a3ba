"""The kernel of an attention: steps along the keys, in which a block keeps the sums of its rows.

Let m be the largest logit of a row so far, and b = m where m is finite, else 0. A row keeps m, the total of exp(x - b) of its
logits x, and the sums of these times values. Where m rises, total and sums are multiplied by exp(b - b') once (Milakov and
Gimelshein, Online normalizer calculation for softmax, 2018; Dao et al., FlashAttention, 2022). In the end, exp(b - shift) makes
them those of the program, whatever it subtracts: rows that are -inf or +inf everywhere have its NaN, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf, prod

from indexing._core import SymbolicExpr, constant
from indexing.hlo.layout import delinearize
from indexing.kernels.emitters.attention.match import NAME, Attention
from indexing.kernels.emitters.attention.plan import AttentionPlan
from indexing.kernels.emitters.attention.space import AttentionSpace
from indexing.kernels.emitters.tile.shared_tile import SharedTile, TileCopies, position
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.ir.nodes import Buffer, Constant, Kernel, MultiplyPanels
from indexing.kernels.launch import Part, built, inside, loop_over, thread_id
from indexing.kernels.vectors import lanes
from indexing.ops.element_context import Value


def build_attention(match: Attention, plan: AttentionPlan) -> Kernel:
    """The kernel."""
    return built(NAME, match.product, match.parts, plan, lambda body: _Body(match, plan, body).build())


class _Body:
    """Builds the entry."""

    def __init__(self, match: Attention, plan: AttentionPlan, body: FunctionBuilder) -> None:
        """Declare the tiles, the sums of a thread, and the numbers of each row."""
        self.match, self.plan, self.body, self.kind = match, plan, body, plan.element_type
        self.batch, row_tile = delinearize(thread_id("bl_x"), plan.tiles)
        self.first_row = row_tile * plan.rows
        self.copies = TileCopies(body, plan.threads)
        self.space = AttentionSpace(match, body, self.batch)
        self.queries, (self.keys, self.values) = plan.queries, plan.keyed
        panel = prod(plan.panel)
        for buffer in (
            *(t.buffer for t in (self.queries, self.keys, self.values)),
            Buffer("logits", self.kind, (plan.rows * plan.keys,), "shared"),
            *(Buffer(name, self.kind, (plan.rows,), "shared") for name in ("largest", "total", "factor")),
            *(Buffer(name, self.kind, (panel,), "local") for name in ("scores", "sums")),
        ):
            body.kernel.add_buffer(buffer)

    def build(self) -> None:
        """Build the steps along the keys, and the results."""
        body = self.body
        self.copies.fill(self.queries, self.space.queries, {"free": self.first_row, "sum": constant(0)})
        self._start()
        with loop_over(body, self.plan.steps, "step") as step:
            first = step * self.plan.keys
            self.copies.fill(self.keys, self.space.keys, {"free": first, "sum": constant(0)})
            body.barrier()
            self._score(first)
            self.copies.fill(self.values, self.space.values, {"free": constant(0), "sum": first})
            body.barrier()
            self._weigh()
            body.barrier()
            self._add()
        body.barrier()
        self._end_rows()
        body.barrier()
        self._finish()

    def _start(self) -> None:
        """Build empty rows: no logit, no sum."""
        with self._each_row() as row:
            self.body.keep("largest", row, self.number(-inf))
            self.body.keep("total", row, self.number(0))
        self._clear("sums")

    def _clear(self, sums: str) -> None:
        with loop_over(self.body, prod(self.plan.panel), "register") as register:
            self.body.store(sums, (register,), Constant(self.kind, 0))

    # ------------------------------------------------------------ scores

    def _score(self, first: SymbolicExpr) -> None:
        """Build the logits of the step that begins at the key `first`: a thread takes panels of their sums."""
        body, plan = self.body, self.plan
        pairs = plan.row_panels, plan.key_panels
        with loop_over(body, -(-prod(pairs) // plan.threads), "turn") as turn:
            number = body.scope.simplify(turn * plan.threads + thread_id("th_x"))
            with inside(body, [Part(number, prod(pairs))]) as (at,):
                row, key = (body.scope.simplify(p) for p in delinearize(at, pairs))
                self._clear("scores")
                self._multiply("scores", (self.queries.buffer.name, plan.depth), self.keys, row, key)
                with loop_over(body, plan.panel[0], "i") as i, body.base_scope():
                    self._store_logits(row * plan.panel[0] + i, i * plan.panel[1], key * plan.panel[1], first)

    def _store_logits(self, row: SymbolicExpr, register: SymbolicExpr, key: SymbolicExpr, first: SymbolicExpr) -> None:
        """Store the logits of a row for a panel of keys; beyond the last row or key, -inf, whose exponential is 0."""
        body, width, p = self.body, self.plan.panel[1], self.plan.sizes

        def with_row(of_row: SymbolicExpr) -> None:
            with lanes(body, width) as lane, body.base_scope():
                place = row * self.plan.keys + key + lane

                def with_key(of_key: SymbolicExpr) -> None:
                    score = self._loaded("scores", register + lane)
                    self.body.keep("logits", place, self.space.logit(of_row, of_key, score))

                keys = Part(first + key + lane, prod(p.contracted))
                self.copies.either(keys, with_key, lambda: self.body.keep("logits", place, self.number(-inf)))

        def without_row() -> None:
            with lanes(body, width) as lane:
                self.body.keep("logits", row * self.plan.keys + key + lane, self.number(-inf))

        self.copies.either(Part(self.first_row + row, prod(p.rows)), with_row, without_row)

    # ------------------------------------------------------------ rows

    def _weigh(self) -> None:
        """Build the step's weights of each row, in the place of its logits, and the factor of what was summed before."""
        keys = self.plan.keys
        with self._each_row() as row:
            before = self._loaded("largest", row)

            def largest_of(place: SymbolicExpr, so_far: Value) -> Value:
                return self._larger(so_far, self._loaded("logits", row * keys + place))

            largest = self._reduced(self._larger, before, -inf, largest_of)
            base = self.space.base(largest)
            factor = self.space.rescaling(before, base)

            def added(place: SymbolicExpr, so_far: Value) -> Value:
                weight = self.body.named(
                    self.op("exp", self.op("sub", self._loaded("logits", row * keys + place), base))
                )
                self.body.keep("logits", row * keys + place, weight)
                return self._sum(so_far, weight)

            total = self._reduced(self._sum, self.op("mul", self._loaded("total", row), factor), 0, added)
            for name, value in (("largest", largest), ("total", total), ("factor", factor)):
                self.body.keep(name, row, value)

    def _reduced(
        self,
        combined: Callable[[Value, Value], Value],
        start: Value,
        neutral: float,
        with_key: Callable[[SymbolicExpr, Value], Value],
    ) -> Value:
        """Build a reduction over the keys of a step, side by side over those of a panel, in the place of scores."""
        body, width = self.body, self.plan.panel[1]
        with lanes(body, width) as lane:
            self.body.keep("scores", lane, self.number(neutral))
        with loop_over(body, self.plan.key_panels, "panel") as panel, lanes(body, width) as lane, body.base_scope():
            self.body.keep("scores", lane, with_key(panel * width + lane, self._loaded("scores", lane)))
        parts = [self._loaded("scores", constant(lane)) for lane in range(width)]
        while len(parts) > 1:
            half = len(parts) // 2
            parts = [self.body.named(combined(*pair)) for pair in zip(parts[:half], parts[half:], strict=True)]
        return self.body.named(combined(start, *parts))

    def _larger(self, a: Value, b: Value) -> Value:
        return self.body.op("maximum", self.kind, a, b)

    def _sum(self, a: Value, b: Value) -> Value:
        return self.body.op("add", self.kind, a, b)

    def _end_rows(self) -> None:
        """Build the reductions of the program for each row, and the factor of its sums."""
        body, count = self.body, prod(self.plan.sizes.rows)
        with self._each_row() as row, inside(body, [Part(self.first_row + row, count)]) as (of_row,), body.base_scope():
            largest, total = self._loaded("largest", row), self._loaded("total", row)
            numbers = self.space.finished_row(of_row, largest, total)
            for name, value in zip(("largest", "total", "factor"), numbers, strict=True):
                self.body.keep(name, row, value)

    # ------------------------------------------------------------ sums

    def _add(self) -> None:
        """Build the sums of a thread, rescaled, with the step's weights times values."""
        plan = self.plan
        row, column = delinearize(thread_id("th_x"), (plan.row_panels, plan.value_panels))
        with self._each_sum() as (i, lane):
            register = i * plan.panel[1] + lane
            factor = self._loaded("factor", row * plan.panel[0] + i)
            self.body.keep("sums", register, self.op("mul", self._loaded("sums", register), factor))
        self._multiply("sums", ("logits", plan.keys), self.values, row, column)

    def _multiply(
        self, sums: str, left: tuple[str, int], right: SharedTile, row: SymbolicExpr, column: SymbolicExpr
    ) -> None:
        """Build the sums of a panel of rows, of a buffer whose rows have so many elements, and of columns of a tile."""
        body, (rows, columns) = self.body, self.plan.panel
        buffer, depth = left
        begin = body.scope.simplify(row * rows * depth)
        if self.plan.panel_product is not None:
            place, zero = body.scope.simplify(column * columns * depth), constant(0)
            body.add(
                MultiplyPanels(self.plan.panel_product, sums, zero, buffer, begin, right.buffer.name, place, depth)
            )
            return
        for name, size in (("left", rows), ("right", columns)):
            body.kernel.add_buffer(Buffer(name, self.kind, (size,), "local"))
        with loop_over(body, depth, "k") as k:
            cell = body.scope.simplify(position(right.place, k, column * columns)) // columns
            named = body.named_index(body.fresh("cell"), cell, 0, right.buffer.size // columns - 1)
            with lanes(body, columns) as lane:
                self.body.keep("right", lane, self._loaded(right.buffer.name, named * columns + lane))
            with loop_over(body, rows, "i") as i:
                self.body.keep("left", i, self._loaded(buffer, begin + i * depth + k))
            with loop_over(body, rows, "i") as i, loop_over(body, columns, "j") as j:
                register = i * columns + j
                factors = self._loaded("left", i), self._loaded("right", j)
                self.body.keep(sums, register, self.op("mul_add", *factors, self._loaded(sums, register)))

    def _finish(self) -> None:
        """Build the values of a thread's sums, what follows them, and the stores."""
        body, plan, p = self.body, self.plan, self.plan.sizes
        panel = delinearize(thread_id("th_x"), (plan.row_panels, plan.value_panels))
        with (
            loop_over(body, plan.panel[0], "i") as i,
            inside(body, [Part(self.first_row + panel[0] * plan.panel[0] + i, prod(p.rows))]) as (of_row,),
            lanes(body, plan.panel[1]) as lane,
            inside(body, [Part(panel[1] * plan.panel[1] + lane, prod(p.columns))]) as (of_column,),
            body.base_scope(),
        ):
            row = panel[0] * plan.panel[0] + i
            largest, total, factor = (self._loaded(name, row) for name in ("largest", "total", "factor"))
            exponentials = self.body.named(self.op("mul", self._loaded("sums", i * plan.panel[1] + lane), factor))
            self.space.finish(of_row, of_column, (largest, total, exponentials))

    # ------------------------------------------------------------ parts

    @contextmanager
    def _each_row(self) -> Iterator[SymbolicExpr]:
        """Run the block for the rows of a thread."""
        body, plan = self.body, self.plan
        with loop_over(body, -(-plan.rows // plan.threads), "turn") as turn:
            number = body.scope.simplify(turn * plan.threads + thread_id("th_x"))
            with inside(body, [Part(number, plan.rows)]) as (row,), body.base_scope():
                yield row

    @contextmanager
    def _each_sum(self) -> Iterator[tuple[SymbolicExpr, SymbolicExpr]]:
        """Run the block for the row and the column of each sum of a panel."""
        rows, columns = self.plan.panel
        with loop_over(self.body, rows, "i") as i, lanes(self.body, columns) as lane, self.body.base_scope():
            yield i, lane

    def _loaded(self, buffer: str, place: SymbolicExpr) -> Value:
        return self.body.element(buffer, self.kind, place)

    def number(self, value: float) -> Value:
        """A constant of the type of the sums."""
        return self.body.number(self.kind, value)

    def op(self, opcode: str, *operands: Value) -> Value:
        """An operation of the type of the sums."""
        return self.body.op(opcode, self.kind, *operands)
