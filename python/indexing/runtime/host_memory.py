"""Host memory: aligned, and pooled for reuse.

The system's fresh pages are cleared when first touched, which takes longer than many kernels. Results are arrays that belong
to the caller; when the last of their views dies, their memory is kept for the next buffer of that size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

ALIGNMENT = 64  # bytes: that of vectors and of cache lines
KEPT_BYTES = 256 * 2**20  # of free memory


class MemoryPool:
    """Free blocks of memory, by size; if they exceed the limit, sizes that were not returned for the longest time go first."""

    def __init__(self, limit: int = KEPT_BYTES) -> None:
        """Start with an empty pool that keeps up to `limit` bytes."""
        self.limit = limit
        self.kept = 0
        self._free: dict[int, list[np.ndarray]] = {}

    def lease(self, nbytes: int) -> np.ndarray:
        """Aligned bytes of undefined contents, which return to the pool when the array and all its views are dead."""
        free = self._free.get(nbytes)
        try:
            memory = free.pop() if free else None
        except IndexError:  # another thread was faster
            memory = None
        if memory is None:
            memory = aligned_bytes(nbytes)
        else:
            self.kept -= nbytes
        return np.asarray(_Lease(memory, self._give_back))

    def _give_back(self, memory: np.ndarray) -> None:
        nbytes = memory.nbytes
        if nbytes > self.limit:
            return
        free = self._free.pop(nbytes, [])
        self._free[nbytes] = free  # moved to the end: the last to be dropped
        free.append(memory)
        self.kept += nbytes
        while self.kept > self.limit and self._free:
            self._throw_away()

    def _throw_away(self) -> None:
        """Drop the free blocks of the size that was returned least recently."""
        size = next(iter(self._free))
        self.kept -= size * len(self._free.pop(size))


class _Lease:
    """The owner of an array's memory: views refer to it; when it dies, the memory is free."""

    __slots__ = ("__array_interface__", "_give_back", "_memory")

    def __init__(self, memory: np.ndarray, give_back: Callable[[np.ndarray], None]) -> None:
        self.__array_interface__: dict[str, Any] = memory.__array_interface__
        self._memory = memory
        self._give_back = give_back

    def __del__(self) -> None:
        self._give_back(self._memory)


_POOL = MemoryPool()


def leased_bytes(nbytes: int) -> np.ndarray:
    """At least `nbytes` bytes, and at least one, of the process's pool."""
    return _POOL.lease(max(nbytes, 1))


def aligned_bytes(nbytes: int) -> np.ndarray:
    """Fresh memory whose address is a multiple of ALIGNMENT."""
    whole = np.empty(nbytes + ALIGNMENT, np.uint8)
    start = -whole.ctypes.data % ALIGNMENT
    return whole[start : start + max(nbytes, 1)]


def address(array: Any) -> int:
    """The address of a numpy array's memory."""
    start: int = array.__array_interface__["data"][0]
    return start
