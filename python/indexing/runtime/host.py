"""The CPU as a device: C code by a compiler, loaded by ctypes, run on all cores by persistent threads."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from indexing.device.limits import Dim3
from indexing.device.table import CPU
from indexing.kernels.kernel import Kernel
from indexing.kernels.products import Matrices, StridedProduct
from indexing.runtime.compiler import find_compiler, shared_library
from indexing.runtime.compiling_together import compile_together
from indexing.runtime.device import Buffer, Clock, CompilableKernel, Launch, expect_dialect
from indexing.runtime.host_kernel import HostKernel
from indexing.runtime.host_memory import leased_bytes
from indexing.runtime.host_program import HostCode, HostRun
from indexing.runtime.identity import HOST_DIALECT, core_count, processor_identity
from indexing.runtime.runs import TapeProgram
from indexing.runtime.tape import Tape


class Host:
    """The CPU as a device: buffers are numpy arrays of bytes."""

    name = "cpu"
    dialect = HOST_DIALECT
    record = CPU

    def __init__(self) -> None:
        """Find a compiler. Raises CompileError if there is none."""
        find_compiler()
        self._kernels: dict[tuple[str, str, Dim3], HostKernel] = {}

    def load(self, kernel: CompilableKernel) -> HostKernel:
        """Compile the kernel, or find it compiled; CompileError with the numbered source and the compiler's log."""
        expect_dialect(kernel, self.dialect)
        key = _key(kernel)
        if key not in self._kernels:
            threads = prod(kernel.block)
            self._kernels[key] = HostKernel(kernel.name, kernel.source, kernel.launch_grid, threads)
        return self._kernels[key]

    @property
    def identity(self) -> str:
        """The name of the processor with its compiler."""
        return processor_identity()

    def compile(self, kernel: CompilableKernel) -> None:
        """Compile the kernel into the cache. Raises CompileError as `load`."""
        shared_library(kernel.name, kernel.source)

    def multiply(self, product: StridedProduct) -> Launch:
        """The launcher of a product by numpy."""
        return numpy_launch(product)

    def clock(self, kernel: CompilableKernel, sets: Sequence[Sequence[Buffer]]) -> Clock:
        """Time launches by the CPU's clock."""
        return self.load(kernel).clock(sets)

    def prepare(self, kernels: Sequence[Kernel]) -> None:
        """Compile kernels that are not on disk yet, several in one source, on all cores."""
        own = [k for k in kernels if k.dialect == self.dialect and _key(k) not in self._kernels]
        compile_together([(k.source, k.source_parts) for k in own], core_count())

    def program(self, tape: Tape) -> TapeProgram:
        """Make a tape of kernels of this device ready to run."""
        code = HostCode(tape)
        return TapeProgram(tape, lambda: HostRun(tape, self, code))

    def empty(self, nbytes: int) -> Buffer:
        """A buffer of `nbytes` bytes, contents undefined."""
        return Buffer(leased_bytes(nbytes), nbytes)

    def upload(self, array: np.ndarray) -> Buffer:
        """A buffer with a copy of the array's bytes, row-major."""
        buffer = self.empty(array.nbytes)
        _bytes_of(buffer)[: array.nbytes] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        return buffer

    def share(self, array: np.ndarray) -> Buffer:
        """The array's own memory, which must not be written to; a copy if it is not row-major without gaps."""
        host = np.ascontiguousarray(array)
        return Buffer(host, host.nbytes, borrowed=True)

    def download(self, buffer: Buffer, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
        """The buffer's first elements as a numpy array, which takes over the memory."""
        buffer.borrowed = True
        assert isinstance(buffer.handle, np.ndarray)
        return np.ndarray(shape, dtype, buffer.handle)

    def copy(self, source: Buffer, target: Buffer) -> None:
        """Copy `source.nbytes` bytes."""
        _bytes_of(target)[: source.nbytes] = _bytes_of(source)[: source.nbytes]

    def finish(self) -> None:
        """Do nothing: calls return when their work is done."""


def _key(kernel: CompilableKernel) -> tuple[str, str, Dim3]:
    return kernel.name, kernel.source, kernel.launch_grid


def _bytes_of(buffer: Buffer) -> np.ndarray:
    assert isinstance(buffer.handle, np.ndarray)
    return buffer.handle.reshape(-1).view(np.uint8)


# ---------------------------------------------------------------- products of matrices by numpy


DTYPES = {"f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128}


def numpy_launch(product: StridedProduct) -> Launch:
    """The launcher of a product on buffers in host memory: both factors and the result."""
    batch, m, n, k = product.batch, product.m, product.n, product.k
    dtype = np.dtype(DTYPES[product.types[0]])

    def launch(buffers: Sequence[Buffer]) -> None:
        left, right, result = buffers
        factors = _view(left, (batch, m, k), product.left, dtype), _view(right, (batch, k, n), product.right, dtype)
        with np.errstate(all="ignore"):
            np.matmul(*factors, out=_view(result, (batch, m, n), product.result, dtype))

    return launch


def _view(buffer: Buffer, sizes: tuple[int, int, int], matrices: Matrices, dtype: np.dtype) -> np.ndarray:
    """The matrices in a buffer, without a copy."""
    elements = _bytes_of(buffer)[: buffer.nbytes].view(dtype)
    strides = (matrices.batch_stride, matrices.row_stride, matrices.column_stride)
    return np.lib.stride_tricks.as_strided(elements, sizes, [stride * dtype.itemsize for stride in strides])
