"""Splitting of loops over threads at their conditions, for targets without threads: what pads, stencils and rolls check for
each element is decided for a range of threads, so that most run without conditions, and the loop can be vectorized.

for th_x: if row >= 1: v = x[i - 96]; if i - 96 * row >= 1: w = x[i - 1]; o[i] = v + w
becomes
if row >= 1: for the first th_x: the condition fails; for all others: it holds
else: the loop as it was

Where conditions depend on the thread's remainder by 2 to 8, as interleaved pieces and columns of narrow arrays have them, that
many are written out:

for th_x: if th_x mod 2 <= 0: v = x[th_x floordiv 2] else: v = y[th_x floordiv 2]; o[th_x] = v
becomes
for group: th_x = 2 * group: v = x[group]; o[2 * group] = v; th_x = 2 * group + 1: v = y[group]; o[2 * group + 1] = v
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

from indexing._core import Interval, SymbolicExpr, constant, variable
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.copying import Names
from indexing.kernels.ir.memory import Memory, moves
from indexing.kernels.ir.traversal import loads_of, may_leave, replace_loops, replace_statements, rewrite_indices
from indexing.kernels.passes.affine import (
    X,
    conditions_on_indices,
    index_definitions,
    thread_coefficient,
    with_definitions,
)

MAX_COPIED = 600  # statements that the copies of a loop may have together
MAX_CUTS = 6  # a loop is not split at more places
MIN_SHARE = (
    0.75  # a condition that does not depend on the thread is decided where it holds, or fails, for so many iterations
)
PERIODS = range(2, 9)  # threads

Decisions: TypeAlias = "Mapping[ir.Within, bool]"


def split_loops(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel with thread loops split at the threads where their conditions change."""
    splitting = _Splitter(kernel)
    body = replace_loops(kernel.body, splitting.loop)
    return kernel if body is kernel.body else replace(kernel, body=body, variables=tuple(splitting.names.variables))


@dataclass(frozen=True, slots=True)
class _Bound:
    """A bound of a condition: it holds from the thread `cut` on, or before it."""

    cut: SymbolicExpr
    is_from: bool

    def holds(self, first: int | None, stop: int | None, cut: int) -> bool | None:
        """Whether it holds for threads from `first` to before `stop`, which are relative to the same place as `cut`."""
        if first is not None and first >= cut:
            return self.is_from
        return not self.is_from if stop is not None and stop <= cut else None


@dataclass(frozen=True, slots=True)
class _Cuts:
    """Cuts of a loop at known distances from a place, and the bounds of conditions there."""

    place: SymbolicExpr
    bounds: Mapping[ir.Within, Sequence[tuple[_Bound, int]]]

    @property
    def distances(self) -> list[int]:
        """The distances of the cuts, ascending."""
        return sorted({distance for bounds in self.bounds.values() for _, distance in bounds})

    def decided(self, first: int | None, stop: int | None) -> dict[ir.Within, bool]:
        """The conditions that hold, or fail, for all threads between two distances."""
        decisions = {}
        for condition, bounds in self.bounds.items():
            holds = [b.holds(first, stop, distance) for b, distance in bounds]
            if all(holds) or False in holds:
                decisions[condition] = all(holds)
        return decisions


