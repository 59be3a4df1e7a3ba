"""NVIDIA GPUs through cuda.core: kernels as cubins, buffers of the device's memory pool, one stream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from indexing.device.detect import detected_device
from indexing.device.record import Device as DeviceRecord
from indexing.errors import CompileError, IndexingError
from indexing.extras import missing_extra
from indexing.kernels.products import StridedProduct
from indexing.kernels.targets.target import Dialect
from indexing.runtime.cublas import Cublas
from indexing.runtime.device import Buffer, Clock, CompilableKernel, Launch, Steps, check_limits
from indexing.runtime.nvrtc import cubin

if TYPE_CHECKING:
    import cuda.core as cuda_core


class SupportsStream(Protocol):
    """A stream of another library, by cuda.core's stream protocol."""

    def __cuda_stream__(self) -> tuple[int, int]:
        """The version of the protocol, 0, and the stream's address."""


#: kDLCUDA of DLPack's DLDeviceType.
DLPACK_CUDA = 2


class CudaDevice:
    """One GPU and one stream on it; the GPU becomes the current one of each thread that calls.

    Raises CompileError without the `cuda` extra, IndexingError if there is no driver or no such GPU.
    """

    name = "cuda"
    dialect: Dialect = "cuda"

    def __init__(self, ordinal: int = 0, stream: SupportsStream | None = None, graphs: bool = False) -> None:
        """Open GPU `ordinal`; work is queued on `stream`, or on a new one. With `graphs`, programs launch what they repeat on
        the same memory as CUDA graphs.
        """
        self._core = _cuda_core()
        self.graphs = graphs
        self.device = self._open(ordinal)
        self.stream = self.device.create_stream(stream)
        self._modules: dict[tuple[str, str], cuda_core.Kernel] = {}
        self._cublas: Cublas | None = None

    def _open(self, ordinal: int) -> cuda_core.Device:
        from cuda.pathfinder import DynamicLibNotFoundError

        try:
            device = self._core.Device(ordinal)
            device.set_current()
        except (DynamicLibNotFoundError, RuntimeError, ValueError) as failure:
            raise IndexingError(
                f"GPU {ordinal} can't be used: {str(failure).rstrip('.')}; use device='cpu', or device='reference'"
            ) from failure
        return device

    @property
    def record(self) -> DeviceRecord:
        """The limits and rates that the driver reports. Raises IndexingError if it reports none."""
        device = detected_device(self.device.device_id)
        if device is None:
            raise IndexingError(f"the driver does not report GPU {self.device.device_id}; use device='cpu'")
        return device

    @property
    def arch(self) -> str:
        """The architecture that kernels are compiled for, such as `sm_90`."""
        return f"sm_{self.device.arch}"

    @property
    def identity(self) -> str:
        """The name, architecture and product."""
        return f"{self.name} {self.arch} {self.product}"

    def compile(self, kernel: CompilableKernel) -> None:
        """Compile the kernel into the cache. Raises CompileError as `load`."""
        cubin(kernel, self.arch)

    @property
    def product(self) -> str:
        """The name that NVIDIA sells the GPU by: those of one architecture differ in memory and cores."""
        return str(self.device.name)

    def empty(self, nbytes: int) -> Buffer:
        """A buffer of `nbytes` bytes, contents undefined."""
        self.device.set_current()
        return Buffer(self.device.allocate(max(nbytes, 1), stream=self.stream), nbytes)

    def upload(self, array: np.ndarray) -> Buffer:
        """A buffer with a copy of the array's bytes, row-major."""
        from cuda.bindings import driver

        host = np.ascontiguousarray(array)
        buffer = self.empty(host.nbytes)
        if host.nbytes:
            # On the stream: a copy beside it may still be under way from memory of the driver's when a kernel reads the buffer.
            stream = int(self.stream.handle)
            _check(driver.cuMemcpyHtoDAsync(_address(buffer), host.ctypes.data, host.nbytes, stream))
            self.stream.sync()  # the caller may change the array
        return buffer

    def borrow(self, array: object, dtype: np.dtype, shape: tuple[int, ...]) -> Buffer:
        """The memory of another library's GPU array (DLPack or `__cuda_array_interface__`), without a copy.

        Raises IndexingError if it is on another device, or isn't row-major without gaps.
        """
        from cuda.core.utils import StridedMemoryView

        nbytes = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        if isinstance(array, DeviceArray) and array.ordinal == self.device.device_id:
            # No protocol has all element types.
            return Buffer(array.buffer.handle, nbytes, borrowed=True)
        view = StridedMemoryView.from_any_interface(array, stream_ptr=int(self.stream.handle))
        if not view.is_device_accessible or view.device_id != self.device.device_id:
            raise IndexingError(f"the array lies on device {view.device_id}; expected GPU {self.device.device_id}")
        if view.strides is not None and not _row_major(view.shape, view.strides):
            raise IndexingError(f"the array has strides {view.strides}; expected row-major elements without gaps")
        return Buffer(self._core.Buffer.from_handle(view.ptr, nbytes, owner=view), nbytes, borrowed=True)

    def export(self, buffer: Buffer, dtype: np.dtype, shape: tuple[int, ...]) -> DeviceArray:
        """The buffer as an array that other libraries read in place; waits for all work before it."""
        self.stream.sync()
        return DeviceArray(self, buffer, dtype, shape)

    def share(self, array: np.ndarray) -> Buffer:
        """As `upload`: the device has memory of its own."""
        return self.upload(array)

    def download(self, buffer: Buffer, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
        """A fresh numpy array with the buffer's first elements; waits for all work before it."""
        from cuda.bindings import driver

        array = np.empty(shape, dtype)
        self.device.set_current()
        self.stream.sync()
        if array.nbytes:
            _check(driver.cuMemcpyDtoH(array.ctypes.data, _address(buffer), array.nbytes))
        return array

    def copy(self, source: Buffer, target: Buffer) -> None:
        """Copy `source.nbytes` bytes, ordered on the stream."""
        from cuda.bindings import driver

        if source.nbytes:
            self.device.set_current()
            stream = int(self.stream.handle)
            _check(driver.cuMemcpyDtoDAsync(_address(target), _address(source), source.nbytes, stream))

    def finish(self) -> None:
        """Wait for the stream."""
        self.stream.sync()

    def load(self, kernel: CompilableKernel) -> Launch:
        """Compile the kernel for this GPU, or find it compiled on disk."""
        check_limits(kernel, self.record)
        if 0 in kernel.launch_grid:
            return lambda buffers: None
        config = self._core.LaunchConfig(grid=kernel.launch_grid, block=kernel.block)
        return _KernelLaunch(self, config, self._loaded(kernel))

    def address(self, buffer: Buffer) -> int:
        """The address of the buffer's memory on the GPU."""
        return _address(buffer)

    def graph(self, steps: Steps) -> Callable[[], None]:
        """A CUDA graph of launches and copies, each behind the one before."""
        from cuda.core.graph import GraphDefinition, GraphNode

        self.device.set_current()
        definition = GraphDefinition()
        last: GraphDefinition | GraphNode = definition
        for launch, buffers in steps:
            places = list(map(_address, buffers))
            if isinstance(launch, _KernelLaunch):
                last = last.launch(launch.config, launch.entry, *map(np.uint64, places))  # numbers keep no memory alive
            elif launch is None and buffers[1].nbytes:
                last = last.memcpy(*places, buffers[1].nbytes)
        graph = definition.instantiate()

        def replay() -> None:
            self.device.set_current()
            graph.launch(self.stream)

        return replay

    def multiply(self, product: StridedProduct) -> Launch:
        """The launcher of a product by cuBLAS. Raises CompileError without the `cublas` extra."""
        self.device.set_current()
        if self._cublas is None:
            self._cublas = Cublas(int(self.stream.handle))
        launch = self._cublas.launch(product, _address)

        def on_this_device(buffers: Sequence[Buffer]) -> None:
            self.device.set_current()
            launch(buffers)

        return on_this_device

    def clock(self, kernel: CompilableKernel, sets: Sequence[Sequence[Buffer]]) -> Clock:
        """Time launches by events on the stream."""
        launch, timed = self.load(kernel), self._core.EventOptions(timing_enabled=True)

        def seconds(first: int, calls: int) -> float:
            begin = self.stream.record(options=timed)
            for k in range(first, first + calls):
                launch(sets[k % len(sets)])
            end = self.stream.record(options=timed)
            end.sync()
            return float(end - begin) * 1e-3  # from milliseconds

        return seconds

    def _loaded(self, kernel: CompilableKernel) -> cuda_core.Kernel:
        key = (kernel.name, kernel.source)
        if key not in self._modules:
            code = self._core.ObjectCode.from_cubin(cubin(kernel, self.arch), name=kernel.name)
            self._modules[key] = code.get_kernel(kernel.name)
        return self._modules[key]


@dataclass(frozen=True, slots=True)
class _KernelLaunch:
    """The launcher of one kernel."""

    on: CudaDevice
    config: cuda_core.LaunchConfig
    entry: cuda_core.Kernel

    def __call__(self, buffers: Sequence[Buffer]) -> None:
        self.on.device.set_current()
        self.on._core.launch(self.on.stream, self.config, self.entry, *(b.handle for b in buffers))


class DeviceArray:
    """An array in GPU memory, for libraries that speak DLPack or `__cuda_array_interface__`.

    `numpy()` copies it to the host.
    """

    def __init__(self, device: CudaDevice, buffer: Buffer, dtype: np.dtype, shape: tuple[int, ...]) -> None:
        """Take over the ownership of the buffer."""
        self._device = device
        self.buffer = buffer
        self.dtype = dtype
        self.shape = shape

    def numpy(self) -> np.ndarray:
        """A copy of the elements in host memory."""
        return self._device.download(self.buffer, self.dtype, self.shape)

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        """Version 3 of the protocol. Types that numpy lacks appear as bytes ('|V1', '|V2')."""
        kind = self.dtype.str
        return {"shape": self.shape, "typestr": kind, "data": (_address(self.buffer), False), "version": 3}

    def __dlpack__(self, **options: object) -> object:
        """A DLPack capsule of the same memory; `options` as the array API says.

        Raises BufferError for element types that numpy lacks: cuda.core has no capsules of them.
        """
        return self._view().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's name of the device."""
        return DLPACK_CUDA, self.ordinal

    @property
    def ordinal(self) -> int:
        """The number of the GPU in whose memory it lies."""
        return int(self._device.device.device_id)

    def _view(self) -> cuda_core.utils.StridedMemoryView:
        from cuda.core.utils import StridedMemoryView

        return StridedMemoryView.from_buffer(self.buffer.handle, self.shape, dtype=self.dtype)


def _cuda_core() -> cuda_core:
    try:
        import cuda.core
    except ImportError as missing:
        raise CompileError(missing_extra("running kernels on a GPU", "cuda", missing)) from missing
    return cuda.core


def _address(buffer: Buffer) -> int:
    handle = buffer.handle
    return int(handle.handle)  # type: ignore[attr-defined]


def _check(result: tuple[object, ...]) -> None:
    if int(result[0]) != 0:  # type: ignore[call-overload]
        raise IndexingError(f"the CUDA driver returned {result[0]!r}")


def _row_major(shape: Sequence[int], strides: Sequence[int]) -> bool:
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size > 1 and stride != expected:
            return False
        expected *= size
    return True
