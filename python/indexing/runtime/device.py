"""The protocols of devices: buffers, copies, and kernels that can be launched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from indexing.device.record import Device as DeviceRecord
from indexing.errors import CompileError
from indexing.kernels.products import StridedProduct
from indexing.kernels.targets.target import Dialect


@dataclass(slots=True, eq=False)
class Buffer:
    """Device memory of `nbytes` bytes; `handle` is the object of the device's library.

    `borrowed` memory belongs to a caller: it is never overwritten or reused.
    """

    handle: object
    nbytes: int
    borrowed: bool = False


@runtime_checkable
class CompilableKernel(Protocol):
    """A kernel as a device needs it; an emitter's Kernel is one."""

    @property
    def name(self) -> str:
        """The name of the entry function."""

    @property
    def source(self) -> str:
        """The source text of a translation unit."""

    @property
    def dialect(self) -> str:
        """The dialect of the source."""

    @property
    def launch_grid(self) -> tuple[int, int, int]:
        """The numbers of blocks in x, y and z."""

    @property
    def block(self) -> tuple[int, int, int]:
        """The numbers of threads of a block in x, y and z."""

    @property
    def shared_bytes(self) -> int:
        """The number of bytes of shared memory that the source declares."""


def expect_dialect(kernel: CompilableKernel, dialect: Dialect) -> None:
    """Raise CompileError for a kernel in another dialect."""
    if kernel.dialect != dialect:
        raise CompileError(f"kernel {kernel.name} is in dialect {kernel.dialect!r}; emit it with dialect={dialect!r}")


def check_limits(kernel: CompilableKernel, device: DeviceRecord) -> None:
    """Raise CompileError for a launch that exceeds a limit of the device."""
    exceeded = device.limits.exceeded(kernel.launch_grid, kernel.block, kernel.shared_bytes)
    if exceeded:
        raise CompileError(f"kernel {kernel.name} can't be launched on {device.name}: {exceeded}")


Launch = Callable[[Sequence[Buffer]], None]
Clock = Callable[[int, int], float]  # (index of the first launch's arguments, number of launches) -> seconds
LaunchTimes = Callable[[int, float, int], None]  # called with a kernel's number, seconds, and number of launches


@runtime_checkable
class Device(Protocol):
    """One device and one queue of work on it; operations run in the order of the calls, which may come from several threads."""

    name: str
    dialect: Dialect

    def empty(self, nbytes: int) -> Buffer:
        """A buffer of `nbytes` bytes, contents undefined; at least one byte is allocated."""

    def upload(self, array: np.ndarray) -> Buffer:
        """A buffer with a copy of the array's bytes, row-major."""

    def share(self, array: np.ndarray) -> Buffer:
        """A read-only buffer with the array's elements: the array's own memory if the device can read it."""

    def download(self, buffer: Buffer, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
        """A numpy array with the buffer's first elements; waits for all preceding work. The array may take over a buffer in
        host memory, which is then marked as borrowed.
        """

    def copy(self, source: Buffer, target: Buffer) -> None:
        """Copy `source.nbytes` bytes."""

    def finish(self) -> None:
        """Wait for all work."""

    def load(self, kernel: CompilableKernel) -> Launch:
        """Compile the kernel, or find it in a cache; returns the launcher, which takes a buffer for each passed argument.

        Raises CompileError with the numbered source and the compiler's log.
        """


class TimingDevice(Device, Protocol):
    """A device that measures the time of its kernels."""

    @property
    def identity(self) -> str:
        """The name by which stores tell measurements on this device, with its compiler, from those on others."""

    def compile(self, kernel: CompilableKernel) -> None:
        """Compile the kernel into the cache; several threads may do so at once. Raises CompileError as `load`."""

    def clock(self, kernel: CompilableKernel, sets: Sequence[Sequence[Buffer]]) -> Clock:
        """A function that launches the kernel repeatedly, cycling through the arguments of `sets`, and returns the seconds from
        the start of the first launch to the end of the last, by the device's clock. Raises as `load`.
        """


@runtime_checkable
class MultiplyingDevice(Device, Protocol):
    """A device with a library that multiplies matrices."""

    def multiply(self, product: StridedProduct) -> Launch:
        """The launcher of the product by the library, which takes the buffers of both factors and of the result.

        Raises CompileError if the library is missing.
        """


Steps = Sequence[
    tuple[Launch | None, Sequence[Buffer]]
]  # launches with their buffers; None copies the second to the first


@runtime_checkable
class GraphDevice(Device, Protocol):
    """A device that launches a series of kernels and copies at once, if `graphs` asks for it."""

    graphs: bool

    def address(self, buffer: Buffer) -> int:
        """The address of the buffer's memory."""

    def graph(self, steps: Steps) -> Callable[[], None]:
        """A function that runs the steps one after the other, always on the same memory, which it does not keep alive."""


@runtime_checkable
class ExchangingDevice(Device, Protocol):
    """A device that takes arrays in its memory, and returns results there, without copies."""

    def borrow(self, array: object, dtype: np.dtype, shape: tuple[int, ...]) -> Buffer:
        """The array's memory as a read-only buffer. Raises IndexingError if it is not row-major, or on another device."""

    def export(self, buffer: Buffer, dtype: np.dtype, shape: tuple[int, ...]) -> object:
        """An array of the buffer's first elements, which other libraries can read in place; it takes over the buffer."""
