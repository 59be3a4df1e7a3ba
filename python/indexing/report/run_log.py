"""The log of an analysis of many files: a line of JSON for each event."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from indexing._core import __version__
from indexing.report.file_rows import FileRows

__all__ = ["RunLog"]


class RunLog:
    """Appends lines to a file; each is on its own, so that several runs can share it."""

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
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
