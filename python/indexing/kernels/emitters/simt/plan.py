"""Launch dimensions and knobs of a product of matrices in registers."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, prod
from typing import TYPE_CHECKING, NamedTuple

from indexing.kernels.emitter import fits
from indexing.kernels.emitters.dot.match import Axis, Product, fastest, planned_product
from indexing.kernels.emitters.simt.match import NAME, sum_type
from indexing.kernels.emitters.tile.plan import DEFAULT_TILES, PIECES, STAGES, TILE_SIDES, rotated
from indexing.kernels.emitters.tile.shared_tile import SharedTile, Side, in_order, is_asynchronous
from indexing.kernels.ir.fragments import PIECE_BYTES
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.knob_space import Condition, Knob, KnobSpace, Values
from indexing.kernels.launch import check_choice

if TYPE_CHECKING:
    from indexing.device.record import Device
    from indexing.hlo import Instruction
    from indexing.kernels.epilogue import Heroes
    from indexing.kernels.kernel_builder import Dim3

THREAD_SIDES = (4, 8)
WIDE_SIDE = 64  # tiles so wide have threads of eight rows or columns by default


class Sizes(NamedTuple):
    """The knobs that decide which elements a thread computes and keeps."""

    tile_rows: int
    tile_columns: int
    thread_rows: int
    thread_columns: int
    tile_depth: int
    stages: int


@dataclass(frozen=True, slots=True)
class SimtPlan:
    """Knobs and launch dimensions: a block computes `tile_rows` by `tile_columns` of the product, a thread `thread_rows` by
    `thread_columns`, and shared memory holds pieces of `tile_depth` along the sum.
    """

    product: Product
    element_type: str
    sizes: Sizes
    fastest: tuple[tuple[Axis, int], tuple[Axis, int]]  # of each operand: the fastest dimension, and its size

    @property
    def tiles(self) -> tuple[int, int, int]:
        """The numbers of blocks along the batch, the rows and the columns."""
        return self.product.tiles(self.sizes.tile_rows, self.sizes.tile_columns)

    @property
    def steps(self) -> int:
        """The number of tiles along the sum."""
        return self.product.steps(self.sizes.tile_depth)

    @property
    def grid(self) -> Dim3:
        """The blocks, in one dimension."""
        return (prod(self.tiles), 1, 1)

    @property
    def threads(self) -> tuple[int, int]:
        """The threads of a block along rows and columns."""
        s = self.sizes
        return s.tile_rows // s.thread_rows, s.tile_columns // s.thread_columns

    @property
    def block(self) -> Dim3:
        """The threads of a block, in one dimension."""
        return (prod(self.threads), 1, 1)

    @property
    def piece(self) -> int:
        """The elements that a thread loads from shared memory at once."""
        return PIECE_BYTES // storage_bytes(self.element_type)

    @property
    def shared_tiles(self) -> tuple[SharedTile, SharedTile]:
        """The tiles of both operands, as they lie in memory."""
        return (
            self._tile("left", self.sizes.tile_rows, *self.fastest[0]),
            self._tile("right", self.sizes.tile_columns, *self.fastest[1]),
        )

    def _tile(self, side: Side, free: int, fast: Axis, size: int) -> SharedTile:
        depth, piece = self.sizes.tile_depth, self.piece
        lines, run = (free, depth) if fast == "sum" else (depth, free)
        place = rotated(lines, run, piece) if fast == "sum" else in_order(lines, run)
        return SharedTile(side, self.element_type, lines, run, fast, fast, gcd(size, piece, run), place)

    @property
    def shared_bytes(self) -> int:
        """The bytes of both tiles, of each stage."""
        s = self.sizes
        return s.stages * (s.tile_rows + s.tile_columns) * s.tile_depth * storage_bytes(self.element_type)


def plan_simt(
    match: Heroes,
    device: Device,
    *,
    tile_rows: int | None = None,
    tile_columns: int | None = None,
    thread_rows: int | None = None,
    thread_columns: int | None = None,
    tile_depth: int | None = None,
    stages: int | None = None,
) -> SimtPlan:
    """Launch dimensions.

    Knobs: `tile_rows` and `tile_columns` of the product per block, 16, 32, 64 or 128; `thread_rows` and `thread_columns` per
    thread, 4 or 8; `tile_depth`, the elements along the sum that shared memory holds at once: 32, 64 or 128 bytes of them;
    `stages` of shared memory: with 2, a tile is copied while the one before it is multiplied.
    """
    dot = match.first
    p = planned_product(dot)
    rows, columns = _default_tile(p, device)
    tile = tile_rows or rows, tile_columns or columns
    sides = _default_sides(p, tile, device)
    thread = thread_rows or sides[0], thread_columns or sides[1]
    default = _default_pipeline(dot, (*tile, *thread), device)
    sizes = Sizes(*tile, *thread, tile_depth or default[0], stages or default[1])
    for name, legal in _legal(dot).items():
        check_choice(name, getattr(sizes, name), legal)
    return _planned(dot, sizes)


def _legal(dot: Instruction) -> dict[str, tuple[int, ...]]:
    return dict(zip(Sizes._fields, (*(TILE_SIDES,) * 2, *(THREAD_SIDES,) * 2, _depths(dot), STAGES), strict=True))


def _planned(dot: Instruction, sizes: Sizes) -> SimtPlan:
    p = planned_product(dot)
    left, right = (fastest(dot, k) for k in p.operands)
    return SimtPlan(p, sum_type(dot), sizes, (left, right))


def _depths(dot: Instruction) -> tuple[int, ...]:
    return tuple(pieces * PIECE_BYTES // storage_bytes(sum_type(dot)) for pieces in PIECES)


def _default_tile(p: Product, device: Device) -> tuple[int, int]:
    """The tile, not far beyond the product, with which the busiest core has the least work; the largest of several."""
    most = [max(1 << (prod(n) - 1).bit_length(), TILE_SIDES[0]) for n in (p.rows, p.columns)]
    tiles = dict.fromkeys((min(r, most[0]), min(c, most[1])) for r, c in DEFAULT_TILES)
    return min(tiles, key=lambda tile: _blocks_of_core(p, tile, device) * _tile_work(*tile))


def _blocks_of_core(p: Product, tile: tuple[int, int], device: Device) -> int:
    return -(-prod(p.tiles(*tile)) // device.cores.count)


def _tile_work(rows: int, columns: int) -> float:
    """The products of a step along the sum of a tile, and the elements that its threads load for them."""
    return rows * columns * (1 + sum(1 / _widest_side(n) for n in (rows, columns)))


def _widest_side(tile: int) -> int:
    return THREAD_SIDES[-1] if tile >= WIDE_SIDE else THREAD_SIDES[0]


def _default_sides(p: Product, tile: tuple[int, int], device: Device) -> tuple[int, int]:
    """The widest rows and columns of a thread; the least ones if a core had fewer threads than lanes with those."""
    rows, columns = map(_widest_side, tile)
    threads = _blocks_of_core(p, tile, device) * prod(tile) // (rows * columns)
    return (rows, columns) if threads >= device.cores.lanes else (THREAD_SIDES[0], THREAD_SIDES[0])


def _default_pipeline(dot: Instruction, sides: tuple[int, int, int, int], device: Device) -> tuple[int, int]:
    """The least depth that holds the sum, in one stage; else 64 bytes, in two stages if an operand is copied asynchronously."""
    contracted, depths = prod(planned_product(dot).contracted), _depths(dot)
    if contracted <= depths[1]:
        return next(d for d in depths if d >= contracted), 1
    plan = _planned(dot, Sizes(*sides, depths[1], 2))
    return depths[1], 2 if fits(plan, device.limits) and is_asynchronous(dot, plan.shared_tiles) else 1


def simt_knobs(match: Heroes, default: SimtPlan, device: Device) -> KnobSpace:
    """Names, legal values and defaults of the knobs: tiles that fit into shared memory."""
    dot, names = match.first, Sizes._fields
    legal = _legal(dot)
    stages: dict[tuple[int, ...], Values] = {
        (r, c, d): tuple(
            n for n in STAGES if fits(_planned(dot, Sizes(r, c, *THREAD_SIDES[-1:] * 2, d, n)), device.limits)
        )
        for r in TILE_SIDES
        for c in TILE_SIDES
        for d in legal["tile_depth"]
    }
    return KnobSpace(
        NAME,
        tuple(Knob(name, legal[name], getattr(default.sizes, name)) for name in names),
        (Condition("stages", ("tile_rows", "tile_columns", "tile_depth"), stages),),
    )
