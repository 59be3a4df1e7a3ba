"""Listings of sources that a compiler refuses: its log, and the source with line numbers."""

from __future__ import annotations

from indexing.errors import CompileError


def numbered(source: str) -> str:
    """The source, each line with its number, starting at 1."""
    lines = source.splitlines()
    width = len(str(len(lines)))
    return "\n".join(f"{number:>{width}} | {line}" for number, line in enumerate(lines, start=1))


def compile_error(compiler: str, name: str, source: str, log: str) -> CompileError:
    """The error for a kernel whose source `compiler` refuses."""
    return CompileError(f"{compiler} refuses kernel {name}:\n{log.strip()}\n\nsource:\n{numbered(source)}")
