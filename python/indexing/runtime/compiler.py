"""The C compiler for kernels on the CPU, and the cache of its objects on disk, keyed by content.

It is `$CC`, or the first of `cc`, `gcc` and `clang` on the path, or the one of the `ziglang` wheel (the extra `cpu`).
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import product
from pathlib import Path

from indexing.errors import CompileError
from indexing.extras import install_command
from indexing.runtime import cache as folders
from indexing.runtime.listing import compile_error

CACHE_BYTES = 512 * 2**20
KEPT_FRACTION = 0.75  # of the limit is kept when old objects are removed
# No flag changes a result: no contraction to fused operations, no reordering; `errno` and traps are never read.
FLAGS = (
    *("-std=gnu11", "-O3", "-shared", "-w", "-x", "c"),
    *("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fno-strict-aliasing"),
)
# Flags for this machine's instructions: of most compilers, of some for ARM, and none, for cross compilers.
PROCESSORS = (("-march=native",), ("-mcpu=native",), ())


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C compiler: its command, the flags for kernels, and its identity, which includes this machine's processor."""

    command: tuple[str, ...]
    flags: tuple[str, ...]
    identity: str

    def build(self, name: str, source: str, target: Path) -> None:
        """Compile a source to a shared library, atomically."""
        handle, path = tempfile.mkstemp(suffix=".part", dir=target.parent)
        os.close(handle)
        try:
            command = [*self.command, *self.flags, "-", "-o", path, *_libraries()]
            done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise compile_error(" ".join(self.command), name, source, done.stderr)
            os.replace(path, target)
        finally:
            Path(path).unlink(missing_ok=True)


@cache
def find_compiler() -> Compiler:
    """The compiler of this process. Raises CompileError if there is none."""
    position = () if sys.platform == "win32" else ("-fPIC",)
    for command, processor in product(_candidates(), PROCESSORS):
        flags = (*FLAGS, *processor, *position)
        identity = _identity(command, flags)
        if identity is not None:
            return Compiler(command, flags, identity)
    raise CompileError(
        "no C compiler is found: set CC to one, install gcc or clang, or get one in a wheel: "
        f"install {install_command('cpu')}; device='reference' needs none"
    )


def is_available() -> bool:
    """Whether there is a C compiler."""
    try:
        find_compiler()
    except CompileError:
        return False
    return True


def _candidates() -> Iterable[tuple[str, ...]]:
    chosen = os.environ.get("CC")
    if chosen:
        yield tuple(shlex.split(chosen))
        return
    for name in ("cc", "gcc", "clang"):
        if found := shutil.which(name):
            yield (found,)
    if find_spec("ziglang") is not None:
        yield (sys.executable, "-m", "ziglang", "cc")


def _identity(command: tuple[str, ...], flags: tuple[str, ...]) -> str | None:
    """A hash of the options and of the macros that the compiler defines, such as its version and the processor's features."""
    try:
        done = subprocess.run(
            [*command, *flags, "-dM", "-E", "-"], input="", capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    if done.returncode != 0 or not done.stdout:
        return None
    lines = sorted(
        line for line in done.stdout.splitlines() if not line.startswith(("#define __DATE", "#define __TIME"))
    )
    return hashlib.sha256("\n".join([*command[1:], *flags, *lines]).encode()).hexdigest()


def _libraries() -> tuple[str, ...]:
    return () if sys.platform == "win32" else ("-lm", "-pthread")


# ---------------------------------------------------------------- objects


def shared_library(name: str, source: str) -> Path:
    """The shared library of a source, compiled unless it is on disk."""
    path = object_path(source)
    if is_there(path):
        return path
    find_compiler().build(name, source, path)
    if path.name[0] == "0":  # about one in sixteen
        throw_away(path.parent)
    return path


def object_path(source: str) -> Path:
    """The path of a source's shared library. Raises CompileError if no folder can be written."""
    key = hashlib.sha256(f"{find_compiler().identity}\n{source}".encode()).hexdigest()
    suffix = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
    folder = folders.directory("host")
    if folder is None:
        raise CompileError(
            "compiled kernels have no folder that can be written: set INDEXING_CACHE_DIR to one; "
            "device='reference' needs none"
        )
    return folder / f"{key}{suffix}"


def is_there(path: Path) -> bool:
    """Whether an object is on disk; if so, its time of last use is updated."""
    try:
        os.utime(path)
    except OSError:
        return False
    return True


def throw_away(folder: Path, limit: int | None = None) -> None:
    """Remove the least recently used objects if all together exceed the limit."""
    limit = CACHE_BYTES if limit is None else limit
    found = []
    for entry in os.scandir(folder):
        try:
            status = entry.stat()
        except OSError:  # another process was faster
            continue
        found.append((status.st_mtime, status.st_size // max(status.st_nlink, 1), entry.path))
    total = sum(size for _, size, _ in found)
    if total <= limit:
        return
    for _, size, path in sorted(found):
        if total <= limit * KEPT_FRACTION:
            break
        try:
            os.unlink(path)
        except OSError:  # in use, where the system forbids that, or gone
            continue
        total -= size
