"""Validation of a pass: what a thread loads from memory that the kernel also writes was stored by the same store.

Among parallel threads, what each phase between two barriers accesses is compared (`phases.py`). Where that settles nothing, the
accesses of the first and last blocks are enumerated with their times: the numbers of the statements and the counters of the
loops around them. Among parallel threads, barriers order accesses; once threads are loops, all accesses are ordered. For
each element, the threads that store it must come in the same order before and after the pass, and each load after as many
stores. That no two threads access an element between two barriers, one of them to write it, is proved elsewhere (`races.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from indexing._core import SymbolicExpr, constant
from indexing.errors import IndexingError
from indexing.kernels.ir.accesses import Access, Accesses, Time, entry_accesses
from indexing.kernels.ir.memory import Memory
from indexing.kernels.ir.nodes import (
    AtomicUpdate,
    Barrier,
    Block,
    CallFunction,
    For,
    GroupReduce,
    Kernel,
    Statement,
    blocks_of,
    statements,
)
from indexing.kernels.verify.check import Check
from indexing.kernels.verify.cover import covers
from indexing.kernels.verify.enumeration import ends_of_grid, first_missing, numbered, rows
from indexing.kernels.verify.phases import keeps_phases
from indexing.kernels.verify.translation import element_of, entry_maps
from indexing.lazy import np

AXES, IDS = 3, 6
PLACE = 6  # columns of an event behind its time: three block ids, the element, whether it is written, and the thread
EVENTS = ("load", "store", "barrier")


def compare_order(before: Kernel, after: Kernel, name: str) -> Iterator[Check]:
    """One check for each memory that `before` reads and writes; `name` is the pass between them."""
    if before is after:
        return
    kept = {b.name for b in after.buffers}
    if memories := [m for m in read_and_written(before) if m in kept]:
        texts = [_texts_of(k, tuple(memories)) for k in (before, after)]
        for memory in memories:
            yield _checked(before, after, memory, [t[memory] for t in texts], f"{name}: {memory}")


def read_and_written(kernel: Kernel) -> list[str]:
    """The memory of blocks and arguments that the entry reads and writes."""
    memory, local = Memory(kernel), {b.name for b in kernel.buffers if b.space == "local"}
    inner = statements(kernel.body)
    read = {m for s in inner for m in memory.read(s)}
    return sorted({m for s in inner for m in memory.written(s)} & read - local)


def _checked(before: Kernel, after: Kernel, memory: str, texts: Sequence[list[str]], subject: str) -> Check:
    if not has_thread_loops(after):
        is_plain = not _without_order(before, memory)
        is_alike = texts[0] == texts[1] and _are_alike(before, after, memory)
        if is_alike or (is_plain and keeps_phases(before, after, memory)):
            return Check("same order", subject, "proved")
    try:
        fault = difference_of_order(before, after, memory)
    except IndexingError as error:
        if not any("barrier" in text for text in texts) and _events_of(texts[0]) == _events_of(texts[1]):
            return Check("same order", subject, "proved", "no barrier orders threads, and each keeps its order")
        if _phases(before, memory) in ((own := _phases(after, memory)), _merged_phases(own)):
            return Check("same order", subject, "proved", "barriers separate the same loads and stores")
        return Check("same order", subject, "open", str(error).splitlines()[0])
    return Check("same order", subject, "refuted" if fault else "proved", fault)


def _are_alike(before: Kernel, after: Kernel, memory: str) -> bool:
    """Whether it is known that the accesses of a memory, one by one in program order, are of the same elements."""
    old, new = (entry_maps(k, after, memory) for k in (before, after))
    return len(old) == len(new) and all(
        covers((a,), (b,)) and covers((b,), (a,)) for a, b in zip(old, new, strict=True)
    )


def difference_of_order(before: Kernel, after: Kernel, memory: str) -> str:
    """Say what the first and last blocks load or store in another order after a pass, by enumeration; "" for nothing.

    Raises IndexingError where there are too many accesses, or data decide.
    """
    (loads, stores), (new_loads, new_stores) = (_counted(_events(k, memory)) for k in (before, after))
    for own, others, what in ((new_stores, stores, "store"), (stores, new_stores, "store"), (new_loads, loads, "load")):
        if first_missing(own, others) is not None:
            return f"a {what} comes in another order"
    return ""


@lru_cache(maxsize=2)  # those of the kernel after a pass are those before the next one
def _texts_of(kernel: Kernel, memories: tuple[str, ...]) -> dict[str, list[str]]:
    return _texts(kernel.body, Memory(kernel), memories)


def _texts(block: Block, names: Memory, memories: Sequence[str]) -> dict[str, list[str]]:
    """The loads, stores and barriers that concern each memory, in program order, with the loops and branches around."""
    texts: dict[str, list[str]] = {m: [] for m in memories}
    for s in block:
        for kind, touched in (("load", names.read(s)), ("store", names.written(s))):
            for m in texts.keys() & set(touched):
                texts[m].append(kind)
        for text in texts.values():
            text += ["barrier"] * isinstance(s, Barrier | GroupReduce)
        for inner in blocks_of(s):
            for m, text in _texts(inner, names, memories).items():
                if text:
                    texts[m] += [type(s).__name__, *text, "end"]
    return texts


def _events_of(text: list[str]) -> list[str]:
    return [t for t in text if t in EVENTS]


def _phases(kernel: Kernel, memory: str) -> list[tuple[str, ...]]:
    """The loads and stores of a memory by a thread from one barrier to the next, and the loops and branches that have barriers,
    in program order. The end of a loop over threads is a barrier, too. In a phase with loads alone, or stores alone, no order
    matters, since no two threads store to one element.
    """
    phases = [
        tuple(dict.fromkeys(_events_of(phase))) if len({*_events_of(phase)}) == 1 else tuple(phase)
        for phase in _divided(kernel.body, Memory(kernel), memory, has_thread_loops(kernel))
    ]
    return [phase for phase in phases if phase]


def _merged_phases(phases: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Phases as they were before loops over threads were cut: neighbouring ones of loads alone as one, and without the loops
    around none, or around one of loads alone or stores alone.
    """
    merged: list[tuple[str, ...]] = []
    for phase in phases:
        if phase == ("end",) and merged[-1:] == [("For",)]:
            merged.pop()
        elif phase == ("end",) and merged[-2:-1] == [("For",)] and merged[-1] in (("load",), ("store",)):
            del merged[-2]
        elif phase != ("load",) or merged[-1:] != [phase]:
            merged.append(phase)
    return merged


