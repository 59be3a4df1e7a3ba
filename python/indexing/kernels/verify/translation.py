"""Validation of a pass: the kernel before and after it accesses the same elements of memory, from the same threads.

Each access is a map from thread and block ids, and the counters of loops, to elements; of a loop over threads, the counter is
the thread's id. For each buffer, the maps of both kernels must cover each other (`cover.py`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import TypeAlias

from indexing._core import IndexingMap, Interval, SymbolicExpr, Variable, compose, constant, variable
from indexing.errors import IndexingError
from indexing.kernels.ir.accesses import Access, Accesses, Call, IndexUse, all_accesses, reached_elements
from indexing.kernels.ir.memory import Memory, vector_elements
from indexing.kernels.ir.nodes import Assign, Function, GroupReduce, Kernel, Let, Var, bodies, statements
from indexing.kernels.ir.traversal import names_in, values_of
from indexing.kernels.passes import Pass
from indexing.kernels.passes.flatten import position
from indexing.kernels.verify.check import Check
from indexing.kernels.verify.cover import covers, normalized
from indexing.kernels.verify.enumeration import difference
from indexing.ops.operand_indexing import map_over
from indexing.walks import reached

X, Y, AXES, IDS = 0, 1, 3, 6
Key: TypeAlias = (
    "tuple[str, str, str, str]"  # the body, the kind of access, the buffer or called function, what it defines
)
Maps: TypeAlias = "dict[Key, Mapping[IndexingMap, int]]"  # with the times of each


def compare_accesses(before: Kernel, after: Kernel, of: Pass) -> Iterator[Check]:
    """One check for each buffer that both kernels access, and kind of access; `of` is the pass between them.

    Where it may drop loads, loads and calls for a name that nothing uses may be gone. Where it may share them, any thread of a
    block may load an element for the others, also in front of a loop that is not run. Where it may widen them, the other
    elements of a vector may be loaded as well.
    Indices as values are compared unless it rewrites values.
    """
    if before is after:
        return
    is_inlined = len(before.functions) != len(after.functions) and not of.may_drop_loads
    try:
        old, new = (
            _through_functions(k) if is_inlined else _by_body(k, after, of.may_share_loads) for k in (before, after)
        )
        if not of.may_drop_loads:
            old, new = _together(old, new)
    except IndexingError as error:
        yield Check("same accesses", of.name, "open", str(error).splitlines()[0])
        return
    kept = {b.name for b in before.buffers if b.space != "local"} & {b.name for b in after.buffers}
    indexed = {f.name for f in before.functions if f.index}
    for key in sorted({*old, *new}):
        body, kind, buffer, definition = key
        is_dropped = definition != "" and key not in new
        is_index = kind == "index" and not (of.rewrites_values or is_inlined)
        if not is_dropped and (is_index or (kind == "call" and buffer in indexed) or buffer in kept):
            where = " ".join(filter(None, (kind, buffer, f"for {definition}" * bool(definition))))
            where = where if body in ("", before.name) else f"{body}: {where}"
            maps = (*old.get(key, {}),), (*new.get(key, {}),)
            seen = ((*maps[0], *maps[1]), maps[1]) if kind == "index" else maps  # may be computed by more threads
            check = _checked(*seen, f"{of.name}: {where}")
            if kind == "load" and of.may_share_loads and check.status != "proved":
                check = _checked((*maps[0], *maps[1]), maps[1], check.subject)
            if kind == "load" and of.may_widen_loads and check.status != "proved":
                check = _checked_vectors(*maps, check.subject, vector_elements(before.buffer(buffer)))
            if kind == "store" and check.status == "proved":
                check = _as_often(old.get(key, {}), new.get(key, {}), check)
            is_open = check.status == "refuted" and buffer in _conditional_on_data(before, after)
            yield replace(check, status="open", reason=f"{check.reason}, which data may decide") if is_open else check


def _conditional_on_data(*kernels: Kernel) -> set[str]:
    """The buffers and functions that are accessed under conditions that are not of indices alone."""
    bodies = [body for k in kernels for _, body in all_accesses(k)]
    accesses = {a.buffer for body in bodies for a in body.accesses if not a.context.is_certain}
    return accesses | {c.function for body in bodies for c in body.calls if not c.context.is_certain}


def _checked(old: tuple[IndexingMap, ...], new: tuple[IndexingMap, ...], subject: str) -> Check:
    if covers(old, new) and covers(new, old):
        return Check("same accesses", subject, "proved")
    try:
        fault, is_whole = difference(old, new)
    except IndexingError as error:
        return Check("same accesses", subject, "open", str(error).splitlines()[0])
    if fault:
        return Check("same accesses", subject, "refuted", fault)
    return Check("same accesses", subject, "proved" if is_whole else "open", "compared in the first and last blocks")


def _checked_vectors(old: tuple[IndexingMap, ...], new: tuple[IndexingMap, ...], subject: str, elements: int) -> Check:
    """The check of loads that may have become those of whole vectors of so many elements: each of these has an element that
    was loaded, and all of those still are.
    """
    kept = _checked((*old, *new), new, subject)
    before, after = (tuple(_of_vectors(m, elements) for m in maps) for maps in (old, new))
    return kept if kept.status != "proved" else _checked(before, after, subject)


def _of_vectors(m: IndexingMap, elements: int) -> IndexingMap:
    """The map to the vectors that have the elements."""
    vectors = map_over([e // elements for e in m.results], m.dims, m.ranges, m.runtimes, m.constraints)
    return normalized(vectors.simplify())


def _as_often(old: Mapping[IndexingMap, int], new: Mapping[IndexingMap, int], check: Check) -> Check:
    """The check of stores to the same elements, refuted if some are written more often.

    A store is counted once, or, where that differs, in all iterations of the loops on whose counters nothing depends: a
    condition that a pass proves may have been the last to depend on one.
    """
    if {*old} == {*new}:
        return check
    try:
        counts = [sum(m.count() for m in maps) for maps in (old, new)]
        if counts[0] == counts[1] or len({sum(m.count() * n for m, n in x.items()) for x in (old, new)}) == 1:
            return check
    except IndexingError as error:
        return replace(check, status="open", reason=str(error).splitlines()[0])
    return replace(check, status="refuted", reason=f"{counts[0]} stores are {counts[1]} after it")


def _through_functions(kernel: Kernel) -> Maps:
    """The maps from threads to elements through all functions."""
    reached = reached_elements(kernel)
    if reached.unknown:
        raise IndexingError(f"there are too many maps to {', '.join(sorted(reached.unknown))} through functions")
    return {
        ("", kind, buffer, ""): dict.fromkeys(map(normalized, maps), 1) for (buffer, kind), maps in reached.maps.items()
    }


def _together(old: Maps, new: Maps) -> tuple[Maps, Maps]:
    """The maps, those of loads or calls for different names together unless both kernels have the same names for them."""
    names = [defaultdict[Key, set[str]](set) for _ in (old, new)]
    for own, maps in zip(names, (old, new), strict=True):
        for body, kind, buffer, definition in maps:
            own[body, kind, buffer, ""].add(definition)

    def joined(maps: Maps) -> Maps:
        by_key: dict[Key, Counter[IndexingMap]] = defaultdict(Counter)
        for key, counts in maps.items():
            every = (*key[:3], "")
            by_key[key if names[0][every] == names[1][every] else every].update(counts)
        return {**by_key}

    return joined(old), joined(new)


def _by_body(kernel: Kernel, like: Kernel, by_block: bool) -> Maps:
    """The maps of each function and of the entry, whose threads are numbered as those of the kernel `like`.

    Loads and calls for different names are apart: those for one name may only go as a whole, since a name that is used must
    be defined. With `by_block`, loads are those of whole blocks.
    """
    by_key: dict[Key, Counter[IndexingMap]] = defaultdict(Counter)
    for name, a, m, times in _maps(kernel, by_block):
        m = renumbered(m, kernel, like) if name == kernel.name else m
        if not m.is_known_empty:
            by_key[_key(name, a)][m] += times
    return {**by_key}


def entry_maps(kernel: Kernel, like: Kernel, memory: str) -> list[IndexingMap]:
    """The maps of the entry's accesses of a memory in program order, from the threads of the kernel `like`."""
    every, names = _maps(kernel, False), Memory(kernel)
    own = (
        m for name, a, m, _ in every if name == kernel.name and isinstance(a, Access) and names.of(a.buffer) == memory
    )
    return [renumbered(m, kernel, like) for m in own]


