"""Bank conflicts: how often the banks of shared memory are read or written for the words that a warp asks for.

Each bank serves one word in a pass; lanes that want the same word share it. A warp whose elements are wider than a bank goes in
parts of as many lanes as fill all banks: halves for 8 bytes, quarters for 16.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from indexing.analysis.memory.transactions import BankTransactions, count_banks, sampling

if TYPE_CHECKING:
    from indexing._core import IndexingMap
    from indexing.analysis.device import Device
    from indexing.emitters.kernel import Kernel

__all__ = ["BankAccess", "bank_accesses"]


@dataclass(frozen=True, slots=True)
class BankAccess:
    """One load or store of shared memory, over all warps of the launch; `total` holds sums over all warp instructions.

    `exactness` is "exact", or "estimate", and then `reason` says what was sampled.
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
        """Passes over the banks that a warp instruction takes, on average."""
        return self.total.passes / self.total.instructions

    @property
    def ideal(self) -> float:
        """The least number of passes for the words that a warp asks for, on average."""
        return self.total.ideal / self.total.instructions

    @property
    def conflicts(self) -> float:
        """Passes that bank conflicts add to a warp instruction, on average."""
        return self.passes - self.ideal

    def __str__(self) -> str:
        """One line: the array, passes a warp instruction, and how many it needs."""
        unit = "pass" if self.passes == 1 else "passes"
        return f"{self.kind} of {self.array}: {self.passes:.6g} {unit} a warp, {self.ideal:.6g} needed"


def bank_accesses(kernel: Kernel, device: Device) -> Iterator[BankAccess]:
    """Of each load and store of shared memory that a lane takes part in, in the kernel's order; none where the target's
    shared memory is memory like other.
    """
    if not kernel.target.has_threads:
        return
    for a in kernel.shared_accesses:
        found = count_banks(a.map, kernel.block, a.cell_bytes * 8, device)
        if found is None:
            continue
        total, sampled = found
        if sampled is None:
            yield BankAccess(a.kind, a.array, a.map, a.cell_bytes, total)
        else:
            yield BankAccess(a.kind, a.array, a.map, a.cell_bytes, total, "estimate", sampling(sampled))
