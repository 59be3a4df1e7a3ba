"""Runs kernels and programs on the CPU beside the reference, each several times with different data; thread maps.

What a kernel leaves behind (counters, scratch memory, buffers that it overwrites) must not reach its next call.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import ml_dtypes
import numpy as np

import indexing as ix
from indexing.device.table import portable_device
from indexing.kernels.ir.nodes import Copy, statements
from indexing.kernels.kernel import Kernel
from indexing.planning.libraries import Matmul
from indexing.runtime.cuda import CudaDevice
from indexing.runtime.device import Buffer, Device
from indexing.runtime.host import Host

DEVICE = os.environ.get("INDEXING_TEST_DEVICE", "cpu")  # cpu or cuda: its kernels are held against the reference

_PROVED: set[tuple[str, str]] = set()


@dataclass(frozen=True)
class WrittenKernel:
    """A kernel whose source a test has written by hand."""

    name: str
    source: str
    dialect: str
    launch_grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int = 0


@cache
def device_of_tests() -> Device:
    """Where tests run kernels."""
    return CudaDevice() if DEVICE == "cuda" else Host()


def prove(kernel: Kernel) -> None:
    """The verifier finds nothing wrong with a kernel; the same kernel is looked at once."""
    key = kernel.dialect, kernel.source
    if key not in _PROVED:
        assert not kernel.verify().refuted, str(kernel.verify())
        _PROVED.add(key)


def random_array(shape: ix.hlo.Shape, rng: np.random.Generator) -> np.ndarray:
    """Small values that narrow types hold exactly."""
    kind, sizes = shape.element_type, shape.dimensions
    if kind == "pred":
        return rng.integers(0, 2, sizes).astype(bool)
    if kind[0] == "c":
        return ((rng.integers(-8, 9, sizes) + 1j * rng.integers(-8, 9, sizes)) / 4).astype(shape.dtype)
    if kind[0] == "f" or kind == "bf16":
        return (rng.integers(-8, 9, sizes) / 4).astype(np.float32).astype(shape.dtype)
    low, high = {"s2": (-2, 2), "u2": (0, 4), "s4": (-8, 8), "u4": (0, 16)}.get(kind, (0 if kind[0] == "u" else -9, 20))
    return rng.integers(low, high, sizes).astype(shape.dtype)


def launcher(
    kernel: Kernel, shapes: list[ix.hlo.Shape], on: Device | None = None
) -> Callable[[list[np.ndarray]], list[np.ndarray]]:
    """A function that runs one kernel on a device, by default one of its dialect; scratch memory stays as the last call left it.

    Arrays are logical, buffers as the layouts say.
    """
    prove(kernel)
    device = on or (Host() if kernel.dialect == "c" else device_of_tests())
    start = device.load(kernel)
    scratch = {a.number: device.upload(a.zeros()) for a in kernel.arguments if a.kind == "scratch"}

    def launch(arrays: list[np.ndarray]) -> list[np.ndarray]:
        buffers, passed = [], []
        for argument in kernel.arguments:
            if argument.alias_of is not None:
                buffers.append(buffers[argument.alias_of])
                continue
            if argument.kind == "input":
                array = arrays[argument.number]
                order = argument.layout[::-1] if argument.layout is not None else range(array.ndim)
                buffers.append(device.upload(np.ascontiguousarray(array.transpose(tuple(order)))))
            elif argument.kind == "scratch":
                buffers.append(scratch[argument.number])
            else:
                shape = shapes[argument.number]
                buffers.append(device.upload(np.full(shape.element_count * shape.dtype.itemsize, 0xA5, np.uint8)))
            passed.append(buffers[-1])
        start(passed)
        pairs = zip(kernel.arguments, buffers, strict=True)
        return [downloaded(b, shapes[a.number], device) for a, b in pairs if a.kind == "output"]

    return launch


def launch(
    kernel: Kernel, arrays: list[np.ndarray], shapes: list[ix.hlo.Shape], on: Device | None = None
) -> list[np.ndarray]:
    """What one kernel computes after it was called with the same data and with other data, the arrays backwards."""
    run = launcher(kernel, shapes, on)
    first = run(arrays)
    run([a[::-1] if a.ndim else a for a in arrays])
    again = run(arrays)
    for got, want in zip(again, first, strict=True):
        close(got, want)
    return again


def downloaded(buffer: Buffer, shape: ix.hlo.Shape, device: Device) -> np.ndarray:
    order = tuple(reversed(shape.minor_to_major))
    physical = device.download(buffer, shape.dtype, tuple(shape.dimensions[d] for d in order))
    return physical.transpose(np.argsort(order)) if order else physical


def as_list(value: object) -> list[np.ndarray]:
    """The arrays of a program's result; nested tuples are taken apart."""
    if isinstance(value, tuple | list):
        return [array for part in value for array in as_list(part)]
    return [np.asarray(value)]


