"""Input and output of the command line by standard streams, which may have any encoding, be full, closed or absent."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO, TypeAlias

from indexing.errors import IndexingError

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

STDIN = "<stdin>"


class CommandLineError(IndexingError):
    """An error in the input or of a stream, other than those that functions of the package raise."""

    id = "command-line"


def standard_input() -> bytes:
    """All of standard input."""
    if sys.stdin is None:
        raise CommandLineError("standard input is closed; give a file's name instead of -")
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise CommandLineError(f"standard input: {error.strerror or error}") from error


def write(lines: Iterable[str]) -> None:
    """Write lines to standard output and flush it; characters that its encoding lacks are escaped.

    Raises BrokenPipeError if the pipe is closed, CommandLineError if there is no room.
    """
    if sys.stdout is None:
        raise CommandLineError("standard output is closed: there is nowhere to write the answer")
    try:
        sys.stdout.writelines(_encodable(line, sys.stdout) + "\n" for line in lines)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard(sys.stdout)
        raise
    except OSError as error:
        _discard(sys.stdout)
        raise CommandLineError(f"standard output: {error.strerror or error}") from error


def write_json(data: Json) -> None:
    """Write data as JSON to standard output, as `write` does."""
    write([json.dumps(data, indent=2)])


def print_error(message: str) -> None:
    """Write an error message to standard error, if there is one; control characters are escaped."""
    safe = "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in message)
    first, *others = f"indexing: {safe}".split("\n")
    safe = "\n".join([*(fitted(first) if is_terminal(sys.stderr) else [first]), *others])
    if sys.stderr is not None:
        try:
            print(_encodable(safe, sys.stderr), file=sys.stderr, flush=True)
        except OSError:  # there is no stream left for a message
            _discard(sys.stderr)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether the stream is an open terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def fitted(line: str) -> list[str]:
    """The lines of a terminal's width that a line is broken into, between words; later ones are indented further."""
    wide = shutil.get_terminal_size().columns
    if len(line) <= wide or "\n" in line:
        return line.split("\n")
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(line, wide, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [""]


@contextmanager
def warnings_as_messages() -> Iterator[None]:
    """Print warnings as messages of the command, without source lines."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: print_error(f"warning: {message}")
        yield


def _encodable(text: str, stream: TextIO) -> str:
    """The text, with characters escaped that the stream's encoding lacks."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _discard(stream: TextIO) -> None:
    """Redirect the stream to nowhere, so that flushing its buffer at exit does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
