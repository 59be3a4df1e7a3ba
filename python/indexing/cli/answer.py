"""What a command found, and files that it writes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from indexing.cli.console import Json, Problem
from indexing.cli.terminal import Part


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command found: `data` for --json, `lines` for people; `status` is the exit status.

    `parts`, where there are some, are what a terminal shows instead of the lines.
    """

    data: Json
    lines: Iterable[str]
    status: int = 0
    parts: Sequence[Part] = ()


def written(path: Path, content: bytes) -> Path:
    """Write a file, its folder too; a kernel's name is an identifier, so the path stays in the folder asked for."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except (OSError, ValueError) as error:
        raise Problem(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    return path
