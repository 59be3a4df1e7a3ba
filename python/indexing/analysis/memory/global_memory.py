"""Coalescing: the number of memory sectors that the warps of a kernel move for the bytes that they access.

For each load and store of global memory, over all warps of the launch: the distinct bytes that a warp instruction accesses,
the 32-byte sectors and 128-byte lines that hold them, and the least number of sectors that could. Counts are exact, also for
predicates and partial warps; warps whose addresses differ by whole lines are counted once (see `memory_traffic.rs`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import Literal, TypeAlias

from indexing._core import IndexingMap, compose, variable
from indexing.analysis.memory.banks import BankAccess, bank_accesses
from indexing.analysis.memory.thread_maps import thread_map
from indexing.analysis.memory.tiled_reads import Tiles, tile_loads
from indexing.analysis.memory.transactions import UNCERTAIN, VECTOR, Dim3, Transactions, count, sampling
from indexing.arguments import check_fields, integer, of_type, one_of, optional, takes
from indexing.device.detect import chosen_device
from indexing.device.record import Device, DeviceLike
from indexing.device.table import CUDA_LIMITS
from indexing.display import shown
from indexing.errors import CompileError, IndexingError, UnsupportedOp
from indexing.hlo import Computation, Instruction, Program, Shape
from indexing.hlo.layout import bit_width, element_strides
from indexing.hlo.module_cache import cached_on_module
from indexing.hlo.program_like import or_function, part_of_program
from indexing.indexing_analysis.instructions import output_to_input
from indexing.kernels import emit
from indexing.kernels.ir.executions import Execution
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.kernel import Argument, Kernel
from indexing.kernels.largest_array import names_largest_array
from indexing.kernels.launch import element_at
from indexing.kernels.targets import TARGETS

__all__ = ["Access", "Coalescing", "Launch", "Tiles", "coalescing", "kernel_of"]

COALESCED = (9, 10)  # the fraction of the sectors moved that must be needed
Storage = Literal["bytes", "packed"]
Direction: TypeAlias = Literal["load", "store"]


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch with one thread for each element (or `vector` of elements) of each output, in memory order."""

    block: int = 128
    vector: int = 1

    def __post_init__(self) -> None:
        check_fields(self, block=integer, vector=integer)
        if not 1 <= self.block <= CUDA_LIMITS.threads or self.vector not in (1, 2, 4, 8, 16):
            raise IndexingError(
                f"a block has 1 to {CUDA_LIMITS.threads} threads and a vector 1, 2, 4, 8 or 16 elements; "
                f"got {self.block} and {self.vector}"
            )


@dataclass(frozen=True, slots=True)
class Access:
    """One load or store of a kernel, over all warps. Warp instructions without an active lane do not count.

    `operand` is the number of the operand (or parameter) that is read, `output` that of the output that is written, `scratch`
    that of scratch memory, which blocks that share a result read and write; the others are None. Of an instruction, so many
    `threads` access it at once: those of a warp, or of a tile. `total` has sums over all warp instructions; in `unrolled`, all
    elements of a thread's vector count as one instruction. `exactness` is "exact" or "estimate", and then `reason` says what
    was assumed or sampled. With `is_upper_bound`, fewer accesses may be executed than are counted.
    """

    kind: Literal["read", "write"]
    operand: int | None
    output: int | None
    map: IndexingMap
    element_bits: int
    threads: int
    total: Transactions
    unrolled: Transactions
    sector_bytes: int
    exactness: Literal["exact", "estimate"] = "exact"
    reason: str = ""
    scratch: int | None = None
    is_upper_bound: bool = False

    def _mean(self, total: float) -> float:
        return total / self.total.instructions if self.total.instructions else 0.0

    @property
    def bytes_asked(self) -> float:
        """The average number of distinct bytes that a warp instruction accesses."""
        return self._mean(self.total.asked)

    @property
    def sectors(self) -> float:
        """The average number of sectors that a warp instruction moves."""
        return self._mean(self.total.sectors)

    @property
    def lines(self) -> float:
        """The average number of cache lines that a warp instruction accesses."""
        return self._mean(self.total.lines)

    @property
    def ideal(self) -> float:
        """The average of the least number of sectors that can hold the bytes that a warp instruction accesses."""
        return self._mean(self.total.ideal)

    @property
    def ratio(self) -> float:
        """The sectors moved relative to the ideal: 1 is best."""
        return self.total.sectors / self.total.ideal if self.total.ideal else 1.0

    @property
    def utilization(self) -> float:
        """The fraction of the bytes moved that is accessed: 1 is best."""
        return self.total.asked / (self.total.sectors * self.sector_bytes) if self.total.sectors else 1.0

    @property
    def bytes_moved(self) -> int:
        """The size in bytes of the sectors that all warps move; sectors that a thread's vector shares count once."""
        return round(self.unrolled.sectors * self.sector_bytes)

    @property
    def coalesced(self) -> bool:
        """Whether nine tenths of the sectors are needed. Sectors added by misalignment do not count, nor do those that other
        elements of a thread's vector use.
        """
        needed, of = COALESCED
        return self.unrolled.ideal * of >= self.unrolled.aligned * needed

    def __str__(self) -> str:
        """One line: the array, the sectors of a warp instruction, and the sectors needed."""
        which = f"operand {self.operand}" if self.operand is not None else f"output {self.output}"
        which = which if self.scratch is None else f"scratch memory {self.scratch}"
        verdict = "coalesced" if self.coalesced else "not coalesced"
        sectors = f"{self.sectors:.6g} sector{'s' * (self.sectors != 1)} a warp"
        return f"{self.kind} of {which}: {sectors}, {self.ideal:.6g} needed, {verdict}"


