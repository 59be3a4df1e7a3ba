"""The protocols of devices: buffers, copies, and kernels that can be launched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from indexing.errors import CompileError

if TYPE_CHECKING:
    from indexing.emitters.targets.target import Dialect


@dataclass(slots=True, eq=False)
class Buffer:
    """Device memory of `nbytes`; `handle` is what the device's own library calls it.

    `borrowed` marks memory that belongs to a caller: it is never written to, and never given out again.
    """

    handle: object
    nbytes: int
    borrowed: bool = False


class CompilableKernel(Protocol):
    """A kernel as a device needs it; an emitter's Kernel is one."""

    @property
    def name(self) -> str:
        """The entry function's."""

    @property
    def source(self) -> str:
        """A translation unit."""

    @property
    def dialect(self) -> str:
        """The target it is written for."""

    @property
    def launch_grid(self) -> tuple[int, int, int]:
        """Blocks in x, y and z."""

    @property
    def block(self) -> tuple[int, int, int]:
        """Threads of a block in x, y and z."""

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory that the source declares."""


def expect_dialect(kernel: CompilableKernel, dialect: Dialect) -> None:
    """Raise CompileError where a kernel is written for another target than the one of this dialect."""
    if kernel.dialect != dialect:
        raise CompileError(f"kernel {kernel.name} is in dialect {kernel.dialect!r}; emit it with dialect={dialect!r}")


Launch = Callable[[Sequence[Buffer]], None]
Clock = Callable[[int, int], float]  # seconds of launches: the number of the first one's arguments, how many
LaunchTimes = Callable[[int, float, int], None]  # a kernel's number, seconds, launches


@runtime_checkable
class Device(Protocol):
    """One device and one queue of work on it; everything is done in the order of the calls."""

    name: str
    dialect: Dialect

    def empty(self, nbytes: int) -> Buffer:
        """A buffer of `nbytes` bytes, contents undefined; at least one byte is allocated."""

    def upload(self, array: np.ndarray) -> Buffer:
        """A buffer with a copy of the array's bytes, row-major."""

    def share(self, array: np.ndarray) -> Buffer:
        """A buffer with the array's elements that is only read: the array's own memory where the device reads that."""

    def download(self, buffer: Buffer, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
        """A numpy array with the buffer's first elements; waits for all work before it. A buffer in host memory may become
        the array's own: it is marked as borrowed then.
        """

    def copy(self, source: Buffer, target: Buffer) -> None:
        """Copy `source.nbytes` bytes."""

    def finish(self) -> None:
        """Wait for all work."""

    def load(self, kernel: CompilableKernel) -> Launch:
        """Compile (or find in a cache) and return the launcher, which takes one buffer a passed argument.

        Raises CompileError with the numbered source and the compiler's log.
        """


class TimingDevice(Device, Protocol):
    """A device that tells how long its kernels take."""

    def clock(self, kernel: CompilableKernel, sets: Sequence[Sequence[Buffer]]) -> Clock:
        """A function that launches the kernel again and again, each time on the next of `sets` (after the last comes the
        first), and tells the seconds from the first launch's begin to the last one's end, by the device's own clock. Raises as
        `load`.
        """


@runtime_checkable
class ExchangingDevice(Device, Protocol):
    """A device that takes arrays which lie on it, and gives results out as such, without copies."""

    def borrow(self, array: object, dtype: np.dtype, shape: tuple[int, ...]) -> Buffer:
        """The array's memory as a buffer that is only read. Raises IndexingError where it is not row-major or elsewhere."""

    def export(self, buffer: Buffer, dtype: np.dtype, shape: tuple[int, ...]) -> object:
        """An array of the buffer's first elements, which other libraries read where it lies; the buffer is its own."""
