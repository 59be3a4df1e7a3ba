"""The checker's own reader of expressions, laws and maps, and the writer of none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Expr", "MapText", "TextError", "read_expr", "read_map"]

#: An integer, a letter, or an operator with its operands: `+ * / % min max`.
Expr: TypeAlias = "int | str | tuple[str, Expr, Expr]"

TOKEN = re.compile(r"\s*(?:(\d+)|([A-Za-z_][\w.]*)|(->|[-+*/%(),\[\]{}:]))")
OPERATORS = {"*": "*", "/": "/", "%": "%", "floordiv": "/", "mod": "%", "ceildiv": "ceil"}
MAX_DEPTH = 100
#: Bounds of this size mean "unbounded".
UNBOUNDED = 2**63 - 1


class TextError(ValueError):
    """Text that is no expression or map: `at` is the index of the character."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message, at)
        self.message = message
        self.at = at


@dataclass(frozen=True)
class MapText:
    """A map: its results, and its domain as expressions with inclusive bounds, variables first."""

    results: tuple[Expr, ...]
    domain: tuple[tuple[Expr, int, int], ...]
    kind: str


class Reader:
    """A text and the place in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0

    def peek(self) -> str:
        found = TOKEN.match(self.text, self.at)
        return "" if found is None else found[0].strip()

    def take(self, expected: str = "") -> str:
        found = TOKEN.match(self.text, self.at)
        if found is None or (expected and found[0].strip() != expected):
            raise TextError(f"expected {expected or 'a number, a name or a bracket'}", self.at)
        self.at = found.end()
        return found[0].strip()

    def skips(self, token: str) -> bool:
        if self.peek() != token:
            return False
        self.take()
        return True

    def sum(self) -> Expr:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TextError(f"nested deeper than {MAX_DEPTH} brackets", self.at)
        value = self.product()
        while self.peek() in ("+", "-"):
            minus = self.take() == "-"
            right = self.product()
            value = ("+", value, ("*", -1, right) if minus else right)
        self.depth -= 1
        return value

    def product(self) -> Expr:
        value = self.operand()
        while self.peek() in OPERATORS:
            name = OPERATORS[self.take()]
            right = self.operand()
            if name == "ceil":
                value = ("*", -1, ("/", ("*", -1, value), right))
            else:
                value = (name, value, right)
        return value

    def operand(self) -> Expr:
        signs = 0
        while self.skips("-"):
            signs += 1
        token = self.take()
        value: Expr
        if token == "(":
            value = self.sum()
            self.take(")")
        elif token.isdigit():
            value = int(token)
        elif token in ("min", "max"):
            value = self.extremum(token)
        elif token[0].isalpha() or token[0] == "_":
            value = token
        else:
            raise TextError("expected a number, a name or a bracket", self.at - len(token))
        return ("*", -1, value) if signs % 2 else value

    def extremum(self, name: str) -> Expr:
        self.take("(")
        value = self.sum()
        while self.skips(","):
            value = (name, value, self.sum())
        self.take(")")
        return value

    def number(self) -> int:
        sign = -1 if self.skips("-") else 1
        return sign * int(self.take())

    def bounds(self) -> tuple[int, int]:
        self.take("in")
        self.take("[")
        lower = self.number()
        self.take(",")
        upper = self.number()
        self.take("]")
        return lower, upper

    def end(self) -> None:
        if self.text[self.at :].strip():
            raise TextError("expected the end", self.at)

    def list(self, opening: str, closing: str) -> tuple[Expr, ...]:
        self.take(opening)
        found: list[Expr] = []
        while not self.skips(closing):
            if found:
                self.take(",")
            found.append(self.sum())
        return tuple(found)


def read_expr(text: str) -> Expr:
    """The expression that `text` states. Raises TextError."""
    reader = Reader(text)
    value = reader.sum()
    reader.end()
    return value


def read_map(text: str) -> MapText:
    """The map that `text` states. Raises TextError."""
    if text in ("UNDEFINED", "KNOWN EMPTY"):
        return MapText((), (), text.lower())
    reader = Reader(text)
    reader.list("(", ")")
    if reader.peek() == "[":
        reader.list("[", "]")
    if reader.peek() == "{":
        reader.list("{", "}")
    reader.take("->")
    results = reader.list("(", ")")
    domain: list[tuple[Expr, int, int]] = []
    if reader.skips(","):
        reader.take("domain")
        reader.take(":")
        while not domain or reader.skips(","):
            domain.append((reader.sum(), *reader.bounds()))
    reader.end()
    return MapText(results, tuple(domain), "defined")
