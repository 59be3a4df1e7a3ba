"""The width of vectors by the sectors of memory that warps touch.

A vector that lies in order in an array is one access. Elements that don't are accessed one by one, and the wider a thread's
vector, the further apart are the elements that neighbouring threads access at once, each in a sector of its own at last.
Which accesses become vectors, passes decide: sectors are counted in the kernel that they make.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from indexing._core import global_memory_traffic
from indexing.device.record import Device
from indexing.kernels.ir.executions import cell_executions
from indexing.kernels.ir.nodes import Kernel
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.passes import last_stage, run_passes
from indexing.kernels.targets import TARGETS
from indexing.kernels.vectors import VECTOR_BYTES

ADDRESS = 8  # instructions for the address of an access
MAX_SECTORS = 1.25  # a vector that is wider touches at most so many times the sectors of that which touches fewest


def best_width(width: int, sizes: Iterable[int], device: Device) -> int:
    """The vector up to `width` of arrays with elements of `sizes` bytes, all in order, for which a warp's instructions and
    sectors are fewest; `width` on devices whose threads don't share sectors.
    """
    if not TARGETS[device.dialect].has_threads:
        return width
    of_arrays, sector = list(sizes), device.memory.sector_bytes

    def cost(w: int) -> float:
        accesses = (max(w * size / VECTOR_BYTES, 1) * min(w * size, sector) for size in of_arrays)
        return (ADDRESS * len(of_arrays) + sum(accesses)) / w

    return min((width >> k for k in range(width.bit_length())), key=cost)


def counted_width(width: int, build: Callable[[int], Kernel], device: Device) -> int:
    """The widest vector up to `width` whose kernel touches few sectors, compared with those of narrower ones; `width` on
    devices whose threads don't share sectors.
    """
    if width == 1 or not TARGETS[device.dialect].has_threads:
        return width
    widest = _sectors(build(width), device)
    if widest.touched <= MAX_SECTORS * widest.least:
        return width
    touched = {w: _sectors(build(w), device).touched for w in (width >> k for k in range(1, width.bit_length()))}
    touched[width] = widest.touched
    return max(w for w, n in touched.items() if n <= MAX_SECTORS * min(touched.values()))


def touches_fewer(kernel: Kernel, other: Kernel, device: Device) -> bool:
    """Whether a kernel's warps touch far fewer sectors than those of another one."""
    return _sectors(kernel, device).touched * MAX_SECTORS < _sectors(other, device).touched


@dataclass(frozen=True, slots=True)
class _Sectors:
    """The sectors that all warps of a kernel touch, and the least number that could hold what each instruction accesses."""

    touched: float = 0
    least: float = 0


def _sectors(kernel: Kernel, device: Device) -> _Sectors:
    form = run_passes(kernel, TARGETS[device.dialect], last_stage("memory"))
    sizes = {b.name: storage_bytes(b.element_type) for b in form.buffers if b.role != "none"}
    warp, sector, line = device.cores.warp_size, device.memory.sector_bytes * 8, device.memory.line_bytes * 8
    touched = least = 0.0
    for a, e in cell_executions(form, sizes):
        traffic = global_memory_traffic(e.map, [1], sizes[a.buffer] * a.width * 8, form.block, warp, sector, line)
        if traffic is not None:
            each, _, scale, counted, _ = traffic
            touched += each[2] * e.times * scale / counted
            least += each[4] * e.times * scale / counted
    return _Sectors(touched, least)
