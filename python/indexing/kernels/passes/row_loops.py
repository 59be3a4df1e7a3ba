"""Splitting of loops over threads at the ends of rows, for targets without threads.

Neighbouring threads may take neighbouring elements of rows of 900, at `i floordiv 900` and `i mod 900`. Within a row, the
quotient is constant and the remainder grows by one, so a loop over the threads of one row accesses neighbouring elements, and
can be vectorized:

for th_x: o[i] = x[i floordiv 900] + y[i mod 900]
becomes
for row: for th_x of the row: o[i] = x[row] + y[i - row * 900]

Compilers write out a loop over the few threads of a short row, and vectorize the loop over the rows, if all are whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from indexing._core import Interval, SymbolicExpr, constant, variable
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.copying import Names
from indexing.kernels.ir.opcodes import OPERATORS
from indexing.kernels.ir.traversal import all_values, may_leave, replace_loops, rewrite_indices
from indexing.kernels.passes.affine import (
    X,
    conditions_on_indices,
    index_definitions,
    is_affine,
    places,
    thread_coefficient,
    with_definitions,
)

MIN_ROW = 8  # elements; a vector
LONG_ROW = 32  # elements; shorter rows must be several
MIN_ROWS = 4  # a loop has so many of shorter rows
MAX_WRITTEN_OUT = 320  # operators of all copies of a body


def make_row_loops(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel with innermost thread loops split into rows where that makes accesses contiguous."""
    cutting = _RowSplitter(kernel)
    body = replace_loops(kernel.body, lambda loop: (cutting.loop(loop) if loop.variable == X else loop,))
    return replace(kernel, body=body, variables=tuple(cutting.names.variables))


@dataclass(frozen=True, slots=True)
class _Rows:
    """The element of a thread, in memory order, and the length of rows."""

    element: SymbolicExpr
    length: int

    @property
    def beside(self) -> SymbolicExpr:
        """The element of thread 0: the element without the thread's number."""
        return self.element - variable(X)


