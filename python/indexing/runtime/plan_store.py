"""The store of measurements: an SQLite file in the user's data folder, with one row for each plan of a fusion on a device."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from platformdirs import user_data_path

from indexing.errors import IndexingError

VERSION = 4  # 3 had plans with a knob `splits`
MAX_WAIT = 30.0  # seconds that a writer waits for a lock
#: A plan left "started" was being measured when its process died.
State: TypeAlias = Literal["started", "measured", "wrong", "failed"]

_TABLES = (
    """
CREATE TABLE IF NOT EXISTS fusions (
    fusion TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    emitter TEXT NOT NULL,
    device TEXT NOT NULL,
    version TEXT NOT NULL
)
""",
    """
CREATE TABLE IF NOT EXISTS trials (
    fusion TEXT NOT NULL,
    conditions TEXT NOT NULL,
    plan TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    seconds REAL,
    spread REAL,
    detail TEXT NOT NULL,
    gain REAL,
    gain_low REAL,
    gain_high REAL,
    PRIMARY KEY (fusion, conditions, plan)
)
""",
    """
CREATE TABLE IF NOT EXISTS searches (
    fusion TEXT NOT NULL,
    request TEXT NOT NULL,
    plans TEXT NOT NULL,
    PRIMARY KEY (fusion, request)
)
""",
    """
