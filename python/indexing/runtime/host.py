"""Kernels on the processor: C by a compiler, loaded by ctypes, run on all cores by threads that stay.

A kernel's blocks are independent of each other, so that each thread takes ranges of them until none are left. A call of
the compiled function releases Python's lock. What is little work runs on the calling thread alone.
"""

from __future__ import annotations

import ctypes
import math
import os
import threading
from collections.abc import Sequence
from functools import cache
from queue import SimpleQueue
from time import perf_counter_ns
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from indexing.errors import CompileError
from indexing.runtime.compiler import compiler, shared_library
from indexing.runtime.device import Buffer, CompilableKernel, Launch

if TYPE_CHECKING:
    from collections.abc import Callable


ALIGNMENT = 64  # bytes; of vectors and lines of the cache
STACK_BYTES = 16 * 2**20
WORTH_SHARING = 60_000  # nanoseconds of work; waking threads takes a tenth of it
FIRST_GUESS = 40  # nanoseconds a thread of the kernel takes, until it is known
RANGES = 8  # that each core takes of a kernel's blocks, on average

Task: TypeAlias = "Callable[[], None]"


class Workers:
    """Threads that wait for work, one fewer than there are cores."""

    def __init__(self, count: int) -> None:
        """Start them."""
        self.count = count
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        before = threading.stack_size(STACK_BYTES)
        try:
            for k in range(count):
                threading.Thread(target=self._serve, name=f"indexing-{k}", daemon=True).start()
        finally:
            threading.stack_size(before)

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None:
            task()

    def run(self, work: Callable[[int, int], None], blocks: int) -> None:
        """work(first, last) for ranges that together are all blocks, on all cores; back when all are done."""
        size = max(1, -(-blocks // ((self.count + 1) * RANGES)))
        helpers = min(self.count, -(-blocks // size) - 1)
        run = _Run(work, blocks, size)
        for _ in range(helpers):
            self._tasks.put(run.help)
        run.take_all()
        run.wait()


class _Run:
    """One launch that several threads share. Nobody waits for a thread that comes when nothing is left to do."""

    def __init__(self, work: Callable[[int, int], None], blocks: int, size: int) -> None:
        self._work, self._blocks, self._size = work, blocks, size
        self._next = 0
        self._idle = threading.Condition()
        self._helping = 0
        self._failure: BaseException | None = None

    def take_all(self) -> None:
        """Ranges of blocks, until none are left."""
        while True:
            with self._idle:
                first = self._next
                self._next = first + self._size
            if first >= self._blocks:
                return
            self._work(first, min(first + self._size, self._blocks))

    def help(self) -> None:
        """What a waiting thread does."""
        with self._idle:
            if self._next >= self._blocks:
                return
            self._helping += 1
        try:
            self.take_all()
        except BaseException as failure:  # passed on to the thread that launched
            self._failure = failure
        with self._idle:
            self._helping -= 1
            self._idle.notify()

    def wait(self) -> None:
        """Until all that has been taken is done."""
        with self._idle:
            self._idle.wait_for(lambda: not self._helping)
        if self._failure is not None:
            raise self._failure


@cache
def workers() -> Workers:
    """The threads of this process."""
    return Workers(
        max((len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1) - 1, 0)
    )


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=workers.cache_clear)  # threads do not survive a fork


class HostKernel:
    """A compiled kernel. `launch` runs it on addresses of buffers, one for each that it takes."""

    def __init__(self, name: str, source: str, grid: tuple[int, int, int], threads: int) -> None:
        """Compile the source, or find it compiled. `threads` is how many a block had before they became loops."""
        self.name = name
        self.blocks = grid[0] * grid[1] * grid[2]
        self._library = ctypes.CDLL(str(shared_library(name, source)))
        self._function = getattr(self._library, name)
        self._function.argtypes = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        self._function.restype = None
        self._cost = float(FIRST_GUESS * threads)  # nanoseconds a block

    def launch(self, addresses: Sequence[int]) -> None:
        """Run all blocks; back when they are done."""
        passed = (ctypes.c_void_p * max(len(addresses), 1))(*addresses)
        at = ctypes.addressof(passed)
        function, blocks = self._function, self.blocks
        if blocks < 2 or self._cost * blocks < WORTH_SHARING or not workers().count:
            start = perf_counter_ns()
            function(at, 0, blocks)
            if blocks:
                self._cost = (perf_counter_ns() - start) / blocks
            return
        start = perf_counter_ns()
        workers().run(lambda first, last: function(at, first, last), blocks)
        self._cost = (perf_counter_ns() - start) * (workers().count + 1) / blocks


class Host:
    """The processor as a device: buffers are numpy arrays of bytes."""

    name = "cpu"
    dialect = "c"

    def __init__(self) -> None:
        """Raises CompileError where there is no compiler."""
        compiler()
        self._kernels: dict[tuple[str, str], HostKernel] = {}

    def load(self, kernel: CompilableKernel) -> Launch:
        """Compile the kernel, or find it compiled; CompileError with the numbered source and the compiler's log."""
        if kernel.dialect != self.dialect:
            raise CompileError(f"kernel {kernel.name} is in dialect {kernel.dialect!r}; emit it with dialect='c'")
        key = (kernel.name, kernel.source)
        if key not in self._kernels:
            threads = kernel.block[0] * kernel.block[1] * kernel.block[2]
            self._kernels[key] = HostKernel(kernel.name, kernel.source, kernel.grid, threads)
        entry = self._kernels[key]
        return lambda buffers: entry.launch([address(_bytes_of(b)) for b in buffers])

    def empty(self, nbytes: int) -> Buffer:
        """A buffer of `nbytes` bytes, contents undefined."""
        return Buffer(aligned_bytes(nbytes), nbytes)

    def upload(self, array: np.ndarray) -> Buffer:
        """A buffer with a copy of the array's bytes, row-major."""
        buffer = self.empty(array.nbytes)
        _bytes_of(buffer)[: array.nbytes] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        return buffer

    def share(self, array: np.ndarray) -> Buffer:
        """The array's own memory, which must not be written to; a copy where it is not row-major without gaps."""
        host = np.ascontiguousarray(array)
        return Buffer(host.reshape(-1).view(np.uint8), host.nbytes, borrowed=True)

    def download(self, buffer: Buffer, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
        """The buffer's first elements as a numpy array in the same memory, which from now on belongs to the array."""
        buffer.borrowed = True
        nbytes = dtype.itemsize * math.prod(shape)
        return _bytes_of(buffer)[:nbytes].view(dtype).reshape(shape)

    def copy(self, source: Buffer, target: Buffer) -> None:
        """Copy `source.nbytes` bytes."""
        _bytes_of(target)[: source.nbytes] = _bytes_of(source)[: source.nbytes]

    def finish(self) -> None:
        """Nothing is left to do when a call comes back."""


def aligned_bytes(nbytes: int) -> np.ndarray:
    """Fresh memory that begins at a multiple of ALIGNMENT."""
    whole = np.empty(nbytes + ALIGNMENT, np.uint8)
    start = -whole.ctypes.data % ALIGNMENT
    return whole[start : start + max(nbytes, 1)]


def address(array: np.ndarray) -> int:
    """Where an array's memory begins."""
    return int(array.__array_interface__["data"][0])


def _bytes_of(buffer: Buffer) -> np.ndarray:
    assert isinstance(buffer.handle, np.ndarray)
    return buffer.handle
