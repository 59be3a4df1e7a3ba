"""A map together with the values of its runtime variables: one joint map, simplified and renumbered as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from indexing._core import IndexingMap, Interval, SymbolicExpr, SymbolicMap, variable
from indexing.ops.op import Bounds

# A runtime value without its instruction: map, output, out_of_bounds, bounds.
Read: TypeAlias = tuple[IndexingMap, int, Literal["clamp", "drop"], Bounds | None]


@dataclass(frozen=True)
class Places:
    """The new places of a map's variables: its dimensions become expressions, its ranges and runtimes move."""

    dims: Sequence[SymbolicExpr]
    first_range: int
    first_runtime: int

    def move(self, owner: IndexingMap, value_map: IndexingMap, expr: SymbolicExpr) -> SymbolicExpr:
        """`expr` over the variables of `value_map`, whose variables are the first of each kind of `owner`'s."""
        ranges = [variable(self.first_range + k) for k in range(len(value_map.ranges))]
        runtimes = [variable(self.first_runtime + k) for k in range(len(value_map.runtimes))]
        return expr.replace_variables([*self.dims, *ranges, *runtimes])


@dataclass(frozen=True)
class Source:
    """A runtime variable's value: an element of an instruction, its index over the variables of a joint map.

    Instructions are numbered here, so that joint maps which differ in them alone are computed once.
    """

    number: int
    index: tuple[SymbolicExpr, ...]
    output: int
    bounds: tuple[int, int]
    drops: bool

    @classmethod
    def of(cls, number: int, read: Read, owner: IndexingMap, which: int, places: Places) -> Source:
        """The value of the `which`-th runtime variable of `owner`, moved to `places`."""
        value_map, output, out_of_bounds, bounds = read
        interval = owner.runtimes[which].interval
        index = tuple(places.move(owner, value_map, e) for e in value_map.results)
        return cls(number, index, output, bounds or (interval.lower, interval.upper), out_of_bounds == "drop")

    def decides(self, interval: Interval) -> bool:
        """Does it depend on the value whether it lies in the interval?"""
        lower, upper = self.bounds
        return self.drops or lower < interval.lower or interval.upper < upper

    def at(self, index: Sequence[SymbolicExpr]) -> Source:
        """The same value, its index rewritten."""
        return replace(self, index=tuple(index))


@dataclass(frozen=True)
class Joint:
    """A map together with the values of its runtime variables, one a variable."""

    map: IndexingMap
    sources: Sequence[Source]

    def simplified(self) -> Joint:
        """Map and values simplified together, over one domain."""
        if self.map.is_known_empty:
            return Joint(self.map, [])
        count = len(self.map.results)
        together = [*self.map.results, *(e for s in self.sources for e in s.index)]
        simple = with_results(self.map, together).simplify()
        if simple.is_known_empty:  # no element, no value is ever read
            return Joint(simple, [])
        results = list(simple.results)
        sources, at = [], count
        for s in self.sources:
            sources.append(s.at(results[at : at + len(s.index)]))
            at += len(s.index)
        return Joint(with_results(simple, results[:count]), sources)

    def _used(self) -> set[int]:
        """Variables that results or constraints use, or values of runtime variables that are used themselves.

        A runtime variable whose interval is narrower than its clamp, or whose values drop, is a condition on that value
        even where no expression uses it.
        """
        used: set[int] = set()
        for e in self.map.results:
            used |= set(e.used_variables())
        for e, _ in self.map.constraints:
            used |= set(e.used_variables())
        first = len(self.map.dims) + len(self.map.ranges)
        used |= {first + k for k, s in enumerate(self.sources) if s.decides(self.map.runtimes[k].interval)}
        pending = [k for k in range(len(self.sources)) if first + k in used]
        done = set(pending)
        while pending:
            for e in self.sources[pending.pop()].index:
                found = set(e.used_variables())
                used |= found
                fresh = [v - first for v in found if v >= first and v - first not in done]
                done |= set(fresh)
                pending += fresh
        return used

    def without_unused(self) -> Joint:
        """The same without the range and runtime variables that nothing needs."""
        if self.map.is_known_empty:
            return Joint(self.map, [])
        used, m = self._used(), self.map
        dims, ranges = len(m.dims), len(m.ranges)
        kept_ranges = [k for k in range(ranges) if dims + k in used]
        kept_runtimes = [k for k in range(len(m.runtimes)) if dims + ranges + k in used]
        kept = [*range(dims), *(dims + k for k in kept_ranges), *(dims + ranges + k for k in kept_runtimes)]
        at = {old: new for new, old in enumerate(kept)}
        places = [variable(at.get(v, 0)) for v in range(dims + ranges + len(m.runtimes))]
        return Joint(
            IndexingMap(
                SymbolicMap(dims, len(kept) - dims, [e.replace_variables(places) for e in m.results]),
                [v.interval for v in m.dims],
                [m.ranges[k].interval for k in kept_ranges],
                [m.runtimes[k].interval for k in kept_runtimes],
                [(e.replace_variables(places), b) for e, b in m.constraints],
            ),
            [self.sources[k].at([e.replace_variables(places) for e in self.sources[k].index]) for k in kept_runtimes],
        )

    def apart(self) -> tuple[IndexingMap, tuple[tuple[int, Read], ...]]:
        """The map, and for each of its values the instruction's number and how it is read."""
        return self.map, tuple(
            (s.number, (value_map(self.map, s.index), s.output, "drop" if s.drops else "clamp", s.bounds))
            for s in self.sources
        )


def with_results(m: IndexingMap, results: Sequence[SymbolicExpr]) -> IndexingMap:
    """The same variables and constraints, other results."""
    symbols = len(m.ranges) + len(m.runtimes)
    return IndexingMap(
        SymbolicMap(len(m.dims), symbols, list(results)),
        list(m.dims),
        list(m.ranges),
        list(m.runtimes),
        list(m.constraints),
    )


def value_map(owner: IndexingMap, index: Sequence[SymbolicExpr]) -> IndexingMap:
    """The map of a runtime value over the variables of `owner`; over its dimensions alone where that is enough."""
    dims = len(owner.dims)
    if any(v >= dims for e in index for v in e.used_variables()):
        return with_results(owner, index)
    alone = [(e, b) for e, b in owner.constraints if all(v < dims for v in e.used_variables())]
    return IndexingMap(SymbolicMap(dims, 0, list(index)), list(owner.dims), [], [], alone)
