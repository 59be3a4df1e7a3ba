"""The transpose emitter: a tile of the input is read along its fastest dimension into shared memory, and written along
the output's fastest one.

Dimensions that stay adjacent are merged first. This leaves a plane of `x` (fastest in the input) and `y` (fastest in the
output), of short runs of elements if the fastest dimension itself stays. Rows of the tile are padded, so that a warp reads a
column without bank conflicts. Elements of one or two bytes are packed: each thread transposes a square of four bytes by as
many rows in registers, and the tile holds words. If `x` is short, a tile has all of it, and correspondingly more of `y`; and
vice versa, on devices with threads: loops move a few short lines at once without a tile. If vectors of 16 bytes contain all of
`y`, the loop emitter is as fast: its threads write such vectors.
"""

from indexing.kernels.emitter import Emitter
from indexing.kernels.emitters.transpose.build import build_transpose
from indexing.kernels.emitters.transpose.match import NAME, group_transpose, match_transpose, pays_on
from indexing.kernels.emitters.transpose.plan import plan_transpose, transpose_knobs

EMITTER = Emitter(
    NAME,
    match_transpose,
    plan_transpose,
    transpose_knobs,
    build_transpose,
    runs_on=lambda match, device: pays_on(match.first, device),
    by_elements=True,
    group=group_transpose,
)
