"""The index variables of a function under construction, and ranges and simplification of expressions over them."""

from __future__ import annotations

from typing import Literal

from indexing._core import Interval, SymbolicExpr, variable
from indexing.kernels.ir.nodes import IndexVariable

MAX_TREE = 64  # nodes of an expression as a tree; a larger expression gets a variable


class IndexScope:
    """Index variables in order; expressions are `SymbolicExpr` over their numbers."""

    def __init__(self) -> None:
        """Start without variables."""
        self.variables: list[IndexVariable] = []
        self.intervals: list[Interval] = []
        self._simplified: dict[SymbolicExpr, SymbolicExpr] = {}
        self._ranges: dict[SymbolicExpr, Interval] = {}

    def add(
        self, name: str, lower: int, upper: int, kind: Literal["thread", "parameter", "loop", "let"] = "parameter"
    ) -> SymbolicExpr:
        """Add a variable with values in [lower, upper]."""
        interval = Interval(lower, max(lower, upper))
        self.variables.append(IndexVariable(name, interval, kind))
        self.intervals.append(interval)
        return variable(len(self.variables) - 1)

    def simplify(self, expression: SymbolicExpr) -> SymbolicExpr:
        """The simplest known form on the variables' intervals."""
        simplified = self._simplified.get(expression)
        if simplified is None:
            simplified = self._simplified[expression] = expression.simplify(self.intervals)
        return simplified

    def range(self, expression: SymbolicExpr) -> Interval:
        """Bounds of the expression's value."""
        known = self._ranges.get(expression)
        if known is None:
            known = self._ranges[expression] = expression.range(self.intervals)
        return known

    def tree_size(self, expression: SymbolicExpr) -> int:
        """The number of nodes of the expression as a tree, shared ones counted each time."""
        sizes: list[int] = []
        for _, _, operands in expression.nodes():
            sizes.append(1 + sum(sizes[o] for o in operands))
        return sizes[-1]
