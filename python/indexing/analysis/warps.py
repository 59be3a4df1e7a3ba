"""Which bytes the warps of a launch touch: a thread map as addresses of lanes, and their sectors and lines counted.

A warp instruction is one warp at one value of every range variable: what one load or store of the kernel does at once.
The address is written over the lane, the warp's number in its block, the block ids and the range variables; warps whose
addresses differ by whole lines, and whose lanes are active alike, are counted by one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np

from indexing._core import IndexingMap, Interval, SymbolicExpr, SymbolicMap, constant, variable
from indexing.analysis.device import Device
from indexing.analysis.periods import Bound, Class, classes
from indexing.errors import InvalidMap

Dim3: TypeAlias = tuple[int, int, int]
Addresses: TypeAlias = "np.ndarray"  # one row a warp instruction, one column a lane; bits
THREAD_DIMS = 6
LANE, WARP = 0, 1
FIRST_RANGE = 5  # lane, warp, three block ids; then ranges and runtime variables
VECTOR = "vector_index"
VECTOR_BITS = 128  # what one thread loads or stores at most with one instruction
MOST_BOXES = 1 << 10
MOST_ROWS = 1 << 13
_NOWHERE = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Tally:
    """Sums over warp instructions that have an active lane: how many there are, and what they ask for and move.

    `asked` are different bytes, `sectors` and `lines` those that hold them, `ideal` the least number of sectors that
    could, `aligned` the sectors that would do if each contiguous run of bytes began where a sector does. Whole numbers,
    but for averages over runtime values and samples.
    """

    instructions: float = 0
    asked: float = 0
    sectors: float = 0
    lines: float = 0
    ideal: float = 0
    aligned: float = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(a + b for a, b in zip(self.numbers, other.numbers, strict=True)))

    @property
    def numbers(self) -> tuple[float, float, float, float, float, float]:
        """The six sums, in order."""
        return self.instructions, self.asked, self.sectors, self.lines, self.ideal, self.aligned

    def scaled(self, numerator: int, denominator: int) -> Tally:
        """What a sample says of the whole."""
        return Tally(*(n * numerator / denominator for n in self.numbers))


@dataclass(frozen=True, slots=True)
class WarpMap:
    """An address in bits over (lane, warp, bl_x, bl_y, bl_z, ranges, runtime variables), and when a lane is active.

    `vector` is the variable that counts the elements of one thread's vector; None where there is none. `repeats` is
    how many values the runtime variables take together: only one of them happens.
    """

    address: SymbolicExpr
    box: tuple[tuple[int, int], ...]
    bounds: tuple[Bound, ...]
    width: int
    vector: int | None
    repeats: int = 1

    @property
    def lanes(self) -> int:
        """Threads of a warp."""
        return self.box[LANE][1] + 1

    @property
    def vector_size(self) -> int:
        """Elements of a thread's vector."""
        return 1 if self.vector is None else self.box[self.vector][1] - self.box[self.vector][0] + 1


