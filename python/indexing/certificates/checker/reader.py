"""The checker's own reader of expressions and maps, and their values at a point."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from math import inf, prod
from typing import NoReturn, TypeAlias, TypeVar

__all__ = ["Bound", "MapText", "Named", "Node", "Reader", "Table", "TextError"]

#: An integer, a name, or an operator, one of `+ * / % min max`, and the numbers of its operands.
Node: TypeAlias = "int | str | tuple[str, tuple[int, ...]]"
#: A number, or an infinity where there is no bound.
Bound: TypeAlias = "int | float"

#: An expression and its bounds.
Constraint: TypeAlias = "tuple[int, Bound, Bound]"
#: Gives the expressions that the names of dimensions, ranges and runtime variables stand for.
Named: TypeAlias = "Callable[[list[list[str]]], Sequence[Sequence[int]]]"

_Read = TypeVar("_Read")

NAME = re.compile(r"[^\W\d][\w.]*")
TOKEN = re.compile(r"[0-9]+|[^\W\d][\w.]*|\S")
HEAD = re.compile(r"\(([^()]*)\)(?:\[([^]]*)\])?(?:\{([^}]*)\})? -> \((.*)\)")
CONSTRAINT = re.compile(r"(.+?) in \[(-?[0-9]+), (-?[0-9]+)\](?:, |$)")
OPERATORS = {"*": "*", "floordiv": "/", "mod": "%", "ceildiv": "ceildiv", "/": "/", "%": "%"}
VALUES: dict[str, Callable[..., int]] = {
    "+": lambda *values: sum(values),
    "*": lambda *values: prod(values),
    "/": lambda a, b: a // b,
    "%": lambda a, b: a % abs(b),
    "min": min,
    "max": max,
}
MAX_POINTS = 4096
#: A bound of this size means "unbounded", unless of a variable.
UNBOUNDED = 2**63 - 1


class TextError(ValueError):
    """Text that is no expression or map; the message says where."""


class Table:
    """Expressions, each once, by number: those of its operands are less."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.numbers: dict[Node, int] = {}
        self.divided: dict[int, frozenset[int]] = {}

    def add(self, node: Node) -> int:
        """The number of an expression."""
        if node not in self.numbers:
            self.numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return self.numbers[node]

    def value(self, number: int, at: dict[int, int]) -> int:
        """The value of an expression, where `at` has those of the variables, and gets all. Raises ZeroDivisionError."""
        if number not in at:
            node = self.nodes[number]
            assert not isinstance(node, str), "each variable has a value"
            at[number] = node if isinstance(node, int) else VALUES[node[0]](*(self.value(o, at) for o in node[1]))
        return at[number]

    def divisors(self, number: int) -> frozenset[int]:
        """The divisors in an expression that are no numbers."""
        if number not in self.divided:
            node, own = self.nodes[number], frozenset[int]()
            if isinstance(node, tuple):
                by = node[1][1:] if node[0] in "/%" else ()
                own = own.union((d for d in by if not isinstance(self.nodes[d], int)), *map(self.divisors, node[1]))
            self.divided[number] = own
        return self.divided[number]


@dataclass(frozen=True)
class MapText:
    """A map: its dimensions, ranges and runtime variables, its results, its domain with inclusive bounds."""

    names: tuple[tuple[int, ...], ...] = ((), (), ())
    results: tuple[int, ...] = ()
    domain: tuple[Constraint, ...] = ()
    kind: str = "defined"

    @property
    def expressions(self) -> list[int]:
        """The results, then the expressions of the domain."""
        return [*self.results, *(e for e, _, _ in self.domain)]

    def outcome(self, table: Table, point: Sequence[int]) -> tuple[int, ...] | None:
        """The results at a point; None outside of the domain, where also a divisor is 0."""
        if self.kind != "defined":
            return None
        at = dict(zip(chain(*self.names), point, strict=True))
        try:
            values = tuple(table.value(e, at) for e in self.results)
            is_inside = all(lower <= table.value(e, at) <= upper for e, lower, upper in self.domain)
        except ZeroDivisionError:
            return None
        return values if is_inside else None

    def points(self) -> Iterator[tuple[int, ...]] | None:
        """All points within the bounds of the variables; None where these are too many."""
        bounds = {e: range(int(a), int(b) + 1) for e, a, b in self.domain if b - a < inf}
        ranges = [bounds.get(name, range(MAX_POINTS + 1)) for name in chain(*self.names)]
        return product(*ranges) if prod(map(len, ranges)) <= MAX_POINTS else None


