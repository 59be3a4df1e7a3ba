"""Composition of `OperandIndexing`: one map after another, with runtime values, replicas and exactness kept right.

Runtime values are carried as further results of one joint map, so that composition, simplification and renumbering
act on the map and on its values alike, and each variable keeps its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from indexing._core import IndexingMap, Interval, SymbolicExpr, SymbolicMap, compose, variable
from indexing.ops.op import Bounds, Exactness, OperandIndexing, RuntimeValue

if TYPE_CHECKING:
    from indexing.hlo import Instruction

_ORDER: tuple[Exactness, ...] = ("exact", "over-approximate", "unknown")
# A runtime value without its instruction: map, output, out_of_bounds, bounds.
Read: TypeAlias = tuple[IndexingMap, int, Literal["clamp", "drop"], Bounds | None]
# A joint map as simple as it is before anything is known of its values, and taken apart (`Joint.apart`).
Known: TypeAlias = "tuple[Joint, tuple[IndexingMap, tuple[tuple[int, Read], ...]]]"
MOST_PIECES = 16  # exact pieces beyond this number are not carried on; the bound that they refine is


def follow(first: OperandIndexing, second: OperandIndexing) -> OperandIndexing:
    """`second` after `first`: from first's index to second's element, simplified, unused symbols removed.

    Variables: ranges and runtimes of `second`, then those of `first`. As exact as the less exact of the two.
    """
    if first.runtime_values or second.runtime_values or first.pieces is not None or second.pieces is not None:
        return _follow(first, second)
    return _followed(first, second)


def _follow(first: OperandIndexing, second: OperandIndexing) -> OperandIndexing:
    exactness, reason = first.exactness, first.reason
    if second.exactness != "exact" or second.reason:
        exactness = max(first.exactness, second.exactness, key=_ORDER.index)
        reason = join_reasons(first.reason, second.reason)
    if first.map.is_undefined or second.map.is_undefined:
        return OperandIndexing(IndexingMap.undefined(), (), "unknown", reason, None, second.leaf)
    if first.map.is_known_empty or second.map.is_known_empty:
        empty = first.map if first.map.is_known_empty else second.map
        return OperandIndexing(empty, (), exactness, reason, None, second.leaf)
    found, values = compose_with_values(first, second)
    return OperandIndexing(
        found, values, exactness, reason, _follow_replicas(first, second), second.leaf, _follow_pieces(first, second)
    )


# Programs repeat themselves: of the compositions along a program's paths, few are different ones. Those with runtime
# values aren't kept here, since they name instructions, and these would keep their modules alive.
_followed = lru_cache(maxsize=16384)(_follow)


@lru_cache(maxsize=4096)
def join_reasons(*reasons: str) -> str:
    """Reasons one after another, each once, at most four of them."""
    if not any(reasons):
        return ""
    parts = dict.fromkeys(part for reason in reasons if reason for part in reason.split("; "))
    kept = list(parts)[:4]
    return "; ".join(kept if len(parts) <= 4 else [*kept, "and more"])


def compose_with_values(
    first: OperandIndexing, second: OperandIndexing
) -> tuple[IndexingMap, tuple[RuntimeValue, ...]]:
    """The composed map, simplified and without unused symbols, and where its runtime variables are read."""
    if not (first.runtime_values or second.runtime_values):
        return compose(first.map, second.map).simplify().remove_unused_symbols(), ()
    instructions = [v.instruction for v in (*second.runtime_values, *first.runtime_values)]
    return _of_instructions(_composed(first.map, _reads(first), second.map, _reads(second)), instructions)


@lru_cache(maxsize=16384)
def _composed(first: IndexingMap, firsts: tuple[Read, ...], second: IndexingMap, seconds: tuple[Read, ...]) -> Known:
    """The composed map with its values, second's numbered before first's: the same whatever instructions these are."""
    composed = compose(first, second)
    if composed.is_known_empty:
        return _known_apart(Joint(composed, []))
    dims = len(composed.dims)
    of_first = _Places(
        [variable(d) for d in range(dims)],
        dims + len(second.ranges),
        dims + len(composed.ranges) + len(second.runtimes),
    )
    index = [of_first.move(first, first, e) for e in first.results]
    of_second = _Places(index, dims, dims + len(composed.ranges))
    sources = [Source.of(k, read, second, k, of_second) for k, read in enumerate(seconds)]
    sources += [Source.of(len(seconds) + k, read, first, k, of_first) for k, read in enumerate(firsts)]
    return _known_apart(Joint(composed, sources)._simplify_jointly())


@lru_cache(maxsize=4096)
def _simplified(m: IndexingMap) -> IndexingMap:
    return m.simplify().remove_unused_symbols()


def simplified_with_values(m: OperandIndexing) -> tuple[IndexingMap, tuple[RuntimeValue, ...]]:
    """The map simplified, without unused symbols, what is known of its runtime values folded in; and their places."""
    if m.map.is_known_empty or not m.runtime_values:
        return _simplified(m.map), ()
    return _of_instructions(_simplified_jointly(m.map, _reads(m)), [v.instruction for v in m.runtime_values])


@lru_cache(maxsize=4096)
def _simplified_jointly(m: IndexingMap, reads: tuple[Read, ...]) -> Known:
    dims = len(m.dims)
    places = _Places([variable(d) for d in range(dims)], dims, dims + len(m.ranges))
    joint = Joint(m, [Source.of(k, read, m, k, places) for k, read in enumerate(reads)])
    return _known_apart(joint._simplify_jointly())


def _reads(m: OperandIndexing) -> tuple[Read, ...]:
    return tuple([(v.map, v.output, v.out_of_bounds, v.bounds) for v in m.runtime_values])


def _known_apart(joint: Joint) -> Known:
    return joint, joint._without_unused().apart()


def _of_instructions(known: Known, instructions: Sequence[Instruction]) -> tuple[IndexingMap, tuple[RuntimeValue, ...]]:
    """The map and its values, now that the instructions are known whose elements are read: what they say is folded."""
    from indexing.ops.fold import fold_known  # which follows values through laws of ops, and so needs this module

    joint, (found, reads) = known
    folded = fold_known(joint, instructions)
    if folded is not joint:
        found, reads = folded._without_unused().apart()
    return found, tuple([RuntimeValue(instructions[number], *read) for number, read in reads])


@dataclass(frozen=True)
class _Places:
    """Where the variables of a map go: its dimensions become expressions, its ranges and runtimes move."""

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
    def of(cls, number: int, read: Read, owner: IndexingMap, which: int, places: _Places) -> Source:
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

    def _simplify_jointly(self) -> Joint:
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

    def _without_unused(self) -> Joint:
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


def _follow_pieces(first: OperandIndexing, second: OperandIndexing) -> tuple[OperandIndexing, ...] | None:
    if first.pieces is None and second.pieces is None:
        return None
    if "unknown" in (first.exactness, second.exactness):
        return None
    firsts = (first,) if first.pieces is None else first.pieces
    seconds = (second,) if second.pieces is None else second.pieces
    if len(firsts) * len(seconds) > MOST_PIECES:
        return None
    if any(p.exactness != "exact" for p in (*firsts, *seconds)):
        return None
    found = [follow(a, b) for a in firsts for b in seconds]
    return tuple(f for f in found if not f.map.is_known_empty)


def _follow_replicas(first: OperandIndexing, second: OperandIndexing) -> IndexingMap | None:
    """Which replica is read in the end: second's, asked by the replica that first names, at the index first gives."""
    if second.replica_map is None:
        return first.replica_map
    if first.map.ranges or first.map.runtimes:
        return _any_index(first, second.replica_map)
    at_first = first.map.results
    asked = second.replica_map
    dims = len(first.map.dims)
    if first.replica_map is None:
        return compose(first.map, asked).simplify().remove_unused_symbols()
    own = first.replica_map
    count = dims + len(asked.ranges) + len(own.ranges)
    own_places = [
        *(variable(d) for d in range(dims)),
        *(variable(dims + len(asked.ranges) + k) for k in range(len(own.ranges))),
        *(variable(count + k) for k in range(len(own.runtimes))),
    ]
    middle = own.results[0].replace_variables(own_places)
    asked_places = [
        *at_first,
        *(variable(dims + k) for k in range(len(asked.ranges))),
        *(middle for _ in asked.runtimes),
    ]
    constraints = [
        *((e.replace_variables(asked_places), b) for e, b in asked.constraints),
        *((e.replace_variables(own_places), b) for e, b in own.constraints),
        *((e, v.interval) for e, v in zip(at_first, asked.dims, strict=True)),
        *((middle, v.interval) for v in asked.runtimes),
    ]
    return (
        IndexingMap(
            SymbolicMap(dims, count - dims + len(own.runtimes), [asked.results[0].replace_variables(asked_places)]),
            list(first.map.dims),
            [v.interval for v in (*asked.ranges, *own.ranges)],
            [v.interval for v in own.runtimes],
            constraints,
        )
        .simplify()
        .remove_unused_symbols()
    )


def _any_index(first: OperandIndexing, asked: IndexingMap) -> IndexingMap:
    """A bound: the replicas that any index may ask for, where first's symbols would tie index and replica together."""
    replicas = asked.range(asked.results[0])
    dims = len(first.map.dims)
    return IndexingMap(SymbolicMap(dims, 1, [variable(dims)]), list(first.map.dims), [replicas], [], [])
