"""Reuse in caches: the part of an array that a block reads, and that the blocks which run at one time read.

Elements that a kernel reads several times move once from the L2 cache for each block, if the block's part fits into its share
of the L1 cache (once for each core, if the whole array does), and once from memory for all blocks of a wave, if the wave's part
fits into the L2 cache. If they do not fit, this holds for the part that is read while each loop does a few iterations, in which
threads and blocks are in step. Loops that follow each other read an array in several passes; what the first has read stays for
the others in a share of the cache. A part is the box around the elements that all loads of the array reach, or what these move,
equal ones once, if that is less: upper bounds, near the truth where neighbouring blocks read neighbouring elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from indexing._core import IndexingMap, Interval, SymbolicExpr, Variable, constant
from indexing.analysis.memory.transactions import VECTOR
from indexing.device.record import Device
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.kernel import Argument, Dim3
from indexing.model.launch_samples import PLACES, at_place

#: Numbers of blocks in x, y and z.
Part: TypeAlias = "tuple[Interval, ...]"
#: The elements of an array between bounds in each dimension.
Box: TypeAlias = "list[Interval]"
BLOCK_IDS = frozenset((3, 4, 5))
PIECES = (1, 4)  # pieces of a wave of blocks; a box around those that cross the end of a row is far too large
WAVES = (1, 4, 16)  # waves of blocks, one after the other, whose part of an array the L2 cache may hold
KEPT = 0.5  # the share of the L1 cache that an array may take which all blocks read whole: others pass through it
REUSED = 0.4  # the share of a cache that keeps all it holds from pass to pass; of twice as much, it keeps nothing
ITERATIONS = (16, 4, 1)  # threads and blocks are taken to be in step for so many iterations of each loop, if those fit
BLOCK_THREADS = 128  # a block's threads, in a launch of one dimension that was counted thread by thread


class Spans(dict[tuple[SymbolicExpr, tuple[Interval, ...]], Interval]):
    """The values between which an expression lies, by the intervals of its variables."""

    def of(self, e: SymbolicExpr, intervals: Sequence[Interval]) -> Interval:
        """The interval of an expression whose variable i lies in `intervals[i]`, found once."""
        key = e, tuple(intervals[k] for k in e.used_variables())
        if key not in self:
            self[key] = e.range(intervals)
        return self[key]


@dataclass(frozen=True, slots=True)
class Reuse:
    """Upper bounds of an array's bytes that move from the L2 cache, and from device memory; infinite if reuse is unknown."""

    from_cache: float
    from_memory: float


