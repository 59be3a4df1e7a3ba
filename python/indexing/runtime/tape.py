"""A tape: a program as a list of words: launches, copies, jumps, calls, and steps that the host computes.

Its instructions work on registers, each of which holds some memory. `replay.c` runs tapes on the processor, `interpreter.py` on
every other device; `ReplayingDevice` is the protocol of devices that run them by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from time import perf_counter
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from indexing.kernels.kernel import Kernel
from indexing.runtime.device import Buffer, Device, Launch, LaunchTimes
from indexing.runtime.memory import ArrayFormat

if TYPE_CHECKING:
    import numpy as np

Result = TypeVar("Result")


class Opcode(IntEnum):
    """The instructions of a tape, and the words that follow each; `replay.c` has the same list."""

    END = 0
    LAUNCH = 1  # kernel, count, registers
    COPY = 2  # target, source, bytes
    MOVE = 3  # count, then pairs: target, source
    UNLESS = 4  # register of a predicate, target if it is false
    JUMP = 5  # target
    SWITCH = 6  # register of an s32, count, target for each value
    REPEAT = 7  # counter, count, target after so many iterations
    HOST = 8  # step of the host or of a library, numbers of operands and of results, registers of both
    CALL = 9  # counter that keeps the position to return to, target
    RETURN = 10  # counter


@dataclass(frozen=True, slots=True)
class HostStep:
    """A step that the host computes: an instruction without a kernel, or a change of layout. `compute` takes and returns
    arrays with their dimensions in their own order.
    """

    compute: Callable[[Sequence[np.ndarray]], Sequence[np.ndarray]]
    operands: tuple[ArrayFormat, ...]
    results: tuple[ArrayFormat, ...]

    def run(self, stored: Sequence[np.ndarray], times: Callable[[float, int], None] | None) -> list[np.ndarray]:
        """The results, with dimensions in the order of memory, of operands in that order. `times` gets the seconds, and 1."""
        arrays = [form.logical(array) for form, array in zip(self.operands, stored, strict=True)]
        if times is None:
            results = self.compute(arrays)
        else:
            start = perf_counter()
            results = self.compute(arrays)
            times(perf_counter() - start, 1)
        return [form.stored(array) for form, array in zip(self.results, results, strict=True)]


def launch_timed(
    device: Device, launch: Launch, buffers: Sequence[Buffer], times: Callable[[float, int], None] | None
) -> None:
    """Launch on buffers. `times` gets the seconds between two moments at which the device has finished, and 1."""
    if times is None:
        launch(buffers)
        return
    device.finish()
    start = perf_counter()
    launch(buffers)
    device.finish()
    times(perf_counter() - start, 1)


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """A step that a library of the device computes, from the memory of its operands to that of its results."""

    launch: Launch

    def run(self, device: Device, buffers: Sequence[Buffer], times: Callable[[float, int], None] | None) -> None:
        """Call the library on the buffers of operands and results. `times` gets the seconds, and 1."""
        launch_timed(device, self.launch, buffers, times)


@dataclass(frozen=True, slots=True)
class SmallKernel:
    """A kernel whose launch takes one core few `steps`, as the model counts them: fewer than threads are woken for."""

    kernel: Kernel
    steps: int


@dataclass(slots=True)
class Tape:
    """The words of a program, the kernels that they launch by number, and its registers.

    `sizes` has the bytes of each register's memory, which belongs to the run, except for `arguments`, which the caller passes
    and nothing overwrites, and `constants`; the memory of `zeros` is zero before the first run. `results` are registers of the
    run's own memory.
    """

    words: list[int] = field(default_factory=list)
    kernels: list[Launch] = field(default_factory=list)
    small: dict[int, SmallKernel] = field(default_factory=dict)  # kernels of loops that one core runs, by number
    host_steps: list[HostStep | LibraryCall] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    arguments: list[int] = field(default_factory=list)
    constants: dict[int, Buffer] = field(default_factory=dict)
    zeros: dict[int, np.ndarray] = field(default_factory=dict)
    results: list[int] = field(default_factory=list)
    moved: set[int] = field(default_factory=set)  # registers whose addresses may be exchanged
    widest: int = 1  # the most registers of one instruction
    counters: int = 0  # of iterations, which are 0 before and after a loop, and of calls

    def register(self, nbytes: int) -> int:
        """A new register."""
        self.sizes.append(nbytes)
        return len(self.sizes) - 1

    @property
    def position(self) -> int:
        """The position of the next instruction."""
        return len(self.words)

    def launch(self, kernel: int, registers: Sequence[int]) -> None:
        """Launch the kernel of that number on the memory of registers."""
        self.words += (Opcode.LAUNCH, kernel, len(registers), *registers)
        self.widest = max(self.widest, len(registers))

    def copy(self, target: int, source: int) -> None:
        """Copy the bytes of a register's memory."""
        self.words += (Opcode.COPY, target, source, self.sizes[source])

    def move(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Permute the addresses of registers: each target takes that of its source."""
        assert sorted(t for t, _ in pairs) == sorted(s for _, s in pairs)
        if pairs:
            self.words += (Opcode.MOVE, len(pairs), *(r for pair in pairs for r in pair))
            self.moved |= {target for target, _ in pairs}
            self.widest = max(self.widest, len(pairs))

    def unless(self, register: int) -> int:
        """Jump if a predicate is false. Returns the jump, whose target `land` sets."""
        self.words += (Opcode.UNLESS, register, 0)
        return self.position - 1

    def unless_repeated(self, count: int) -> int:
        """Jump after `count` iterations. Returns the jump, whose target `land` sets."""
        self.words += (Opcode.REPEAT, self.counter(), count, 0)
        return self.position - 1

    def counter(self) -> int:
        """A new counter."""
        self.counters += 1
        return self.counters - 1

    def jump(self, to: int = 0) -> int:
        """Jump. Returns the jump, whose target `land` sets if it is not known yet."""
        self.words += (Opcode.JUMP, to)
        return self.position - 1

    def switch(self, register: int, count: int) -> list[int]:
        """Jump to one of several targets, by an s32; to the last one if it is out of range. Returns the jumps to `land`."""
        self.words += (Opcode.SWITCH, register, count, *(0,) * count)
        return list(range(self.position - count, self.position))

    def host(self, step: int, operands: Sequence[int], results: Sequence[int]) -> None:
        """Let the host compute a step from the memory of operands to that of results, which must differ."""
        self.words += (Opcode.HOST, step, len(operands), len(results), *operands, *results)

    def host_step_at(self, position: int) -> tuple[int, list[int], list[int], int]:
        """The host step at a position: its number, the registers of its operands and results, and the next position."""
        step, operands, results = self.words[position + 1 : position + 4]
        first, end = position + 4 + operands, position + 4 + operands + results
        return step, self.words[position + 4 : first], self.words[first:end], end

    def instructions(self) -> Iterator[tuple[int, list[int]]]:
        """The instructions: the position of each, and its words."""
        at = 0
        while at < len(self.words):
            length = self._length(at)
            yield at, self.words[at : at + length]
            at += length

    def _length(self, at: int) -> int:
        """The number of words of an instruction."""
        match self.words[at]:
            case Opcode.END:
                return 1
            case Opcode.JUMP | Opcode.RETURN:
                return 2
            case Opcode.UNLESS | Opcode.CALL:
                return 3
            case Opcode.LAUNCH | Opcode.SWITCH:
                return 3 + self.words[at + 2]
            case Opcode.MOVE:
                return 2 + 2 * self.words[at + 1]
            case Opcode.HOST:
                return 4 + sum(self.words[at + 2 : at + 4])
        return 4  # COPY and REPEAT

    def call(self, counter: int, target: int) -> None:
        """Jump to a subroutine that returns by `counter`."""
        self.words += (Opcode.CALL, counter, target)

    def return_by(self, counter: int) -> None:
        """End a subroutine."""
        self.words += (Opcode.RETURN, counter)

    def land(self, place: int) -> None:
        """Set the target of a jump to the next instruction."""
        self.words[place] = self.position

    def end(self) -> None:
        """End the program."""
        self.words.append(Opcode.END)

    @property
    def own(self) -> set[int]:
        """The registers whose memory every run allocates, without those of `zeros`."""
        return set(range(len(self.sizes))) - set(self.arguments) - self.constants.keys() - self.zeros.keys()


class DeviceProgram(Protocol):
    """A tape that a device is ready to run; several threads may run it at a time."""

    @property
    def allocated(self) -> int:
        """The number of buffers that runs have allocated."""

    def run(
        self,
        arguments: Sequence[Buffer | int],
        deliver: Callable[[int, Buffer], Result],
        times: LaunchTimes | None = None,
    ) -> list[Result]:
        """Run the tape on the buffers of its arguments, or at their addresses in memory that the device reads.

        Returns what `deliver` makes of each result, called with its number and its buffer. A buffer that `deliver` takes over
        is then marked as borrowed; others are used again.

        `times` is called with the number of each kernel (host steps are numbered after the kernels), its seconds and launches.
        """


@runtime_checkable
class ReplayingDevice(Device, Protocol):
    """A device that runs tapes by itself, and compiles their kernels together."""

    def prepare(self, kernels: Sequence[Kernel]) -> None:
        """Compile kernels, several at a time, for `load` to find; `load` raises for those that the compiler refuses."""

    def program(self, tape: Tape) -> DeviceProgram:
        """Make a tape ready to run; its kernels are launches of this device."""