class Reader:
    """Reads expressions and maps into a table; the names in expressions are those of the map that it has read, or given."""

    def __init__(self, table: Table, names: Mapping[str, int] | None = None) -> None:
        self.table, self.names, self.known = table, names or {}, dict[str, int]()

    def map(self, text: str, named: Named | None = None) -> MapText:
        """The map that `text` states; its names stand for the expressions that `named` gives. Raises TextError."""
        if text in ("UNDEFINED", "KNOWN EMPTY"):
            return MapText(kind=text)
        start, _, domain = text.partition(", domain: ")
        head = HEAD.fullmatch(start)
        if not head:
            raise TextError(f"expected a map, not {start[:80]!r}")
        groups = [group.split(", ") if group else [] for group in head.groups("")[:3]]
        names = [*chain(*groups)]
        if len({*names}) < len(names) or not all(NAME.fullmatch(name) for name in names):
            raise TextError(f"expected different names, not {', '.join(names)}")
        used = tuple(tuple(g) for g in (named(groups) if named else ([*map(self.table.add, g)] for g in groups)))
        self.names = dict(zip(names, chain(*used), strict=True))
        return MapText(used, self._whole(head[4], self._list) if head[4] else (), tuple(self._domain(domain)))

    def _domain(self, text: str) -> Iterator[Constraint]:
        at = 0
        while at < len(text):
            read = CONSTRAINT.match(text, at)
            if not read:
                raise TextError(f"expected a constraint, not {text[at : at + 80]!r}")
            e, lower, upper, at = self.expression(read[1]), int(read[2]), int(read[3]), read.end()
            if lower == upper or read[1] in self.names:
                yield e, lower, upper
            else:
                yield e, lower if lower >= -UNBOUNDED else -inf, upper if upper < UNBOUNDED else inf

    def expression(self, text: str) -> int:
        """The expression that `text` states. Raises TextError."""
        if text not in self.known:
            self.known[text] = self.names[text] if text in self.names else self._whole(text, self._sum)
        return self.known[text]

    def _whole(self, text: str, read: Callable[[], _Read]) -> _Read:
        self.tokens, self.at = [*TOKEN.findall(text), "the end"], 0
        try:
            value = read()
        except RecursionError:
            self._fail("less nesting")
        return value if self.tokens[self.at] == "the end" else self._fail("the end")

    def _fail(self, expected: str) -> NoReturn:
        before = " ".join(self.tokens[max(self.at - 5, 0) : self.at])
        raise TextError(f"expected {expected}, not {self.tokens[self.at]} after {before!r}")

    def _take(self, expected: str) -> None:
        if self.tokens[self.at] != expected:
            self._fail(expected)
        self.at += 1

    def _list(self) -> tuple[int, ...]:
        items = [self._sum()]
        while self.tokens[self.at] == ",":
            self.at += 1
            items.append(self._sum())
        return tuple(items)

    def _sum(self) -> int:
        terms = [self._product()]
        while (sign := self.tokens[self.at]) in ("+", "-"):
            self.at += 1
            terms.append(self._negated(self._product()) if sign == "-" else self._product())
        return terms[0] if len(terms) == 1 else self.table.add(("+", tuple(terms)))

    def _product(self) -> int:
        value, add = self._operand(), self.table.add
        while operator := OPERATORS.get(self.tokens[self.at]):
            self.at += 1
            right = self._operand()
            if operator == "ceildiv":
                value = self._negated(add(("/", (self._negated(value), right))))
            else:
                value = add((operator, (value, right)))
        return value

    def _operand(self) -> int:
        token = self.tokens[self.at]
        if not (token in self.names or token.isdecimal() or token in ("-", "(", "min", "max")):
            self._fail("a number, a name of the map or a bracket")
        self.at += 1
        if token in self.names:
            return self.names[token]
        if token == "-":
            return self._negated(self._operand())
        if token == "(":
            value = self._sum()
        elif token in ("min", "max"):
            self._take("(")
            value = self.table.add((token, self._list()))
        else:
            return self.table.add(int(token))
        self._take(")")
        return value

    def _negated(self, number: int) -> int:
        """`-e`."""
        node, add = self.table.nodes[number], self.table.add
        return add(-node) if isinstance(node, int) else add(("*", (add(-1), number)))
