"""The bytes that a fusion's kernel must move, whatever its plan: the floor of every prediction of its memory traffic."""

from __future__ import annotations

from indexing.analysis.memory.distinct_elements import utilization
from indexing.hlo import Computation
from indexing.hlo.layout import bit_width
from indexing.kernels.kernel import Kernel

__all__ = ["least_bytes"]


def least_bytes(computation: Computation, kernel: Kernel) -> int:
    """The bytes of the distinct elements that are read of each operand, whatever data decide, and of all outputs; none of
    arrays that the kernel updates in place.
    """
    updated = set(kernel.in_place.values())
    read = sum(_bytes(u.at_least, u.element_bits) for u in utilization(computation) if u.number not in updated)
    leaves = dict(enumerate(computation.root.shape.leaves))
    for output in kernel.in_place:
        del leaves[output]
    return read + sum(_bytes(leaf.element_count, bit_width(leaf.element_type)) for leaf in leaves.values())


def _bytes(elements: int, bits: int) -> int:
    return -(-elements * bits // 8)