class Compiled:
    """An executable whose every call is three: with the data given, with other data, and with the data given again.

    The second must agree with the reference, the third with the first.
    """

    def __init__(
        self,
        program: ix.hlo.Module | str,
        device: str | Device = DEVICE,
        tolerance: float = 1e-3,
        matmul: Matmul = "kernels",
    ) -> None:
        self.executable = ix.compile(program, device, matmul=matmul)
        for kernel in self.executable.kernels:
            prove(kernel)
        self.tolerance = tolerance
        self.calls = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self.executable, name)

    def __call__(self, *arrays: object) -> object:
        module = self.executable.module
        first = self.executable(*arrays)
        kept = [a.copy() for a in as_list(first)]
        self.calls += 1
        rng = np.random.default_rng(self.calls)
        others = [random_value(p.shape, rng) for p in module.entry.parameters]
        for got, want in zip(as_list(self.executable(*others)), as_list(ix.evaluate(module, *others)), strict=True):
            close(got, want, self.tolerance)
        for got, want in zip(as_list(self.executable(*arrays)), kept, strict=True):
            close(got, want, self.tolerance)
        return first


def compiled(
    program: ix.hlo.Module | str, device: str | Device = DEVICE, tolerance: float = 1e-3, matmul: Matmul = "kernels"
) -> Compiled:
    """The executable of a program, which is never called with one set of data alone."""
    return Compiled(program, device, tolerance, matmul)


def random_value(shape: ix.hlo.Shape, rng: np.random.Generator) -> object:
    return tuple(random_value(s, rng) for s in shape.elements) if shape.is_tuple else random_array(shape, rng)


def close(got: np.ndarray, want: np.ndarray, tolerance: float = 1e-5) -> None:
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    if want.dtype.kind in "biu" or want.dtype in (ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2):
        np.testing.assert_array_equal(got.astype(np.int64), want.astype(np.int64))
        return
    wide = np.complex128 if np.iscomplexobj(want) else np.float64
    np.testing.assert_allclose(got.astype(wide), want.astype(wide), rtol=tolerance, atol=tolerance, equal_nan=True)


def as_fusion(text: str) -> ix.hlo.Instruction:
    """A fusion whose body is the entry of `text`: one kernel, whatever work it repeats."""
    module = ix.hlo.parse(text)
    bodies = "\n".join(str(c).removeprefix("ENTRY ") for c in module.computations.values())
    arguments = [f"q{k} = {p.shape} parameter({k})" for k, p in enumerate(module.entry.parameters)]
    names = ", ".join(f"q{k}" for k in range(len(arguments)))
    call = f"ROOT r = {module.entry.root.shape} fusion({names}), kind=kLoop, calls=%{module.entry.name}"
    lines = "\n".join([*arguments, call])
    return ix.hlo.parse(f"{bodies}\nENTRY program {{\n{lines}\n}}").entry.root


