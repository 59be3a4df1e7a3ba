"""Products of matrices, and their sizes by role: dots, of which the dot emitter takes some, and convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Literal, TypeAlias

from indexing._core import SymbolicExpr
from indexing.hlo import Computation, Instruction
from indexing.hlo.layout import major_to_minor
from indexing.hlo.module_cache import cached_on_module
from indexing.kernels.emitters.dot import convolution
from indexing.kernels.epilogue import Heroes, single_hero_of
from indexing.kernels.function_builder import FunctionBuilder
from indexing.ops.dot import DOT
from indexing.ops.element_context import Index, Value
from indexing.ops.element_types import element_type
from indexing.ops.registry import traits_of

NAME = DOT.opcode
MIN_COLUMNS = 16
MIN_CONTRACTED = 4

Axis: TypeAlias = Literal["free", "sum"]


@dataclass(frozen=True, slots=True)
class Product:
    """The sizes of a product by role: `batch` of both operands, `rows` of the left one, `columns` of the right one,
    `contracted`. With `is_swapped`, the left one is the second operand.
    """

    batch: tuple[int, ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    contracted: tuple[int, ...]
    is_swapped: bool = False

    @property
    def operands(self) -> tuple[int, int]:
        """The numbers of the left and of the right operand."""
        return (1, 0) if self.is_swapped else (0, 1)

    def tiles(self, rows: int, columns: int) -> tuple[int, int, int]:
        """The numbers of tiles of so many rows and columns, along the batch, the rows and the columns."""
        return prod(self.batch), -(-prod(self.rows) // rows), -(-prod(self.columns) // columns)

    def steps(self, depth: int) -> int:
        """The number of pieces of so many products along the sum."""
        return -(-prod(self.contracted) // depth)


@cached_on_module
def match_dot(computation: Computation) -> Heroes | None:
    """The dot that every output follows; None if there is none, or several."""
    return single_hero_of(computation, _is_hero)


def _is_hero(i: Instruction) -> bool:
    if traits_of(i) is not DOT or element_type(i.shape.element_type).kind != "float":
        return False
    shapes = [i.shape, *(o.shape for o in i.operands)]
    p = product_in_memory(i)
    if p is None or any(0 in s.dimensions for s in shapes):
        return False
    return prod(p.columns) >= MIN_COLUMNS and prod(p.contracted) >= MIN_CONTRACTED


def planned_product(product: Instruction) -> Product:
    """The sizes of a product that an emitter takes, by the roles of its plan."""
    p = product_in_memory(product)
    assert p is not None
    return p


def sum_type(dot: Instruction) -> str:
    """The type in which a dot's sums are computed."""
    return element_type(dot.shape.element_type).compute_type


@cached_on_module
def product_in_memory(i: Instruction) -> Product | None:
    """The sizes of a dot or a convolution, by roles for which neighbouring columns are neighbours in the memory of the result;
    None if there are none, and for other instructions.
    """
    is_dot = traits_of(i) is DOT
    if not (is_dot or convolution.is_convolution(i)):
        return None
    p, order = product_of(i), major_to_minor(i.shape)
    places = tuple(range(i.shape.rank)) if is_dot else convolution.result_places(i)
    if order == tuple(range(i.shape.rank)) == places or (p.columns and order[-1] == places[-1]):
        return p
    if p.rows and order[-1] == places[-1 - len(p.columns)]:
        return replace(p, rows=p.columns, columns=p.rows, is_swapped=True)
    return None


def product_of(i: Instruction) -> Product:
    """The sizes of a dot or a convolution."""
    if traits_of(i) is not DOT:
        batch, rows, columns, contracted = convolution.sizes_by_role(i)
        return Product(batch, rows, columns, contracted)
    (batch, lhs), (_, rhs) = dimension_numbers(i)
    left, right = (o.shape.dimensions for o in i.operands)
    sizes = i.shape.dimensions
    first = len(left) - len(lhs)
    return Product(
        tuple(left[d] for d in batch), sizes[len(batch) : first], sizes[first:], tuple(right[d] for d in rhs)
    )


def result_index(i: Instruction, p: Product, batch: Index, row: Index, column: Index) -> Index:
    """The index in a product's result of an element, given those of its dimensions by role."""
    of_first, of_second = (column, row) if p.is_swapped else (row, column)
    if traits_of(i) is DOT:
        return (*batch, *of_first, *of_second)
    return convolution.result_index(i, batch, of_first, of_second)


def dimension_numbers(dot: Instruction) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The batch and contracting dimensions of each operand."""
    return [(dot.ints(f"{side}_batch_dims"), dot.ints(f"{side}_contracting_dims")) for side in ("lhs", "rhs")]


def operand_index(dot: Instruction, k: int, batch: Index, free: Index, contracted: Index) -> Index:
    """The index of operand `k` from those of its batch, free and contracting dimensions."""
    of_batch, contracting = dimension_numbers(dot)[k]
    at = dict(zip((*of_batch, *contracting), (*batch, *contracted), strict=True))
    rest = iter(free)
    return tuple(at[d] if d in at else next(rest) for d in range(dot.operands[k].shape.rank))


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor of a product: the element of an operand at an index, if the `conditions` hold; else it is zero."""

    operand: Instruction
    index: Index
    conditions: Sequence[Value] = ()

    def read(self, body: FunctionBuilder) -> Value:
        """The element, where the conditions hold."""
        return body.read(self.operand, body.inside(self.index, self.operand.shape.dimensions))


def factor(body: FunctionBuilder, i: Instruction, k: int, batch: Index, free: Index, contracted: Index) -> Factor:
    """The factor of operand `k` of a product, from indices of its batch, free and contracted dimensions."""
    if traits_of(i) is DOT:
        return Factor(i.operands[k], operand_index(i, k, batch, free, contracted))
    return Factor(i.operands[k], *convolution.factor(body, i, k, batch, free, contracted))


def step_conditions(
    body: FunctionBuilder, i: Instruction, batch: Index, begin: SymbolicExpr, depth: int
) -> Sequence[Value]:
    """The conditions without which all factors at `depth` places along the sum from `begin` on are zeros."""
    return () if traits_of(i) is DOT else convolution.step_conditions(body, i, batch, begin, depth)


@cached_on_module
def fastest(dot: Instruction, k: int) -> tuple[Axis, int]:
    """The role of an operand's fastest dimension in memory that is not of the batch, and its size."""
    if traits_of(dot) is not DOT:
        return convolution.fastest_in_memory(dot, k)
    shape, (batch, contracting) = dot.operands[k].shape, dimension_numbers(dot)[k]
    last = next(d for d in reversed(major_to_minor(shape)) if d not in batch)
    is_last = not batch or last == major_to_minor(shape)[-1]
    order = contracting if last in contracting else [d for d in range(shape.rank) if d not in (*batch, *contracting)]
    size = shape.dimensions[last] if is_last and order[-1] == last else 1
    return ("sum" if last in contracting else "free"), size
