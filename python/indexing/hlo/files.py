"""Programs in files, told apart by what is in them: HLO text, protocol buffers, StableHLO, exports of JAX, XLA's dumps."""

from __future__ import annotations

import gzip
import os
import pathlib
import re
import zlib
from typing import BinaryIO

from indexing import _core
from indexing.errors import IndexingError, ParseError
from indexing.hlo.front_ends import from_exported, from_proto, from_stablehlo
from indexing.hlo.gpu_targets import GpuTarget
from indexing.hlo.program import Module

__all__ = ["decoded", "dumped_programs", "load", "program_of", "read_bytes"]

GZIP = b"\x1f\x8b"
_BYTECODE = b"ML\xefR"  # MLIR's
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r"))  # what no text holds
# What stands first in MLIR's text, after comments. Nothing is tried twice (`+`): a comment may be long.
_MLIR = re.compile(r"\s*+(?://.*+\s*+)*+(?:module\b|#\w+\s*=|func\.func\b|\"builtin\.module\")")
# What XLA dumps of a module: its number and name, the platform where it is optimized, the stage, text or a protocol buffer.
_DUMPED = re.compile(
    r"(?P<name>module_\d+\..+?)\.(?:[\w.]*_)?(?P<stage>after|before)_optimizations\.(?P<form>txt|hlo\.pb)(?:\.gz)?"
)


def load(source: str | os.PathLike[str] | BinaryIO, target: str | GpuTarget | None = None) -> Module:
    """The program of a file, compressed by gzip or not; `source` is its path, or the file opened to read bytes, such as
    `sys.stdin.buffer`.

    The content tells what it is: HLO text; and by way of JAX (the extra `jax`) an HLO protocol buffer, StableHLO as text
    or bytecode, or a serialized `jax.export`, the last two compiled for a GPU where a `target` is given. Of a folder that
    XLA dumped one program into, that program, optimized. Raises ParseError, which names the file, OSError where it
    can't be read, and what the functions for those forms raise.
    """
    if isinstance(source, str | os.PathLike) and os.path.isdir(source):
        source = _only_dumped(source)
    data, file = read_bytes(source)
    try:
        return program_of(data, target)
    except ParseError as error:
        raise error.in_file(file) from None


def program_of(data: bytes, target: str | GpuTarget | None = None) -> Module:
    """The program that the bytes of a file hold, as `load` reads it."""
    data = _decompressed(data)
    is_binary = len(data.translate(None, _CONTROL)) < len(data)
    if data.startswith(_BYTECODE):
        return from_stablehlo(data, target)
    if is_binary and _BYTECODE in data:
        return from_exported(data, target)
    if is_binary and data.startswith(b"\n"):  # field 1 of a protocol buffer
        return _untargeted(from_proto(data), target)
    text = decoded(data)
    if _MLIR.match(text):
        return from_stablehlo(text, target)
    return _untargeted(Module(_core.parse_hlo(text)), target)


def _untargeted(module: Module, target: object) -> Module:
    if target is not None:
        raise IndexingError(
            f"{module.name} is HLO already: only StableHLO and exports of JAX are compiled for a target"
        )
    return module


def dumped_programs(folder: str | os.PathLike[str]) -> dict[str, pathlib.Path]:
    """The programs in a folder that XLA dumped into (`--xla_dump_to`): of each, by number and name, the file to load.

    That is the optimized program where it is there, else the one before; text rather than a protocol buffer.
    """
    found: dict[str, list[tuple[str, str, pathlib.Path]]] = {}
    for path in pathlib.Path(folder).iterdir():
        match = _DUMPED.fullmatch(path.name)
        if match:
            rank = "0" if match["form"] == "txt" else "1"
            found.setdefault(match["name"], []).append((match["stage"], rank, path))
    return {name: min(files)[2] for name, files in sorted(found.items())}


def _only_dumped(folder: str | os.PathLike[str]) -> pathlib.Path:
    programs = dumped_programs(folder)
    if len(programs) == 1:
        return next(iter(programs.values()))
    if not programs:
        raise IndexingError(f"{os.fspath(folder)} is a directory without programs that XLA dumped")
    names = ", ".join(path.name for path in list(programs.values())[:5])
    more = f", and {len(programs) - 5} more" if len(programs) > 5 else ""
    raise IndexingError(f"{os.fspath(folder)} has {len(programs)} programs; give one of these files: {names}{more}")


def read_bytes(source: str | os.PathLike[str] | BinaryIO) -> tuple[bytes, str]:
    """The bytes of a file, given by its path or opened, and its name."""
    if hasattr(source, "read"):
        name = getattr(source, "name", "")
        return source.read(), name if isinstance(name, str) and name else "<input>"
    try:
        return pathlib.Path(source).read_bytes(), os.fspath(source)
    except ValueError as error:  # a zero byte, or half of a character
        raise IndexingError(f"{source!r} is no path of a file: {error}") from None


def decoded(data: bytes) -> str:
    """The text of bytes in UTF-8, compressed by gzip or not. Raises ParseError where they are neither."""
    data = _decompressed(data)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        raise ParseError(f"this is no UTF-8 text: byte {data[error.start]:#04x}", line, column) from None


def _decompressed(data: bytes) -> bytes:
    if not data.startswith(GZIP):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise ParseError(f"this is no complete gzip file: {error}", 1, 1) from None
