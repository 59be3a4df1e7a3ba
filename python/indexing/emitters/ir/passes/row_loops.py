"""Loops over threads cut where rows end, for targets without threads.

Neighbouring threads take neighbouring elements of a row of 900, say, at `i floordiv 900` and `i mod 900`. Within a row the
one is the same for all and the other grows by one, so a loop over the threads of each row reads and writes neighbouring
elements, and a compiler makes vectors of it:

for th_x: o[i] = x[i floordiv 900] + y[i mod 900]
becomes
for row: for th_x of the row: o[i] = x[row] + y[i - row * 900]
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from indexing._core import Interval, SymbolicExpr, variable
from indexing.emitters.ir import nodes as ir
from indexing.emitters.ir.copying import Names
from indexing.emitters.ir.passes.affine import X, growth_of, is_affine, places
from indexing.emitters.ir.traversal import may_leave, rewrite_blocks, rewrite_values

SHORTEST_ROW = 32  # elements; of shorter ones there are too many in a block


def make_row_loops(kernel: ir.Kernel) -> ir.Kernel:
    """The entry with such loops in place of the innermost thread loops that need them."""
    cutting = _Cutting(kernel)

    def on_block(block: ir.Block) -> ir.Block:
        return tuple(cutting.loop(s) if isinstance(s, ir.For) and s.variable == X else s for s in block)

    body = rewrite_blocks(kernel.body, on_block)
    return replace(kernel, body=body, variables=tuple(cutting.names.variables))


@dataclass(frozen=True, slots=True)
class _Rows:
    """The thread's element in the order of memory, and how long rows are."""

    element: SymbolicExpr
    length: int

    @property
    def beside(self) -> SymbolicExpr:
        """The element without the number of the thread."""
        return self.element - variable(X)


class _Cutting:
    def __init__(self, kernel: ir.Kernel) -> None:
        self.names = Names(kernel.variables, kernel.body)
        self.given = {
            s.variable: s.value
            for s in ir.statements(kernel.body)
            if isinstance(s, ir.LetIndex) and isinstance(s.value, SymbolicExpr)
        }

    def loop(self, loop: ir.For) -> ir.For:
        """The loop, or one over rows around it."""
        if may_leave(loop.body) or any(isinstance(s, ir.For) for s in ir.statements(loop.body)):
            return loop
        found = [self._written_out(e) for e in places(loop.body)]
        rows = _rows_of(e for e in found if not is_affine(e))
        if rows is None:
            return loop
        row = self._row(rows)
        if not all(is_affine(self._inside(e, rows, row)) for e in found):
            return loop
        return self._cut(loop, rows, row)

    def _cut(self, loop: ir.For, rows: _Rows, row: int) -> ir.For:
        first, last = rows.beside + loop.start, rows.beside + loop.stop - 1
        start = variable(row) * rows.length - rows.beside
        inner = replace(
            loop,
            start=self._simplified(loop.start.max(start)),
            stop=self._simplified(loop.stop.min(start + rows.length)),
            body=rewrite_values(loop.body, lambda value: value, lambda e: self._rewritten(e, rows, row)),
        )
        stop = self._simplified(last // rows.length + 1)
        return ir.For(row, self._simplified(first // rows.length), stop, 1, (inner,))

    def _row(self, rows: _Rows) -> int:
        """The variable that counts rows."""
        own = self.names.variables
        bounds = rows.element.range([v.interval for v in own])
        for number, value in self.given.items():
            if self._written_out(value) == rows.element:
                bounds = bounds.intersect(own[number].interval)
        own.append(
            ir.IndexVariable(
                self.names.fresh("row"), Interval(bounds.lower // rows.length, bounds.upper // rows.length), "loop"
            )
        )
        return len(own) - 1

    def _rewritten(self, expression: SymbolicExpr, rows: _Rows, row: int) -> SymbolicExpr:
        """The expression within a row, where that grows evenly; else as it is."""
        found = self._inside(self._written_out(expression), rows, row)
        return found if is_affine(found) else expression

    def _inside(self, expression: SymbolicExpr, rows: _Rows, row: int) -> SymbolicExpr:
        """The expression of a thread of the row: by its column first, which is known to be shorter than a row."""
        own = [v.interval for v in self.names.variables]
        numbers = [variable(k) for k in range(len(own))]
        column = variable(len(own))
        numbers[X] = variable(row) * rows.length + column - rows.beside
        by_column = expression.replace_variables(numbers).simplify([*own, Interval(0, rows.length - 1)])
        numbers[X] = variable(X)
        return self._simplified(by_column.replace_variables([*numbers, rows.element - variable(row) * rows.length]))

    def _simplified(self, expression: SymbolicExpr) -> SymbolicExpr:
        return expression.simplify([v.interval for v in self.names.variables])

    def _written_out(self, expression: SymbolicExpr) -> SymbolicExpr:
        """The expression without names of index expressions."""
        while used := [v for v in expression.used_variables() if v in self.given]:
            numbers = [self.given.get(k, variable(k)) for k in range(max(used) + 1)]
            expression = expression.replace_variables(numbers)
        return self._simplified(expression)


def _rows_of(expressions: Iterable[SymbolicExpr]) -> _Rows | None:
    """The shortest rows that quotients and remainders speak of; None where there are none, or they are too short."""
    found = []
    for expression in expressions:
        parts = expression.postorder()
        for kind, _, operands in expression.nodes():
            length = parts[operands[1]].constant_value if kind in ("floordiv", "mod") else None
            element = None if length is None else _element(parts[operands[0]])
            if length is not None and element is not None:
                found.append(_Rows(element, length))
    shortest = min(found, key=lambda rows: rows.length, default=None)
    return shortest if shortest is not None and shortest.length >= SHORTEST_ROW else None


def _element(dividend: SymbolicExpr) -> SymbolicExpr | None:
    """The element that grows by one with the thread, where the dividend is a multiple of it."""
    growth = growth_of(dividend)
    element = dividend // growth if growth is not None and growth > 0 else None
    return element if element is not None and element * (growth or 0) == dividend else None
