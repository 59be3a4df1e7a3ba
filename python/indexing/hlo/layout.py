"""Physical layouts: the position of an element in memory, and maps between shapes that share memory.

A layout lists dimensions from minor to major, as XLA's does; a shape without one is laid out in descending order. The
physical shape of an array lists its sizes from major to minor.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from indexing._core import IndexingMap, SymbolicExpr, constant, hlo_element_types, variable
from indexing.arguments import of_type, takes
from indexing.errors import IndexingError
from indexing.hlo import Shape

__all__ = ["bit_width", "bitcast_map", "linear_map", "major_to_minor", "physical_sizes", "to_logical", "to_physical"]

_WIDTHS = {name: bits for name, bits, _ in hlo_element_types()}


@takes(element_type=of_type(str))
def bit_width(element_type: str) -> int:
    """The width of an element in bits: 32 for `f32`, 4 for `s4`, 8 for `pred` and `f8e4m3fn`; 0 for tokens and opaques."""
    return _WIDTHS.get(element_type, 0)


@takes(shape=of_type(Shape))
def major_to_minor(shape: Shape) -> tuple[int, ...]:
    """The dimensions of an array from the largest stride to the smallest."""
    rank = len(shape.dimensions)
    layout = shape.layout
    return tuple(range(rank)) if layout is None or len(layout) != rank else tuple(reversed(layout))


def is_row_major(shape: Shape) -> bool:
    """Whether the dimensions of an array are in memory as they are written, the last one the fastest."""
    return major_to_minor(shape) == tuple(range(shape.rank))


@takes(shape=of_type(Shape))
def physical_sizes(shape: Shape) -> tuple[int, ...]:
    """The sizes of an array from major to minor."""
    return tuple(shape.dimensions[d] for d in major_to_minor(shape))


@takes(shape=of_type(Shape))
def to_physical(shape: Shape) -> IndexingMap:
    """The map from a logical index of an array to its physical one: the coordinates from major to minor."""
    _check_size(shape)
    order = major_to_minor(shape)
    index = _index(len(order))
    return _map([index[d] for d in order], shape.dimensions)


@takes(shape=of_type(Shape))
def to_logical(shape: Shape) -> IndexingMap:
    """The map from a physical index (major to minor) of an array to its logical one, the inverse of `to_physical`."""
    _check_size(shape)
    order = major_to_minor(shape)
    return _map(_unpermute(_index(len(order)), order), physical_sizes(shape))


@takes(shape=of_type(Shape))
def linear_map(shape: Shape) -> IndexingMap:
    """The map from a logical index to the position of the element in memory, in elements."""
    _check_size(shape)
    order = major_to_minor(shape)
    index = _index(len(order))
    position = linearize([index[d] for d in order], physical_sizes(shape))
    return _map([position], shape.dimensions)


@takes(source=of_type(Shape), target=of_type(Shape))
def bitcast_map(source: Shape, target: Shape) -> IndexingMap:
    """The simplified map from an index of `source` to the index of `target` at the same memory.

    Both may have any shape and layout. If elements of `target` are narrower, a range variable enumerates those that make up
    one element of `source`; if they are wider, several elements of `source` share one of `target`. Raises IndexingError if the
    two don't have the same number of bits, or one is not an array.
    """
    wide, narrow = bit_width(source.element_type), bit_width(target.element_type)
    if not (wide and narrow) or -1 in (*source.dimensions, *target.dimensions):
        raise IndexingError(f"{source} and {target} are not both arrays of known size; give two arrays' shapes")
    if prod(source.dimensions) * wide != prod(target.dimensions) * narrow or (wide % narrow and narrow % wide):
        raise IndexingError(
            f"{source} and {target} don't have the same number of bits, so neither is a bitcast of the other; "
            "give two shapes of the same size in memory"
        )
    order = major_to_minor(source)
    rank = len(order)
    index = _index(rank)
    from_exprs, from_sizes = [index[d] for d in order], list(physical_sizes(source))
    to_sizes = list(physical_sizes(target))
    parts = wide // narrow if wide > narrow else 1
    if parts > 1:
        from_exprs.append(variable(rank))
        from_sizes.append(parts)
    joined = narrow // wide if narrow > wide else 1
    if joined > 1:
        to_sizes.append(joined)
    physical = reshape_results(from_exprs, from_sizes, to_sizes)[: len(target.dimensions)]
    results = _unpermute(physical, major_to_minor(target))
    ranges = [parts] if parts > 1 else []
    return _map(results, source.dimensions, ranges).simplify()


def element_strides(sizes: Sequence[int], layout: Sequence[int] | None) -> list[int]:
    """The distance in memory of neighbours along each dimension, in elements; `layout` as a shape's."""
    strides, distance = [0] * len(sizes), 1
    for d in reversed(range(len(sizes))) if layout is None else layout:
        strides[d] = distance
        distance *= sizes[d]
    return strides


