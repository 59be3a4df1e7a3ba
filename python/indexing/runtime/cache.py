"""The folder on disk that keeps compiled kernels."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from platformdirs import user_cache_path


def directory(kind: str) -> Path | None:
    """The folder for compiled kernels of one `kind`, created if needed; None if no folder can be written.

    It is under `INDEXING_CACHE_DIR`, else under the user's cache directory; if that can't be written, under a folder of the
    user in the system's temporary directory.
    """
    chosen = next((folder for folder in _chosen(kind) if _can_be_written(folder)), None)
    if chosen is not None:
        return chosen
    try:
        own = Path(tempfile.gettempdir()) / f"indexing-{_user()}"
    except OSError:  # there is no temporary directory either
        return None
    return own / kind if _can_be_written(own / kind) and _belongs_to_user(own) else None


def _chosen(kind: str) -> Iterator[Path]:
    folder = os.environ.get("INDEXING_CACHE_DIR")
    if folder:
        yield Path(folder) / kind
    else:
        yield from (base / kind for base in _of_user())


def _of_user() -> Iterator[Path]:
    try:
        yield user_cache_path("indexing", appauthor=False)
    except RuntimeError:  # the home directory is unknown
        return


def _can_be_written(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except (OSError, ValueError):
        return False
    return os.access(folder, os.W_OK)


def _belongs_to_user(folder: Path) -> bool:
    """Whether the user owns a folder in a directory that all can write to: code from it is executed."""
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == _user() and not found.st_mode & 0o022


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
