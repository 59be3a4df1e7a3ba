"""The simt emitter: a product of matrices by the threads of a GPU, for types and devices without a matrix instruction.

A block computes a tile of the product, a thread some rows and columns of it, whose sums are in registers. In steps along the
sum, a tile of each operand is copied to shared memory, with the operand's producers, as it lies in memory: a line has
neighbours of the operand. Where these are rows or columns, a thread has vectors of them, and loads one for each place along the
sum; where they are along the sum, it loads vectors along it, and its rows or columns are as far apart as there are threads.
What follows the product is fused into the stores. Products are added in the order of the contracting dimensions; where several
blocks share a tile, the sums of their parts are.
"""

from indexing.kernels.emitter import Emitter
from indexing.kernels.emitters.simt.build import build_simt
from indexing.kernels.emitters.simt.match import NAME, group_simt, match_simt, runs_on
from indexing.kernels.emitters.simt.plan import SimtPlan, plan_simt, simt_knobs

EMITTER = Emitter(
    NAME,
    match_simt,
    plan_simt,
    simt_knobs,
    build_simt,
    runs_on,
    block_order=SimtPlan.block_order,
    group=group_simt,
)