@dataclass(frozen=True, slots=True)
class Coalescing:
    """All accesses of a kernel to global memory, and to `shared` memory.

    `unknown` lists operands whose reads no map describes, each with the reason.
    """

    reads: tuple[Access, ...]
    writes: tuple[Access, ...]
    device: Device
    emitter: str
    unknown: tuple[tuple[int, str], ...] = ()
    shared: tuple[BankAccess, ...] = ()

    @property
    def accesses(self) -> tuple[Access, ...]:
        """Loads, then stores, of global memory."""
        return self.reads + self.writes

    def __repr__(self) -> str:
        """The kind of kernel, the device, and the number of coalesced accesses; `print` shows each."""
        good = sum(a.coalesced for a in self.accesses)
        what = f"{good} of {len(self.accesses)} accesses coalesced"
        return f"<coalescing of a {self.emitter} kernel on {self.device}: {what}>"

    def __str__(self) -> str:
        """A line for each access: the sectors that a warp instruction moves, and the least number possible."""
        lines = [str(a) for a in (*self.accesses, *self.shared)]
        return "\n".join([*lines, *(f"read of operand {k}: unknown, {reason}" for k, reason in self.unknown)])

    def _repr_html_(self) -> str | None:
        return shown(self, "accesses_table")


@or_function
@takes(
    device=optional(of_type(Device, str)),
    launch=optional(of_type(Launch, Tiles)),
    storage=one_of("bytes", "packed"),
)
def coalescing(
    target: Kernel | Program,
    device: DeviceLike = None,
    launch: Launch | Tiles | None = None,
    storage: Storage = "bytes",
) -> Coalescing:
    """The sectors that loads and stores of a kernel move, and how many of them are needed.

    `target` is a Kernel, or a fusion (or computation), for which the kernel is that of `emit` for the device; without a device,
    the one that the driver reports, else a default (`.device` says which). Any other instruction, a
    fusion that no kernel computes, and any target given with a `launch`, is analyzed as a loop over its output; with
    `Tiles`, as a kernel that loads and stores whole tiles, each of which counts as one instruction.

    `storage` is the storage of elements narrower than a byte: a byte each, as in this package's kernels, or their bits
    ("packed"). Raises InvalidMap for thread maps that do not fit their arguments, IndexingError for a device without warps,
    unless tiles are asked for.
    """
    chosen = chosen_device(device)
    if not TARGETS[chosen.dialect].has_threads and not isinstance(launch, Tiles):
        raise IndexingError(
            f"{chosen.name} has no warps, whose sectors `coalescing` counts: name a GPU, such as device='h100'; "
            "`ix.analyze` and `ix.predict` count the cache lines of a CPU's kernels"
        )
    if isinstance(target, Kernel):
        return _of_kernel(target, chosen, storage)
    part = part_of_program(target, "coalescing: target")
    kernel = kernel_of(part, chosen) if launch is None and _is_fused(part) else None
    if kernel is not None:
        return _of_kernel(kernel, chosen, storage)
    if isinstance(launch, Tiles):
        return _of_tiles(part, chosen, launch, storage)
    return _of_loop(part, chosen, launch or Launch(), storage)


