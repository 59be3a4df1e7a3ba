"""The loads and stores that the threads of a kernel execute: a map for each that a compiler leaves.

A load is merged with an earlier one of the same element if the thread has always executed that before, and is moved in front
of a loop whose counter its index does not use, unless a condition or another loop is between: every compiler does so. Loads
that it may merge beyond that, or may leave out where conditions need no value, are counted, and said to be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log2, prod
from typing import TypeAlias

from indexing._core import IndexingMap, SymbolicExpr, compose, constant, variable
from indexing.hlo.layout import element_strides
from indexing.kernels.ir.accesses import (
    BLOCK_X,
    MAX_MAPS,
    VECTOR,
    Access,
    Accesses,
    Kind,
    all_accesses,
)
from indexing.kernels.ir.memory import Memory
from indexing.kernels.ir.needed_values import NeededValues, path_of
from indexing.kernels.ir.nodes import Buffer, Kernel, Ref, bodies, statements
from indexing.kernels.ir.traversal import expressions_of, subvalues
from indexing.ops.operand_indexing import map_over

MAX_LANES = 16
WARP, WARPS = 32, 8
#: The conditions and the loops around a statement, each with the branch that is taken.
_Frames: TypeAlias = "tuple[tuple[tuple[int | SymbolicExpr, ...], int | SymbolicExpr], ...]"
#: Maps from threads to the index of a function, and whether no data decides; None for the entry.
_Callers: TypeAlias = "Sequence[tuple[IndexingMap | None, bool]]"


@dataclass(frozen=True, slots=True)
class Execution:
    """The loads or stores of one statement: a map from thread ids, block ids and range variables to an index, each of whose
    points is executed `times` times, `with_other_data` of them with data of their own in the index.

    If a compiler `may_merge` some, or leave them out, `merged` is the map when it does so with all; None if nothing is left
    then. `is_certain` if no data decides which threads reach the statement. `by_lane` if a thread's vector is loaded by single
    elements, for a condition around may hold for some of them. So many neighbouring `lanes` have the same values of data in the
    index; 0: all.
    """

    map: IndexingMap
    times: int = 1
    with_other_data: int = 1
    may_merge: bool = False
    merged: IndexingMap | None = None
    is_certain: bool = True
    by_lane: bool = False
    lanes: int = 0


@dataclass(frozen=True, slots=True)
class Executions:
    """The executions of the accesses to arguments, by buffer and kind; `unknown` are the buffers with too many."""

    of: Mapping[tuple[str, Kind], tuple[Execution, ...]]
    unknown: frozenset[str]


def global_executions(
    kernel: Kernel,
    vectors: Collection[str] = (),
    loads_before_update: Callable[[str, str, int], bool] = lambda opcode, kind, count: False,
) -> Executions:
    """The executions of all accesses to arguments, through all functions; `vectors` are the buffers that are loaded or stored
    by vectors, which a compiler does not merge with loads of single elements. An atomic update of an output also loads where a
    target's does, by its operation, the element type and the number of neighbours.
    """
    by_buffer: dict[tuple[str, Kind], list[Execution]] = {}
    unknown: set[str] = set()
    arguments = {b.name: b for b in kernel.buffers if b.role != "none"}
    memory = Memory(kernel)
    written = _written(kernel, memory)
    needed = NeededValues(kernel.body, _registers(kernel))
    for name, body, accesses, callers in _through_functions(kernel, arguments, unknown):
        for a, inside, is_equal in _unmerged(body, accesses, memory, written, vectors):
            is_load, buffer = a.kind == "load", arguments[a.buffer]
            may_go = is_load and name == kernel.name and needed.only_under_condition(a.definition, path_of(a))
            of_body = _execution(body, a, inside, is_equal or may_go)
            is_other = _is_no_vector if is_load else _may_be_vectors
            if a.buffer in vectors and is_other(body, a, buffer):  # instructions may move vectors of it
                of_body = replace(of_body, may_merge=True)
            executed = list(_by_threads(of_body, callers))
            by_buffer.setdefault((a.buffer, a.kind), []).extend(executed)
            if a.kind == "atomic" and buffer.role == "output":
                if loads_before_update(a.opcode, buffer.element_type, a.width):
                    by_buffer.setdefault((a.buffer, "load"), []).extend(executed)
    return Executions({key: tuple(given) for key, given in by_buffer.items() if given}, frozenset(unknown))


def _registers(kernel: Kernel) -> set[str]:
    return {b.name for b in kernel.buffers if b.space == "local"}


def cell_executions(kernel: Kernel, buffers: Collection[str]) -> Iterator[tuple[Access, Execution]]:
    """The executions of the accesses to buffers of one dimension, as maps to cells: elements, or vectors of them; without
    those of functions with too many callers. Of an atomic update of a vector in shared memory, the cell is its first element.
    """
    shared = _shared(kernel)
    memory = Memory(kernel)
    written = _written(kernel, memory)
    needed = NeededValues(kernel.body, _registers(kernel))
    for name, body, accesses, callers in _through_functions(kernel, buffers, set()):
        for a, inside, is_equal in _unmerged(body, accesses, memory, written):
            width = 1 if a.kind == "atomic" and a.buffer in shared else a.width
            cells = replace(a, index=(*a.index[:-1], a.index[-1] // width), width=1)
            is_load_of_entry = a.kind == "load" and name == kernel.name
            may_go = is_load_of_entry and needed.only_under_condition(a.definition, path_of(a))
            for e in _by_threads(_execution(body, cells, inside, is_equal or may_go), callers):
                yield a, e


def shared_executions(
    kernel: Kernel, compares_and_swaps: Callable[[str, str], bool]
) -> Iterator[tuple[Access, Execution]]:
    """The executions of the loads and stores of shared memory, as maps to cells: elements, or vectors of them. An atomic update
    is a load of each of its elements where a target compares and swaps it, by its operation and the element type.
    """
    shared = _shared(kernel)
    for a, e in cell_executions(kernel, shared):
        if a.kind != "atomic":
            yield a, e
        elif compares_and_swaps(a.opcode, shared[a.buffer]):
            yield replace(a, kind="load", width=1), replace(e, times=e.times * a.width)


def _shared(kernel: Kernel) -> dict[str, str]:
    return {b.name: b.element_type for b in kernel.buffers if b.space == "shared"}


def _written(kernel: Kernel, memory: Memory) -> set[str]:
    return {place for body in bodies(kernel) for s in statements(body.body) for place in memory.written(s)}


def _through_functions(
    kernel: Kernel, buffers: Collection[str], unknown: set[str]
) -> Iterator[tuple[str, Accesses, list[Access], _Callers]]:
    """Each body with its name, its accesses to the buffers, and its callers; of a function with too many, without callers, and
    its buffers become `unknown`.
    """
    threads: dict[str, dict[IndexingMap, bool]] = {}  # to a function's index, and whether no data decides
    for name, body in reversed(all_accesses(kernel)):
        callers: _Callers = [*threads.get(name, {}).items()]
        callers = [(None, True)] if name == kernel.name else callers
        accesses = [a for a in body.once if a.buffer in buffers]
        if len(callers) > MAX_MAPS:
            unknown.update(a.buffer for a in accesses)
            callers = []
        yield name, body, accesses, callers
        for call in body.calls:
            here = body.map(call.context, call.index).simplify()
            for m, is_certain in callers:
                whole = here if m is None else compose(m, here).simplify()
                threads.setdefault(call.function, {})[whole] = is_certain and call.context.is_certain


def _by_threads(of_body: Execution, callers: _Callers) -> Iterator[Execution]:
    """The executions by the threads that reach a body, if there are any."""
    for m, is_certain in callers:
        e = of_body if m is None else _called(m, is_certain, of_body)
        if not e.map.is_known_empty:
            yield e


def _unmerged(
    body: Accesses,
    accesses: Iterable[Access],
    memory: Memory,
    written: Collection[str],
    vectors: Collection[str] = (),
) -> Iterator[tuple[Access, frozenset[int], bool]]:
    """The accesses of a body without the loads that are merged with an earlier one; the loops that each can't leave; and
    whether there is an equal one.

    Loads of buffers that are written stay apart if a store or a barrier is between. Equal accesses in different branches, in
    iterations of short loops, too, a compiler may join.
    """
    known: dict[tuple[object, ...], list[_Frames]] = {}
    loaded: set[tuple[object, ...]] = set()
    stores: Counter[str] = Counter()
    for a in accesses:
        place = memory.of(a.buffer)
        changing = _changing(body, a, memory) if place in written else frozenset()
        since = (a.phases, stores[place] if a.kind == "load" else 0, changing) if place in written else ()
        earlier = known.setdefault((a.kind, a.buffer, a.index, since), [])
        inside = changing.union(_repeating(body, a)) if a.kind == "load" else frozenset(a.context.loops)
        frames = _frames(a, inside)
        if a.kind == "load" and any(frames[: len(others)] == others for others in earlier):
            continue
        is_vector = a.buffer in vectors and any(_lanes(body, a))
        unrolled = [(a.buffer, is_vector, index, since) for index in _unrolled(body, a)] if a.kind == "load" else []
        yield a, inside, bool(earlier) or not loaded.isdisjoint(unrolled)
        earlier.append(frames)
        loaded.update(unrolled)
        stores[place] += a.kind != "load"


def _lanes(body: Accesses, a: Access) -> Iterator[int]:
    """The loops over lanes around an access."""
    return (k for k in a.context.loops if body.variables[k].name.startswith(VECTOR))


def _unrolled(body: Accesses, a: Access) -> Iterator[tuple[SymbolicExpr, ...]]:
    """The index of an access, and its index in each iteration of a short loop around it, which a compiler may unroll. Counters
    of short loops have numbers by their order, so that equal indices in other loops are equal.
    """
    used, intervals = _used(a.index), body.intervals
    short = [k for k in a.context.loops if k in used and len(intervals[k]) <= MAX_LANES]
    counters = {variable(k): variable(len(intervals) + n) for n, k in enumerate(short)}
    yield tuple(e.replace(counters) for e in a.index)
    for loop in short:
        for value in range(intervals[loop].lower, intervals[loop].upper + 1):
            yield tuple(e.replace({**counters, variable(loop): constant(value)}) for e in a.index)


def _is_no_vector(body: Accesses, a: Access, buffer: Buffer) -> bool:
    """Whether an access is none of a vector's lanes, which lead from each element to its neighbour in memory."""
    return _steps(body, a, buffer, _lanes(body, a)) != [1]


