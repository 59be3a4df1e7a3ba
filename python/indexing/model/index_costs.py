"""Instructions of indices, by the loops whose counters change them.

Compilers move what a loop does not change in front of it. What grows by a constant in each iteration they add to an address,
once for all iterations that are unrolled together; where all are, that constant is part of the instruction of memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from indexing._core import SymbolicExpr
from indexing.kernels.ir import nodes as ir

INDEX_DIVISION = 4  # the instructions that divide an index by a constant that is no power of two
#: The number of loops around a value, up to the innermost whose counter changes it; whether it grows by a constant with that.
_Change: TypeAlias = "tuple[int, bool]"


@dataclass(frozen=True, slots=True)
class IndexPart:
    """The instructions of a part of an index that the loop at `depth` changes, counted from the outermost, 1; 0: none does.

    `is_linear` if the part grows by a constant in each iteration.
    """

    depth: int
    is_linear: bool
    instructions: int


@dataclass(slots=True)
class IndexCosts:
    """The costs of the indices of a body; index variables that it was not told of are the same in all iterations."""

    _changes: dict[int, _Change] = field(default_factory=dict)

    def add_counter(self, variable: int, depth: int) -> None:
        """Remember the counter of the loop at a depth."""
        self._changes[variable] = depth, True

    def add_definition(self, s: ir.LetIndex, depth: int) -> None:
        """Remember the definition of an index variable inside of so many loops, each of which changes data."""
        data = depth, False
        self._changes[s.variable] = self._analyzed(s.value)[0] if isinstance(s.value, SymbolicExpr) else data

    def parts(self, expression: SymbolicExpr) -> tuple[IndexPart, ...]:
        """The instructions of an index: one for each term after the first, more for divisions."""
        _, counts = self._analyzed(expression)
        return tuple(IndexPart(*change, count) for change, count in counts.items() if count)

    def _analyzed(self, expression: SymbolicExpr) -> tuple[_Change, defaultdict[_Change, int]]:
        """The change of an expression, and its instructions by that of the parts that they compute."""
        nodes = expression.nodes()
        changes: list[_Change] = []
        counts: defaultdict[_Change, int] = defaultdict(int)
        for kind, numbers, operands in nodes:
            of_operands = sorted([changes[k] for k in operands])
            change = of_operands[-1] if of_operands else (0, False)
            if kind == "variable":
                change = self._changes.get(numbers[0], change)
            elif kind == "sum":
                _add_terms(counts, of_operands)
                change = change[0], (change[0], False) not in of_operands
            elif kind != "constant":
                change = change[0], False
                counts[change] += _division(nodes[operands[1]]) if kind in ("floordiv", "mod") else len(operands) - 1
            changes.append(change)
        return changes[-1], counts


def _add_terms(counts: defaultdict[_Change, int], terms: Sequence[_Change]) -> None:
    """Count the additions of a sum's sorted terms, those that change least first: of terms that grow with one loop, one."""
    for k, change in enumerate(terms):
        if not change[1] or k == 0 or terms[k - 1] != change:
            counts[change] += 1
    if len(terms) > 1 and not terms[0][1]:
        counts[terms[0]] -= 1


def _division(divisor: tuple[str, Sequence[int], Sequence[int]]) -> int:
    kind, numbers, _ = divisor
    value = numbers[0] if kind == "constant" else 0
    return 1 if value > 0 and value & (value - 1) == 0 else INDEX_DIVISION
