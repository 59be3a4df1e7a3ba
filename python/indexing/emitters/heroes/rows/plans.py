"""The layout of rows on blocks and threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from indexing._core import SymbolicExpr
from indexing.emitters.heroes.reduction.plans import Dimensions, ceil_div
from indexing.emitters.launch import Part, range_variable, thread_id

if TYPE_CHECKING:
    from indexing.emitters.kernel_builder import Dim3
    from indexing.ops.element_context import Index

Keep: TypeAlias = Literal["nothing", "shared", "registers", "online"]
KEEPS: tuple[Keep, ...] = ("nothing", "shared", "registers", "online")


@dataclass(frozen=True, slots=True)
class RowsPlan:
    """Knobs and launch dimensions.

    `threads` share a row, `across` rows a block; a thread takes `vector_width` elements at once, and keeps what it will
    need again in `keep`; "online": nothing, but sums of exponentials are found with the maximum. Where the fastest dimension
    is a kept one, the rows of a block are neighbours there, and threads of one row are `across` threads apart.
    """

    dimensions: Dimensions
    threads: int
    across: int
    vector_width: int
    keep: Keep

    @property
    def keeps_elements(self) -> bool:
        """Whether a thread keeps what it will need again."""
        return self.keep in ("shared", "registers")

    @property
    def grid(self) -> Dim3:
        """Blocks in one dimension."""
        return (self.tiles, 1, 1)

    @property
    def tiles(self) -> int:
        """Groups of rows."""
        d = self.dimensions
        if d.kind == "row":
            return ceil_div(d.rows, self.across)
        return d.rows // d.fast * ceil_div(d.fast, self.across)

    @property
    def block(self) -> Dim3:
        """Threads of a block in one dimension."""
        return (self.threads * self.across, 1, 1)

    @property
    def steps(self) -> int:
        """The number of vectors that a thread takes of its row."""
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
        """Threads of one row are so many apart."""
        return 1 if self.dimensions.kind == "row" else self.across

    @property
    def kept_parts(self) -> tuple[Part, ...]:
        """The coordinates of a thread's row."""
        d, bl_x = self.dimensions, thread_id("bl_x")
        if d.kind == "row":
            return (Part(bl_x * self.across + self.slot, d.rows),)
        beside = ceil_div(d.fast, self.across)
        return Part(bl_x // beside, d.rows // d.fast), Part(bl_x % beside * self.across + self.slot, d.fast)

    @property
    def reduced_part(self) -> Part:
        """The vector that a thread takes at a step, which is range variable 0."""
        return Part(range_variable(0) * self.threads + self.part, self.dimensions.reduced // self.vector_width)

    def index(self, row: Index, vector: SymbolicExpr, lane: SymbolicExpr) -> Sequence[SymbolicExpr]:
        """The index of the space at the coordinates of a row, and a lane of a vector in it."""
        d = self.dimensions
        kept = row[0] if d.kind == "row" else row[0] * d.fast + row[1]
        return d.index(kept, vector * self.vector_width + lane)
