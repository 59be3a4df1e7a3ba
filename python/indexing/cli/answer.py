"""Answers of commands: data for --json, and parts for people, which are written as plain lines or drawn on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from indexing.cli.console import CommandLineError, Json


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells with a header; columns whose names begin with `>` are aligned to the right.

    `plain` are the lines that are written where the table is not drawn.
    """

    head: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    plain: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """Source text; the language is a name that Pygments knows."""

    text: str
    language: str


@dataclass(frozen=True, slots=True)
class Remark:
    """A line about a listing; in plain output, a comment that begins with `mark`."""

    text: str
    mark: str


#: Of these, a line is broken between words where it is too long for a terminal.
Part: TypeAlias = "str | Table | Listing | Remark"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a command: `data` for --json, `parts` for people; `status` is the exit status."""

    data: Json
    parts: Iterable[Part]
    status: int = 0


def plain_lines(parts: Iterable[Part]) -> Iterator[str]:
    """The lines of parts, without tables and colours."""
    for part in parts:
        if isinstance(part, Table):
            yield from part.plain
        elif isinstance(part, Listing):
            yield part.text.rstrip("\n")
        else:
            yield part if isinstance(part, str) else f"{part.mark} {part.text}"


def write_file(path: Path, content: bytes) -> Path:
    """Write a file, and create its folder; a kernel's name is an identifier, so the path remains in the requested folder."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except (OSError, ValueError) as error:
        raise CommandLineError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    return path
