"""The errors that this package raises for bad input; each has a stable `id`."""

from collections.abc import Iterable

#: The least likeness of names that may be mistaken for each other: twice the letters in common, of those of both.
MIN_SIMILAR = 0.7
MIN_ABRIDGED = 3  #: letters of a name that may stand for a longer one


class IndexingError(Exception):
    """The base of this package's errors: a message that says what is wrong, where, and what to do."""

    id: str = "indexing-error"


class ParseError(IndexingError):
    """Text that cannot be read: `line` and `column` from 1, what was expected, and the line with a caret under the place.

    `file` names where the text comes from, where that is known.
    """

    id = "parse-error"

    def __init__(
        self, message: str, line: int, column: int, source_line: str = "", caret: int | None = None, file: str = ""
    ) -> None:
        """`caret`: characters of `source_line` in front of the place; the column says so where the line is whole."""
        self.message = message
        self.line = line
        self.column = column
        self.source_line = source_line
        self.caret = column - 1 if caret is None else caret
        self.file = file
        super().__init__(message, line, column, source_line, self.caret, file)

    def in_file(self, file: str) -> "ParseError":
        """The same error of a text that comes from `file`."""
        return ParseError(self.message, self.line, self.column, self.source_line, self.caret, file)

    def __str__(self) -> str:
        """The message with line and column, then the source line, unless it is empty, with a caret below the place."""
        return at_place(self.message, self.line, self.column, self.source_line, self.caret, self.file)


def at_place(message: str, line: int, column: int, source_line: str, caret: int, file: str = "") -> str:
    """The message with line and column (and the file's name), then the source line, unless it is empty, with a caret below the
    place.
    """
    place = f"{file}:{line}:{column}" if file else f"line {line}, column {column}"
    if not source_line:
        return f"{place}: {message}"
    return f"{place}: {message}\n{source_line}\n{' ' * caret}^"


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """The end of a message about a name that does not exist: those that it abridges, without what continues another one of
    them, or the most similar name, if one is similar.
    """
    from difflib import get_close_matches  # for errors alone

    known = list(names)
    abridged = [other for other in known if len(name) >= MIN_ABRIDGED and other.startswith(name)]
    near = [a for a in abridged if not any(a != b and a.startswith(b) for b in abridged)]
    near = sorted(near, key=len) or get_close_matches(name, known, 1, MIN_SIMILAR)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""


class UnsupportedOp(IndexingError):
    """A program or a request that this package cannot handle: which op, and what is supported instead.

    `line` and `column`, from 1, are those of an instruction in HLO text; None where none is meant.
    """

    id = "unsupported-op"

    def __init__(self, message: str = "", line: int | None = None, column: int | None = None) -> None:
        """`message` says what is not handled."""
        self.line = line
        self.column = column
        super().__init__(message)


class InvalidMap(IndexingError):
    """A map (or an expression) whose parts do not fit together, or that an operation or a notation does not allow."""

    id = "invalid-map"


class CompileError(IndexingError):
    """A kernel that its compiler refused, with the compiler's log and the numbered source."""

    id = "compile-error"


class Overflow(IndexingError):
    """A result that leaves the range of int64; `array` is the array of a program that is too large, if that is known."""

    id = "overflow"

    def __init__(self, message: str, array: str = "") -> None:
        """`message` says what leaves the range."""
        self.array = array
        super().__init__(message, array)

    def __str__(self) -> str:
        """The message."""
        return str(self.args[0])


class Undecided(IndexingError):
    """A question about a map that cannot be answered exactly within the work allowed."""

    id = "undecided"


class ReferenceFallback(UserWarning):
    """Says once which back ends do not work, where `device="auto"` passes them over: for the CPU, or for numpy, slowly."""
