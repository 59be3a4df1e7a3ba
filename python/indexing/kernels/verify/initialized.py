"""The check that what is loaded from local arrays was stored before, once threads are loops.

Values that a thread keeps from one barrier to the next are then elements of such arrays, stored by one loop over threads and
loaded by later ones: a loop that is too short leaves some of them as they were.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from indexing._core import IndexingMap
from indexing.errors import IndexingError, Undecided
from indexing.kernels.ir.accesses import Access, Accesses, Time, entry_accesses
from indexing.kernels.ir.nodes import Buffer, Kernel
from indexing.kernels.verify.check import Check
from indexing.kernels.verify.cover import covers, normalized
from indexing.kernels.verify.enumeration import ends_of_grid, first_missing, rows
from indexing.kernels.verify.order import has_thread_loops
from indexing.kernels.verify.races import BLOCK_IDS
from indexing.kernels.verify.translation import element_of
from indexing.lazy import np

AXES = 3


def check_initialized(kernel: Kernel) -> Iterator[Check]:
    """One check for each local array that is loaded from; none if threads are parallel."""
    if not has_thread_loops(kernel):
        return
    body = entry_accesses(kernel)
    for buffer in kernel.buffers:
        accesses = [a for a in body.accesses if a.buffer == buffer.name]
        if buffer.space == "local" and any(a.kind == "load" for a in accesses):
            yield _checked(kernel, body, buffer, accesses)


def _checked(kernel: Kernel, body: Accesses, buffer: Buffer, accesses: Sequence[Access]) -> Check:
    subject = f"array {buffer.name}"
    try:
        for load in (a for a in accesses if a.kind == "load"):
            stores = [a for a in accesses if a.kind == "store" and _comes_first(a.time, load.time)]
            before = [m for a in stores if not (m := _map(kernel, body, a)).is_known_empty]
            own = _map(kernel, body, load)
            if not (
                any(_fills(m, buffer.size) for m in before) or covers((*map(normalized, before),), (normalized(own),))
            ):
                missing = first_missing(_elements(kernel, [own]), _elements(kernel, before))
                if missing is not None:
                    reason = f"element {missing[-1]} is loaded, and no earlier statement stores it"
                    return Check("initialized", subject, "refuted" if load.context.is_certain else "open", reason)
    except IndexingError as error:
        return Check("initialized", subject, "open", str(error).splitlines()[0])
    return Check("initialized", subject, "proved")


def _fills(m: IndexingMap, size: int) -> bool:
    """Whether the stores of each block have all elements."""
    used = {v for e in (*m.results, *(e for e, _ in m.constraints)) for v in e.used_variables()}
    try:
        return not m.runtimes and BLOCK_IDS.isdisjoint(used) and m.image_count() == size
    except Undecided:
        return False


def _elements(kernel: Kernel, maps: Sequence[IndexingMap]) -> np.ndarray:
    """Rows of block ids and an element, of the first and last blocks."""
    if any(m.runtimes for m in maps):
        raise IndexingError("the elements depend on data")
    reached = [rows(m, ends_of_grid(kernel))[:, AXES:] for m in maps if not m.is_known_empty]
    return np.unique(np.concatenate(reached), axis=0) if reached else np.zeros((0, AXES + 1), np.int64)


def _map(kernel: Kernel, body: Accesses, a: Access) -> IndexingMap:
    return (
        body.map(a.context, (element_of(kernel, a),), a.width, is_for_all_threads=True)
        .simplify()
        .remove_unused_symbols()
    )


def _comes_first(store: Time, load: Time) -> bool:
    """Whether a store comes before a load in the same iterations of the loops around both."""
    for a, b in zip(store, load, strict=False):
        if a != b:
            return isinstance(a, int) and isinstance(b, int) and a < b
    return False
