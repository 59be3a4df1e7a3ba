"""Affine indices: index expressions expanded over thread ids and loop counters, if they are then affine in the thread.

`i floordiv 256` with i = bl_x * 128 + th_x becomes `bl_x floordiv 2`, which is uniform. If the expanded expression is affine
in th_x, the compiler sees loads of neighbouring elements, or one load for all threads; otherwise the names stay.

A one-dimensional block with loops whose indices are affine only in rows of, for example, 32 threads becomes one of 32 by 4
threads. Without loops, the pass `row-loops` finds rows of any length.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from indexing._core import Interval, SymbolicExpr, variable
from indexing.cached import cached_property
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.traversal import indices_of, loads_of, rewrite_indices

X, Y = 0, 1
MIN_ROW = 8  # threads


def make_indices_affine(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel with affine indices in its entry, and rows of threads for which the fewest indices are not affine."""
    size = kernel.block[X]
    if size == 1:
        return kernel
    lengths = [size]
    if kernel.block[1:] == (1, 1) and any(isinstance(s, ir.For) for s in ir.statements(kernel.body)):
        lengths += [size >> k for k in range(1, size.bit_length()) if size % (1 << k) == 0 and size >> k >= MIN_ROW]
    candidates = [_Rows(kernel, length) for length in lengths]
    best = min(candidates, key=lambda rows: rows.count_nonaffine)  # of equal ones, the first has the longest rows
    return best.kernel()


class _Rows:
    """The kernel with rows of `length` threads; th_x is th_x + length * th_y."""

    def __init__(self, kernel: ir.Kernel, length: int) -> None:
        self.original, self.length = kernel, length
        self.count = kernel.block[X] // length
        self.variables = list(kernel.variables)
        if self.count > 1:
            for axis, size in ((X, length), (Y, self.count)):
                self.variables[axis] = replace(kernel.variables[axis], interval=Interval(0, size - 1))
        self.intervals = [v.interval for v in self.variables]
        self.given = index_definitions(kernel.body)
        self.whole: dict[int, SymbolicExpr] = {}
        self.forms: dict[SymbolicExpr, SymbolicExpr] = {}

    @cached_property
    def count_nonaffine(self) -> int:
        """The number of memory indices that are not affine along a row."""
        return sum(
            not is_affine(self._with_lets_expanded(e).simplify(self.intervals)) for e in places(self.original.body)
        )

    def kernel(self) -> ir.Kernel:
        """The rewritten kernel."""
        body = rewrite_indices(self.original.body, self._expression)
        block = (self.length, self.count, 1) if self.count > 1 else self.original.block
        return replace(self.original, block=block, variables=tuple(self.variables), body=body)

    def _expression(self, expression: SymbolicExpr) -> SymbolicExpr:
        """The expanded expression, if it is affine in the thread; else the expression with its names."""
        if expression not in self.forms:
            out = self._with_lets_expanded(expression).simplify(self.intervals)
            self.forms[expression] = out if is_affine(out) else self._in_rows(expression).simplify(self.intervals)
        return self.forms[expression]

    def _in_rows(self, expression: SymbolicExpr) -> SymbolicExpr:
        used = expression.used_variables()
        if self.count == 1 or X not in used:
            return expression
        whole = [variable(v) for v in range(max(used) + 1)]
        whole[X] = variable(X) + variable(Y) * self.length
        return expression.replace_variables(whole)

    def _with_lets_expanded(self, expression: SymbolicExpr) -> SymbolicExpr:
        used = expression.used_variables()
        return expression.replace_variables([self._variable(v) for v in range(max(used, default=-1) + 1)])

    def _variable(self, number: int) -> SymbolicExpr:
        if number not in self.given:
            return self._in_rows(variable(number))
        if number not in self.whole:
            self.whole[number] = variable(number)  # replaced once the definition is expanded
            self.whole[number] = self._with_lets_expanded(self.given[number]).simplify(self.intervals)
        return self.whole[number]


def places(body: ir.Block) -> list[SymbolicExpr]:
    """The index expressions of a body's loads and stores."""
    expressions: dict[SymbolicExpr, None] = {}
    for statement in ir.statements(body):
        if isinstance(statement, ir.Store | ir.Copy | ir.CallFunction):
            expressions.update(dict.fromkeys(indices_of(statement)))
        for load in loads_of(statement):
            expressions.update(dict.fromkeys(load.index))
    return list(expressions)


def index_definitions(body: ir.Block) -> dict[int, SymbolicExpr]:
    """The index expressions that a body names."""
    named = (s for s in ir.statements(body) if isinstance(s, ir.LetIndex))
    return {s.variable: s.value for s in named if isinstance(s.value, SymbolicExpr)}


def with_definitions(expression: SymbolicExpr, definitions: Mapping[int, SymbolicExpr]) -> SymbolicExpr:
    """The expression with named index expressions expanded."""
    while used := [v for v in expression.used_variables() if v in definitions]:
        expression = expression.replace_variables([definitions.get(k, variable(k)) for k in range(max(used) + 1)])
    return expression


def conditions_on_indices(body: ir.Block) -> list[ir.Within]:
    """The conditions of a body's branches that are on indices."""
    conditions = (c for s in ir.statements(body) if isinstance(s, ir.If) for c in s.conditions)
    return list(dict.fromkeys(c for c in conditions if isinstance(c, ir.Within)))


def is_affine(expression: SymbolicExpr) -> bool:
    """Whether an expression is affine in th_x."""
    return thread_coefficient(expression) is not None


def thread_coefficient(expression: SymbolicExpr) -> int | None:
    """The coefficient of th_x in an expression that is affine in it; None otherwise."""
    used = expression.used_variables()
    if X not in used:
        return 0
    beside = [variable(v) for v in range(max(used) + 1)]
    beside[X] = variable(X) + 1
    return (expression.replace_variables(beside) - expression).constant_value
