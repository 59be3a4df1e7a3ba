"""The check of races: no two threads of a block access one element of shared memory without a barrier between, if one writes,
and not both atomically.

The elements that each thread accesses are enumerated. Conditions that depend on the block or on data are ignored, which can
only add accesses, and so never hides a race.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import prod

from indexing._core import SymbolicExpr
from indexing.errors import IndexingError
from indexing.kernels.ir.accesses import Access, Accesses, Kind, entry_accesses
from indexing.kernels.ir.nodes import Kernel
from indexing.kernels.verify.check import Check
from indexing.lazy import np

MAX_POINTS = 1 << 22
BLOCK_IDS = frozenset({3, 4, 5})
#: The kinds of accesses that race if they meet; atomic updates don't with each other.
RACING: tuple[set[Kind], ...] = ({"store"}, {"store", "load"}, {"store", "atomic"}, {"atomic", "load"})


def check_races(kernel: Kernel) -> Iterator[Check]:
    """One check for each shared buffer."""
    body = entry_accesses(kernel)
    for buffer in kernel.buffers:
        if buffer.space == "shared":
            accesses = list(dict.fromkeys(a for a in body.accesses if a.buffer == buffer.name))
            yield _checked(kernel, body, buffer.name, accesses)


def _checked(kernel: Kernel, body: Accesses, name: str, accesses: Sequence[Access]) -> Check:
    subject = f"shared memory {name}"
    if kernel.block == (1, 1, 1):
        return Check("race", subject, "proved", "a block is one thread")
    pairs = [(a, a) for a in accesses if a.kind == "store"]
    pairs += [(a, b) for a, b in combinations(accesses, 2) if {a.kind, b.kind} in RACING and a.phases & b.phases]
    try:
        touched = {a: _touched_cells(kernel, body, a) for a in dict.fromkeys(chain.from_iterable(pairs))}
    except IndexingError as error:
        return Check("race", subject, "open", str(error).splitlines()[0])
    for a, b in ((touched[a], touched[b]) for a, b in pairs):
        cell = _conflict(a, b)
        if cell is not None:
            is_sure = a.is_exact and b.is_exact
            return Check(
                "race",
                subject,
                "refuted" if is_sure else "open",
                f"element {cell} is accessed by two threads between barriers",
            )
    return Check("race", subject, "proved")


@dataclass(frozen=True, slots=True)
class _TouchedCells:
    """The distinct pairs of cell and thread of an access, sorted by cell."""

    access: Access
    cells: np.ndarray
    threads: np.ndarray
    is_exact: bool


def _touched_cells(kernel: Kernel, body: Accesses, access: Access) -> _TouchedCells:
    context = access.context
    ignored = BLOCK_IDS.union(context.data)
    if outside := ignored.intersection(v for e in access.index for v in e.used_variables()):
        what = "the block" if outside <= BLOCK_IDS else "data"
        raise IndexingError(f"the elements of shared memory that are accessed depend on {what}")
    kept = [(e, i) for e, i in context.constraints if ignored.isdisjoint(e.used_variables())]
    expressions = (*access.index, *(e for e, _ in kept))
    in_use = {k for e in expressions for k in e.used_variables()}
    used = [0, 1, 2, *(k for k in context.loops if k in in_use)]
    sizes = [_count(body, k) for k in used]
    if prod(sizes) * access.width > MAX_POINTS:
        raise IndexingError(f"{prod(sizes) * access.width} accesses are too many to enumerate")
    grids = np.meshgrid(*(_values(body, k) for k in used), indexing="ij", sparse=False)
    values: list[np.ndarray | int] = [0] * len(body.variables)
    for k, grid in zip(used, grids, strict=True):
        values[k] = grid.reshape(-1)
    inside = np.ones(prod(sizes), bool)
    for e, i in kept:
        at = _evaluated(e, values)
        inside &= (at >= i.lower) & (at <= i.upper)
    x, y, z = kernel.block
    thread = values[0] + x * (values[1] + y * values[2])
    cell = np.broadcast_to(_evaluated(access.index[0], values), inside.shape)
    cells = (cell[inside][:, None] + np.arange(access.width)).reshape(-1)
    threads = np.repeat(np.asarray(thread)[inside], access.width)
    cells, threads = np.divmod(np.unique(cells * (x * y * z) + threads), x * y * z)
    return _TouchedCells(access, cells, threads, context.is_certain and len(kept) == len(context.constraints))


def _count(body: Accesses, number: int) -> int:
    interval = body.variables[number].interval
    return interval.upper - interval.lower + 1


def _values(body: Accesses, number: int) -> np.ndarray:
    interval = body.variables[number].interval
    return np.arange(interval.lower, interval.upper + 1, dtype=np.int64)


def _evaluated(expression: SymbolicExpr, values: Sequence[np.ndarray | int]) -> np.ndarray:
    return np.asarray(expression.evaluate([np.asarray(v) for v in values]))


def _conflict(a: _TouchedCells, b: _TouchedCells) -> int | None:
    """A cell that two different threads access; None if there is none."""
    if a is b:
        repeated = a.cells[1:][a.cells[1:] == a.cells[:-1]]
        return int(repeated[0]) if repeated.size else None
    owners = dict(zip(a.cells.tolist(), a.threads.tolist(), strict=True))
    many = set(a.cells[1:][a.cells[1:] == a.cells[:-1]].tolist())
    for cell, thread in zip(b.cells.tolist(), b.threads.tolist(), strict=True):
        if cell in owners and (cell in many or owners[cell] != thread):
            return int(cell)
    return None
