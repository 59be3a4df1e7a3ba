"""What the accesses of a kernel's plans move, counted for many plans at once.

Plans that differ in nothing that their threads do share one kernel, which is emitted and counted once. In a launch of one
dimension the threads of a block decide how threads are cut into warps: blocks of whole warps are alike, whatever their size;
others are counted each, by the kernel's maps with the size as a parameter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from indexing._core import IndexingMap, Interval, ParametricMap, SymbolicMap, Variable, variable
from indexing.analysis.memory.banks import bank_accesses
from indexing.analysis.memory.transactions import VECTOR, VECTOR_BITS
from indexing.emitters import emit_fused
from indexing.emitters.types import storage_bytes
from indexing.hlo.layout import bit_width
from indexing.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indexing.emitters.kernel import Argument, Kernel
    from indexing.emitters.knob_space import KnobSpace
    from indexing.hlo import Computation
    from indexing.tuning.machine import Machine

MAX_BLOCK = 1024
BASE_REGISTERS = 18  # of a thread, for indices and addresses
MAX_REGISTERS = 255


@dataclass(frozen=True, slots=True)
class Traffic:
    """Sums over a launch: instructions of warps, sectors, bytes of sectors that one thread's vector shares counted once, and
    bytes of device memory; `exact` where nothing was sampled or assumed.
    """

    instructions: float = 0
    sectors: float = 0
    moved: float = 0
    memory: float = 0
    exact: bool = True

    def plus(self, other: Traffic) -> Traffic:
        """Both together."""
        return Traffic(
            self.instructions + other.instructions,
            self.sectors + other.sectors,
            self.moved + other.moved,
            self.memory + other.memory,
            self.exact and other.exact,
        )


@dataclass(slots=True)
class KernelTraffic:
    """What is counted of one kernel: of a launch in one dimension it has one thread a block, and `threads` in all."""

    kernel: Kernel
    machine: Machine
    has_block_knob: bool
    passes: float = 0
    ideal_passes: float = 0
    exact: bool = True
    registers: int = 0
    by_block: dict[int, Traffic] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.registers = self._registers()
        for a in bank_accesses(self.kernel, self.machine.device):
            self.passes += a.total.passes
            self.ideal_passes += a.total.ideal
            self.exact = self.exact and a.exactness == "exact"

    @property
    def threads(self) -> int:
        """Of a launch in one dimension: how many there are."""
        return self.kernel.grid[0] * self.kernel.block[0]

    def _registers(self) -> int:
        """A guess at what a thread needs: indices, and what it loads and stores at once."""
        maps = [(a, m) for a, found in self._arguments() for m in found]
        bits = sum(bit_width(a.element_type) * _lanes(m) for a, m in maps)
        return min(BASE_REGISTERS + -(-bits // 32), MAX_REGISTERS)

    def traffic(self, blocks: NDArray[np.int64]) -> list[Traffic]:
        """Of launches with so many threads a block."""
        warp = self.machine.device.warp_size
        alike = np.where(blocks % warp == 0, warp, blocks) if self.has_block_knob else np.zeros_like(blocks)
        new = [int(b) for b in np.unique(alike) if int(b) not in self.by_block]
        if new:
            self._count(np.array(new, np.int64))
        return [self.by_block[b] for b in alike.tolist()]

    def _arguments(self) -> list[tuple[Argument, tuple[IndexingMap, ...]]]:
        k = self.kernel
        reads, writes = k.input_maps, k.output_maps
        inputs = [(a, reads[a.number] if a.number < len(reads) else ()) for a in k.accessed if a.kind == "input"]
        return inputs + [(a, writes[a.number]) for a in k.accessed if a.kind == "output"]

    def _count(self, blocks: NDArray[np.int64]) -> None:
        totals = [Traffic()] * len(blocks)
        for argument, maps in self._arguments():
            of_argument = [Traffic(exact=bool(maps))] * len(blocks)
            for m in maps:
                found = self._of_map(argument, m, blocks)
                of_argument = [a.plus(b) for a, b in zip(of_argument, found, strict=True)]
            totals = [t.plus(self._cached(argument, a)) for t, a in zip(totals, of_argument, strict=True)]
        self.by_block.update(zip(blocks.tolist(), totals, strict=True))

    def _cached(self, argument: Argument, t: Traffic) -> Traffic:
        """Of an array that the cache holds, device memory moves each byte once."""
        size = argument.element_count * storage_bytes(argument.element_type)
        memory = min(t.moved, size) if size <= self.machine.cache_bytes else t.moved
        return Traffic(t.instructions, t.sectors, t.moved, memory, t.exact)

    def _of_map(self, argument: Argument, m: IndexingMap, blocks: NDArray[np.int64]) -> list[Traffic]:
        """By the kernel's own blocks, or for each of the sizes `blocks`."""
        device, is_vector = (
            self.machine.device,
            argument.kind == "output" or argument.number in self.kernel.vector_reads,
        )
        names = [v.name for v in m.ranges]
        threads = blocks if self.has_block_knob else np.full_like(blocks, prod(self.kernel.block))
        parametric = in_blocks(m) if self.has_block_knob else m.with_parameters()
        rows, index = parametric.global_memory_traffic(
            {"block": threads} if self.has_block_knob else {},
            threads,
            strides(argument),
            storage_bytes(argument.element_type) * 8,
            device.warp_size,
            device.sector_bytes * 8,
            device.line_bytes * 8,
            6 + names.index(VECTOR) if VECTOR in names else None,
            VECTOR_BITS if is_vector else 0,
        )
        found = [_traffic(row, device.sector_bytes, not m.runtimes) for row in rows]
        return [found[k] for k in index.tolist()]