def strides_of(shape: Shape) -> list[int]:
    """The distance in memory of an array's neighbours along each dimension, in elements."""
    return element_strides(shape.dimensions, major_to_minor(shape)[::-1])


def linearize(index: Sequence[SymbolicExpr], sizes: Sequence[int]) -> SymbolicExpr:
    """The row-major position of `index` in a tensor of `sizes`; dimensions of size 1 contribute nothing."""
    position, stride = constant(0), 1
    for expr, size in zip(reversed(index), reversed(sizes), strict=True):
        if size != 1:
            position = position + expr * stride
            stride *= size
    return position


def delinearize(position: SymbolicExpr, sizes: Sequence[int]) -> list[SymbolicExpr]:
    """The index whose row-major position in a tensor of `sizes` is `position`, for positions inside the tensor.

    For a tensor without elements, which has no positions, the index is zero.
    """
    if 0 in sizes:
        return [constant(0)] * len(sizes)
    index, stride, covered = [], 1, prod(s for s in sizes if s != 1)
    for size in reversed(sizes):
        if size == 1:
            index.append(constant(0))
            continue
        digit = position // stride if stride != 1 else position
        stride *= size
        index.append(digit % size if stride != covered else digit)
    return index[::-1]


def common_factors(a: Sequence[int], b: Sequence[int]) -> list[tuple[int, int, int, int]]:
    """Split two shapes of equal element counts into the smallest pairs of slices (a from, a to, b from, b to) of equal
    products.
    """
    runs, i, j = [], 0, 0
    while i < len(a) or j < len(b):
        start_a, start_b, of_a, of_b = i, j, 1, 1
        if i < len(a):
            of_a, i = a[i], i + 1
        if j < len(b):
            of_b, j = b[j], j + 1
        while of_a != of_b:
            if of_a < of_b:
                of_a, i = of_a * a[i], i + 1
            else:
                of_b, j = of_b * b[j], j + 1
        runs.append((start_a, i, start_b, j))
    return runs


def reshape_results(
    index: Sequence[SymbolicExpr], sizes: Sequence[int], new_sizes: Sequence[int]
) -> list[SymbolicExpr]:
    """The row-major index in `new_sizes` of the element at `index` of `sizes`: linearizes and delinearizes the smallest slices
    of dimensions with equal numbers of elements.
    """
    if 0 in sizes or 0 in new_sizes:
        return [constant(0) for _ in new_sizes]
    results: list[SymbolicExpr] = []
    for a, a_end, b, b_end in common_factors(sizes, new_sizes):
        results += delinearize(linearize(index[a:a_end], sizes[a:a_end]), new_sizes[b:b_end])
    return results


def _unpermute(exprs: Sequence[SymbolicExpr], order: Sequence[int]) -> list[SymbolicExpr]:
    by_dimension = dict(zip(order, exprs, strict=True))
    return [by_dimension[d] for d in range(len(order))]


def _index(rank: int) -> list[SymbolicExpr]:
    return [variable(d) for d in range(rank)]


def _check_size(shape: Shape) -> None:
    if -1 in shape.dimensions:
        raise IndexingError(f"{shape} has no known size, and no maps between its indices; give a shape of known size")


def _map(results: Sequence[SymbolicExpr], sizes: Sequence[int], range_sizes: Sequence[int] = ()) -> IndexingMap:
    return IndexingMap.from_tensor_sizes(list(results), list(sizes), list(range_sizes))
