"""Memory traffic of one access of a kernel, from its thread map: sums over all warp instructions of the launch.

A warp instruction is the access of one warp at one value of every range variable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from indexing._core import IndexingMap, global_memory_traffic, shared_memory_traffic
from indexing.device.record import Device

Dim3: TypeAlias = tuple[int, int, int]
VECTOR = "vector_index"
UNCERTAIN = "at most: data decide which threads access it"
VECTOR_BITS = 128  # the most that a thread loads or stores with one instruction


@dataclass(frozen=True, slots=True)
class Transactions:
    """Sums over the warp instructions that have an active lane, whose number is `instructions`.

    `asked` counts distinct bytes, `sectors` and `lines` those that hold them, `ideal` the least number of sectors that
    could, `aligned` the sectors needed if each contiguous run of bytes began at a sector. They are integers, except for
    averages over runtime values and samples.
    """

    instructions: float = 0
    asked: float = 0
    sectors: float = 0
    lines: float = 0
    ideal: float = 0
    aligned: float = 0

    @property
    def numbers(self) -> tuple[float, float, float, float, float, float]:
        """The six sums, in order."""
        return self.instructions, self.asked, self.sectors, self.lines, self.ideal, self.aligned


@dataclass(frozen=True, slots=True)
class Counted:
    """The traffic of a thread map's warps in global memory.

    `each` counts every load or store by itself; `unrolled` those of a thread's vector together, since the first one brings
    the sectors of the others into the cache. `sampled` is the number of warp instructions sampled; None if all are counted.
    """

    each: Transactions
    unrolled: Transactions
    sampled: int | None = None


def count(
    thread_map: IndexingMap, strides: Sequence[int], block: Dim3, width: int, device: Device, may_be_vector: bool
) -> Counted | None:
    """Count the sectors of all warps of a thread map `(th_x, .., bl_z)[ranges]{runtime} -> index`; None if no thread
    accesses anything.

    `strides` are those of the index, in elements, `width` is an element's bits; with `may_be_vector`, aligned neighbours of
    one thread are accessed by one instruction. Raises InvalidMap for a map of other dimensions or of another rank.
    """
    vector = vector_of(thread_map)
    traffic = global_memory_traffic(
        *(
            thread_map,
            strides,
            width,
            block,
            device.cores.warp_size,
            device.memory.sector_bytes * 8,
            device.memory.line_bytes * 8,
        ),
        vector=vector,
        widest=VECTOR_BITS if may_be_vector else 0,
    )
    if traffic is None:
        return None
    each, unrolled, scale, counted, sampled = traffic
    return Counted(
        Transactions(*_scaled(each, scale, counted)), Transactions(*_scaled(unrolled, scale, counted)), sampled
    )


def vector_of(thread_map: IndexingMap) -> int | None:
    """The range variable over a thread's vector, if the index uses it."""
    names = [v.name for v in thread_map.ranges]
    vector = thread_map.num_dims + names.index(VECTOR) if VECTOR in names else None
    return vector if any(vector in e.used_variables() for e in thread_map.results) else None


@dataclass(frozen=True, slots=True)
class BankTransactions:
    """Sums over the warp instructions of an access to shared memory.

    `asked` counts distinct bytes, `passes` the passes over the banks, `ideal` the least number of passes for these bytes:
    the difference is due to bank conflicts.
    """

    instructions: float = 0
    asked: float = 0
    passes: float = 0
    ideal: float = 0

    @property
    def numbers(self) -> tuple[float, float, float, float]:
        """The four sums, in order."""
        return self.instructions, self.asked, self.passes, self.ideal


def count_banks(
    thread_map: IndexingMap, block: Dim3, width: int, device: Device
) -> tuple[BankTransactions, int | None] | None:
    """Count the passes of all warps over the banks of shared memory; as `count`, for a map to one cell of `width` bits.

    Returned with the number of warp instructions sampled, if not all are counted.
    """
    traffic = shared_memory_traffic(
        thread_map, width, block, device.cores.warp_size, device.memory.banks, device.memory.bank_bytes * 8
    )
    if traffic is None:
        return None
    each, _, scale, counted, sampled = traffic
    return BankTransactions(*_scaled(each, scale, counted)[:4]), sampled


def sampling(counted: int) -> str:
    """The reason why sums over so many warp instructions are an estimate."""
    return f"{counted:,} warp instructions, spread over the launch, were sampled"


def _scaled(sums: Sequence[int], numerator: int, denominator: int) -> Sequence[float]:
    """The sums scaled to the whole launch, from a sample or from all runtime values together."""
    return sums if numerator == denominator else [n * numerator / denominator for n in sums]