def _may_be_vectors(body: Accesses, a: Access, buffer: Buffer) -> bool:
    """Whether a loop without lanes leads from each element to its neighbour, so that a pass may have made vectors of it."""
    lanes = {*_lanes(body, a)}
    return 1 in _steps(body, a, buffer, (k for k in a.context.loops if k not in lanes))


def _steps(body: Accesses, a: Access, buffer: Buffer, loops: Iterable[int]) -> list[int | None]:
    """The elements in memory by which an access moves in an iteration of each loop; None: not always by so many."""
    strides = element_strides(buffer.dimensions, buffer.layout)
    at = sum((e * stride for e, stride in zip(a.index, strides, strict=True)), constant(0))
    return [(at.replace({variable(k): variable(k) + 1}) - at).simplify(body.intervals).constant_value for k in loops]


def _is_by_lane(body: Accesses, a: Access) -> bool:
    """Whether a condition around an access differs by lane in another way than a bound of neighbouring places."""
    intervals = body.intervals
    for lane in _lanes(body, a):
        for e, bounds in a.context.constraints:
            if lane in e.used_variables() and lane in (e - variable(lane)).simplify(intervals).used_variables():
                others = tuple(c for c in a.context.constraints if c != (e, bounds))
                m = body.map(replace(a.context, constraints=others), [e])
                if not bounds.contains(m.range(m.results[0])):
                    return True
    return False


