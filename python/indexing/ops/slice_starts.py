"""Start indices read at run time: runtime variables of maps, with the intervals that HLO allows them, and values.

A start of a slice of `slice_size` in a dimension of `size` is clamped to [0, size - slice_size]; if that is a single point,
the start is 0 whatever its operand holds, and needs no variable. Scatter drops windows instead of clamping starts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from indexing._core import IndexingMap, SymbolicExpr, constant, variable
from indexing.hlo import Instruction
from indexing.lazy import np
from indexing.ops.operand_indexing import Bounds, Constraint, OperandIndexing, RuntimeValue, tensor_map, variables
from indexing.ops.values import Array


@dataclass(frozen=True, slots=True)
class Start:
    """The element that holds a start index; its index is over the variables of the map that uses it."""

    instruction: Instruction
    element: tuple[SymbolicExpr, ...]


@dataclass(frozen=True, slots=True)
class Starts:
    """The starts of all dimensions: their expressions, the bounds of their runtime variables, and the elements read."""

    exprs: tuple[SymbolicExpr, ...]
    bounds: tuple[Bounds, ...]
    values: tuple[RuntimeValue, ...]

    def read_by(self, m: IndexingMap) -> OperandIndexing:
        """A map over these starts with its runtime values; none for a known-empty map, which has no variables left."""
        return OperandIndexing(m, () if m.is_known_empty else self.values)


def starts_of(
    starts: Sequence[Start | None],
    largest_starts: Sequence[int],
    sizes: Sequence[int],
    ranges: Sequence[int] = (),
    out_of_bounds: Literal["clamp", "drop"] = "clamp",
) -> Starts:
    """Runtime variables, numbered after the `sizes` and `ranges` of a map, one for each start that is not constant.

    `largest_starts` has one entry for each dimension. A start that is None is 0; so is one that is clamped to [0, 0].
    """
    exprs: list[SymbolicExpr] = []
    bounds: list[Bounds] = []
    values: list[RuntimeValue] = []
    first = len(sizes) + len(ranges)
    for start, largest in zip(starts, largest_starts, strict=True):
        if start is None or (largest == 0 and out_of_bounds == "clamp"):
            exprs.append(constant(0))
            continue
        exprs.append(variable(first + len(values)))
        bounds.append((0, largest))
        element = tensor_map(start.element, sizes, ranges)
        values.append(RuntimeValue(start.instruction, element, out_of_bounds=out_of_bounds))
    return Starts(tuple(exprs), tuple(bounds), tuple(values))


def scalar_starts(instruction: Instruction, first: int, rank: int) -> list[Start]:
    """The starts of dynamic-slice and similar ops: a scalar operand for each dimension, or one vector."""
    operands = instruction.operands[first:]
    if len(operands) == 1 and len(operands[0].shape.dimensions) == 1:
        return [Start(operands[0], (constant(k),)) for k in range(rank)]
    return [Start(operand, ()) for operand in operands]


def start_map(instruction: Instruction, operand: int, sizes: Sequence[int]) -> IndexingMap:
    """The map from an output of `sizes` to start operand `operand`: its scalar, or all elements of its vector."""
    count = instruction.operands[operand].shape.dimensions
    return tensor_map(variables(len(count), len(sizes)), sizes, count)


def box(exprs: Sequence[SymbolicExpr], starts: Sequence[SymbolicExpr], sizes: Sequence[int]) -> list[Constraint]:
    """The constraints that exprs[k] - starts[k] is in [0, sizes[k] - 1], for all k."""
    return [(e - s, (0, n - 1)) for e, s, n in zip(exprs, starts, sizes, strict=True)]


def as_int64(values: Array) -> Array:
    """Indices of any integer type as int64; unsigned ones beyond its range become its largest value."""
    if values.dtype == np.uint64:
        return np.minimum(values, np.uint64(2**63 - 1)).astype(np.int64)
    return values.astype(np.int64)


def read_starts(values: Sequence[Array], largest_starts: Sequence[int]) -> tuple[int, ...]:
    """The clamped starts in the scalar operands, or in one vector."""
    flat = [int(v) for operand in values for v in as_int64(operand).reshape(-1)]
    return tuple(min(max(v, 0), largest) for v, largest in zip(flat, largest_starts, strict=True))


def index_grid(sizes: Sequence[int]) -> Array:
    """All indices of an array in row-major order: [dimension, position]."""
    rest = np.arange(math.prod(sizes), dtype=np.int64)
    grid = np.empty((len(sizes), rest.size), np.int64)
    for k in reversed(range(len(sizes))):
        rest, grid[k] = np.divmod(rest, max(sizes[k], 1))
    return grid
