"""Coverage of maps by others: whether each point of some maps, with its results, is a point of others.

Maps with the same variables are compared by the core: their intersection has the points at which both have the same results.
A map with one variable less may be a single iteration of the other's loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from indexing._core import IndexingMap, Interval, SymbolicExpr, SymbolicMap, Variable, constant, variable
from indexing.errors import IndexingError
from indexing.kernels.ir.accesses import INT64

MAX_ITERATIONS = 64  # a pass may have written out a loop of at most so many
MAX_LOOPS = 2  # an access has at most so many such loops around it


def normalized(m: IndexingMap) -> IndexingMap:
    """A simplified map with range variables that others determine replaced, and variables without names."""
    while (reduced := _without_quotient(m)) is not None:
        m = _without_implied(reduced.simplify())
    if m.is_known_empty:
        return m
    m = m.remove_unused_symbols()
    dims, ranges, runtimes = ([Variable(None, v.interval) for v in part] for part in (m.dims, m.ranges, m.runtimes))
    return IndexingMap(m.symbolic_map, dims, ranges, runtimes, m.constraints)


def _without_quotient(m: IndexingMap) -> IndexingMap | None:
    """The map without a range variable `r` of which a constraint says that `e - n * r` lies among `n` numbers; or None.

    Of several, the one with the least `n`: elements of rows of `n` are often counted by a variable with a larger factor.
    """
    smallest = min(_quotients(m), key=lambda q: q[0], default=None)
    return None if smallest is None else _replaced(m, *smallest[1:])


def _quotients(m: IndexingMap) -> Iterator[tuple[int, int, SymbolicExpr]]:
    """The factors `n`, the variables `r`, and their values."""
    for e, bounds in () if m.is_known_empty else m.constraints:
        for k in e.used_variables():
            if not m.num_dims <= k < m.num_dims + m.num_ranges:
                continue
            places = [variable(v) for v in range(len(m.variables))]
            step = (e.replace_variables([*places[:k], places[k] + 1, *places[k + 1 :]]) - e).constant_value
            if step is None or abs(step) < 2 or bounds.upper - bounds.lower >= abs(step):
                continue
            rest = e - places[k] * step
            dividend, of = (rest, bounds) if step < 0 else (-rest, -bounds)
            multiple = of.lower // abs(step) * abs(step)
            first = multiple if of.upper - multiple < abs(step) else of.lower
            yield abs(step), k, (dividend - first) // abs(step)


def _without_implied(m: IndexingMap) -> IndexingMap:
    """The map without constraints that the intervals of its variables imply."""
    if m.is_known_empty:
        return m
    kept = [(e, i) for e, i in m.constraints if not _is_implied(m, e, i)]
    if len(kept) == len(m.constraints):
        return m
    return IndexingMap(m.symbolic_map, m.dims, m.ranges, m.runtimes, kept)


def _is_implied(m: IndexingMap, e: SymbolicExpr, bounds: Interval) -> bool:
    below = [Interval(INT64.lower, bounds.lower - 1)] if bounds.lower > INT64.lower else []
    above = [Interval(bounds.upper + 1, INT64.upper)] if bounds.upper < INT64.upper else []
    used = set(e.used_variables())
    dims = [Variable(None, v.interval if k in used else Interval(0, 0)) for k, v in enumerate(m.variables)]
    symbols = SymbolicMap(len(dims), 0, [])
    return all(_is_empty(IndexingMap(symbols, dims, [], [], [(e, outside)])) for outside in (*below, *above))


@lru_cache(maxsize=1024)
def _is_empty(m: IndexingMap) -> bool:
    try:
        return m.is_empty()
    except IndexingError:
        return False


def _replaced(m: IndexingMap, number: int, value: SymbolicExpr) -> IndexingMap:
    """The map with a range variable replaced by an expression of the others, which lies in the variable's interval."""
    places = [variable(k if k < number else k - 1) for k in range(len(m.variables))]
    value = value.replace_variables([*places[:number], constant(0), *places[number + 1 :]])
    places[number] = value
    ranges = list(m.ranges)
    own = ranges.pop(number - m.num_dims)
    return _rewritten(m, places, ranges).add_constraint(value, own.interval)


def _rewritten(m: IndexingMap, places: Sequence[SymbolicExpr], ranges: Sequence[Variable]) -> IndexingMap:
    """The map over other range variables, with its variables replaced by `places`."""
    constraints = [(e.replace_variables(places), i) for e, i in m.constraints]
    results = [e.replace_variables(places) for e in m.results]
    symbols = SymbolicMap(m.num_dims, len(ranges) + m.num_runtimes, results)
    return IndexingMap(symbols, m.dims, ranges, m.runtimes, constraints)


def without_repeats(m: IndexingMap) -> IndexingMap:
    """The map without counters on which no result depends, if every access is one of their first iteration."""
    for k in range(m.num_dims, m.num_dims + m.num_ranges):
        if not any(k in e.used_variables() for e in m.results) and _holds_first(m, k):
            return without_repeats(_replaced(m, k, constant(m.variables[k].interval.lower)).simplify())
    return m


