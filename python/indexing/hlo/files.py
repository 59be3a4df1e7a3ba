"""Programs in files, whose format is detected: HLO text, protocol buffers, StableHLO, exports of JAX, XLA's dumps."""

from __future__ import annotations

import gzip
import os
import pathlib
import re
import zlib
from typing import BinaryIO

from indexing import _core
from indexing.arguments import described, of_type, takes
from indexing.device.record import Device
from indexing.errors import IndexingError, ParseError
from indexing.hlo.front_ends import CUT_OFF, from_exported, from_proto, from_stablehlo
from indexing.hlo.program import Module
from indexing.hlo.program_like import remedy_for

GZIP = b"\x1f\x8b"
_BYTECODE = b"ML\xefR"  # MLIR's bytecode begins so
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r"))  # bytes that no text contains
# The start of MLIR text, after comments. Possessive quantifiers (`+`) avoid backtracking in long comments.
_MLIR = re.compile(r"\s*+(?://.*+\s*+)*+(?:module\b|#\w+\s*=|func\.func\b|\"builtin\.module\")")
# The name of a file that XLA dumps: the module's number and name, the platform if optimized, the stage, and the format.
_DUMPED = re.compile(
    r"(?P<name>module_\d+\..+?)\.(?:[\w.]*_)?(?P<stage>after|before)_optimizations\.(?P<form>txt|hlo\.pb)(?:\.gz)?"
)


def load(source: str | os.PathLike[str] | BinaryIO, target: Device | str | None = None) -> Module:
    """The program of a file, possibly compressed by gzip; `source` is its path, or a binary file opened for reading, such as
    `sys.stdin.buffer`.

    The format is detected: HLO text, or, by way of JAX (the extra `jax`), an HLO protocol buffer, StableHLO as text or
    bytecode, or a serialized `jax.export`; the last two are compiled for a GPU if a `target` is given. For a folder into
    which XLA dumped one program, it is that program, optimized. Raises ParseError, which names the file, OSError if it can't
    be read, and the errors of the functions for those formats. What JAX has lowered or compiled is no file: see `from_jax`.
    """
    if isinstance(source, str | os.PathLike) and os.path.isdir(source):
        source = _only_dumped(source)
    data, file = read_bytes(source)
    return program_of(data, file, target)


def program_of(data: bytes, file: str, target: Device | str | None = None) -> Module:
    """The program in the bytes of a file, in any format that `load` reads. Errors name the file."""
    try:
        return _program(_decompressed(data), file, target)
    except ParseError as error:
        raise error.in_file(file) from None
    except IndexingError as error:
        raise type(error)(f"{file}: {error}") from None


def _program(data: bytes, file: str, target: Device | str | None) -> Module:
    is_binary = len(data.translate(None, _CONTROL)) < len(data)
    if data.startswith(_BYTECODE):
        return from_stablehlo(data, target)
    if is_binary and _BYTECODE in data:
        return from_exported(data, target)
    if is_binary and data.startswith(b"\n"):  # field 1 of a protocol buffer
        return _untargeted(from_proto(data), target)
    if is_binary:
        raise IndexingError(f"these bytes are neither text nor the beginning of a program in another form; {CUT_OFF}")
    text = decoded(data)
    if _MLIR.match(text):
        return from_stablehlo(text, target)
    return _untargeted(Module(_core.parse_hlo(text), file), target)


def _untargeted(module: Module, target: object) -> Module:
    if target is not None:
        raise IndexingError(
            f"{module.name} is HLO already: only StableHLO and exports of JAX are compiled for a target"
        )
    return module


@takes(folder=of_type(str, os.PathLike))
def dumped_programs(folder: str | os.PathLike[str]) -> dict[str, pathlib.Path]:
    """The programs in a folder of XLA's dumps (`--xla_dump_to`): for each number and name, the file to load.

    That is the optimized program if there is one, else the one before optimization; text rather than a protocol buffer.
    """
    stages: dict[str, list[tuple[str, str, pathlib.Path]]] = {}
    for path in pathlib.Path(folder).iterdir():
        match = _DUMPED.fullmatch(path.name)
        if match:
            rank = "0" if match["form"] == "txt" else "1"
            stages.setdefault(match["name"], []).append((match["stage"], rank, path))
    return {name: min(files)[2] for name, files in sorted(stages.items())}


def _only_dumped(folder: str | os.PathLike[str]) -> pathlib.Path:
    programs = dumped_programs(folder)
    if len(programs) == 1:
        return next(iter(programs.values()))
    if not programs:
        raise IndexingError(
            f"{os.fspath(folder)} is a directory without programs that XLA dumped; give a file, or for all programs"
            " below it `indexing analyze DIR --out TABLES`, which is `ix.analyze_files`"
        )
    by_size = sorted(programs.values(), key=lambda path: -path.stat().st_size)
    names = ", ".join(path.name for path in by_size[:5])
    more = f", and {len(programs) - 5} more" if len(programs) > 5 else ""
    told = f"{os.fspath(folder)} has {len(programs)} programs; give one of these files, the largest first"
    raise IndexingError(f"{told}: {names}{more}")


def read_bytes(source: str | os.PathLike[str] | BinaryIO) -> tuple[bytes, str]:
    """The bytes of a file, given by its path or opened, and its name. Raises TypeError for anything else."""
    if hasattr(source, "read"):
        name = getattr(source, "name", "")
        data: object = source.read()
        if not isinstance(data, bytes):
            raise TypeError("load: source is opened as text; expected a binary file, open(path, 'rb')")
        return data, name if isinstance(name, str) and name else "<input>"
    _check_path(source)
    try:
        return pathlib.Path(source).read_bytes(), os.fspath(source)
    except ValueError as error:  # a zero byte, or a lone surrogate
        raise IndexingError(f"{source!r} is no path of a file: {error}") from None


def _check_path(source: object) -> None:
    """Raise TypeError for what is no path, IndexingError for a program's text."""
    if isinstance(source, str):
        if not source:
            raise IndexingError("load: source is an empty text; expected a path")
        if "\n" in source and not os.path.exists(source):
            reads = "ix.hlo.from_stablehlo" if _MLIR.match(source) else "ix.hlo.parse"
            raise IndexingError(f"load: source is a text of several lines, not a path; {reads}(text) reads it")
    elif not isinstance(source, os.PathLike):
        remedy = "io.BytesIO(source) is such a file" if isinstance(source, bytes) else remedy_for(source)
        wanted = "expected a path, or a binary file opened for reading" + (f"; {remedy}" if remedy else "")
        raise TypeError(f"load: source is {described(source)}; {wanted}")


def decoded(data: bytes) -> str:
    """The text of bytes in UTF-8, possibly compressed by gzip. Raises ParseError for anything else."""
    data = _decompressed(data)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        raise ParseError(f"this is not UTF-8 text: byte {data[error.start]:#04x}", line, column) from None


def _decompressed(data: bytes) -> bytes:
    if not data.startswith(GZIP):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise ParseError(f"this is not a complete gzip file ({error}); {CUT_OFF}", 1, 1) from None