def _frames(a: Access, inside: Collection[int]) -> _Frames:
    """The conditions and the loops around an access that it can't leave."""
    counters = {variable(k) for k in {*inside, *_used(a.index)} & {*a.context.loops}}
    around = [(a.time[:k], a.time[k]) for k in range(1, len(a.time) - 1, 2)]
    return tuple((place, what) for place, what in around if isinstance(what, int) or what in counters)


def _used(index: Iterable[SymbolicExpr]) -> set[int]:
    return {v for e in index for v in e.used_variables()}


def _repeating(body: Accesses, a: Access) -> Iterator[int]:
    """The loops whose counters an index does not use, but which a load of it can't leave, such as those in which its data are
    loaded; of others, those over lanes are unrolled.
    """
    used, of_data = _used(a.index), _data(body, a).counters
    is_inside = False
    for loop in reversed(a.context.loops):
        if loop in of_data - used:
            is_inside = True
            yield loop
        elif loop in used:
            is_inside |= not body.variables[loop].name.startswith(VECTOR)
        elif is_inside or loop in a.context.guarded:
            yield loop


def _changing(body: Accesses, a: Access, memory: Memory) -> frozenset[int]:
    """The loops around an access in which its memory may change."""
    place = memory.of(a.buffer)
    stores = [b.context for b in body.accesses if b.kind != "load" and memory.of(b.buffer) == place]
    changing = {loop for context in (*stores, *(c for _, c in body.barriers)) for loop in context.loops}
    return frozenset(changing.intersection(a.context.loops))


