"""Tables of nodes as values of an algebra, as forms or a solver's terms are, and maps whose expressions are nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from math import inf
from typing import Any, NamedTuple, TypeAlias

from indexing.certificates.step import MapTable, Node

__all__ = ["Bound", "MapValues", "Table", "made"]

#: A number, or an infinity where there is no bound.
Bound: TypeAlias = "int | float"
NONE: frozenset[Any] = frozenset()


class MapValues(NamedTuple):
    """A map: its variables, its results, its domain with inclusive bounds, the divisors that a point must not make 0."""

    variables: tuple[Any, ...] = ()
    results: tuple[Any, ...] = ()
    domain: tuple[tuple[Any, Bound, Bound], ...] = ()
    divisors: frozenset[Any] = NONE
    kind: str = "defined"


def made(algebra: Any, kind: str, numbers: Sequence[int], parts: list[Any]) -> Any:
    """The value of a node, by those of its operands. Raises LookupError for one of no kind."""
    if kind == "sum" and len(numbers) == len(parts) + 1:
        terms = [*zip(parts, numbers[1:], strict=True)]
        return algebra.sum([*terms, (algebra.number(numbers[0]), 1)] if numbers[0] or not terms else terms)
    if kind == "constant" and len(numbers) == 1 and not parts:
        return algebra.number(numbers[0])
    if parts and not numbers:
        if kind in ("floordiv", "mod") and len(parts) == 2:
            return algebra.quotient(*parts) if kind == "floordiv" else algebra.remainder(*parts)
        if kind == "min":
            return algebra.least(parts)
        if kind == "max":
            return -algebra.least([-part for part in parts])
        if kind == "product":
            return reduce(algebra.times, parts)
    raise LookupError(f"no node has the kind {kind!r}, {len(numbers)} numbers and {len(parts)} operands")


class Table:
    """The value of each node, None where it has variables that are not there, and the divisors in it that may be 0.

    `algebra` makes the values: it has `number`, `sum`, `times`, `quotient`, `remainder` and `least`; values are negated.
    Raises LookupError where a node is none.
    """

    def __init__(self, nodes: Iterable[Node], algebra: Any, variables: Mapping[Any, Any]):
        self.nodes, self.algebra = tuple(nodes), algebra
        self.values, self.divisors = list[Any](), list[frozenset[Any]]()
        for place, (kind, numbers, operands) in enumerate(self.nodes):
            if operands and not (min(operands) >= 0 and max(operands) < place):
                raise LookupError(f"node {place} has an operand that is no earlier node")
            own = NONE.union(*inner) if (inner := [d for k in operands if (d := self.divisors[k])]) else NONE
            parts = [self.values[k] for k in operands]
            if kind == "variable":
                value = variables.get(*numbers)
            else:
                value = None if None in parts else made(algebra, kind, numbers, parts)
            if kind in ("floordiv", "mod") and (
                self.nodes[operands[1]][0] != "constant" or not any(self.nodes[operands[1]][1])
            ):
                own |= self.factors(operands[1])
            self.values.append(value)
            self.divisors.append(own)

    def factors(self, node: int) -> frozenset[Any]:
        """The values of which one is 0 where the node is."""
        kind, numbers, operands = self.nodes[node]
        if kind == "product" or (kind == "sum" and len(operands) == 1 and numbers[0] == 0 != numbers[1]):
            return NONE.union(*map(self.factors, operands))
        return frozenset([self.values[node]])

    def value(self, node: int | None) -> Any:
        """The value of a node. Raises LookupError if it has none."""
        if node is None or not 0 <= node < len(self.nodes) or self.values[node] is None:
            raise LookupError(f"the map has no expression that is node {node}")
        return self.values[node]

    def map(self, of: MapTable, variables: Iterable[Any]) -> MapValues:
        """A map, of these variables. Raises LookupError for nodes that are none of its expressions."""
        domain = [(self.value(e), -inf if a is None else a, inf if b is None else b) for e, a, b in of.domain]
        divisors = NONE.union(*(self.divisors[k] for k in (*of.results, *(node for node, *_ in of.domain))))
        return MapValues(tuple(variables), tuple(map(self.value, of.results)), tuple(domain), divisors, of.kind)
