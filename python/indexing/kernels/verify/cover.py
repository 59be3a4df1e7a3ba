"""Coverage of maps by others: whether each access of some maps, by a thread of an element, is one of others.

Maps are compared one by one, then their iterations: a pass may have written out those of short loops, or the last ones. What
is left, the core compares as relations between threads and elements, unless their points are few, or those of the first and
last threads show a difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import TypeAlias

from indexing._core import (
    IndexingMap,
    PiecewiseMap,
    SymbolicExpr,
    Variable,
    constant,
    variable,
)
from indexing.errors import IndexingError
from indexing.kernels.ir.accesses import INT64
from indexing.kernels.verify.enumeration import first_missing, rows, values_of
from indexing.lazy import np
from indexing.ops.operand_indexing import map_over

Shared: TypeAlias = "tuple[object, ...]"
MAX_ITERATIONS = 256  # loops around an access are written out to at most so many
FEW_MAPS = 16
FEW_POINTS = 1 << 14  # are listed at once; the core may take a thousand times as long until it gives up
CACHED = 1 << 12  # answers are kept: passes, and targets, leave most of a kernel as it is


@lru_cache(maxsize=CACHED)
def normalized(m: IndexingMap) -> IndexingMap:
    """A simplified map with range variables that others determine replaced, and variables without names."""
    while (reduced := _without_quotient(m)) is not None:
        m = reduced.simplify()
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


def _replaced(m: IndexingMap, number: int, value: SymbolicExpr) -> IndexingMap:
    """The map with a range variable replaced by an expression of the others, which lies in the variable's interval."""
    places = [variable(k if k < number else k - 1) for k in range(len(m.variables))]
    value = value.replace_variables([*places[:number], constant(0), *places[number + 1 :]])
    places[number] = value
    ranges = list(m.ranges)
    own = ranges.pop(number - m.num_dims)
    return _rewritten(m, places, ranges).add_constraint(value, own.interval)


def with_constant(m: IndexingMap, number: int, value: int) -> IndexingMap:
    """The map with a range variable replaced by one of its values."""
    return _replaced(m, number, constant(value))


def _rewritten(m: IndexingMap, places: Sequence[SymbolicExpr], ranges: Sequence[Variable]) -> IndexingMap:
    """The map over other range variables, with its variables replaced by `places`."""
    return map_over(m.results, m.dims, ranges, m.runtimes, m.constraints, places)


@lru_cache(maxsize=CACHED)
def covers(whole: tuple[IndexingMap, ...], parts: tuple[IndexingMap, ...]) -> bool:
    """Whether it is known that each pair of a thread and an element of `parts` is one of `whole`."""
    for divided in (_written_out, _ends_apart):
        if parts := _rest(whole, parts):
            whole = (*whole, *(piece for m in whole for piece in divided(m)))
            parts = tuple(piece for m in _rest(whole, parts) for piece in divided(m))
    return all(_is_covered(m, whole) for m in _rest(whole, parts))


def _rest(whole: Sequence[IndexingMap], parts: Sequence[IndexingMap]) -> tuple[IndexingMap, ...]:
    """The maps of `parts` that are not part of one of `whole`, as their equal domains or equal results show."""
    known = set(whole)
    if all(m in known for m in parts):
        return ()
    by_results: dict[tuple[SymbolicExpr, ...], list[IndexingMap]] = {}
    alike: dict[Shared, list[IndexingMap]] = {}
    for other in whole:
        by_results.setdefault(other.results, []).append(other)
        alike.setdefault(_shared(other), []).append(other)
    return tuple(
        m
        for m in parts
        if m not in known
        and not any(_has_equal_results(m, other) for other in alike.get(_shared(m), ()))
        and not any(_is_on_part(m, other) for other in by_results.get(m.results, ()))
        and not _is_covered(m, by_results.get(m.results, ()))
    )


def _is_on_part(m: IndexingMap, other: IndexingMap) -> bool:
    """Whether a map with the results of another one has a part of its domain, as the ranges of what bounds that show."""
    if (m.num_dims, m.num_ranges, m.runtimes) != (other.num_dims, other.num_ranges, other.runtimes):
        return False
    boxes = zip(m.variables, other.variables, strict=True)
    return all(whole.interval.contains(own.interval) for own, whole in boxes) and all(
        bounds.contains(m.range(e)) for e, bounds in other.constraints
    )


def _shared(m: IndexingMap) -> Shared:
    """The key that maps with one domain and equal results share: the domain, and the results at its box's last corner."""
    corner = [v.interval.upper for v in m.variables]
    try:
        last = m.symbolic_map.evaluate(corner[: m.num_dims], corner[m.num_dims :])
    except IndexingError:
        last = None
    return m.dims, m.ranges, m.runtimes, frozenset(m.constraints), last


def _written_out(m: IndexingMap) -> list[IndexingMap]:
    """The iterations of short loops, each a map without their counters: a pass may have written out any of the loops."""
    pieces = [m]
    for k in reversed(range(m.num_dims, m.num_dims + m.num_ranges)):
        own = m.variables[k].interval
        if len(own) * len(pieces) <= MAX_ITERATIONS:
            pieces = _present(with_constant(p, k, x) for p in pieces for x in range(own.lower, own.upper + 1))
    return [normalized(p) for p in pieces]


def _ends_apart(m: IndexingMap) -> list[IndexingMap]:
    """The last iterations of loops, each a map without the loop's counter, and the others: a pass may have peeled the last."""
    pieces = [m]
    for k in reversed(range(m.num_dims, m.num_dims + m.num_ranges)):
        last = m.variables[k].interval.upper
        earlier = (p.add_constraint(variable(k), (INT64.lower, last - 1)) for p in pieces)
        pieces = _present([*earlier, *(with_constant(p, k, last) for p in pieces)])
    return [normalized(p) for p in pieces]


def _present(maps: Iterable[IndexingMap]) -> list[IndexingMap]:
    """The maps, simplified, without those that have no points."""
    return [m for m in (m.simplify() for m in maps) if not m.is_known_empty]


def _has_equal_results(m: IndexingMap, other: IndexingMap) -> bool:
    """Whether two maps on one domain have the same results, written in other ways."""
    pairs = zip(m.results, other.results, strict=True)
    return all((a - b).simplify([v.interval for v in m.variables]).constant_value == 0 for a, b in pairs)


def _is_covered(m: IndexingMap, whole: Sequence[IndexingMap]) -> bool:
    sizes = (m.num_dims, m.num_runtimes, m.num_results)
    others = [o for o in whole if (o.num_dims, o.num_runtimes, o.num_results) == sizes]
    is_listed = _is_listed(m, others, {})
    if is_listed is not None:
        return is_listed
    if _is_listed(m, others, {k: (d.interval.lower, d.interval.upper) for k, d in enumerate(m.dims)}) is False:
        return False
    try:
        return PiecewiseMap(others).covers(m)
    except IndexingError:
        return False


def _is_listed(m: IndexingMap, others: Sequence[IndexingMap], ends: Mapping[int, tuple[int, int]]) -> bool | None:
    """Whether the points of a map, of the threads in `ends`, are among those of others, by enumeration; None for many."""
    if m.num_runtimes or m.is_known_empty or not 0 < len(others) <= FEW_MAPS:
        return None
    left = FEW_POINTS
    for a in (m, *others):
        left -= prod(map(len, values_of(a, ends)))
        if left < 0:
            return None
    listed = [rows(o, ends) for o in others if not o.is_known_empty]
    return first_missing(rows(m, ends), np.concatenate(listed) if listed else np.zeros((0, 0), np.int64)) is None
