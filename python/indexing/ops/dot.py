"""dot, scaled-dot and ragged-dot: sums over contracting dimensions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexing._core import SymbolicExpr, variable
from indexing.hlo import Instruction, Shape
from indexing.lazy import np
from indexing.ops.contraction import matmul, to_element
from indexing.ops.element import loops
from indexing.ops.op import Op
from indexing.ops.operand_indexing import Indexing, OperandIndexing, tensor_map, variables
from indexing.ops.operation_count import FMA, CountInside, OperationCount
from indexing.ops.values import Array, HloValue, only_array

_GROUPS_UNKNOWN = "which rows belong to which group depends on the values of group_sizes"


@dataclass(frozen=True, slots=True)
class Side:
    """One operand's dimensions by role; `free` are the dimensions that are neither batch nor contracting, in order."""

    sizes: tuple[int, ...]
    batch: tuple[int, ...]
    contracting: tuple[int, ...]

    @property
    def free(self) -> tuple[int, ...]:
        """The dimensions of this operand alone."""
        return tuple(k for k in range(len(self.sizes)) if k not in self.batch and k not in self.contracting)

    def contracted_sizes(self) -> tuple[int, ...]:
        """The sizes of the dimensions that are summed over."""
        return tuple(self.sizes[k] for k in self.contracting)

    def place(
        self, batch: Sequence[SymbolicExpr], free: Sequence[SymbolicExpr], contracted: Sequence[SymbolicExpr]
    ) -> list[SymbolicExpr]:
        """The operand's index, from the indices of the batch, free and contracting dimensions."""
        by_dimension = dict(
            zip((*self.batch, *self.free, *self.contracting), (*batch, *free, *contracted), strict=True)
        )
        return [by_dimension[k] for k in range(len(self.sizes))]

    def matrix(self, value: Array, last: str) -> Array:
        """The value as [batch, rows, columns] with `last` ("contracting" or "free") flattened to columns."""
        first, second = (self.free, self.contracting) if last == "contracting" else (self.contracting, self.free)
        moved = value.transpose((*self.batch, *first, *second))
        return moved.reshape([math.prod(self.sizes[k] for k in group) for group in (self.batch, first, second)])


def sides_of(instruction: Instruction) -> tuple[Side, Side]:
    """The dimensions of both operands by role."""
    lhs, rhs = (
        Side(
            tuple(instruction.operands[k].shape.dimensions),
            instruction.ints(f"{name}_batch_dims"),
            instruction.ints(f"{name}_contracting_dims"),
        )
        for k, name in enumerate(("lhs", "rhs"))
    )
    return lhs, rhs


def _side_maps(instruction: Instruction, lhs: Side, rhs: Side) -> list[list[SymbolicExpr]]:
    """The indices of lhs and rhs, over the output's dimensions and a range variable for each contracting dimension."""
    rank = len(instruction.shape.dimensions)
    batch, free = len(lhs.batch), len(lhs.free)
    d, s = variables(rank), variables(len(lhs.contracting), rank)
    return [lhs.place(d[:batch], d[batch : batch + free], s), rhs.place(d[:batch], d[batch + free :], s)]


def dot_output_to_input(instruction: Instruction, output: int) -> Indexing:
    """out[b, i, j] = sum over s of lhs[b, i, s] * rhs[b, s, j], dimension numbers in any order."""
    lhs, rhs = sides_of(instruction)
    sizes, ranges = instruction.shape.dimensions, lhs.contracted_sizes()
    maps = _side_maps(instruction, lhs, rhs)
    return [[OperandIndexing(tensor_map(results, sizes, ranges))] for results in maps]


def _product(instruction: Instruction, left: Array, right: Array) -> Array:
    lhs, rhs = sides_of(instruction)
    dtype = instruction.shape.dtype
    product = matmul(lhs.matrix(left, "contracting"), rhs.matrix(right, "free"), dtype)
    return to_element(product.reshape(instruction.shape.dimensions), dtype)


def dot_reference(instruction: Instruction, values: Sequence[HloValue]) -> HloValue:
    """Products summed in the accumulation type, rounded once to the result's type."""
    return _product(instruction, only_array(values[0]), only_array(values[1]))


# ---------------------------------------------------------------- scaled-dot


