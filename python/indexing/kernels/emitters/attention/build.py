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
from typing import TYPE_CHECKING

from indexing._core import SymbolicExpr, constant
from indexing.hlo.layout import delinearize
from indexing.kernels.emitters.attention.match import NAME
from indexing.kernels.emitters.dot.match import operand_index, product_of
from indexing.kernels.emitters.tile.shared_tile import SharedTile, TileCopies, TileOperand, position
from indexing.kernels.ir.nodes import Buffer, Constant, Load, MultiplyPanels
from indexing.kernels.kernel_builder import KernelBuilder
from indexing.kernels.launch import Part, assembled, entry_builder, inside, loop_over, thread_id
from indexing.kernels.vectors import lanes
from indexing.ops.element_context import Value
from indexing.ops.softmax import operand_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexing.hlo import Instruction
    from indexing.kernels.emitters.attention.match import Attention
    from indexing.kernels.emitters.attention.plan import AttentionPlan
    from indexing.kernels.function_builder import FunctionBuilder
    from indexing.kernels.ir.nodes import Kernel
    from indexing.ops.element_context import Index


def build_attention(match: Attention, plan: AttentionPlan) -> Kernel:
    """The kernel."""
    builder = KernelBuilder(match.computation, match.parts)
    body = entry_builder(builder, plan.grid, plan.block)
    _Body(match, plan, body).build()
    return assembled(builder, NAME, match.product, body, match.after.after, (plan.grid, plan.block))


