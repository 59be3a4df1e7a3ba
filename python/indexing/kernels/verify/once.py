"""The check of single writes: each element of an output, and of scratch memory that is stored to, is written exactly once,
or, in an input's buffer, at most once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from indexing._core import IndexingMap, variable
from indexing.errors import IndexingError
from indexing.kernels.ir.accesses import Access, Accesses, entry_accesses
from indexing.kernels.ir.nodes import Buffer, Kernel
from indexing.kernels.verify.check import Check, Status
from indexing.kernels.verify.data import Dependence
from indexing.ops.operand_indexing import without_dims

UNIQUE = "unique_indices"
MAX_STORES = 48  # an output has at most so many, since pairs of them are compared


def check_written_once(kernel: Kernel) -> Iterator[Check]:
    """One check for each output, and for each scratch array that is stored to."""
    body = entry_accesses(kernel)
    once = _Once(body, Dependence(kernel, body))
    for buffer in kernel.buffers:
        writes = [a for a in body.accesses if a.buffer == buffer.name and a.kind != "load"]
        if buffer.role == "output" or (buffer.role == "scratch" and any(a.kind == "store" for a in writes)):
            yield once.checked(buffer, writes)


class _Once:
    def __init__(self, body: Accesses, dependence: Dependence) -> None:
        self.body, self.dependence = body, dependence

    def checked(self, buffer: Buffer, writes: Sequence[Access]) -> Check:
        """The check of one output."""
        if not writes:
            is_whole = buffer.size == 0 or buffer.alias_of is not None
            return _check(buffer, "proved" if is_whole else "refuted", "no store")
        stores = [a for a in writes if a.kind == "store"]
        if len(stores) > MAX_STORES:
            return _check(buffer, "open", f"{len(stores)} stores are too many to compare")
        try:
            return self._proof(buffer, stores)
        except IndexingError as error:
            return _check(buffer, "open", str(error).splitlines()[0])

    def _proof(self, buffer: Buffer, stores: Sequence[Access]) -> Check:
        used = {v for a in stores for v in self.dependence.used(a.context, a.index)}
        if used and buffer.alias_of is None:
            return _check(buffer, "open", "the elements written depend on data")
        data = tuple(sorted(used))
        maps = [self._map(a, data) for a in stores]
        maps = [m for m in maps if not m.is_known_empty]
        is_certain = all(a.context.is_certain for a in stores)
        if not are_apart(maps):
            if is_certain and not used:
                return _check(buffer, "refuted", "some element is written twice")
            return _check(buffer, "open", "the elements written may depend on data")
        if buffer.alias_of is None:
            if not is_certain:
                return _check(buffer, "open", "a store is conditional on data")
            if sum(m.count() for m in maps) != buffer.size:
                return _check(buffer, "refuted", "some element is not written")
        promises = sorted(self.dependence.promises(data) - {""}) if used else []
        return _check(buffer, "proved", f"by the promise of {', '.join(promises)}" if promises else "")

    def _map(self, access: Access, data: tuple[int, ...]) -> IndexingMap:
        """The map from threads and data to the elements written, the data, and the places that the data are read from.

        If it is injective, no two threads write one element: neither for data that are the same for all threads, nor for
        other data that keep the caller's promise.
        """
        context = access.context
        if not set(data) <= set(context.data):
            raise IndexingError("stores of one output depend on different data")
        places = self.dependence.places(data)
        if places and self.dependence.promises(data) != {UNIQUE}:
            raise IndexingError("the elements written depend on data")
        context = replace(context, loops=(*context.loops, *data), data=())
        results = [*access.index, *map(variable, data), *places]
        if access.width > 1:  # `Accesses.map` expects the first of the neighbours as the last result
            results = [*results[len(access.index) :], *access.index]
        return self.body.map(context, results, access.width).simplify()


def _check(buffer: Buffer, status: Status, reason: str = "") -> Check:
    return Check("written once", f"{buffer.role} {buffer.name}", status, reason)


def are_apart(maps: Sequence[IndexingMap]) -> bool:
    """Whether different points of the maps have different results."""
    return all(m.is_injective() for m in maps) and all(
        without_dims(a).is_disjoint(without_dims(b)) for a, b in combinations(maps, 2)
    )
