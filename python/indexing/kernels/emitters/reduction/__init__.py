"""The reduction emitter: row reductions, several short rows a block, and column reductions.

Every thread first reduces its own elements, then the threads of a row or column combine their results. Dimensions are
merged in memory order: in a *row* reduction the fastest dimension is reduced, in a *column* reduction it is kept.

A thread takes `vector_width` neighbouring elements at once: of its row, or of as many columns. If there are too few rows or
columns to keep the machine busy, several blocks share each, and the last of them to arrive combines their results.
"""

from indexing.kernels.emitter import Emitter
from indexing.kernels.emitters.reduction.build import build_reduction
from indexing.kernels.emitters.reduction.match import NAME, match_reduction
from indexing.kernels.emitters.reduction.plan import plan_reduction, reduction_knobs, threads_share
from indexing.kernels.emitters.reduction.row_groups import group_reductions

EMITTER = Emitter(
    NAME, match_reduction, plan_reduction, reduction_knobs, build_reduction, threads_share, group=group_reductions
)
