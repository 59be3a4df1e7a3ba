"""Rows for tables from the analysis of one file: a row for the program, and one for each of its fusions."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from indexing.errors import IndexingError
from indexing.hlo.files import dumped_programs, load, program_of
from indexing.report.programs import analyze

if TYPE_CHECKING:
    from indexing.device.record import Device
    from indexing.report.kernel_report import FusionReport
    from indexing.report.program_report import ProgramReport

Cells: TypeAlias = "dict[str, str | int | float | None]"

#: The columns of the table of programs, and of that of fusions, with the names of Arrow's types.
PROGRAM_COLUMNS: Mapping[str, str] = {
    "path": "string",
    "bytes": "int64",
    "changed_ns": "int64",
    "device": "string",
    "program": "string",
    "kernels": "int64",
    "ideal_bytes": "int64",
    "bytes_moved": "int64",
    "wasted": "int64",
    "seconds": "float64",
    "seconds_lost": "float64",
    "not_modelled": "int64",
    "flops": "int64",
    "analysis_seconds": "float64",
    "error": "string",
}
FUSION_COLUMNS: Mapping[str, str] = {
    "path": "string",
    "device": "string",
    "program": "string",
    "instruction": "string",
    "opcode": "string",
    "shape": "string",
    "place": "string",
    "ideal_bytes": "int64",
    "bytes_moved": "int64",
    "wasted": "int64",
    "seconds": "float64",
    "seconds_lost": "float64",
    "times": "int64",
    "limit": "string",
    "flops": "int64",
    "array": "string",
    "why": "string",
    "remedy": "string",
}


@dataclass(frozen=True, slots=True)
class Source:
    """A file, its size and its modification time, by which files are recognized that were analyzed already."""

    path: str
    bytes: int
    changed_ns: int

    @classmethod
    def of(cls, path: Path) -> Source:
        """The current state of a file."""
        status = path.stat()
        return cls(str(path), status.st_size, status.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class FileRows:
    """The row of a program and those of its fusions; if there are none because of an error, `error` is its message."""

    program: Cells
    fusions: list[Cells] = field(default_factory=list)


def sources_in(folder: Path, apart_from: Path) -> Iterator[Source]:
    """The programs below a folder, in the order of their paths; one file for each program that XLA dumped.

    Hidden files and those below `apart_from` are left out.
    """
    for place, folders, files in os.walk(folder):
        here = Path(place)
        folders[:] = sorted(f for f in folders if not f.startswith(".") and (here / f).resolve() != apart_from)
        dumped = sorted(dumped_programs(here).values())
        yield from map(Source.of, dumped or sorted(here / f for f in files if not f.startswith(".")))


def rows_of_file(source: Source, data: bytes | None, device: Device) -> FileRows:
    """The rows of a file, or of its content if that is given. An error becomes a row as well."""
    started = time.perf_counter()
    try:
        report = analyze(load(source.path) if data is None else program_of(data), device)
    except (IndexingError, OSError, MemoryError, RecursionError) as error:
        return failed(source, device, f"{type(error).__name__}: {error}")
    row = _program_row(source, report)
    row["analysis_seconds"] = time.perf_counter() - started
    return FileRows(row, [_fusion_row(source, report, f) for f in report.fusions])


def failed(source: Source, device: Device, error: str) -> FileRows:
    """The row of a file with an error."""
    empty: Cells = dict.fromkeys(PROGRAM_COLUMNS)
    return FileRows({**empty, **_about(source), "device": str(device), "error": error})


def _about(source: Source) -> Cells:
    return {"path": source.path, "bytes": source.bytes, "changed_ns": source.changed_ns}


def _program_row(source: Source, report: ProgramReport) -> Cells:
    return {
        **_about(source),
        "device": str(report.device),
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
        "path": source.path,
        "device": str(report.device),
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