class _RowSplitter:
    def __init__(self, kernel: ir.Kernel) -> None:
        self.names = Names(kernel)
        self.given = index_definitions(kernel.body)

    def loop(self, loop: ir.For) -> ir.For:
        """The loop itself, or a loop over rows around it."""
        if may_leave(loop.body) or any(isinstance(s, ir.For) for s in ir.statements(loop.body)):
            return loop
        expanded = [
            self._with_lets_expanded(e)
            for e in (*places(loop.body), *(c.expression for c in conditions_on_indices(loop.body)))
        ]
        rows = _rows_of(e for e in expanded if not is_affine(e))
        if rows is not None and rows.length < MIN_ROW:
            return self._over_short_rows(loop, rows.length, rows.beside)
        if rows is None or not self._is_worth_it(loop, rows):
            return loop
        first, last = (self.names.simplified(rows.beside + e) for e in (loop.start, loop.stop - 1))
        row = self._row(first, last, rows.length)
        if not all(is_affine(self._inside(e, rows, row)) for e in expanded):
            return loop
        inner = self._within_row(loop, rows, row)
        stop = self.names.simplified(last // rows.length + 1)
        return ir.For(row, self.names.simplified(first // rows.length), stop, 1, (inner,))

    def _over_short_rows(self, loop: ir.For, length: int, beside: SymbolicExpr) -> ir.For:
        """The loop over rows around one over the threads of each, if it has whole rows, and a light body."""
        ends = [self.names.simplified(e) for e in (loop.start, loop.stop, beside)]
        if any(self.names.simplified(e % length) != constant(0) for e in ends):
            return loop
        if length * _count_of_operators(loop.body) > MAX_WRITTEN_OUT:
            return loop
        rows = _Rows(variable(X), length)  # those of the block
        first, last = (self.names.simplified(e // length) for e in ends[:2])
        row = self._row(loop.start, loop.stop - 1, length)
        start = variable(row) * length
        conditions = (self._with_lets_expanded(c.expression) for c in conditions_on_indices(loop.body))
        if any(thread_coefficient(self._inside(c, rows, row)) != 0 for c in conditions):
            return loop  # `split-loops` decides what repeats from row to row
        body = rewrite_indices(loop.body, lambda e: self._rewritten(e, rows, row))
        return ir.For(row, first, last, 1, (replace(loop, start=start, stop=start + length, body=body),))

    def _is_worth_it(self, loop: ir.For, rows: _Rows) -> bool:
        """Whether rows are long, or at least many, so that what begins a row is little beside its elements."""
        threads = len(self.names.variables[loop.variable].interval)
        return rows.length >= LONG_ROW or (rows.length >= MIN_ROW and threads >= MIN_ROWS * rows.length)

    def _within_row(self, loop: ir.For, rows: _Rows, row: int) -> ir.For:
        """The loop over the threads of one row."""
        start = variable(row) * rows.length - rows.beside
        return replace(
            loop,
            start=self.names.simplified(loop.start.max(start)),
            stop=self.names.simplified(loop.stop.min(start + rows.length)),
            body=rewrite_indices(loop.body, lambda e: self._rewritten(e, rows, row)),
        )

    def _row(self, first: SymbolicExpr, last: SymbolicExpr, length: int) -> int:
        """The variable that counts rows, from that of the first element to that of the last."""
        intervals = self.names.intervals
        rows = Interval(first.range(intervals).lower // length, last.range(intervals).upper // length)
        return self.names.add_variable(ir.IndexVariable("row", rows, "loop"))

    def _rewritten(self, expression: SymbolicExpr, rows: _Rows, row: int) -> SymbolicExpr:
        """The expression within a row, if it is affine there; else the expression itself."""
        rewritten = self._inside(self._with_lets_expanded(expression), rows, row)
        return rewritten if is_affine(rewritten) else expression

    def _inside(self, expression: SymbolicExpr, rows: _Rows, row: int) -> SymbolicExpr:
        """The expression for a thread of the row, over its column, which is known to be less than the row's length."""
        own = self.names.intervals
        numbers = [variable(k) for k in range(len(own))]
        column = variable(len(own))
        numbers[X] = variable(row) * rows.length + column - rows.beside
        by_column = expression.replace_variables(numbers).simplify([*own, Interval(0, rows.length - 1)])
        numbers[X] = variable(X)
        return self.names.simplified(
            by_column.replace_variables([*numbers, rows.element - variable(row) * rows.length])
        )

    def _with_lets_expanded(self, expression: SymbolicExpr) -> SymbolicExpr:
        """The expression with named index expressions expanded."""
        return self.names.simplified(with_definitions(expression, self.given))


def _count_of_operators(body: ir.Block) -> int:
    """The operators of a body; too many to be written out again if it calls functions, of which compilers make vectors."""
    values = [part for s in ir.statements(body) for part in all_values(s)]
    opcodes = [v.opcode for v in values if isinstance(v, ir.Op)]
    return len(opcodes) if set(opcodes) <= OPERATORS else MAX_WRITTEN_OUT


def _rows_of(expressions: Iterable[SymbolicExpr]) -> _Rows | None:
    """The shortest rows that occur in quotients and remainders; None if there are none."""
    candidates = []
    for expression in expressions:
        parts = expression.postorder()
        for kind, _, operands in expression.nodes():
            length = parts[operands[1]].constant_value if kind in ("floordiv", "mod") else None
            element = None if length is None else _element(parts[operands[0]])
            if length is not None and element is not None:
                candidates.append(_Rows(element, length))
    return min(candidates, key=lambda rows: rows.length, default=None)


def _element(dividend: SymbolicExpr) -> SymbolicExpr | None:
    """The element, which grows by one with the thread, of which the dividend is a multiple; None if there is none."""
    growth = thread_coefficient(dividend)
    element = dividend // growth if growth is not None and growth > 0 else None
    return element if element is not None and element * (growth or 0) == dividend else None
