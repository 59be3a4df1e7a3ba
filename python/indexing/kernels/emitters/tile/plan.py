"""Plans of tile kernels: the sizes of tiles and warps, and the places of elements in shared memory."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, prod
from typing import TYPE_CHECKING

from indexing._core import IndexingMap
from indexing.kernels.emitter import fits
from indexing.kernels.emitters.dot.match import Axis, Product, fastest, planned_product
from indexing.kernels.emitters.tile.match import NAME, instruction_of
from indexing.kernels.emitters.tile.shared_tile import SharedTile, Side, is_asynchronous, places
from indexing.kernels.ir.fragments import COLUMNS, LANES, LINES, ROWS, MatrixInstruction
from indexing.kernels.knob_space import Condition, Knob, KnobSpace, Values
from indexing.kernels.launch import check_choice

if TYPE_CHECKING:
    from indexing.device.record import Device
    from indexing.hlo import Instruction
    from indexing.kernels.epilogue import Heroes
    from indexing.kernels.kernel_builder import Dim3

TILE_SIDES, PIECES = (16, 32, 64, 128), (2, 4, 8)
STAGES = (1, 2)
DEFAULT_TILES = ((128, 128), (128, 64), (64, 64), (64, 32), (32, 32))  # largest first
WARP_TILE = 64, 32  # rows and columns of the sum that a warp has at most: half of a thread's registers
LEAST_WARP_TILE = ROWS, 2 * COLUMNS  # four matrices of the right factor are loaded together
WARPS = 4  # a block has so many if its tile has as many least tiles


def rotated(lines: int, run: int, piece: int) -> IndexingMap:
    """(line, element) -> position. Pieces of a line are rotated, so that eight lines have a piece in all banks once."""
    pieces = run // piece
    turn = max(LINES // pieces, 1)  # lines that fill all banks
    turned = f"(element floordiv {piece} + line floordiv {turn}) mod {pieces}"
    return places(lines, run, f"line * {run} + {turned} * {piece} + element mod {piece}")


@dataclass(frozen=True, slots=True)
class TilePlan:
    """Knobs and launch dimensions: a block computes `tile_rows` by `tile_columns` of the product, and moves pieces of
    `tile_depth` along the sum through shared memory.
    """

    sizes: Product
    instruction: MatrixInstruction
    tile_rows: int
    tile_columns: int
    tile_depth: int
    stages: int
    fastest: tuple[tuple[Axis, int], tuple[Axis, int]]  # of each operand: the fastest dimension, and its size

    @property
    def tiles(self) -> tuple[int, int, int]:
        """The numbers of blocks along the batch, the rows and the columns."""
        return self.sizes.tiles(self.tile_rows, self.tile_columns)

    @property
    def steps(self) -> int:
        """The number of tiles along the sum."""
        return self.sizes.steps(self.tile_depth)

    @property
    def grid(self) -> Dim3:
        """The blocks, in one dimension."""
        return (prod(self.tiles), 1, 1)

    @property
    def warp_tile(self) -> tuple[int, int]:
        """The rows and columns of the sum that a warp computes."""
        rows, columns = min(self.tile_rows, WARP_TILE[0]), min(self.tile_columns, WARP_TILE[1])
        while self.tile_rows * self.tile_columns < WARPS * rows * columns and (rows, columns) != LEAST_WARP_TILE:
            rows, columns = (rows // 2, columns) if rows >= columns and rows > ROWS else (rows, columns // 2)
        return rows, columns

    @property
    def warps(self) -> tuple[int, int]:
        """The warps of a block along rows and columns."""
        rows, columns = self.warp_tile
        return self.tile_rows // rows, self.tile_columns // columns

    @property
    def threads(self) -> int:
        """The threads of a block."""
        return prod(self.warps) * LANES

    @property
    def block(self) -> Dim3:
        """The threads of a block, in one dimension."""
        return (self.threads, 1, 1)

    @property
    def shared_tiles(self) -> tuple[SharedTile, SharedTile]:
        """The tiles of both operands."""
        return self._tile("left", self.tile_rows, *self.fastest[0]), self._tile(
            "right", self.tile_columns, *self.fastest[1]
        )

    def _tile(self, side: Side, free: int, reads: Axis, size: int) -> SharedTile:
        piece, depth = self.instruction.piece, self.tile_depth
        fast: Axis = reads if self.instruction.element_bytes == 2 else "sum"  # only 16 bits are transposed
        lines, run = (free, depth) if fast == "sum" else (depth, free)
        along = depth if reads == "sum" else free
        kind, place = self.instruction.element_type, rotated(lines, run, piece)
        return SharedTile(side, kind, lines, run, fast, reads, gcd(size, piece, along), place)

    @property
    def shared_bytes(self) -> int:
        """The bytes of both tiles, of each stage."""
        return self.stages * (self.tile_rows + self.tile_columns) * self.tile_depth * self.instruction.element_bytes


def default_tile(sizes: Product, device: Device) -> tuple[int, int]:
    """The largest tile of which there is one for each core, not far beyond the product; else the least."""
    rows, columns = prod(sizes.rows), prod(sizes.columns)
    most = tuple(max(1 << (n - 1).bit_length(), least) for n, least in ((rows, ROWS), (columns, 2 * COLUMNS)))
    tiles = [(min(r, most[0]), min(c, most[1])) for r, c in DEFAULT_TILES]
    return next((t for t in tiles if prod(sizes.tiles(*t)) >= device.cores.count), tiles[-1])


def planned(dot: Instruction, tile: tuple[int, int], depth: int, stages: int) -> TilePlan:
    """The plan with these knobs."""
    p = planned_product(dot)
    left, right = (fastest(dot, k) for k in p.operands)
    return TilePlan(p, instruction_of(dot), *tile, depth, stages, (left, right))


def plan_tile(
    match: Heroes,
    device: Device,
    *,
    tile_rows: int | None = None,
    tile_columns: int | None = None,
    tile_depth: int | None = None,
    stages: int | None = None,
) -> TilePlan:
    """Launch dimensions.

    Knobs: `tile_rows` and `tile_columns` of the product per block, 16, 32, 64 or 128; `tile_depth`, the elements along the sum
    that shared memory holds at once: 32, 64 or 128 bytes of them; `stages` of shared memory: with 2, a tile is copied while
    the one before it is multiplied.
    """
    dot = match.first
    rows, columns = default_tile(planned_product(dot), device)
    chosen = {"tile_rows": tile_rows or rows, "tile_columns": tile_columns or columns}
    legal = {"tile_rows": TILE_SIDES, "tile_columns": TILE_SIDES, "tile_depth": _depths(dot), "stages": STAGES}
    default = _default_pipeline(dot, (chosen["tile_rows"], chosen["tile_columns"]), tile_depth, device)
    chosen |= {"tile_depth": tile_depth or default[0], "stages": stages or default[1]}
    for name, value in chosen.items():
        check_choice(name, value, legal[name])
    return planned(dot, (chosen["tile_rows"], chosen["tile_columns"]), chosen["tile_depth"], chosen["stages"])


def _depths(dot: Instruction) -> tuple[int, ...]:
    return tuple(pieces * instruction_of(dot).piece for pieces in PIECES)


def _default_pipeline(dot: Instruction, tile: tuple[int, int], depth: int | None, device: Device) -> tuple[int, int]:
    """The least depth that holds the sum, in one stage; else, if an operand's tiles are copied asynchronously, two stages
    of the greatest depth that fits, and one stage of the greatest depth if not.
    """
    contracted = prod(planned_product(dot).contracted)
    depths = _depths(dot) if depth is None else (depth,)
    whole = next((d for d in depths if d >= contracted), None)
    if whole is not None:
        return whole, 1
    plans = [planned(dot, tile, d, 2) for d in depths if d in _depths(dot)]
    deep = [p.tile_depth for p in plans if fits(p, device.limits) and is_asynchronous(dot, p.shared_tiles)]
    return (deep[-1], 2) if deep else (depths[-1], 1)


def tile_knobs(match: Heroes, default: TilePlan, device: Device) -> KnobSpace:
    """Names, legal values and defaults of the knobs: tiles that fit into shared memory."""
    dot = match.first
    depths: dict[tuple[int, ...], Values] = {
        (r, c): tuple(d for d in _depths(dot) if fits(planned(dot, (r, c), d, 1), device.limits))
        for r in TILE_SIDES
        for c in TILE_SIDES
    }
    stages: dict[tuple[int, ...], Values] = {
        (*tile, d): tuple(n for n in STAGES if fits(planned(dot, tile, d, n), device.limits))  # type: ignore[arg-type]
        for tile, legal in depths.items()
        for d in legal
    }
    return KnobSpace(
        NAME,
        (
            Knob("tile_rows", TILE_SIDES, default.tile_rows),
            Knob("tile_columns", TILE_SIDES, default.tile_columns),
            Knob("tile_depth", _depths(dot), default.tile_depth),
            Knob("stages", STAGES, default.stages),
        ),
        (
            Condition("tile_depth", ("tile_rows", "tile_columns"), depths),
            Condition("stages", ("tile_rows", "tile_columns", "tile_depth"), stages),
        ),
    )
