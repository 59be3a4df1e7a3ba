"""Every element of an output is written exactly once; of one that lives in an input's buffer, at most once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from indexing._core import IndexingMap, Interval, SymbolicMap, Variable, variable
from indexing.emitters.ir.accesses import Access, Accesses, entry_accesses
from indexing.emitters.ir.verify.check import Check
from indexing.errors import IndexingError

if TYPE_CHECKING:
    from indexing.emitters.ir.nodes import Buffer, Kernel

MAX_DIGITS = 8
MAX_STORES = 48  # of one output; pairs of them are compared


def check_written_once(kernel: Kernel) -> Iterator[Check]:
    """One check an output."""
    body = entry_accesses(kernel)
    for buffer in kernel.buffers:
        if buffer.role == "output":
            yield _checked(body, buffer, [a for a in body.found if a.buffer == buffer.name and a.kind != "load"])


def _checked(body: Accesses, buffer: Buffer, writes: Sequence[Access]) -> Check:
    subject = f"output {buffer.name}"
    if not writes:
        return Check(
            "written once", subject, "proved" if buffer.size == 0 or buffer.alias_of else "refuted", "no store"
        )
    stores = [a for a in writes if a.kind == "store"]
    if len(stores) > MAX_STORES:
        return Check("written once", subject, "open", f"{len(stores)} stores are too many to compare")
    try:
        return _proof(body, buffer, stores, subject)
    except IndexingError as error:
        return Check("written once", subject, "open", str(error).splitlines()[0])


def _proof(body: Accesses, buffer: Buffer, stores: Sequence[Access], subject: str) -> Check:
    maps = [body.access_map(a) for a in stores]
    maps = [_with_digits(m) for m in maps if not m.is_known_empty]
    if any(m.runtimes for m in maps):
        return Check("written once", subject, "open", "where it is written depends on data")
    if buffer.alias_of is None and not all(a.context.is_certain for a in stores):
        return Check("written once", subject, "open", "whether it is written depends on data")
    sizes = buffer.dimensions if all(m.num_results == len(buffer.dimensions) for m in maps) else (buffer.size,)
    if buffer.alias_of is None and len(maps) == 1:
        if maps[0].is_bijection_onto(sizes):
            return Check("written once", subject, "proved")
        return Check("written once", subject, "refuted", "some element is not written exactly once")
    if not all(m.is_injective() for m in maps) or not all(_is_disjoint(a, b) for a, b in combinations(maps, 2)):
        return Check("written once", subject, "refuted", "some element is written twice")
    if buffer.alias_of is None and sum(m.count() for m in maps) != buffer.size:
        return Check("written once", subject, "refuted", "some element is not written")
    return Check("written once", subject, "proved")


def _with_digits(m: IndexingMap) -> IndexingMap:
    """The same elements, from a quotient and a remainder in place of each thread or block id that is divided.

    A thread's row and its place in it are found by one division; apart, they are digits, whose strides tell that no two
    of them meet.
    """
    for _ in range(MAX_DIGITS):
        found = _divided(m)
        if found is None:
            return m
        number, divisor = found
        dims = list(m.dims)
        last = dims[number].interval.upper
        dims[number] = Variable(dims[number].name, Interval(0, last // divisor))
        count = len(m.variables)
        places = [variable(k if k < len(dims) else k + 1) for k in range(count)]
        places[number] = variable(number) * divisor + variable(len(dims))
        dims.append(Variable(f"{dims[number].name}_digit", Interval(0, divisor - 1)))
        results = [e.replace_variables(places) for e in m.results]
        constraints = [(e.replace_variables(places), i) for e, i in m.constraints]
        symbols = SymbolicMap(len(dims), len(m.ranges) + len(m.runtimes), results)
        m = IndexingMap(symbols, dims, m.ranges, m.runtimes, constraints).simplify()
    return m


def _divided(m: IndexingMap) -> tuple[int, int] | None:
    """An id that some expression divides, and a divisor that divides how many values it has."""
    for expression in (*m.results, *(e for e, _ in m.constraints)):
        nodes = expression.nodes()
        for kind, _, operands in nodes:
            if kind not in ("floordiv", "mod"):
                continue
            (what, number, _), (by, divisor, _) = (nodes[o] for o in operands)
            if what == "variable" and by == "constant" and number[0] < len(m.dims):
                interval = m.dims[number[0]].interval
                if interval.lower == 0 and (interval.upper + 1) % divisor[0] == 0:
                    return number[0], divisor[0]
    return None


def _is_disjoint(a: IndexingMap, b: IndexingMap) -> bool:
    """Whether two maps have no result in common."""
    count = len(a.variables)
    moved = [variable(count + k) for k in range(len(b.variables))]
    constraints = [*a.constraints, *((e.replace_variables(moved), i) for e, i in b.constraints)]
    for own, other in zip(a.results, b.results, strict=True):
        constraints.append((own - other.replace_variables(moved), Interval(0, 0)))
    dims = [Variable(f"d{k}", v.interval) for k, v in enumerate((*a.variables, *b.variables))]
    return IndexingMap(SymbolicMap(len(dims), 0, []), dims, [], [], constraints).simplify().is_empty()
