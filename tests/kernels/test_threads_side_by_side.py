"""Kernels as passes make them for threads side by side, run on the processor: barriers cut them into loops over threads.

OpenCL C has no shuffles, so that all that its passes leave can be written in C: vectors, and loops that are written out.
"""

from pathlib import Path

import numpy as np
import pytest

import indexing as ix
from indexing.kernels.passes import run_passes
from indexing.kernels.passes.thread_loops import make_thread_loops
from indexing.kernels.targets import TARGETS, write
from indexing.runtime.host_kernel import HostKernel
from indexing.runtime.host_memory import address, aligned_bytes
from kernels import as_list, close, random_array

CASES = sorted((Path(__file__).parents[1] / "golden").glob("*.hlo"))


def distinct(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Floats of f32 that all differ: of two equal ones, an argmax may find either."""
    if array.dtype != np.float32:
        return array
    return (4 * (rng.permutation(array.size) - array.size / 2) / array.size).astype(np.float32).reshape(array.shape)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_its_results(case: Path) -> None:
    entry = ix.hlo.load(case).entry
    kernel = ix.emit(entry, dialect="opencl")
    lowered = make_thread_loops(run_passes(kernel.ir, kernel.target, "dead-code-again"))
    x, y, z = kernel.block
    run = HostKernel(kernel.name, write(lowered, TARGETS["c"]), lowered.grid, x * y * z)
    shapes = list(entry.root.shape.leaves)
    scratch: dict[int, np.ndarray] = {}
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        arrays = [distinct(random_array(p.shape, rng), rng) for p in entry.parameters]
        memory: list[np.ndarray] = []
        for a in kernel.arguments:
            if a.alias_of is not None:
                memory.append(memory[a.alias_of])
                continue
            held = a.zeros()
            own = aligned_bytes(held.nbytes)[: held.nbytes].view(held.dtype)
            if a.kind == "input":
                order = a.layout[::-1] if a.layout is not None else range(held.ndim)
                own[...] = arrays[a.number].transpose(tuple(order)).reshape(-1)
            elif a.kind == "scratch":
                own[...] = 0
                own = scratch.setdefault(a.number, own)
            memory.append(own)
        passed = [m for a, m in zip(kernel.arguments, memory, strict=True) if a.alias_of is None]
        run.launch([address(m) for m in passed])
        want = as_list(ix.evaluate(entry.module, *arrays))
        for a, m in zip(kernel.arguments, memory, strict=True):
            if a.kind == "output":
                order = tuple(reversed(shapes[a.number].minor_to_major))
                physical = m.reshape(tuple(shapes[a.number].dimensions[d] for d in order))
                close(physical.transpose(np.argsort(order)) if order else physical, want[a.number], 1e-2)
