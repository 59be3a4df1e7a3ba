"""The tile emitter: a product of matrices by the matrix instructions of a GPU.

A block computes a tile of the product. In steps along the sum, its threads read a tile of each operand into shared memory, with
the operands' producers fused into the reads; warps load fragments of these into registers and multiply them. What follows the
product is fused into the stores. Sums are in f32 (of integers in s32), rounded once to the result's type; each instruction adds
16 products of floats, or 32 of integers, to a sum, in the order of the contracting dimensions.

The pieces of a line in shared memory are rotated (`plan.SharedTile.place`), so that neither the threads that write whole
pieces nor the warps that load matrices access a bank twice. Elements beyond the operands are zeros, which add nothing.
"""

from indexing.kernels.emitter import Emitter
from indexing.kernels.emitters.tile.build import build_tile
from indexing.kernels.emitters.tile.match import NAME, group_tile, match_tile, runs_on
from indexing.kernels.emitters.tile.plan import TilePlan, plan_tile, tile_knobs

EMITTER = Emitter(
    NAME,
    match_tile,
    plan_tile,
    tile_knobs,
    build_tile,
    runs_on,
    block_order=TilePlan.block_order,
    group=group_tile,
)
