"""Kernels of the IR built by hand, and running them on the processor."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import ml_dtypes  # noqa: F401  (registers numpy types)
import numpy as np

from indexing import SymbolicExpr
from indexing._core import Interval, variable
from indexing.kernels.ir import nodes as ir
from indexing.kernels.passes.narrow_floats import convert_narrow_floats
from indexing.kernels.passes.thread_loops import make_thread_loops
from indexing.kernels.targets import TARGETS, arguments, write
from indexing.runtime.host_kernel import HostKernel
from indexing.runtime.host_memory import address, aligned_bytes

IDS = ("th_x", "th_y", "th_z", "bl_x", "bl_y", "bl_z")
TH_X, TH_Y, BL_X = variable(0), variable(1), variable(3)
NUMPY = {
    "pred": np.dtype(np.uint8),
    **{f"{k}{b}": np.dtype(f"{'i' if k == 's' else 'u'}{b // 8}") for k in "su" for b in (8, 16, 32, 64)},
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "c64": np.dtype(np.complex64),
    "c128": np.dtype(np.complex128),
}


def variables(grid: tuple[int, int, int], block: tuple[int, int, int], **more: tuple[str, int, int]) -> tuple:
    """The thread and block ids, then `more`: name, kind and bounds."""
    ids = [ir.IndexVariable(n, Interval(0, s - 1), "thread") for n, s in zip(IDS, (*block, *grid), strict=True)]
    own = [ir.IndexVariable(n, Interval(low, high), kind) for n, (kind, low, high) in more.items()]
    return (*ids, *own)


def kernel(
    body: Sequence[ir.Statement],
    buffers: Sequence[ir.Buffer],
    grid: int = 1,
    block: int | tuple[int, int, int] = 1,
    functions: Sequence[ir.Function] = (),
    **more: tuple[str, int, int],
) -> ir.Kernel:
    """A kernel with a grid in one dimension."""
    blocks, threads = (grid, 1, 1), block if isinstance(block, tuple) else (block, 1, 1)
    own = variables(blocks, threads, **more)
    return ir.Kernel("kernel_under_test", "test", blocks, threads, tuple(buffers), tuple(functions), own, tuple(body))


def given(number: int, kind: str, *sizes: int) -> ir.Buffer:
    return ir.Buffer(f"p{number}", kind, sizes, "global", "input", number)


def result(number: int, kind: str, *sizes: int, alias_of: str | None = None) -> ir.Buffer:
    return ir.Buffer(f"o{number}", kind, sizes, "global", "output", number, alias_of=alias_of)


def elementwise(
    value: Callable[..., ir.Value], inputs: Sequence[str], output: str, count: int, threads: int = 128
) -> ir.Kernel:
    """out[i] = value(in0[i], in1[i], ...), of types of the IR."""
    place: SymbolicExpr = BL_X * threads + TH_X
    loads = [loaded(ir.Load(stored(kind), f"p{k}", (place,)), kind) for k, kind in enumerate(inputs)]
    store = ir.Store("o0", (place,), held(value(*loads)))
    buffers = [*(given(k, kind, count) for k, kind in enumerate(inputs)), result(0, output, count)]
    return kernel([ir.If((ir.Within(place, 0, count - 1),), (store,))], buffers, -(-count // threads), threads)


def stored(kind: str) -> str:
    return "u8" if kind == "pred" else kind


def loaded(load: ir.Load, kind: str) -> ir.Value:
    return ir.Op("convert", "pred", (load,)) if kind == "pred" else load


def held(value: ir.Value) -> ir.Value:
    return ir.Op("convert", "u8", (value,)) if value.type == "pred" else value


def compiled(ir_kernel: ir.Kernel) -> HostKernel:
    threads = ir_kernel.block[0] * ir_kernel.block[1] * ir_kernel.block[2]
    return HostKernel(
        ir_kernel.name,
        write(make_thread_loops(convert_narrow_floats(ir_kernel)), TARGETS["c"]),
        ir_kernel.grid,
        threads,
    )


def run(ir_kernel: ir.Kernel | HostKernel, *arrays: np.ndarray, of: ir.Kernel | None = None) -> list[np.ndarray]:
    """The contents of all buffers that a launch passes behind the inputs, after a launch on copies of `arrays`."""
    kernel_ir = of if of is not None else ir_kernel
    assert isinstance(kernel_ir, ir.Kernel)
    launched = ir_kernel if isinstance(ir_kernel, HostKernel) else compiled(ir_kernel)
    passed = []
    for k, buffer in enumerate(arguments(kernel_ir)):
        dtype = NUMPY[buffer.element_type]
        memory = aligned_bytes(buffer.size * dtype.itemsize)[: buffer.size * dtype.itemsize].view(dtype)
        memory[...] = np.asarray(arrays[k]).reshape(-1) if k < len(arrays) else np.zeros((), dtype)
        passed.append(memory)
    launched.launch([address(a) for a in passed])
    return [
        m.copy()
        for b, m in zip(arguments(kernel_ir), passed, strict=True)
        if b.role != "input" or _is_written(kernel_ir, b)
    ]


def _is_written(ir_kernel: ir.Kernel, buffer: ir.Buffer) -> bool:
    return any(b.alias_of == buffer.name for b in ir_kernel.buffers)
