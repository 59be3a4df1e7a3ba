"""Traffic of the accesses of a kernel's plans, counted for many plans at once.

Plans whose threads do the same share one kernel, which is emitted and counted once. In a launch of one dimension, the size of
a block determines which threads form a warp. All sizes that are multiples of a warp have equal traffic; any other size is
counted by itself, by the kernel's maps with the size as a parameter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from indexing._core import (
    IndexingMap,
    Interval,
    ParametricMap,
    SymbolicExpr,
    Variable,
    variable,
)
from indexing.analysis.memory.banks import bank_accesses
from indexing.analysis.memory.transactions import VECTOR, VECTOR_BITS, vector_of
from indexing.device.record import Device
from indexing.hlo import Computation
from indexing.hlo.layout import bit_width, element_strides
from indexing.kernels import emit_fused
from indexing.kernels.ir.executions import Execution
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.kernel import Argument, GlobalAccesses, Kernel
from indexing.kernels.knob_space import Knob, KnobSpace
from indexing.kernels.launch import THREAD_IDS
from indexing.lazy import np
from indexing.model.instruction_counts import InstructionCounts, count_instructions
from indexing.model.reuse import Spans, reuse_of
from indexing.ops.operand_indexing import map_over

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Sums by instruction, sums by vector, their multiplier and divisor, and the number of samples (None: all were counted).
Counted: TypeAlias = "tuple[list[int], list[int], int, int, int | None]"
#: Strides; bits of an element; lanes of a warp; bits of a sector and of a line; a vector's range variable, and its most bits.
_Memory: TypeAlias = "tuple[tuple[int, ...], int, int, int, int, int | None, int]"
#: Instructions, sectors and bytes moved of launches, before any cache; and whether all were counted.
_Moved: TypeAlias = "tuple[Floats, NDArray[np.bool_]]"
_Known: TypeAlias = "dict[tuple[IndexingMap, _Memory], _Moved]"
#: Whether all was counted; the accesses to each argument, the sums of all of them, and the bytes of one of each map.
_Counts: TypeAlias = "tuple[NDArray[np.bool_], list[tuple[GlobalAccesses, Floats, float]]]"
BASE_REGISTERS = 18  # the registers that a thread has for indices and addresses
REREAD = 1.1  # bytes moved, as a multiple of an array's, that are read several times
UPDATED = 2  # an atomic update reads what it writes
MAX_GRID = 1 << 48  # blocks of one thread that are counted


#: Sums over a launch: instructions of warps, sectors, bytes moved (sectors that one thread's vector shares count once), those
#: that the L2 cache moves, and those that device memory moves; loads of warps that the L1 cache lacks, and those that the L2
#: cache lacks too.
SUMS = ("instructions", "sectors", "moved", "cached", "memory", "cache_loads", "memory_loads")


@dataclass(slots=True)
class KernelTraffic:
    """The traffic of one kernel. In a launch of one dimension, the kernel has one thread per block, and `threads` in all."""

    kernel: Kernel
    device: Device
    has_block_knob: bool
    passes: float = 0
    ideal_passes: float = 0
    exact: bool = True
    registers: int = 0
    order: SymbolicExpr | None = None  # the block `bl_x` of the kernel that was counted, a permutation; None: the same
    instructions: InstructionCounts = field(init=False)
    numbers: tuple[float, ...] = field(init=False)  # what all its plans share, in the order of NUMBERS
    by_block: dict[int, Floats] = field(default_factory=dict)
    moved: dict[tuple[int, ...], _Counts] = field(default_factory=dict)  # before caches, in any order of blocks
    NUMBERS: ClassVar = (
        *("grid", "block", "registers", "shared_bytes", "passes", "ideal_passes", "operations", "issued", "waits"),
        *("updates", "exact", "hoists"),
    )

    def __post_init__(self) -> None:
        self.registers = self._registers()
        self.instructions = count_instructions(self.kernel.memory_form, self.device)
        for a in bank_accesses(self.kernel, self.device):
            self.passes += a.total.passes
            self.ideal_passes += a.total.ideal
            self.exact = self.exact and a.exactness == "exact"
        self.numbers = self._numbers()

    def _numbers(self) -> tuple[float, ...]:
        """The counts, in one dimension for blocks of one thread."""
        k, instructions = self.kernel, self.instructions
        lanes = self.device.cores.warp_size if self.has_block_knob else 1  # a warp of each thread was counted
        work = (
            *(n / lanes for n in (instructions.operations, instructions.issued, instructions.waits)),
            most_updates(k),
        )
        shared = self.passes, self.ideal_passes
        return prod(k.grid), prod(k.block), self.registers, k.shared_bytes, *shared, *work, self.exact, self._hoists()

    def in_order(self, block: SymbolicExpr) -> KernelTraffic:
        """The traffic of a kernel whose block `bl_x` does the work of this one's `block`: caches keep what others leave."""
        other = copy(self)
        other.order, other.by_block = block, {}
        return other

    def _hoists(self) -> bool:
        """Whether a thread of several elements may load something once for all of them, since it is the same for all."""
        loads = (e.map for a in self.kernel.global_accesses if a.kind == "load" for e in a.executions)
        return any(not {0, 3} & {v for e in m.results for v in e.used_variables()} for m in loads)

    def _registers(self) -> int:
        """An estimate of the registers that a thread wants: for indices, and for what it loads and stores at once."""
        maps = [(a.argument, e.map) for a in self.kernel.global_accesses for e in a.executions]
        bits = sum(bit_width(a.element_type) * _lanes(m) for a, m in maps)
        return BASE_REGISTERS + -(-bits // 32)

    def traffic(self, blocks: NDArray[np.int64], spans: Spans) -> Floats:
        """The `SUMS` of launches with so many threads per block, and whether nothing was sampled or assumed: a row for each, a
        single one if all are equal.
        """
        if not self.has_block_knob:
            return self._of_blocks([0], spans)
        warp = self.device.cores.warp_size
        sizes, index = unique_values(np.where(blocks % warp == 0, warp, blocks))
        return self._of_blocks(sizes.tolist(), spans)[index]

    def _of_blocks(self, sizes: list[int], spans: Spans) -> Floats:
        new = tuple(b for b in sizes if b not in self.by_block)
        if new:
            if new not in self.moved:
                self.moved[new] = self._count(np.array(new, np.int64))
            exact, of_arguments = self.moved[new]
            total = sum((self._cached(*of_one, spans) for of_one in of_arguments), np.zeros((len(SUMS), len(new))))
            self.by_block.update(zip(new, np.vstack([total, exact]).T, strict=True))
        return np.array([self.by_block[b] for b in sizes])

    def _count(self, blocks: NDArray[np.int64]) -> _Counts:
        """The traffic of launches before any cache, and whether nothing was sampled or assumed."""
        of_arguments, exact = [], np.ones(len(blocks), bool)
        known: _Known = {}
        for accesses in self.kernel.global_accesses:
            exact &= not accesses.is_unknown
            of_argument = np.zeros((3, len(blocks)))
            of_maps: dict[IndexingMap, float] = {}  # bytes that each map moves
            for e in accesses.executions:
                executed, is_counted = self._executed(accesses.argument, e, blocks, known)
                of_argument += executed
                of_maps[e.map] = executed[2].max(initial=0) / e.times * e.with_other_data
                exact &= is_counted
            of_arguments.append((accesses, of_argument, sum(of_maps.values())))
        return exact, of_arguments

    def _cached(self, accesses: GlobalAccesses, of_argument: Floats, once: float, spans: Spans) -> Floats:
        """The `SUMS` of an array with what caches keep of it: device memory moves each byte of a small one once, and none
        that the launch itself has written. Each different map of its loads moves its part of `once` bytes one time.
        """
        argument, (instructions, sectors, moved) = accesses.argument, of_argument
        size = argument.element_count * storage_bytes(argument.element_type)
        cached, memory = moved, moved
        if accesses.kind == "load" and moved.max(initial=0) > REREAD * size:
            threads = 1 if self.has_block_knob else prod(self.kernel.block)
            maps = list(dict.fromkeys(e.map for e in accesses.executions))
            if self.order is not None:
                maps = [_in_order(m, self.order) for m in maps]
            reuse = reuse_of(argument, maps, once, self.kernel.grid, threads, self.device, spans)
            cached = np.minimum(moved, reuse.from_cache)
            memory = np.minimum(cached, reuse.from_memory)
        if size <= self.device.memory.l2_bytes:
            was_written = accesses.kind == "load" and argument.kind == "scratch"  # by this launch
            memory = np.minimum(memory, 0 if was_written else size)
        if accesses.kind == "store" and any(updated == argument for updated, _ in self.kernel.updates):
            is_loaded = any(a.kind == "load" and a.argument == argument for a in self.kernel.global_accesses)
            cached, memory = UPDATED * cached, (1 if is_loaded else UPDATED) * memory
        of_moved = (instructions if accesses.kind == "load" else 0.0) / np.maximum(moved, 1.0)
        return np.stack([instructions, sectors, moved, cached, memory, cached * of_moved, memory * of_moved])

    def _executed(self, argument: Argument, e: Execution, blocks: NDArray[np.int64], known: _Known) -> _Moved:
        """The traffic of all executions of a map, which is counted once for equal maps."""
        (instructions, sectors, moved), exact = self._of_lanes(argument, e, 0, blocks, known)
        if e.lanes:  # each group of lanes has sectors of its own
            _, sectors, moved = self._of_lanes(argument, e, e.lanes, blocks, known)[0]
        return np.stack([instructions, sectors, moved]) * e.times, exact & (e.is_certain and not e.may_merge)

    def _of_lanes(
        self, argument: Argument, e: Execution, lanes: int, blocks: NDArray[np.int64], known: _Known
    ) -> _Moved:
        """The traffic of one execution of a map by groups of so many lanes, counted once for equal maps; 0: by warps."""
        memory = self._memory(argument, e, lanes)
        if (e.map, memory) not in known:
            known[e.map, memory] = self._traffic(e.map, blocks, memory)
        return known[e.map, memory]

    def _memory(self, argument: Argument, e: Execution, lanes: int) -> _Memory:
        """The memory as the core expects it: the array's strides and bits, the device's sizes, and vectors."""
        is_vector = not e.by_lane and (argument.kind, argument.number) in self.kernel.vector_arguments
        return (
            tuple(element_strides(argument.dimensions, argument.layout)),
            storage_bytes(argument.element_type) * 8,
            lanes or self.device.cores.warp_size,
            self.device.memory.sector_bytes * 8,
            self.device.memory.line_bytes * 8,
            vector_of(e.map),
            VECTOR_BITS if is_vector else 0,
        )

    def _traffic(self, m: IndexingMap, blocks: NDArray[np.int64], memory: _Memory) -> _Moved:
        if not self.has_block_knob:
            block = np.full_like(blocks, prod(self.kernel.block))
            return self._counted(m.with_parameters().global_memory_traffic({}, block, *memory), m)
        whole = with_block_size(m, self.device.limits.block_size)
        return self._counted(whole.global_memory_traffic({"block": blocks}, blocks, *memory), m)

    def _counted(self, instances: tuple[Sequence[Counted | None], NDArray[np.int64]], m: IndexingMap) -> _Moved:
        """The core's counts of a map's instances."""
        rows, index = instances
        sums = np.array([_sums(row) for row in rows], np.float64)[index].T
        scale = np.array([[1.0], [1.0], [self.device.memory.sector_bytes]])
        return sums[:3] * scale, (sums[3] != 0) & (not m.runtimes)


def _sums(row: Counted | None) -> tuple[float, float, float, bool]:
    """Instructions, sectors, sectors of one vector's together; whether all warps were counted."""
    if row is None:
        return 0, 0, 0, True
    each, together, numerator, denominator, sampled = row
    scale = numerator / denominator if numerator != denominator else 1
    return each[0] * scale, each[2] * scale, together[2] * scale, sampled is None


def with_block_size(m: IndexingMap, most: int) -> ParametricMap:
    """The thread map for blocks of `block` threads, at most `most`, of a thread map for blocks of one thread each. Threads keep
    their order.
    """
    last = len(m.variables)
    position = variable(3) * variable(last) + variable(0)
    places = [variable(0) if k == 0 else position if k == 3 else variable(k) for k in range(last)]
    limits = Interval(m.dims[3].lower, m.dims[3].upper)
    intervals = {0: Interval(0, most - 1), 3: Interval(0, limits.upper)}  # threads may begin to do something later
    dims = [Variable(v.name, intervals.get(k, v.interval)) for k, v in enumerate(m.dims)]
    runtimes = [*m.runtimes, Variable("block", Interval(1, most))]
    moved = map_over(m.results, dims, m.ranges, runtimes, m.constraints, places).add_constraint(position, limits)
    moved = moved.add_constraint(variable(3) * variable(last), Interval(0, limits.upper))
    return moved.with_parameters(block=range(1, most + 1))


def _in_order(m: IndexingMap, block: SymbolicExpr) -> IndexingMap:
    """The thread map of blocks that do the work of others: a permutation, to which the map's bounds do not matter."""
    ids = [variable(k) for k in range(len(THREAD_IDS))]
    ids[THREAD_IDS.index("bl_x")] = block
    return map_over(m.results, m.dims, m.ranges, m.runtimes, m.constraints, ids).simplify()


def most_updates(kernel: Kernel) -> float:
    """The atomic updates of the output's element that has most, if data spread them evenly over the elements that they may
    reach; 0 without atomic updates.
    """
    return max((_updates_of_one(m, a.element_count) for a, m in kernel.updates), default=0.0)


def _updates_of_one(m: IndexingMap, elements: int) -> float:
    reached = prod(len(m.range(e)) for e in m.results)
    return prod(len(v.interval) for v in (*m.dims, *m.ranges)) / max(min(reached, elements), 1)


def _lanes(m: IndexingMap) -> int:
    return prod(len(v.interval) for v in m.ranges if v.name == VECTOR)


def needs_kernel(knob: Knob, device: Device) -> bool:
    """Whether plans that differ in this knob need different kernels to be counted."""
    if knob.effect == "warps":
        return any(threads % device.cores.warp_size for threads in knob.values)
    return knob.effect in ("kernel", "order")


def kernel_traffic(
    computation: Computation, space: KnobSpace, plan: Mapping[str, int], device: Device
) -> KernelTraffic:
    """The traffic of the kernel with the knobs of `plan`, except those of the launch, which have their least values."""
    launch = {k.name: 1 for k in space.knobs if k.effect == "block"}
    warps = {k.name: k.values[0] for k in space.knobs if k.effect == "warps"}
    chosen = {**space.default, **warps, **plan, **launch}
    wide = device
    if launch:  # a block for each thread, of which no device has enough where arrays are large
        wide = device.with_limits(grid=(MAX_GRID, *device.limits.grid[1:]))
        chosen = {name: value for name, value in chosen.items() if name not in _knobs_of_grids(space)}
    kernel = emit_fused(computation, device, wide, **chosen)
    return KernelTraffic(kernel, device, bool(launch))


def _knobs_of_grids(space: KnobSpace) -> set[str]:
    return {k.name for k in space.knobs if k.effect == "grid"}


def unique_values(column: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The values of a column, ascending, and for each row the index of its value: as `np.unique`, which loads numpy.ma."""
    order = np.argsort(column, kind="stable")
    ascending = column[order]
    is_new = np.ones(len(column), bool)
    np.not_equal(ascending[1:], ascending[:-1], out=is_new[1:])
    index = np.empty_like(order)
    index[order] = np.cumsum(is_new) - 1
    return ascending[is_new], index
