"""Compilation of several kernels at once: starting a compiler takes longer than compiling most of them.

A shared library of several kernels is stored under a name for each kernel, keyed by its content, so that other programs find
it. Its entry functions are named accordingly.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from indexing.errors import CompileError
from indexing.kernels.targets.c_family import SourceParts, joint_source
from indexing.runtime.compiler import object_path, shared_library
from indexing.runtime.object_files import is_whole, put_link

MAX_BYTES = 200_000  # the size of one source: compile time is superlinear in that of larger ones
MIN_BYTES = 6_000  # a size worth another compiler: starting one takes as long as compiling half of it


def entry_name(path: Path) -> str:
    """The entry function of a kernel that was compiled with others, given the path of its shared library."""
    return f"kernel_{path.stem[:32]}"


def compile_together(kernels: Sequence[tuple[str, SourceParts]], workers: int) -> None:
    """Compile the kernels whose shared libraries are not on disk, by up to `workers` compilers at a time.

    Groups with a kernel that the compiler refuses are skipped: loading each kernel compiles it alone.
    """
    missing = {path: kernel for kernel in kernels if not is_whole(path := object_path(kernel[0]))}
    groups = _groups(list(missing.items()), workers)
    if len(missing) < 2:
        return
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(_compile, groups))


Missing = tuple[Path, tuple[str, SourceParts]]


def _groups(missing: Sequence[Missing], workers: int) -> list[list[Missing]]:
    """Groups of about the same size, longest sources first: one for each worker, fewer if they would have less than MIN_BYTES,
    more if they would exceed MAX_BYTES.
    """
    total = sum(len(source) for _, (source, _) in missing)
    count = max(min(workers, total // MIN_BYTES), -(-total // MAX_BYTES))
    groups: list[list[Missing]] = [[] for _ in range(count)]
    lengths = [0] * len(groups)
    for kernel in sorted(missing, key=lambda entry: -len(entry[1][0])):
        shortest = lengths.index(min(lengths))
        groups[shortest].append(kernel)
        lengths[shortest] += len(kernel[1][0])
    return [group for group in groups if group]


def _compile(group: list[Missing]) -> None:
    try:
        made = shared_library(
            f"{len(group)} kernels", joint_source((parts, entry_name(path)) for path, (_, parts) in group)
        )
        for path, _ in group:
            put_link(made, path)
    except (CompileError, OSError):  # compiling each alone tells which one is refused
        return
