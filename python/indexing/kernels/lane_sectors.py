"""Sectors of memory that a warp touches if each of its threads takes a vector of neighbouring elements.

A vector that lies in order in an array is one access. Elements that don't are accessed one by one, and the wider a thread's
vector, the further apart are the elements that neighbouring threads access at once, each in a sector of its own at last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import gcd, prod

from indexing._core import IndexingMap
from indexing.device.record import Device
from indexing.hlo import Instruction
from indexing.hlo.layout import element_strides
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.targets import TARGETS
from indexing.kernels.vectors import LANES, MAX_LOOP, VECTOR_BYTES, WIDTHS, index_order, moving_dimensions
from indexing.partitioner import PartitionedComputation, Subgraph

ADDRESS = 8  # instructions for the address of an access


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The bytes at which the first neighbouring elements of a function access an array, by each of its accesses, which are
    made `count` times each; an element of the array has `size` bytes. `grain` divides the bytes by which loops shift them,
    and those after which conditions change (0: nothing does).
    """

    size: int
    places: tuple[tuple[int, ...], ...]
    count: int = 1
    grain: int = 0

    def sectors(self, width: int, device: Device) -> float:
        """The sectors that a warp touches for each of its elements, if a thread takes `width` of them; 0 if all have the same
        place.
        """
        lanes, sector = device.cores.warp_size, device.memory.sector_bytes
        step = max(abs(p[width] - p[0]) for p in self.places)  # from a lane to the next
        touched = max(lanes * min(step, sector) / sector, 1) if step else 0
        taken = {b for p in self.places for b in p[:width]}
        return self.count * self._accesses(taken, gcd(step, self.grain)) * touched / (lanes * width)

    def addresses(self, width: int) -> float:
        """The instructions for addresses, for each element; a vector shares them where nothing shifts or divides it."""
        shared = width if self.grain % (width * self.size) == 0 else 1
        return ADDRESS * len(self.places) * self.count / shared

    def _accesses(self, taken: set[int], grain: int) -> int:
        """The accesses of a thread, of aligned vectors where its bytes are in order."""
        rest, vectors = set(taken), 0
        for size in (s for s in (VECTOR_BYTES, 8, 4, 2) if s > self.size and grain % s == 0):
            for first in sorted(b for b in taken if b % size == 0):
                whole = set(range(first, first + size, self.size))
                if whole <= rest:
                    rest, vectors = rest - whole, vectors + 1
        return vectors + len(rest)


def in_order(size: int) -> Neighbours:
    """An array of which neighbouring elements of a function access neighbouring elements."""
    return Neighbours(size, (tuple(range(0, (WIDTHS[-1] + 1) * size, size)),))


def neighbours_of(parts: PartitionedComputation, parameter: Instruction) -> Iterator[Neighbours]:
    """The accesses of a computation to a parameter; together those outside of long loops and of conditions."""
    if parameter.shape.is_tuple:
        return
    size = storage_bytes(parameter.shape.element_type)
    steps = [size * s for s in element_strides(parameter.shape.dimensions, parameter.shape.minor_to_major)]
    known = [(s, a.map) for s, a in parts.reads(parameter) if a.is_known and not a.map.is_undefined]
    moving = moving_dimensions(parts)
    reads = [_Reads(reader, m, steps, bool(moving[reader])) for reader, m in known if not m.is_known_empty]
    together = [r for r in reads if not r.bounds and r.is_written_out]
    for r in reads:
        if r not in together:
            grain = gcd(*(size * b for b in r.bounds), *r.between_rows(), *r.between_iterations())
            yield Neighbours(size, (r.places(),), r.count, grain)
    if together:
        grain = gcd(*(n for r in together for n in r.between_rows()))
        yield Neighbours(size, tuple(p for r in together for p in r.places_in_loops()), grain=grain)


@dataclass(frozen=True)
class _Reads:
    """The accesses of a function by one map, to an array whose dimensions are `steps` bytes apart. If it isn't `moving`, it is
    called at one index for neighbouring elements.
    """

    reader: Subgraph
    map: IndexingMap
    steps: Sequence[int]
    moving: bool

    @property
    def count(self) -> int:
        """The accesses of each element."""
        return prod(v.interval.upper - v.interval.lower + 1 for v in self.map.ranges)

    @property
    def is_written_out(self) -> bool:
        """Whether there are no loops, or such as each lane has written out, without conditions."""
        return self.count == 1 or (self.count <= MAX_LOOP and not self.map.constraints)

    @cached_property
    def order(self) -> list[int]:
        """The dimensions of the function's index, fastest last."""
        return index_order(self.reader)

    @property
    def bounds(self) -> tuple[int, ...]:
        """The places among neighbouring elements from which on they are accessed, or no more."""
        sizes, wide = self.reader.index_sizes, [d for d in self.order if self.reader.index_sizes[d] != 1]
        if not wide:
            return ()
        known = self.map.dims[wide[-1]].interval
        whole = known.lower == 0 and known.upper == sizes[wide[-1]] - 1
        is_decided = LANES % sizes[wide[-1]] == 0  # for each lane
        return () if whole or is_decided or self.map.constraints else (known.lower, known.upper + 1)

    def places(self, *iteration: int) -> tuple[int, ...]:
        """The bytes that the first elements access, in the first iteration of loops or the one given."""
        first = [self._point(position if self.moving else 0) for position in range(LANES + 1)]
        dims = len(self.map.dims)
        return tuple(self._byte([*p[:dims], *iteration, *p[dims + len(iteration) :]]) for p in first)

    def places_in_loops(self) -> Iterator[tuple[int, ...]]:
        """The bytes that the first elements access, in each iteration of loops."""
        turns = (range(v.interval.lower, v.interval.upper + 1) for v in self.map.ranges)
        return (self.places(*iteration) for iteration in product(*turns))

    def between_iterations(self) -> Iterator[int]:
        """The bytes from an iteration of each loop to the next."""
        dims = len(self.map.dims)
        return map(self._step, range(dims, dims + len(self.map.ranges)))

    def between_rows(self) -> Iterator[int]:
        """The bytes from an index to the next in each dimension, where they are not those of as many neighbours."""
        first, second, *_ = self.places()
        apart = second - first
        for d in (d for d in reversed(self.order) if apart and self.reader.index_sizes[d] != 1):
            if self._step(d) != apart:
                yield self._step(d)
            apart *= self.reader.index_sizes[d]

    def _step(self, variable: int) -> int:
        here = self._point(0)
        there = [n + (k == variable) for k, n in enumerate(here)]
        return self._byte(there) - self._byte(here)

    def _point(self, position: int) -> list[int]:
        point = [v.interval.lower for v in self.map.variables]
        for d in reversed(self.order):
            position, point[d] = divmod(position, self.reader.index_sizes[d])
        return point

    def _byte(self, point: Sequence[int]) -> int:
        return sum(s * r.evaluate(point) for s, r in zip(self.steps, self.map.results, strict=True))


def best_width(width: int, work: float, arrays: Sequence[Neighbours], device: Device) -> int:
    """The vector up to `width` for which a warp's instructions and sectors are fewest, where an element takes `work`
    instructions; `width` on devices whose threads don't share sectors.
    """
    if not TARGETS[device.dialect].has_threads:
        return width
    warp = device.cores.warp_size

    def cost(w: int) -> float:
        return work + sum(a.addresses(w) + warp * a.sectors(w, device) for a in arrays)

    return min((width >> k for k in range(width.bit_length())), key=cost)
