"""Conversion of parallel regions, the code between barriers, to loops over threads, with arrays for values live across them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TypeAlias

from indexing._core import Interval, SymbolicExpr, constant, variable
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.memory import moves
from indexing.kernels.ir.traversal import (
    expressions_of,
    indices_of,
    names_in,
    rewrite_statement,
    subvalues,
    values_of,
    variables_in,
)
from indexing.kernels.ir.types import decoded, encoded, storage_type
from indexing.kernels.passes.group_loops import GroupLoops, array_of
from indexing.kernels.passes.uniform import AXES, tiles_of_sums
from indexing.walks import reached

Guards: TypeAlias = "tuple[tuple[ir.Value, ...], ...]"


@dataclass(slots=True)
class ParallelRegion:
    """Statements that each thread runs without synchronization, if all guards hold."""

    number: int
    guards: Guards
    statements: list[ir.Statement] = field(default_factory=list)


@dataclass(slots=True)
class GroupReduction:
    """A reduction over groups of threads."""

    statement: ir.GroupReduce


@dataclass(slots=True)
class Shared:
    """A statement that runs once for all threads; `parts` are the items within a loop or a branch."""

    statement: ir.Statement
    then: list[Item] = field(default_factory=list)
    otherwise: list[Item] = field(default_factory=list)


Item: TypeAlias = "ParallelRegion | GroupReduction | Shared"


def _repeated(items: Iterable[Item], inside: bool = False) -> Iterator[int]:
    """The numbers of the regions within loops that all threads share."""
    for item in items:
        if isinstance(item, Shared):
            within = inside or isinstance(item.statement, ir.For)
            yield from _repeated([*item.then, *item.otherwise], within)
        elif isinstance(item, ParallelRegion) and inside:
            yield item.number


def _regions_and_reductions(items: Iterable[Item]) -> Iterator[ParallelRegion | GroupReduction]:
    for item in items:
        if isinstance(item, Shared):
            yield from _regions_and_reductions(item.then)
            yield from _regions_and_reductions(item.otherwise)
        else:
            yield item


@dataclass(slots=True)
class _Use:
    """The names that a region defines and reads."""

    defined: dict[str, str] = field(default_factory=dict)  # types of names, by name
    variables: set[str] = field(default_factory=set)  # names that may change
    assigned: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    given: dict[int, SymbolicExpr | ir.Value] = field(default_factory=dict)  # index variables
    indexed: set[int] = field(default_factory=set)
    buffers: set[str] = field(default_factory=set)


def _thread_number(block: tuple[int, int, int]) -> SymbolicExpr:
    """A thread's linear number in its block, x fastest."""
    number, stride = constant(0), 1
    for axis, size in enumerate(block):
        if size > 1:
            number = number + variable(axis) * stride
        stride *= size
    return number


@dataclass(slots=True)
class _Bounds:
    """The start and stop of the loops over threads, by axis."""

    start: dict[int, SymbolicExpr]
    stop: dict[int, SymbolicExpr]

    def without_thread_bounds(self, body: ir.Block, intervals: list[Interval]) -> ir.Block:
        """The body without the conditions around all of it that bounds can express; the bounds are set.

        Such conditions have the form `low <= thread + rest <= high`, where `rest` is uniform. Definitions of indices may
        precede them.
        """
        given: list[ir.LetIndex] = []
        while body:
            if isinstance(body[0], ir.LetIndex) and isinstance(body[0].value, SymbolicExpr):
                given.append(body[0])
                body = body[1:]
                continue
            if len(body) > 1 or not isinstance(body[0], ir.If) or body[0].otherwise:
                break
            first, *others = body[0].conditions
            if not isinstance(first, ir.Within) or not self._take(first, intervals, {s.variable for s in given}):
                break
            body = (replace(body[0], conditions=tuple(others)),) if others else body[0].then
        return (*given, *body)

    def _take(self, condition: ir.Within, intervals: list[Interval], given: Container[int]) -> bool:
        used = condition.expression.used_variables()
        axes = [v for v in used if v in self.stop]
        if len(axes) != 1 or any(v in given for v in used):
            return False
        (axis,) = axes
        rest = condition.expression - variable(axis)
        if axis in rest.used_variables():
            return False
        bounds = condition.expression.range(intervals)
        if condition.lower is not None and bounds.lower < condition.lower:
            self.start[axis] = self.start[axis].max(condition.lower - rest).simplify(intervals)
        if condition.upper is not None and bounds.upper > condition.upper:
            self.stop[axis] = self.stop[axis].min(condition.upper + 1 - rest).simplify(intervals)
        return True


