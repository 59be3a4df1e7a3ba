"""Compiled objects on disk. Each ends with a digest of its content, so that damaged ones are found before they are loaded.

Threads and processes may write one object at a time: each writes a file of its own, and renames it.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from indexing.errors import CompileError
from indexing.runtime.cache import foreign

CACHE_BYTES = 512 * 2**20
KEPT_FRACTION = 0.75  # when old objects are removed, this part of the limit is kept
DIGEST_BYTES = hashlib.sha256().digest_size
MARK = b"\nindexing sha256 "  # the digest follows; loaders ignore what is behind an object


def is_whole(path: Path) -> bool:
    """Whether an object is on disk, undamaged; if so, its time of last use is updated.

    Raises CompileError if another user owns it or can write it. A file is read once in a process, whatever names it has.
    """
    try:
        with _opened(path) as file:
            if _WHOLE.get(_file_of(file)) != _state_of(file) and not _is_sealed(file.read()):
                return False
            os.utime(path)
            _WHOLE[_file_of(file)] = _state_of(file)
    except OSError:  # there is none, or a link, which is replaced
        return False
    return True


def content_of(path: Path) -> bytes | None:
    """The content of an object; None if there is none, or a damaged one. Raises as `is_whole`."""
    try:
        with _opened(path) as file:
            data = file.read()
    except OSError:
        return None
    return data[: -len(MARK) - DIGEST_BYTES] if _is_sealed(data) and is_whole(path) else None


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """A file that is no link, open to be read. Raises CompileError if another user owns it or can write it."""
    flags = (getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
    with open(os.open(path, os.O_RDONLY | sum(flags)), "rb") as file:
        if problem := foreign(os.fstat(file.fileno())):
            raise CompileError(f"the compiled kernel {path} {problem}: it is not loaded. Remove it")
        yield file


_WHOLE: dict[tuple[int, int], tuple[int, int]] = {}  # the state of files that were read


def _file_of(file: BinaryIO) -> tuple[int, int]:
    status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino


def _state_of(file: BinaryIO) -> tuple[int, int]:
    status = os.fstat(file.fileno())
    return status.st_size, status.st_mtime_ns


def put(path: Path, content: bytes) -> None:
    """Write an object, atomically. Raises CompileError if the folder can't be written."""
    part: str | None = None
    try:
        handle, part = tempfile.mkstemp(suffix=".part", dir=path.parent)
        with open(handle, "wb") as file:
            file.write(_sealed(content))
        _rename(part, path)
    except OSError as error:
        remedy = "make room there, or set INDEXING_CACHE_DIR to another folder"
        raise CompileError(
            f"a compiled kernel can't be written to {path.parent} ({error.strerror}): {remedy}"
        ) from error
    finally:
        if part is not None:
            Path(part).unlink(missing_ok=True)


def put_link(made: Path, path: Path) -> None:
    """Give an object another name too, atomically; copy it if the file system has no hard links."""
    part = Path(f"{path}.{secrets.token_hex(8)}.part")
    try:
        os.link(made, part)
        _rename(part, path)
    except OSError:
        put(path, made.read_bytes())
    finally:
        part.unlink(missing_ok=True)  # two names of one file aren't renamed


def throw_away(folder: Path, limit: int | None = None) -> None:
    """Remove the least recently used objects if all together exceed the limit."""
    limit = CACHE_BYTES if limit is None else limit
    objects = []
    for entry in os.scandir(folder):
        try:
            status = entry.stat()
        except OSError:  # another process was faster
            continue
        objects.append((status.st_mtime, status.st_size // max(status.st_nlink, 1), entry.path))
    total = sum(size for _, size, _ in objects)
    if total <= limit:
        return
    for _, size, path in sorted(objects):
        if total <= limit * KEPT_FRACTION:
            break
        try:
            os.unlink(path)
        except OSError:  # in use, where the system forbids that, or gone
            continue
        total -= size


def _rename(part: str | Path, path: Path) -> None:
    try:
        os.replace(part, path)
    except PermissionError:
        if not is_whole(path):  # Windows replaces no object that is loaded
            raise


def _sealed(content: bytes) -> bytes:
    return content if _is_sealed(content) else content + MARK + hashlib.sha256(content).digest()


def _is_sealed(data: bytes) -> bool:
    end = len(data) - DIGEST_BYTES
    start = end - len(MARK)
    return start > 0 and data[start:end] == MARK and hashlib.sha256(data[:start]).digest() == data[end:]
