"""A walk through a kernel as one of its threads takes it: values of index variables, iterations of loops, and probabilities of
branches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod

from indexing._core import Interval, SymbolicExpr, variable
from indexing.cached import cached_property
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.nodes import Block, Statement, Value

GRID = 3  # the first variable of a block's number


class KernelWalk:
    """The state of a walk through the entry or a function: the value of each index variable, those of counters in the middle of
    their ranges; and the first and the last value of the counters of the loops around.
    """

    def __init__(self, body: ir.Kernel | ir.Function, given: Sequence[int]) -> None:
        """`given` are the values of the leading variables: thread and block ids, or a function's index."""
        self.walked = body
        self.counters: dict[int, Interval] = {}
        self.conditions: dict[SymbolicExpr, SymbolicExpr] = {}  # over counters, thread ids and block ids alone
        self.begin(given)

    def begin(self, given: Sequence[int]) -> None:
        """Begin a walk with other values of the leading variables."""
        self.values = [*given, *[0] * (len(self.walked.variables) - len(given))]

    def define(self, s: Statement) -> bool:
        """Evaluate the definition of an index variable; False for any other statement, and for one of data."""
        if not isinstance(s, ir.LetIndex):
            return False
        if not isinstance(s.value, SymbolicExpr):
            interval = self.walked.variables[s.variable].interval
            self.values[s.variable] = (interval.lower + interval.upper) // 2
            return False
        self.values[s.variable] = s.value.evaluate(self.values)
        return True

    def iterations(self, loop: ir.For) -> tuple[int, int]:
        """The first value of the counter, and the number of iterations."""
        first, stop = loop.start.evaluate(self.values), loop.stop.evaluate(self.values)
        return first, max(-(-(stop - first) // loop.step), 0)

    def enter(self, loop: ir.For) -> int:
        """Put the counter in the middle of its range; returns the number of iterations. `leave` ends what this begins."""
        first, iterations = self.iterations(loop)
        self.values[loop.variable] = first + iterations // 2 * loop.step
        self.counters[loop.variable] = Interval(first, first + max(iterations - 1, 0) * loop.step)
        return iterations

    def leave(self, loop: ir.For) -> None:
        """Forget the range of the loop's counter."""
        del self.counters[loop.variable]

    def branches(self, s: ir.If) -> Iterator[tuple[Block, float]]:
        """The bodies that may run, each with its probability."""
        probability = self.taken(s)
        if probability > 0:
            yield s.then, probability
        if probability < 1:
            yield s.otherwise, 1 - probability

    def taken(self, s: ir.If) -> float:
        """The probability that the conditions of a branch hold."""
        return prod(self.probability(c) for c in s.conditions)

    def probability(self, condition: Value) -> float:
        """The probability of a condition: of an index by its range; one block is the last to arrive; of data a half."""
        if isinstance(condition, ir.Within):
            return condition.share(self._bounds(condition.expression))
        if isinstance(condition, ir.Op) and condition.opcode == "eq" and isinstance(condition.operands[0], ir.Load):
            counted = condition.operands[1]
            if isinstance(counted, ir.Constant) and isinstance(counted.value, int):
                return 1 / (1 + max(counted.value, 0))
        return 0.5

    def _bounds(self, expression: SymbolicExpr) -> Interval:
        """The bounds of an index expression over the iterations of the loops around."""
        whole = self.without_lets(expression)
        if self.counters.keys().isdisjoint(whole.used_variables()):
            value = whole.evaluate(self.values)
            return Interval(value, value)
        return whole.range([self.counters.get(k) or Interval(v, v) for k, v in enumerate(self.values)])

    @cached_property
    def _lets(self) -> list[tuple[int, SymbolicExpr]]:
        return [
            (s.variable, s.value)
            for s in ir.statements(self.walked.body)
            if isinstance(s, ir.LetIndex) and isinstance(s.value, SymbolicExpr)
        ]

    def without_lets(self, expression: SymbolicExpr) -> SymbolicExpr:
        """The index expression over counters, thread ids and block ids alone."""
        if expression not in self.conditions:
            self.conditions[expression] = self.replaced(expression, reversed(self._lets))
        return self.conditions[expression]

    def replaced(self, expression: SymbolicExpr, values: Iterable[tuple[int, SymbolicExpr]]) -> SymbolicExpr:
        """The index expression with values in the place of variables, one after another."""
        for name, value in values:
            if name in expression.used_variables():
                expression = expression.replace_variables([*self._variables[:name], value])
        return expression

    @cached_property
    def _variables(self) -> list[SymbolicExpr]:
        return [variable(k) for k in range(len(self.walked.variables))]
