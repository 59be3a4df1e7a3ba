"""What element code is written against: values, indices, and the context that an emitter supplies.

Element code yields C text in the notation of `indexing.emit.dialect`: the C types are the HLO names (`f32`, `s32`,
`c64`, ...), and `@name` stands for a function of the dialect or of the library of intrinsics, such as `@exp.f32`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from indexing._core import IndexingMap, Interval, SymbolicExpr
    from indexing.hlo import Computation, Instruction
    from indexing.ops.block import Indexing

Index: TypeAlias = "tuple[SymbolicExpr, ...]"  # one expression a dimension, over the writer's index variables


@dataclass(frozen=True, slots=True)
class Value:
    """A value in generated code: `text` is a C variable or literal of the compute type of `element_type`."""

    text: str
    element_type: str

    def __str__(self) -> str:
        """The C text."""
        return self.text


@dataclass(frozen=True, slots=True)
class Mapped:
    """A map applied to an index: the results, and the C conditions under which the index is in the map's domain."""

    index: Index
    conditions: tuple[str, ...]


class ElementContext(Protocol):
    """Writes one function of a kernel; statements go to the place where the function stands at the moment."""

    def operand(self, instruction: Instruction, k: int, index: Index, output: int = 0) -> Value:
        """Element `index` of operand `k` (of array `output` of a tuple-shaped one)."""

    def indexing(self, instruction: Instruction, output: int) -> Indexing:
        """The instruction's simplified output-to-input maps."""

    def mapped(self, indexing_map: IndexingMap, index: Index, ranges: Index = (), runtimes: Index = ()) -> Mapped:
        """`indexing_map` at `index`, with expressions for its range and runtime variables."""

    def constant(self, value: int) -> SymbolicExpr:
        """An index that is a number."""

    def integer(self, expression: SymbolicExpr) -> str:
        """C text of an index expression, of type s32 or s64 as its range needs."""

    def let(self, element_type: str, text: str, *, rounds: bool = True) -> Value:
        """A variable that holds `text`; with `rounds`, a float below f32 is rounded to its type."""

    def variable(self, element_type: str, initial: str) -> Value:
        """A variable that `assign` may change."""

    def assign(self, variable: Value, text: str) -> None:
        """Write `variable = text;`."""

    def loop(self, size: int) -> AbstractContextManager[SymbolicExpr]:
        """Run what is written inside for each index from 0 to `size` - 1."""

    def when(self, conditions: Sequence[str]) -> AbstractContextManager[None]:
        """Run what is written inside where all conditions hold."""

    def otherwise(self) -> AbstractContextManager[None]:
        """Run what is written inside where the conditions of the `when` just before did not hold."""

    def inside(self, index: Index, sizes: Sequence[int]) -> Index:
        """The same index, known from here on to lie in a tensor of `sizes` (the caller has checked it)."""

    def range(self, expression: SymbolicExpr) -> Interval:
        """Bounds of an index expression."""

    def checked(self, value: Value, lower: int, upper: int) -> tuple[SymbolicExpr, str]:
        """An integer value as an index, and the C condition that it lies in [lower, upper].

        The index may be used only where the condition holds.
        """

    def bounded(self, value: Value, lower: int, upper: int) -> SymbolicExpr:
        """An integer value as an index, clamped to [lower, upper]."""

    def apply(self, computation: Computation, arguments: Sequence[Value]) -> tuple[Value, ...]:
        """The results of a computation on scalars, written in place."""

    def unrounded(self) -> AbstractContextManager[None]:
        """Keep floats below f32 in f32 in what is written inside: partial sums of an accumulation."""

    def call(self, computation: Computation, instruction: Instruction, output: int, index: Index) -> Value:
        """An element of the called computation's result, its parameters standing for the instruction's operands."""

    def table(self, instruction: Instruction, index: Index) -> Value:
        """An element of a constant: a literal where all elements are the same, else an entry of a table."""

    def remember(self, instruction: Instruction, index: Index, values: Sequence[Value]) -> None:
        """Keep the values of all arrays of a tuple-shaped instruction, which were computed together."""
