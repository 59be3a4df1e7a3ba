"""The checker's own reader of expressions and maps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from math import inf
from typing import Any, NamedTuple, NoReturn, TypeAlias

__all__ = ["Bound", "Expr", "MapText", "Named", "Reader", "TextError"]

#: A number, or an infinity where there is no bound.
Bound: TypeAlias = "int | float"
#: Gives the expressions that the names of dimensions, ranges and runtime variables stand for.
Named: TypeAlias = "Callable[[list[list[str]]], Sequence[Sequence[Expr]]]"

NAME = re.compile(r"[^\W\d][\w.]*")
TOKEN = re.compile(r"[0-9]+|(?:min|max)\(|[^\W\d][\w.]*|\S")
HEAD = re.compile(r"\(([^()]*)\)(?:\[([^]]*)\])?(?:\{([^}]*)\})? -> \((.*)\)")
CONSTRAINT = re.compile(r"(.+?) in \[(-?[0-9]+), (-?[0-9]+)\](?:, |$)")
OPERATORS = {"*", "floordiv", "/", "mod", "%", "ceildiv"}
NONE: frozenset[Any] = frozenset()
#: Parts of expressions of fewer tokens are read once.
MAX_KNOWN = 100
#: A bound of this size means "unbounded", unless of a variable.
UNBOUNDED = 2**63 - 1


class TextError(ValueError):
    """Text that is no expression or map; the message says where."""


class Expr(NamedTuple):
    """An expression: the value that it is read as, and the divisors in it."""

    value: Any
    divisors: frozenset[Any] = NONE


class MapText(NamedTuple):
    """A map: its dimensions, ranges and runtime variables, its results, its domain with inclusive bounds."""

    names: tuple[tuple[Expr, ...], ...] = ((), (), ())
    results: tuple[Expr, ...] = ()
    domain: tuple[tuple[Expr, Bound, Bound], ...] = ()
    kind: str = "defined"

    @property
    def divisors(self) -> frozenset[Any]:
        """The divisors in its expressions."""
        return NONE.union(*[e.divisors for e in self.results], *[e.divisors for e, _, _ in self.domain])


class Reader:
    """Reads expressions and maps, each text once; the names in expressions are those of the map that it has read, or given.

    `algebra` makes the values that they are read as: it has `number`, `variable`, `sum`, `times`, `quotient`, `remainder` and
    `least`; values are negated.
    """

    def __init__(self, algebra: Any, names: Mapping[str, Expr] | None = None) -> None:
        self.algebra = algebra
        self.known = dict(names or {})
        self.read: dict[tuple[str, ...], Expr] = {}
        self.heads: dict[Any, tuple[tuple[Expr, ...], ...]] = {}
        self.domains: dict[str, tuple[tuple[Expr, Bound, Bound], ...]] = {"": ()}

    def map(self, text: str, named: Named | None = None) -> MapText:
        """The map that `text` states; its names stand for the expressions that `named` gives. Raises TextError."""
        if text in ("UNDEFINED", "KNOWN EMPTY"):
            return MapText(kind=text)
        start, _, domain = text.partition(", domain: ")
        head = HEAD.fullmatch(start)
        if not head:
            raise TextError(f"expected a map, not {start[:80]!r}")
        *groups, results = head.groups("")
        names = self.heads.get((*groups, named)) or self._names(groups, named)
        self.heads[(*groups, named)] = names
        read = tuple(map(self.expression, items(results))) if results else ()
        if domain not in self.domains:
            self.domains[domain] = tuple(self._domain(domain))
        return MapText(names, read, self.domains[domain])

    def _names(self, groups: list[str], named: Named | None) -> tuple[tuple[Expr, ...], ...]:
        split = [group.split(", ") if group else [] for group in groups]
        names = [*chain(*split)]
        if len({*names}) < len(names) or not all(NAME.fullmatch(name) for name in names):
            raise TextError(f"expected different names, not {', '.join(names)}")
        used = tuple(map(tuple, named(split) if named else ([*map(self.variable, group)] for group in split)))
        self.known |= zip(names, chain(*used), strict=True)
        return used

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
            tokens = tuple(TOKEN.findall(text))
            self.known[text] = self.read.get(tokens) or self._whole(tokens)
        return self.known[text]

    def _whole(self, tokens: tuple[str, ...]) -> Expr:
        self.tokens, self.at, self.divisors = (*tokens, "the end"), 0, NONE
        try:
            value = self._sum()
        except RecursionError:
            self._fail("less nesting")
        return Expr(value, self.divisors) if self.tokens[self.at] == "the end" else self._fail("the end")

    def _fail(self, expected: str) -> NoReturn:
        before = " ".join(self.tokens[max(self.at - 5, 0) : self.at])
        raise TextError(f"expected {expected}, not {self.tokens[self.at]} after {before!r}")

    def _sum(self) -> Any:
        """Reads a sum; it and the terms before its first divisor are then known by their tokens."""
        before, self.divisors, start = self.divisors, NONE, self.at
        terms, sign = [], 1
        while True:
            begin, value = self.at, self._operand()
            while (token := self.tokens[self.at]) in OPERATORS:
                self.at += 1
                value = self._applied(token, value, self._operand())
            terms.append((value, sign))
            if 1 < self.at - begin < MAX_KNOWN and not self.divisors:
                self.read[self.tokens[begin : self.at]] = Expr(value)
            if token not in ("+", "-"):
                break
            self.at += 1
            sign = 1 if token == "+" else -1
        if len(terms) > 1:
            value = self.algebra.sum(terms)
        if self.at - start < MAX_KNOWN:
            self.read[self.tokens[start : self.at]] = Expr(value, self.divisors)
        self.divisors |= before
        return value

    def _applied(self, operator: str, left: Any, right: Any) -> Any:
        if operator == "*":
            return self.algebra.times(left, right)
        if not self.tokens[self.at - 1].strip("0").isdecimal():  # a number other than 0 needs no check
            self.divisors |= {right}
        if operator in ("mod", "%"):
            return self.algebra.remainder(left, right)
        return -self.algebra.quotient(-left, right) if operator == "ceildiv" else self.algebra.quotient(left, right)

    def _operand(self) -> Any:
        token = self.tokens[self.at]
        self.at += 1
        if known := self.known.get(token):
            if known.divisors:
                self.divisors |= known.divisors
            return known.value
        if token.isdecimal():
            self.known[token] = Expr(self.algebra.number(int(token)))
            return self.known[token].value
        if token == "-":
            return -self._operand()
        if token not in ("(", "min(", "max("):
            self.at -= 1
            self._fail("a number, a name of the map or a bracket")
        values = [self._sum()]
        while token != "(" and self.tokens[self.at] == ",":
            self.at += 1
            values.append(self._sum())
        if self.tokens[self.at] != ")":
            self._fail(")")
        self.at += 1
        if token == "max(":
            return -self.algebra.least([-value for value in values])
        return self.algebra.least(values) if token == "min(" else values[0]


def items(text: str) -> Iterator[str]:
    """The texts in a list, which commas separate that are in no brackets."""
    depth = start = 0
    for mark in re.finditer(r"[()]|, ", text):
        if mark[0] != ", ":
            depth += 1 if mark[0] == "(" else -1
        elif not depth:
            yield text[start : mark.start()]
            start = mark.end()
    yield text[start:]
