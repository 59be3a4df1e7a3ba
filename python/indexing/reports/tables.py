"""Tables of programs and fusions as Parquet: parts in two folders, each written as a whole."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from indexing._core import __version__
from indexing.device.record import Device
from indexing.errors import IndexingError, UnsupportedOp
from indexing.extras import missing_extra
from indexing.reports.file_rows import FUSION_COLUMNS, PROGRAM_COLUMNS, Cells, Column, FileRows

PART = 64  # programs of a part
MAX_PENDING = 10.0  # seconds that a row is in memory only
#: A program of a table: its path, content, version and device.
Key: TypeAlias = tuple[str, str, str, str]
_KEY = ("path", "content", "version", "device")


class Tables:
    """The parts below a folder. That of fusions is written first, so that a part of programs implies one of fusions."""

    def __init__(self, out: Path, clock: Callable[[], float] = time.monotonic) -> None:
        """Make the folders where they are not there. Raises UnsupportedOp without the extra `data`."""
        self.programs, self.fusions = out / "programs", out / "fusions"
        self._arrow, self._parquet = _arrow("pyarrow"), _arrow("pyarrow.parquet")
        self._clock = clock
        self._rows: list[FileRows] = []
        self._pending_since = 0.0
        for folder in (self.programs, self.fusions):
            folder.mkdir(parents=True, exist_ok=True)

    def known(self, device: Device, without_errors: bool) -> dict[tuple[str, str], str | None]:
        """The errors (None: there was none) of programs that this version analyzed for a device, by path and content.

        Parts of interrupted runs are removed.
        """
        for part in self.fusions.glob("*.parquet"):
            if not (self.programs / part.name).exists():
                part.unlink()  # a run was killed between the two
        rows = (r for part in self._parts() for r in self._read(part, (*_KEY, "error")))
        ours = [r for r in rows if (r["version"], r["device"]) == (__version__, str(device))]
        errors = {_key(r)[:2]: None if r["error"] is None else str(r["error"]) for r in ours}
        return {key: error for key, error in errors.items() if error is None or not without_errors}

    def written(self, done: Iterable[FileRows]) -> Iterator[FileRows]:
        """Yield the rows, and write them as soon as they fill a part; `flush_if_due` writes those that have waited."""
        for rows in done:
            if not self._rows:
                self._pending_since = self._clock()
            self._rows.append(rows)
            if len(self._rows) >= PART:
                self.flush()
            yield rows

    def flush_if_due(self) -> None:
        """Write the pending rows if the first of them has waited long enough."""
        if self._rows and self._clock() - self._pending_since >= MAX_PENDING:
            self.flush()

    def flush(self) -> None:
        """Write the pending rows as a part."""
        if not self._rows:
            return
        last = max((int(p.stem) for p in self._parts()), default=-1)
        name = f"{last + 1:06}.parquet"
        self._write(self.fusions / name, FUSION_COLUMNS, [f for r in self._rows for f in r.fusions])
        self._write(self.programs / name, PROGRAM_COLUMNS, [r.program for r in self._rows])
        self._rows = []

    def drop_superseded(self) -> None:
        """Remove the rows of programs that were analyzed again for the same device: of equal paths, the last ones stay."""
        newest: dict[tuple[str, str], tuple[str, Key]] = {}
        for part in self._parts():
            for r in self._read(part, _KEY):
                path, _, _, device = key = _key(r)
                newest[path, device] = (part.name, key)
        for part in self._parts():
            stay = {key for name, key in newest.values() if name == part.name}
            if any(_key(r) not in stay for r in self._read(part, _KEY)):
                self._keep(self.fusions / part.name, FUSION_COLUMNS, stay)
                # After those of its fusions: a run may be killed between the two.
                self._keep(part, PROGRAM_COLUMNS, stay)

    def _keep(self, part: Path, columns: Mapping[str, Column], stay: set[Key]) -> None:
        self._write(part, columns, [r for r in self._read(part, tuple(columns)) if _key(r) in stay])

    def _parts(self) -> list[Path]:
        return sorted(self.programs.glob("*.parquet"))

    def _read(self, part: Path, columns: tuple[str, ...]) -> list[Cells]:
        try:
            rows: list[Cells] = self._parquet.read_table(part, columns=list(columns)).select(columns).to_pylist()
        except (OSError, ValueError, KeyError) as error:
            raise IndexingError(
                f"{part} is no part of these results ({error}): remove it, to do its programs again"
            ) from None
        return rows

    def _write(self, path: Path, columns: Mapping[str, Column], rows: list[Cells]) -> None:
        types = {"string": self._arrow.string(), "int64": self._arrow.int64(), "float64": self._arrow.float64()}
        fields = [self._arrow.field(n, types[c.type], metadata={"description": c.about}) for n, c in columns.items()]
        unfinished = path.with_suffix(".unfinished")
        try:
            self._parquet.write_table(self._arrow.Table.from_pylist(rows, self._arrow.schema(fields)), unfinished)
            unfinished.replace(path)
        except OSError as error:
            unfinished.unlink(missing_ok=True)
            why = os.strerror(error.errno) if error.errno else str(error)
            raise OSError(
                error.errno, f"{why}; what was written before is kept, and another run goes on from it", str(path)
            ) from error


def _key(row: Cells) -> Key:
    path, content, version, device = (str(row[n]) for n in _KEY)
    return path, content, version, device


def _arrow(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        raise UnsupportedOp(missing_extra("a table of Parquet", "data", missing)) from None
