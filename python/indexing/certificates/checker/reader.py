"""The checker's own reader of expressions and maps, and their values at a point."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from math import prod
from typing import NoReturn, TypeAlias, TypeVar

__all__ = ["Expr", "MapText", "TextError", "read_expr", "read_map", "replaced", "value_at"]

#: An integer, a name, or an operator, one of `+ * / % min`, and its operands; `max(a, b)` is read as `-min(-a, -b)`.
Expr: TypeAlias = "int | str | tuple[str, tuple[Expr, ...]]"

_Read = TypeVar("_Read")

TOKEN = re.compile(r"\s*([0-9]+|[^\W\d][\w.]*|->|\S)")
OPERATORS = {"*": "*", "floordiv": "/", "mod": "%", "ceildiv": "ceildiv", "/": "/", "%": "%"}
VALUES: dict[str, Callable[..., int]] = {
    "+": lambda *values: sum(values),
    "*": lambda *values: prod(values),
    "/": lambda a, b: a // b,
    "%": lambda a, b: a % abs(b),
    "min": min,
}
MAX_DEPTH = 100
MAX_TEXT = 2**20
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
    domain: tuple[tuple[Expr, int | None, int | None], ...] = ()
    kind: str = "defined"

    def expressions(self) -> list[Expr]:
        """The results, then the expressions of the domain."""
        return [*self.results, *(e for e, _, _ in self.domain)]

    def outcome(self, point: Sequence[int]) -> tuple[int, ...] | None:
        """The results at a point; None outside of the domain, where also a divisor is 0."""
        at = dict(zip(chain(*self.names), point, strict=True))
        try:
            values = tuple(value_at(e, at) for e in self.results)
            bounds = ((value_at(e, at), lower, upper) for e, lower, upper in self.domain)
            is_inside = all((a is None or a <= v) and (b is None or v <= b) for v, a, b in bounds)
        except ZeroDivisionError:
            return None
        return values if is_inside and self.kind == "defined" else None

    def points(self) -> Iterator[tuple[int, ...]] | None:
        """All points within the bounds of the variables; None where these are too many."""
        bounds = {
            e: range(a, b + 1) for e, a, b in self.domain if isinstance(e, str) and a is not None and b is not None
        }
        ranges = [bounds.get(name, range(MAX_POINTS + 1)) for name in chain(*self.names)]
        return product(*ranges) if prod(map(len, ranges)) <= MAX_POINTS else None

    def replaced(self, by: Mapping[str, Expr], names: tuple[tuple[str, ...], ...]) -> MapText:
        """The map of these variables, with names in its expressions replaced."""
        domain = tuple((replaced(e, by), a, b) for e, a, b in self.domain)
        return MapText(names, tuple(replaced(e, by) for e in self.results), domain, self.kind)


class Reader:
    """The tokens of a text and the place among them."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_TEXT:
            raise TextError(f"a text has at most {MAX_TEXT} characters, not {len(text)}")
        self.tokens = [(token[1], token.start(1)) for token in TOKEN.finditer(text)] + [("", len(text))]
        self.at = self.depth = 0

    def skips(self, *expected: str) -> str:
        token = self.tokens[self.at][0]
        self.at += token in expected
        return token if token in expected else ""

    def take(self, *expected: str) -> str:
        return self.skips(*expected) or self.fail(" or ".join(expected))

    def fail(self, expected: str) -> NoReturn:
        raise TextError(f"expected {expected} at character {self.tokens[self.at][1]}")

    def sum(self) -> Expr:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TextError(f"nested deeper than {MAX_DEPTH} brackets at character {self.tokens[self.at][1]}")
        terms = [self.product()]
        while sign := self.skips("+", "-"):
            terms.append(negated(self.product()) if sign == "-" else self.product())
        self.depth -= 1
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
        token = self.tokens[self.at][0]
        if not token[:1].isalnum() and token[:1] != "_":
            self.fail("a number, a name or a bracket")
        self.at += 1
        if token == "min":
            return token, self.list("(", ")")
        if token == "max":
            return negated(("min", tuple(map(negated, self.list("(", ")")))))
        return int(token) if token.isdigit() else token

    def list(self, opening: str, closing: str) -> tuple[Expr, ...]:
        self.take(opening)
        items: list[Expr] = []
        while not self.skips(closing):
            if items:
                self.take(",")
            items.append(self.sum())
        return tuple(items)

    def number(self) -> int:
        value = self.operand()
        return value if isinstance(value, int) else self.fail("a number before this")

    def constraint(self) -> tuple[Expr, int | None, int | None]:
        e = self.sum()
        self.take("in")
        self.take("[")
        lower = self.number()
        self.take(",")
        upper = self.number()
        self.take("]")
        is_exact = isinstance(e, str) or lower == upper
        return e, lower if is_exact or lower >= -UNBOUNDED else None, upper if is_exact or upper < UNBOUNDED else None

    def map(self) -> MapText:
        names = [self.list(*b) if b[0] in ("(", self.tokens[self.at][0]) else () for b in ("()", "[]", "{}")]
        self.take("->")
        results = self.list("(", ")")
        domain: list[tuple[Expr, int | None, int | None]] = []
        while self.skips(","):
            if not domain:
                self.take("domain")
                self.take(":")
            domain.append(self.constraint())
        return MapText(tuple(tuple(map(str, group)) for group in names), results, tuple(domain))


def read_expr(text: str) -> Expr:
    """The expression that `text` states. Raises TextError."""
    return whole(text, Reader.sum)


def read_map(text: str) -> MapText:
    """The map that `text` states. Raises TextError."""
    return MapText(kind=text) if text in ("UNDEFINED", "KNOWN EMPTY") else whole(text, Reader.map)


def whole(text: str, read: Callable[[Reader], _Read]) -> _Read:
    reader = Reader(text)
    value = read(reader)
    if reader.at < len(reader.tokens) - 1:
        reader.fail("the end")
    return value


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
