"""Tapes on the CPU: `replay.c` runs them, on memory that the program keeps between runs."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from indexing.runtime.device import Buffer, LaunchTimes
from indexing.runtime.host_kernel import HostKernel, team
from indexing.runtime.host_memory import address
from indexing.runtime.tape import Tape

if TYPE_CHECKING:
    import numpy as np


class _State(ctypes.Structure):
    """The struct `frame_t` of replay.c."""

    _fields_ = (
        ("registers", ctypes.c_void_p),
        ("spare", ctypes.c_void_p),
        ("nanoseconds", ctypes.c_void_p),
        ("counts", ctypes.c_void_p),
        ("iterations", ctypes.c_void_p),
        ("at", ctypes.c_int64),
    )


class _Frame:
    """The registers and memory of a run; used by one run at a time."""

    def __init__(self, tape: Tape, upload: Callable[[np.ndarray], Buffer]) -> None:
        self.registers = (ctypes.c_void_p * max(len(tape.sizes), 1))()
        self.memory: dict[int, Buffer] = {}
        self.missing = set(range(len(tape.sizes))) - set(tape.arguments) - tape.constants.keys() - tape.zeros.keys()
        for register, buffer in tape.constants.items():
            self.registers[register] = address(buffer.handle)
        for register, array in tape.zeros.items():
            self.set_register(register, upload(array))
        self.spare = (ctypes.c_void_p * tape.widest)()
        self.iterations = (ctypes.c_int64 * max(tape.counters, 1))()
        self.state = _State(
            *map(ctypes.addressof, (self.registers, self.spare)), None, None, ctypes.addressof(self.iterations), 0
        )

    def set_register(self, register: int, buffer: Buffer) -> None:
        """Set a register to the memory of a buffer, and keep the buffer alive."""
        self.memory[register] = buffer
        self.registers[register] = address(buffer.handle)

    def complete(self, take: Callable[[int], Buffer], sizes: Sequence[int]) -> None:
        """Allocate memory for registers that have none, at first or because results took it."""
        for register in self.missing:
            self.set_register(register, take(sizes[register]))
        self.missing.clear()

    def update_moved(self, moved: set[int]) -> None:
        """Update the buffers of registers whose addresses a run exchanged."""
        by_address = {address(self.memory[r].handle): self.memory[r] for r in moved}
        for register in moved:
            self.memory[register] = by_address[self.registers[register] or 0]


class HostProgram:
    """A tape that is ready to run; several threads may run it concurrently."""

    def __init__(self, tape: Tape, upload: Callable[[np.ndarray], Buffer]) -> None:
        """Prepare a tape; `upload` copies its constant arrays to buffers."""
        self._tape = tape
        self._upload = upload
        self._kernels: list[HostKernel] = tape.kernels  # type: ignore[assignment]
        self._words = (ctypes.c_int64 * len(tape.words))(*tape.words)
        self._launches = (ctypes.c_void_p * max(len(self._kernels), 1))(*(k.address for k in self._kernels))
        self._free: list[_Frame] = []

    def run(
        self, arguments: Sequence[Buffer], take: Callable[[int], Buffer], times: LaunchTimes | None = None
    ) -> list[Buffer]:
        """Run the tape on the buffers of its arguments; returns those of its results, in memory from `take`.

        The program takes over the buffers of consumed arguments, which may become results.
        """
        tape = self._tape
        try:
            frame = self._free.pop()
        except IndexError:  # the first run, or other threads use all frames
            frame = _Frame(tape, self._upload)
        frame.complete(take, tape.sizes)
        for register, buffer in zip(tape.arguments, arguments, strict=True):
            if register in tape.consumed:
                frame.set_register(register, buffer)
            else:
                frame.registers[register] = address(buffer.handle)
        self._replay(frame, times)
        if tape.moved:
            frame.update_moved(tape.moved)
        results = [frame.memory.pop(register) for register in tape.results]
        frame.missing.update(tape.results)
        for register in tape.consumed:
            frame.missing.discard(register)
            frame.memory.pop(register, None)
        self._free.append(frame)
        return results

    def _replay(self, frame: _Frame, times: LaunchTimes | None) -> None:
        """Run to the end. Whenever the program pauses, Python handles signals."""
        run, state = team().run_program, frame.state
        counts = None
        if times is not None:
            counts = [(ctypes.c_int64 * max(len(self._kernels), 1))() for _ in range(2)]
            state.nanoseconds, state.counts = map(ctypes.addressof, counts)
        try:
            while paused := run(self._words, self._launches, ctypes.byref(state)):
                if paused < 0:
                    team().raise_exception()
        finally:
            state.nanoseconds = state.counts = None
        if times is not None and counts is not None:
            for number in range(len(self._kernels)):
                times(number, counts[0][number] * 1e-9, counts[1][number])
