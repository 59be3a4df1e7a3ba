"""Start indices read at run time: as variables of a map with the interval HLO keeps them in, and as numbers.

A start of a slice of `slice_size` in a dimension of `size` lies in [0, size - slice_size]; where that is a point, the
start is 0 whatever its operand holds, and needs no variable.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from indexing._core import IndexingMap, SymbolicExpr, constant, variable
from indexing.lazy import np
from indexing.ops.operand_indexing import Bounds, Constraint, OperandIndexing, RuntimeValue, tensor_map, variables
from indexing.ops.values import Array

if TYPE_CHECKING:
    from indexing.hlo import Instruction


@dataclass(frozen=True, slots=True)
class Start:
    """The place of one start index, as an index over the variables of the map that uses it."""

    instruction: Instruction
    element: tuple[SymbolicExpr, ...]


@dataclass(frozen=True, slots=True)
class Starts:
    """The starts of all dimensions: their expressions, the runtime variables among them, and where those are read."""

    exprs: tuple[SymbolicExpr, ...]
    bounds: tuple[Bounds, ...]
    values: tuple[RuntimeValue, ...]

    def read_by(self, found: IndexingMap) -> OperandIndexing:
        """A map over these starts, with where they are read; an empty map has no variables left that need it."""
        return OperandIndexing(found, () if found.is_known_empty else self.values)


def starts_of(
    found: Sequence[Start | None],
    largest_starts: Sequence[int],
    sizes: Sequence[int],
    ranges: Sequence[int] = (),
    out_of_bounds: Literal["clamp", "drop"] = "clamp",
) -> Starts:
    """Runtime variables numbered behind the `sizes` and `ranges` of a map, one a start that can move.

    `largest_starts` has one a dimension; None, or a largest of 0, is a start of 0.
    """
    exprs: list[SymbolicExpr] = []
    bounds: list[Bounds] = []
    values: list[RuntimeValue] = []
    first = len(sizes) + len(ranges)
    for start, largest in zip(found, largest_starts, strict=True):
        if start is None or (largest == 0 and out_of_bounds == "clamp"):
            exprs.append(constant(0))
            continue
        exprs.append(variable(first + len(values)))
        bounds.append((0, largest))
        element = tensor_map(start.element, sizes, ranges)
        values.append(RuntimeValue(start.instruction, element, out_of_bounds=out_of_bounds))
    return Starts(tuple(exprs), tuple(bounds), tuple(values))


def scalar_starts(instruction: Instruction, first: int, rank: int) -> list[Start]:
    """The starts of dynamic-slice and its kind: one scalar operand a dimension, or one vector of all."""
    operands = instruction.operands[first:]
    if len(operands) == 1 and len(operands[0].shape.dimensions) == 1:
        return [Start(operands[0], (constant(k),)) for k in range(rank)]
    return [Start(operand, ()) for operand in operands]


def start_map(instruction: Instruction, operand: int, sizes: Sequence[int]) -> IndexingMap:
    """From an output of `sizes` to start operand `operand`: its scalar, or all elements of its vector."""
    count = instruction.operands[operand].shape.dimensions
    return tensor_map(variables(len(count), len(sizes)), sizes, count)


def box(exprs: Sequence[SymbolicExpr], starts: Sequence[SymbolicExpr], sizes: Sequence[int]) -> list[Constraint]:
    """exprs[k] - starts[k] in [0, sizes[k] - 1], for all k."""
    return [(e - s, (0, n - 1)) for e, s, n in zip(exprs, starts, sizes, strict=True)]


def as_int64(values: Array) -> Array:
    """Indices of any integer type; unsigned ones beyond int64 become its largest value, not negative."""
    if values.dtype == np.uint64:
        return np.minimum(values, np.uint64(2**63 - 1)).astype(np.int64)
    return values.astype(np.int64)


def read_starts(values: Sequence[Array], largest_starts: Sequence[int]) -> tuple[int, ...]:
    """The clamped starts that the scalar operands (or one vector of them) hold."""
    flat = [int(v) for operand in values for v in as_int64(operand).reshape(-1)]
    return tuple(min(max(v, 0), largest) for v, largest in zip(flat, largest_starts, strict=True))


def index_grid(sizes: Sequence[int]) -> Array:
    """All indices of an array in row-major order: [dimension, position]."""
    rest = np.arange(math.prod(sizes), dtype=np.int64)
    grid = np.empty((len(sizes), rest.size), np.int64)
    for k in reversed(range(len(sizes))):
        rest, grid[k] = np.divmod(rest, max(sizes[k], 1))
    return grid
