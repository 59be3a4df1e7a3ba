"""Rows for tables from the analysis of one file: a row for the program, and one for each of its fusions."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from indexing._core import __version__
from indexing.device.record import Device
from indexing.errors import IndexingError
from indexing.hlo.files import dumped_programs, load, program_of
from indexing.reports.kernel_report import FusionReport
from indexing.reports.program_report import ProgramReport
from indexing.reports.programs import analyze

Cells: TypeAlias = "dict[str, str | int | float | None]"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: the name of its type in Arrow, and what it holds."""

    type: str
    about: str


_KEY: Mapping[str, Column] = {
    "path": Column("string", "the file, relative to the folder that was analyzed"),
    "content": Column("string", "the SHA-256 of the file's bytes"),
    "version": Column("string", "the version of this package that analyzed it"),
    "device": Column("string", "the device that it was analyzed for"),
}
_TOTALS: Mapping[str, Column] = {
    "ideal_bytes": Column("int64", "bytes that must move"),
    "bytes_moved": Column("int64", "bytes that the kernels move"),
    "wasted": Column("int64", "bytes that move beyond those that must"),
    "seconds": Column("float64", "the predicted time of all runs; null where it is not modelled"),
    "seconds_lost": Column("float64", "the predicted time that ideal accesses would save"),
    "flops": Column("int64", "operations of one run, as XLA counts them"),
}
#: The columns of the table of programs, and of that of fusions.
PROGRAM_COLUMNS: Mapping[str, Column] = {
    **_KEY,
    "bytes": Column("int64", "the size of the file"),
    "program": Column("string", "the name of the HLO module"),
    "kernels": Column("int64", "the kernels of the program, each counted once"),
    **_TOTALS,
    "not_modelled": Column("int64", "the kernels whose time is not modelled"),
    "analysis_seconds": Column("float64", "the time that the analysis took"),
    "error": Column("string", "why the program could not be analyzed; null if it was"),
}
FUSION_COLUMNS: Mapping[str, Column] = {
    **_KEY,
    "program": Column("string", "the name of the HLO module"),
    "instruction": Column("string", "the instruction that the kernel computes"),
    "opcode": Column("string", "its opcode"),
    "shape": Column("string", "its shape"),
    "place": Column("string", "the source line that the metadata names"),
    **_TOTALS,
    "times": Column("int64", "the number of times that the kernel runs"),
    "limit": Column("string", "what limits its time: memory, arithmetic, issue, latency or launch"),
    "array": Column("string", "the array whose access wastes most"),
    "why": Column("string", "why that access wastes bytes"),
    "remedy": Column("string", "what would mend it"),
}


@dataclass(frozen=True, slots=True)
class Source:
    """A file below a folder: its path relative to it, content and size; or the `problem` for which it can't be read."""

    folder: str
    path: str
    content: str = ""
    bytes: int = 0
    problem: str = ""

    @property
    def place(self) -> Path:
        """The path of the file."""
        return Path(self.folder, self.path)

    @property
    def key(self) -> tuple[str, str]:
        """The path as a text of UTF-8, and the content: what a row is known by."""
        return _utf8(self.path), self.content


@dataclass(frozen=True, slots=True)
class FileRows:
    """The row of a program and those of its fusions; if there are none because of an error, `error` is its message."""

    program: Cells
    fusions: list[Cells] = field(default_factory=list)


def sources_in(folder: Path, *apart_from: Path) -> Iterator[Source]:
    """The programs below a folder, in the order of their paths; one file for each program that XLA dumped.

    Hidden files, tables (`.parquet`), `apart_from` and what is below them are left out, and what XLA dumps of a program beside
    its text. What can't be read (a broken link, a pipe, a file or folder of another user) is a source with a problem.
    """
    problems: list[OSError] = []
    for place, folders, files in os.walk(folder, onerror=problems.append):
        here = Path(place)
        dumped, itself = dumped_programs(here), here.resolve()
        folders[:] = sorted(
            f for f in folders if not f.startswith(".") and f not in dumped and (here / f).resolve() not in apart_from
        )
        paths = sorted(dumped.values()) or sorted(
            here / f
            for f in files
            if not f.startswith(".") and not f.endswith(".parquet") and itself / f not in apart_from
        )
        yield from (source_of(folder, path) for path in paths)
    yield from (_unreadable(folder, Path(e.filename), e.strerror or str(e)) for e in problems)


def source_of(folder: Path, path: Path) -> Source:
    """The current state of a file."""
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            return _unreadable(folder, path, "this is no regular file")
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
            return Source(str(folder), str(path.relative_to(folder)), content, file.tell())
    except OSError as error:
        return _unreadable(
            folder, path, "this link leads nowhere" if path.is_symlink() else error.strerror or str(error)
        )


def _unreadable(folder: Path, path: Path, problem: str) -> Source:
    return Source(str(folder), str(path.relative_to(folder)), problem=problem)


def rows_of_file(source: Source, data: bytes | None, device: Device) -> FileRows:
    """The rows of a file, or of its content if that is given. An error becomes a row as well, but for a MemoryError."""
    if source.problem:
        return failed(source, device, source.problem)
    started = time.perf_counter()
    try:
        report = analyze(load(source.place) if data is None else program_of(data, source.path), device)
    except (IndexingError, OSError, RecursionError) as error:
        message = f"{type(error).__name__}: {error}".removesuffix(": ")
        return failed(source, device, message.replace(str(source.place), source.path))  # the folder may move
    row = _program_row(source, report)
    row["analysis_seconds"] = time.perf_counter() - started
    return FileRows(row, [_fusion_row(source, report, f) for f in report.fusions])


def failed(source: Source, device: Device, error: str) -> FileRows:
    """The row of a file with an error."""
    empty: Cells = dict.fromkeys(PROGRAM_COLUMNS)
    return FileRows({**empty, **_key(source, device), "bytes": source.bytes, "error": _utf8(error)})


def _utf8(text: str) -> str:
    """The text, in which bytes of a file's name that are not UTF-8 are escaped."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _key(source: Source, device: Device) -> Cells:
    path, content = source.key
    return {"path": path, "content": content, "version": __version__, "device": str(device)}


def _program_row(source: Source, report: ProgramReport) -> Cells:
    return {
        **_key(source, report.device),
        "bytes": source.bytes,
        "program": report.name,
        "kernels": len(report.fusions),
        "ideal_bytes": report.ideal_bytes,
        "bytes_moved": report.bytes,
        "wasted": report.wasted,
        "seconds": report.seconds,
        "seconds_lost": report.seconds_lost,
        "not_modelled": report.not_modelled,
        "flops": report.flops,
        "analysis_seconds": None,
        "error": None,
    }


def _fusion_row(source: Source, report: ProgramReport, fusion: FusionReport) -> Cells:
    """The row of a fusion, with the access that wastes most."""
    worst = fusion.accesses[0] if fusion.accesses else None
    return {
        **_key(source, report.device),
        "program": report.name,
        "instruction": fusion.name,
        "opcode": fusion.opcode,
        "shape": str(fusion.instruction.shape),
        "place": None if fusion.place is None else str(fusion.place),
        "ideal_bytes": fusion.ideal_bytes,
        "bytes_moved": fusion.bytes,
        "wasted": fusion.wasted,
        "seconds": fusion.seconds,
        "seconds_lost": fusion.seconds_lost,
        "times": fusion.times,
        "limit": fusion.limit,
        "flops": fusion.flops,
        "array": None if worst is None else worst.array,
        "why": None if worst is None else worst.why or None,
        "remedy": None if worst is None else worst.remedy or None,
    }
