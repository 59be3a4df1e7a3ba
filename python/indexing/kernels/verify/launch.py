"""A check that a kernel's launch lies within the limits of a device."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from indexing.device.limits import Limits
from indexing.kernels.ir.nodes import Kernel
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.verify.check import Check


def check_launch(kernel: Kernel, limits: Limits) -> Iterator[Check]:
    """The check of threads, sizes of block and grid, and shared memory, which is known after group reductions are lowered."""
    shared = sum(prod(b.dimensions) * storage_bytes(b.element_type) for b in kernel.buffers if b.space == "shared")
    exceeded = limits.exceeded(kernel.grid, kernel.block, shared)
    subject = f"grid {kernel.grid}, block {kernel.block}, {shared} bytes of shared memory"
    yield Check("launch", subject, "refuted" if exceeded else "proved", exceeded)
