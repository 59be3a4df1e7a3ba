"""Expansion of LAPACK's LU factorization: a loop over the columns, each of which is one step of Gaussian elimination."""

from __future__ import annotations

from indexing.hlo import BuiltInstruction, ComputationBuilder, Shape
from indexing.ops.element_types import element_type
from indexing.ops.expansion import NO_PLACE, Expansion, Scalars
from indexing.ops.substitution import MAX_ROWS, magnitude, matrices


def factor_in_place(parts: Expansion) -> list[BuiltInstruction] | None:
    """L and U in one matrix, the rows that were exchanged, and the first column without a pivot; None for matrices of more than
    MAX_ROWS rows, and of no elements.
    """
    operand = parts.operand(0)
    *batch, m, n = operand.dimensions
    if m > MAX_ROWS or 0 in operand.dimensions:
        return None
    a, steps = matrices(parts, operand), min(m, n)
    zeros = [parts.filled("s32", 0, s) for s in ([a.dimensions[0], steps], [a.dimensions[0]])]
    larger = _larger(parts, a.element_type)
    results = parts.repeat(steps, [a, *zeros], lambda j, values: _eliminated(parts, larger, j, *values))
    sizes = [operand.dimensions, [*batch, steps], batch]
    return [parts.reshape(value, s) for value, s in zip(results, sizes, strict=True)]


def _eliminated(
    parts: Expansion,
    larger: ComputationBuilder,
    j: BuiltInstruction,
    a: BuiltInstruction,
    pivots: BuiltInstruction,
    info: BuiltInstruction,
) -> list[BuiltInstruction]:
    """The values after the step of column j."""
    kind, (count, m, _) = a.element_type, a.dimensions
    column = parts.slice_at(a, j, [2])
    place = _pivot(parts, larger, j, column)
    own, pivot_row = parts.slice_at(a, j, [1]), _rows(parts, a, place)
    pivot, above = parts.slice_at(pivot_row, j, [1]), parts.slice_at(own, j, [1])
    zero, one = (parts.filled(kind, x, [count]) for x in (0, 1))
    is_zero = parts.compare(pivot, zero, "EQ")
    divisor = parts.select(is_zero, one, pivot)
    # Row j and the row of the pivot are exchanged where they are read.
    row = parts.index_along([count, m], 1)
    is_place = parts.compare(row, parts.broadcast(place, [count, m], [0]), "EQ")
    moved = parts.select(is_place, parts.broadcast(above, [count, m], [0]), column)
    factors = parts.apply("divide", moved, parts.broadcast(divisor, [count, m], [0]))
    changed = _updated(parts, j, a, [is_place, own, pivot_row, factors])
    number = parts.apply("add", place, parts.constant("s32", 1))
    is_first = parts.apply("and", is_zero, parts.compare(info, parts.constant("s32", 0), "EQ"))
    step = parts.broadcast(parts.apply("add", j, parts.constant("s32", 1)), [count], ())
    return [changed, parts.update_at(pivots, number, j, 1), parts.select(is_first, step, info)]


def _pivot(
    parts: Expansion, larger: ComputationBuilder, j: BuiltInstruction, column: BuiltInstruction
) -> BuiltInstruction:
    """The row of the largest element of each column, from row j on."""
    sizes = column.dimensions
    size, row = magnitude(parts, column), parts.index_along(sizes, 1)
    none = parts.filled("s32", NO_PLACE, sizes)
    is_left = parts.compare(row, j, "GE")
    places = parts.select(is_left, row, none)
    shapes = [Shape.array(v.element_type, sizes[:1]) for v in (size, places)]
    starts = [parts.constant(size.element_type, 0), parts.constant("s32", NO_PLACE)]
    return parts.results_of("reduce", shapes, [size, places, *starts], dimensions=[1], to_apply=larger)[1]


def _larger(parts: Expansion, kind: str) -> ComputationBuilder:
    """The computation that takes the larger of two placed magnitudes, NaN before numbers; the first of equal ones."""

    def is_first(first: Scalars, second: Scalars) -> BuiltInstruction:
        body, flag = first[0].computation, Shape.array("pred", ())
        (a, i), (b, k) = first, second
        a_is_nan, b_is_nan = (body.add("compare", flag, [x, x], direction="NE") for x in (a, b))
        greater, equal, before = (
            body.add("compare", flag, pair, direction=how) for *pair, how in ((a, b, "GT"), (a, b, "EQ"), (i, k, "LT"))
        )
        wins = body.add("or", flag, [greater, body.add("and", flag, [a_is_nan, body.add("not", flag, [b_is_nan])])])
        is_tied = body.add("or", flag, [equal, body.add("and", flag, [a_is_nan, b_is_nan])])
        return body.add("or", flag, [wins, body.add("and", flag, [is_tied, before])])

    return parts.placed_choice("larger", element_type(kind).real, "s32", is_first)


def _rows(parts: Expansion, a: BuiltInstruction, place: BuiltInstruction) -> BuiltInstruction:
    """One row of each matrix."""
    count, m, n = a.dimensions
    index = parts.apply("add", parts.scaled(parts.index_along([count], 0), m), place)
    rows = parts.reshape(a, [count * m, n])
    return parts.add(
        "gather", a.element_type, [count, n], [rows, index],
        offset_dims=[1], collapsed_slice_dims=[0], start_index_map=[0], index_vector_dim=1, slice_sizes=[1, n],
    )  # fmt: skip


def _updated(
    parts: Expansion, j: BuiltInstruction, a: BuiltInstruction, known: list[BuiltInstruction]
) -> BuiltInstruction:
    """The matrix with the pivot's row at row j; below it the factors in column j, and what they leave behind it."""
    sizes = a.dimensions
    is_place, own, pivot_row, factors = known
    own, pivot_row = (parts.broadcast(r, sizes, [0, 2]) for r in (own, pivot_row))
    row, column = (parts.index_along(sizes, k) for k in (1, 2))
    step = parts.broadcast(j, sizes, ())
    moved = parts.select(parts.broadcast(is_place, sizes, [0, 1]), own, a)
    factors = parts.broadcast(factors, sizes, [0, 1])
    rest = parts.apply("subtract", moved, parts.apply("multiply", factors, pivot_row))
    behind = parts.select(parts.compare(column, step, "GT"), rest, moved)
    below = parts.select(parts.compare(column, step, "EQ"), factors, behind)
    above = parts.select(parts.compare(row, step, "EQ"), pivot_row, moved)
    return parts.select(parts.compare(row, step, "GT"), below, above)
