"""Tapes on the CPU: `replay.c` runs them, and returns to Python at steps of the host."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import partial

import numpy as np

from indexing.runtime.compiled_loops import compile_loops
from indexing.runtime.device import Buffer, Device, LaunchTimes
from indexing.runtime.host_kernel import HostKernel, thread_pool
from indexing.runtime.host_memory import address
from indexing.runtime.memory import ArrayFormat
from indexing.runtime.runs import RunState
from indexing.runtime.tape import LibraryCall, Tape

STOPPED, AT_HOST_STEP = -1, 2  # why `program_run` returns; as in replay.c
COMPILED_LOOP = 11  # the instruction that calls a compiled loop, in place of its first one


class _Frame(ctypes.Structure):
    """The struct `frame_t` of replay.c."""

    _fields_ = (
        ("registers", ctypes.c_void_p),
        ("spare", ctypes.c_void_p),
        ("nanoseconds", ctypes.c_void_p),
        ("counts", ctypes.c_void_p),
        ("counters", ctypes.c_void_p),
        ("at", ctypes.c_int64),
    )


class HostCode:
    """The words of a tape and its kernels, as `replay.c` reads them: `words` calls compiled loops, `timed_words` has none."""

    def __init__(self, tape: Tape) -> None:
        """Copy the words, and compile loops. Raises CompileError."""
        kernels: list[HostKernel] = tape.kernels  # type: ignore[assignment]
        self.timed_words = (ctypes.c_int64 * len(tape.words))(*tape.words)
        self.words = (ctypes.c_int64 * len(tape.words))(*tape.words)
        for loop in compile_loops(tape):
            self.words[loop.start : loop.start + 3] = [COMPILED_LOOP, loop.function, loop.end]
        self.launches = (ctypes.c_void_p * max(len(kernels), 1))(*(k.address for k in kernels))


class HostRun(RunState):
    """A run on the CPU: registers are addresses."""

    def __init__(self, tape: Tape, device: Device, code: HostCode) -> None:
        """Start with the tape's constants."""
        self._registers = (ctypes.c_void_p * max(len(tape.sizes), 1))()
        self._spare = (ctypes.c_void_p * tape.widest)()
        self._counters = (ctypes.c_int64 * max(tape.counters, 1))()
        registers, spare = ctypes.addressof(self._registers), ctypes.addressof(self._spare)
        self._frame = _Frame(registers, spare, None, None, ctypes.addressof(self._counters), 0)
        self._code = code
        super().__init__(tape, device)

    def put(self, register: int, buffer: Buffer) -> None:
        """Let a register have the address of a buffer."""
        self.memory[register] = buffer
        self._registers[register] = address(buffer.handle)

    def take(self, arguments: Sequence[Buffer | int]) -> None:
        """Let the registers of arguments have their addresses."""
        for register, memory in zip(self.tape.arguments, arguments, strict=True):
            if isinstance(memory, int):
                self._registers[register] = memory
            else:
                self.put(register, memory)

    def execute(self, times: LaunchTimes | None) -> None:
        """Run to the end. Whenever the program pauses, Python handles signals."""
        run, frame, code = thread_pool().run_program, ctypes.byref(self._frame), self._code
        counts = None if times is None else self._count_launches()
        words = code.words if times is None else code.timed_words
        while stopped := run(words, code.launches, frame):
            if stopped == STOPPED:
                thread_pool().raise_exception()
            elif stopped == AT_HOST_STEP:
                self._run_host_step(times)
        if times is not None and counts is not None:
            self._frame.nanoseconds = self._frame.counts = None
            for number in range(len(self.tape.kernels)):
                times(number, counts[0][number] * 1e-9, counts[1][number])
        self._update_moved()

    def _count_launches(self) -> list[ctypes.Array[ctypes.c_int64]]:
        """The nanoseconds and the launches of each kernel, which the run counts."""
        counts = [(ctypes.c_int64 * max(len(self.tape.kernels), 1))() for _ in range(2)]
        self._frame.nanoseconds, self._frame.counts = map(ctypes.addressof, counts)
        return counts

    def _run_host_step(self, times: LaunchTimes | None) -> None:
        number, operands, results, behind = self.tape.host_step_at(self._frame.at)
        step = self.tape.host_steps[number]
        step_times = None if times is None else partial(times, len(self.tape.kernels) + number)
        self._frame.at = behind
        if isinstance(step, LibraryCall):
            step.run(self.device, [self._held(r) for r in (*operands, *results)], step_times)
            return
        arrays = [self._view(r, form) for r, form in zip(operands, step.operands, strict=True)]
        for array in arrays:
            array.flags.writeable = False
        values = step.run(arrays, step_times)
        for register, form, array in zip(results, step.results, values, strict=True):
            self._view(register, form)[...] = array

    def _held(self, register: int) -> Buffer:
        """The memory of a register, whose address the run may have exchanged."""
        nbytes = self.tape.sizes[register]
        return Buffer(np.frombuffer(memoryview(self._memory(register, nbytes)), np.uint8), nbytes)

    def _view(self, register: int, form: ArrayFormat) -> np.ndarray:
        """The memory of a register as an array with its dimensions in the order of memory."""
        return np.ndarray(form.stored_sizes, form.dtype, memoryview(self._memory(register, form.nbytes)))

    def _memory(self, register: int, nbytes: int) -> ctypes.Array[ctypes.c_uint8]:
        return (ctypes.c_uint8 * nbytes).from_address(self._registers[register] or 0)

    def _update_moved(self) -> None:
        """Update the buffers of registers whose addresses the run exchanged."""
        moved = self.tape.moved
        by_address = {address(self.buffer(r).handle): self.buffer(r) for r in moved}
        for register in moved:
            self.memory[register] = by_address[self._registers[register] or 0]