CREATE TABLE IF NOT EXISTS programs (
    program TEXT PRIMARY KEY,
    kernels TEXT NOT NULL
)
""",
)
_TRIAL = "plan, state, attempts, seconds, spread, detail, gain, gain_low, gain_high"


@dataclass(frozen=True, slots=True)
class FusionRow:
    """A fusion that was tuned: its key, the name of its computation when it was tuned last, its emitter, device and version."""

    fusion: str
    name: str
    emitter: str
    device: str
    version: str


@dataclass(frozen=True, slots=True)
class KernelRow:
    """A kernel of a program: the `fusion` that it is in the other tables, its name, its emitter and the names of its knobs."""

    fusion: str
    name: str
    emitter: str
    knobs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gain:
    """The default plan's time divided by a plan's: the median of paired samples, and the ends of its confidence interval."""

    median: float
    low: float
    high: float


#: That of the default plan.
NO_GAIN = Gain(1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurement of a plan: median `seconds` and their `spread`, or why there are none (`detail`).

    Of the plans of a finished search, the default and the fastest one have a `gain` if it is certain.
    """

    state: State
    attempts: int
    seconds: float | None = None
    spread: float | None = None
    detail: str = ""
    gain: Gain | None = None


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

    def check_exists(self, is_named: bool) -> None:
        """Raise IndexingError if a file was named, by the caller or by `INDEXING_TUNE_STORE`, and is not there."""
        by_variable = not is_named and os.environ.get("INDEXING_TUNE_STORE")
        if (is_named or by_variable) and not self.path.exists():
            where = f"{self.path} (INDEXING_TUNE_STORE)" if by_variable else self.path
            raise IndexingError(f"there is no store {where}; `tune` and `merge_into` make one")

    def plans(self, fusion: str, conditions: str = "") -> dict[str, Measured]:
        """The plans of a fusion that were measured under some conditions ("" are those of a call without options), by text."""
        query = f"SELECT {_TRIAL} FROM trials WHERE fusion = ? AND conditions = ?"
        return {row[0]: _measured(row[1:]) for row in self._rows(query, fusion, conditions)}

    def trials(self, fusion: str) -> list[tuple[str, str, Measured]]:
        """The conditions, plan and measurement of all trials of a fusion, in the order in which they were written last."""
        rows = self._rows(f"SELECT conditions, {_TRIAL} FROM trials WHERE fusion = ? ORDER BY rowid", fusion)
        return [(conditions, plan, _measured(row)) for conditions, plan, *row in rows]

    def put(self, fusion: str, plan: str, measured: Measured, conditions: str = "") -> None:
        """Write one row; it is on disk when this returns."""
        m, g = measured, measured.gain
        gain = (None, None, None) if g is None else (g.median, g.low, g.high)
        values = (fusion, conditions, plan, m.state, m.attempts, m.seconds, m.spread, m.detail, *gain)
        self._write("INSERT OR REPLACE INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)

    def fusions(self) -> list[FusionRow]:
        """All fusions, by name."""
        return [FusionRow(*row) for row in self._rows("SELECT * FROM fusions ORDER BY name, device, fusion")]

    def put_fusion(self, row: FusionRow) -> None:
        """Write down what a fusion is."""
        self._write("INSERT OR REPLACE INTO fusions VALUES (?, ?, ?, ?, ?)", tuple(asdict(row).values()))

    def search(self, fusion: str, request: str) -> list[tuple[str, float]] | None:
        """The plans that a finished search tried, in order, with predictions; None if there was no such search."""
        rows = self._rows("SELECT plans FROM searches WHERE fusion = ? AND request = ?", fusion, request)
        return [(str(plan), float(predicted)) for plan, predicted in json.loads(rows[0][0])] if rows else None

    def put_search(self, fusion: str, request: str, plans: list[tuple[str, float]]) -> None:
        """Record a finished search."""
        self._write("INSERT OR REPLACE INTO searches VALUES (?, ?, ?)", (fusion, request, json.dumps(plans)))

    def kernels(self, program: str) -> list[KernelRow] | None:
        """The kernels that were tuned of a program; None where it isn't known."""
        rows = self._rows("SELECT kernels FROM programs WHERE program = ?", program)
        return [KernelRow(f, n, e, tuple(names)) for f, n, e, names in json.loads(rows[0][0])] if rows else None

    def put_kernels(self, program: str, kernels: list[KernelRow]) -> None:
        """Write down the kernels of a program."""
        text = json.dumps([[k.fusion, k.name, k.emitter, k.knobs] for k in kernels])
        self._write("INSERT OR REPLACE INTO programs VALUES (?, ?)", (program, text))

    def best(self, fusion: str) -> dict[str, int] | None:
        """The plan that the last search found to be the fastest for certain; None if there was none."""
        query = "SELECT plan FROM trials WHERE fusion = ? AND gain IS NOT NULL ORDER BY rowid DESC LIMIT 1"
        rows = self._rows(query, fusion)
        return plan_of(rows[0][0]) if rows else None

    def _rows(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        if not self.path.exists():
            return []
        with self._open() as connection:
            return list(connection.execute(query, values))

    def _write(self, statement: str, values: Iterable[object]) -> None:
        with self._open() as connection:
            connection.execute(statement, tuple(values))

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
        if version not in (0, VERSION):
            remedy = "update the package" if version > VERSION else "its keys are of another kind: move it away"
            raise IndexingError(
                f"the store of measurements {self.path} is of version {version}, and this package reads {VERSION}: {remedy}, "
                "or give another file by INDEXING_TUNE_STORE"
            )
        if version == 0:
            for table in _TABLES:
                connection.execute(table)
            connection.execute(f"PRAGMA user_version = {VERSION}")

    def _problem(self, error: Exception) -> str:
        text = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
        if "locked" in text or "busy" in text:
            return f"is locked by another process for more than {self.max_wait:.0f} seconds: wait for it, or end it"
        if "full" in text:
            return f"can't be written ({text}): make room; all that was measured before is kept"
        if "disk I/O" in text:
            return f"can't be read or written ({text}): is there room for it, and may it grow? what was measured before is kept"
        if "not a database" in text or "malformed" in text or "no such" in text:
            return f"can't be read ({text}): move it away to begin a new one; it is left as it is"
        return f"can't be used ({text}): give another file by `store` or by INDEXING_TUNE_STORE"


def _measured(row: Sequence[Any]) -> Measured:
    state, attempts, seconds, spread, detail, *gain = row
    return Measured(state, attempts, seconds, spread, detail, None if gain[0] is None else Gain(*gain))


def plan_text(plan: Mapping[str, int]) -> str:
    """The text of a plan in the store: equal plans have equal texts."""
    return json.dumps(dict(sorted(plan.items())))


def plan_of(text: str) -> dict[str, int]:
    """The plan of a text."""
    return {str(name): int(value) for name, value in json.loads(text).items()}
