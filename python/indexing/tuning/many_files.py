"""What the fusions of many programs move: one Parquet row a fusion and one a program, by several processes, resumable.

Files are taken in chunks. What a chunk gives is written at once, its programs last and by renaming, so that a chunk either
counts or is done again; a run that ended goes on where it was. A process that dies takes nothing with it: the files that were
under way are tried again one by one, and one that ends its process twice is a row with its error.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, fields
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from indexing._core import __version__
from indexing.analysis.report.programs import analyze
from indexing.errors import IndexingError
from indexing.extras import missing_extra
from indexing.hlo.files import load

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FusionRow", "ProgramRow", "analyze_files"]

CHUNK = 16  # files
MAX_CHUNKS_A_PROCESS = 32  # then a new one takes over, so that memory stays flat
MAX_ATTEMPTS = 2
#: What a chunk gives: a row a fusion, and one a program.
Rows: TypeAlias = "tuple[list[FusionRow], list[ProgramRow]]"
#: The files of a chunk.
Files: TypeAlias = tuple[str, ...]
#: Is told how many files are done, and how many there are.
Progress: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class FusionRow:
    """One fusion (or other instruction that moves data) of a program."""

    file: str
    program: str
    fusion: str
    opcode: str
    must_move: int
    will_move: int
    wasted: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ProgramRow:
    """One file: totals of its program, or the `error` that it gives; then there are no totals."""

    file: str
    program: str | None
    fusions: int | None
    instructions: int | None
    must_move: int | None
    will_move: int | None
    wasted: int | None
    seconds: float | None
    error: str | None


def analyze_files(
    folder: Path, out: Path, workers: int = 1, device: str = "h100", progress: Progress = lambda done, all_: None
) -> list[ProgramRow]:
    """Analyze every file below `folder`, and write `fusions/*.parquet` and `programs/*.parquet` below `out`.

    Returns the rows of files that gave an error. Files that `out` has already, unchanged, are not read again. Raises
    IndexingError where pyarrow is missing, where there are no files, and where `out` can't be written.
    """
    _parquet()
    files = [str(f) for f in sorted(folder.rglob("*")) if f.is_file() and out not in f.parents]
    if not files:
        raise IndexingError(f"there are no files below {folder}")
    chunks = [tuple(files[k : k + CHUNK]) for k in range(0, len(files), CHUNK)]
    for kind in ("fusions", "programs"):
        _made(out / kind)
    missing = [c for c in chunks if not _path(out, "programs", c, device).exists()]
    done = len(files) - sum(len(c) for c in missing)
    progress(done, len(files))
    errors: list[ProgramRow] = []
    for chunk, rows in _results(missing, workers, device):
        _write(out, chunk, device, rows)
        errors += [row for row in rows[1] if row.error is not None]
        done += len(chunk)
        progress(done, len(files))
    return errors


def _results(chunks: Sequence[Files], workers: int, device: str) -> Iterator[tuple[Files, Rows]]:
    """What each chunk gives, as it comes."""
    pending = list(reversed(chunks))
    while pending:
        running: dict[Future[Rows], Files] = {}
        with _pool(workers) as pool:
            try:
                while pending or running:
                    while pending and len(running) < workers:
                        files = pending.pop()
                        running[pool.submit(rows_of_files, files, device)] = files
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        rows = future.result()
                        yield running.pop(future), rows
            except BrokenProcessPool:
                pass  # one of those that run has ended its process, and with it the others
        for files in running.values():
            yield files, _one_by_one(files, device)


def _one_by_one(files: Files, device: str) -> Rows:
    """The rows of files of which one may end its process: then that one is known."""
    fusions: list[FusionRow] = []
    programs: list[ProgramRow] = []
    for file in files:
        for _ in range(MAX_ATTEMPTS):
            try:
                with _pool(1) as pool:
                    found = pool.submit(rows_of_files, (file,), device).result()
                break
            except BrokenProcessPool:
                found = [], [_failed(file, "its process ended, as if it was killed or ran out of memory")]
        fusions += found[0]
        programs += found[1]
    return fusions, programs


def _pool(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"), max_tasks_per_child=MAX_CHUNKS_A_PROCESS)


def rows_of_files(files: Files, device: str) -> Rows:
    """The rows of some files; what is no program is a row with its error."""
    fusions: list[FusionRow] = []
    programs: list[ProgramRow] = []
    for file in files:
        try:
            module = load(file)
            found = analyze(module, device)
        except (IndexingError, OSError, MemoryError, RecursionError) as error:
            programs.append(_failed(file, f"{type(error).__name__}: {error}"))
            continue
        name = module.name
        fusions += [
            FusionRow(file, name, f.name, f.instruction.opcode, f.must_move, f.will_move, f.wasted, f.seconds)
            for f in found.fusions
        ]
        totals = found.must_move, found.will_move, found.wasted, found.seconds
        programs.append(ProgramRow(file, name, len(found.fusions), module.instruction_count, *totals, None))
    return fusions, programs


def _failed(file: str, error: str) -> ProgramRow:
    return ProgramRow(file, None, None, None, None, None, None, None, error)


def _path(out: Path, kind: str, files: Files, device: str) -> Path:
    """By the files' paths, sizes and times, the device and this version: what changed is done again."""
    facts = [(f, s.st_size, s.st_mtime_ns) for f in files if (s := os.stat(f))]
    key = hashlib.sha256(repr((facts, device, __version__)).encode()).hexdigest()
    return out / kind / f"{key[:32]}.parquet"


def _write(out: Path, files: Files, device: str, rows: Rows) -> None:
    try:
        _write_table(_path(out, "fusions", files, device), _table(rows[0], FusionRow))
        _write_table(_path(out, "programs", files, device), _table(rows[1], ProgramRow))
    except OSError as error:
        raise IndexingError(
            f"{out} can't be written ({error.strerror or error}): what was written before counts, and a new run goes on"
        ) from error


def _write_table(path: Path, table: pa.Table) -> None:
    part = path.with_suffix(f".{os.getpid()}")
    _parquet().write_table(table, part)
    part.replace(path)


def _table(rows: Sequence[FusionRow] | Sequence[ProgramRow], kind: type[FusionRow] | type[ProgramRow]) -> pa.Table:
    import pyarrow as pa

    types = {"str": pa.string(), "int": pa.int64(), "float": pa.float64()}
    schema = pa.schema([(f.name, types[str(f.type).removesuffix(" | None")]) for f in fields(kind)])
    return pa.Table.from_pylist([asdict(row) for row in rows], schema)


def _made(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise IndexingError(f"{folder} can't be made: {error.strerror or error}") from error


def _parquet() -> Any:
    try:
        from pyarrow import parquet
    except ImportError as failure:
        raise IndexingError(missing_extra("Parquet", "data", failure)) from failure
    return parquet
