"""Texts in files: compressed or not, in UTF-8."""

from __future__ import annotations

import gzip
import os
import pathlib
import zlib
from typing import BinaryIO

from indexing.errors import IndexingError, ParseError

GZIP = b"\x1f\x8b"


def read_bytes(source: str | os.PathLike[str] | BinaryIO) -> tuple[bytes, str]:
    """The bytes of a file, given by its path or opened, and its name."""
    if hasattr(source, "read"):
        name = getattr(source, "name", "")
        return source.read(), name if isinstance(name, str) and name else "<input>"
    try:
        return pathlib.Path(source).read_bytes(), os.fspath(source)
    except ValueError as error:  # a zero byte, or half of a character
        raise IndexingError(f"{source!r} is no path of a file: {error}") from None


def decoded(data: bytes) -> str:
    """The text of bytes in UTF-8, compressed by gzip or not. Raises ParseError where they are neither."""
    if data.startswith(GZIP):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise ParseError(f"this is no complete gzip file: {error}", 1, 1) from None
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        raise ParseError(f"this is no UTF-8 text: byte {data[error.start]:#04x}", line, column) from None
