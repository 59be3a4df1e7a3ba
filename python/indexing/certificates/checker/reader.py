"""The checker's own reader of expressions and maps, and their values at a point."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from math import prod
from typing import NoReturn, TypeAlias, TypeVar

__all__ = ["Expr", "MapText", "TextError", "parts", "read_expr", "read_map", "replaced", "value_at"]

#: An integer, a name, or an operator, one of `+ * / % min max`, and its operands.
Expr: TypeAlias = "int | str | tuple[str, tuple[Expr, ...]]"
#: An expression and its bounds, None where there is none.
Constraint: TypeAlias = "tuple[Expr, int | None, int | None]"

_Read = TypeVar("_Read")

TOKEN = re.compile(r"[0-9]+|[^\W\d][\w.]*|->|\S")
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


@dataclass(frozen=True)
class MapText:
    """A map: the names of its dimensions, ranges and runtime variables, its results, its domain with inclusive bounds."""

    names: tuple[tuple[str, ...], ...] = ((), (), ())
    results: tuple[Expr, ...] = ()
    domain: tuple[Constraint, ...] = ()
    kind: str = "defined"

    def expressions(self) -> list[Expr]:
        """The results, then the expressions of the domain."""
        return [*self.results, *(e for e, _, _ in self.domain)]

    def outcome(self, point: Sequence[int]) -> tuple[int, ...] | None:
        """The results at a point; None outside of the domain, where also a divisor is 0."""
        if self.kind != "defined":
            return None
        at = dict(zip(chain(*self.names), point, strict=True))
        try:
            values = tuple(value_at(e, at) for e in self.results)
            bounds = [(value_at(e, at), lower, upper) for e, lower, upper in self.domain]
        except ZeroDivisionError:
            return None
        return values if all((a is None or a <= v) and (b is None or v <= b) for v, a, b in bounds) else None

    def points(self) -> Iterator[tuple[int, ...]] | None:
        """All points within the bounds of the variables; None where these are too many."""
        bounds = {e: range(a, b + 1) for e, a, b in self.domain if a is not None and b is not None}
        ranges = [bounds.get(name, range(MAX_POINTS + 1)) for name in chain(*self.names)]
        return product(*ranges) if prod(map(len, ranges)) <= MAX_POINTS else None

    def replaced(self, by: Mapping[str, Expr], names: tuple[tuple[str, ...], ...]) -> MapText:
        """The map of these variables, with names in its expressions replaced."""
        domain = tuple((replaced(e, by), a, b) for e, a, b in self.domain)
        return MapText(names, tuple(replaced(e, by) for e in self.results), domain, self.kind)


class Reader:
    """The tokens of a text and the place among them."""

    def __init__(self, text: str) -> None:
        self.tokens, self.at = [*TOKEN.findall(text), "the end"], 0

    def skips(self, *expected: str) -> str:
        token = self.tokens[self.at]
        self.at += token in expected
        return token if token in expected else ""

    def take(self, expected: str) -> None:
        if not self.skips(expected):
            self.fail(expected)

    def fail(self, expected: str) -> NoReturn:
        before = " ".join(self.tokens[max(self.at - 5, 0) : self.at])
        raise TextError(f"expected {expected}, not {self.tokens[self.at]} after {before!r}")

    def whole(self, read: Callable[[Reader], _Read]) -> _Read:
        try:
            value = read(self)
        except RecursionError:
            self.fail("less nesting")
        return value if self.at == len(self.tokens) - 1 else self.fail("the end")

    def sum(self) -> Expr:
        terms = [self.product()]
        while sign := self.skips("+", "-"):
            terms.append(negated(self.product()) if sign == "-" else self.product())
        return terms[0] if len(terms) == 1 else ("+", tuple(terms))

    def product(self) -> Expr:
        value = self.operand()
        while operator := OPERATORS.get(self.skips(*OPERATORS)):
            right = self.operand()
            value = negated(("/", (negated(value), right))) if operator == "ceildiv" else (operator, (value, right))
        return value

    def operand(self) -> Expr:
        if self.skips("-"):
            return negated(self.operand())
        if self.skips("("):
            value = self.sum()
            self.take(")")
            return value
        token = self.tokens[self.at]
        if self.at == len(self.tokens) - 1 or not (token[0].isalnum() or token[0] == "_"):
            self.fail("a number, a name or a bracket")
        self.at += 1
        if token in ("min", "max"):
            return token, self.list("(", ")")
        return int(token) if token.isdigit() else token

    def list(self, opening: str, closing: str) -> tuple[Expr, ...]:
        self.take(opening)
        items: list[Expr] = []
        while not self.skips(closing):
            if items:
                self.take(",")
            items.append(self.sum())
        return tuple(items)

    def constraint(self) -> Constraint:
        e = self.sum()
        self.take("in")
        match self.list("[", "]"):
            case int(lower), int(upper) if isinstance(e, str) or lower == upper:
                return e, lower, upper
            case int(lower), int(upper):
                return e, lower if lower >= -UNBOUNDED else None, upper if upper < UNBOUNDED else None
            case _:
                return self.fail("two numbers before this")

    def map(self) -> MapText:
        groups = [self.list(*b) if b[0] in ("(", self.tokens[self.at]) else () for b in ("()", "[]", "{}")]
        names = tuple(tuple(name for name in group if isinstance(name, str)) for group in groups)
        if len({*chain(*names)}) < len([*chain(*groups)]):
            self.fail("different names before this")
        self.take("->")
        results = self.list("(", ")")
        domain: list[Constraint] = []
        while self.skips(","):
            if not domain:
                self.take("domain")
                self.take(":")
            domain.append(self.constraint())
        return MapText(names, results, tuple(domain))


def read_expr(text: str) -> Expr:
    """The expression that `text` states. Raises TextError."""
    return Reader(text).whole(Reader.sum)


def read_map(text: str) -> MapText:
    """The map that `text` states. Raises TextError."""
    return MapText(kind=text) if text in ("UNDEFINED", "KNOWN EMPTY") else Reader(text).whole(Reader.map)


def parts(todo: list[Expr]) -> Iterator[Expr]:
    """The expressions, and all in them."""
    while todo:
        yield (e := todo.pop())
        todo += e[1] if isinstance(e, tuple) else ()


def negated(e: Expr) -> Expr:
    """`-e`."""
    return -e if isinstance(e, int) else ("*", (-1, e))


def replaced(e: Expr, by: Mapping[str, Expr]) -> Expr:
    """The expression with names replaced."""
    if isinstance(e, tuple):
        return e[0], tuple(replaced(o, by) for o in e[1])
    return by.get(e, e) if isinstance(e, str) else e


def value_at(e: Expr, point: Mapping[str, int]) -> int:
    """The value of an expression. Raises ZeroDivisionError."""
    if isinstance(e, tuple):
        return VALUES[e[0]](*(value_at(o, point) for o in e[1]))
    return e if isinstance(e, int) else point[e]
