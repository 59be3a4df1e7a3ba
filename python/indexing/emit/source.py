"""Writing C: lines with indentation, and the translation unit that declares what the text uses, in a fixed order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from indexing.emit.dialect import TABLES
from indexing.emit.intrinsics import library_functions, spell
from indexing.emit.kernel import Dialect
from indexing.emit.types import typedefs

_VALUE = re.compile(r"\bv\d+\b")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


class Writer:
    """Lines of a function's body, indented by the blocks that are open."""

    def __init__(self, depth: int = 1) -> None:
        """`depth`: how many blocks are open around the first line."""
        self.lines: list[str] = []
        self.depth = depth
        self.droppable: set[str] = set()  # constants whose lines go where nothing else names them

    def kept_lines(self) -> list[str]:
        """All lines but those of droppable constants that are not used."""
        if not self.droppable:
            return self.lines
        uses = Counter(name for line in self.lines for name in _VALUE.findall(line))
        unused = {name for name in self.droppable if uses[name] == 1}
        return [line for line in self.lines if not unused.intersection(_VALUE.findall(line))]

    def line(self, text: str) -> None:
        """Append one line."""
        self.lines.append("  " * self.depth + text)

    def insert(self, at: int, text: str, depth: int) -> None:
        """Put one line in front of line number `at`."""
        self.lines.insert(at, "  " * depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Everything written inside stands between `head {` and `}`."""
        self.line(f"{head} {{")
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
            self.line("}")


def sanitized(name: str) -> str:
    """A name from HLO as it may stand in a comment: letters, digits, `_`, `.`, `-`, at most 80 of them."""
    return _UNSAFE.sub("_", name)[:80]


def identifier(text: str) -> str:
    """An opcode as part of a C name."""
    return re.sub(r"[^A-Za-z0-9]+", "_", text)


def translation_unit(dialect: Dialect, comment: str, definitions: Sequence[str], extra: Iterable[str] = ()) -> str:
    """The whole source: prelude, typedefs and intrinsics that `definitions` use, then these, all spelled for `dialect`.

    `definitions` are texts with `@` tokens, callees first. `extra` are declarations of types, before the intrinsics.
    """
    body = "\n\n".join(definitions)
    declared = [spell(e, dialect) for e in extra]
    library = library_functions(body, dialect)
    text = spell(body, dialect)
    everything = "\n".join([*declared, *library, text])
    head = [*TABLES[dialect].prelude, *typedefs(everything, dialect), *declared]
    parts = [f"// {comment}", "\n".join(head), *library, text]
    return "\n\n".join(p for p in parts if p) + "\n"