def _traffic(row: tuple[list[int], list[int], int, int, int | None] | None, sector: int, exact: bool) -> Traffic:
    if row is None:
        return Traffic()
    each, unrolled, numerator, denominator, sampled = row
    scale = numerator / denominator if numerator != denominator else 1
    moved = unrolled[2] * scale * sector
    return Traffic(each[0] * scale, each[2] * scale, moved, moved, exact and sampled is None)


def in_blocks(m: IndexingMap) -> ParametricMap:
    """A thread map of blocks of one thread each, as that of blocks of `block` threads: of the same threads, in order."""
    last = len(m.variables)
    position = variable(3) * variable(last) + variable(0)
    places = [variable(0) if k == 0 else position if k == 3 else variable(k) for k in range(last)]
    limits = Interval(m.dims[3].lower, m.dims[3].upper)
    conditions = [(e.replace_variables(places), i) for e, i in m.constraints]
    conditions += [(position, limits), (variable(3) * variable(last), Interval(0, limits.upper))]
    dims = [Variable(v.name, Interval(0, MAX_BLOCK - 1) if k == 0 else v.interval) for k, v in enumerate(m.dims)]
    runtimes = [*m.runtimes, Variable("block", Interval(1, MAX_BLOCK))]
    results = [e.replace_variables(places) for e in m.results]
    symbolic = SymbolicMap(len(dims), len(m.ranges) + len(runtimes), results)
    return IndexingMap(symbolic, dims, m.ranges, runtimes, conditions).with_parameters(block=range(1, MAX_BLOCK + 1))


def _lanes(m: IndexingMap) -> int:
    return prod(len(v.interval) for v in m.ranges if v.name == VECTOR)


def strides(argument: Argument) -> list[int]:
    """Of each dimension, elements from one index to the next."""
    found = [0] * len(argument.dimensions)
    stride = 1
    for d in argument.layout if argument.layout is not None else range(len(found) - 1, -1, -1):
        found[d] = stride
        stride *= argument.dimensions[d]
    return found


def kernel_traffic(
    computation: Computation, space: KnobSpace, plan: Mapping[str, int], machine: Machine
) -> KernelTraffic:
    """What the kernel moves whose knobs are those of `plan`, those of its launch aside."""
    launch = {k.name: 1 for k in space.knobs if k.effect in ("block", "splits")}
    kernel = emit_fused(computation, machine.dialect, **{**space.default, **plan, **launch})
    return KernelTraffic(kernel, machine, any(k.effect == "block" for k in space.knobs))
