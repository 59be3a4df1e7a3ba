"""Launch dimensions and knobs of merges."""

from __future__ import annotations

from math import gcd

from indexing.device.record import Device
from indexing.kernels.emitters.sort.match import RowSort
from indexing.kernels.knob_space import KnobSpace
from indexing.kernels.linear import LinearPlan, linear_block_size, linear_knobs
from indexing.kernels.vectors import widest_vector

NAME = "merge"
MAX_ELEMENTS = 16  # a thread has at most so many by default


def plan_merge(
    match: RowSort, device: Device, *, block_size: int | None = None, vector_width: int | None = None
) -> LinearPlan:
    """Launch dimensions over the elements of all rows.

    Knobs: `block_size`, from 1 thread to the most of a block; `vector_width`, 1, 2, 4, 8 or 16 elements of a thread, which
    divides the length of two runs.
    """
    pair = match.runs.length
    if vector_width is None:
        vector_width = widest_vector(MAX_ELEMENTS, 1, match.rows * match.runs.size, [pair])
    vectors = -(-match.runs.size // vector_width)
    threads = block_size or linear_block_size(match.rows * vectors, device.limits)
    return LinearPlan((match.rows, vectors * vector_width), (0, 1), vector_width, threads)


def merge_knobs(match: RowSort, default: LinearPlan, device: Device) -> KnobSpace:
    """Names, legal values and defaults of the knobs."""
    return KnobSpace(NAME, linear_knobs(default, gcd(match.runs.length, 16), device.limits))
