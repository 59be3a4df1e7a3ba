"""Values of an attention's instructions at rows, keys and columns, for the bodies of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, prod

from indexing._core import SymbolicExpr, constant
from indexing.hlo import Instruction
from indexing.hlo.layout import delinearize
from indexing.kernels.emitters.attention.match import Attention
from indexing.kernels.emitters.dot.match import Factor, factor, operand_index, product_of
from indexing.kernels.emitters.tile.shared_tile import TileOperand
from indexing.kernels.function_builder import FunctionBuilder
from indexing.ops.element_context import Index, Value
from indexing.ops.softmax import operand_of


class AttentionSpace:
    """Builds values of the program's instructions at rows, keys and columns of one product of the batch."""

    def __init__(self, match: Attention, body: FunctionBuilder, batch: SymbolicExpr) -> None:
        """Start with the entry, and the number of the product in the batch."""
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

    def base(self, largest: Value) -> Value:
        """The number that is subtracted from logits, of which the largest is known: that, if it is finite, else 0."""
        return self.body.named(self._finite(largest))

    def rescaling(self, before: Value, base: Value) -> Value:
        """The factor of sums for another base, where the largest logit was `before`; 1 if there was none."""
        body, kind = self.body, self.match.element_type
        rescaled = body.op("exp", kind, body.op("sub", kind, self._finite(before), base))
        is_empty = body.op("eq", "pred", before, body.number(kind, -inf))
        return body.named(body.op("select", kind, is_empty, body.number(kind, 1), rescaled))

    def _finite(self, largest: Value) -> Value:
        body, kind = self.body, self.match.element_type
        return body.op("select", kind, body.op("is_finite", "pred", largest), largest, body.number(kind, 0))

    def finished_row(self, row: SymbolicExpr, largest: Value, total: Value) -> tuple[Value, Value, Value]:
        """The program's maximum and total of a row, and the factor of its sums."""
        body, softmax, kind = self.body, self.match.softmax, self.match.element_type
        base = self.base(largest)
        maximum = self.reduced(softmax.maximum, largest)
        body.inject(softmax.maximum, None, [maximum])
        shift = self.value(softmax.shift, row, constant(0))
        body.withdraw([softmax.maximum])
        factor = body.named(body.op("exp", kind, body.op("sub", kind, base, shift)))
        return maximum, self.reduced(softmax.total, body.op("mul", kind, total, factor)), factor

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

    def _query(self, row: SymbolicExpr, along: SymbolicExpr) -> Factor:
        return self._factor(self.match.query, self._at(self.match.scores, row, constant(0)), along)

    def _key(self, key: SymbolicExpr, along: SymbolicExpr) -> Factor:
        return self._factor(1 - self.match.query, self._at(self.match.scores, constant(0), key), along)

    def _factor(self, k: int, score: Index, along: SymbolicExpr) -> Factor:
        """The element of an operand of the scores that the score at an index reads."""
        dot = self.match.scores
        p = product_of(dot)
        batch, rows = len(p.batch), len(p.batch) + len(p.rows)
        free = (score[batch:rows], score[rows:])[k]
        return factor(self.body, dot, k, score[:batch], free, self._split(along, p.contracted))

    def _value(self, column: SymbolicExpr, key: SymbolicExpr) -> Factor:
        dot, side, p = self.match.product, 1 - self.match.side, self.match.sizes
        batch, free, along = (
            self._split(at, n) for at, n in ((self.batch, p.batch), (column, p.columns), (key, p.contracted))
        )
        return factor(self.body, dot, side, batch, free, along)

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
