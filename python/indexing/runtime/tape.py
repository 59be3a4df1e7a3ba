"""A tape: what a program does between two looks of Python, as a list of words that a device replays.

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
    UNLESS = 4  # register of a truth value, where to go on if it is false
    JUMP = 5  # where to go on
    SWITCH = 6  # register of an s32, count, where to go on for each value
    REPEAT = 7  # counter, count, where to go on after so many turns


@dataclass(slots=True)
class Tape:
    """Words, the kernels that they launch by number, and registers.

    `sizes` are the bytes of each register's memory. It is the program's own but for `arguments`, which each run passes,
    `constants`, which stay, and `zeros`: memory of the program that holds zeros before the first run. Those of `results`
    are given away at the end of a run. Memory of arguments that are in `consumed` is the program's while it runs.
    """

    words: list[int] = field(default_factory=list)
    kernels: list[Launch] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    arguments: list[int] = field(default_factory=list)
    consumed: set[int] = field(default_factory=set)
    constants: dict[int, Buffer] = field(default_factory=dict)
    zeros: dict[int, np.ndarray] = field(default_factory=dict)
    results: list[int] = field(default_factory=list)
    moved: set[int] = field(default_factory=set)  # registers whose address another one may take over
    widest: int = 1  # registers that an instruction works on
    counters: int = 0  # of turns, all 0 before and after a run

    def register(self, nbytes: int) -> int:
        """A new register."""
        self.sizes.append(nbytes)
        return len(self.sizes) - 1

    @property
    def position(self) -> int:
        """The place of the next instruction."""
        return len(self.words)

    def launch(self, kernel: int, registers: Sequence[int]) -> None:
        """Launch the kernel of that number on the memory of registers."""
        self.words += (Opcode.LAUNCH, kernel, len(registers), *registers)
        self.widest = max(self.widest, len(registers))

    def copy(self, target: int, source: int) -> None:
        """Copy the bytes of a register's memory."""
        self.words += (Opcode.COPY, target, source, self.sizes[source])

    def move(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Let targets take over the addresses of sources, all at a time: a permutation of registers."""
        assert sorted(t for t, _ in pairs) == sorted(s for _, s in pairs)
        if pairs:
            self.words += (Opcode.MOVE, len(pairs), *(r for pair in pairs for r in pair))
            self.moved |= {target for target, _ in pairs}
            self.widest = max(self.widest, len(pairs))

    def unless(self, register: int) -> int:
        """Jump if a truth value is false. The place to `land` comes back."""
        self.words += (Opcode.UNLESS, register, 0)
        return self.position - 1

    def unless_repeated(self, count: int) -> int:
        """Jump at the turn after the last of `count`. The place to `land` comes back."""
        self.words += (Opcode.REPEAT, self.counters, count, 0)
        self.counters += 1
        return self.position - 1

    def jump(self, to: int = 0) -> int:
        """Go on elsewhere. The place to `land` comes back, where that is not known yet."""
        self.words += (Opcode.JUMP, to)
        return self.position - 1

    def switch(self, register: int, count: int) -> list[int]:
        """Go on at one of several places, by an s32: at the last one where it is out of range. The places to `land`."""
        self.words += (Opcode.SWITCH, register, count, *(0,) * count)
        return list(range(self.position - count, self.position))

    def land(self, place: int) -> None:
        """Let a jump go on at what comes next."""
        self.words[place] = self.position

    def end(self) -> None:
        """End the program."""
        self.words.append(Opcode.END)


class DeviceProgram(Protocol):
    """A tape that a device is ready to run."""

    def run(
        self, arguments: Sequence[Buffer], take: Callable[[int], Buffer], times: LaunchTimes | None = None
    ) -> list[Buffer]:
        """Run on the buffers of the tape's arguments; the buffers of its results, `take` having given their memory.

        Those of consumed arguments go, too: they are results, or the program's from now on. `times` is told what each
        kernel took.
        """


@runtime_checkable
class ReplayingDevice(Device, Protocol):
    """A device that runs tapes, of kernels that it compiles together."""

    def prepare(self, kernels: Sequence[Kernel]) -> None:
        """Compile kernels of which none may be loaded yet, several at a time; `load` finds them. Raises as `load` does."""

    def program(self, tape: Tape) -> DeviceProgram:
        """Make a tape ready to run; its kernels are launches of this device."""
