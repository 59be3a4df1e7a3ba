"""The machines that run a target's kernels, as plans see them: how much makes them busy, and how wide teams are best."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Machine:
    """Numbers of a kind of machine.

    `wanted_threads` keep it busy; a row is shared by `row_threads` at first, a block has `block_size` where rows are
    short, and `tile_threads` where it moves tiles; a block takes up to `columns` neighbouring columns (or vectors of them).
    `caches_rows`: what is read again for another pass over a row is near, so that fewer passes are worth no more operations.
    `reads_ahead`: what follows in memory is on its way already, so that blocks that share a row take a stretch of it each.
    """

    wanted_threads: int
    row_threads: int
    block_size: int
    tile_threads: int
    columns: int
    caches_rows: bool
    reads_ahead: bool


# As many threads as half of a large one holds.
GPU = Machine(
    wanted_threads=1 << 17,
    row_threads=256,
    block_size=256,
    tile_threads=128,
    columns=32,
    caches_rows=False,
    reads_ahead=False,
)


# A block's threads are a loop of one core: enough for vectors, few enough that their accumulators stay near, and long
# stretches of memory one after another.
CORES = Machine(
    wanted_threads=1 << 14,
    row_threads=64,
    block_size=64,
    tile_threads=256,
    columns=1024,
    caches_rows=True,
    reads_ahead=True,
)
