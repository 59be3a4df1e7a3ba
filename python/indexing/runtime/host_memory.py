"""Memory of the processor: aligned, and given out again when nobody reads it any more.

The system hands out fresh pages that are cleared when they are first touched, which takes longer than many a kernel. Results
are arrays that belong to the caller; when the last of their views is gone, their memory is kept for the next buffer of that
size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

ALIGNMENT = 64  # bytes; of vectors and lines of the cache
KEPT_BYTES = 256 * 2**20  # of memory that nobody uses


class MemoryPool:
    """Blocks of memory that are free, by size; those that have been free the longest go when all are too many bytes."""

    def __init__(self, limit: int = KEPT_BYTES) -> None:
        """An empty pool that keeps up to `limit` bytes."""
        self.limit = limit
        self.kept = 0
        self._free: dict[int, list[np.ndarray]] = {}

    def lease(self, nbytes: int) -> np.ndarray:
        """Bytes of undefined contents, aligned. They come back when the array and all its views are gone."""
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
        self._free[nbytes] = free  # the last to be thrown away
        free.append(memory)
        self.kept += nbytes
        while self.kept > self.limit and self._free:
            self._throw_away()

    def _throw_away(self) -> None:
        """Forget the blocks of the size that was given back the longest ago."""
        size = next(iter(self._free))
        self.kept -= size * len(self._free.pop(size))


class _Lease:
    """The owner of an array's memory: views refer to it, and when it goes the memory is free."""

    __slots__ = ("__array_interface__", "_give_back", "_memory")

    def __init__(self, memory: np.ndarray, give_back: Callable[[np.ndarray], None]) -> None:
        self.__array_interface__: dict[str, Any] = memory.__array_interface__
        self._memory = memory
        self._give_back = give_back

    def __del__(self) -> None:
        self._give_back(self._memory)


_POOL = MemoryPool()


def leased_bytes(nbytes: int) -> np.ndarray:
    """Memory of the process's pool; at least one byte."""
    return _POOL.lease(max(nbytes, 1))


def aligned_bytes(nbytes: int) -> np.ndarray:
    """Fresh memory that begins at a multiple of ALIGNMENT."""
    whole = np.empty(nbytes + ALIGNMENT, np.uint8)
    start = -whole.ctypes.data % ALIGNMENT
    return whole[start : start + max(nbytes, 1)]


def address(array: Any) -> int:
    """The address of a numpy array's memory."""
    start: int = array.__array_interface__["data"][0]
    return start