def _execution(body: Accesses, a: Access, inside: Collection[int], is_equal: bool) -> Execution:
    whole = body.access_map(a)
    if whole.is_known_empty:
        return Execution(whole)
    used = {v for e in (*whole.results, *(e for e, _ in whole.constraints)) for v in e.used_variables()}
    loops = [k for k in a.context.loops if k >= body.given]
    places = [k for k, loop in enumerate(loops) if loop in inside and whole.num_dims + k not in used]
    of_data = _data(body, a).counters
    with_other_data = prod(len(whole.ranges[k].interval) for k in places if loops[k] in of_data)
    times = prod(len(whole.ranges[k].interval) for k in places)
    m = whole.remove_unused_symbols()
    merged = None if is_equal else _without_unused(m)
    may_merge = is_equal or (a.kind == "load" and (times > with_other_data or merged is not m))
    lanes = _lanes_with_equal_data(body, a) if m.runtimes else 0
    by_lane = _is_by_lane(body, a)
    return Execution(m, times, with_other_data, may_merge, merged, a.context.is_certain, by_lane, lanes)


def _lanes_with_equal_data(body: Accesses, a: Access) -> int:
    """The number of neighbouring threads for which the data in an index are loaded from the same places; 0: all of a warp."""
    return min((n for n in map(partial(_lanes_of, body), _data(body, a).indices) if n), default=0)


@dataclass(frozen=True, slots=True)
class _Data:
    """The data in an index: the `indices` at which they are loaded, and those that decide these in turn; the loops in whose
    iterations they differ, for these `counters` or what the loops assign decide them.
    """

    indices: list[SymbolicExpr]
    counters: set[int]


def _data(body: Accesses, a: Access) -> _Data:
    indices, pending, known = list[SymbolicExpr](), list[int | str](_used(a.index)), set[int | str]()
    inside = {loop for k in pending if k in body.data for loop in body.data[k][1].loops}
    assigning = set[int]()
    while pending:
        name = pending.pop()
        if name in known:
            continue
        known.add(name)
        assigned = [] if isinstance(name, int) else body.assigned.get(name, [])
        definitions = [body.data.get(name)] if isinstance(name, int) else [body.names.get(name), *assigned]
        for value, context in filter(None, definitions):
            of_data = [context.at(e) for v in subvalues(value) for e in expressions_of(v)]
            indices += of_data
            pending += [*_used(of_data), *(v.name for v in subvalues(value) if isinstance(v, Ref))]
        assigning.update(loop for _, context in assigned[1:] for loop in context.loops)
    return _Data(indices, _used(indices) | (assigning & inside))


def _lanes_of(body: Accesses, index: SymbolicExpr) -> int:
    """The number of neighbouring threads with the same value of an index, as a power of two; 0: all of a warp.

    A few warps are looked at, of the first blocks. Blocks of one thread are counted as if they formed warps.
    """
    intervals = body.intervals
    values = [(i.lower + i.upper) // 2 for i in intervals]
    threads, blocks = len(intervals[0]), len(intervals[BLOCK_X]) if body.given > BLOCK_X else 1
    lanes = range(min(threads * blocks, WARP * WARPS))
    of_lanes = []
    for lane in lanes:
        values[0] = lane % threads
        if blocks > 1:
            values[BLOCK_X] = lane // threads
        of_lanes.append(index.evaluate(values))
    runs = sum(k == 0 or k % WARP == 0 or n != of_lanes[k - 1] for k, n in enumerate(of_lanes))
    length = len(lanes) / runs
    return 0 if length >= min(WARP, len(lanes)) else 1 << round(log2(length))


def _without_unused(m: IndexingMap) -> IndexingMap:
    """The map with the least value of each range that its results don't use."""
    used = _used(m.results)
    unused = [m.num_dims + k for k in range(m.num_ranges) if m.num_dims + k not in used]
    if not unused:
        return m
    intervals = [v.interval for v in m.variables]
    places = [constant(intervals[k].lower) if k in unused else variable(k) for k in range(len(intervals))]
    used_alone = map_over(m.results, m.dims, m.ranges, m.runtimes, m.constraints, places)
    return used_alone.simplify().remove_unused_symbols()


def _called(threads: IndexingMap, is_certain: bool, e: Execution) -> Execution:
    """The executions in a function that threads call."""
    m, merged = (None if inner is None else _whole(compose(threads, inner).simplify()) for inner in (e.map, e.merged))
    assert m is not None
    return replace(e, map=m, merged=merged, is_certain=is_certain and e.is_certain)


def _whole(m: IndexingMap) -> IndexingMap:
    return m if m.is_known_empty else m.remove_unused_symbols()
