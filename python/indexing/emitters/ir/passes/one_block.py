"""Blocks as loops, for targets without threads, of kernels whose threads update the same elements.

Atomic updates on several cores wait for each other's lines of memory; plain ones on one core are many times faster, and
always in the same order. The kernel then has one block, which goes through all.
"""

from __future__ import annotations

from dataclasses import replace

from indexing._core import constant
from indexing.emitters.ir import nodes as ir
from indexing.emitters.ir.passes.uniform import AXES


def make_one_block(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel as one block, where it has atomic updates."""
    if not any(isinstance(s, ir.AtomicUpdate) for s in ir.statements(kernel.body)):
        return kernel
    variables, body = list(kernel.variables), kernel.body
    for k, count in enumerate(kernel.grid):
        if count > 1:
            variables[AXES + k] = replace(variables[AXES + k], kind="loop")
            body = (ir.For(AXES + k, constant(0), constant(count), 1, body),)
    return replace(kernel, grid=(1, 1, 1), variables=tuple(variables), body=body)
