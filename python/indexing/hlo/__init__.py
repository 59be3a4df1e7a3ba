"""HLO programs: what Rust parsed, seen from Python.

`parse` and `load` give a `Module`. Computations, instructions and shapes are views that are made when asked for and
kept, so that `instruction.operands[0] is computation.instructions["x"]`. They are immutable and hash by identity,
shapes by value.
"""

from __future__ import annotations

import pathlib
from typing import BinaryIO

from indexing import _core
from indexing.errors import ParseError
from indexing.hlo.files import decoded, read_bytes
from indexing.hlo.front_ends import Stage, from_jax, from_stablehlo
from indexing.hlo.program import Computation, Instruction, LiteralValue, Module, entry_of
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
    "entry_of",
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


def load(source: str | pathlib.Path | BinaryIO) -> Module:
    """Parses the HLO text of a file, uncompressed or compressed by gzip; `source` is its path, or the file opened to
    read bytes, such as `sys.stdin.buffer`.

    Raises ParseError, which names the file, and OSError where it can't be read.
    """
    data, file = read_bytes(source)
    try:
        return parse(decoded(data))
    except ParseError as error:
        raise error.in_file(file) from None