def check(text: str, emitter: str | None = None, seed: int = 0, tolerance: float = 1e-5, **knobs: int) -> Kernel:
    """The kernel of a computation agrees with the reference; its forms for GPUs have the same thread maps.

    It is one of the device of tests, or one of the CPU where that device has another emitter than the one that is asked for.

    It is loaded once, and called with data of two seeds in turns.
    """
    computation = ix.hlo.parse(text).entry
    fusion = as_fusion(text)
    dialect = device_of_tests().dialect
    kernel = ix.emit(fusion, dialect, portable_device("cuda") if dialect == "cuda" else None, **knobs)
    if emitter is not None and kernel.emitter != emitter:
        kernel = ix.emit(fusion, dialect="c", **knobs)
    if emitter is not None:
        assert kernel.emitter == emitter
    launch = launcher(kernel, list(computation.root.shape.leaves))
    for data in (seed, seed + 1, seed):
        rng = np.random.default_rng(data)
        arrays = [random_array(p.shape, rng) for p in computation.parameters]
        want = as_list(ix.evaluate(computation.module, *arrays))
        for got, expected in zip(launch(arrays), want, strict=True):
            close(got, expected, tolerance)
    cuda, opencl = (ix.emit(fusion, dialect=dialect, **knobs) for dialect in ("cuda", "opencl"))
    prove(cuda)
    prove(opencl)
    assert cuda.output_maps == opencl.output_maps
    assert (cuda.grid, cuda.block) == (opencl.grid, opencl.block)
    return cuda


def check_with_threads(kernel: Kernel, text: str, tolerance: float = 1e-5) -> None:
    """A kernel for GPUs, its threads as loops, agrees with the reference, and is proved for all targets."""
    computation = ix.hlo.parse(text).entry
    launch = launcher(replace(kernel, device=portable_device("c")), list(computation.root.shape.leaves))
    arrays = [random_array(p.shape, np.random.default_rng(3)) for p in computation.parameters]
    for got, expected in zip(launch(arrays), as_list(ix.evaluate(computation.module, *arrays)), strict=True):
        close(got, expected, tolerance)
    for target in ("c", "cuda", "opencl"):
        prove(replace(kernel, device=portable_device(target)))


def vector_moves(kernel: Kernel) -> dict[str, set[int]]:
    """The widths of the vectors that a kernel moves on a GPU from or to each of its arguments."""
    lowered = replace(kernel, device=portable_device("cuda")).lowered
    result: dict[str, set[int]] = {b.name: set() for b in lowered.buffers if b.role != "none"}
    for statement in statements(lowered.body):
        if isinstance(statement, Copy):
            for name in {statement.source, statement.destination} & result.keys():
                result[name].add(statement.width)
    return result


def visits(kernel_map: ix.IndexingMap, sizes: tuple[int, ...]) -> np.ndarray:
    """How many threads map to each element of an array."""
    counts = np.zeros(sizes, np.int64)
    spans = [np.arange(v.interval.lower, v.interval.upper + 1) for v in (*kernel_map.dims, *kernel_map.ranges)]
    grids = [g.reshape(-1) for g in np.meshgrid(*spans, indexing="ij")]
    split = len(kernel_map.dims)
    dims, ranges = grids[:split], grids[split:]
    index = [np.broadcast_to(r, grids[0].shape) for r in kernel_map.evaluate(dims, ranges)]
    inside = np.ones(grids[0].shape, bool)
    for expression, interval in kernel_map.constraints:
        value = np.broadcast_to(expression.evaluate(grids), grids[0].shape)
        inside &= (value >= interval.lower) & (value <= interval.upper)
    if not sizes:
        return np.asarray(inside.sum())
    np.add.at(counts, tuple(i[inside] for i in index), 1)
    return counts


def assert_written_once(kernel: Kernel, shapes: list[ix.hlo.Shape], but: frozenset[int] = frozenset()) -> None:
    """Each element of each output is written by one thread, at one step."""
    for k, shape in enumerate(shapes):
        if k not in but:
            counts = sum(visits(m, shape.dimensions) for m in kernel.output_maps[k])
            assert (np.asarray(counts) == 1).all(), f"output {k}"