def _is_fused(target: Instruction | Computation) -> bool:
    return not isinstance(target, Instruction) or target.is_fusion


@cached_on_module
def kernel_of(target: Instruction | Computation, device: Device) -> Kernel | None:
    """The kernel of a fusion for a device, built once; None if no kernel computes it: it is then analyzed as a loop."""
    try:
        return emit(target, None, device)
    except (UnsupportedOp, CompileError):
        return None


_AT_MOST = "at most: a compiler may merge accesses, or load under a condition what is needed only there"


@names_largest_array
def _of_kernel(kernel: Kernel, device: Device, storage: Storage) -> Coalescing:
    reads: list[Access] = []
    writes: list[Access] = []
    unknown: list[tuple[int, str]] = []
    for accesses in kernel.global_accesses:
        argument = accesses.argument
        if accesses.is_unknown:
            unknown.append(
                (argument.number, "its loads are too many to be followed through the functions of the kernel")
            )
        has_vectors = (argument.kind, argument.number) in kernel.vector_arguments
        how = argument, accesses.kind, kernel.block, device, storage
        counted = [_of_execution(e, *how, has_vectors and not e.by_lane) for e in accesses.executions]
        left, most = sum(c.left for c in counted), sum(a.total.sectors for c in counted for a in c.accesses)
        why = _AT_MOST
        if 0 < round(left) < round(most):
            why += f", which leaves {round(left):,} of {round(most):,} sectors"
        of_argument = [_bounded(a, why) if c.may_merge else a for c in counted for a in c.accesses]
        (reads if accesses.kind == "load" else writes).extend(of_argument)
    shared = tuple(bank_accesses(kernel, device))
    return Coalescing(tuple(reads), tuple(writes), device, kernel.emitter, tuple(unknown), shared)


@dataclass(frozen=True, slots=True)
class _Executed:
    """The traffic of all executions of a map; `left` are the sectors if a compiler merges all that it may."""

    accesses: list[Access]
    left: float
    may_merge: bool


def _of_execution(
    e: Execution, argument: Argument, kind: Direction, block: Dim3, device: Device, storage: Storage, has_vectors: bool
) -> _Executed:
    how = argument, kind, block, device, storage, has_vectors, e.lanes
    accesses = [_executed(a, e) for a in _accesses(e.map, *how)]
    merged = accesses if not e.may_merge else () if e.merged is None else _accesses(e.merged, *how)
    return _Executed(accesses, sum(a.total.sectors for a in merged), e.may_merge)


def _executed(access: Access, e: Execution) -> Access:
    """The access with all executions of its map."""
    if e.times > 1:
        total, unrolled = (Transactions(*(n * e.times for n in t.numbers)) for t in (access.total, access.unrolled))
        access = replace(access, total=total, unrolled=unrolled)
    return access if e.is_certain else _bounded(access, UNCERTAIN)


@names_largest_array
def _of_loop(root: Instruction | Computation, device: Device, launch: Launch, storage: Storage) -> Coalescing:
    """The loads and stores of one thread for each element (or vector) of each output."""
    reads: list[Access] = []
    writes: list[Access] = []
    unknown: dict[int, str] = {}
    block = (launch.block, 1, 1)
    for output, shape in enumerate(root.shape.leaves):
        threads = _loop_map(shape, launch)
        written = Argument("output", output, *_form(shape))
        if bit_width(shape.element_type):
            writes += _accesses(threads, written, "store", block, device, storage, True)
        for k, maps in enumerate(output_to_input(root, output)):
            arrays = root.operands[k].shape.leaves
            for m in maps:
                if m.exactness != "exact":
                    unknown[k] = m.reason  # a map that is only a bound would overestimate the traffic
                elif not m.map.is_known_empty and bit_width(arrays[m.leaf].element_type):
                    read = arrays[m.leaf]
                    argument = Argument("input", k, *_form(read))
                    composed = compose(threads, m.map).simplify()
                    with_vectors = composed.constraints == threads.constraints and composed.dims == threads.dims
                    reads += _accesses(composed, argument, "load", block, device, storage, with_vectors)
    return Coalescing(tuple(reads), tuple(writes), device, "loop", tuple(unknown.items()))