def _divided(block: Block, names: Memory, memory: str, is_sequential: bool) -> Iterator[list[str]]:
    """The text of a block, divided at barriers, and at the beginnings and ends of loops and branches that have some."""
    phase: list[str] = []
    for s in block:
        if not _has_ends(s, is_sequential):
            phase += _texts((s,), names, [memory])[memory]
            continue
        yield phase
        phase = []
        if isinstance(s, For) and s.variable < AXES:
            yield from _divided(s.body, names, memory, is_sequential)
            continue
        for inner in blocks_of(s):
            yield from ([type(s).__name__], *_divided(inner, names, memory, is_sequential), ["end"])
    yield phase


def _has_ends(statement: Statement, is_sequential: bool) -> bool:
    """Whether a statement has a barrier, or a loop over threads."""
    return any(
        isinstance(s, Barrier | GroupReduce) or (is_sequential and isinstance(s, For) and s.variable < AXES)
        for s in statements((statement,))
    )


def has_thread_loops(kernel: Kernel) -> bool:
    """Whether threads are the iterations of loops."""
    return any(v.kind == "loop" for v in kernel.variables[:AXES])


def _events(kernel: Kernel, memory: str) -> np.ndarray:
    """The accesses of a memory: rows of the time, block ids, element, whether it is written, and thread."""
    names = Memory(kernel)
    if reason := _without_order(kernel, memory):
        raise IndexingError(reason)
    body = entry_accesses(kernel)
    accesses = {(a.time, a.index): a for a in body.accesses if names.of(a.buffer) == memory}.values()
    depth = max((len(a.time) for a in accesses), default=0)
    events = [e for a in accesses if (e := _rows(kernel, body, a, depth)).size]
    if not events:
        raise IndexingError(f"nothing accesses {memory}")
    return np.concatenate(events)


def _without_order(kernel: Kernel, memory: str) -> str:
    """Say why the accesses of a memory have no order that is known, or ""."""
    names = Memory(kernel)
    for s in statements(kernel.body):
        if isinstance(s, CallFunction) and memory in names.read_by(s.function):
            return f"{s.function} reads {memory}"
        if isinstance(s, AtomicUpdate) and memory in names.written(s):
            return f"atomic updates of {memory} have no order"
    return ""


def _rows(kernel: Kernel, body: Accesses, a: Access, depth: int) -> np.ndarray:
    m = body.map(a.context, [*_padded(a.time, depth), element_of(kernel, a)], a.width, is_for_all_threads=True)
    m = m.simplify()
    if not m.is_known_empty and m.remove_unused_symbols().runtimes:
        raise IndexingError(f"the elements of {a.buffer} depend on data")
    points = np.zeros((0, IDS + depth + 1), np.int64) if m.is_known_empty else rows(m, ends_of_grid(kernel))
    x, y = (len(v.interval) for v in kernel.variables[:2])
    threads = points[:, 0] + x * (points[:, 1] + y * points[:, 2])
    is_store = np.full(len(points), int(a.kind != "load"))
    return np.stack([*points[:, IDS:-1].T, *points[:, AXES:IDS].T, points[:, -1], is_store, threads]).T


def _padded(time: Time, depth: int) -> list[SymbolicExpr]:
    whole = (*time, *[-1] * (depth - len(time)))
    return [constant(t) if isinstance(t, int) else t for t in whole]


def _counted(events: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The loads and the stores: rows of block ids, element, the number of earlier stores to it, and thread."""
    (time,), (place,) = numbered(events[:, :-PLACE]), numbered(events[:, -PLACE:-2])
    order = np.lexsort([time, place])
    place, is_store = place[order], events[order, -2]
    starts = np.flatnonzero(np.concatenate([[True], place[1:] != place[:-1]]))
    earlier = np.cumsum(is_store) - is_store
    lengths = np.diff([*starts, len(place)])
    earlier -= np.repeat(earlier[starts], lengths)
    rows = np.stack([*(events[order, k] for k in range(-PLACE, -2)), earlier, events[order, -1]])
    return rows[:, is_store == 0].T, rows[:, is_store == 1].T
