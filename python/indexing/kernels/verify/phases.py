"""Comparison of what threads access between barriers, before a pass and after it, without enumerating threads.

The iterations of loops with barriers are written out. What is left between two barriers is a phase: maps from threads to the
elements that they load and store. Equal sequences of phases keep the order in which threads store an element, and load it.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from itertools import groupby, product
from math import prod
from typing import TypeAlias

from indexing._core import IndexingMap, SymbolicExpr, constant
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

    def maps(self, kind: str) -> list[IndexingMap]:
        """The maps of the loads or the stores."""
        return list(dict.fromkeys(e.elements for e in self.events if e.kind == kind))

    @property
    def is_ordered(self) -> bool:
        """Whether the order matters: an element may be both loaded and stored. No two threads do so, for that is a race."""
        return any(not _is_apart(a, b) for a in self.maps("load") for b in self.maps("store"))


def keeps_phases(before: Kernel, after: Kernel, memory: str) -> bool:
    """Whether it is known that each phase of `after` loads nothing else from a memory than that of `before` does, and stores
    the same. Threads of both kernels are parallel.
    """
    try:
        old, new = (_phases(kernel, after, memory) for kernel in (before, after))
    except IndexingError:
        return False
    return len(old) == len(new) and all(_is_kept(a, b) for a, b in zip(old, new, strict=True))


def _is_kept(old: Phase, new: Phase) -> bool:
    if old.is_ordered or new.is_ordered:
        both = [(e.kind, e.elements) for e in old.events], [(e.kind, e.elements) for e in new.events]
        return both[0] == both[1] and not any(e.is_in_loop for e in (*old.events, *new.events))
    stores = old.maps("store"), new.maps("store")
    return covers(old.maps("load"), new.maps("load")) and covers(stores[0], stores[1]) and covers(stores[1], stores[0])


def _is_apart(a: IndexingMap, b: IndexingMap) -> bool:
    """Whether the elements of two maps lie in intervals that do not meet."""
    first, second = (m.results[0].range([v.interval for v in m.variables]) for m in (a, b))
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


def _counter(part: int | SymbolicExpr) -> tuple[int, ...]:
    return () if isinstance(part, int) else tuple(part.used_variables())


def _around(context: Context, looped: Set[int]) -> list[int]:
    """The loops with barriers around a point."""
    return [k for k in context.loops if k in looped]


def _iterations(body: Accesses, loops: Sequence[int]) -> Iterator[Counters]:
    """The counters of loops in each of their iterations."""
    if any(k in body.starts for k in loops):
        raise IndexingError("iterations of a loop with barriers differ by thread")
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
    own = [v.interval for v in body.variables[: body.given]]
    for now in _iterations(body, _around(context, looped)):
        m = _at(body, context, [constant(0)], 1, now)
        if m.is_known_empty:
            continue
        if m.constraints or m.runtimes or not context.is_certain or [v.interval for v in m.dims] != own:
            raise IndexingError("a barrier depends on the block or on data")
        yield _time(at, now)[0]


def _events(kernel: Kernel, like: Kernel, body: Accesses, a: Access, looped: Set[int]) -> Iterator[Event]:
    for now in _iterations(body, _around(a.context, looped)):
        m = _at(body, a.context, [element_of(kernel, a)], a.width, now)
        if not m.is_known_empty and not (m := renumbered(m, kernel, like)).is_known_empty:
            if m.runtimes:
                raise IndexingError(f"the elements of {a.buffer} depend on data")
            yield Event(*_time(a.time, now), a.kind, m)


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