@names_largest_array
def _of_tiles(root: Instruction | Computation, device: Device, tiles: Tiles, storage: Storage) -> Coalescing:
    """The loads and stores of one program for each tile."""
    reads: list[Access] = []
    writes: list[Access] = []
    unknown: dict[int, str] = {}
    for load in tile_loads(root, tiles):
        if load.operand is not None and load.problem:
            unknown.setdefault(load.operand, load.problem)
            continue
        array = root if load.operand is None else root.operands[load.operand]
        shape = array.shape.leaves[load.leaf]
        if not bit_width(shape.element_type):
            continue
        argument = Argument("output", load.output, *_form(shape))
        if load.operand is not None:
            argument = replace(argument, kind="input", number=load.operand)
        whole = device.with_cores(warp_size=load.threads)
        kind: Direction = "store" if load.operand is None else "load"
        accesses = list(_accesses(load.map, argument, kind, (load.threads, 1, 1), whole, storage, False))
        if not load.exact:
            accesses = [_estimated(a, "the tile may cover more than is needed") for a in accesses]
        (writes if load.operand is None else reads).extend(accesses)
    return Coalescing(tuple(reads), tuple(writes), device, "tiles", tuple(unknown.items()))


def _form(shape: Shape) -> tuple[str, tuple[int, ...], tuple[int, ...] | None]:
    return shape.element_type, shape.dimensions, shape.layout


def _loop_map(shape: Shape, launch: Launch) -> IndexingMap:
    """The map from thread ids, and a range variable for a thread's elements, to the index of the element."""
    count_ = prod(shape.dimensions)
    blocks = max(-(-count_ // (launch.block * launch.vector)), 1)
    position = (variable(3) * launch.block + variable(0)) * launch.vector + variable(6)
    grid, block = (blocks, 1, 1), (launch.block, 1, 1)
    bounds = [(position, (0, count_ - 1))]
    return thread_map(grid, block, element_at(position, shape), [(VECTOR, launch.vector)], bounds)


def _accesses(
    m: IndexingMap,
    argument: Argument,
    kind: Direction,
    block: Dim3,
    device: Device,
    storage: Storage,
    may_be_vector: bool,
    lanes: int = 0,
) -> Iterator[Access]:
    """The traffic of a map's warps; a map with an empty domain is no access. Data are the same for so many `lanes`."""
    bits = bit_width(argument.element_type)
    width = bits if storage == "packed" and bits < 8 else storage_bytes(argument.element_type) * 8
    warp = min(device.cores.warp_size, prod(block))
    how = m, element_strides(argument.dimensions, argument.layout), block, width
    counted = count(*how, device, may_be_vector)
    if counted is None:
        return
    each, unrolled = counted.each, counted.unrolled
    if 0 < lanes < warp and (groups := count(*how, device.with_cores(warp_size=lanes), may_be_vector)):
        each = replace(groups.each, instructions=each.instructions)
        unrolled = replace(groups.unrolled, instructions=unrolled.instructions)
    number = {argument.kind: argument.number}
    access = Access(
        "read" if kind == "load" else "write",
        number.get("input"),
        number.get("output"),
        m,
        width,
        warp,
        each,
        unrolled,
        device.memory.sector_bytes,
        scratch=number.get("scratch"),
    )
    if counted.sampled is not None:
        access = _estimated(access, sampling(counted.sampled))
    if m.runtimes:
        same = "differ by lane" if lanes == 1 else f"are the same for {f'every {lanes}' if lanes else 'all'} lanes"
        access = _estimated(access, f"runtime values {same}, and each as likely as the others")
    yield access


def _estimated(access: Access, reason: str) -> Access:
    reasons = f"{access.reason}; {reason}" if access.reason else reason
    return replace(access, exactness="estimate", reason=reasons)


def _bounded(access: Access, reason: str) -> Access:
    return replace(_estimated(access, reason), is_upper_bound=True)
