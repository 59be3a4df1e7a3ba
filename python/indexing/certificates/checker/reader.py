"""The checker's own reader of expressions and maps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import inf
from typing import Any, NamedTuple, NoReturn, TypeAlias, TypeVar

__all__ = ["Bound", "Expr", "MapText", "Named", "Reader", "TextError"]

#: A number, or an infinity where there is no bound.
Bound: TypeAlias = "int | float"
#: Gives the expressions that the names of dimensions, ranges and runtime variables stand for.
Named: TypeAlias = "Callable[[list[list[str]]], Sequence[Sequence[Expr]]]"

_Read = TypeVar("_Read")

NAME = re.compile(r"[^\W\d][\w.]*")
TOKEN = re.compile(r"[0-9]+|(?:min|max)\(|[^\W\d][\w.]*|\S")
HEAD = re.compile(r"\(([^()]*)\)(?:\[([^]]*)\])?(?:\{([^}]*)\})? -> \((.*)\)")
CONSTRAINT = re.compile(r"(.+?) in \[(-?[0-9]+), (-?[0-9]+)\](?:, |$)")
OPERATORS = {"*", "floordiv", "/", "mod", "%", "ceildiv"}
NONE: frozenset[Any] = frozenset()
#: A bound of this size means "unbounded", unless of a variable.
UNBOUNDED = 2**63 - 1


class TextError(ValueError):
    """Text that is no expression or map; the message says where."""


class Expr(NamedTuple):
    """An expression: the value that it is read as, and the divisors in it."""

    value: Any
    divisors: frozenset[Any] = NONE


@dataclass(frozen=True)
class MapText:
    """A map: its dimensions, ranges and runtime variables, its results, its domain with inclusive bounds."""

    names: tuple[tuple[Expr, ...], ...] = ((), (), ())
    results: tuple[Expr, ...] = ()
    domain: tuple[tuple[Expr, Bound, Bound], ...] = ()
    kind: str = "defined"

    @property
    def divisors(self) -> frozenset[Any]:
        """The divisors in its expressions."""
        return NONE.union(*(e.divisors for e in (*self.results, *(e for e, _, _ in self.domain))))


class Reader:
    """Reads expressions and maps; the names in expressions are those of the map that it has read, or given.

    `algebra` makes the values that they are read as: it has `number`, `variable`, `sum`, `times`, `quotient`, `remainder` and
    `least`; values are negated.
    """

    def __init__(self, algebra: Any, names: Mapping[str, Expr] | None = None) -> None:
        self.algebra = algebra
        self.known = dict(names or {})

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
        used = tuple(map(tuple, named(groups) if named else ([*map(self.variable, group)] for group in groups)))
        self.known |= zip(names, chain(*used), strict=True)
        results = self._whole(head[4], lambda: self._list(self._expression)) if head[4] else ()
        return MapText(used, tuple(results), tuple(self._domain(domain)))

    def variable(self, name: str) -> Expr:
        """The expression that a name stands for by itself."""
        return Expr(self.algebra.variable(name))

    def _domain(self, text: str) -> Iterator[tuple[Expr, Bound, Bound]]:
        at = 0
        while at < len(text):
            read = CONSTRAINT.match(text, at)
            if not read:
                raise TextError(f"expected a constraint, not {text[at : at + 80]!r}")
            e, lower, upper, at = self.expression(read[1]), int(read[2]), int(read[3]), read.end()
            if lower == upper or NAME.fullmatch(read[1]):
                yield e, lower, upper
            else:
                yield e, lower if lower >= -UNBOUNDED else -inf, upper if upper < UNBOUNDED else inf

    def expression(self, text: str) -> Expr:
        """The expression that `text` states. Raises TextError."""
        if text not in self.known:
            self.known[text] = self._whole(text, self._expression)
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

    def _list(self, read: Callable[[], _Read]) -> list[_Read]:
        items = [read()]
        while self.tokens[self.at] == ",":
            self.at += 1
            items.append(read())
        return items

    def _expression(self) -> Expr:
        self.divisors = NONE
        return Expr(self._sum(), self.divisors)

    def _sum(self) -> Any:
        terms = [(self._product(), 1)]
        while (sign := self.tokens[self.at]) in ("+", "-"):
            self.at += 1
            terms.append((self._product(), 1 if sign == "+" else -1))
        return terms[0][0] if len(terms) == 1 else self.algebra.sum(terms)

    def _product(self) -> Any:
        value = self._operand()
        while (operator := self.tokens[self.at]) in OPERATORS:
            self.at += 1
            right = self._operand()
            if operator == "*":
                value = self.algebra.times(value, right)
                continue
            self.divisors |= {right}
            is_remainder = operator in ("mod", "%")
            quotient = self.algebra.remainder if is_remainder else self.algebra.quotient
            value = -quotient(-value, right) if operator == "ceildiv" else quotient(value, right)
        return value

    def _operand(self) -> Any:
        token = self.tokens[self.at]
        self.at += 1
        if token in self.known:
            self.divisors |= self.known[token].divisors
            return self.known[token].value
        if token.isdecimal():
            return self.algebra.number(int(token))
        if token == "-":
            return -self._operand()
        if token not in ("(", "min(", "max("):
            self.at -= 1
            self._fail("a number, a name of the map or a bracket")
        items = self._list(self._sum) if token != "(" else [self._sum()]
        if self.tokens[self.at] != ")":
            self._fail(")")
        self.at += 1
        if token == "max(":
            return -self.algebra.least([-value for value in items])
        return self.algebra.least(items) if token == "min(" else items[0]