class _Splitter:
    def __init__(self, kernel: ir.Kernel) -> None:
        self.names = Names(kernel)
        self.definitions = index_definitions(kernel.body)
        self.data = {
            s.variable for s in ir.statements(kernel.body) if isinstance(s, ir.LetIndex)
        } - self.definitions.keys()
        self.memory = Memory(kernel)
        self.local = {b.name for b in kernel.buffers if b.space == "local"}
        inner = list(ir.statements(kernel.body))
        self.touched = self._touched(inner)
        self.ordered = {m for s in inner for m in self.memory.written(s)} & {
            m for s in inner for m in self.memory.read(s)
        }

    def loop(self, s: ir.For) -> Sequence[ir.Statement]:
        """The loop itself, or the statements that replace one over threads."""
        if s.variable != X or s.step != 1 or not self._is_plain(s.body):
            return (s,)
        conditions = self._conditions(s.body)
        grouped = self._periodic(s, conditions)
        if grouped is not None:
            return (grouped,)
        # Beside kept values, compilers make vectors of conditions that threads share, but not always of two copies.
        shared = () if self._keeps(s.body) else self._shared(conditions)
        known = dict(_decisions(conditions, shared))
        cuts = self._cuts(conditions)
        if not shared and cuts is None:
            return (s,)
        split = tuple(t for segment in self._segments(s, cuts, known) for t in self._split_again(segment))
        replaced: ir.Block = split
        if shared:
            failing = {c: not holds for c, holds in known.items()}
            others = (
                tuple(self._segments(s, cuts, failing)) if len(shared) == 1 else self._one_fails(s, conditions, shared)
            )
            replaced = (ir.If(shared, split, others),)
        return replaced if sum(1 for _ in ir.statements(replaced)) <= MAX_COPIED else (s,)

    def _split_again(self, segment: ir.For) -> Sequence[ir.Statement]:
        """A segment beside kept values, split at its other conditions on the thread: processors wait for what a vector has
        stored to a part of an array before they load from it.
        """
        if not self._keeps(segment.body):
            return (segment,)
        cuts = self._cuts(self._conditions(segment.body))
        return (segment,) if cuts is None else tuple(self._segments(segment, cuts, {}))

    def _is_plain(self, body: ir.Block) -> bool:
        """Whether a body has no accesses whose order over threads matters, and runs to its end."""
        inner = list(ir.statements(body))
        return not may_leave(body) and not self._ordered_in(inner) - self._own_cells(inner) - self._private(inner)

    def _private(self, body: Sequence[ir.Statement]) -> set[str]:
        """The local arrays that nothing outside of a body touches: each thread fills its own."""
        touched, inner = self._touched(body), {X, *(s.variable for s in body if isinstance(s, ir.LetIndex))}
        return {
            name
            for name, indices in _indices(body).items()
            if name in self.local
            and () not in indices
            and touched[name] == self.touched[name]
            and inner.isdisjoint(v for index in indices for e in index for v in e.used_variables())
        }

    def _touched(self, body: Sequence[ir.Statement]) -> Counter[str]:
        """The number of statements that touch a memory."""
        return Counter(m for s in body for m in {*self.memory.read(s), *self.memory.written(s)})

    def _keeps(self, body: ir.Block) -> bool:
        """Whether threads of a plain body change values that they keep."""
        return bool(self._ordered_in(list(ir.statements(body))))

    def _ordered_in(self, body: Sequence[ir.Statement]) -> set[str]:
        """The memory that a body touches and the kernel both reads and writes."""
        return self.ordered & {m for s in body for m in (*self.memory.read(s), *self.memory.written(s))}

    def _own_cells(self, body: Sequence[ir.Statement]) -> set[str]:
        """The arrays of kept values, of which a thread of a body accesses its own element alone."""
        own = {name: index for name, (index, *others) in _indices(body).items() if not others and len(index) == 1}
        inner = {s.variable for s in body if isinstance(s, ir.LetIndex)}
        return {
            name
            for name in self.local & own.keys()
            if inner.isdisjoint(own[name][0].used_variables()) and thread_coefficient(*own[name])
        }

    def _conditions(self, body: ir.Block) -> dict[ir.Within, SymbolicExpr]:
        """The conditions of a body on indices that are neither data nor turns of its loops, with their expressions over what is
        known before it.
        """
        unknown = self.data | {s.variable for s in ir.statements(body) if isinstance(s, ir.For)}
        whole = (
            (c, self.names.simplified(with_definitions(c.expression, self.definitions)))
            for c in conditions_on_indices(body)
        )
        return {c: e for c, e in whole if unknown.isdisjoint(e.used_variables())}

    # ------------------------------------------------------------ conditions that repeat from thread to thread

    def _periodic(self, loop: ir.For, conditions: Mapping[ir.Within, SymbolicExpr]) -> ir.For | None:
        """A loop over groups of neighbouring threads, which are written out: their place in the group decides all conditions
        on the thread. None if none are.
        """
        first, stop = loop.start.constant_value, loop.stop.constant_value
        of_threads = {c: e for c, e in conditions.items() if thread_coefficient(e) != 0}
        if first is None or stop is None:
            return None
        for period in PERIODS if of_threads else ():
            if first % period or stop % period:
                continue
            group = len(self.names.variables)
            counted = ir.IndexVariable(
                "group", Interval(first // period, max(stop // period - 1, first // period)), "loop"
            )
            threads = [variable(group) * period + r for r in range(period)]
            decided = [self._decided_at(thread, of_threads, counted) for thread in threads]
            if not any(of_threads.keys() & conditions_on_indices(_under(loop.body, d)) for d in decided):
                return self._grouped(loop, counted, list(zip(threads, decided, strict=True)))
        return None

    def _decided_at(
        self, thread: SymbolicExpr, conditions: Mapping[ir.Within, SymbolicExpr], counted: ir.IndexVariable
    ) -> dict[ir.Within, bool]:
        """The conditions that hold, or fail, for one thread of each group."""
        own = [*self.names.intervals, counted.interval]
        places = [thread if k == X else variable(k) for k in range(len(own))]
        decided = {}
        for c, e in conditions.items():
            holds = c.decided(e.replace_variables(places).simplify(own).range(own))
            if holds is not None:
                decided[c] = holds
        return decided

    def _grouped(
        self, loop: ir.For, counted: ir.IndexVariable, threads: Sequence[tuple[SymbolicExpr, Decisions]]
    ) -> ir.For:
        group = self.names.add_variable(counted)
        body = tuple(self._at(loop, thread, decided) for thread, decided in threads)
        interval = counted.interval
        return ir.For(group, constant(interval.lower), constant(interval.upper + 1), 1, body)

    def _at(self, loop: ir.For, thread: SymbolicExpr, decided: Decisions) -> ir.For:
        """The iteration of a loop for one thread."""
        body = rewrite_indices(_under(loop.body, decided), lambda e: with_definitions(e, self.definitions))
        copy = self.names.copied(body, {X: thread})
        return replace(loop, start=thread, stop=thread + 1, body=rewrite_indices(copy, self.names.simplified))

    # ------------------------------------------------------------ conditions that all threads share

    def _shared(self, conditions: Mapping[ir.Within, SymbolicExpr]) -> tuple[ir.Within, ...]:
        """Conditions that do not depend on the thread and mostly hold: all that hardly ever fail, or else one."""
        usual = dict(self._usual(c, e) for c, e in conditions.items() if X not in e.used_variables())
        often = [c for c, share in usual.items() if c is not None and share >= MIN_SHARE]
        return tuple(often or [c for c in usual if c is not None][:1])

    def _one_fails(
        self, loop: ir.For, conditions: Mapping[ir.Within, SymbolicExpr], shared: Sequence[ir.Within]
    ) -> ir.Block:
        """The loop where a shared condition fails, without branches that ask for all of them; none if nothing is left."""

        def asks_all(s: ir.If) -> bool:
            known = {c: conditions[c] for c in s.conditions if isinstance(c, ir.Within) and c in conditions}
            return {replace(c, expression=e) for c, e in known.items()}.issuperset(shared)

        body = replace_statements(loop.body, lambda s: s.otherwise if isinstance(s, ir.If) and asks_all(s) else (s,))
        return () if all(map(self._is_idle, body)) else (replace(loop, body=body),)

    def _usual(self, c: ir.Within, e: SymbolicExpr) -> tuple[ir.Within | None, float]:
        """The condition, or its negation, that holds at least as often as it fails, and its share; None if there is none."""
        share = c.share(e.range(self.names.intervals))
        whole = replace(c, expression=e)
        return (whole, share) if 2 * share >= 1 else (whole.negated, 1 - share)

    # ------------------------------------------------------------ conditions on the thread

    def _cuts(self, conditions: Mapping[ir.Within, SymbolicExpr]) -> _Cuts | None:
        """The cuts at which most conditions change, if there are any."""
        groups: dict[SymbolicExpr, dict[ir.Within, list[tuple[_Bound, int]]]] = {}
        for c, e in conditions.items():
            bounds = list(self._bounds(c, e))
            for place in (*groups, *(b.cut for b in bounds[:1])):
                distances = [self.names.simplified(b.cut - place).constant_value for b in bounds]
                known = [(b, d) for b, d in zip(bounds, distances, strict=True) if d is not None]
                if bounds and len(known) == len(bounds):
                    groups.setdefault(place, {})[c] = known
                    break
        cuts = max((_Cuts(*g) for g in groups.items()), key=lambda g: len(g.bounds), default=None)
        return cuts if cuts is not None and len(cuts.distances) <= MAX_CUTS else None

    def _bounds(self, c: ir.Within, e: SymbolicExpr) -> Iterator[_Bound]:
        """The bounds of a condition that is affine in the thread; none for others."""
        growth = thread_coefficient(e)
        if not growth:
            return
        rest = e.replace_variables([constant(0) if k == X else variable(k) for k in range(max(e.used_variables()) + 1)])
        if c.lower is not None:
            yield self._bound(rest - c.lower, growth)
        if c.upper is not None:
            yield self._bound(c.upper - rest, -growth)

    def _bound(self, rest: SymbolicExpr, growth: int) -> _Bound:
        """The threads for which `growth * th_x + rest` is not negative."""
        cut = -(rest // growth) if growth > 0 else rest // -growth + 1
        return _Bound(self.names.simplified(cut), growth > 0)

    def _segments(self, loop: ir.For, cuts: _Cuts | None, known: Decisions) -> Iterator[ir.For]:
        """The loops between cuts, without those that have no threads, or neither access memory nor do anything else."""
        ends = [None, *(cuts.distances if cuts else ()), None]
        for first, stop in pairwise(ends):
            own = self._between(loop, cuts.place, first, stop) if cuts else loop
            body = _under(loop.body, {**known, **(cuts.decided(first, stop) if cuts else {})})
            if self._has_threads(own) and not all(map(self._is_idle, body)):
                yield replace(own, body=self.names.copied(body))

    def _is_idle(self, s: ir.Statement) -> bool:
        """Whether a statement neither accesses memory nor has an effect outside of its iteration."""
        return isinstance(s, ir.Let | ir.LetIndex | ir.Var) and not any(self.memory.read(s))

    def _has_threads(self, loop: ir.For) -> bool:
        """Whether a loop may have iterations."""
        return self.names.simplified(loop.stop - loop.start).range(self.names.intervals).upper > 0

    def _between(self, loop: ir.For, place: SymbolicExpr, first: int | None, stop: int | None) -> ir.For:
        start = loop.start if first is None else self.names.simplified(loop.start.max(place + first))
        return replace(
            loop, start=start, stop=loop.stop if stop is None else self.names.simplified(loop.stop.min(place + stop))
        )


def _indices(body: Sequence[ir.Statement]) -> dict[str, set[ir.Index]]:
    """The indices at which a body accesses each buffer; none of an access to several elements."""
    indices: dict[str, set[ir.Index]] = {}
    for s in body:
        for load in loads_of(s):
            indices.setdefault(load.buffer, set()).add(load.index)
        if isinstance(s, ir.Store):
            indices.setdefault(s.buffer, set()).add(s.index)
        for move in moves(s):
            indices.setdefault(move.buffer, set()).add(())
    return indices


def _decisions(
    conditions: Mapping[ir.Within, SymbolicExpr], shared: Sequence[ir.Within]
) -> Iterator[tuple[ir.Within, bool]]:
    """Yield the conditions that hold, or fail, where the shared ones hold."""
    for c, e in conditions.items():
        whole = replace(c, expression=e)
        if whole in shared or whole.negated in shared:
            yield c, whole in shared


def _under(body: ir.Block, decided: Decisions) -> ir.Block:
    """The body with conditions decided."""
    return replace_statements(body, lambda s: _branch(s, decided) if isinstance(s, ir.If) else (s,))


def _branch(s: ir.If, decided: Decisions) -> ir.Block:
    """The statements that a branch runs, with conditions decided."""
    holds = [decided.get(c) if isinstance(c, ir.Within) else None for c in s.conditions]
    if False in holds:
        return s.otherwise
    left = tuple(c for c, known in zip(s.conditions, holds, strict=True) if known is None)
    return (replace(s, conditions=left),) if left else s.then