def _holds_first(m: IndexingMap, k: int) -> bool:
    """Whether the constraints that hold for any value of a variable hold for its least one."""
    places = [variable(v) for v in range(len(m.variables))]
    first = [*places[:k], constant(m.variables[k].interval.lower), *places[k + 1 :]]
    intervals = [v.interval for v in m.variables]
    for e, bounds in m.constraints:
        growth = (e - e.replace_variables(first)).simplify(intervals).range(intervals)
        at_first = e.replace_variables(first).range(intervals)
        is_least = growth.lower >= 0 and at_first.lower >= bounds.lower
        is_greatest = growth.upper <= 0 and at_first.upper <= bounds.upper
        if not (is_least or is_greatest):
            return False
    return True


def covers(whole: Sequence[IndexingMap], parts: Sequence[IndexingMap]) -> bool:
    """Whether it is known that each point of `parts` is one of `whole`."""
    known = set(whole)
    return all(m in known or any(_is_equal(m, other) for other in whole) or _is_covered(m, whole) for m in parts)


def _is_equal(m: IndexingMap, other: IndexingMap) -> bool:
    """Whether two maps with the same domain have the same results, written in other ways."""
    if (m.dims, m.ranges, m.runtimes, set(m.constraints)) != (
        other.dims,
        other.ranges,
        other.runtimes,
        set(other.constraints),
    ):
        return False
    pairs = zip(m.results, other.results, strict=True)
    return all((a - b).simplify([v.interval for v in m.variables]).constant_value == 0 for a, b in pairs)


def _is_covered(m: IndexingMap, whole: Sequence[IndexingMap]) -> bool:
    try:
        total = m.count()
        pieces: dict[IndexingMap, int] = {}
        for other in whole:
            for piece in _common(m, other):
                if (count := piece.count()) == total:
                    return True
                if count:
                    pieces[piece.simplify()] = count
        return _count_disjoint(pieces) == total
    except IndexingError:
        return False


def _count_disjoint(pieces: Mapping[IndexingMap, int]) -> int:
    """The number of points of pieces that have no points in common, the largest first."""
    chosen: list[IndexingMap] = []
    for piece in sorted(pieces, key=lambda p: -pieces[p]):
        if all(piece.intersect(other).is_empty() for other in chosen):
            chosen.append(piece)
    return sum(pieces[p] for p in chosen)


def _common(m: IndexingMap, other: IndexingMap) -> Iterator[IndexingMap]:
    """Parts of `m` that are parts of `other`: all of their common points, or those of one iteration of either's loop."""
    if m.is_known_empty or other.is_known_empty or abs(m.num_ranges - other.num_ranges) > MAX_LOOPS:
        return
    if (m.num_dims, m.num_runtimes, m.num_results) != (other.num_dims, other.num_runtimes, other.num_results):
        return
    if any(not m.range(a).intersect(other.range(b)) for a, b in zip(m.results, other.results, strict=True)):
        return
    if m.num_ranges == other.num_ranges:
        yield m.intersect(other)
        yield from (m.intersect(shifted) for shifted in _shifted(other, m))
    elif m.num_ranges > other.num_ranges:
        for k, value in _iterations(m):
            at = _replaced(m, k, constant(value))
            for piece in _common(at.simplify(), other):
                if not piece.is_known_empty:
                    yield _with_counter(piece, k, value)
    else:
        for k, value in _iterations(other):
            yield from _common(m, _replaced(other, k, constant(value)).simplify())


def _shifted(m: IndexingMap, like: IndexingMap) -> Iterator[IndexingMap]:
    """The map with a counter from another number on, so that its results are those of `like`: a part of a vector."""
    if m.num_results != 1:
        return
    (own,), (other,) = m.results, like.results
    distance = (own - other).simplify([v.interval for v in m.variables]).constant_value
    for k in range(m.num_dims, m.num_dims + m.num_ranges) if distance else ():
        places = [variable(v) for v in range(len(m.variables))]
        step = (other.replace_variables([*places[:k], places[k] + 1, *places[k + 1 :]]) - other).constant_value
        if step and distance is not None and distance % step == 0:
            yield _renumbered(m, k, distance // step)


def _renumbered(m: IndexingMap, number: int, by: int) -> IndexingMap:
    """The map with a range variable that is larger by a number."""
    places = [variable(v) - by if v == number else variable(v) for v in range(len(m.variables))]
    ranges = list(m.ranges)
    own = ranges[number - m.num_dims].interval
    ranges[number - m.num_dims] = Variable(None, Interval(own.lower + by, own.upper + by))
    return _rewritten(m, places, ranges)


def _iterations(m: IndexingMap) -> Iterator[tuple[int, int]]:
    """The iterations that a pass may have written out: those of short loops, the last one of long loops."""
    for k, v in enumerate(m.ranges, m.num_dims):
        low, high = v.interval.lower, v.interval.upper
        yield from ((k, value) for value in range(low if high - low < MAX_ITERATIONS else high, high + 1))


def _with_counter(piece: IndexingMap, number: int, value: int) -> IndexingMap:
    """A piece at one iteration of a loop, with the loop's counter as a variable again."""
    places = [variable(k if k < number else k + 1) for k in range(len(piece.variables))]
    ranges = [Variable(None, v.interval) for v in piece.ranges]
    ranges.insert(number - piece.num_dims, Variable(None, Interval(value, value)))
    return _rewritten(piece, places, ranges)
