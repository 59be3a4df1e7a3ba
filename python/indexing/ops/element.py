"""What element code is written against: values, indices, and the context that an emitter supplies.

Element code yields C text in the notation of `indexing.emit.dialect`: the C types are the HLO names (`f32`, `s32`,
`c64`, ...), and `@name` stands for a function of the dialect or of the library of intrinsics, such as `@exp.f32`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from indexing._core import SymbolicExpr


@dataclass(frozen=True, slots=True)
class Value:
    """A value in generated code: `text` is a C variable or literal of the compute type of `element_type`."""

    text: str
    element_type: str

    def __str__(self) -> str:
        """The C text."""
        return self.text


Index = tuple["SymbolicExpr", ...]
"""One expression a dimension, over the index variables of the function that is being written."""
