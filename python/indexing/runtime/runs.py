"""Runs of a tape: each has registers and memory to itself, which later runs use again, so that threads share nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence

from indexing.runtime.device import Buffer, Device, LaunchTimes
from indexing.runtime.identity import core_count
from indexing.runtime.tape import Result, Tape


class RunState(ABC):
    """The registers of one run at a time, and the buffers that they refer to."""

    def __init__(self, tape: Tape, device: Device) -> None:
        """Refer to the tape's constants, and clear the memory of `zeros`; other memory comes with the first run."""
        self.tape = tape
        self.device = device
        self.memory: list[Buffer | None] = [None] * len(tape.sizes)
        self.allocated = 0
        self.missing = tape.own  # registers whose memory is yet to be allocated
        for register, buffer in tape.constants.items():
            self.put(register, buffer)
        for register, array in tape.zeros.items():
            self.put(register, device.upload(array))

    def put(self, register: int, buffer: Buffer) -> None:
        """Let a register refer to a buffer."""
        self.memory[register] = buffer

    def buffer(self, register: int) -> Buffer:
        """The buffer of a register."""
        buffer = self.memory[register]
        assert buffer is not None
        return buffer

    def take(self, arguments: Sequence[Buffer | int]) -> None:
        """Let the registers of arguments refer to the caller's memory."""
        for register, buffer in zip(self.tape.arguments, arguments, strict=True):
            assert isinstance(buffer, Buffer)
            self.put(register, buffer)

    @abstractmethod
    def execute(self, times: LaunchTimes | None) -> None:
        """Run the tape from its start to its end."""

    def allocate(self) -> None:
        """Allocate memory for registers that have none, at first or because a caller has it."""
        self.allocated += len(self.missing)
        for register in self.missing:
            self.put(register, self.device.empty(self.tape.sizes[register]))
        self.missing.clear()

    def forget(self) -> None:
        """Drop what belongs to callers: arguments, and results that they took over."""
        for register in self.tape.arguments:
            self.memory[register] = None
        self.missing.update(r for r in self.tape.results if self.buffer(r).borrowed)


class TapeProgram:
    """A tape that is ready to run. Idle states of runs are kept, at most one for each core."""

    def __init__(self, tape: Tape, start: Callable[[], RunState]) -> None:
        """Prepare a tape; `start` makes the state of a run."""
        self.tape = tape
        self._start = start
        # A deque is safe to share, also with signal handlers.
        self._idle: deque[RunState] = deque(maxlen=max(core_count(), 2))

    def run(
        self,
        arguments: Sequence[Buffer | int],
        deliver: Callable[[int, Buffer], Result],
        times: LaunchTimes | None = None,
    ) -> list[Result]:
        """As `DeviceProgram.run`. The state of a run that fails is dropped: nobody knows what its memory holds."""
        state = self._take()
        state.allocate()
        state.take(arguments)
        state.execute(times)
        results = [deliver(k, state.buffer(register)) for k, register in enumerate(self.tape.results)]
        state.forget()
        self._idle.append(state)
        return results

    @property
    def allocated(self) -> int:
        """The number of buffers that idle states have allocated in their runs."""
        return sum(state.allocated for state in self._idle.copy())

    def _take(self) -> RunState:
        try:
            return self._idle.pop()
        except IndexError:  # the first run, or other threads have all states
            return self._start()
