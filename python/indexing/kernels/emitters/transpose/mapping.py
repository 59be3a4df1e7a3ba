"""The mapping of a transpose to blocks and threads: its dimensions, its knobs, and the thread mappings of both halves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from indexing._core import SymbolicExpr, constant
from indexing.hlo import Instruction
from indexing.hlo.layout import delinearize
from indexing.kernels.kernel_builder import Dim3
from indexing.kernels.launch import Part, range_variable, thread_id
from indexing.ops.registry import traits_of
from indexing.ops.shape import COPY

WORD_BYTES = 4
WARP = 32
MIN_SIDE = 8  # the least side of a tile; a tile has all of a shorter side of the plane
TILES = (8, 16, 32, 64, 128)
STEP, LANE, ROW = range(3)  # the range variables of a thread mapping


@dataclass(frozen=True, slots=True)
class Groups:
    """A transpose with merged dimensions: the `sizes` of groups in the input's order, each of the logical input dimensions
    `members`. `x` and `y` are the groups of the plane, `outer` those outside of it, `run` the one inside, or None.
    """

    sizes: tuple[int, ...]
    members: tuple[tuple[int, ...], ...]
    outer: tuple[int, ...]
    x: int
    y: int
    run: int | None

    @property
    def run_size(self) -> int:
        """The number of elements of a run."""
        return 1 if self.run is None else self.sizes[self.run]

    def is_short(self, side: str) -> bool:
        """Whether a tile has all of side "x" or "y"."""
        return self.sizes[self.x if side == "x" else self.y] < MIN_SIDE

    def line(self, side: str) -> int:
        """The number of contiguous elements along a side: those of a line, or, if the side is short, of all lines."""
        lines = self.sizes[self.y if side == "x" else self.x] if self.is_short(side) else 1
        return lines * self.sizes[self.x if side == "x" else self.y] * self.run_size


@dataclass(frozen=True, slots=True)
class TransposePlan:
    """Knobs and launch dimensions. A tile has `sides` runs along x and y; `packed` elements share a word of it.

    A thread reads `read_width` neighbouring elements at once, and writes `write_width`. `widths` has the bytes of an element of
    each hero.
    """

    sides: tuple[int, int]
    block_size: int
    packed: int
    groups: Groups
    read_width: int
    write_width: int
    widths: tuple[int, ...]

    @property
    def tiles(self) -> tuple[int, int]:
        """The numbers of tiles along x and y."""
        g = self.groups
        return -(-g.sizes[g.x] // self.sides[0]), -(-g.sizes[g.y] // self.sides[1])

    @property
    def grid(self) -> Dim3:
        """The blocks, one for each tile."""
        return (prod(self.groups.sizes[g] for g in self.groups.outer) * prod(self.tiles), 1, 1)

    @property
    def block(self) -> Dim3:
        """The threads of a block, in one dimension."""
        return (self.block_size, 1, 1)

    @property
    def row(self) -> int:
        """The stride between rows of the shared tile, in cells, padded so that a column lies in different banks.

        A row has the elements of one y; if packed, the words of one x.
        """
        if self.packed > 1:
            return self.sides[1] // self.packed | 1
        if not self.groups.is_short("y"):
            return (self.sides[0] | 1) * self.groups.run_size  # an odd number of runs avoids bank conflicts
        row = self.sides[0] * self.groups.run_size
        return row + (-(-WARP // self.sides[1]) - row) % WARP  # a warp takes several whole columns

    @property
    def cells(self) -> int:
        """The number of cells of the shared tile."""
        return self.row * (self.sides[0] if self.packed > 1 else self.sides[1])

    @property
    def shared_bytes(self) -> int:
        """The size of the heroes' tiles."""
        return self.cells * sum(WORD_BYTES if self.packed > 1 else width for width in self.widths)


