"""Expansions of LAPACK's QR factorization, and of the orthogonal matrix of one, of real matrices: loops over reflections.

A reflection is 1 - tau v v^T, where v is 0 above its row, 1 there, and below it what the factorization keeps in a column.
"""

from __future__ import annotations

from indexing.hlo import BuiltInstruction
from indexing.ops.expansion import Expansion
from indexing.ops.substitution import MAX_ROWS, magnitude, matrices, product


def reflected_columns(parts: Expansion) -> list[BuiltInstruction] | None:
    """R on and above the diagonal, reflections below it, and their factors; None for complex matrices, for those of more than
    MAX_ROWS rows, and of no elements.
    """
    operand = parts.operand(0)
    *batch, m, n = operand.dimensions
    if not _is_small(operand):
        return None
    a, steps = matrices(parts, operand), min(m, n)
    taus = parts.filled(a.element_type, 0, [a.dimensions[0], steps])
    parts.reducer("maximum", a.element_type)  # which the loop calls
    results = parts.repeat(steps, [a, taus], lambda j, values: _reflected(parts, j, *values))
    return [parts.reshape(value, s) for value, s in zip(results, (operand.dimensions, [*batch, steps]), strict=True)]


def _is_small(operand: BuiltInstruction) -> bool:
    return operand.element_type[0] == "f" and operand.dimensions[-2] <= MAX_ROWS and 0 not in operand.dimensions


def _reflected(
    parts: Expansion, j: BuiltInstruction, a: BuiltInstruction, taus: BuiltInstruction
) -> list[BuiltInstruction]:
    """The values after the reflection that leaves zeros below row j of column j."""
    kind, (count, m, _) = a.element_type, a.dimensions
    column, first = parts.slice_at(a, j, [2]), parts.slice_at(a, j, [1, 2])
    row, step = parts.index_along([count, m], 1), parts.broadcast(j, [count, m], ())
    zeros = parts.filled(kind, 0, [count, m])
    zero, one = (parts.filled(kind, x, [count]) for x in (0, 1))
    is_below = parts.compare(row, step, "GT")
    below = parts.select(is_below, column, zeros)
    # Magnitudes are those of the largest element, so that no square is too large or too small.
    largest = parts.reduce("maximum", magnitude(parts, below), [1], 0)
    scale, is_done = parts.apply("maximum", largest, magnitude(parts, first)), parts.compare(largest, zero, "EQ")
    scale = parts.select(is_done, one, scale)
    below = parts.apply("divide", below, parts.broadcast(scale, [count, m], [0]))
    start = parts.apply("divide", first, scale)
    rest = parts.reshape(product(parts, parts.reshape(below, [count, 1, m]), 2, below), [count])
    norm = parts.apply("sqrt", parts.apply("add", rest, parts.apply("multiply", start, start)))
    length = parts.select(parts.compare(start, zero, "LT"), norm, parts.apply("negate", norm))
    factor = parts.apply("divide", parts.apply("subtract", length, start), length)
    tau = parts.select(is_done, zero, factor)
    divisor = parts.select(is_done, one, parts.apply("subtract", start, length))
    kept = parts.apply("divide", below, parts.broadcast(divisor, [count, m], [0]))
    length = parts.select(is_done, first, parts.apply("multiply", length, scale))
    changed = _reflect(parts, a, _vector(parts, kept, j), tau)
    place = parts.compare(parts.index_along(a.dimensions, 2), j, "GT")
    entry = parts.select(is_below, kept, column)
    is_own = parts.compare(row, step, "EQ")
    entry = parts.select(is_own, parts.broadcast(length, [count, m], [0]), entry)
    behind = parts.select(place, changed, a)
    return [parts.update_at(behind, entry, j, 2), parts.update_at(taus, tau, j, 1)]


def _vector(parts: Expansion, kept: BuiltInstruction, j: BuiltInstruction) -> BuiltInstruction:
    """v of a reflection of row j: what is kept of it below this row, where 1 stands, and 0 above."""
    sizes, kind = kept.dimensions, kept.element_type
    row, step = parts.index_along(sizes, 1), parts.broadcast(j, sizes, ())
    one, zero = (parts.filled(kind, x, sizes) for x in (1, 0))
    above = parts.select(parts.compare(row, step, "EQ"), one, zero)
    return parts.select(parts.compare(row, step, "GT"), kept, above)


def _reflect(parts: Expansion, a: BuiltInstruction, v: BuiltInstruction, tau: BuiltInstruction) -> BuiltInstruction:
    """(1 - tau v v^T) a."""
    sums = product(parts, a, 1, v)
    scaled = parts.apply("multiply", sums, parts.broadcast(tau, sums.dimensions, [0]))
    rows, columns = (parts.broadcast(x, a.dimensions, [0, d]) for x, d in ((v, 1), (scaled, 2)))
    return parts.apply("subtract", a, parts.apply("multiply", rows, columns))


def product_of_reflections(parts: Expansion) -> list[BuiltInstruction] | None:
    """The first columns of the product of the reflections that a factorization keeps, applied to 1 from the last one on; None
    where `reflected_columns` has none.
    """
    operand, taus = parts.operand(0), parts.operand(1)
    steps = taus.dimensions[-1]
    if not _is_small(operand) or not steps:
        return None
    a = matrices(parts, operand)
    kind, sizes = a.element_type, a.dimensions
    taus = parts.convert(parts.reshape(taus, [sizes[0], steps]), kind)
    row, column = (parts.index_along(sizes, k) for k in (1, 2))
    identity = parts.convert(parts.compare(row, column, "EQ"), kind)

    def earlier(k: BuiltInstruction, values: list[BuiltInstruction]) -> list[BuiltInstruction]:
        q, a, taus = values
        j = parts.apply("subtract", parts.constant("s32", steps - 1), k)
        v = _vector(parts, parts.slice_at(a, j, [2]), j)
        return [_reflect(parts, q, v, parts.slice_at(taus, j, [1])), a, taus]

    q = parts.repeat(steps, [identity, a, taus], earlier)[0]
    return [parts.reshape(q, operand.dimensions)]
