"""The C compiler for kernels on the CPU, and the cache of its objects on disk, keyed by content.

It is `$CC`, or the first of `cc`, `gcc` and `clang` on the path, or the one of the `ziglang` wheel (the extra `cpu`).
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import product
from pathlib import Path

from indexing.errors import CompileError
from indexing.extras import install_command
from indexing.runtime import cache as folders
from indexing.runtime.compiler_verdicts import UNTRIED, Verdict, verdict_on
from indexing.runtime.listing import compile_error
from indexing.runtime.object_files import is_whole, put, throw_away
from indexing.runtime.once import Once

# No flag changes a result: no contraction to fused operations, no reordering; `errno` and traps are never read.
FLAGS = (
    *("-std=gnu11", "-O3", "-shared", "-w", "-x", "c"),
    *("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fno-strict-aliasing"),
)
# Flags for this machine's instructions: of most compilers, of some for ARM, and none, for cross compilers.
PROCESSORS = (("-march=native",), ("-mcpu=native",), ())
# Where gcc threads jumps through selections, one after another, or moves a comparison into the branches before it, there is
# control flow or a selection of predicates, which it can't vectorize.
_STRAIGHT = ("-fno-thread-jumps", "-fno-tree-pre")
# It fills short rows by `rep stos`, which takes many clocks to begin; for long ones the library's function is best.
_FILLS = ("-mmemset-strategy=vector_loop:2048:noalign,libcall:-1:noalign",)
# Of these, the first that a compiler knows: gcc for x86, gcc for others, and others.
OPTIONAL = ((*_STRAIGHT, *_FILLS), _STRAIGHT, ())


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C compiler: its command, the flags for kernels, its identity, which includes this machine's processor, and the verdict
    on it.
    """

    command: tuple[str, ...]
    flags: tuple[str, ...]
    identity: str
    verdict: Verdict = UNTRIED

    def build(self, name: str, source: str, target: Path) -> None:
        """Compile a source to a shared library on disk."""
        with tempfile.TemporaryDirectory(prefix="indexing-") as folder:
            made = Path(folder) / target.name
            command = [*self.command, *self.flags, "-", "-o", str(made), *_libraries()]
            done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise compile_error(" ".join(self.command), name, source, done.stderr)
            put(target, made.read_bytes())


@Once
def find_compiler() -> Compiler:
    """The compiler of this process, with flags that make it right. Raises CompileError if there is none."""
    refused, folder = [], _folder()
    for compiler in filter(None, map(with_known_flags, _candidates())):
        try:
            return _trusted(compiler, folder)
        except CompileError as refusal:
            if isinstance(refusal.__cause__, OSError):  # a full disk, which another compiler does not mend
                raise
            refused.append(str(refusal))
    if not refused and (chosen := os.environ.get("CC")):
        raise CompileError(
            f"CC is {chosen!r}, which isn't there or compiles no C: set it to a C compiler, or unset it; "
            "device='reference' needs none"
        )
    problem = "; ".join(refused) or "no C compiler is found"
    raise CompileError(
        f"{problem}: set CC to one, install gcc or clang, or get one in a wheel: "
        f"install {install_command('cpu')}; device='reference' needs none"
    )


def with_known_flags(command: tuple[str, ...], processors: Sequence[tuple[str, ...]] = PROCESSORS) -> Compiler | None:
    """A compiler with the first flags of `processors`, and of `OPTIONAL`, that it knows; None if it isn't there."""
    position = () if sys.platform == "win32" else ("-fPIC",)
    for processor, optional in product(processors, OPTIONAL):
        flags = (*FLAGS, *optional, *processor, *position)
        identity = _identity(command, flags)
        if identity is not None:
            return Compiler(command, flags, identity)
    return None


def _trusted(compiler: Compiler, folder: Path) -> Compiler:
    """A compiler with flags that make it right. Raises CompileError if there are none."""
    flags = [flag for flag in compiler.flags if flag != "-shared"]
    verdict = verdict_on(compiler.command, [*flags, *_libraries()], compiler.identity, folder)
    if verdict.added is None:
        raise CompileError(f"the C compiler {' '.join(compiler.command)} makes wrong code: {verdict}")
    if not verdict.added:
        return replace(compiler, verdict=verdict)
    identity = hashlib.sha256("\n".join([compiler.identity, *verdict.added]).encode()).hexdigest()
    return Compiler(compiler.command, (*compiler.flags, *verdict.added), identity, verdict)


def is_available() -> bool:
    """Whether there is a C compiler."""
    try:
        find_compiler()
    except CompileError:
        return False
    return True


def version(compiler: Compiler) -> str:
    """A compiler's own words about its version, in one line."""
    done = subprocess.run([*compiler.command, "--version"], capture_output=True, text=True, check=False)
    return (done.stdout.strip().splitlines() or ["of unknown version"])[0]


def _candidates() -> Iterable[tuple[str, ...]]:
    chosen = os.environ.get("CC")
    if chosen:
        try:
            yield tuple(shlex.split(chosen))
        except ValueError:  # a quote that isn't closed
            yield (chosen,)
        return
    for name in ("cc", "gcc", "clang"):
        if path := shutil.which(name):
            yield (path,)
    if find_spec("ziglang") is not None:
        yield (sys.executable, "-m", "ziglang", "cc")


def _identity(command: tuple[str, ...], flags: tuple[str, ...]) -> str | None:
    """The identity of a compiler with these options; None if it doesn't take them, or isn't there."""
    try:
        done = subprocess.run(
            [*command, *flags, "-dM", "-E", "-"], input="", capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return identity_by(command, flags, done.stdout) if done.returncode == 0 and done.stdout else None


def identity_by(command: tuple[str, ...], flags: tuple[str, ...], macros: str) -> str:
    """A hash of the options and of the macros that the compiler defines, such as its version and the processor's features."""
    lines = sorted(line for line in macros.splitlines() if not line.startswith(("#define __DATE", "#define __TIME")))
    return hashlib.sha256("\n".join([*command[1:], *flags, *lines]).encode()).hexdigest()


def _libraries() -> tuple[str, ...]:
    return () if sys.platform == "win32" else ("-lm", "-pthread")


# ---------------------------------------------------------------- objects


def shared_library(name: str, source: str) -> Path:
    """The shared library of a source, compiled unless it is on disk."""
    path = object_path(source)
    if is_whole(path):
        return path
    find_compiler().build(name, source, path)
    if path.name[0] == "0":  # about one in sixteen
        throw_away(path.parent)
    return path


def load_library(path: Path) -> ctypes.CDLL:
    """Load a shared library. Raises CompileError if the system refuses it."""
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise CompileError(
            f"the compiled kernel {path} can't be loaded: {error}; if its file system forbids to execute files, set "
            "INDEXING_CACHE_DIR to a folder on another one"
        ) from error


def object_path(source: str) -> Path:
    """The path of a source's shared library. Raises CompileError if no folder can be written."""
    key = hashlib.sha256(f"{find_compiler().identity}\n{source}".encode()).hexdigest()
    suffix = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
    return _folder() / f"{key}{suffix}"


def _folder() -> Path:
    folder = folders.directory("host")
    if folder is None:
        raise CompileError(f"{folders.no_directory('host')}; device='reference' needs none")
    return folder
