"""The mapping of rows to blocks and threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from indexing._core import SymbolicExpr
from indexing.kernels.emitters.reduction.mapping import Dimensions, ceil_div, divided
from indexing.kernels.emitters.reduction.splits import shared_bytes_of_splits
from indexing.kernels.kernel_builder import Dim3
from indexing.kernels.launch import Part, range_variable, thread_id
from indexing.ops.element_context import Index

MIN_ROWS = 4  # a block of fewer reads weights as often as it has rows


class Keep(IntEnum):
    """The memory in which a thread keeps elements that a later pass needs again; the values are those of the knob `keep`."""

    NOTHING = 0
    SHARED = 1
    REGISTERS = 2
    ONLINE = 3


@dataclass(frozen=True, slots=True)
class RowsPlan:
    """Knobs and launch dimensions.

    `threads` share a row, and `across` rows a block; a thread takes `vector_width` elements at once, and keeps elements that it
    needs again in `keep` (`ONLINE`: it keeps none, but sums are computed online). If the fastest dimension is a kept one, the
    rows of a block are neighbours along it, and threads of one row are `across` thread ids apart. `split_k` blocks share the
    rows of one of `tiles` groups: steps are interleaved or, `contiguous_splits`, each block has consecutive ones. A thread
    reduces values of `value_bytes` bytes, all passes together, and keeps `kept_bytes` bytes of an element, in `dialect`. Blocks
    keep `weight_bytes` bytes of weights in shared memory, if they have several rows, and `staged_bytes` bytes of each row.
    """

    dimensions: Dimensions
    threads: int
    across: int
    vector_width: int
    keep: Keep
    value_bytes: int
    kept_bytes: int
    dialect: str
    contiguous_splits: bool
    split_k: int = 1
    weight_bytes: int = 0
    staged_bytes: int = 0

    @property
    def shares_weights(self) -> bool:
        """Whether a block loads weights once for all of its rows."""
        return self.weight_bytes > 0 and self.across >= MIN_ROWS

    @property
    def stages_rows(self) -> bool:
        """Whether blocks copy rows to and from shared memory."""
        return self.staged_bytes > 0

    @property
    def shared_bytes(self) -> int:
        """The shared memory in which threads combine their values, and keep elements and weights."""
        kept = self.elements * self.block[0] * self.kept_bytes if self.keep == Keep.SHARED else 0
        kept += self.weight_bytes if self.shares_weights else 0
        kept += self.staged_bytes * self.across
        return kept + shared_bytes_of_splits(
            self.value_bytes, self.block[0], self.threads, self.distance, self.split_k, self.dialect
        )

    def with_splits(self, split_k: int) -> RowsPlan:
        """The plan in which `split_k` blocks share the rows of a group."""
        return replace(self, split_k=split_k)

    @property
    def elements(self) -> int:
        """The number of elements of a row that a thread takes."""
        return self.steps * self.vector_width

    @property
    def keeps_elements(self) -> bool:
        """Whether a thread keeps elements that it needs again."""
        return self.keep in (Keep.SHARED, Keep.REGISTERS)

    @property
    def grid(self) -> Dim3:
        """The blocks, in one dimension."""
        return (self.tiles * self.split_k, 1, 1)

    @property
    def tile(self) -> SymbolicExpr:
        """The number of a block's group of rows."""
        return thread_id("bl_x") // self.split_k

    @property
    def split(self) -> SymbolicExpr:
        """The number of a block among those of its group of rows."""
        return thread_id("bl_x") % self.split_k

    @property
    def tiles(self) -> int:
        """The number of groups of rows."""
        d = self.dimensions
        if d.kind == "row":
            return ceil_div(d.rows, self.across)
        return d.rows // d.fast * ceil_div(d.fast, self.across)

    @property
    def block(self) -> Dim3:
        """The threads of a block, in one dimension."""
        return (self.threads * self.across, 1, 1)

    @property
    def steps(self) -> int:
        """The number of vectors of its row that a thread takes if blocks do not share it."""
        return ceil_div(self.dimensions.reduced, self.vector_width * self.threads)

    @property
    def slot(self) -> SymbolicExpr:
        """The number of a thread's row in its block."""
        th_x = thread_id("th_x")
        return th_x // self.threads if self.dimensions.kind == "row" else th_x % self.across

    @property
    def part(self) -> SymbolicExpr:
        """The number of a thread among those of its row."""
        th_x = thread_id("th_x")
        return th_x % self.threads if self.dimensions.kind == "row" else th_x // self.across

    @property
    def distance(self) -> int:
        """The distance between the thread ids of one row."""
        return 1 if self.dimensions.kind == "row" else self.across

    @property
    def kept_parts(self) -> tuple[Part, ...]:
        """The coordinates of a thread's row."""
        d, tile = self.dimensions, self.tile
        if d.kind == "row":
            return (Part(tile * self.across + self.slot, d.rows),)
        beside = ceil_div(d.fast, self.across)
        return Part(tile // beside, d.rows // d.fast), Part(tile % beside * self.across + self.slot, d.fast)

    @property
    def reduced_parts(self) -> tuple[int, Part, Part | None]:
        """The number of steps of a thread, the vector that it takes at a step (range variable 0), and one that it may take
        after these.
        """
        vectors = self.dimensions.reduced // self.vector_width
        steps, vector, rest = divided(self, self.split, self.part, vectors, range_variable(0))
        return steps, Part(vector, vectors), None if rest is None else Part(rest, vectors)

    def index(self, row: Index, vector: SymbolicExpr, lane: SymbolicExpr) -> Sequence[SymbolicExpr]:
        """The index of the space, given the coordinates of a row, a vector in it, and a lane."""
        d = self.dimensions
        kept = row[0] if d.kind == "row" else row[0] * d.fast + row[1]
        return d.index(kept, vector * self.vector_width + lane)
