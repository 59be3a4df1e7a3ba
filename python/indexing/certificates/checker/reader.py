"""The checker's own reader of expressions and maps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import inf
from typing import Any, NamedTuple, NoReturn, TypeAlias

__all__ = ["Bound", "MapText", "Named", "Reader", "TextError"]

#: A number, or an infinity where there is no bound.
Bound: TypeAlias = "int | float"
#: Gives the values that the names of dimensions, ranges and runtime variables stand for.
Named: TypeAlias = "Callable[[list[list[str]]], Sequence[Sequence[Any]]]"

NAME = re.compile(r"[^\W\d][\w.]*")
TOKEN = re.compile(r"[0-9]+|(?:min|max)\(|[^\W\d][\w.]*|\S")
HEAD = re.compile(r"\(([^()]*)\)(?:\[([^]]*)\])?(?:\{([^}]*)\})?")
CONSTRAINT = re.compile(r"(.+?) in \[(-?[0-9]+), (-?[0-9]+)\](?:, (?=.)|$)")
MARK = re.compile(r"[()]|, ")
OPERATORS = {"*", "floordiv", "/", "mod", "%", "ceildiv"}
NONE: frozenset[Any] = frozenset()
#: A bound of this size means "unbounded", unless of a variable.
UNBOUNDED = 2**63 - 1


class TextError(ValueError):
    """Text that is no expression or map; the message says where."""


class MapText(NamedTuple):
    """A map: its dimensions, ranges and runtime variables, its results, its domain with inclusive bounds, its divisors."""

    names: tuple[tuple[Any, ...], ...] = ((), (), ())
    results: tuple[Any, ...] = ()
    domain: tuple[tuple[Any, Bound, Bound], ...] = ()
    divisors: frozenset[Any] = NONE
    kind: str = "defined"


class Reader:
    """Reads expressions and maps, each text once; the names in expressions are those of the map that it has read, or given.

    `algebra` makes the values that they are read as: it has `number`, `variable`, `sum`, `times`, `quotient`, `remainder` and
    `least`; values are negated.
    """

    def __init__(self, algebra: Any, names: Mapping[str, Any] | None = None) -> None:
        self.algebra, self.known = algebra, dict(names or {})
        #: The divisors in texts that have any.
        self.divisors: dict[str, frozenset[Any]] = {}
        #: By text: what stands before the arrow, and the constraints with their divisors, of the maps that it has read.
        self.heads: dict[str, tuple[tuple[Any, ...], ...]] = {}
        self.domains: dict[str, tuple[tuple[tuple[Any, Bound, Bound], ...], frozenset[Any]]] = {}

    def map(self, text: str, named: Named | None = None) -> MapText:
        """The map that `text` states; its names stand for the values that `named` gives. Raises TextError."""
        if text in ("UNDEFINED", "KNOWN EMPTY"):
            return MapText(kind=text)
        start, _, domain = text.partition(", domain: ")
        head, _, results = start.partition(" -> ")
        if not (results.startswith("(") and results.endswith(")")):
            raise TextError(f"expected a map, not {start[:80]!r}")
        if head not in self.heads:
            self.heads[head] = self._names(head, named)
        texts = items(results[1:-1])
        values = tuple(map(self.expression, texts))
        if domain not in self.domains:
            stated = [*constraints(domain)]
            ranged = tuple((self.expression(text), lower, upper) for text, lower, upper in stated)
            self.domains[domain] = ranged, self._divisors_in(text for text, _, _ in stated)
        ranged, divisors = self.domains[domain]
        return MapText(self.heads[head], values, ranged, divisors | self._divisors_in(texts))

    def _divisors_in(self, texts: Iterable[str]) -> frozenset[Any]:
        return NONE.union(*(self.divisors.get(text, NONE) for text in texts)) if self.divisors else NONE

    def _names(self, head: str, named: Named | None) -> tuple[tuple[Any, ...], ...]:
        actual = HEAD.fullmatch(head)
        groups = [group.split(", ") if group else [] for group in actual.groups("")] if actual else [["(" + head]]
        names = [*chain(*groups)]
        if len({*names}) < len(names) or not all(map(NAME.fullmatch, names)):
            raise TextError(f"expected different names, not {', '.join(names)}")
        used = named(groups) if named else [map(self.algebra.variable, group) for group in groups]
        made = tuple(map(tuple, used))
        self.known |= zip(names, chain(*made), strict=True)
        return made

    def expression(self, text: str) -> Any:
        """The value of the expression that `text` states. Raises TextError."""
        if text not in self.known:
            self.tokens, self.at, self.met = [*TOKEN.findall(text), "the end"], 0, NONE
            try:
                value = self._sum()
            except RecursionError:
                self._fail("less nesting")
            self.known[text] = value if self.at == len(self.tokens) - 1 else self._fail("the end")
            if self.met:
                self.divisors[text] = self.met
        return self.known[text]

    def _fail(self, expected: str) -> NoReturn:
        before = " ".join(self.tokens[max(self.at - 5, 0) : self.at])
        raise TextError(f"expected {expected}, not {self.tokens[self.at]} after {before!r}")

    def _sum(self) -> Any:
        terms, sign, tokens = [], 1, self.tokens
        while True:
            value = self._operand()
            while (token := tokens[self.at]) in OPERATORS:
                self.at += 1
                value = self._applied(token, value, self._operand())
            terms.append((value, sign))
            if token not in ("+", "-"):
                return self.algebra.sum(terms) if len(terms) > 1 else value
            self.at += 1
            sign = 1 if token == "+" else -1

    def _applied(self, operator: str, left: Any, right: Any) -> Any:
        if operator == "*":
            return self.algebra.times(left, right)
        if not self.tokens[self.at - 1].strip("0").isdecimal():  # a number other than 0 needs no check
            self.met |= {right}
        if operator in ("mod", "%"):
            return self.algebra.remainder(left, right)
        return -self.algebra.quotient(-left, right) if operator == "ceildiv" else self.algebra.quotient(left, right)

    def _operand(self) -> Any:
        token = self.tokens[self.at]
        self.at += 1
        if token in self.known:
            return self.known[token]
        if token.isdecimal():
            self.known[token] = self.algebra.number(int(token))
            return self.known[token]
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


def items(text: str) -> list[str]:
    """The texts in a list, which commas separate that are in no brackets."""
    if "(" not in text:
        return text.split(", ") if text else []
    parts, depth, start = [], 0, 0
    for mark in MARK.finditer(text):
        if mark[0] in ("(", ")"):
            depth += 1 if mark[0] == "(" else -1
        elif not depth:
            parts.append(text[start : mark.start()])
            start = mark.end()
    return [*parts, text[start:]]


def constraints(text: str) -> Iterator[tuple[str, Bound, Bound]]:
    """The expressions of constraints in a list, each with its bounds."""
    at = 0
    while at < len(text):
        stated = CONSTRAINT.match(text, at)
        if not stated:
            raise TextError(f"expected a constraint, not {text[at : at + 80]!r}")
        at, e, lower, upper = stated.end(), stated[1], int(stated[2]), int(stated[3])
        if lower == upper or NAME.fullmatch(e):
            yield e, lower, upper
        else:
            yield e, lower if lower >= -UNBOUNDED else -inf, upper if upper < UNBOUNDED else inf
