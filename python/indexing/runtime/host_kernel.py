"""Compiled kernels on the CPU, and the threads that run them.

A kernel's blocks are independent of each other, so each thread takes ranges of them until none are left. Calls of the
compiled function release the GIL. Small launches run on the calling thread alone.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Sequence
from importlib.resources import files
from typing import NoReturn

from indexing.runtime.compiler import load_library, shared_library
from indexing.runtime.compiling_together import entry_name
from indexing.runtime.device import Buffer, Clock
from indexing.runtime.host_memory import address
from indexing.runtime.identity import core_count
from indexing.runtime.once import Once

STACK_BYTES = 16 * 2**20
# Functions of Python for `pool_signals`.
SIGNALS = ("PyGILState_Ensure", "PyGILState_Release", "PyErr_CheckSignals", "PyErr_Fetch")
FIRST_GUESS = 40  # nanoseconds per kernel thread, until it has been measured


class ThreadPool:
    """Threads that wait for kernels, one fewer than cores, implemented in `thread_pool.c`; `replay.c` runs programs on them."""

    def __init__(self, helpers: int) -> None:
        """Start the threads. Raises CompileError if the compiler refuses their source."""
        here = files(__package__)
        source = "".join(here.joinpath(name).read_text() for name in ("thread_pool.c", "replay.c"))
        library = load_library(shared_library("thread_pool", source))
        library.pool_start.argtypes = (ctypes.c_int, ctypes.c_size_t)
        library.launch_kernel.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
        library.launch_kernel.restype = ctypes.c_int64
        library.program_run.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
        library.pool_run.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        library.launch_in_turn.argtypes = (ctypes.c_void_p, ctypes.c_void_p, *(ctypes.c_int64,) * 4)
        self.launch = library.launch_kernel
        self.launch_in_turn = library.launch_in_turn
        self.run_program = library.program_run
        self.run = library.pool_run
        self.forget = library.pool_forget
        library.pool_signals.argtypes = (ctypes.c_void_p,) * len(SIGNALS)
        library.pool_signals.restype = ctypes.POINTER(ctypes.c_void_p)
        functions = (ctypes.cast(ctypes.pythonapi[name], ctypes.c_void_p) for name in SIGNALS)
        self._raised = library.pool_signals(*functions)
        self.helpers = int(library.pool_start(helpers, STACK_BYTES))

    def raise_exception(self) -> NoReturn:
        """Raise what a signal's handler has raised during a launch, which that has stopped."""
        restore = ctypes.PYFUNCTYPE(None, *(ctypes.c_void_p,) * 3)(("PyErr_Restore", ctypes.pythonapi))
        restore(*self._raised[:3])
        raise KeyboardInterrupt  # not reached: the call above raises


@Once
def thread_pool() -> ThreadPool:
    """The threads of this process."""
    return ThreadPool(core_count() - 1)


def _after_fork() -> None:
    """Forget the threads, which do not survive a fork: the child starts its own when needed."""
    if thread_pool.is_made:
        thread_pool().forget()
        thread_pool.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class _Launch(ctypes.Structure):
    """The struct `launch_t` of replay.c."""

    _fields_ = (
        ("run", ctypes.c_void_p),
        ("blocks", ctypes.c_int64),
        ("work", ctypes.c_int64),
        ("launches", ctypes.c_int64),
    )


class HostKernel:
    """A compiled kernel. `launch` runs it on the addresses of its buffers."""

    def __init__(self, name: str, source: str, grid: tuple[int, int, int], threads: int) -> None:
        """Compile the source, or find it compiled. `threads` is the size of a block before its threads became loops."""
        self.name = name
        blocks = grid[0] * grid[1] * grid[2]
        path = shared_library(name, source)
        self._library = load_library(path)
        among_others = entry_name(path)
        entry = among_others if hasattr(self._library, among_others) else name
        self.function = ctypes.cast(getattr(self._library, entry), ctypes.c_void_p).value
        self._launch = _Launch(self.function, blocks, min(FIRST_GUESS * threads * blocks, 2**62), 0)
        self.address = ctypes.addressof(self._launch)

    def launch(self, addresses: Sequence[int]) -> None:
        """Run all blocks; returns when they are done."""
        if thread_pool().launch(self.address, (ctypes.c_void_p * max(len(addresses), 1))(*addresses)) < 0:
            thread_pool().raise_exception()

    def __call__(self, buffers: Sequence[Buffer]) -> None:
        """Launch on buffers."""
        self.launch([address(b.handle) for b in buffers])

    def clock(self, sets: Sequence[Sequence[Buffer]]) -> Clock:
        """As `TimingDevice.clock`; no Python code runs between launches."""
        rows = [address(b.handle) for buffers in sets for b in buffers]
        addresses = (ctypes.c_void_p * max(len(rows), 1))(*rows)
        width = len(rows) // len(sets)

        def seconds(first: int, calls: int) -> float:
            begin = time.perf_counter()
            if thread_pool().launch_in_turn(self.address, addresses, width, len(sets), first, calls) < 0:
                thread_pool().raise_exception()
            return time.perf_counter() - begin

        return seconds
