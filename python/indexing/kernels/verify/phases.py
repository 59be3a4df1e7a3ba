"""Comparison of what threads access between barriers, before a pass and after it, without enumerating threads.

What lies between two barriers is a phase: maps from threads to the elements that they load and store. Equal sequences of
phases keep the order in which threads store an element, and load it. If both kernels have barriers at the same places of the
same loops, the code between two barriers is compared for all iterations at once: the counters of these loops are results of its
maps. Else the iterations of loops with barriers are written out.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from itertools import groupby, product
from math import prod
from typing import TypeAlias

from indexing._core import IndexingMap, Interval, SymbolicExpr, constant, variable
from indexing.errors import IndexingError
from indexing.kernels.ir.accesses import Access, Accesses, Context, Time, entry_accesses
from indexing.kernels.ir.memory import Memory
from indexing.kernels.ir.nodes import Kernel
from indexing.kernels.verify.cover import covers, normalized, with_constant
from indexing.kernels.verify.translation import element_of, renumbered

MAX_EVENTS = 1 << 15  # loops with barriers are written out to at most so many accesses
Counters: TypeAlias = "dict[int, int]"


@dataclass(frozen=True, slots=True)
class Event:
    """The elements that all threads access at one time; the time ends before the counter of a loop that has no barrier."""

    time: tuple[int, ...]
    is_in_loop: bool
    kind: str
    elements: IndexingMap


@dataclass
class Phase:
    """The events between two barriers, in program order."""

    events: list[Event] = field(default_factory=list)

    def maps(self, kind: str) -> tuple[IndexingMap, ...]:
        """The maps of the loads or the stores."""
        return tuple(dict.fromkeys(e.elements for e in self.events if e.kind == kind))

    @property
    def is_ordered(self) -> bool:
        """Whether the order matters: an element may be both loaded and stored. No two threads do so, for that is a race."""
        return any(not _is_apart(a, b) for a in self.maps("load") for b in self.maps("store"))


def keeps_phases(before: Kernel, after: Kernel, memory: str) -> bool:
    """Whether it is known that each phase of `after` loads nothing else from a memory than that of `before` does, and stores
    the same. Threads of both kernels are parallel.
    """
    for keeps in (_keeps_code, _keeps_written_out):
        try:
            if keeps(before, after, memory):
                return True
        except IndexingError:
            continue
    return False


def _keeps_written_out(before: Kernel, after: Kernel, memory: str) -> bool:
    old, new = (_phases(kernel, after, memory) for kernel in (before, after))
    return len(old) == len(new) and all(_is_kept(a, b) for a, b in zip(old, new, strict=True))


def _is_kept(old: Phase, new: Phase, is_ordered: bool = False) -> bool:
    if is_ordered or old.is_ordered or new.is_ordered:
        both = [(e.kind, e.elements) for e in old.events], [(e.kind, e.elements) for e in new.events]
        return both[0] == both[1] and not any(e.is_in_loop for e in (*old.events, *new.events))
    stores = old.maps("store"), new.maps("store")
    return covers(old.maps("load"), new.maps("load")) and covers(stores[0], stores[1]) and covers(stores[1], stores[0])


def _keeps_code(before: Kernel, after: Kernel, memory: str) -> bool:
    old, new = (_code(kernel, after, memory) for kernel in (before, after))
    if old.barriers != new.barriers or old.parts.keys() != new.parts.keys():
        return False
    is_ordered = any(phase.is_ordered for code in (old, new) for phase in code.phases())
    return all(_is_kept(old.parts[k], new.parts[k], is_ordered) for k in old.parts)


def _is_apart(a: IndexingMap, b: IndexingMap) -> bool:
    """Whether the elements of two maps lie in intervals that do not meet."""
    first, second = (m.results[-1].range([v.interval for v in m.variables]) for m in (a, b))
    return first.upper < second.lower or second.upper < first.lower


def _phases(kernel: Kernel, like: Kernel, memory: str) -> list[Phase]:
    """The phases in which a memory is accessed, by the threads as `like` numbers them."""
    body, names = entry_accesses(kernel), Memory(kernel)
    accesses = [a for a in body.once if names.of(a.buffer) == memory]
    looped = {k for time, _ in body.barriers for part in time for k in _counter(part)}
    barriers = sorted(time for at, context in body.barriers for time in _barriers(body, at, context, looped))
    iterations = sum(prod(len(body.variables[k].interval) for k in _around(a.context, looped)) for a in accesses)
    if iterations > MAX_EVENTS:
        raise IndexingError(f"{iterations} accesses are too many to compare")
    events = [e for a in accesses for e in _events(kernel, like, body, a, looped)]
    events.sort(key=lambda e: e.time)
    return [Phase([*own]) for _, own in groupby(events, lambda e: bisect(barriers, e.time))]


@dataclass(frozen=True, slots=True)
class Code:
    """The code of a kernel, apart at its barriers: the loops around each barrier, numbered, and their intervals; and what lies
    between two barriers, by the number of barriers before it, and the loops with barriers around it.
    """

    barriers: list[tuple[tuple[int, Interval], ...]]
    parts: dict[tuple[int, tuple[int, ...]], Phase]

    def phases(self) -> Iterator[Phase]:
        """Parts between which threads may pass without a barrier, together: a loop's last one comes before its first one."""
        same = [*range(len(self.barriers) + 1)]
        for number in {n for loops in self.barriers for n, _ in loops}:
            own = [k for k, loops in enumerate(self.barriers) if number in dict(loops)]
            first, last = same[own[0]], same[own[-1] + 1]
            same = [first if s == last else s for s in same]
        for s in set(same):
            yield Phase([e for (k, _), part in self.parts.items() if same[k] == s for e in part.events])


