"""OpenCL through pyopencl, on any device that has a driver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from indexing.device.record import Device
from indexing.device.table import portable_device
from indexing.errors import CompileError, IndexingError
from indexing.extras import missing_extra
from indexing.kernels.targets.target import Dialect
from indexing.runtime.device import Buffer, CompilableKernel, Launch, check_limits, expect_dialect
from indexing.runtime.listing import compile_error

if TYPE_CHECKING:
    import pyopencl as cl


WORD_BYTES = 16  # buffers are padded to this: atomics on narrow elements access the whole word
BUILD_OPTIONS = ("-w", "-cl-std=CL1.2", "-cl-fp32-correctly-rounded-divide-sqrt")


class OpenCLDevice:
    """One OpenCL device with an in-order queue.

    `device` is a `pyopencl.Device`, by default the first device of the first platform. Raises CompileError without the
    `opencl` extra, IndexingError if no device is found.
    """

    name = "opencl"
    dialect: Dialect = "opencl"

    def __init__(self, device: cl.Device | None = None) -> None:
        """Open the device with a context and a queue of its own."""
        self._cl = _pyopencl()
        self.device = device if device is not None else self._first()
        self._context = self._cl.Context([self.device])
        self._queue = self._cl.CommandQueue(self._context)
        self._programs: dict[tuple[str, str], cl.Program] = {}
        self.record = _record(self.device)
        self._launching = Lock()

    def _first(self) -> cl.Device:
        devices = [device for platform in self._platforms() for device in platform.get_devices()]
        if not devices:
            raise IndexingError("no OpenCL device is found; install the driver of one, or use device='cpu'")
        return devices[0]

    def _platforms(self) -> list[cl.Platform]:
        try:
            return list(self._cl.get_platforms())
        except self._cl.LogicError:  # raised by the loader if there are none
            return []

    def empty(self, nbytes: int) -> Buffer:
        """A buffer of `nbytes` bytes, contents undefined."""
        flags = self._cl.mem_flags.READ_WRITE
        size = -(-max(nbytes, 1) // WORD_BYTES) * WORD_BYTES
        return Buffer(self._cl.Buffer(self._context, flags, size=size), nbytes)

    def upload(self, array: np.ndarray) -> Buffer:
        """A buffer with a copy of the array's bytes, row-major."""
        buffer = self.empty(array.nbytes)
        if array.nbytes:
            self._cl.enqueue_copy(self._queue, buffer.handle, _bytes(np.ascontiguousarray(array)), is_blocking=True)
        return buffer

    def share(self, array: np.ndarray) -> Buffer:
        """As `upload`: the device has memory of its own."""
        return self.upload(array)

    def download(self, buffer: Buffer, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
        """A fresh numpy array with the buffer's first elements."""
        array = np.empty(shape, dtype)
        if array.nbytes:
            self._cl.enqueue_copy(self._queue, _bytes(array), buffer.handle, is_blocking=True)
        return array

    def copy(self, source: Buffer, target: Buffer) -> None:
        """Copy `source.nbytes` bytes."""
        if source.nbytes:
            self._cl.enqueue_copy(self._queue, target.handle, source.handle, byte_count=source.nbytes)

    def finish(self) -> None:
        """Wait for the queue."""
        self._queue.finish()

    def load(self, kernel: CompilableKernel) -> Launch:
        """Build the kernel for this device, unless it has been built."""
        expect_dialect(kernel, self.dialect)
        check_limits(kernel, self.record)
        entry = self._cl.Kernel(self._built(kernel), kernel.name)
        global_size = tuple(g * b for g, b in zip(kernel.launch_grid, kernel.block, strict=True))
        if 0 in global_size:
            return lambda buffers: None

        def launch(buffers: Sequence[Buffer]) -> None:
            with self._launching:  # the arguments are part of the kernel until it is enqueued
                entry(self._queue, global_size, kernel.block, *(b.handle for b in buffers))

        return launch

    def _built(self, kernel: CompilableKernel) -> cl.Program:
        key = (kernel.name, kernel.source)
        if key not in self._programs:
            try:
                program = self._cl.Program(self._context, kernel.source).build(options=list(BUILD_OPTIONS))
            except self._cl.RuntimeError as refusal:
                raise compile_error(str(self.device.name), kernel.name, kernel.source, str(refusal)) from refusal
            self._programs[key] = program
        return self._programs[key]


def _record(device: cl.Device) -> Device:
    """The limits that the driver reports; OpenCL reports none of a grid, and no rates."""
    sizes = tuple(device.max_work_item_sizes[:3])
    limits = {"threads": device.max_work_group_size, "block": sizes, "shared_bytes": device.local_mem_size}
    known = replace(portable_device("opencl"), name=str(device.name).strip(), origin="detected")
    return known.with_limits(**limits)


def _pyopencl() -> cl:
    try:
        import pyopencl
    except ImportError as missing:
        raise CompileError(missing_extra("running OpenCL kernels", "opencl", missing)) from missing
    return pyopencl


def _bytes(array: np.ndarray) -> np.ndarray:
    """The array's memory as bytes: pyopencl does not support ml_dtypes."""
    return array.reshape(-1).view(np.uint8)