def _scale_map(results: Sequence[SymbolicExpr], operand: Shape, scale: Shape) -> list[SymbolicExpr]:
    """The index of the scale of an operand's element: each scale covers a block of elements."""
    if not scale.dimensions:
        return []
    blocks = [n // max(m, 1) for n, m in zip(operand.dimensions, scale.dimensions, strict=True)]
    return [e // max(b, 1) for e, b in zip(results, blocks, strict=True)]


def scaled_dot_output_to_input(instruction: Instruction, output: int) -> Indexing:
    """out[b, i, j] = sum over s of lhs[b, i, s] * lhs_scale[b, i, s // block] * (the same of rhs)."""
    lhs, rhs = sides_of(instruction)
    sizes, ranges = instruction.shape.dimensions, lhs.contracted_sizes()
    maps = _side_maps(instruction, lhs, rhs)
    shapes = [operand.shape for operand in instruction.operands]
    scales = [_scale_map(maps[k], shapes[k], shapes[2 + k]) for k in range(len(shapes) - 2)]
    return [[OperandIndexing(tensor_map(results, sizes, ranges))] for results in (*maps, *scales)]


def _spread(scale: Array, sizes: tuple[int, ...]) -> Array:
    if scale.ndim == 0:
        return np.broadcast_to(scale, sizes)
    for k, n in enumerate(sizes):
        scale = np.repeat(scale, n // max(scale.shape[k], 1), axis=k)
    return scale


def scaled_dot_reference(instruction: Instruction, values: Sequence[HloValue]) -> HloValue:
    """The dot of operands scaled block by block; computed in float64 and rounded once."""
    arrays = [only_array(v).astype(np.float64) for v in values]
    scaled = [
        arrays[k] * _spread(arrays[2 + k], arrays[k].shape) if len(arrays) > 2 + k else arrays[k] for k in range(2)
    ]
    return _product(instruction, scaled[0], scaled[1])


# ---------------------------------------------------------------- ragged-dot


def _ragged_mode(instruction: Instruction, lhs: Side) -> str:
    """The role of lhs's ragged dimension: "free" (rows), "contracting" or "batch"."""
    (ragged,) = instruction.ints("lhs_ragged_dims")
    return "contracting" if ragged in lhs.contracting else "batch" if ragged in lhs.batch else "free"


def _ragged_rhs(instruction: Instruction, rhs: Side) -> tuple[Side, tuple[int, ...]]:
    """rhs with its group dimension among the contracting ones, and that dimension, which only mode "free" has."""
    group = instruction.ints("rhs_group_dims")
    return Side(rhs.sizes, rhs.batch, (*rhs.contracting, *group)), group


def _groups_before(lhs: Side, ragged: int) -> tuple[int, ...]:
    """The dimensions of lhs whose elements have group sizes of their own, unless all share one row of group sizes."""
    same_role = lhs.contracting if ragged in lhs.contracting else lhs.free
    return (*lhs.batch, *(k for k in same_role if k < ragged))


def _group_sizes_map(instruction: Instruction, lhs: Side, left: Sequence[SymbolicExpr]) -> OperandIndexing:
    """All group sizes of the rows that an element, which reads lhs at `left`, is summed over."""
    sizes, counts = instruction.shape.dimensions, instruction.operands[2].shape.dimensions
    index: list[SymbolicExpr] = []
    ranges: list[int] = []
    for k in _groups_before(lhs, *instruction.ints("lhs_ragged_dims")) if len(counts) > 1 else ():
        if k in lhs.contracting:
            index.append(variable(len(sizes) + len(ranges)))
            ranges.append(lhs.sizes[k])
        else:
            index.append(left[k])
    return OperandIndexing(tensor_map([*index, variable(len(sizes) + len(ranges))], sizes, [*ranges, counts[-1]]))


def ragged_dot_output_to_input(instruction: Instruction, output: int) -> Indexing:
    """Row i of lhs meets rhs[group of i]; or group g sums over its own part of the contracting dimension."""
    lhs, plain_rhs = sides_of(instruction)
    mode = _ragged_mode(instruction, lhs)
    rhs, group = _ragged_rhs(instruction, plain_rhs)
    sizes = tuple(instruction.shape.dimensions)
    lead = 1 if mode == "contracting" else 0
    d = variables(len(sizes))[lead:]
    s = variables(len(rhs.contracting), len(sizes))
    batch, free, contracted = len(lhs.batch), len(lhs.free), len(lhs.contracting)
    left = lhs.place(d[:batch], d[batch : batch + free], s[:contracted])
    right = rhs.place(d[:batch], d[batch + free :], s)
    ranges = [*lhs.contracted_sizes(), *(rhs.sizes[k] for k in group)]
    if mode == "batch":
        lhs_map = OperandIndexing(tensor_map(left, sizes, ranges))
        return [[lhs_map], [OperandIndexing(tensor_map(right, sizes, ranges))], []]
    return [
        [OperandIndexing(tensor_map(left, sizes, ranges[:contracted]), (), "over-approximate", _GROUPS_UNKNOWN)],
        [OperandIndexing(tensor_map(right, sizes, ranges), (), "over-approximate", _GROUPS_UNKNOWN)],
        [_group_sizes_map(instruction, lhs, left)],
    ]


def ragged_dot_reference(instruction: Instruction, values: Sequence[HloValue]) -> HloValue:
    """One dot for each group; rows of no group are zero."""
    left, right, counts = (only_array(v) for v in values)
    lhs, rhs = sides_of(instruction)
    mode = _ragged_mode(instruction, lhs)
    if mode == "batch":
        return _product(instruction, left, right)
    (ragged,) = instruction.ints("lhs_ragged_dims")
    dims = (*(_groups_before(lhs, ragged) if counts.ndim > 1 else ()), ragged)
    limits = counts.astype(np.int64).cumsum(axis=-1).clip(0, left.shape[ragged])
    limits = np.concatenate([np.zeros_like(limits[..., :1]), limits], axis=-1)
    dtype = instruction.shape.dtype
    if mode == "contracting":
        partners = [rhs.batch[lhs.batch.index(k)] if k in lhs.batch else _partner(lhs, rhs, k) for k in dims]
        parts = []
        for a, b, inside in _members(limits):
            pair = (_only(inside, dims, left, a, b), _only(inside, partners, right, a, b))
            parts.append(_part(lhs, rhs, *pair, dtype))
        return to_element(np.stack(parts).reshape(instruction.shape.dimensions), dtype)
    return _rows_by_group(instruction, left, right, dims, limits)


def _members(limits: Array) -> Iterator[tuple[int, int, Array]]:
    """For each group: the least range that has its rows, whatever the other indices, and which of these are its rows."""
    for first, last in itertools.pairwise(np.moveaxis(limits, -1, 0)):
        b = int(last.max(initial=0))
        a = int(first.min(initial=b))
        rows = np.arange(a, b)
        yield a, b, (first[..., None] <= rows) & (rows < last[..., None])


def _partner(lhs: Side, rhs: Side, dimension: int) -> int:
    return rhs.contracting[lhs.contracting.index(dimension)]


def _laid(inside: Array, dims: Sequence[int], rank: int) -> Array:
    """A mask over these dimensions of an array of that rank, which broadcasts to it."""
    sizes = dict(zip(dims, inside.shape, strict=True))
    return inside.transpose(np.argsort(dims)).reshape([sizes.get(k, 1) for k in range(rank)])


def _only(inside: Array, dims: Sequence[int], value: Array, start: int, limit: int) -> Array:
    """The part of the value's last of these dimensions, zero where it is not inside."""
    part = _cut(value, dims[-1], start, limit)
    return np.where(_laid(inside, dims, value.ndim), part, part.dtype.type(0))


def _rows_by_group(instruction: Instruction, left: Array, right: Array, dims: tuple[int, ...], limits: Array) -> Array:
    lhs, rhs = sides_of(instruction)
    (group,) = instruction.ints("rhs_group_dims")
    dtype = instruction.shape.dtype
    out = np.zeros(instruction.shape.dimensions, dtype)
    places = [(*lhs.batch, *lhs.free).index(k) for k in dims]
    narrow = Side(
        tuple(n for k, n in enumerate(rhs.sizes) if k != group),
        tuple(k - (k > group) for k in rhs.batch),
        tuple(k - (k > group) for k in rhs.contracting),
    )
    for g, (a, b, inside) in enumerate(_members(limits)):
        part = _part(lhs, narrow, _cut(left, dims[-1], a, b), right.take(g, axis=group), dtype)
        rows = _cut(out, places[-1], a, b)
        rows[...] = np.where(_laid(inside, places, out.ndim), to_element(part.reshape(rows.shape), dtype), rows)
    return out


def _cut(value: Array, axis: int, start: int, limit: int) -> Array:
    index: list[slice] = [slice(None)] * value.ndim
    index[axis] = slice(int(start), int(limit))
    return value[tuple(index)]


def _part(lhs: Side, rhs: Side, left: Array, right: Array, dtype: np.dtype) -> Array:
    """The unrounded dot of parts of the operands, as [batch, rows, columns]."""
    a = Side(left.shape, lhs.batch, lhs.contracting)
    b = Side(right.shape, rhs.batch, rhs.contracting)
    return matmul(a.matrix(left, "contracting"), b.matrix(right, "free"), dtype)


def _products(instruction: Instruction, inside: CountInside) -> OperationCount:
    """A multiplication and an addition for each element of the result and of the contracted dimensions."""
    lhs, _ = sides_of(instruction)
    return OperationCount(FMA * instruction.shape.element_count * math.prod(lhs.contracted_sizes()))


DOT = Op(
    "dot",
    "out[b, i, j] = sum_s lhs[b, i, s] * rhs[b, s, j]",
    dot_output_to_input,
    dot_reference,
    element=loops.dot,
    reads_many=True,
    operations=_products,
)

OPS = (
    DOT,
    Op(
        "scaled-dot",
        "out[b, i, j] = sum_s lhs[b, i, s] * lhs_scale[b, i, s // k] * rhs[b, s, j] * rhs_scale[b, s // k, j]",
        scaled_dot_output_to_input,
        scaled_dot_reference,
        operations=_products,
    ),
    Op(
        "ragged-dot",
        "out[i, j] = sum_s lhs[i, s] * rhs[group(i), s, j], group(i) by the running sum of group_sizes",
        ragged_dot_output_to_input,
        ragged_dot_reference,
        exactness="a bound: group sizes are runtime values",
        operations=_products,
    ),
)