def warp_map(
    thread_map: IndexingMap, strides: Sequence[int], block: Dim3, width: int, device: Device
) -> WarpMap | None:
    """The addresses of a thread map `(th_x, .., bl_z)[ranges]{runtime} -> index`; None where no thread has one.

    `strides` are those of the index, in elements, `width` an element's bits. Raises InvalidMap for a map of other
    dimensions or of another rank.
    """
    if thread_map.is_undefined or (thread_map.num_dims != THREAD_DIMS and not thread_map.is_known_empty):
        raise InvalidMap("a thread map has the dimensions th_x, th_y, th_z, bl_x, bl_y, bl_z")
    if thread_map.is_known_empty:
        return None
    if thread_map.num_results != len(strides):
        raise InvalidMap(f"the map has {thread_map.num_results} results; the array has {len(strides)} dimensions")
    threads, size = prod(block), device.warp_size
    warps = -(-threads // size)
    number = variable(WARP) * size + variable(LANE)
    ids = [number % block[0], number // block[0] % block[1], number // (block[0] * block[1])]
    others = [variable(FIRST_RANGE - 3 + k) for k in range(len(thread_map.variables) - 3)]
    places = [*ids, *others]
    position = sum((e * s for e, s in zip(thread_map.results, strides, strict=True)), constant(0))
    bounds = [(number, Interval(0, threads - 1))] if threads % size else []
    for place, v, extent in zip(ids, thread_map.dims[:3], block, strict=True):
        if v.lower > 0 or v.upper < extent - 1:
            bounds.append((place, v.interval))
    bounds += [(e.replace_variables(places), i) for e, i in thread_map.constraints]
    variables = [("lane", Interval(0, size - 1)), ("warp", Interval(0, warps - 1))]
    variables += [(f"v{k}", v.interval) for k, v in enumerate(thread_map.variables[3:])]
    whole = SymbolicMap(len(variables), 0, [position.replace_variables(places)])
    found = IndexingMap(whole, variables, [], [], bounds).simplify(keep_points=True)
    if found.is_known_empty:
        return None
    box = list(zip((v.lower for v in found.dims), (v.upper for v in found.dims), strict=True))
    kept = list(found.constraints)
    if box[LANE] != (0, size - 1):  # lanes stay all there; which are active is a bound like others
        kept.append((variable(LANE), found.dims[LANE].interval))
        box[LANE] = (0, size - 1)
    names = [v.name for v in thread_map.variables[3:]]
    vector = names.index(VECTOR) + 2 if VECTOR in names else None
    used = {v for e in (*found.results, *(e for e, _ in kept)) for v in e.used_variables()}
    if vector is not None and vector not in used:  # the same element for all: loaded once
        box[vector] = (0, 0)
        vector = None
    repeats = prod(high - low + 1 for low, high in box[len(box) - thread_map.num_runtimes :])
    return WarpMap(found.results[0] * width, tuple(box), tuple(kept), width, vector, repeats)


@dataclass(frozen=True, slots=True)
class Counted:
    """What a thread map's warps do.

    `each` counts every load or store by itself; `unrolled` those of one thread's vector together, for what one of them
    brings the next ones find. `sampled` says of how many warp instructions all were judged; None: of each.
    """

    each: Tally
    unrolled: Tally
    sampled: int | None = None


def count(warps: WarpMap, device: Device, may_be_vector: bool) -> Counted:
    """Count the sectors of all warps; `may_be_vector`: aligned neighbours of one thread move with one instruction."""
    free = [LANE] if warps.vector is None else [LANE, warps.vector]
    cycle = device.line_bytes * 8
    parts = list(classes(warps.box, free, [(warps.address, cycle)], warps.bounds, MOST_BOXES))
    total = sum(p.size for p in parts)
    rows = MOST_ROWS // warps.vector_size + 1
    sampled = rows if total > rows else None
    merged = may_be_vector and warps.vector is not None and _is_vector(warps, parts, free, total)
    tallies = [Tally(), Tally()]
    all_weight = judged = 0
    for part in parts:
        share = part.size if sampled is None else max(rows * part.size // total, 1)
        addresses, weights = _addresses(warps, part, free, share)
        all_weight += prod(int(w.sum()) for w in part.weights)
        judged += int(weights.sum())
        tallies[0] += _tally_rows(_instructions(addresses, warps, merged), weights, warps.width, device)
        if warps.vector is not None:
            together = [addresses.reshape(len(addresses), -1)]
            tallies[1] += _tally_rows(together, weights, warps.width, device)
    if warps.vector is None:
        tallies[1] = tallies[0]
    if sampled is not None or warps.repeats > 1:
        tallies = [t.scaled(all_weight, judged * warps.repeats) for t in tallies]
    return Counted(tallies[0], tallies[1], sampled)


def _is_vector(warps: WarpMap, parts: Sequence[Class], free: Sequence[int], total: int) -> bool:
    """Do all threads that reach their whole vector find it in one aligned piece?"""
    size = warps.vector_size
    if size & (size - 1):
        return False
    for part in parts:
        addresses, _ = _addresses(warps, part, free, min(part.size, MOST_ROWS // size + 1))
        full = (addresses != _NOWHERE).all(axis=2)
        found = addresses[full]
        steps = np.arange(size) * warps.width
        if ((found[:, :1] + steps != found) | (found[:, :1] % min(size * warps.width, VECTOR_BITS) != 0)).any():
            return False
    return True


def _addresses(warps: WarpMap, part: Class, free: Sequence[int], most: int) -> tuple[np.ndarray, np.ndarray]:
    """Addresses by (warp instruction, lane, vector element), _NOWHERE where not active; weights of the rows."""
    sizes = [len(v) for v in part.values]
    rows = part.size
    at = np.arange(rows) if most >= rows else np.linspace(0, rows - 1, most).astype(np.int64)
    picked = np.unravel_index(at, sizes) if sizes else ()
    weights = np.ones(len(at), np.int64)
    values: list[np.ndarray] = [np.zeros(1, np.int64)] * len(warps.box)
    split = [v for v in range(len(warps.box)) if v not in free]
    for v, index, known, weight in zip(split, picked, part.values, part.weights, strict=True):
        values[v] = known[index].reshape(-1, 1, 1)
        weights = weights * weight[index]
    values[LANE] = np.arange(warps.lanes).reshape(1, -1, 1)
    if warps.vector is not None:
        low, high = warps.box[warps.vector]
        values[warps.vector] = np.arange(low, high + 1).reshape(1, 1, -1)
    shape = (len(at), warps.lanes, warps.vector_size)
    found = np.broadcast_to(warps.address.evaluate(values), shape).copy()
    for expression, interval in warps.bounds:
        value = np.broadcast_to(expression.evaluate(values), shape)
        found[(value < interval.lower) | (value > interval.upper)] = _NOWHERE
    return found, weights


def _instructions(addresses: np.ndarray, warps: WarpMap, merged: bool) -> Iterator[np.ndarray]:
    """The warp instructions that one row is made of: one an element of the vector, or one a piece of 16 bytes."""
    if not merged:
        for k in range(addresses.shape[2]):
            yield addresses[:, :, k]
        return
    full = (addresses != _NOWHERE).all(axis=2)
    piece = max(min(warps.vector_size, VECTOR_BITS // warps.width), 1)
    whole = np.where(full[:, :, None], addresses, _NOWHERE)
    for first in range(0, warps.vector_size, piece):
        yield whole[:, :, first : first + piece].reshape(len(addresses), -1)
    if not full.all():
        rest = np.where(full[:, :, None], _NOWHERE, addresses)
        for k in range(addresses.shape[2]):
            yield rest[:, :, k]


def _tally_rows(
    groups: Iterator[np.ndarray] | list[np.ndarray], weights: np.ndarray, width: int, device: Device
) -> Tally:
    total = Tally()
    for rows in groups:
        total += tally(rows, weights, width, device)
    return total


def tally(rows: np.ndarray, weights: np.ndarray, width: int, device: Device) -> Tally:
    """Count what rows of bit addresses of elements of `width` bits move, each row weighted; none may cross a sector."""
    rows = np.sort(rows, axis=1)
    active = rows != _NOWHERE
    first = np.ones_like(active)
    first[:, 1:] = rows[:, 1:] != rows[:, :-1]
    first &= active
    counts = [first.sum(axis=1)]
    for size in (device.sector_bytes * 8, device.line_bytes * 8):
        block = rows // size
        change = np.ones_like(active)
        change[:, 1:] = block[:, 1:] != block[:, :-1]
        counts.append((change & active).sum(axis=1))
    elements, sectors, lines = counts
    asked = -(-elements * width // 8)
    ideal = -(-asked // device.sector_bytes)
    aligned = np.minimum(sectors, _aligned(rows, first, width, device.sector_bytes * 8))
    some = elements > 0
    sums = (some.astype(np.int64), asked, sectors, lines, ideal, aligned)
    return Tally(*(int((s * weights).sum()) for s in sums))


def _aligned(rows: np.ndarray, first: np.ndarray, width: int, sector: int) -> np.ndarray:
    """For each row: sectors that its contiguous runs of elements would fill if each began with one."""
    before = np.full_like(rows, -1)
    before[:, 1:] = rows[:, :-1]
    starts = first & (rows != before + width)
    starts[:, 0] = first[:, 0]
    run = np.cumsum(starts, axis=1) - 1
    found = np.zeros(len(rows), np.int64)
    row, column = np.nonzero(first)
    if not len(row):
        return found
    longest = rows.shape[1]
    lengths = np.bincount(row * longest + run[row, column], minlength=len(rows) * longest).reshape(len(rows), longest)
    filled: np.ndarray = (-(-(lengths * width) // sector)).sum(axis=1)
    return filled
