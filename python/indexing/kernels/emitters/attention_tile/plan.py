"""Launch dimensions and knobs of an attention by matrix instructions: the warps of a block, and the keys of a step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd, prod

from indexing.device.record import Device
from indexing.kernels.emitter import fits
from indexing.kernels.emitters.attention.match import Attention
from indexing.kernels.emitters.attention_tile.match import NAME
from indexing.kernels.emitters.dot.match import Axis, Product, fastest
from indexing.kernels.emitters.tile.plan import rotated
from indexing.kernels.emitters.tile.shared_tile import SharedTile, Side
from indexing.kernels.ir.fragments import COLUMNS, INSTRUCTIONS, LANES, ROWS, MatrixInstruction
from indexing.kernels.kernel_builder import Dim3
from indexing.kernels.knob_space import KnobSpace, Values, nested_space

WARPS, KEYS, STAGES = (1, 2, 4, 8), (16, 32, 64, 128), (1, 2)
DEFAULT_WARPS, DEFAULT_KEYS = 4, 64
PAIR = 2 * COLUMNS  # columns of a right factor whose fragments are loaded together


@dataclass(frozen=True, slots=True)
class AttentionTilePlan:
    """Knobs and launch dimensions: a block has 16 rows for each of its `warps`, and takes `keys` at a step, of which shared
    memory has so many `stages`.

    `sizes` are those of the product of weights and values, `depth` the products in an element of the scores; `instructions` are
    those for the scores and for the values. `fastest` has the fastest dimension of queries, keys and values, and its size.
    """

    sizes: Product
    depth: int
    instructions: tuple[MatrixInstruction, MatrixInstruction]
    fastest: tuple[tuple[Axis, int], tuple[Axis, int], tuple[Axis, int]]
    warps: int
    keys: int
    stages: int

    @property
    def rows(self) -> int:
        """The rows of a block."""
        return self.warps * ROWS

    @property
    def columns(self) -> int:
        """The columns of the values, with those that fill the last pair of fragments."""
        return -(-prod(self.sizes.columns) // PAIR) * PAIR

    @property
    def depth_parts(self) -> int:
        """The instructions along the sum of a score."""
        return -(-self.depth // self.instructions[0].depth)

    @property
    def steps(self) -> int:
        """The number of steps along the keys."""
        return self.sizes.steps(self.keys)

    @property
    def tiles(self) -> tuple[int, int]:
        """The numbers of blocks along the batch and the rows."""
        return self.sizes.tiles(self.rows, prod(self.sizes.columns))[:2]

    @property
    def grid(self) -> Dim3:
        """The blocks, in one dimension."""
        return (prod(self.tiles), 1, 1)

    @property
    def threads(self) -> int:
        """The threads of a block."""
        return self.warps * LANES

    @property
    def block(self) -> Dim3:
        """The threads of a block, in one dimension."""
        return (self.threads, 1, 1)

    @property
    def shared_tiles(self) -> tuple[SharedTile, SharedTile, SharedTile]:
        """The tiles of the queries, and of the keys and the values of a step."""
        scores, values = self.instructions
        depth = self.depth_parts * scores.depth
        return (
            self._tile("queries", "left", self.rows, depth, scores),
            self._tile("keys", "right", self.keys, depth, scores),
            self._tile("values", "right", self.columns, self.keys, values),
        )

    def _tile(self, name: str, side: Side, free: int, along: int, instruction: MatrixInstruction) -> SharedTile:
        reads, size = self.fastest[("queries", "keys", "values").index(name)]
        lines, run = (free, along) if reads == "sum" else (along, free)
        place = rotated(lines, run, instruction.piece)
        vector = gcd(size, instruction.piece)
        return SharedTile(side, instruction.element_types[0], lines, run, reads, reads, vector, place, name=name)

    @property
    def shared_bytes(self) -> int:
        """The bytes of the tiles, those of a step for each stage."""
        kinds, counts = (self.instructions[0], *self.instructions), (1, self.stages, self.stages)
        tiles = zip(self.shared_tiles, kinds, counts, strict=True)
        return sum(n * t.lines * t.run * k.element_bytes for t, k, n in tiles)


def plan_attention_tile(
    match: Attention, device: Device, *, warps: int | None = None, keys: int | None = None, stages: int | None = None
) -> AttentionTilePlan:
    """Launch dimensions.

    Knobs: `warps` of a block, 1, 2, 4 or 8, of 16 rows each; `keys` of a step, 16, 32, 64 or 128; `stages` of shared memory:
    with 2, keys and values are copied while those of the step before are used.
    """
    default = _default(match, device)
    return replace(default, warps=warps or default.warps, keys=keys or default.keys, stages=stages or default.stages)


def _default(match: Attention, device: Device) -> AttentionTilePlan:
    """The most rows and keys that fit. Few blocks are no reason for fewer warps, which take longer to copy their keys."""
    plan = _planned(match, DEFAULT_WARPS, DEFAULT_KEYS)
    rows, keys = prod(plan.sizes.rows), prod(plan.sizes.contracted)
    while plan.warps > 1 and plan.rows >= 2 * rows:
        plan = replace(plan, warps=plan.warps // 2)
    while plan.keys > KEYS[0] and (plan.keys >= 2 * keys or not fits(plan, device.limits)):
        plan = replace(plan, keys=plan.keys // 2)
    return plan


def _planned(match: Attention, warps: int, keys: int) -> AttentionTilePlan:
    scores, product = match.scores, match.product
    order = fastest(scores, match.query), fastest(scores, 1 - match.query), fastest(product, 1 - match.side)
    kinds = [dot.operands[0].shape.element_type for dot in (scores, product)]  # that of both operands
    instructions = INSTRUCTIONS[kinds[0]], INSTRUCTIONS[kinds[1]]
    return AttentionTilePlan(match.sizes, match.depth, instructions, order, warps, keys, STAGES[0])


def attention_tile_knobs(match: Attention, default: AttentionTilePlan, device: Device) -> KnobSpace:
    """Names, legal values and defaults of the knobs: tiles that fit into the memory of a block."""
    stages: dict[tuple[int, ...], Values] = {
        (w, k): tuple(n for n in STAGES if fits(replace(default, warps=w, keys=k, stages=n), device.limits))
        for w in WARPS
        for k in KEYS
    }
    return nested_space(NAME, ("warps", "keys", "stages"), default, stages)
