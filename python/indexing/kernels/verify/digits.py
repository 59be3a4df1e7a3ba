"""Thread and block ids as digits: quotients and remainders of ids, or of the number that two ids make up, as variables.

A thread's row and its position in the row are quotient and remainder of its number. As separate variables, they are digits,
whose strides show that elements are distinct, and whose intervals say what is inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexing._core import IndexingMap, Interval, SymbolicExpr, SymbolicMap, Variable, variable

MAX_DIGITS = 8


def with_digits(m: IndexingMap) -> IndexingMap:
    """The simplified map over digits, where ids are divided; its points are those of the map, with the same results."""
    while (divided := _divided_together(m)) is not None:
        m = _as_one_number(m, *divided)
    for _ in range(MAX_DIGITS):
        digits = _divided(m)
        if digits is None:
            return m
        m = _split(m, *digits)
    return m


@dataclass(frozen=True, slots=True)
class _Division:
    """A quotient or remainder by a constant: the coefficients of the variables that are terms of its dividend."""

    whole: SymbolicExpr
    kind: str
    dividend: SymbolicExpr
    divisor: int
    coefficients: dict[int, int]


def _divisions(expressions: Sequence[SymbolicExpr]) -> Iterator[_Division]:
    for e in expressions:
        nodes, parts = e.nodes(), e.postorder()
        for (kind, _, operands), whole in zip(nodes, parts, strict=True):
            if kind not in ("floordiv", "mod") or (divisor := parts[operands[1]].constant_value) is None:
                continue
            what, numbers, terms = nodes[operands[0]]
            by_term = zip(terms, numbers[1:], strict=True) if what == "sum" else [(operands[0], 1)]
            known = {nodes[t][1][0]: c for t, c in by_term if nodes[t][0] == "variable"}
            yield _Division(whole, kind, parts[operands[0]], divisor, known)


def _expressions(m: IndexingMap) -> list[SymbolicExpr]:
    return [*m.results, *(e for e, _ in m.constraints)]


def _divided(m: IndexingMap) -> tuple[int, int] | None:
    """An id that is divided by a divisor of its number of values, and that divisor."""
    for d in _divisions(_expressions(m)):
        number = d.dividend.variable_index
        if number is not None and number < m.num_dims:
            interval = m.dims[number].interval
            if interval.lower == 0 and (interval.upper + 1) % d.divisor == 0:
                return number, d.divisor
    return None


def _split(m: IndexingMap, number: int, divisor: int) -> IndexingMap:
    """The map over the quotient of a dimension, and its remainder, a new dimension."""
    dims = list(m.dims)
    last = dims[number].interval.upper
    dims[number] = Variable(dims[number].name, Interval(0, last // divisor))
    places = [variable(k if k < len(dims) else k + 1) for k in range(len(m.variables))]
    places[number] = variable(number) * divisor + variable(len(dims))
    dims.append(Variable(f"digit{len(dims)}", Interval(0, divisor - 1)))
    return _over(m, dims, places, {})


def _divided_together(m: IndexingMap) -> tuple[int, int] | None:
    """Two ids of which one number is divided: `low + high * n`, where `low` has n values."""
    counts = {k: len(d.interval) for k, d in enumerate(m.dims) if d.interval.lower == 0 and not d.interval.is_point}
    for d in _divisions(_expressions(m)):
        for low in counts.keys() & d.coefficients.keys():
            for high in counts.keys() & d.coefficients.keys() - {low}:
                if _surplus(d, low, high, counts[low]) is not None:
                    return low, high
    return None


def _surplus(d: _Division, low: int, high: int, count: int) -> int | None:
    """The multiple of `high` in a quotient beside that of the number; None if a division is not of the number."""
    if not {low, high} <= d.coefficients.keys():
        return None
    surplus, rest = divmod(d.coefficients[high] - d.coefficients[low] * count, d.divisor)
    return None if rest else surplus


def _as_one_number(m: IndexingMap, low: int, high: int) -> IndexingMap:
    """The map over the number `low + high * n`, as dimension `low`, which had n values; `high` is 0."""
    dims, places = list(m.dims), [variable(k) for k in range(len(m.variables))]
    count, number = len(dims[low].interval), variable(len(places))
    of_number = {}
    for d in _divisions(_expressions(m)):
        if (surplus := _surplus(d, low, high, count)) is not None:
            own, other = d.coefficients[low], d.coefficients[high]
            dividend = d.dividend + (number - places[low]) * own - places[high] * other
            is_quotient = d.kind == "floordiv"
            of_number[d.whole] = dividend // d.divisor + places[high] * surplus if is_quotient else dividend % d.divisor
    places[low], places[high] = variable(low) % count, variable(low) // count
    dims[low] = Variable(dims[low].name, Interval(0, count * len(dims[high].interval) - 1))
    dims[high] = Variable(dims[high].name, Interval(0, 0))
    return _over(m, dims, [*places, variable(low)], of_number)


def _over(
    m: IndexingMap, dims: Sequence[Variable], places: Sequence[SymbolicExpr], parts: dict[SymbolicExpr, SymbolicExpr]
) -> IndexingMap:
    """The map over other dimensions: with parts of its expressions replaced, then its variables by `places`."""
    results = [e.replace(parts).replace_variables(places) for e in m.results]
    constraints = [(e.replace(parts).replace_variables(places), i) for e, i in m.constraints]
    symbols = SymbolicMap(len(dims), len(m.ranges) + len(m.runtimes), results)
    return IndexingMap(symbols, dims, m.ranges, m.runtimes, constraints).simplify()
