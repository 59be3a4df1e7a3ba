"""The interface of element code: values, indices, and the context that a kernel's builder supplies.

Element code computes one element of an op by the operations of the kernel IR (`indexing.kernels.ir.opcodes`).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from indexing._core import IndexingMap, Interval, SymbolicExpr
from indexing.hlo import Computation, Instruction
from indexing.ops.operand_indexing import Indexing

Index: TypeAlias = "tuple[SymbolicExpr, ...]"  # one expression for each dimension, over the builder's index variables


@dataclass(frozen=True, slots=True)
class Value:
    """A value in a kernel, of the compute type of `element_type`; `node` belongs to the builder that made it."""

    node: object
    element_type: str


@dataclass(frozen=True, slots=True)
class Mapped:
    """A map applied to an index: its results, and the conditions (of type pred) that the index is in its domain."""

    index: Index
    conditions: tuple[Value, ...]


class ElementContext(Protocol):
    """Builds one function of a kernel; statements are added at the current insertion point."""

    def operand(self, instruction: Instruction, k: int, index: Index, output: int = 0) -> Value:
        """Element `index` of operand `k` (of array `output` of a tuple-shaped one)."""

    def indexing(self, instruction: Instruction, output: int) -> Indexing:
        """The instruction's simplified output-to-input maps."""

    def mapped(self, indexing_map: IndexingMap, index: Index, ranges: Index = (), runtimes: Index = ()) -> Mapped:
        """`indexing_map` at `index`, with expressions for its range and runtime variables."""

    def constant(self, value: int) -> SymbolicExpr:
        """A constant index."""

    def number(self, element_type: str, value: complex | bool) -> Value:
        """A constant value."""

    def integer(self, expression: SymbolicExpr) -> Value:
        """An index expression as a value of type s64."""

    def within(self, expression: SymbolicExpr, lower: int | None, upper: int | None) -> tuple[Value, ...]:
        """The conditions that an index lies in [lower, upper] (None: no bound); empty if it provably does."""

    def op(self, opcode: str, result: str, *operands: Value, format: str = "") -> Value:
        """An operation of the IR on values; `result` is its IR type. The result is neither rounded nor named."""

    def let(self, element_type: str, value: Value, *, rounds: bool = True) -> Value:
        """Name the value, as one of `element_type`; with `rounds`, a float below f32 is rounded to its type."""

    def variable(self, element_type: str, initial: Value) -> Value:
        """Declare a variable, which `assign` may change."""

    def assign(self, variable: Value, value: Value) -> None:
        """Assign a new value to a variable."""

    def loop(self, size: int) -> AbstractContextManager[SymbolicExpr]:
        """Run the block for each index from 0 to `size` - 1."""

    def when(self, conditions: Sequence[Value]) -> AbstractContextManager[None]:
        """Run the block if all conditions hold."""

    def otherwise(self) -> AbstractContextManager[None]:
        """Run the block if the conditions of the preceding `when` do not hold."""

    def inside(self, index: Index, sizes: Sequence[int]) -> Index:
        """The same index, assumed from here on to lie in a tensor of `sizes`: the caller has checked it."""

    def range(self, expression: SymbolicExpr) -> Interval:
        """Bounds of an index expression."""

    def checked(self, value: Value, lower: int, upper: int) -> tuple[SymbolicExpr, Value]:
        """An integer value as an index, and the condition that it lies in [lower, upper].

        The index may be used only where the condition holds.
        """

    def bounded(self, value: Value, lower: int, upper: int) -> SymbolicExpr:
        """An integer value as an index, clamped to [lower, upper]."""

    def apply(self, computation: Computation, arguments: Sequence[Value]) -> tuple[Value, ...]:
        """The results of a computation on scalars, inlined."""

    def unrounded(self) -> AbstractContextManager[None]:
        """Keep floats below f32 in f32 within the block, for partial sums of an accumulation."""

    def call(self, computation: Computation, instruction: Instruction, output: int, index: Index) -> Value:
        """An element of the called computation's result, with the instruction's operands as arguments."""

    def table(self, instruction: Instruction, output: int, index: Index) -> Value:
        """An element of array `output` of a constant: a number if all elements are equal, else an element of a table."""

    def remember(self, instruction: Instruction, index: Index, values: Sequence[Value]) -> None:
        """Memoize the values of all arrays of a tuple-shaped instruction, which were computed together."""
