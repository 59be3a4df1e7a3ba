"""Models of the machines that run a target's kernels, for plans: the threads that keep them busy, and sizes of teams."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Machine:
    """Parameters of a kind of machine.

    `wanted_threads` keep it busy. A row has at most `row_threads`, unless there are few rows; a block has `block_size` threads
    if rows are short, `tile_threads` if it moves tiles, and up to `columns` neighbouring columns (or vectors of them). With
    `caches_rows`, a second pass over a row hits the cache, so that fewer passes are not worth more operations. With
    `reads_ahead`, the machine prefetches, so that blocks that share a row take contiguous parts of it.
    """

    wanted_threads: int
    row_threads: int
    block_size: int
    tile_threads: int
    columns: int
    caches_rows: bool
    reads_ahead: bool


# `wanted_threads` is about half of the threads that a large GPU holds.
GPU = Machine(
    wanted_threads=1 << 17,
    row_threads=256,
    block_size=256,
    tile_threads=128,
    columns=32,
    caches_rows=False,
    reads_ahead=False,
)


# A block's threads are a loop on one core: enough for vectors, few enough that their accumulators stay in cache, and wide
# enough for long contiguous accesses.
CORES = Machine(
    wanted_threads=1 << 14,
    row_threads=64,
    block_size=64,
    tile_threads=256,
    columns=1024,
    caches_rows=True,
    reads_ahead=True,
)
