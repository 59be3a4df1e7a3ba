"""Locks between processes: one has a file to itself at a time. The system lets go of the lock of a process that dies."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from indexing.errors import IndexingError


@contextmanager
def locked(path: Path, max_wait: float, use: str) -> Iterator[None]:
    """Hold the lock at `path`, an empty SQLite file; wait at most `max_wait` seconds for other processes.

    Raises IndexingError if another process has it for longer, which says what the lock is for (`use`), or if the system refuses
    it, as of a full disk; OSError if the file can't be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    connection = sqlite3.connect(path, timeout=max_wait, isolation_level=None)
    try:
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY  # the rest is what it waited for
            raise IndexingError(f"{use} (it has {path})" if is_busy else f"{path} can't be locked: {error}") from None
        yield
    finally:
        connection.close()