class _Body:
    """Builds the entry."""

    def __init__(self, match: Attention, plan: AttentionPlan, body: FunctionBuilder) -> None:
        """Declare the tiles, the sums of a thread, and the numbers of each row."""
        self.match, self.plan, self.body, self.kind = match, plan, body, plan.element_type
        self.batch, row_tile = delinearize(thread_id("bl_x"), plan.tiles)
        self.first_row = row_tile * plan.rows
        self.copies = TileCopies(body, plan.threads)
        self.space = _Space(match, body, self.batch)
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
            self._keep("largest", row, self.number(-inf))
            self._keep("total", row, self.number(0))
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
                    self._keep("logits", place, self.space.logit(of_row, of_key, score))

                keys = Part(first + key + lane, prod(p.contracted))
                self.copies.either(keys, with_key, lambda: self._keep("logits", place, self.number(-inf)))

        def without_row() -> None:
            with lanes(body, width) as lane:
                self._keep("logits", row * self.plan.keys + key + lane, self.number(-inf))

        self.copies.either(Part(self.first_row + row, prod(p.rows)), with_row, without_row)

    # ------------------------------------------------------------ rows

    def _weigh(self) -> None:
        """Build the step's weights of each row, in the place of its logits, and the factor of what was summed before."""
        body, keys = self.body, self.plan.keys
        with self._each_row() as row:
            before = self._loaded("largest", row)

            def largest_of(place: SymbolicExpr, so_far: Value) -> Value:
                return self._larger(so_far, self._loaded("logits", row * keys + place))

            largest = self._reduced(self._larger, before, -inf, largest_of)
            base = self._named(self._base(largest))
            rescaled = self.op("exp", self.op("sub", self._base(before), base))
            is_empty = body.op("eq", "pred", before, self.number(-inf))
            factor = self._named(self.op("select", is_empty, self.number(1), rescaled))

            def added(place: SymbolicExpr, so_far: Value) -> Value:
                weight = self._named(self.op("exp", self.op("sub", self._loaded("logits", row * keys + place), base)))
                self._keep("logits", row * keys + place, weight)
                return self._sum(so_far, weight)

            total = self._reduced(self._sum, self.op("mul", self._loaded("total", row), factor), 0, added)
            for name, value in (("largest", largest), ("total", total), ("factor", factor)):
                self._keep(name, row, value)

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
            self._keep("scores", lane, self.number(neutral))
        with loop_over(body, self.plan.key_panels, "panel") as panel, lanes(body, width) as lane, body.base_scope():
            self._keep("scores", lane, with_key(panel * width + lane, self._loaded("scores", lane)))
        parts = [self._loaded("scores", constant(lane)) for lane in range(width)]
        while len(parts) > 1:
            half = len(parts) // 2
            parts = [self._named(combined(*pair)) for pair in zip(parts[:half], parts[half:], strict=True)]
        return self._named(combined(start, *parts))

    def _larger(self, a: Value, b: Value) -> Value:
        return self.body.op("maximum", self.kind, a, b)

    def _sum(self, a: Value, b: Value) -> Value:
        return self.body.op("add", self.kind, a, b)

    def _base(self, largest: Value) -> Value:
        return self.op("select", self.body.op("is_finite", "pred", largest), largest, self.number(0))

    def _end_rows(self) -> None:
        """Build the reductions of the program for each row, and the factor of its sums."""
        body, softmax = self.body, self.match.softmax
        count = prod(self.plan.sizes.rows)
        with self._each_row() as row, inside(body, [Part(self.first_row + row, count)]) as (of_row,), body.base_scope():
            largest, total = self._loaded("largest", row), self._loaded("total", row)
            base = self._named(self._base(largest))
            maximum = self.space.reduced(softmax.maximum, largest)
            body.inject(softmax.maximum, None, [maximum])
            shift = self.space.value(softmax.shift, of_row, constant(0))
            factor = self._named(self.op("exp", self.op("sub", base, shift)))
            reduced = self.space.reduced(softmax.total, self.op("mul", total, factor))
            body.withdraw([softmax.maximum])
            for name, value in (("largest", maximum), ("total", reduced), ("factor", factor)):
                self._keep(name, row, value)

    # ------------------------------------------------------------ sums

    def _add(self) -> None:
        """Build the sums of a thread, rescaled, with the step's weights times values."""
        plan = self.plan
        row, column = delinearize(thread_id("th_x"), (plan.row_panels, plan.value_panels))
        with self._each_sum() as (i, lane):
            register = i * plan.panel[1] + lane
            factor = self._loaded("factor", row * plan.panel[0] + i)
            self._keep("sums", register, self.op("mul", self._loaded("sums", register), factor))
        self._multiply("sums", ("logits", plan.keys), self.values, row, column)

    def _multiply(
        self, sums: str, left: tuple[str, int], right: SharedTile, row: SymbolicExpr, column: SymbolicExpr
    ) -> None:
        """Build the sums of a panel of rows, of a buffer whose rows have so many elements, and of columns of a tile."""
        body, (rows, columns) = self.body, self.plan.panel
        buffer, depth = left
        begin = body.scope.simplify(row * rows * depth)
        if self.plan.multiplies_panels:
            place, zero = body.scope.simplify(column * columns * depth), constant(0)
            body.add(MultiplyPanels(self.kind, sums, zero, buffer, begin, right.buffer.name, place, depth))
            return
        for name, size in (("left", rows), ("right", columns)):
            body.kernel.add_buffer(Buffer(name, self.kind, (size,), "local"))
        with loop_over(body, depth, "k") as k:
            cell = body.scope.simplify(position(right.place, k, column * columns)) // columns
            named = body.named_index(body.fresh("cell"), cell, 0, right.buffer.size // columns - 1)
            with lanes(body, columns) as lane:
                self._keep("right", lane, self._loaded(right.buffer.name, named * columns + lane))
            with loop_over(body, rows, "i") as i:
                self._keep("left", i, self._loaded(buffer, begin + i * depth + k))
            with loop_over(body, rows, "i") as i, loop_over(body, columns, "j") as j:
                register = i * columns + j
                factors = self._loaded("left", i), self._loaded("right", j)
                self._keep(sums, register, self.op("mul_add", *factors, self._loaded(sums, register)))

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
            exponentials = self._named(self.op("mul", self._loaded("sums", i * plan.panel[1] + lane), factor))
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
        return self._named(Value(Load(self.kind, buffer, (self.body.scope.simplify(place),)), self.kind))

    def _keep(self, buffer: str, place: SymbolicExpr, value: Value) -> None:
        self.body.store(buffer, (self.body.scope.simplify(place),), self.body.node(value))

    def _named(self, value: Value) -> Value:
        return Value(self.body.name(self.body.node(value)), value.element_type)

    def number(self, value: float) -> Value:
        """A constant of the type of the sums."""
        return self.body.number(self.kind, value)

    def op(self, opcode: str, *operands: Value) -> Value:
        """An operation of the type of the sums."""
        return self.body.op(opcode, self.kind, *operands)


class _Space:
    """Builds values of the program's instructions at rows, keys and columns of one product of the batch."""

    def __init__(self, match: Attention, body: FunctionBuilder, batch: SymbolicExpr) -> None:
        self.match, self.body, self.batch = match, body, batch
        self.home = next(s for s in match.parts.epilogues if match.scores in s.injected)
        p, scores = match.sizes, product_of(match.scores)
        rows, keys = prod(p.rows), prod(p.contracted)
        self.queries = TileOperand({"free": rows, "sum": prod(scores.contracted)}, self._query)
        self.keys = TileOperand({"free": keys, "sum": prod(scores.contracted)}, self._key)
        self.values = TileOperand({"free": prod(p.columns), "sum": keys}, self._value)

    def value(self, i: Instruction, row: SymbolicExpr, key: SymbolicExpr) -> Value:
        """The value of an instruction between the products."""
        with self.body.within_subgraph(self.home):
            return self.body.value(i, self._at(i, row, key) if i in self.match.places else ())

    def logit(self, row: SymbolicExpr, key: SymbolicExpr, sum_: Value) -> Value:
        """The logit whose score has that sum."""
        body, scores = self.body, self.match.scores
        body.inject(scores, self._at(scores, row, key), [body.let(scores.shape.element_type, sum_)])
        return self.value(self.match.softmax.logits, row, key)

    def reduced(self, reduction: Instruction, value: Value) -> Value:
        """The result of a reduction, its reduced elements combined with the initial value."""
        body, kind = self.body, reduction.shape.element_type
        with body.within_subgraph(self.home):
            initial = body.value(operand_of(reduction, 1), ())
        (result,) = body.apply(reduction.computation_of("to_apply"), [initial, Value(value.node, kind)])
        return body.let(kind, result)

    def finish(self, row: SymbolicExpr, column: SymbolicExpr, numbers: Sequence[Value]) -> None:
        """Build the second product and what follows it, from the maximum, the total, and the sum of exponentials times values.

        The latter takes the place of an exponential: the weights are linear in it. The other operands are rounded as ever.
        """
        body, match, softmax = self.body, self.match, self.match.softmax
        maximum, total, exponentials = numbers
        body.inject(softmax.maximum, None, [Value(maximum.node, softmax.maximum.shape.element_type)])
        body.inject(softmax.total, None, [Value(total.node, softmax.total.shape.element_type)])
        for i in softmax.scaling:
            for operand in {operand_of(i, k) for k in range(len(i.operands))} - {softmax.exponential, *softmax.scaling}:
                self.value(operand, row, constant(0))
        body.inject(softmax.exponential, None, [Value(exponentials.node, softmax.exponential.shape.element_type)])
        with body.unrounded():
            weighted = self.value(match.weights, row, constant(0))
        index = self._result_index(row, column)
        product = match.product
        body.inject(product, index, [body.let(product.shape.element_type, weighted)])
        match.after.build_after(body, index)
        body.withdraw([softmax.maximum, softmax.total, softmax.exponential, product])

    # ------------------------------------------------------------ operands

    def _query(self, row: SymbolicExpr, along: SymbolicExpr) -> Value:
        return self._factor(self.match.query, self._at(self.match.scores, row, constant(0)), along)

    def _key(self, key: SymbolicExpr, along: SymbolicExpr) -> Value:
        return self._factor(1 - self.match.query, self._at(self.match.scores, constant(0), key), along)

    def _factor(self, k: int, score: Index, along: SymbolicExpr) -> Value:
        """The element of an operand of the scores that the score at an index reads."""
        dot = self.match.scores
        p = product_of(dot)
        batch, rows = len(p.batch), len(p.batch) + len(p.rows)
        free = (score[batch:rows], score[rows:])[k]
        index = operand_index(dot, k, score[:batch], free, self._split(along, p.contracted))
        return self.body.read(dot.operands[k], index)

    def _value(self, column: SymbolicExpr, key: SymbolicExpr) -> Value:
        dot, side, p = self.match.product, 1 - self.match.side, self.match.sizes
        batch, free, along = (
            self._split(at, n) for at, n in ((self.batch, p.batch), (column, p.columns), (key, p.contracted))
        )
        return self.body.read(dot.operands[side], operand_index(dot, side, batch, free, along))

    # ------------------------------------------------------------ indices

    def _at(self, i: Instruction, row: SymbolicExpr, key: SymbolicExpr) -> Index:
        """The index at which an instruction between the products is read."""
        p = self.match.sizes
        parts = (self._split(at, n) for at, n in ((self.batch, p.batch), (row, p.rows), (key, p.contracted)))
        place = operand_index(self.match.product, self.match.side, *parts)
        return self.body.mapped(self.match.places[i], place).index

    def _result_index(self, row: SymbolicExpr, column: SymbolicExpr) -> Index:
        p = self.match.sizes
        batch, rows, columns = (
            self._split(at, n) for at, n in ((self.batch, p.batch), (row, p.rows), (column, p.columns))
        )
        return (*batch, *rows, *columns) if self.match.side == 0 else (*batch, *columns, *rows)

    def _split(self, at: SymbolicExpr, sizes: Sequence[int]) -> Index:
        return tuple(map(self.body.scope.simplify, delinearize(at, sizes)))
