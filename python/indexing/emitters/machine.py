"""What plans ask of the machines that run a target's kernels: how much makes them busy, and how wide teams are best."""

from __future__ import annotations

from dataclasses import dataclass

BLOCK = 128  # threads
MIN_LINE, MAX_LINE = 16, 1024  # threads of a block that ends with a line


@dataclass(frozen=True, slots=True)
class Machine:
    """Numbers of a kind of machine.

    `wanted_threads` keep it busy; a row is shared by `row_threads` at first, a block has `block_size` where rows are
    short; a block takes up to `columns` neighbouring columns (or vectors of them).
    Blocks of `whole_lines` end where lines of an array end, so that no index within a line needs a quotient.
    """

    wanted_threads: int
    row_threads: int
    block_size: int
    columns: int
    whole_lines: bool = False

    def linear_block(self, line: int) -> int:
        """Threads of a block that take neighbours in memory, whose lines have `line` elements."""
        if not self.whole_lines or line % BLOCK == 0 or BLOCK % line == 0:
            return BLOCK
        return next((n for n in range(min(line, MAX_LINE), MIN_LINE - 1, -1) if line % n == 0), BLOCK)


GPU = Machine(wanted_threads=1 << 17, row_threads=256, block_size=256, columns=32)  # half of what a large one holds

# A block's threads are a loop of one core: enough for vectors, few enough that their accumulators stay near, and long
# stretches of memory one after another.
CORES = Machine(wanted_threads=1 << 14, row_threads=64, block_size=64, columns=1024, whole_lines=True)
