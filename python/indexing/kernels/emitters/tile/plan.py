"""Plans of tile kernels: the sizes of tiles and warps, and the places of elements in shared memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd, prod

from indexing._core import IndexingMap, compose
from indexing.device.record import Device
from indexing.hlo import Instruction
from indexing.kernels.emitters.dot.match import Axis, fastest, planned_product
from indexing.kernels.emitters.tile.match import NAME, instruction_of
from indexing.kernels.emitters.tile.shared_tile import SharedTile, Side, is_asynchronous, places
from indexing.kernels.emitters.tile.splits import TiledPlan, fastest_plan, is_legal, sides, tile_space
from indexing.kernels.epilogue import Heroes
from indexing.kernels.ir.fragments import COLUMNS, LANES, LINES, ROWS, MatrixInstruction
from indexing.kernels.ir.memory import WORDS
from indexing.kernels.knob_space import KnobSpace

TILE_SIDES, PIECES = (16, 32, 64, 128, 256), (2, 4, 8)
STAGES = (1, 2, 3)
WARP_TILE = 64, 64  # rows and columns of the sum that a warp has at most: half of a thread's registers
ADDRESSES = 32  # registers of a thread for what is neither a sum nor a factor
LEAST_WARP_TILE = ROWS, 2 * COLUMNS  # four matrices of the right factor are loaded together
WARPS = 4  # a block has so many if its tile has as many least tiles


def rotated(lines: int, run: int, piece: int) -> IndexingMap:
    """(line, element) -> position. Pieces of a line are rotated, so that eight lines have a piece in all banks once."""
    pieces = run // piece
    turn = max(LINES // pieces, 1)  # lines that fill all banks
    turned = f"(element floordiv {piece} + line floordiv {turn}) mod {pieces}"
    return places(lines, run, f"line * {run} + {turned} * {piece} + element mod {piece}")


def interleaved(lines: int, run: int, piece: int) -> IndexingMap:
    """As `rotated`, for lines along the sum whose bytes are transposed: those of a matrix, two of four, are neighbours."""
    order = "line floordiv 16 * 16 + line floordiv 2 mod 2 * 8 + line mod 16 floordiv 4 * 2 + line mod 2"
    domain = f"line in [0, {lines - 1}], element in [0, {run - 1}]"
    reordered = IndexingMap.parse(f"(line, element) -> ({order}, element), domain: {domain}")
    return compose(reordered, rotated(lines, run, piece)).simplify()


@dataclass(frozen=True, slots=True)
class TilePlan(TiledPlan):
    """The plan of a tile that warps multiply with a matrix instruction."""

    instruction: MatrixInstruction

    @property
    def element_bytes(self) -> int:
        """The bytes of an element of a tile."""
        return self.instruction.element_bytes

    @property
    def warp_tile(self) -> tuple[int, int]:
        """The rows and columns of the sum that a warp computes."""
        rows, columns = min(self.tile_rows, WARP_TILE[0]), min(self.tile_columns, WARP_TILE[1])
        while self.tile_rows * self.tile_columns < WARPS * rows * columns and (rows, columns) != LEAST_WARP_TILE:
            rows, columns = (rows // 2, columns) if rows >= columns and rows > ROWS else (rows, columns // 2)
        return rows, columns

    @property
    def interleaves_columns(self) -> bool:
        """Whether the even columns of two neighbouring fragments of the right factor are one fragment, and the odd ones one."""
        return self.element_bytes == 1 and self.shared_tiles[1].fast == "free"

    @property
    def warps(self) -> tuple[int, int]:
        """The warps of a block along rows and columns."""
        rows, columns = self.warp_tile
        return self.tile_rows // rows, self.tile_columns // columns

    @property
    def threads(self) -> tuple[int, int]:
        """The threads of a block, by warps and lanes."""
        return prod(self.warps), LANES

    @property
    def registers(self) -> int:
        """The registers of a thread: its sums, two fragments of each factor, of which one is multiplied, and addresses."""
        rows, columns = self.warp_tile
        fragments = rows // ROWS * WORDS["left"] + columns // COLUMNS * WORDS["right"]
        return prod(self.warp_tile) // LANES + 2 * fragments + ADDRESSES

    def steps_seconds(self, device: Device) -> float:
        """The seconds of all steps. The blocks that a core has at once take turns, and wait for the loads of a step, which may
        come while the steps before are multiplied, and for a barrier.
        """
        memory, cores = device.memory, device.cores
        blocks = -(-self.grid[0] // cores.count)
        together = min(blocks, self.held(device) // cores.count)
        loaded, multiplied = self.loaded_seconds(device), self._step_seconds(device)
        if self.stages == 1:
            step = max(memory.latency + loaded + multiplied, together * (loaded + multiplied))
        else:
            step = max(memory.latency / (self.stages - 1), together * max(loaded, multiplied))
        return -(-blocks // together) * (memory.latency + self.steps * (step + memory.l1_latency))

    def _step_seconds(self, device: Device) -> float:
        """The seconds of a step's matrix instructions, or of what they move through shared memory if that takes longer."""
        rates, kind = device.rates, self.instruction.rate_type
        products = self.tile_rows * self.tile_columns * self.tile_depth
        multiplied = products / (rates.matrix.get(kind, device.cores.lanes) * rates.matrix_clock)
        lines = self.tile_rows + self.tile_columns + prod(self.warps) * sum(self.warp_tile)
        width = device.memory.banks * device.memory.bank_bytes
        return max(multiplied, lines * self.tile_depth * self.element_bytes / (width * rates.clock))

    def _tile(self, side: Side, free: int, reads: Axis, size: int) -> SharedTile:
        piece, depth = self.instruction.piece, self.tile_depth
        # The loads of fragments transpose such elements.
        is_transposed = self.element_bytes == 2 or (self.element_bytes == 1 and side == "right")
        fast: Axis = reads if is_transposed else "sum"
        lines, run = (free, depth) if fast == "sum" else (depth, free)
        along = depth if reads == "sum" else free
        kind = self.instruction.element_types[0 if side == "left" else 1]
        place = (interleaved if self.element_bytes == 1 and fast == "free" else rotated)(lines, run, piece)
        return SharedTile(side, kind, lines, run, fast, reads, gcd(size, piece, along), place)


