"""Stores that are iterations of one loop, as one map: if it is injective, no two of them write the same element.

Unrolled iterations differ by a constant stride, and become one map with a counter. The peeled last iteration of a loop is
joined with the others.

In a row, a thread takes element `e = th_x + step * threads` at each step. If the row is not contiguous in memory (a channel
of several images), its index has quotients of e, and so of thread and step together; over e, these are digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from indexing._core import IndexingMap, Interval, SymbolicExpr, SymbolicMap, Variable, constant, variable


def as_one_map(maps: Sequence[IndexingMap]) -> Iterator[IndexingMap]:
    """Maps whose injectivity implies that each of `maps` is injective, and that no two of these have a common result.

    Each of them has all points and results of all of `maps`; it may have more.
    """
    if not maps or any(m.runtimes for m in maps):
        return
    whole = maps[0] if len(maps) == 1 else _with_counter(maps) or (_joined(*maps) if len(maps) == 2 else None)
    if whole is None:
        return
    if len(maps) > 1:
        yield whole
    if any(kind in ("floordiv", "mod") for e in whole.results for kind, _, _ in e.nodes()):
        yield from _by_number(whole)


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


def _by_number(m: IndexingMap) -> Iterator[IndexingMap]:
    """The map over the combined number of a thread and a step, both from 0, and its digits."""
    variables = m.variables
    for thread in range(len(m.dims)):
        threads = variables[thread].interval.upper + 1
        for step in range(len(m.dims), len(variables)):
            steps = variables[step].interval.upper + 1
            if threads < 2 or steps < 2 or variables[thread].interval.lower or variables[step].interval.lower:
                continue
            places = [variable(k) for k in range(len(variables))]
            places[thread], places[step] = variable(thread) % threads, variable(thread) // threads
            intervals = [v.interval for v in variables]
            intervals[thread] = Interval(0, threads * steps - 1)
            results = [e.replace_variables(places).simplify(intervals) for e in m.results]
            if not any(step in e.used_variables() for e in results):
                intervals[step] = Interval(0, 0)
                yield from _in_digits(results, intervals, thread)


def _in_digits(results: Sequence[SymbolicExpr], intervals: Sequence[Interval], number: int) -> Iterator[IndexingMap]:
    """The map over quotient and remainder of the number, if it is divided by a single divisor; its domain has all quotients up
    to the largest, and all remainders.
    """
    divisors = {d for e in results for d in _divisors(e, number)}
    if len(divisors) != 1 or None in divisors:
        return
    divisor = divisors.pop()
    assert divisor is not None
    count = len(intervals)
    places = [variable(k) for k in range(count)]
    places[number] = variable(number) * divisor + variable(count)
    bounds = [*intervals, Interval(0, divisor - 1)]
    bounds[number] = Interval(0, intervals[number].upper // divisor)
    digits = [e.replace_variables(places) for e in results]
    dims = [Variable(f"d{k}", interval) for k, interval in enumerate(bounds)]
    yield IndexingMap(SymbolicMap(count + 1, 0, digits), dims).simplify()


def _divisors(expression: SymbolicExpr, number: int) -> Iterator[int | None]:
    """The divisors of the number in an expression; None for a division of anything else."""
    nodes = expression.nodes()
    for kind, _, operands in nodes:
        if kind in ("floordiv", "mod"):
            (what, value, _), (by, divisor, _) = (nodes[o] for o in operands)
            yield divisor[0] if what == "variable" and value[0] == number and by == "constant" else None