@lru_cache(maxsize=2)  # those of the kernel after a pass are those before the next one
def _maps(kernel: Kernel, by_block: bool) -> list[tuple[str, Access | Call | IndexUse, IndexingMap, int]]:
    """The body, the access, its map from threads, and the iterations of loops on whose counters that does not depend, for
    all accesses and calls that some thread makes for something. With `by_block`, the entry's loads are those of the first
    thread.
    """
    made = []
    unused = {f.name: _unused(f) for f in bodies(kernel)}
    for name, body in all_accesses(kernel):
        accesses: list[Access | Call | IndexUse] = [*body.once, *body.indices, *body.calls]
        for a in (a for a in accesses if a.definition not in unused[name]):
            is_shared = by_block and name == kernel.name and isinstance(a, Access) and a.kind == "load"
            m = _map(body, a, (element_of(kernel, a),) if isinstance(a, Access) else a.index, is_shared)
            if not m.is_known_empty and not (reduced := normalized(m)).is_known_empty:
                made.append((name, a, reduced, _repeats(m)))
    return made


def _unused(f: Function | Kernel) -> set[str]:
    """The names, of values and variables, that reach no store, condition, index or result: loads for them are not needed."""
    defined: dict[str, set[str]] = defaultdict(set)
    used = {*names_in(f.results)}
    for s in statements(f.body):
        if isinstance(s, Let | Var | Assign):
            defined[s.name].update(names_in(values_of(s)))
        else:
            used.update(names_in(values_of(s)), s.names if isinstance(s, GroupReduce) else ())
    return defined.keys() - {*reached(used, lambda name: defined.get(name, ()))}