def reuse_of(
    argument: Argument,
    maps: Sequence[IndexingMap],
    once: float,
    grid: Dim3,
    threads: int,
    device: Device,
    spans: Spans,
) -> Reuse:
    """The reuse of an array's elements by the loads of a launch of blocks of so many threads (1: of threads that form blocks of
    any size); its maps move `once` bytes if each is executed one time.
    """
    cores, memory = device.cores, device.memory
    count = BLOCK_THREADS if threads == 1 else threads
    of_block = count // threads
    blocks = prod(grid)
    resident = max(min(cores.threads // count, -(-blocks // (of_block * cores.count))), 1)
    of_wave = resident * cores.count * of_block

    loads = _Loads(argument, maps, memory.sector_bytes, spans)

    def moved(length: int, most: float) -> float:
        count, together = -(-blocks // length), length <= of_wave
        of_boxes = min(loads.of_pieces(grid, length, pieces, most, together) for pieces in PIECES) * count
        return min(of_boxes, once) if once <= count * most else of_boxes

    of_core = resident * of_block
    size = argument.element_count * storage_bytes(argument.element_type)
    by_cores = cores.count * size if size <= memory.l1_bytes * KEPT else float("inf")  # from block to block
    from_cache = min(moved(of_block, memory.l1_bytes / resident), moved(of_core, memory.l1_bytes), by_cores)
    lengths = [of_wave * waves for waves in WAVES if of_wave * waves <= blocks or waves == 1]
    return Reuse(from_cache, min(moved(length, memory.l2_bytes) for length in lengths))


class _Loads:
    """The loads of an array, of which parts of a grid move boxes; the bytes of each part are counted once."""

    def __init__(self, argument: Argument, maps: Sequence[IndexingMap], sector_bytes: int, spans: Spans) -> None:
        self._argument, self._sector_bytes = argument, sector_bytes
        self._whole = _Reach(maps, spans)
        self._passes = [_turns(of_pass, spans) for of_pass in _passes(maps)]
        self._known: dict[tuple[_Reach, Part | tuple[int, ...]], float] = {}

    def of_pieces(self, grid: Dim3, length: int, pieces: int, most: float, together: bool) -> float:
        """The bytes that so many neighbouring blocks move through a cache, as the sum of equal pieces of them: the median of
        the parts that read anything; infinite if none of them does, as where few blocks read an array. Blocks that do not run
        `together` are not in step.
        """
        pieces = min(pieces, length)
        parts = _parts(grid, -(-length // pieces))
        moved = {part: self._moved(part, most / pieces, together) for part in set(parts)}
        reading = sorted(moved[part] for part in parts if moved[part])
        return pieces * reading[len(reading) // 2] if reading else float("inf")

    def _moved(self, blocks: Part, most: float, together: bool) -> float:
        """The bytes that some blocks move through a cache of `most` bytes; infinite if not even one iteration's fit."""
        several = len(self._passes) > 1
        whole = self._bytes(self._whole, blocks) if several else 0.0
        missed = min(max(whole / (REUSED * most) - 1, 0.0), 1.0) if several else 1.0
        if not missed:
            return whole
        apart = sum(self._of_pass(number, blocks, most, together) for number in range(len(self._passes)))
        return whole + (apart - whole) * missed

    def _of_pass(self, number: int, blocks: Part, most: float, together: bool) -> float:
        for k, (reach, turns) in enumerate(self._passes[number]):
            if k and not together:
                break
            if (moved := self._bytes(reach, blocks)) <= most:
                return moved * turns
        return float("inf")

    def _bytes(self, reach: _Reach, blocks: Part) -> float:
        spread = reach.spread(blocks)
        key = reach, blocks if spread is None else spread
        if key not in self._known:
            boxes = reach.boxes(blocks) if spread is None else reach.spread_boxes(spread)
            self._known[key] = _box_bytes(self._argument, boxes, self._sector_bytes)
        return self._known[key]


def _passes(maps: Sequence[IndexingMap]) -> list[list[IndexingMap]]:
    """The maps of each pass: those that have a loop in common, and those without one."""
    passes: list[tuple[set[str], list[IndexingMap]]] = []
    for m in maps:
        loops = {v.name or "" for v in m.ranges if v.name != VECTOR}
        joined = [p for p in passes if p[0] & loops or not (p[0] or loops)]
        passes = [p for p in passes if p not in joined]
        passes.append((loops.union(*(p[0] for p in joined)), [*(m for p in joined for m in p[1]), m]))
    return [of_pass for _, of_pass in passes]


def _turns(maps: Sequence[IndexingMap], spans: Spans) -> list[tuple[_Reach, int]]:
    """The reach of the maps, and of those of the first iterations, each with the number of turns that these take."""
    first = [[_first_iterations(m, count) for m in maps] for count in ITERATIONS]
    turns = {tuple(m for m, _ in few): max((times for _, times in few), default=1) for few in first}
    return [(_Reach(few, spans), times) for few, times in {tuple(maps): 1, **turns}.items()]


def _first_iterations(m: IndexingMap, count: int) -> tuple[IndexingMap, int]:
    """The map in the first iterations of each loop, those over the lanes of a vector whole; and how often so many run."""
    times, ranges = 1, []
    for v in m.ranges:
        length = len(v.interval)
        few = length if v.name == VECTOR else min(length, count)
        times *= -(-length // few)
        ranges.append(Variable(v.name, Interval(v.lower, v.lower + few - 1)))
    return _restricted(m, m.dims, ranges), times


def _parts(grid: Dim3, count: int) -> list[Part]:
    """About so many neighbouring blocks at several places of a grid."""
    return [_part(grid, count, place) for place in PLACES]


def _part(grid: Dim3, count: int, place: int) -> Part:
    """The intervals of such blocks' numbers in x, y and z."""
    intervals = []
    for size in grid:
        length = min(size, count)
        first = at_place(size - length, place)
        intervals.append(Interval(first, first + length - 1))
        count = max(-(-count // size), 1)
    return tuple(intervals)


class _Reach:
    """The boxes that maps reach from parts of a grid. Where blocks move all alike, only how far they spread these matters,
    which many parts have in common.
    """

    def __init__(self, maps: Sequence[IndexingMap], spans: Spans) -> None:
        self._maps, self._spans = maps, spans
        indices = [[_by_blocks(e) for e in m.results] for m in maps]
        self._moved = [moved for moved, _ in indices[0]]
        self._moves_alike = all(
            [moved for moved, _ in of_map] == self._moved
            and not any(BLOCK_IDS & set(rest.used_variables()) for _, rest in of_map)
            and not m.constraints
            for of_map, m in zip(indices, maps, strict=True)
        )
        self._resting = []
        if self._moves_alike:
            for of_map, m in zip(indices, maps, strict=True):
                self._resting.append([spans.of(rest, [v.interval for v in m.variables]) for _, rest in of_map])

    def spread(self, blocks: Part) -> tuple[int, ...] | None:
        """The distance over which some blocks spread each box, by dimension; None if they do not move all alike."""
        if not self._moves_alike:
            return None
        spans = [self._spans.of(moved, (*blocks, *blocks)) for moved in self._moved]
        return tuple(s.upper - s.lower for s in spans)

    def spread_boxes(self, spread: tuple[int, ...]) -> list[Box]:
        """The boxes of blocks that spread them so far, of which the first begin where those of block 0 do."""
        return [[Interval(i.lower, i.upper + s) for i, s in zip(box, spread, strict=True)] for box in self._resting]

    def boxes(self, blocks: Part) -> list[Box]:
        """The box around the elements that some blocks reach by each map that reaches any."""
        boxes = [_box(m, blocks) for m in self._maps]
        return [box for box in boxes if not any(i.is_empty for i in box)]


def _by_blocks(e: SymbolicExpr) -> tuple[SymbolicExpr, SymbolicExpr]:
    """The terms of an index that depend on the numbers of blocks alone, and the other terms."""
    kind, numbers, places = e.nodes()[-1]
    nodes = e.postorder()
    terms = [(nodes[k], c) for k, c in zip(places, numbers[1:], strict=True)] if kind == "sum" else [(e, 1)]
    of_blocks = sum((t * c for t, c in terms if BLOCK_IDS.issuperset(t.used_variables())), constant(0))
    return of_blocks, e - of_blocks


def _box_bytes(argument: Argument, reached: Sequence[Box], sector: int) -> float:
    """The bytes of boxes; two become one where that has less."""
    boxes: list[tuple[Box, float]] = []
    for box in reached:
        size = _bytes(argument, box, sector)
        for k, (other, of_other) in enumerate(boxes):
            hull = [Interval(min(a.lower, b.lower), max(a.upper, b.upper)) for a, b in zip(box, other, strict=True)]
            if (of_hull := _bytes(argument, hull, sector)) <= size + of_other:
                boxes[k] = hull, of_hull
                break
        else:
            boxes.append((box, size))
    return sum(size for _, size in boxes)


def _box(m: IndexingMap, blocks: Part) -> Box:
    dims = [Variable(v.name, v.interval if k < 3 else blocks[k - 3]) for k, v in enumerate(m.dims)]
    restricted = _restricted(m, dims, m.ranges)
    return [restricted.range(e) for e in restricted.results]


def _restricted(m: IndexingMap, dims: Sequence[Variable], ranges: Sequence[Variable]) -> IndexingMap:
    return IndexingMap(m.symbolic_map, dims, ranges, m.runtimes, m.constraints)


def _bytes(argument: Argument, box: Box, sector: int) -> float:
    """The bytes of a box, in whole sectors along each run of elements that is contiguous in memory."""
    size = storage_bytes(argument.element_type)
    sizes = [min(i.upper - i.lower + 1, n) for i, n in zip(box, argument.dimensions, strict=True)]
    run = 1
    for d in argument.layout or reversed(range(len(sizes))):
        run *= sizes[d]
        if sizes[d] < argument.dimensions[d]:
            break
    return float(prod(sizes) // run * -(-run * size // sector) * sector)
