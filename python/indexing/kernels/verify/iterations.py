"""Stores that are iterations of one loop, as one map: if it is injective, no two of them write the same element.

Unrolled iterations differ by a constant stride, and become one map with a counter. The peeled last iteration of a loop is
joined with the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from indexing._core import IndexingMap, Interval, SymbolicExpr, SymbolicMap, Variable, constant, variable


def as_one_map(maps: Sequence[IndexingMap]) -> IndexingMap | None:
    """A map with all points and results of all of `maps`, or more, if they are iterations of one loop.

    If it is injective, each of `maps` is, and no two of these have a common result.
    """
    if not maps or any(m.runtimes for m in maps):
        return None
    return maps[0] if len(maps) == 1 else _with_counter(maps) or (_joined(*maps) if len(maps) == 2 else None)


def _with_counter(maps: Sequence[IndexingMap]) -> IndexingMap | None:
    """The first map with a counter, if the results of the others differ from its results by 1, 2, ... strides."""
    first = maps[0]
    if any((m.dims, m.ranges, set(m.constraints)) != (first.dims, first.ranges, set(first.constraints)) for m in maps):
        return None
    places = [[(e - own).constant_value for e, own in zip(m.results, first.results, strict=True)] for m in maps]
    if any(place is None for differences in places for place in differences):
        return None
    ordered = sorted([place or 0 for place in differences] for differences in places)
    strides = [b - a for a, b in zip(*ordered[:2], strict=True)]
    if any([b - a for a, b in zip(low, high, strict=True)] != strides for low, high in pairwise(ordered)):
        return None
    iteration = variable(len(first.variables))
    results = [e + start + iteration * by for e, start, by in zip(first.results, ordered[0], strides, strict=True)]
    ranges = [*first.ranges, Variable("iteration", Interval(0, len(maps) - 1))]
    return IndexingMap(SymbolicMap(len(first.dims), len(ranges), results), first.dims, ranges, [], first.constraints)


def _joined(first: IndexingMap, second: IndexingMap) -> IndexingMap | None:
    """One of two maps with one iteration more, if the other is that iteration, of no other threads."""
    for longer, shorter in ((first, second), (second, first)):
        if len(longer.ranges) != len(shorter.ranges) + 1 or len(longer.dims) != len(shorter.dims) or longer.runtimes:
            continue
        if not all(_contains(a, b) for a, b in zip(longer.dims, shorter.dims, strict=True)):
            continue
        for k in range(len(longer.ranges)):
            if (joined := _with_iteration(longer, shorter, k)) is not None:
                return joined
    return None


def _with_iteration(longer: IndexingMap, shorter: IndexingMap, k: int) -> IndexingMap | None:
    ranges = list(longer.ranges)
    step = ranges.pop(k)
    if not all(_contains(a, b) for a, b in zip(ranges, shorter.ranges, strict=True)):
        return None
    iteration = step.interval.upper + 1
    places: list[SymbolicExpr] = [variable(v) for v in range(len(longer.dims) + len(ranges))]
    places.insert(len(longer.dims) + k, constant(iteration))
    results = [e.replace_variables(places) for e in longer.results]
    symbols = SymbolicMap(len(shorter.dims), len(shorter.ranges), results)
    of_iteration = IndexingMap(symbols, shorter.dims, shorter.ranges, [], shorter.constraints).simplify()
    if of_iteration.results != shorter.simplify().results:
        return None
    ranges.insert(k, Variable(step.name, Interval(step.interval.lower, iteration)))
    return IndexingMap(SymbolicMap(len(longer.dims), len(ranges), longer.results), longer.dims, ranges)


def _contains(a: Variable, b: Variable) -> bool:
    return a.interval.lower <= b.interval.lower and b.interval.upper <= a.interval.upper
