"""Bank conflicts: the number of passes over the banks of shared memory that a warp's accesses take.

In a pass, each bank serves one word; lanes that access the same word share it. A warp whose elements are wider than a bank is
split into parts of as many lanes as fill all banks: halves for 8 bytes, quarters for 16.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from indexing._core import IndexingMap
from indexing.analysis.memory.transactions import UNCERTAIN, BankTransactions, count_banks, sampling
from indexing.device.record import Device
from indexing.kernels.kernel import Kernel

MAY_MERGE = (
    "at most: a compiler may join it with another of the same element, or load under a condition what is needed there"
)
BY_DATA = "data decide the elements, which are taken to be the same for all lanes"


@dataclass(frozen=True, slots=True)
class BankAccess:
    """One load or store of shared memory, over all warps of the launch; `total` holds sums over all warp instructions.

    `exactness` is "exact", or "estimate", and then `reason` says what was sampled or assumed; of an upper bound, it says
    "at most".
    """

    kind: Literal["load", "store"]
    array: str
    map: IndexingMap
    cell_bytes: int
    total: BankTransactions
    exactness: Literal["exact", "estimate"] = "exact"
    reason: str = ""

    @property
    def passes(self) -> float:
        """The average number of passes over the banks that a warp instruction takes."""
        return self.total.passes / self.total.instructions

    @property
    def ideal(self) -> float:
        """The average of the least number of passes for the words that a warp instruction accesses."""
        return self.total.ideal / self.total.instructions

    @property
    def conflicts(self) -> float:
        """The average number of passes that bank conflicts add to a warp instruction."""
        return self.passes - self.ideal

    def __str__(self) -> str:
        """One line: the array, the passes of a warp instruction, and the passes needed."""
        unit = "pass" if self.passes == 1 else "passes"
        return f"{self.kind} of {self.array}: {self.passes:.6g} {unit} a warp, {self.ideal:.6g} needed"


def bank_accesses(kernel: Kernel, device: Device) -> Iterator[BankAccess]:
    """The loads and stores of shared memory that have an active lane, in the kernel's order; none if the target has no banked
    shared memory.
    """
    if not kernel.target.has_threads:
        return
    for a in kernel.shared_accesses:
        e = a.execution
        counted = count_banks(e.map, kernel.block, a.cell_bytes * 8, device)
        if counted is None:
            continue
        total, sampled = counted
        whole = BankTransactions(*(n * e.times for n in total.numbers))
        reasons = [sampling(sampled)] if sampled is not None else []
        reasons += [] if e.is_certain else [UNCERTAIN]
        reasons += [MAY_MERGE] if e.may_merge else []
        reasons += [BY_DATA] if e.map.runtimes else []
        exactness: Literal["exact", "estimate"] = "estimate" if reasons else "exact"
        yield BankAccess(a.kind, a.array, e.map, a.cell_bytes, whole, exactness, "; ".join(reasons))
