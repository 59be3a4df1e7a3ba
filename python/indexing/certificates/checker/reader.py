"""The checker's own reader of expressions and maps, and their values at a point."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["UNBOUNDED", "Expr", "MapText", "TextError", "read_expr", "read_map", "replaced", "value_at"]

#: An integer, a name, or an operator, one of `+ * / % min max`, with its operands.
Expr: TypeAlias = "int | str | tuple[str, tuple[Expr, ...]]"

TOKEN = re.compile(r"\s*(\d+|[A-Za-z_][\w.]*|->|[-+*/%(),\[\]{}:])")
OPERATORS = {"*": "*", "/": "/", "%": "%", "floordiv": "/", "mod": "%", "ceildiv": "ceildiv"}
MAX_DEPTH = 100
MAX_TEXT = 2**20
#: Bounds of this size mean "unbounded".
UNBOUNDED = 2**63 - 1


class TextError(ValueError):
    """Text that is no expression or map; the message says where."""


@dataclass(frozen=True)
class MapText:
    """A map: the names of its dimensions, ranges and runtime variables, its results, its domain with inclusive bounds."""

    names: tuple[tuple[str, ...], ...] = ((), (), ())
    results: tuple[Expr, ...] = ()
    domain: tuple[tuple[Expr, int, int], ...] = ()
    kind: str = "defined"

    def expressions(self) -> list[Expr]:
        """The results, then the expressions of the domain."""
        return [*self.results, *(e for e, _, _ in self.domain)]


class Reader:
    """A text and the place in it."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_TEXT:
            raise TextError(f"a text has at most {MAX_TEXT} characters, not {len(text)}")
        self.text = text
        self.at = 0
        self.depth = 0

    def peek(self) -> str:
        token = TOKEN.match(self.text, self.at)
        return "" if token is None else token[1]

    def take(self, expected: str = "") -> str:
        token = TOKEN.match(self.text, self.at)
        if token is None or (expected and token[1] != expected):
            raise self.error(expected or "a number, a name or a bracket")
        self.at = token.end()
        return token[1]

    def error(self, expected: str) -> TextError:
        return TextError(f"expected {expected} at character {self.at}")

    def skips(self, token: str) -> bool:
        if self.peek() != token:
            return False
        self.take()
        return True

    def sum(self) -> Expr:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TextError(f"nested deeper than {MAX_DEPTH} brackets at character {self.at}")
        terms = [self.product()]
        while self.peek() in ("+", "-"):
            minus = self.take() == "-"
            terms.append(negated(self.product()) if minus else self.product())
        self.depth -= 1
        return terms[0] if len(terms) == 1 else ("+", tuple(terms))

    def product(self) -> Expr:
        value = self.operand()
        while self.peek() in OPERATORS:
            name = OPERATORS[self.take()]
            right = self.operand()
            value = negated(("/", (negated(value), right))) if name == "ceildiv" else (name, (value, right))
        return value

    def operand(self) -> Expr:
        minus = False
        while self.skips("-"):
            minus = not minus
        token = self.take()
        value: Expr = token
        if token == "(":
            value = self.sum()
            self.take(")")
        elif token in ("min", "max"):
            value = (token, self.list("(", ")"))
        elif token[0].isdigit():
            value = int(token)
        elif not (token[0].isalpha() or token[0] == "_"):
            self.at -= len(token)
            raise self.error("a number, a name or a bracket")
        return negated(value) if minus else value

    def list(self, opening: str, closing: str) -> tuple[Expr, ...]:
        self.take(opening)
        items: list[Expr] = []
        while not self.skips(closing):
            if items:
                self.take(",")
            items.append(self.sum())
        return tuple(items)

    def number(self) -> int:
        minus = self.skips("-")
        value = int(self.take())
        return -value if minus else value

    def constraint(self) -> tuple[Expr, int, int]:
        e = self.sum()
        self.take("in")
        self.take("[")
        lower = self.number()
        self.take(",")
        upper = self.number()
        self.take("]")
        return e, lower, upper

    def map(self) -> MapText:
        names = [self.list(*b) if b[0] == "(" or self.peek() == b[0] else () for b in ("()", "[]", "{}")]
        self.take("->")
        results = self.list("(", ")")
        domain: list[tuple[Expr, int, int]] = []
        if self.skips(","):
            self.take("domain")
            self.take(":")
            domain.append(self.constraint())
            while self.skips(","):
                domain.append(self.constraint())
        return MapText(tuple(tuple(map(str, group)) for group in names), results, tuple(domain))

    def end(self) -> None:
        if self.text[self.at :].strip():
            raise self.error("the end")


def read_expr(text: str) -> Expr:
    """The expression that `text` states. Raises TextError."""
    reader = Reader(text)
    value = reader.sum()
    reader.end()
    return value


def read_map(text: str) -> MapText:
    """The map that `text` states. Raises TextError."""
    if text in ("UNDEFINED", "KNOWN EMPTY"):
        return MapText(kind=text)
    reader = Reader(text)
    value = reader.map()
    reader.end()
    return value


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
    if isinstance(e, int):
        return e
    if isinstance(e, str):
        return point[e]
    values = [value_at(o, point) for o in e[1]]
    match e[0]:
        case "+":
            return sum(values)
        case "*":
            return values[0] * values[1]
        case "/":
            return values[0] // values[1]
        case "%":
            return values[0] % abs(values[1])
    return min(values) if e[0] == "min" else max(values)
