"""A tape: a program, or a part of one without host steps, as a list of words that a device replays.

Its instructions work on registers, each of which holds the address of some memory. `replay.c` runs tapes on the processor;
`ReplayingDevice` is the protocol of devices that run them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from indexing.runtime.device import Buffer, Device, Launch, LaunchTimes

if TYPE_CHECKING:
    import numpy as np

    from indexing.emitters.kernel import Kernel


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


@dataclass(slots=True)
class Tape:
    """The words of a program, the kernels that they launch by number, and its registers.

    `sizes` has the bytes of each register's memory, which belongs to the program, except for `arguments`, passed by each run,
    and `constants`; the memory of `zeros` is zero before the first run. The caller takes over the memory of `results` at the
    end of a run; the program takes over that of arguments in `consumed`.
    """

    words: list[int] = field(default_factory=list)
    kernels: list[Launch] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    arguments: list[int] = field(default_factory=list)
    consumed: set[int] = field(default_factory=set)
    constants: dict[int, Buffer] = field(default_factory=dict)
    zeros: dict[int, np.ndarray] = field(default_factory=dict)
    results: list[int] = field(default_factory=list)
    moved: set[int] = field(default_factory=set)  # registers whose addresses may be exchanged
    widest: int = 1  # the most registers of one instruction
    counters: int = 0  # of iterations, all 0 before and after a run

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
        self.words += (Opcode.REPEAT, self.counters, count, 0)
        self.counters += 1
        return self.position - 1

    def jump(self, to: int = 0) -> int:
        """Jump. Returns the jump, whose target `land` sets if it is not known yet."""
        self.words += (Opcode.JUMP, to)
        return self.position - 1

    def switch(self, register: int, count: int) -> list[int]:
        """Jump to one of several targets, by an s32; to the last one if it is out of range. Returns the jumps to `land`."""
        self.words += (Opcode.SWITCH, register, count, *(0,) * count)
        return list(range(self.position - count, self.position))

    def land(self, place: int) -> None:
        """Set the target of a jump to the next instruction."""
        self.words[place] = self.position

    def end(self) -> None:
        """End the program."""
        self.words.append(Opcode.END)


class DeviceProgram(Protocol):
    """A tape that a device is ready to run."""

    def run(
        self, arguments: Sequence[Buffer], take: Callable[[int], Buffer], times: LaunchTimes | None = None
    ) -> list[Buffer]:
        """Run the tape on the buffers of its arguments; returns those of its results, in memory from `take`.

        The program takes over the buffers of consumed arguments, which may become results. `times` is called with the time of
        each kernel.
        """


@runtime_checkable
class ReplayingDevice(Device, Protocol):
    """A device that runs tapes, and compiles their kernels together."""

    def prepare(self, kernels: Sequence[Kernel]) -> None:
        """Compile kernels, several at a time, for `load` to find; `load` raises for those that the compiler refuses."""

    def program(self, tape: Tape) -> DeviceProgram:
        """Make a tape ready to run; its kernels are launches of this device."""
