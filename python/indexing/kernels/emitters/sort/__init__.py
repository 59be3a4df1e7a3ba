"""The sort emitter: rows, or runs of long rows, in shared memory, by any comparator, in a stable order.

Threads sort a few elements each in registers, then merge runs of twice, four times, ... as many: the elements of a result that
are a thread's are found by bisection, so that it writes neighbouring places of its own. Operands that are not compared are
moved with the others if they are small; else the order is, by which they are read at the end. Longer rows are replaced by a
sort in runs, and passes that merge these (`kernels/emitters/merge/`); other dimensions by a transpose.
"""

from indexing.kernels.emitter import Emitter
from indexing.kernels.emitters.sort.build import build_sort
from indexing.kernels.emitters.sort.group import computes_sort, group_sort
from indexing.kernels.emitters.sort.match import NAME, match_sort
from indexing.kernels.emitters.sort.plan import plan_sort, sort_knobs

EMITTER = Emitter(NAME, match_sort, plan_sort, sort_knobs, build_sort, group=group_sort, computes=computes_sort)