def _between_loads_and_stores(
    loads: Sequence[ir.Let | ir.Var], body: ir.Block, stores: Sequence[ir.Statement]
) -> ir.Block:
    """A body between loads of kept values and stores of values to keep; inside of its condition, if the whole body has one,
    since nothing changes elsewhere, so that the condition can become the bound of a loop.
    """
    *named, last = body or (None,)
    loaded = {s.name for s in loads}
    if not isinstance(last, ir.If) or last.otherwise or not all(isinstance(s, ir.LetIndex) for s in named):
        return (*loads, *body, *stores)
    if not loaded.isdisjoint(names_in((*last.conditions, *_values(named)))):
        return (*loads, *body, *stores)
    return (*body[:-1], replace(last, then=(*loads, *last.then, *stores)))


def _values(named: Iterable[ir.Statement | None]) -> Iterator[ir.Value]:
    for s in named:
        if isinstance(s, ir.LetIndex) and not isinstance(s.value, SymbolicExpr):
            yield s.value


class ThreadLoops:
    """Assembles the kernel."""

    def __init__(self, kernel: ir.Kernel, items: list[Item]) -> None:
        """Start with the items into which the kernel's body was split."""
        self.original, self.items = kernel, items
        self.variables = list(kernel.variables)
        self.buffers = {b.name: b for b in kernel.buffers}
        self.results = {f.name: tuple(r.type for r in f.results) for f in kernel.functions}
        self.threads = prod(kernel.block)
        self.thread = _thread_number(kernel.block)
        self.uses = {s.number: self._use(s) for s in _regions_and_reductions(items) if isinstance(s, ParallelRegion)}
        self.reductions = [t.statement for t in _regions_and_reductions(items) if isinstance(t, GroupReduction)]
        self.kinds = {name: kind for use in self.uses.values() for name, kind in use.defined.items()}
        self.mutable = {name for use in self.uses.values() for name in use.variables}
        self.given = {v: e for use in self.uses.values() for v, e in use.given.items()}
        self.kept = self._kept()
        self.kept_indices = self._kept_indices()
        self.spread = self._spread()
        self.tiles = tiles_of_sums(kernel)
        self.groups = GroupLoops(self.threads, self.variables)

    # ------------------------------------------------------------ values live across regions

    def _use(self, region: ParallelRegion) -> _Use:
        use = _Use()
        for s in ir.statements(tuple(region.statements)):
            self._note_values(use, values_of(s))
            use.indexed.update(v for e in indices_of(s) for v in e.used_variables())
            match s:
                case ir.Let(name=name, value=value) | ir.Shuffle(name=name, value=value):
                    use.defined[name] = value.type
                case ir.FetchAdd(name=name):
                    use.defined[name] = "u32"
                case ir.CallFunction(names=names, function=function):
                    use.defined.update(zip(names, self.results[function], strict=True))
                case ir.Var(name=name, type=kind):
                    use.defined[name] = kind
                    use.variables.add(name)
                case ir.Assign(name=name):
                    use.assigned.add(name)
                case ir.LetIndex(variable=number, value=value):
                    use.given[number] = value
            if isinstance(s, ir.Store | ir.AtomicUpdate | ir.FetchAdd):
                use.buffers.add(s.buffer)
            use.buffers.update(m.buffer for m in moves(s))
        for guard in region.guards:
            self._note_values(use, guard)
        return use

    def _note_values(self, use: _Use, values: Iterable[ir.Value]) -> None:
        for part in (part for value in values for part in subvalues(value)):
            use.indexed.update(v for e in expressions_of(part) for v in e.used_variables())
            if isinstance(part, ir.Ref):
                use.read.add(part.name)
            elif isinstance(part, ir.Load):
                use.buffers.add(part.buffer)

    def _kept(self) -> dict[str, str]:
        """The names that are live across regions, with the arrays that hold them."""
        names: dict[str, None] = {}
        for use in self.uses.values():
            for name in (*sorted(use.read), *sorted(use.assigned)):
                if name not in use.defined and name in self.kinds:
                    names[name] = None
        for reduction in self.reductions:
            names.update(dict.fromkeys(reduction.names))
        return {name: array_of(name) for name in names}

    def _kept_indices(self) -> dict[int, str]:
        """The index variables defined by values that are live across regions, with the arrays that hold them."""
        variables: dict[int, None] = {}
        for number, use in self.uses.items():
            for v in sorted(self._needed(number)):
                if v not in use.given and not isinstance(self.given[v], SymbolicExpr):
                    variables[v] = None
        return {v: f"{self.variables[v].name}_of" for v in variables}

    def _needed(self, number: int) -> set[int]:
        """The index variables that a region reads and some region defines, with those that their definitions read."""
        use = self.uses[number]
        return self._defining(use.indexed, use.given)

    def _defining(self, used: Iterable[int], own: Container[int] = ()) -> set[int]:
        """The given index variables among those used, and those in the definitions of these that are not a region's own."""

        def read(v: int) -> Sequence[int]:
            value = self.given[v]
            return value.used_variables() if v not in own and isinstance(value, SymbolicExpr) else ()

        given = (v for v in used if v in self.given)
        return set(reached(given, lambda v: (w for w in read(v) if w in self.given)))

    def _spread(self) -> frozenset[str]:
        """The local buffers that are live across regions: each thread gets a column of an array."""
        local = {b.name for b in self.original.buffers if b.space == "local"}
        users = {name: {n for n, use in self.uses.items() if name in use.buffers} for name in local}
        repeated = set(_repeated(self.items))
        return frozenset(name for name, regions in users.items() if len(regions) > 1 or regions & repeated)

    # ------------------------------------------------------------ assembly

    def kernel(self) -> ir.Kernel:
        """The kernel with one thread per block."""
        body = tuple(s for item in self.items for s in self._item(item))
        for k in range(AXES):
            if self.original.block[k] > 1:
                self.variables[k] = replace(self.variables[k], kind="loop")
        own = [
            replace(b, dimensions=(b.size * self.threads,)) if b.name in self.spread else b
            for b in self.original.buffers
        ]
        arrays = [self._array(kept, self.kinds[name]) for name, kept in self.kept.items()]
        arrays += [self._array(kept, "s64") for kept in self.kept_indices.values()]
        return replace(
            self.original,
            block=(1, 1, 1),
            buffers=(*own, *arrays, *self.groups.buffers()),
            variables=tuple(self.variables),
            body=body,
        )

    def _array(self, name: str, kind: str) -> ir.Buffer:
        return ir.Buffer(name, kind, (self.threads,), "local")

    def _item(self, item: Item) -> Iterator[ir.Statement]:
        if isinstance(item, ParallelRegion):
            if self._is_idle(item):
                return
            yield self._loops(self._region(item))
        elif isinstance(item, GroupReduction):
            yield from self.groups.loops(item.statement)
        elif isinstance(item.statement, ir.For):
            yield replace(item.statement, body=self._block(item.then))
        elif isinstance(item.statement, ir.If):
            yield replace(item.statement, then=self._block(item.then), otherwise=self._block(item.otherwise))
        else:
            yield item.statement

    def _is_idle(self, region: ParallelRegion) -> bool:
        """Whether a region only defines index variables that other regions recompute."""
        return all(isinstance(s, ir.LetIndex) and s.variable not in self.kept_indices for s in region.statements)

    def _block(self, items: list[Item]) -> ir.Block:
        return tuple(s for item in items for s in self._item(item))

    def _loops(self, body: ir.Block) -> ir.Statement:
        """The loops over the threads of a block; a condition that bounds a row of threads becomes a loop's bound."""
        sizes = {k: n for k, n in enumerate(self.original.block) if n > 1} or {0: 1}
        bounds = _Bounds(dict.fromkeys(sizes, constant(0)), {k: constant(n) for k, n in sizes.items()})
        body = bounds.without_thread_bounds(body, [v.interval for v in self.variables])
        for k in sizes:
            body = (ir.For(k, bounds.start[k], bounds.stop[k], 1, body),)
        return body[0]

    def _region(self, region: ParallelRegion) -> ir.Block:
        """The statements of one thread: recomputed indices, loads of kept values, the statements, stores of values to keep."""
        use = self.uses[region.number]
        needed = self._needed(region.number) - set(use.given)
        touched = [n for n in self.kept if n in use.read or n in use.assigned]
        loads = [self._loaded(n, use) for n in touched if n not in use.defined]
        guard_names = {n for guard in region.guards for n in names_in(guard)}
        early = [s for s in loads if s.name in guard_names]
        stores = [self._stored(n) for n in self.kept if n in use.defined or n in use.assigned]
        statements = tuple(t for s in region.statements for t in self._spread_out(s))
        late = [s for s in loads if s.name not in guard_names]
        is_changed = not any(n in use.defined for n in self.kept)
        body = _between_loads_and_stores(late, statements, stores) if is_changed else (*late, *statements, *stores)
        return self._guarded(region.guards, needed, early, body)

    def _guarded(self, guards: Guards, needed: set[int], loads: Sequence[ir.Let | ir.Var], body: ir.Block) -> ir.Block:
        """A body under guards, each index recomputed and each kept value loaded before the first guard that needs it: inside of
        those around it, without which nothing was kept.
        """
        if not guards:
            return (*map(self._recomputed_index, sorted(needed)), *body)
        first, *others = guards
        own = needed & self._defining({*variables_in(first)})
        names = {*names_in(first)}
        inner = self._guarded(tuple(others), needed - own, [s for s in loads if s.name not in names], body)
        loaded = (s for s in loads if s.name in names)
        return (*map(self._recomputed_index, sorted(own)), *loaded, ir.If(first, inner))

    def _recomputed_index(self, number: int) -> ir.Statement:
        value = self.given[number]
        if isinstance(value, SymbolicExpr):
            return ir.LetIndex(number, value)
        # Within its bounds as where it was kept, which nobody knows of memory.
        bounds = self.variables[number].interval
        low, high = ir.Constant("s64", bounds.lower), ir.Constant("s64", bounds.upper)
        kept = ir.Load("s64", self.kept_indices[number], (self.thread,))
        return ir.LetIndex(number, ir.Op("clamp", "s64", (low, kept, high)))

    def _loaded(self, name: str, use: _Use) -> ir.Let | ir.Var:
        kind = self.kinds[name]
        value = decoded(kind, ir.Load(storage_type(kind), self.kept[name], (self.thread,)))
        return ir.Var(name, kind, value) if name in use.assigned else ir.Let(name, value)

    def _stored(self, name: str) -> ir.Statement:
        kind = self.kinds[name]
        return ir.Store(self.kept[name], (self.thread,), encoded(kind, ir.Ref(kind, name)))

    # ------------------------------------------------------------ local buffers

    def _spread_out(self, statement: ir.Statement) -> Iterator[ir.Statement]:
        """The statement with indices into local buffers that are live across regions as indices into a thread's column."""
        if isinstance(statement, ir.LetIndex) and statement.variable in self.kept_indices:
            yield statement
            kept = ir.IndexValue(variable(statement.variable))
            yield ir.Store(self.kept_indices[statement.variable], (self.thread,), kept)
            return
        if isinstance(statement, ir.Copy) and self.spread & {statement.destination, statement.source}:
            yield from self._copied(statement)
            return
        if isinstance(statement, ir.For):
            yield replace(statement, body=tuple(t for s in statement.body for t in self._spread_out(s)))
            return
        if isinstance(statement, ir.If):
            branches = (tuple(t for s in b for t in self._spread_out(s)) for b in (statement.then, statement.otherwise))
            then, otherwise = branches
            statement = replace(statement, then=then, otherwise=otherwise)
        statement = rewrite_statement(statement, self._moved)
        if isinstance(statement, ir.Store) and statement.buffer in self.spread:
            statement = replace(statement, index=self._cell_of(statement.buffer, statement.index))
        elif isinstance(statement, ir.MultiplyPanels) and statement.accumulator in self.spread:
            (at,) = self._cell_of(statement.accumulator, (statement.accumulator_index,))
            statement = replace(statement, accumulator_index=at)
        yield statement

    def _moved(self, value: ir.Value) -> ir.Value:
        if isinstance(value, ir.Load) and value.buffer in self.spread:
            return replace(value, index=self._cell_of(value.buffer, value.index))
        return value

    def _cell_of(self, buffer: str, index: ir.Index) -> ir.Index:
        """The thread's own cell of an element. Neighbouring threads have neighbouring cells, for vectorization; but a tile of
        sums has no gaps.
        """
        place = index[0] if index else constant(0)
        if buffer in self.tiles:
            return (self.thread * self.buffers[buffer].size + place,)
        return (place * self.threads + self.thread,)

    def _copied(self, s: ir.Copy) -> Iterator[ir.Statement]:
        """A copy, element by element."""
        kind = storage_type(self.buffers[s.source].element_type)
        for k in range(s.width):
            load = ir.Load(kind, s.source, (s.source_index + k,))
            store = ir.Store(s.destination, (s.destination_index + k,), self._moved(load))
            to = self._cell_of(s.destination, store.index) if s.destination in self.spread else store.index
            yield replace(store, index=to)
