"""The programs of a folder, analyzed by many processes into Parquet: a row for each program, and one for each fusion.

Results are parts that are written atomically; a run that was killed continues where it ended.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from indexing.arguments import integer, of_type, optional, takes
from indexing.device.detect import chosen_device
from indexing.device.record import Device, DeviceLike
from indexing.errors import IndexingError, UnsupportedOp
from indexing.extras import missing_extra
from indexing.processes import by_processes
from indexing.report.file_rows import (
    FUSION_COLUMNS,
    PROGRAM_COLUMNS,
    Cells,
    FileRows,
    Source,
    failed,
    rows_of_file,
    sources_in,
)
from indexing.report.workers import by_ray

__all__ = ["AnalyzedFiles", "analyze_files"]

PART = 64  # programs of a part; at most this many results are lost when a run is killed
#: Called with the number of programs that are done, and the number of all.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class AnalyzedFiles:
    """The numbers of programs that were analyzed, that had an error, and that had been analyzed before.

    `programs` and `fusions` are the folders of the tables' parts, which `pandas.read_parquet` and others read as one table.
    """

    programs: Path
    fusions: Path
    analyzed: int
    failed: int
    known: int


@takes(
    folder=of_type(str, os.PathLike),
    out=of_type(str, os.PathLike),
    device=optional(of_type(Device, str)),
    workers=integer,
    ray=optional(of_type(str)),
)
def analyze_files(
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    device: DeviceLike = None,
    workers: int = 1,
    ray: str | None = None,
    progress: Progress | None = None,
) -> AnalyzedFiles:
    """Analyze all programs below a folder, as `analyze` does, by `workers` processes; write the tables to the folder `out`.

    With `ray`, the cluster at that address is used ("local" starts one). Files whose results are in `out` already, and which
    have not changed since, are skipped. A file that cannot be read becomes a row with its error, as does one whose process
    dies twice. Only one run at a time may write to `out`. Raises UnsupportedOp without the extra `data` (or `ray`), OSError
    if a folder cannot be read or written; results until then are kept.

    Processes are spawned: a script must call this below `if __name__ == "__main__":`.
    """
    if workers < 1:
        raise IndexingError(f"analyze_files: workers is at least 1; got {workers}")
    chosen = chosen_device(device)
    place = Path(folder)
    if not place.is_dir():
        raise NotADirectoryError(20, "this is no folder of programs", str(folder))
    tables = _Tables(Path(out))
    known = tables.known(chosen)
    sources = list(sources_in(place, Path(out).resolve()))
    new = [s for s in sources if s not in known]
    if ray is None:
        work = partial(rows_of_file, data=None, device=chosen)
        done = by_processes(new, workers, work, lambda source, error: failed(source, chosen, error))
    else:
        done = by_ray(new, chosen, ray)
    analyzed = failures = 0
    try:
        for rows in tables.written(done):
            analyzed += 1
            failures += rows.program["error"] is not None
            if progress is not None:
                progress(analyzed, len(new))
    finally:
        tables.flush()
    return AnalyzedFiles(tables.programs, tables.fusions, analyzed, failures, len(sources) - len(new))


class _Tables:
    """The parts below a folder. That of fusions is written first, so that a part of programs implies one of fusions."""

    def __init__(self, out: Path) -> None:
        self.programs, self.fusions = out / "programs", out / "fusions"
        self._arrow, self._parquet = _arrow("pyarrow"), _arrow("pyarrow.parquet")
        self._rows: list[FileRows] = []
        for folder in (self.programs, self.fusions):
            folder.mkdir(parents=True, exist_ok=True)
        for part in self.fusions.glob("*.parquet"):
            if not (self.programs / part.name).exists():
                part.unlink()  # a run was killed between the two
        self._next = 1 + max((int(p.stem) for p in self.programs.glob("*.parquet")), default=-1)

    def known(self, device: Device) -> set[Source]:
        """The files that were analyzed for a device, in their state at that time."""
        sources: set[Source] = set()
        for part in sorted(self.programs.glob("*.parquet")):
            try:
                table = self._parquet.read_table(part, columns=["path", "bytes", "changed_ns", "device"]).to_pylist()
            except (OSError, ValueError, KeyError) as error:
                raise IndexingError(
                    f"{part} is no part of these results ({error}): remove it, to do its programs again"
                ) from None
            sources |= {Source(r["path"], r["bytes"], r["changed_ns"]) for r in table if r["device"] == str(device)}
        return sources

    def written(self, done: Iterable[FileRows]) -> Iterator[FileRows]:
        """Yield the rows, and write them as soon as they fill a part."""
        for rows in done:
            self._rows.append(rows)
            if len(self._rows) >= PART:
                self.flush()
            yield rows

    def flush(self) -> None:
        """Write the pending rows as a part."""
        if not self._rows:
            return
        name = f"{self._next:06}.parquet"
        self._write(self.fusions / name, FUSION_COLUMNS, [f for r in self._rows for f in r.fusions])
        self._write(self.programs / name, PROGRAM_COLUMNS, [r.program for r in self._rows])
        self._rows, self._next = [], self._next + 1

    def _write(self, path: Path, columns: Mapping[str, str], rows: list[Cells]) -> None:
        types = {"string": self._arrow.string(), "int64": self._arrow.int64(), "float64": self._arrow.float64()}
        schema = self._arrow.schema([(name, types[kind]) for name, kind in columns.items()])
        unfinished = path.with_suffix(".unfinished")
        try:
            self._parquet.write_table(self._arrow.Table.from_pylist(rows, schema), unfinished)
            unfinished.replace(path)
        except OSError:
            unfinished.unlink(missing_ok=True)
            raise


def _arrow(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        raise UnsupportedOp(missing_extra("a table of Parquet", "data", missing)) from None
