"""The store of measurements: an SQLite file in the user's data folder, with one row for each plan of a fusion on a device."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from platformdirs import user_data_path

from indexing.errors import IndexingError

__all__ = ["KernelRow", "Measured", "State", "Store", "default_path", "plan_of", "plan_text"]

VERSION = 2  # 1 had no programs
MAX_WAIT = 30.0  # seconds that a writer waits for a lock
#: A plan left "started" was being measured when its process died.
State: TypeAlias = Literal["started", "measured", "wrong", "failed"]

_TRIALS = """
CREATE TABLE IF NOT EXISTS trials (
    fusion TEXT NOT NULL,
    plan TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    seconds REAL,
    spread REAL,
    detail TEXT NOT NULL,
    PRIMARY KEY (fusion, plan)
)
"""
_SEARCHES = """
CREATE TABLE IF NOT EXISTS searches (
    fusion TEXT NOT NULL,
    request TEXT NOT NULL,
    plans TEXT NOT NULL,
    PRIMARY KEY (fusion, request)
)
"""
_PROGRAMS = """
CREATE TABLE IF NOT EXISTS programs (
    program TEXT PRIMARY KEY,
    kernels TEXT NOT NULL
)
"""


@dataclass(frozen=True, slots=True)
class KernelRow:
    """A kernel of a program: the `fusion` that it is in the other tables, its name, its emitter and the names of its knobs."""

    fusion: str
    name: str
    emitter: str
    knobs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurement of a plan: median `seconds` and their `spread`, or why there are none (`detail`)."""

    state: State
    attempts: int
    seconds: float | None = None
    spread: float | None = None
    detail: str = ""


def default_path() -> Path:
    """`INDEXING_TUNE_STORE`, else `tuning.sqlite` where the system keeps a user's data."""
    named = os.environ.get("INDEXING_TUNE_STORE")
    return Path(named) if named else user_data_path("indexing", appauthor=False) / "tuning.sqlite"


class Store:
    """One file, opened for each query, so that processes can share it; each measurement is on disk before the next one.

    Raises IndexingError if the file can't be opened, read or written, is not a store, or has a newer version; such a file
    is never overwritten.
    """

    def __init__(self, path: Path | str | None = None, max_wait: float = MAX_WAIT) -> None:
        """The store at `path`, by default the user's; created when first written to. Waits `max_wait` seconds for others."""
        self.path = Path(path) if path is not None else default_path()
        self.max_wait = max_wait

    def found(self, fusion: str) -> dict[str, Measured]:
        """All plans of a fusion, by their text."""
        if not self.path.exists():
            return {}
        with self._open() as connection:
            rows = connection.execute(
                "SELECT plan, state, attempts, seconds, spread, detail FROM trials WHERE fusion = ?", (fusion,)
            )
            return {row[0]: Measured(*row[1:]) for row in rows}

    def put(self, fusion: str, plan: str, measured: Measured) -> None:
        """Write one row; it is on disk when this returns."""
        m = measured
        with self._open() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO trials VALUES (?, ?, ?, ?, ?, ?, ?)",
                (fusion, plan, m.state, m.attempts, m.seconds, m.spread, m.detail),
            )

    def search(self, fusion: str, request: str) -> list[tuple[str, float]] | None:
        """The plans that a finished search tried, in order, with predictions; None if there was no such search."""
        if not self.path.exists():
            return None
        with self._open() as connection:
            row = connection.execute(
                "SELECT plans FROM searches WHERE fusion = ? AND request = ?", (fusion, request)
            ).fetchone()
        return None if row is None else [(str(plan), float(predicted)) for plan, predicted in json.loads(row[0])]

    def put_search(self, fusion: str, request: str, plans: list[tuple[str, float]]) -> None:
        """Record a finished search."""
        with self._open() as connection:
            values = (fusion, request, json.dumps(plans))
            connection.execute("INSERT OR REPLACE INTO searches VALUES (?, ?, ?)", values)

    def kernels(self, program: str) -> list[KernelRow] | None:
        """The kernels that were tuned of a program; None where it isn't known."""
        if not self.path.exists():
            return None
        with self._open() as connection:
            row = connection.execute("SELECT kernels FROM programs WHERE program = ?", (program,)).fetchone()
        return None if row is None else [KernelRow(f, n, e, tuple(names)) for f, n, e, names in json.loads(row[0])]

    def put_kernels(self, program: str, kernels: list[KernelRow]) -> None:
        """Write down the kernels of a program."""
        text = json.dumps([[k.fusion, k.name, k.emitter, k.knobs] for k in kernels])
        with self._open() as connection:
            connection.execute("INSERT OR REPLACE INTO programs VALUES (?, ?)", (program, text))

    def best(self, fusion: str) -> dict[str, int] | None:
        """The fastest plan with correct results; None if none was measured."""
        measured = [(m.seconds, plan) for plan, m in self.found(fusion).items() if m.seconds is not None]
        return plan_of(min(measured)[1]) if measured else None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        connection: sqlite3.Connection | None = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=self.max_wait, isolation_level=None)
            self._check_version(connection)
            yield connection
        except (sqlite3.Error, OSError) as error:
            raise IndexingError(f"the store of measurements {self.path} {self._problem(error)}") from error
        finally:
            if connection is not None:
                connection.close()

    def _check_version(self, connection: sqlite3.Connection) -> None:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise IndexingError(
                f"the store of measurements {self.path} is of version {version}, and this package reads {VERSION}: update "
                "the package, or give another file by INDEXING_TUNE_STORE"
            )
        if version < VERSION:
            for table in (_TRIALS, _SEARCHES, _PROGRAMS):
                connection.execute(table)
            connection.execute(f"PRAGMA user_version = {VERSION}")

    def _problem(self, error: Exception) -> str:
        text = str(error)
        if "locked" in text or "busy" in text:
            return f"is locked by another process for more than {self.max_wait:.0f} seconds: wait for it, or end it"
        if "full" in text:
            return f"can't be written ({text}): make room; all that was measured before is kept"
        if "disk I/O" in text:
            return f"can't be read or written ({text}): is there room for it, and may it grow? what was measured before is kept"
        if "not a database" in text or "malformed" in text or "no such" in text:
            return f"can't be read ({text}): move it away to begin a new one; it is left as it is"
        return f"can't be used: {text}"


def plan_text(plan: Mapping[str, int]) -> str:
    """The text of a plan in the store: equal plans have equal texts."""
    return json.dumps(dict(sorted(plan.items())))


def plan_of(text: str) -> dict[str, int]:
    """The plan of a text."""
    return {str(name): int(value) for name, value in json.loads(text).items()}
