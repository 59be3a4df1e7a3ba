"""Products of matrices as a library of the device takes them: by types, sizes, and strides in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod

from indexing.hlo import Instruction, Shape
from indexing.hlo.layout import strides_of
from indexing.ops.dot import DOT, sides_of
from indexing.ops.registry import traits_of

MAX_SIZE = (1 << 31) - 1  # libraries take sizes and leading dimensions as C's int


@dataclass(frozen=True, slots=True)
class Matrices:
    """The matrices of a batch in memory, by strides in elements; either the rows' or the columns' is 1."""

    batch_stride: int
    row_stride: int
    column_stride: int

    @property
    def transposed(self) -> Matrices:
        """The matrices with rows and columns exchanged, in the same memory."""
        return Matrices(self.batch_stride, self.column_stride, self.row_stride)


@dataclass(frozen=True, slots=True)
class StridedProduct:
    """`batch` products of m x k matrices (`left`) with k x n ones (`right`) into m x n ones (`result`), of these `types`."""

    types: tuple[str, str, str]
    batch: int
    m: int
    n: int
    k: int
    left: Matrices
    right: Matrices
    result: Matrices

    @property
    def transposed(self) -> StridedProduct:
        """The same product of transposed matrices, in the other order."""
        left, right, result = self.right.transposed, self.left.transposed, self.result.transposed
        return replace(self, m=self.n, n=self.m, left=left, right=right, result=result)


def strided_product(dot: Instruction) -> StridedProduct | None:
    """A dot by strides; None for any other instruction, and for layouts that strides don't describe."""
    if traits_of(dot) is not DOT:
        return None
    left, right = sides_of(dot)
    sizes = [prod(left.sizes[d] for d in role) for role in (left.batch, left.free, left.contracting)]
    columns = prod(right.sizes[d] for d in right.free)
    first, last = len(left.batch), len(left.batch) + len(left.free)
    matrices = (
        _matrices(dot.operands[0].shape, left.batch, left.free, left.contracting),
        _matrices(dot.operands[1].shape, right.batch, right.contracting, right.free),
        _matrices(dot.shape, range(first), range(first, last), range(last, dot.shape.rank)),
    )
    if not all(0 < n <= MAX_SIZE for n in (*sizes, columns)) or any(m is None for m in matrices):
        return None
    batch, rows, contracted = sizes
    kinds = dot.operands[0].shape.element_type, dot.operands[1].shape.element_type, dot.shape.element_type
    return StridedProduct(kinds, batch, rows, columns, contracted, *matrices)  # type: ignore[arg-type]


def _matrices(shape: Shape, *roles: Sequence[int]) -> Matrices | None:
    """The matrices of an array with these dimensions of the batch, the rows and the columns; None if dimensions of one role
    don't follow each other in memory, or neither rows nor columns are adjacent.
    """
    strides = strides_of(shape)
    joined = [_joined([(shape.dimensions[d], strides[d]) for d in role]) for role in roles]
    if any(part is None for part in joined):
        return None
    (_, batch), (rows, down), (columns, across) = joined  # type: ignore[misc]
    if columns == 1:  # a single line has any stride
        across = rows if down == 1 else 1
    elif rows == 1:
        down = columns if across == 1 else 1
    is_adjacent = 1 in (down, across) and max(down, across) <= MAX_SIZE
    return Matrices(batch, down, across) if is_adjacent else None


def _joined(dimensions: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """Several dimensions as one, each by its size and stride; None if one stride doesn't reach all elements."""
    wide = [(size, stride) for size, stride in dimensions if size != 1]
    if any(outer != size * inner for (_, outer), (size, inner) in pairwise(wide)):
        return None
    return prod(size for size, _ in wide), wide[-1][1] if wide else 1
