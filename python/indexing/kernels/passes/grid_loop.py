"""Serialization of blocks, for targets without threads, in kernels with atomic updates.

Atomic updates on several cores contend for cache lines; plain updates on one core are many times faster, and deterministic.
The kernel then has one block, which loops over all.
"""

from __future__ import annotations

from dataclasses import replace

from indexing._core import constant
from indexing.kernels.ir import nodes as ir
from indexing.kernels.passes.uniform import AXES


def make_grid_loops(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel with a single block, if it has atomic updates."""
    if not any(isinstance(s, ir.AtomicUpdate) for s in ir.statements(kernel.body)):
        return kernel
    variables, body = list(kernel.variables), kernel.body
    for k, count in enumerate(kernel.grid):
        if count > 1:
            variables[AXES + k] = replace(variables[AXES + k], kind="loop")
            body = (ir.For(AXES + k, constant(0), constant(count), 1, body),)
    return replace(kernel, grid=(1, 1, 1), variables=tuple(variables), body=body)
