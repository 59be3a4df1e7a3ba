"""The folder on disk that keeps compiled kernels. Code from it is executed, so no other user may write it."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from platformdirs import user_cache_path

from indexing.errors import CompileError

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def directory(kind: str) -> Path | None:
    """The folder for compiled kernels of one `kind`, created if needed; None if no folder can be written.

    It is under `INDEXING_CACHE_DIR`, else under the user's cache directory; if that can't be written, under a folder of the
    user in the system's temporary directory. Raises CompileError if another user owns the first of these that exists, or can
    write or replace it.
    """
    for folder in map(Path.absolute, _chosen(kind)):
        if _exists(folder):
            private = folder.resolve()
            if problem := _foreign_folder(private):
                raise CompileError(problem)
            if os.access(private, os.W_OK):
                return private
    own = _temporary()
    if own is None or not _exists(own / kind) or _foreign_temporary(own / kind):
        return None
    return own / kind


def no_directory(kind: str) -> str:
    """The reason why there is no folder for compiled kernels, and what to do."""
    own = _temporary()
    problem = None if own is None else _foreign_temporary(own / kind)
    detail = "" if problem is None else f" ({problem})"
    return f"compiled kernels have no folder that can be written: set INDEXING_CACHE_DIR to one{detail}"


def _chosen(kind: str) -> Iterator[Path]:
    named = os.environ.get("INDEXING_CACHE_DIR")
    if named:
        yield Path(named) / kind
    else:
        yield from (base / kind for base in _of_user())


def _temporary() -> Path | None:
    """The user's folder in the system's temporary directory, in which others could have made it."""
    try:
        return Path(tempfile.gettempdir()) / f"indexing-{user()}"
    except OSError:  # there is no temporary directory either
        return None


def _foreign_temporary(folder: Path) -> str | None:
    if folder.parent.is_symlink():
        return f"{folder.parent} is a link: remove it"
    return _foreign_folder(folder.resolve())


def _of_user() -> Iterator[Path]:
    try:
        yield user_cache_path("indexing", appauthor=False)
    except RuntimeError:  # the home directory is unknown
        return


def _exists(folder: Path) -> bool:
    """Create a folder unless it exists; its new parents too are the user's alone, whatever the umask."""
    try:
        if not folder.is_dir():
            if not folder.parent.is_dir():
                _exists(folder.parent)
            folder.mkdir(mode=0o700, exist_ok=True)
    except (OSError, ValueError):
        return False
    return True


def _foreign_folder(folder: Path) -> str | None:
    """The way in which another user can change what is in a folder, or replace it or a parent; None if none can.

    In a parent with the sticky bit, others can't replace what isn't theirs.
    """
    for place in filter(Path.exists, (folder, *folder.parents)):
        status = place.stat()
        is_sticky = place != folder and status.st_mode & stat.S_ISVTX
        if problem := foreign(status, 0 if is_sticky else OTHERS_WRITE):
            return (
                f"the folder {place} {problem}, and code in {folder} would be executed: take these rights away (chmod go-w, "
                "chown), or set INDEXING_CACHE_DIR to a folder that only you can write"
            )
    return None


@cache
def check_entries(folder: Path) -> None:
    """Raise CompileError if another user owns a file in a private folder; looked at once in a process."""
    for place, folders, names in os.walk(folder):
        for path in (Path(place, name) for name in (*folders, *names)):
            try:
                problem = foreign(path.lstat(), 0)
            except FileNotFoundError:  # another process has removed it
                continue
            if problem:
                raise CompileError(f"the compiled kernel {path} {problem}: it is not loaded. Remove it")


def foreign(status: os.stat_result, forbidden: int = OTHERS_WRITE) -> str | None:
    """The reason why another user can change a file or folder; None if only this user and the administrator can."""
    if not hasattr(os, "getuid"):
        return None
    if status.st_uid not in (0, user()):
        return f"belongs to the user {status.st_uid}"
    if status.st_mode & forbidden:
        return f"can be written by other users (mode {stat.S_IMODE(status.st_mode):03o})"
    return None


def user() -> int:
    """The number of the user whose rights this process has."""
    return os.geteuid() if hasattr(os, "geteuid") else 0