def _code(kernel: Kernel, like: Kernel, memory: str) -> Code:
    """The code in which a memory is accessed, by the threads as `like` numbers them."""
    body, names = entry_accesses(kernel), Memory(kernel)
    looped = {k for time, _ in body.barriers for part in time for k in _counter(part)}
    start = dict.fromkeys(looped, 0)
    for _, context in body.barriers:
        _check_barrier(body, context, {}, looped)
    barriers = sorted((_time(at, start)[0], _around(context, looped)) for at, context in body.barriers)
    numbers = {k: n for n, k in enumerate(dict.fromkeys(k for _, loops in barriers for k in loops))}
    code = Code([tuple((numbers[k], body.variables[k].interval) for k in loops) for _, loops in barriers], {})
    made = []
    for a in body.once:
        if names.of(a.buffer) == memory:
            around = _around(a.context, looped)
            results = [*map(variable, around), element_of(kernel, a)]
            m = _elements(kernel, like, a, _at(body, a.context, results, a.width, {}))
            made.append((Event(*_time(a.time, start), a.kind, m), tuple(numbers[k] for k in around)))
    times = [time for time, _ in barriers]
    for event, loops in sorted(made, key=lambda e: e[0].time):
        if not event.elements.is_known_empty:
            code.parts.setdefault((bisect(times, event.time), loops), Phase()).events.append(event)
    return code


def _counter(part: int | SymbolicExpr) -> tuple[int, ...]:
    return () if isinstance(part, int) else tuple(part.used_variables())


def _around(context: Context, looped: Set[int]) -> list[int]:
    """The loops with barriers around a point."""
    return [k for k in context.loops if k in looped]


def _iterations(body: Accesses, loops: Sequence[int]) -> Iterator[Counters]:
    """The counters of loops in each of their iterations."""
    intervals = [body.variables[k].interval for k in loops]
    for values in product(*(range(i.lower, i.upper + 1) for i in intervals)):
        yield dict(zip(loops, values, strict=True))


def _at(body: Accesses, context: Context, results: Sequence[SymbolicExpr], width: int, now: Counters) -> IndexingMap:
    """The map from threads to `results` in one iteration of the loops with barriers."""
    m = body.map(context, results, width, is_for_all_threads=True)
    places = [k for k in context.loops if k >= body.given]
    for number, k in reversed([*enumerate(places, body.given)]):
        if k in now and not m.is_known_empty:
            m = with_constant(m, number, now[k])
    m = m.simplify()
    return m if m.is_known_empty else normalized(m)


def _barriers(body: Accesses, at: Time, context: Context, looped: Set[int]) -> Iterator[tuple[int, ...]]:
    """The times of a barrier that all threads reach."""
    for now in _iterations(body, _around(context, looped)):
        if _check_barrier(body, context, now, looped):
            yield _time(at, now)[0]


def _check_barrier(body: Accesses, context: Context, now: Counters, looped: Set[int]) -> bool:
    """Whether threads reach a barrier with these counters of loops; raises IndexingError if not all or none do."""
    if any(k in body.uneven for k in looped):
        raise IndexingError("iterations of a loop with barriers differ by thread")
    m = _at(body, context, [constant(0)], 1, now)
    if m.is_known_empty:
        return False
    own = [v.interval for v in body.variables[: body.given]]
    if m.constraints or m.runtimes or not context.is_certain or [v.interval for v in m.dims] != own:
        raise IndexingError("a barrier depends on the block or on data")
    return True


def _events(kernel: Kernel, like: Kernel, body: Accesses, a: Access, looped: Set[int]) -> Iterator[Event]:
    for now in _iterations(body, _around(a.context, looped)):
        m = _elements(kernel, like, a, _at(body, a.context, [element_of(kernel, a)], a.width, now))
        if not m.is_known_empty:
            yield Event(*_time(a.time, now), a.kind, m)


def _elements(kernel: Kernel, like: Kernel, a: Access, m: IndexingMap) -> IndexingMap:
    """The map of an access from the threads of `like`; raises IndexingError if it depends on data."""
    m = m if m.is_known_empty else renumbered(m, kernel, like)
    if m.runtimes and not m.is_known_empty:
        raise IndexingError(f"the elements of {a.buffer} depend on data")
    return m


def _time(time: Time, now: Counters) -> tuple[tuple[int, ...], bool]:
    """The time in an iteration, and whether it ends before the counter of a loop without barriers."""
    known: list[int] = []
    for part in time:
        if not isinstance(part, int):
            (counter,) = _counter(part)
            if counter not in now:
                return tuple(known), True
            part = now[counter]
        known.append(part)
    return tuple(known), False
