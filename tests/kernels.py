"""Runs one kernel on the CPU beside the reference, and holds its thread maps against the definition."""

import ml_dtypes
import numpy as np

import indexing as ix
from indexing.emit.kernel import Kernel
from indexing.ops.block import leaves
from indexing.runtime.opencl import OpenCLDevice

_OPENED: list[OpenCLDevice] = []


def cpu() -> OpenCLDevice:
    if not _OPENED:
        _OPENED.append(OpenCLDevice())
    return _OPENED[0]


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


def launch(kernel: Kernel, arrays: list[np.ndarray], shapes: list[ix.hlo.Shape]) -> list[np.ndarray]:
    """Run one kernel on the CPU; arrays are logical, buffers as the layouts say."""
    device = cpu()
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
            buffers.append(device.upload(argument.zeros()))
        else:
            shape = shapes[argument.number]
            buffers.append(device.upload(np.full(shape.element_count * shape.dtype.itemsize, 0xA5, np.uint8)))
        passed.append(buffers[-1])
    device.load(kernel)(passed)
    out = []
    for argument, buffer in zip(kernel.arguments, buffers, strict=True):
        if argument.kind == "output":
            shape = shapes[argument.number]
            order = tuple(reversed(shape.minor_to_major))
            physical = device.download(buffer, shape.dtype, tuple(shape.dimensions[d] for d in order))
            out.append(physical.transpose(np.argsort(order)) if order else physical)
    return out


def close(got: np.ndarray, want: np.ndarray, tolerance: float = 1e-5) -> None:
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    if want.dtype.kind in "biu" or want.dtype in (ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2):
        np.testing.assert_array_equal(got.astype(np.int64), want.astype(np.int64))
        return
    wide = np.complex128 if np.iscomplexobj(want) else np.float64
    np.testing.assert_allclose(got.astype(wide), want.astype(wide), rtol=tolerance, atol=tolerance)


def check(text: str, emitter: str | None = None, seed: int = 0, tolerance: float = 1e-5, **knobs: int) -> Kernel:
    """The CPU kernel of a computation agrees with the reference, its CUDA form has the same thread maps."""
    computation = ix.hlo.parse(text).entry
    rng = np.random.default_rng(seed)
    arrays = [random_array(p.shape, rng) for p in computation.parameters]
    kernel = ix.emit(computation, dialect="opencl", **knobs)
    if emitter is not None:
        assert kernel.emitter == emitter
    shapes = list(leaves(computation.root.shape))
    want = ix.evaluate(computation.module, *arrays)
    want = list(want) if isinstance(want, tuple) else [want]
    for got, expected in zip(launch(kernel, arrays, shapes), want, strict=True):
        close(got, np.asarray(expected), tolerance)
    cuda = ix.emit(computation, dialect="cuda", **knobs)
    assert cuda.output_maps == kernel.output_maps
    assert (cuda.grid, cuda.block) == (kernel.grid, kernel.block)
    return kernel


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
            assert (visits(kernel.thread_to_output(k), shape.dimensions) == 1).all(), f"output {k}"
