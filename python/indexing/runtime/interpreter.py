"""The interpreter of tapes, for devices that do not run them by themselves: Python launches kernel after kernel."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from indexing.runtime.device import Buffer, Device, LaunchTimes
from indexing.runtime.memory import ArrayFormat
from indexing.runtime.runs import RunState
from indexing.runtime.tape import LibraryCall, Opcode, Tape, launch_timed

PREDICATE, SELECTOR = np.dtype(np.bool_), np.dtype(np.int32)


class InterpretedRun(RunState):
    """A run of which Python carries out each instruction; a method for each returns the next position."""

    def __init__(self, tape: Tape, device: Device) -> None:
        """Start with the tape's constants."""
        super().__init__(tape, device)
        self._counters = [0] * tape.counters
        self._times: LaunchTimes | None = None
        self._instructions: dict[int, Callable[[int], int]] = {
            Opcode.LAUNCH: self._launch,
            Opcode.COPY: self._copy,
            Opcode.MOVE: self._move,
            Opcode.UNLESS: self._unless,
            Opcode.JUMP: self._jump,
            Opcode.SWITCH: self._switch,
            Opcode.REPEAT: self._repeat,
            Opcode.HOST: self._host,
            Opcode.CALL: self._call,
            Opcode.RETURN: self._return,
        }

    def execute(self, times: LaunchTimes | None) -> None:
        """Run to the end; with `times`, each launch starts when the device has finished the one before."""
        self._times = times
        words, at = self.tape.words, 0
        while words[at] != Opcode.END:
            at = self._instructions[words[at]](at)

    def _launch(self, at: int) -> int:
        kernel, count = self.tape.words[at + 1 : at + 3]
        buffers = [self.buffer(r) for r in self.tape.words[at + 3 : at + 3 + count]]
        launch_timed(self.device, self.tape.kernels[kernel], buffers, self._times_of(kernel))
        return at + 3 + count

    def _times_of(self, number: int) -> Callable[[float, int], None] | None:
        return None if self._times is None else partial(self._times, number)

    def _copy(self, at: int) -> int:
        target, source, nbytes = self.tape.words[at + 1 : at + 4]
        assert self.buffer(source).nbytes == self.buffer(target).nbytes == nbytes
        self.device.copy(self.buffer(source), self.buffer(target))
        return at + 4

    def _move(self, at: int) -> int:
        end = at + 2 + 2 * self.tape.words[at + 1]
        targets, sources = (self.tape.words[first:end:2] for first in (at + 2, at + 3))
        for register, buffer in zip(targets, [self.memory[r] for r in sources], strict=True):
            self.memory[register] = buffer
        return end

    def _unless(self, at: int) -> int:
        register, otherwise = self.tape.words[at + 1 : at + 3]
        return at + 3 if self._download(register, PREDICATE, ()) else otherwise

    def _jump(self, at: int) -> int:
        return self.tape.words[at + 1]

    def _switch(self, at: int) -> int:
        register, count = self.tape.words[at + 1 : at + 3]
        chosen = int(self._download(register, SELECTOR, ()))
        return self.tape.words[at + 3 + (chosen if 0 <= chosen < count else count - 1)]

    def _repeat(self, at: int) -> int:
        counter, count, behind = self.tape.words[at + 1 : at + 4]
        if self._counters[counter] < count:
            self._counters[counter] += 1
            return at + 4
        self._counters[counter] = 0
        return behind

    def _host(self, at: int) -> int:
        number, operands, results, behind = self.tape.host_step_at(at)
        step = self.tape.host_steps[number]
        times = self._times_of(len(self.tape.kernels) + number)
        if isinstance(step, LibraryCall):
            step.run(self.device, [self.buffer(r) for r in (*operands, *results)], times)
            return behind
        arrays = [self._array(r, form) for r, form in zip(operands, step.operands, strict=True)]
        for register, array in zip(results, step.run(arrays, times), strict=True):
            self.put(register, self.device.upload(np.ascontiguousarray(array)))
        return behind

    def _call(self, at: int) -> int:
        counter, target = self.tape.words[at + 1 : at + 3]
        self._counters[counter] = at + 3
        return target

    def _return(self, at: int) -> int:
        return self._counters[self.tape.words[at + 1]]

    def _array(self, register: int, form: ArrayFormat) -> np.ndarray:
        return self._download(register, form.dtype, form.stored_sizes)

    def _download(self, register: int, dtype: np.dtype, sizes: tuple[int, ...]) -> np.ndarray:
        """A register's array on the host. If that takes over its memory, the register gets a copy, which may be written to."""
        buffer = self.buffer(register)
        was_borrowed = buffer.borrowed
        array = self.device.download(buffer, dtype, sizes)
        if buffer.borrowed and not was_borrowed:
            self.put(register, self._copied(buffer))
        return array

    def _copied(self, buffer: Buffer) -> Buffer:
        copy = self.device.empty(buffer.nbytes)
        self.device.copy(buffer, copy)
        return copy
