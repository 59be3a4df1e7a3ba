"""Launch dimensions and knobs of a product of matrices in registers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd, prod

from indexing.device.record import Device
from indexing.hlo import Instruction
from indexing.kernels.emitter import fits
from indexing.kernels.emitters.dot.match import Axis, fastest, planned_product, sum_type
from indexing.kernels.emitters.simt.match import NAME
from indexing.kernels.emitters.tile.plan import PIECES, rotated
from indexing.kernels.emitters.tile.shared_tile import SharedTile, Side, in_order, is_asynchronous
from indexing.kernels.emitters.tile.splits import TiledPlan, fastest_plan, sides, tile_space
from indexing.kernels.epilogue import Heroes
from indexing.kernels.ir.fragments import PIECE_BYTES
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.knob_space import KnobSpace

TILE_SIDES, THREAD_SIDES, STAGES = (16, 32, 64, 128), (4, 8), (1, 2)
WIDE_SIDE = 64  # tiles so wide have threads of eight rows or columns by default


@dataclass(frozen=True, slots=True)
class SimtPlan(TiledPlan):
    """The plan of a tile of which a thread computes `thread_rows` by `thread_columns`, in the type of the sums."""

    thread_rows: int
    thread_columns: int
    element_type: str

    @property
    def element_bytes(self) -> int:
        """The bytes of an element of a tile."""
        return storage_bytes(self.element_type)

    @property
    def threads(self) -> tuple[int, int]:
        """The threads of a block along rows and columns."""
        return self.tile_rows // self.thread_rows, self.tile_columns // self.thread_columns

    def steps_seconds(self, device: Device) -> float:
        """The seconds of all steps: each waits for its loads, and the blocks of a core take turns."""
        blocks = -(-self.grid[0] // device.cores.count)
        step = self.loaded_seconds(device) + self._step_seconds(device, blocks)
        return self.steps * (device.memory.latency + blocks * step)

    def _step_seconds(self, device: Device, blocks: int) -> float:
        """The seconds of a step's multiply-adds, and of the loads for them, on the units that have threads."""
        cores, rates = device.cores, device.rates
        products = self.tile_rows * self.tile_columns * self.tile_depth
        loads = 1 / self.thread_rows + 1 / self.thread_columns
        share = min(blocks * self.block[0] / cores.lanes, 1)
        return products * (1 + loads) / (rates.scalar.get(self.element_type, cores.lanes) * rates.clock * share)

    @property
    def piece(self) -> int:
        """The elements that a thread loads from shared memory at once."""
        return PIECE_BYTES // self.element_bytes

    def _tile(self, side: Side, free: int, reads: Axis, size: int) -> SharedTile:
        """The tile of an operand, as it lies in memory."""
        depth, piece = self.tile_depth, self.piece
        lines, run = (free, depth) if reads == "sum" else (depth, free)
        place = rotated(lines, run, piece) if reads == "sum" else in_order(lines, run)
        return SharedTile(side, self.element_type, lines, run, reads, reads, gcd(size, piece, run), place)


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
    split_k: int | None = None,
    group_rows: int | None = None,
) -> SimtPlan:
    """Launch dimensions.

    Knobs: `tile_rows` and `tile_columns` of the product per block, 16, 32, 64 or 128; `thread_rows` and `thread_columns` per
    thread, 4 or 8; `tile_depth`, the elements along the sum that shared memory holds at once: 32, 64 or 128 bytes of them;
    `stages` of shared memory: with 2, a tile is copied while the one before it is multiplied; `split_k` blocks that share the
    steps along the sum of a tile, as many as run at once; `group_rows` rows of tiles whose blocks come by turns, a divisor of
    their number.
    """
    given = (tile_rows, tile_columns, thread_rows, thread_columns, tile_depth, stages)
    return fastest_plan(unsplit_plans(match.first, given, device), split_k, group_rows, device)


def unsplit_plans(dot: Instruction, given: Sequence[int | None], device: Device) -> Iterator[SimtPlan]:
    """The plans with the given knobs, and defaults for the others, in which each tile has a block."""
    *tile_sides, thread_rows, thread_columns, tile_depth, stages = given
    for tile in sides(planned_product(dot), tile_sides, TILE_SIDES):
        for rows, columns in dict.fromkeys(((_widest_side(tile[0]), _widest_side(tile[1])), THREAD_SIDES[:1] * 2)):
            thread = thread_rows or rows, thread_columns or columns
            default = _default_pipeline(dot, tile, thread, device)
            yield _planned(dot, tile, thread, tile_depth or default[0], stages or default[1])


def _legal(dot: Instruction) -> dict[str, tuple[int, ...]]:
    names = "tile_rows", "tile_columns", "thread_rows", "thread_columns", "tile_depth", "stages"
    return dict(zip(names, (*(TILE_SIDES,) * 2, *(THREAD_SIDES,) * 2, _depths(dot), STAGES), strict=True))


def _planned(
    dot: Instruction, tile: tuple[int, int], thread: tuple[int, int], depth: int, stages: int, split_k: int = 1
) -> SimtPlan:
    """The plan with these knobs."""
    p = planned_product(dot)
    left, right = (fastest(dot, k) for k in p.operands)
    return SimtPlan(p, (left, right), *tile, depth, stages, split_k, 1, *thread, sum_type(dot))


def _depths(dot: Instruction) -> tuple[int, ...]:
    return tuple(pieces * PIECE_BYTES // storage_bytes(sum_type(dot)) for pieces in PIECES)


def _widest_side(tile: int) -> int:
    return THREAD_SIDES[-1] if tile >= WIDE_SIDE else THREAD_SIDES[0]


def _default_pipeline(
    dot: Instruction, tile: tuple[int, int], thread: tuple[int, int], device: Device
) -> tuple[int, int]:
    """The least depth that holds the sum, in one stage; else 64 bytes, in two stages if an operand is copied asynchronously."""
    contracted, depths = prod(planned_product(dot).contracted), _depths(dot)
    if contracted <= depths[1]:
        return next(d for d in depths if d >= contracted), 1
    plan = _planned(dot, tile, thread, depths[1], 2)
    return depths[1], 2 if fits(plan, device.limits) and is_asynchronous(dot, plan.shared_tiles) else 1


def simt_knobs(match: Heroes, default: SimtPlan, device: Device) -> KnobSpace:
    """Names, legal values and defaults of the knobs: tiles that fit into shared memory, blocks that run at once."""
    return tile_space(NAME, default, _legal(match.first), device)