def _key(name: str, a: Access | Call | IndexUse) -> Key:
    if isinstance(a, Call):
        return name, "call", a.function, a.definition
    if isinstance(a, IndexUse):
        return name, "index", "", a.definition
    return name, a.kind, a.buffer, a.definition * (a.kind == "load" and a.width == 1)


def _map(body: Accesses, a: Access | Call | IndexUse, index: tuple[SymbolicExpr, ...], is_shared: bool) -> IndexingMap:
    width = a.width if isinstance(a, Access) else 1
    m = body.map(a.context, index, width, is_for_all_threads=not is_shared)
    return (_of_block(m) if is_shared else m).simplify()


def _of_block(m: IndexingMap) -> IndexingMap:
    """The map from the first thread of each block to the elements of all threads: their ids are range variables."""
    count = m.num_dims
    places = [
        variable(count + k) if k < AXES else variable(k if k < count else k + AXES) for k in range(len(m.variables))
    ]
    dims = [Variable(v.name, Interval(0, 0) if k < AXES else v.interval) for k, v in enumerate(m.dims)]
    ranges = [*(Variable(None, v.interval) for v in m.dims[:AXES]), *m.ranges]
    return map_over(m.results, dims, ranges, m.runtimes, m.constraints, places)


def _repeats(m: IndexingMap) -> int:
    """The number of values of the range variables that a map does not use."""
    used = {v for e in (*m.results, *(e for e, _ in m.constraints)) for v in e.used_variables()}
    return prod(len(v.interval) for k, v in enumerate(m.ranges, m.num_dims) if k not in used)


def element_of(kernel: Kernel, a: Access) -> SymbolicExpr:
    """The position of an access in memory, in elements."""
    buffer = kernel.buffer(a.buffer)
    is_flat = len(a.index) == 1 and len(buffer.dimensions) != 1
    return a.index[0] if is_flat else position(buffer, a.index)


def renumbered(m: IndexingMap, kernel: Kernel, like: Kernel) -> IndexingMap:
    """The map from the threads of `like`, whose blocks may have rows of threads instead of one dimension."""
    sizes = [v.interval for v in like.variables[:IDS]]
    if sizes == [v.interval for v in kernel.variables[:IDS]]:
        return m
    dims = [variable(k) for k in range(IDS)]
    dims[X], dims[Y] = variable(X) + variable(Y) * len(sizes[X]), constant(0)
    renumbered = compose(map_over(dims, sizes), m).simplify()
    return renumbered if renumbered.is_known_empty else normalized(renumbered)
