"""The merge emitter: pairs of neighbouring sorted runs of long rows, in one pass over memory.

Each thread finds by bisection where its elements of the result begin in both runs, and writes a few neighbouring ones.
"""

from indexing.kernels.emitter import Emitter
from indexing.kernels.emitters.merge.build import build_merge
from indexing.kernels.emitters.merge.plan import NAME, merge_knobs, plan_merge
from indexing.kernels.emitters.sort.match import match_merge

EMITTER = Emitter(NAME, match_merge, plan_merge, merge_knobs, build_merge)
