"""The programs of a folder, analyzed by many processes into Parquet: a row for each program, and one for each fusion.

Results are parts that are written atomically; a run that was killed continues where it ended.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from indexing._core import __version__
from indexing.arguments import integer, of_type, optional, takes
from indexing.device.detect import chosen_device
from indexing.device.record import Device, DeviceLike
from indexing.errors import IndexingError
from indexing.locks import locked
from indexing.processes import Limits, by_processes
from indexing.reports.file_rows import FileRows, Source, failed, rows_of_file, sources_in
from indexing.reports.tables import Tables
from indexing.runtime.ray_cluster import connected

RETRIES = 5  # a file is tried again so often when nodes die
UNDER_WAY = 4  # so many files a core has been handed

#: Called with the number of programs that are done, and the number of all.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class AnalyzedFiles:
    """The number of programs that were analyzed, and of those analyzed before; the errors of some of both, by path.

    `programs` and `fusions` are the folders of the tables' parts, which `pandas.read_parquet` and others read as one table.
    """

    programs: Path
    fusions: Path
    analyzed: int
    errors: Mapping[str, str]
    known: int

    @property
    def failed(self) -> int:
        """The number of programs of the folder that have an error."""
        return len(self.errors)


@takes(
    folder=of_type(str, os.PathLike),
    out=of_type(str, os.PathLike),
    device=optional(of_type(Device, str)),
    workers=integer,
    ray=optional(of_type(str)),
    timeout=optional(of_type(int, float)),
    memory=optional(integer),
    retry_errors=of_type(bool),
    log=optional(of_type(str, os.PathLike)),
)
def analyze_files(
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    device: DeviceLike = None,
    workers: int = 1,
    ray: str | None = None,
    progress: Progress | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    retry_errors: bool = False,
    log: str | os.PathLike[str] | None = None,
) -> AnalyzedFiles:
    """Analyze all programs below a folder, as `analyze` does, by `workers` processes; write the tables to the folder `out`.

    With `ray`, the cluster at that address is used ("local" starts one). Files whose results are in `out` already, by their
    path in the folder, their content, the device and the version of this package, are skipped (with `retry_errors`, those with
    an error are not); newer rows of a path take the place of older ones. A file that cannot be read becomes a row with its
    error, as does one that takes longer than `timeout` seconds or more than `memory` MiB, or whose process dies twice. Results
    are on disk after ten seconds at most. `log` is a file to which a line of JSON is added for the start, each program and the
    end.

    Raises IndexingError if another run writes to `out`, or if processes can't start or be limited, UnsupportedOp without the
    extra `data` (or `ray`), OSError if a folder cannot be read or written; results until then are kept.

    Processes are spawned: a script must call this below `if __name__ == "__main__":`.
    """
    _check(workers, timeout, memory, ray)
    chosen, place = chosen_device(device), Path(folder)
    if chosen.origin.startswith("default"):  # its rows are those of the device by its name
        chosen = replace(chosen, origin="")
    if not place.is_dir():
        raise NotADirectoryError(20, "this is no folder of programs", str(folder))
    tables = Tables(Path(out))
    with locked(Path(out) / ".lock", 0.0, f"another run writes to {out}: wait for its end, or give another folder"):
        known = tables.known(chosen, retry_errors)
        written = [Path(path).resolve() for path in (out, log) if path is not None]
        sources = list(sources_in(place, *written))
        new = [s for s in sources if s.key not in known]
        run_log = _RunLog(None if log is None else Path(log), place, len(new), len(sources) - len(new))
        done = _rows(new, chosen, workers, Limits(timeout, memory), ray, tables.flush_if_due)
        analyzed, errors, known_errors = 0, {}, {s.key[0]: e for s in sources if (e := known.get(s.key))}
        try:
            for rows in tables.written(done):
                analyzed += 1
                if rows.program["error"] is not None:
                    errors[str(rows.program["path"])] = str(rows.program["error"])
                run_log.program(rows)
                if progress is not None:
                    progress(analyzed, len(new))
        finally:
            tables.flush()
            run_log.end(analyzed, len(errors))
        tables.drop_superseded()
    return AnalyzedFiles(tables.programs, tables.fusions, analyzed, known_errors | errors, len(sources) - len(new))


def _check(workers: int, timeout: float | None, memory: int | None, ray: str | None) -> None:
    for name, value in (("workers", workers), ("timeout", timeout), ("memory", memory)):
        if value is not None and value < 1:
            raise IndexingError(f"analyze_files: {name} is at least 1; got {value}")
    if ray is not None and (timeout is not None or memory is not None):
        raise IndexingError(
            "analyze_files: timeout and memory limit processes of this machine; leave them out with ray"
        )


def _rows(
    sources: Sequence[Source],
    device: Device,
    workers: int,
    limits: Limits,
    ray: str | None,
    on_tick: Callable[[], None],
) -> Iterator[FileRows]:
    if ray is not None:
        return _by_ray(sources, device, ray, on_tick)
    work = partial(rows_of_file, data=None, device=device)
    return by_processes(sources, workers, work, lambda s, error: failed(s, device, error), limits, on_tick)


class _RunLog:
    """The log of runs: appends a line of JSON for each event, on its own, so that several runs can share the file."""

    def __init__(self, path: Path | None, folder: Path, new: int, known: int) -> None:
        """Begin a run; without a path, nothing is written."""
        self._path = path
        self._write("start", folder=str(folder), programs=new, known=known, version=__version__)

    def program(self, rows: FileRows) -> None:
        """A program that is done, or has an error."""
        row = rows.program
        names = ("path", "analysis_seconds", "kernels", "error")
        self._write("program", **{n: row[n] for n in names})

    def end(self, analyzed: int, failed: int) -> None:
        """The end of the run, also of one that was interrupted."""
        self._write("end", analyzed=analyzed, failed=failed)

    def _write(self, event: str, **about: object) -> None:
        if self._path is None:
            return
        line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **about}
        with self._path.open("ab+") as file:
            is_cut = file.tell() > 0 and _last_byte(file) != b"\n"  # the disk of an earlier run was full
            file.write(b"\n" * is_cut + json.dumps(line).encode() + b"\n")


def _last_byte(file: BinaryIO) -> bytes:
    file.seek(-1, os.SEEK_END)
    return file.read(1)


def _by_ray(sources: Sequence[Source], device: Device, address: str, on_tick: Callable[[], None]) -> Iterator[FileRows]:
    """The rows of each file, in the order in which they are finished, by the Ray cluster at `address` ("local" starts one).

    Nodes need this package, not the files. `on_tick` is called at least once a second.
    """
    with connected(address) as ray:
        yield from _on_cluster(ray, deque(sources), device, on_tick)


def _on_cluster(ray: Any, waiting: deque[Source], device: Device, on_tick: Callable[[], None]) -> Iterator[FileRows]:
    task = ray.remote(max_retries=RETRIES)(rows_of_file)
    most = UNDER_WAY * max(int(ray.cluster_resources().get("CPU", 1)), 1)
    running: dict[Any, Source] = {}
    while waiting or running:
        while waiting and len(running) < most:
            source = waiting.popleft()
            try:
                content = b"" if source.problem else source.place.read_bytes()
                running[task.remote(source, content, device)] = source
            except OSError as error:
                yield failed(source, device, f"{type(error).__name__}: {error}")
        on_tick()
        done, _ = ray.wait(list(running), num_returns=1, timeout=1) if running else ([], [])
        for reference in done:
            source = running.pop(reference)
            try:
                yield ray.get(reference)
            except ray.exceptions.RayError as error:
                yield failed(source, device, f"{type(error).__name__}: {str(error).strip().splitlines()[-1]}")
