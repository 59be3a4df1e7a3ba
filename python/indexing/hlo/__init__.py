"""HLO programs: what Rust parsed, seen from Python.

`parse` and `load` give a `Module`. Computations, instructions and shapes are views that are made when asked for and
kept, so that `instruction.operands[0] is computation.instructions["x"]`. They are immutable and hash by identity,
shapes by value.
"""

from __future__ import annotations

import gzip
import pathlib

from indexing import _core
from indexing.errors import ParseError
from indexing.hlo.front_ends import Stage, from_jax, from_stablehlo
from indexing.hlo.program import Computation, Instruction, LiteralValue, Module
from indexing.hlo.shape import DTYPES, Shape
from indexing.hlo.window import ConvolutionLabels, DimensionLabels, WindowDim

__all__ = [
    "DTYPES",
    "Computation",
    "ConvolutionLabels",
    "DimensionLabels",
    "Instruction",
    "LiteralValue",
    "Module",
    "Shape",
    "Stage",
    "WindowDim",
    "from_jax",
    "from_stablehlo",
    "load",
    "parse",
]


def parse(text: str) -> Module:
    """Parses HLO text as XLA and JAX print it, before or after optimization.

    Raises ParseError, with line, column and what was expected, for text that is no HLO or whose shapes do not fit.
    """
    if not isinstance(text, str):
        raise ParseError(f"expected HLO text as a string, found {type(text).__name__}", 1, 1)
    return Module(_core.parse_hlo(text))


def load(path: str | pathlib.Path) -> Module:
    """Parses the HLO text of a file, uncompressed or compressed by gzip. Raises ParseError, or OSError of the file."""
    data = pathlib.Path(path).read_bytes()
    if data.startswith(b"\x1f\x8b"):
        try:
            data = gzip.decompress(data)
        except (gzip.BadGzipFile, EOFError) as e:
            raise ParseError(f"{path} is no complete gzip file: {e}", 1, 1) from None
    try:
        return parse(data.decode())
    except UnicodeDecodeError as e:
        before = data[: e.start]
        line, column = before.count(b"\n") + 1, e.start - before.rfind(b"\n")
        raise ParseError(f"{path} is no UTF-8 text: byte {data[e.start]:#04x}", line, column) from None
