"""Host memory: aligned, and pooled for reuse.

The system's fresh pages are cleared when first touched, which takes longer than many kernels. Results are arrays that belong
to the caller; when the last of their views dies, their memory is kept for the next buffer of that size.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

ALIGNMENT = 64  # bytes: that of vectors and of cache lines
KEPT_BYTES = 256 * 2**20  # so much free memory is kept
MIN_POOLED = 4096  # bytes: the allocator has smaller blocks at hand, at multiples of the 16 bytes that vectors need
MAX_WAIT = 0.1  # seconds for the pool; a signal handler that interrupts a lease of its own thread would wait for ever


class MemoryPool:
    """Free blocks of memory, by size; if they exceed the limit, sizes that were not returned for the longest time go first.

    Memory comes back whenever an array dies: in any thread, and between any two instructions of one that works on the pool.
    So it is only put down, in `_returned`, and whoever has the lock next puts it away.
    """

    def __init__(self, limit: int = KEPT_BYTES) -> None:
        """Start with an empty pool that keeps up to `limit` bytes."""
        self.limit = limit
        self.kept = 0
        self._free: dict[int, list[np.ndarray]] = {}
        self._returned: deque[np.ndarray] = deque()
        self._lock = threading.Lock()

    def lease(self, nbytes: int) -> np.ndarray:
        """Aligned bytes of undefined contents, which return to the pool when the array and all its views are dead."""
        memory = None
        if self._lock.acquire(timeout=MAX_WAIT):
            try:
                memory = self._take(nbytes)
            finally:
                self._lock.release()
            self._put_away()
        return np.asarray(_Lease(aligned_bytes(nbytes) if memory is None else memory, self._give_back))

    def _take(self, nbytes: int) -> np.ndarray | None:
        free = self._free.get(nbytes)
        if not free:
            return None
        self.kept -= nbytes
        return free.pop()

    def _give_back(self, memory: np.ndarray) -> None:
        if memory.nbytes <= self.limit:
            self._returned.append(memory)
            self._put_away()

    def _put_away(self) -> None:
        """Keep what was returned. Another thread that has the lock does so after it has released it."""
        while self._returned and self._lock.acquire(blocking=False):
            try:
                self._keep_returned()
            finally:
                self._lock.release()

    def _keep_returned(self) -> None:
        while self._returned:
            memory = self._returned.popleft()
            free = self._free.pop(memory.nbytes, [])
            self._free[memory.nbytes] = free  # moved to the end: the last to be dropped
            free.append(memory)
            self.kept += memory.nbytes
        while self.kept > self.limit and self._free:
            self._throw_away()

    def after_fork(self) -> None:
        """Replace the lock, which a thread that the child lacks may hold."""
        self._lock = threading.Lock()

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
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_POOL.after_fork)


def leased_bytes(nbytes: int) -> np.ndarray:
    """At least `nbytes` bytes, and at least one; of the process's pool, if they are many."""
    if nbytes < MIN_POOLED:
        return np.empty(max(nbytes, 1), np.uint8)
    return _POOL.lease(nbytes)


def aligned_bytes(nbytes: int) -> np.ndarray:
    """Fresh memory whose address is a multiple of ALIGNMENT."""
    whole = np.empty(nbytes + ALIGNMENT, np.uint8)
    start = -whole.ctypes.data % ALIGNMENT
    return whole[start : start + max(nbytes, 1)]


def address(array: Any) -> int:
    """The address of a numpy array's memory: by the buffer protocol, which is fast, if that may write to it."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    except (TypeError, ValueError):  # read-only, without elements, or of a type that Python's struct lacks
        start: int = array.__array_interface__["data"][0]
        return start