def _planned(dot: Instruction, tile: tuple[int, int], depth: int, stages: int, split_k: int = 1) -> TilePlan:
    """The plan with these knobs."""
    p = planned_product(dot)
    left, right = (fastest(dot, k) for k in p.operands)
    return TilePlan(p, (left, right), *tile, depth, stages, split_k, 1, instruction_of(dot))


def plan_tile(
    match: Heroes,
    device: Device,
    *,
    tile_rows: int | None = None,
    tile_columns: int | None = None,
    tile_depth: int | None = None,
    stages: int | None = None,
    split_k: int | None = None,
    group_rows: int | None = None,
) -> TilePlan:
    """Launch dimensions.

    Knobs: `tile_rows` and `tile_columns` of the product per block, 16, 32, 64, 128 or 256; `tile_depth`, the elements along the
    sum that shared memory holds at once: 32, 64 or 128 bytes of them; `stages` of shared memory: with 2 or 3, tiles are copied
    while one before them is multiplied; `split_k` blocks that share the steps along the sum of a tile, as many as run at once;
    `group_rows` rows of tiles whose blocks come by turns, a divisor of their number.
    """
    given = (tile_rows, tile_columns, tile_depth, stages)
    return fastest_plan(_unsplit(match.first, given, device), split_k, group_rows, device)


def _unsplit(dot: Instruction, given: Sequence[int | None], device: Device) -> Iterator[TilePlan]:
    """The plans with the given knobs, and defaults for the others, in which each tile has a block."""
    *tile_sides, tile_depth, stages = given
    for tile in sides(planned_product(dot), tile_sides, TILE_SIDES):
        for depth, number in _pipelines(dot, tile, (tile_depth, stages), device):
            yield _planned(dot, tile, depth, number)


def _legal(dot: Instruction) -> dict[str, tuple[int, ...]]:
    return {"tile_rows": TILE_SIDES, "tile_columns": TILE_SIDES, "tile_depth": _depths(dot), "stages": STAGES}


def _depths(dot: Instruction) -> tuple[int, ...]:
    return tuple(pieces * instruction_of(dot).piece for pieces in PIECES)


def _pipelines(
    dot: Instruction, tile: tuple[int, int], given: tuple[int | None, int | None], device: Device
) -> Iterator[tuple[int, int]]:
    """Depths and stages, as given or to choose from: the least depth that holds the sum, in one stage; else, if an operand's
    tiles are copied asynchronously, the greatest depth that fits in each number of stages, and in one stage if not.
    """
    contracted = prod(planned_product(dot).contracted)
    depths = _depths(dot) if given[0] is None else (given[0],)
    whole = next((d for d in depths if d >= contracted), None)
    if whole is not None:
        yield whole, given[1] or 1
        return
    plans = (_planned(dot, tile, d, n) for n in ((given[1],) if given[1] else STAGES[1:]) for d in depths)
    fitting = [p for p in plans if is_legal(p, device)]
    deep = {p.stages: p.tile_depth for p in fitting if given[1] or is_asynchronous(dot, p.shared_tiles)}
    yield from ((d, n) for n, d in (deep or {given[1] or 1: depths[-1]}).items())


def tile_knobs(match: Heroes, default: TilePlan, device: Device) -> KnobSpace:
    """Names, legal values and defaults of the knobs: tiles that fit into shared memory, blocks that run at once."""
    return tile_space(NAME, default, _legal(match.first), device)
