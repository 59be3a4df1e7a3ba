"""HLO programs: Python views of the tables that Rust has parsed.

`parse` and `load` return a `Module`. Computations, instructions and shapes are views that are created on access and kept, so
that `instruction.operands[0] is computation.instructions["x"]`. They are immutable and hash by identity, shapes by value.
"""

from __future__ import annotations

from indexing.errors import ParseError
from indexing.hlo.builder import AttributeValue, BuiltInstruction, ComputationBuilder, ModuleBuilder
from indexing.hlo.files import dumped_programs, load
from indexing.hlo.front_ends import Stage, from_exported, from_jax, from_proto, from_stablehlo
from indexing.hlo.metadata import Place, op_name, source_place
from indexing.hlo.program import Computation, Instruction, LiteralValue, Module, entry_of
from indexing.hlo.program_like import Part, Program, parsed, remedy_for
from indexing.hlo.shape import DTYPES, Shape
from indexing.hlo.window import ConvolutionLabels, DimensionLabels, WindowDim

__all__ = [
    "DTYPES",
    "AttributeValue",
    "BuiltInstruction",
    "Computation",
    "ComputationBuilder",
    "ConvolutionLabels",
    "DimensionLabels",
    "Instruction",
    "LiteralValue",
    "Module",
    "ModuleBuilder",
    "Part",
    "Place",
    "Program",
    "Shape",
    "Stage",
    "WindowDim",
    "dumped_programs",
    "entry_of",
    "from_exported",
    "from_jax",
    "from_proto",
    "from_stablehlo",
    "load",
    "op_name",
    "parse",
    "source_place",
]


def parse(text: str) -> Module:
    """Parse HLO text as XLA and JAX print it, before or after optimization.

    Raises ParseError, with line, column and what was expected, for text that is not HLO or has inconsistent shapes.
    """
    if not isinstance(text, str):
        remedy = remedy_for(text) or "ix.hlo.load reads files"
        raise ParseError(f"expected HLO text as a string, found {type(text).__name__}; {remedy}", 1, 1)
    return parsed(text)
