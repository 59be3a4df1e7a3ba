"""Verdicts on compilers: the flags with which one is right, decided when it is first used, and kept on disk."""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from indexing.errors import CompileError
from indexing.runtime import known_answers
from indexing.runtime.object_files import content_of, put

# Flags that are added to the usual ones until a compiler is right, the cheapest first. Where gcc 12 makes vectors of statements
# in a row, a load may come before the store that it depends on. With vectors of 512 bits, gcc 11 and 12 lose elements that are
# added under a condition: conditions on whole vectors are taken for those on single elements. Clang 22 adds up other elements
# in small products and convolutions; without unrolled loops still in the latter.
_LOOPS_ONLY = "-fno-tree-slp-vectorize"
SAFER: tuple[tuple[str, ...], ...] = (
    (),
    (_LOOPS_ONLY,),
    ("-mprefer-vector-width=256",),
    (_LOOPS_ONLY, "-mprefer-vector-width=256"),
    ("-fno-tree-loop-if-convert",),
    (_LOOPS_ONLY, "-fno-tree-loop-if-convert"),
    ("-fno-vectorize",),
    ("-O2",),
    ("-O1",),
    ("-O0",),
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The flags that make a compiler right, None if none do; and before these, flags with the kernels that they make wrong."""

    added: tuple[str, ...] | None
    wrong: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()

    def __str__(self) -> str:
        """The verdict in words."""
        count = len(known_answers.KERNELS)
        tried = "; ".join(f"wrong {_with(flags)}: {', '.join(kernels)}" for flags, kernels in self.wrong)
        if self.added is None:
            return tried
        return f"right {_with(self.added)} in {count} of {count} kernels with known answers" + (
            f" ({tried})" if tried else ""
        )


UNTRIED = Verdict(None)


def _with(flags: Sequence[str]) -> str:
    return f"with {' '.join(flags)}" if flags else "with the usual flags"


def verdict_on(command: Sequence[str], flags: Sequence[str], identity: str, folder: Path) -> Verdict:
    """The verdict on a compiler, from the folder, or found and kept there. Raises CompileError if it compiles nothing."""
    key = "\n".join([identity, *_machine(command[0]), *map(str, SAFER), known_answers.DIGEST])
    path = folder / f"{hashlib.sha256(key.encode()).hexdigest()}.verdict"
    if (kept := content_of(path)) is not None:
        added, wrong = json.loads(kept)
        return Verdict(None if added is None else tuple(added), tuple((tuple(f), tuple(k)) for f, k in wrong))
    verdict = _verdict(command, flags)
    put(path, json.dumps([verdict.added, verdict.wrong]).encode())
    return verdict


def _verdict(command: Sequence[str], flags: Sequence[str]) -> Verdict:
    wrong: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    for added in SAFER:
        kernels = known_answers.wrong_kernels([*command, *flags, *added])
        if isinstance(kernels, str):
            if not added:
                raise CompileError(f"{' '.join(command)} compiles no program: {kernels}")
            continue  # it does not know the flag
        if not kernels:
            return Verdict(added, tuple(wrong))
        wrong.append((added, kernels))
    return Verdict(None, tuple(wrong))


def _machine(program: str) -> tuple[str, ...]:
    """The processor, and the file of the compiler, which may change without its version."""
    path = shutil.which(program)
    status = Path(path).stat() if path is not None else None
    file = "" if status is None else f"{Path(path or '').resolve()} {status.st_size} {status.st_mtime_ns}"
    return (_processor(), file)


def _processor() -> str:
    """The processor's name, from the first lines on Linux: there is a page for each core."""
    try:
        with open("/proc/cpuinfo") as file:
            return next((line for line in islice(file, 10) if line.startswith("model name")), platform.machine())
    except OSError:
        return platform.processor()
