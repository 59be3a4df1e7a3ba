"""The loads and stores of a kernel as data: each with its buffer index over thread ids and loop variables, and the conditions
around it. Proofs, thread maps, coalescing and bank conflicts are derived from these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from itertools import zip_longest
from typing import Literal, TypeAlias

from indexing._core import IndexingMap, Interval, SymbolicExpr, Variable, compose, constant, variable
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.memory import moves
from indexing.kernels.ir.traversal import may_leave, subvalues, values_of
from indexing.ops.operand_indexing import map_over

Kind: TypeAlias = Literal["load", "store", "atomic"]
#: Accesses by number, in groups, the oldest first; those of the last group may become more.
Groups: TypeAlias = tuple[frozenset[int], ...]
Constraint: TypeAlias = "tuple[SymbolicExpr, Interval]"

VECTOR = "vector_index"
BLOCK_X = 3  # the variable bl_x of an entry
MAX_MAPS = 256  # maps from threads to the index of one function
INT64 = Interval(-(2**63), 2**63 - 1)
KEPT = 16  # kernels whose accesses are kept: several analyses of one ask for them


@dataclass(frozen=True, slots=True)
class Context:
    """The conditions and loops around a point of a body.

    `places` maps each index variable to an expression over thread ids (or a function's parameters), loop variables and
    indices that are data; `loops` and `data` are the variables of the latter two kinds in scope. If `is_certain`, the point is
    reached exactly under the constraints; else they are necessary, but not sufficient.
    """

    places: tuple[SymbolicExpr, ...]
    constraints: tuple[Constraint, ...] = ()
    loops: tuple[int, ...] = ()
    data: tuple[int, ...] = ()
    is_certain: bool = True
    guarded: tuple[int, ...] = ()  # the loops in which a condition is around the point

    def at(self, expression: SymbolicExpr) -> SymbolicExpr:
        """The expression with index variables replaced by their definitions."""
        return expression.replace_variables(self.places)

    def within(self, conditions: Iterable[ir.Value]) -> Context:
        """The context of a branch under the conditions."""
        constraints = list(self.constraints)
        certain = self.is_certain
        for c in conditions:
            if isinstance(c, ir.Within):
                constraints.append((self.at(c.expression), _interval(c.lower, c.upper)))
            else:
                certain = False
        return replace(self, constraints=tuple(constraints), is_certain=certain, guarded=self.loops)

    def without(self, conditions: Sequence[ir.Value], intervals: Sequence[Interval]) -> Context:
        """The context in which not all conditions hold, for index variables in their intervals: those of indices are one
        constraint, that the least of the distances from their bounds is negative.
        """
        distances = [d for c in conditions if isinstance(c, ir.Within) for d in self._distances(c)]
        least = reduce(SymbolicExpr.min, [d for d in distances if d.range(intervals).lower < 0] or [constant(0)])
        if not all(isinstance(c, ir.Within) for c in conditions):
            return replace(self, is_certain=False, guarded=self.loops)
        return replace(self, constraints=(*self.constraints, (least, _interval(None, -1))), guarded=self.loops)

    def _distances(self, c: ir.Within) -> Iterator[SymbolicExpr]:
        """Yield how far an expression is inside of each of its bounds."""
        e = self.at(c.expression)
        yield from () if c.lower is None else [e - c.lower]
        yield from () if c.upper is None else [c.upper - e]

    def define(self, number: int, place: SymbolicExpr) -> Context:
        """The context with a variable defined as `place`."""
        places = list(self.places)
        places[number] = place
        return replace(self, places=tuple(places))


def _interval(lower: int | None, upper: int | None) -> Interval:
    return Interval(INT64.lower if lower is None else lower, INT64.upper if upper is None else upper)


#: The numbers of the statements around, each with a counter or a branch.
Time: TypeAlias = "tuple[int | SymbolicExpr, ...]"


@dataclass(frozen=True, slots=True)
class Access:
    """One load or store at `index`, over the variables of its `context`. Between accesses with a common phase, there may be no
    barrier.
    """

    kind: Kind
    buffer: str
    index: tuple[SymbolicExpr, ...]
    context: Context
    phases: frozenset[int] = frozenset({0})
    width: int = 1  # the number of neighbouring elements, which begin at the index
    time: Time = field(default=(), compare=False)
    definition: str = field(default="", compare=False)  # the name that its statement defines
    opcode: str = field(default="", compare=False)  # the operation of an atomic update, if it is a single one


@dataclass(frozen=True, slots=True)
class Claim:
    """The claim that a definition of an index variable lies in the variable's interval; `place` may be a value, of data."""

    variable: int
    place: SymbolicExpr | ir.Value
    context: Context


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function at an index."""

    function: str
    index: tuple[SymbolicExpr, ...]
    context: Context
    definition: str = ""  # the first of the names of the results


@dataclass(frozen=True, slots=True)
class IndexUse:
    """An index expression as a value of a type, in the definition of a name."""

    index: tuple[SymbolicExpr]
    type: str
    context: Context
    definition: str


@dataclass
class Accesses:
    """All memory accesses of a body, in program order."""

    variables: tuple[ir.IndexVariable, ...]
    given: int  # the number of leading variables that are given: thread ids, or the index of a function
    accesses: list[Access] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    indices: list[IndexUse] = field(default_factory=list)
    phases: frozenset[int] = frozenset({0})
    _phase_count: int = 1
    copies: Groups = (frozenset(),)  # the accesses by asynchronous copies that may not be complete
    barriers: list[tuple[Time, Context]] = field(default_factory=list)
    _time: Time = ()
    _definition: str = ""
    # Values with their contexts: those named by `Let`; of variables the first and later ones; of index variables that are data.
    names: dict[str, tuple[ir.Value, Context]] = field(default_factory=dict)
    assigned: dict[str, list[tuple[ir.Value, Context]]] = field(default_factory=dict)
    data: dict[int, tuple[ir.Value, Context]] = field(default_factory=dict)
    promises: dict[int, str] = field(default_factory=dict)
    arrivals: dict[str, Access] = field(default_factory=dict)  # counter increments, by the names of the old values
    counters: dict[str, Access] = field(default_factory=dict)  # the same, by the shared buffers that hold these values
    uneven: set[int] = field(default_factory=set)  # the loops whose first counters are not constant

    def collect(self, body: ir.Block, results: Iterable[ir.Value] = ()) -> Accesses:
        """Collect the accesses of the body and of the values that it returns."""
        context = Context(tuple(variable(k) for k in range(len(self.variables))))
        context = self._block(body, context)
        for value in results:
            self._loads(value, context)
        return self

    def map(
        self, context: Context, results: Sequence[SymbolicExpr], lanes: int = 1, is_for_all_threads: bool = False
    ) -> IndexingMap:
        """The map from given variables, loop variables and data to `results`, on the context's domain, not simplified.

        With `lanes` > 1, the last result is the first of as many neighbours, over a range variable `vector_index_of_copy`.
        Outside of a loop over threads, the first thread represents all, unless the map is for each of them.
        """
        loops = [k for k in context.loops if k >= self.given]
        order = [*range(self.given), *loops, *context.data]
        first_data = self.given + len(loops)
        places = [variable(0)] * len(self.variables)
        for k, number in enumerate(order):
            places[number] = variable(k + 1 if lanes > 1 and k >= first_data else k)
        expressions = [e.replace_variables(places) for e in results]
        if lanes > 1:
            expressions[-1] = expressions[-1] + variable(first_data)
        constraints = [(e.replace_variables(places), i) for e, i in context.constraints]
        if not is_for_all_threads:
            constraints += self._outside(context)
        dims = [self._variable(k) for k in range(self.given)]
        ranges = [self._variable(k) for k in loops]
        vectors = [k for k, v in enumerate(ranges) if (v.name or "").startswith(VECTOR)]
        if len(vectors) == 1:  # the range of a loop over the lanes of a vector has a fixed name
            ranges[vectors[0]] = Variable(VECTOR, ranges[vectors[0]].interval)
        if lanes > 1:
            ranges.append(Variable(f"{VECTOR}_of_copy", Interval(0, lanes - 1)))
        data = [self._variable(k) for k in context.data]
        return map_over(expressions, dims, ranges, data, constraints)

    @property
    def intervals(self) -> list[Interval]:
        """The intervals of all variables."""
        return [v.interval for v in self.variables]

    @property
    def once(self) -> Iterable[Access]:
        """The accesses, each of a loop with barriers, which is visited twice, once."""
        return {(a.time, a.kind, a.buffer, a.index): a for a in self.accesses}.values()

    def access_map(self, access: Access) -> IndexingMap:
        """The simplified map from threads to the elements of an access."""
        return self.map(access.context, access.index, access.width).simplify()

    def _outside(self, context: Context) -> Iterator[Constraint]:
        """Yield constraints of the counters of thread loops that are not around the context."""
        for k in range(self.given):
            if self.variables[k].kind == "loop" and k not in context.loops:
                yield variable(k), Interval(0, 0)

    def _variable(self, number: int) -> Variable:
        v = self.variables[number]
        return Variable(v.name, v.interval)

    # ------------------------------------------------------------ statements

    def _block(self, block: ir.Block, context: Context, *around: int | SymbolicExpr) -> Context:
        outer = self._time
        for number, statement in enumerate(block):
            self._time = (*outer, *around, number)
            context = self._statement(statement, context)
        self._time = outer
        return context

    def _statement(self, s: ir.Statement, context: Context) -> Context:
        """Collect the accesses of a statement; returns the context of the statements after it."""
        self._definition = defined_by(s)
        if isinstance(s, ir.If):
            inner = context
            for condition in s.conditions:  # each is evaluated only if those before hold
                self._loads(condition, inner)
                inner = self._last_block(inner.within((condition,)), inner, condition)
            before, begun = self.phases, self.copies
            self._block(s.then, inner, 0)
            after_then, self.phases, own, self.copies = self.phases, before, self.copies, begun
            if s.otherwise:
                self._block(s.otherwise, context.without(s.conditions, self.intervals), 1)
            self.phases |= after_then
            self.copies = _either(self.copies, own)
            return context
        if isinstance(s, ir.For):
            self._loop(s, context)
            return context
        for value in values_of(s):
            self._loads(value, context)
        if isinstance(s, ir.LetIndex):
            return self._let(s, context)
        if isinstance(s, ir.Let):
            self.names[s.name] = s.value, context
        if isinstance(s, ir.Var):
            self.assigned[s.name] = [(s.initial, context)]
        if isinstance(s, ir.Assign) and s.name in self.assigned:
            self.assigned[s.name].append((s.value, context))
        if isinstance(s, ir.Break):
            return context.without(s.conditions, self.intervals)
        self._effect(s, context)
        return context

    def _effect(self, s: ir.Statement, context: Context) -> None:
        if isinstance(s, ir.Store | ir.AtomicUpdate | ir.FetchAdd):
            kind: Kind = "store" if isinstance(s, ir.Store) else "atomic"
            self._add(kind, s.buffer, s.index, context)
            if isinstance(s, ir.AtomicUpdate):
                self.accesses[-1] = replace(self.accesses[-1], width=len(s.values), opcode=s.opcode)
            if isinstance(s, ir.FetchAdd) and s.value == ir.Constant("u32", 1):
                self.arrivals[s.name] = self.accesses[-1]
            elif isinstance(s, ir.Store) and isinstance(s.value, ir.Ref) and s.value.name in self.arrivals:
                self.counters[s.buffer] = self.arrivals[s.value.name]
        for m in moves(s):
            self._add(m.kind, m.buffer, (m.index,), context, m.width)
        if isinstance(s, ir.CopyAsync):
            self.copies = (*self.copies[:-1], self.copies[-1] | {len(self.accesses) - 1})
        elif isinstance(s, ir.WaitCopies):
            self.copies = (*self.copies[len(self.copies) - min(s.pending, len(self.copies)) :], frozenset())
        if isinstance(s, ir.CallFunction):
            self.calls.append(Call(s.function, tuple(map(context.at, s.index)), context, s.names[0]))
        elif isinstance(s, ir.Barrier | ir.GroupReduce):
            self.phases = frozenset({self._phase_count})
            self._phase_count += 1
            for k in frozenset().union(*self.copies):  # not complete: the store may come in this phase as well
                self.accesses[k] = replace(self.accesses[k], phases=self.accesses[k].phases | self.phases)
            self.barriers.append((self._time, context))

    def _add(self, kind: Kind, buffer: str, index: Sequence[SymbolicExpr], context: Context, width: int = 1) -> None:
        time = (*self._time, int(kind != "load"))  # a statement reads before it writes
        self.accesses.append(
            Access(kind, buffer, tuple(map(context.at, index)), context, self.phases, width, time, self._definition)
        )

    def _loads(self, value: ir.Value, context: Context) -> None:
        for v in subvalues(value):
            if isinstance(v, ir.Load):
                self._add("load", v.buffer, v.index, context)
            elif isinstance(v, ir.IndexValue):
                self.indices.append(IndexUse((context.at(v.expression),), v.type, context, self._definition))

    def _let(self, s: ir.LetIndex, context: Context) -> Context:
        if isinstance(s.value, SymbolicExpr):
            place = context.at(s.value)
            self.claims.append(Claim(s.variable, place, context))
            return context.define(s.variable, place)
        self.claims.append(Claim(s.variable, s.value, context))
        self.data[s.variable] = s.value, context
        self.promises[s.variable] = s.promise
        return replace(context, data=(*context.data, s.variable))

    def _last_block(self, inside: Context, outside: Context, condition: ir.Value) -> Context:
        """The context under a condition that is true for the last of several blocks to arrive at a counter: the block with the
        highest number represents it. One thread of each block arrives.
        """
        match condition:
            case ir.Op("eq", _, (ir.Load(_, buffer, _), ir.Constant(_, int(last)))) if buffer in self.counters:
                arrival = self.counters[buffer]
                block, count = variable(BLOCK_X), last + 1
                if (arrival.index[0] - block // count).simplify(self.intervals).constant_value == 0:
                    constraints = (*inside.constraints, (block % count, Interval(last, last)))
                    is_certain = outside.is_certain and self._is_one_thread(arrival)
                    return replace(inside, constraints=constraints, is_certain=is_certain)
        return inside

    def _is_one_thread(self, access: Access) -> bool:
        """Whether exactly one thread of each block performs an access, once."""
        from_blocks = self.map(access.context, [variable(k) for k in range(BLOCK_X, self.given)]).simplify()
        blocks = [self.variables[k].interval.upper + 1 for k in range(BLOCK_X, self.given)]
        return (
            access.context.is_certain
            and not from_blocks.runtimes
            and blocks[1:] == [1, 1]
            and from_blocks.is_bijection_onto(blocks)
        )

    def _loop(self, s: ir.For, context: Context) -> None:
        """Collect the accesses of a loop. A body with barriers is visited twice, as two iterations: accesses after its last
        barrier share a phase with those of the next iteration before its first. So do copies that outlast an iteration with
        all of the next one, and further ones are like it.
        """
        counter = variable(s.variable)
        start, stop = context.at(s.start), context.at(s.stop)
        self._claim_counter(s, start, stop, context)
        if start.constant_value is None:
            self.uneven.add(s.variable)
        constraints = [*context.constraints]
        interval = self.variables[s.variable].interval
        if start.constant_value != interval.lower:
            constraints += [(counter - bound, Interval(0, INT64.upper)) for bound in _bounds(start, "max")]
        if s.step != 1:
            constraints.append(((counter - start) % s.step, Interval(0, 0)))
        if stop.constant_value != interval.upper + 1:
            constraints += [(counter - bound, Interval(INT64.lower, -1)) for bound in _bounds(stop, "min")]
        is_certain = context.is_certain and not may_leave(s.body)
        loops = (*context.loops, s.variable)
        inner = replace(context, loops=loops, constraints=tuple(constraints), is_certain=is_certain)
        before, begun = self.phases, self.copies
        self._block(s.body, inner, counter)
        if any(isinstance(b, ir.Barrier | ir.GroupReduce) for b in ir.statements(s.body)):
            self._block(s.body, inner, counter)
            self.phases |= before
        self.copies = _either(self.copies, begun)

    def _claim_counter(self, s: ir.For, start: SymbolicExpr, stop: SymbolicExpr, context: Context) -> None:
        """Claim that the counter's first and last values, if the loop runs at all, lie in its interval."""
        interval = self.variables[s.variable].interval
        if start.constant_value != interval.lower or stop.constant_value != interval.upper + 1:
            last = start + (stop - start - 1) // s.step * s.step
            runs = replace(context, constraints=(*context.constraints, (stop - start, Interval(1, INT64.upper))))
            self.claims += [Claim(s.variable, start, runs), Claim(s.variable, last, runs)]


def _either(one: Groups, other: Groups) -> Groups:
    """The groups of copies after one of two paths, the newest last."""
    pairs = zip_longest(reversed(one), reversed(other), fillvalue=frozenset[int]())
    return tuple(reversed([a | b for a, b in pairs]))


def _bounds(bound: SymbolicExpr, extremum: Literal["min", "max"]) -> Iterator[SymbolicExpr]:
    """The bounds that hold together if one of a loop does, whose minimum or maximum it is."""
    parts = bound.postorder()
    for part, (kind, _, operands) in zip(parts, bound.nodes(), strict=True):
        if kind in ("min", "max"):
            place = max(bound.used_variables(), default=-1) + 1
            beside = bound.replace({part: variable(place)})
            step = (beside.replace({variable(place): variable(place) + 1}) - beside).constant_value
            if step and (step > 0) == (kind == extremum):  # -min(x, y) is max(-x, -y)
                for operand in operands:
                    yield from _bounds(bound.replace({part: parts[operand]}), extremum)
                return
    yield bound


def defined_by(s: ir.Statement) -> str:
    """The name of a value or variable that a statement defines, or the buffer that it writes; empty for control flow."""
    if isinstance(s, ir.CallFunction):
        return s.names[0]
    number = getattr(s, "variable", "")
    return getattr(s, "name", "") or getattr(s, "destination", "") or getattr(s, "buffer", "") or f"{number}"


@lru_cache(maxsize=KEPT)
def entry_accesses(kernel: ir.Kernel) -> Accesses:
    """The accesses of the entry, from thread ids; those of called functions are not included."""
    return Accesses(kernel.variables, 6).collect(kernel.body)


@lru_cache(maxsize=KEPT)
def all_accesses(kernel: ir.Kernel) -> tuple[tuple[str, Accesses], ...]:
    """The accesses of each function, by its name, and of the entry, by the kernel's name."""
    functions = ((f.name, Accesses(f.variables, len(f.index)).collect(f.body, f.results)) for f in kernel.functions)
    return *functions, (kernel.name, entry_accesses(kernel))


@dataclass(frozen=True, slots=True)
class Reached:
    """The distinct maps from threads to the elements of each buffer that a kernel accesses, by kind of access; `unknown` are
    the buffers with too many.
    """

    maps: Mapping[tuple[str, Kind], tuple[IndexingMap, ...]]
    unknown: frozenset[str]


def reached_elements(kernel: ir.Kernel) -> Reached:
    """The elements reached through all functions; each is visited once for each distinct map from threads to its index, up to
    MAX_MAPS maps.
    """
    by_access: dict[tuple[str, Kind], dict[IndexingMap, None]] = {}
    unknown: set[str] = set()
    indices: dict[str, dict[IndexingMap, None]] = {}
    overfull: set[str] = set()

    def visit(name: str, body: Accesses, threads: Iterable[IndexingMap | None]) -> None:
        for m in threads:
            for a in body.accesses:
                here = body.access_map(a)
                by_access.setdefault((a.buffer, a.kind), {})[_from_threads(m, here)] = None
            for call in body.calls:
                to = indices.setdefault(call.function, {})
                to[_from_threads(m, body.map(call.context, call.index).simplify())] = None
                if len(to) > MAX_MAPS:
                    overfull.add(call.function)
                    to.clear()
        if name in overfull:
            unknown.update(a.buffer for a in body.accesses)
            overfull.update(call.function for call in body.calls)

    for name, body in reversed(all_accesses(kernel)):
        visit(name, body, [None] if name == kernel.name else list(indices.get(name, ())))
    maps = {key: tuple(m for m in given if not m.is_known_empty) for key, given in by_access.items()}
    return Reached({key: given for key, given in maps.items() if given}, frozenset(unknown))


def _from_threads(threads: IndexingMap | None, m: IndexingMap) -> IndexingMap:
    """The composition of the map from threads to a function's index with a map of the function."""
    whole = m if threads is None else compose(threads, m).simplify()
    return whole if whole.is_known_empty else whole.remove_unused_symbols()
