"""The panels emitter: a product of matrices on a CPU, in tiles of sums that stay in vector registers.

A block computes a tile of the product. In steps along the sum, it copies a tile of each operand, with the operands' producers,
to memory that stays in the cache: the left one as panels of a few rows, the right one as panels of one or two vectors of
columns, each without gaps. Each of its threads, which are a loop, multiplies a left and a right panel (`MultiplyPanels`). What
follows the product is fused into the stores. Products are added in the order of the contracting dimensions, in f32 for floats
below it, rounded once to the result's type.
"""

from indexing.kernels.emitter import Emitter
from indexing.kernels.emitters.panels.build import build_panels
from indexing.kernels.emitters.panels.match import NAME, group_panels, match_panels, runs_on
from indexing.kernels.emitters.panels.plan import panel_knobs, plan_panels

EMITTER = Emitter(NAME, match_panels, plan_panels, panel_knobs, build_panels, runs_on, group=group_panels)
