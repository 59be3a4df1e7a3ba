"""Scanning of one line of a kernel's text, from left to right: words, numbers, symbols and index expressions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NoReturn

from indexing._core import SymbolicExpr
from indexing.errors import ParseError

OPERATORS = frozenset({"floordiv", "ceildiv", "mod", "max", "min"})
OPENING, CLOSING = "([{", ")]}"


class Line:
    """One line, and the position up to which it has been read."""

    def __init__(self, number: int, text: str) -> None:
        """Start a line; `number` counts from 1. A comment is removed, and kept in `comment`."""
        self.number, self.whole = number, text
        self.text, _, comment = text.partition("#")
        self.comment = comment.strip()
        self.at = self.indent = len(self.text) - len(self.text.lstrip(" "))

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        """Raise ParseError at position `at`, by default the current one."""
        raise ParseError(message, self.number, (self.at if at is None else at) + 1, self.whole)

    def expected(self, what: str) -> NoReturn:
        """Raise ParseError: the next token is not what is expected."""
        self._skip()
        rest = self.text[self.at :].split(None, 1)
        self.fail(f"expected {what}, found {repr(rest[0]) if rest else 'the end of the line'}")

    def _skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    # ------------------------------------------------------------ symbols and words

    def sees(self, symbol: str) -> bool:
        """Whether the symbol comes next."""
        self._skip()
        return self.text.startswith(symbol, self.at)

    def takes(self, symbol: str) -> bool:
        """Read the symbol, if it comes next; returns whether it does."""
        result = self.sees(symbol)
        self.at += len(symbol) if result else 0
        return result

    def expect(self, symbol: str) -> None:
        """Read a symbol."""
        if not self.takes(symbol):
            self.expected(f"'{symbol}'")

    def next_word(self) -> str:
        """The next word, without reading it; empty if there is none."""
        self._skip()
        end = self.at
        while end < len(self.text) and (self.text[end].isalnum() or self.text[end] == "_"):
            end += 1
        word = self.text[self.at : end]
        return "" if word[:1].isdigit() else word

    def word(self, what: str = "a name") -> str:
        """Read a word of letters, digits and underscores."""
        result = self.next_word()
        if not result:
            self.expected(what)
        self.at += len(result)
        return result

    def takes_word(self, word: str) -> bool:
        """Read the word, if it comes next; returns whether it does."""
        result = self.next_word() == word
        self.at += len(word) if result else 0
        return result

    def expect_word(self, word: str) -> None:
        """Read the given word."""
        if not self.takes_word(word):
            self.expected(f"'{word}'")

    def one_of(self, words: Collection[str], what: str) -> str:
        """Read one of the given words."""
        if self.next_word() not in words:
            self.expected(what)
        return self.word()

    def until_space(self, what: str) -> str:
        """Read up to the next space."""
        self._skip()
        result = self.text[self.at :].split(None, 1)
        if not result:
            self.expected(what)
        self.at += len(result[0])
        return result[0]

    def start(self) -> int:
        """The position of the next word or symbol."""
        self._skip()
        return self.at

    def has_more(self) -> bool:
        """Whether something follows on the line."""
        self._skip()
        return self.at < len(self.text)

    def end(self) -> None:
        """Raise ParseError unless the whole line has been read."""
        self._skip()
        if self.at < len(self.text):
            self.expected("the end of the line")

    # ------------------------------------------------------------ numbers

    def integer(self) -> int:
        """Read an integer."""
        value = self.number_value()
        if isinstance(value, bool) or not isinstance(value, int):
            self.fail("expected an integer")
        return value

    def number_value(self) -> bool | int | float | complex:
        """Read a number or a boolean in Python's notation."""
        self._skip()
        start, end = self.at, self.at
        if self.text.startswith("(", start):
            end = self.text.find(")", start) + 1 or len(self.text)
        else:
            while end < len(self.text) and (self.text[end].isalnum() or self.text[end] in "+-."):
                end += 1
        result = _number(self.text[start:end])
        if result is None:
            self.expected("a number")
        self.at = end
        return result

    def integers(self, opening: str, closing: str) -> tuple[int, ...]:
        """Read comma-separated integers in brackets."""
        self.expect(opening)
        result: list[int] = []
        while not self.takes(closing):
            if result:
                self.expect(",")
            result.append(self.integer())
        return tuple(result)

    # ------------------------------------------------------------ index expressions

    def expression(self, names: Mapping[str, int], stops: tuple[str, ...] = ()) -> SymbolicExpr:
        """Read an index expression, up to a comma or closing bracket outside of it, or one of the words `stops`."""
        self._skip()
        start, depth = self.at, 0
        while self.at < len(self.text):
            character = self.text[self.at]
            if depth == 0 and (character in CLOSING or character == ","):
                break
            word = self.next_word() if not character.isspace() else ""
            if word and depth == 0 and word in stops:
                break
            if word and word not in names and word not in OPERATORS:
                self.fail(f"there is no index variable {word} here")
            depth += (character in OPENING) - (character in CLOSING)
            self.at += len(word) or self._digits() or 1
        text = self.text[start : self.at]
        try:
            return SymbolicExpr.parse(text, names=dict(names))
        except ParseError as error:
            self.fail(error.message, start + error.column - 1)

    def _digits(self) -> int:
        end = self.at
        while end < len(self.text) and self.text[end].isdigit():
            end += 1
        return end - self.at


def _number(text: str) -> bool | int | float | complex | None:
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float, complex):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


class Lines:
    """The lines of a text that have not been read; empty lines and comment lines are skipped."""

    def __init__(self, text: str) -> None:
        numbered = (Line(n, line) for n, line in enumerate(text.splitlines(), 1))
        self.lines = [line for line in numbered if line.text.strip()]
        self.at = 0
        self.after = Line(text.count("\n") + 1, "")

    def next(self) -> Line | None:
        """The next line, without reading it."""
        return self.lines[self.at] if self.at < len(self.lines) else None

    def skip(self) -> None:
        """Skip the next line."""
        self.at += 1

    def starts_with(self, word: str, indent: int = 0) -> bool:
        """Whether the next line begins with the word, indented by that many spaces."""
        line = self.next()
        return line is not None and line.indent == indent and line.next_word() == word

    def take(self, word: str, indent: int = 0) -> Line:
        """Read a line that begins with the word, and the word."""
        line = self.next()
        if line is None:
            self.after.expected(f"'{word}'")
        if line.indent != indent:
            line.fail(f"expected '{word}' behind {indent} spaces")
        line.expect_word(word)
        self.at += 1
        return line