@dataclass(frozen=True, slots=True)
class ThreadMapping:
    """The mapping of a block's threads to a tile: along lines of x when reading, along lines of y when writing.

    A line consists of its runs. `fast` is the number of a vector of `width` elements in a line, or, if these don't divide the
    line, of an element, the lane included; `slow` is the number of the line, unless `fast` runs through all lines, each of
    `joined` elements. A thread takes a vector in each of `steps` steps, if it is within `bounds`; `cell` is its position in
    the tile.
    """

    steps: int
    width: int
    fast: Part
    slow: Part
    bounds: tuple[Part, ...]
    cell: SymbolicExpr
    divides: bool = True
    joined: int = 0

    def place(self, fast: SymbolicExpr, slow: SymbolicExpr, lane: SymbolicExpr) -> tuple[SymbolicExpr, SymbolicExpr]:
        """The number of the line, and the position in it."""
        line = fast * self.width + lane if self.divides else fast
        return (line // self.joined, line % self.joined) if self.joined else (slow, line)


def reading(plan: TransposePlan) -> ThreadMapping:
    """The thread mapping from the operands to the tile."""
    return _reading_squares(plan) if plan.packed > 1 else _elements(plan, "x")


def storing(plan: TransposePlan) -> ThreadMapping:
    """The thread mapping from the tile to the outputs."""
    return _storing_words(plan) if plan.packed > 1 else _elements(plan, "y")


def _position(plan: TransposePlan, count: int, used: int) -> tuple[SymbolicExpr, int, tuple[Part, ...]]:
    """A thread's position over all steps, the number of steps to cover `used` positions, and its bound `count`, if needed."""
    position = range_variable(STEP) * plan.block_size + thread_id("th_x")
    steps = -(-min(used, count) // plan.block_size)
    return position, steps, () if steps * plan.block_size <= count else (Part(position, count),)


def _tile(plan: TransposePlan) -> tuple[list[SymbolicExpr], SymbolicExpr, SymbolicExpr]:
    """The block's coordinates: those of outer groups, and the tile's number along x and y."""
    sizes = [plan.groups.sizes[g] for g in plan.groups.outer]
    *outer, tile_y, tile_x = delinearize(thread_id("bl_x"), [*sizes, plan.tiles[1], plan.tiles[0]])
    return outer, tile_x, tile_y


def _elements(plan: TransposePlan, fast: str) -> ThreadMapping:
    """The mapping of vectors along lines of `fast` ("x" or "y"); neighbouring threads are on one line."""
    g, (side_x, side_y), run = plan.groups, plan.sides, plan.groups.run_size
    _, tile_x, tile_y = _tile(plan)
    lane = range_variable(LANE)
    if fast == "x":
        side, other, width = side_x, side_y, plan.read_width
        tile, across, size, lines = tile_x, tile_y, g.sizes[g.x], g.sizes[g.y]
    else:
        side, other, width = side_y, side_x, plan.write_width
        tile, across, size, lines = tile_y, tile_x, g.sizes[g.y], g.sizes[g.x]
    if g.is_short(fast):
        vectors = side * other * run // width
        position, steps, bounds = _position(plan, vectors, vectors)
        element = position * width + lane
        cell = _cell(plan, fast, element // (side * run), element % (side * run))
        place = Part(across * vectors + position, g.line(fast) // width)
        return ThreadMapping(steps, width, place, Part(constant(0), 1), bounds, cell, joined=side * run)
    vectors = side * run // width
    position, steps, bounds = _position(plan, vectors * other, vectors * lines)
    slow, group = position // vectors, position % vectors
    cell = _cell(plan, fast, slow, group * width + lane)
    place = Part(tile * vectors + group, size * run // width)
    return ThreadMapping(steps, width, place, Part(across * other + slow, lines), bounds, cell)


def _cell(plan: TransposePlan, fast: str, slow: SymbolicExpr, line: SymbolicExpr) -> SymbolicExpr:
    """The cell in the tile of the element at position `line` of line `slow`."""
    run = plan.groups.run_size
    return slow * plan.row + line if fast == "x" else line // run * plan.row + slow * run + line % run


def _reading_squares(plan: TransposePlan) -> ThreadMapping:
    """The mapping of squares: a warp covers `packed` of them along y, and the others along x."""
    packed, (side_x, side_y), g = plan.packed, plan.sides, plan.groups
    _, tile_x, tile_y = _tile(plan)
    side = side_x // packed
    wide = min(WARP // packed, side)
    rows = -(-g.sizes[g.y] // packed**2) * packed  # of squares
    position, steps, bounds = _position(plan, side * side_y // packed, side * rows)
    lane_x, lane_y, rest = position % wide, position // wide % packed, position // (wide * packed)
    across = side // wide
    square_x, square_y = rest % across * wide + lane_x, rest // across * packed + lane_y
    y = tile_y * side_y + square_y * packed + range_variable(ROW)
    cell = (square_x * packed + range_variable(LANE)) * plan.row + square_y
    slow = Part(y, g.sizes[g.y])
    divides, fast = _packed_line(tile_x * side + square_x, packed, g.sizes[g.x])
    return ThreadMapping(steps, packed, fast, slow, bounds, cell, divides)


def _storing_words(plan: TransposePlan) -> ThreadMapping:
    """The mapping of the tile's words, each of `packed` elements along y."""
    packed, (side_x, side_y), g = plan.packed, plan.sides, plan.groups
    _, tile_x, tile_y = _tile(plan)
    words = side_y // packed
    position, steps, bounds = _position(plan, side_x * words, g.sizes[g.x] * words)
    x, word = position // words, position % words
    divides, fast = _packed_line(tile_y * words + word, packed, g.sizes[g.y])
    slow = Part(tile_x * side_x + x, g.sizes[g.x])
    return ThreadMapping(steps, packed, fast, slow, bounds, x * plan.row + word, divides)


def _packed_line(group: SymbolicExpr, packed: int, size: int) -> tuple[bool, Part]:
    if size % packed == 0:
        return True, Part(group, size // packed)
    return False, Part(group * packed + range_variable(LANE), size)


def input_index(
    hero: Instruction, plan: TransposePlan, x: SymbolicExpr, y: SymbolicExpr, run: SymbolicExpr
) -> list[SymbolicExpr]:
    """The logical index of the hero's operand at coordinates of the block's plane."""
    groups = plan.groups
    outer, _, _ = _tile(plan)
    place: dict[int, SymbolicExpr] = dict(zip(groups.outer, outer, strict=True))
    place |= {groups.x: x, groups.y: y}
    if groups.run is not None:
        place[groups.run] = run
    sizes = hero.operands[0].shape.dimensions
    index = [constant(0)] * len(sizes)
    for g, members in enumerate(groups.members):
        for d, part in zip(members, delinearize(place[g], [sizes[d] for d in members]), strict=True):
            index[d] = part
    return index


def output_index(hero: Instruction, index: Sequence[SymbolicExpr]) -> list[SymbolicExpr]:
    """The logical index of the hero, given that of its operand."""
    return list(index) if traits_of(hero) is COPY else [index[d] for d in hero.ints("dimensions")]
