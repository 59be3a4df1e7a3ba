"""The rows emitter: chains of reductions over one row space, with the elementwise ops between and after them.

Examples are softmax, layer norms, their gradients, and quantization by row: a reduction's result is used for the elements of
its row. Elements that a later pass needs are kept in registers, else in shared memory; if they fit in neither, they are read
again, and sums of exponentials, or of squares, are computed online, in the pass of their maximum, or mean. A group of threads
takes a row, and all of them get the results of its reductions. If one pass suffices and rows are few and long, several blocks
share a row, and the last of them to arrive combines their results.
"""

from indexing.kernels.emitter import Emitter
from indexing.kernels.emitters.rows.build import build_rows
from indexing.kernels.emitters.rows.group import group_rows
from indexing.kernels.emitters.rows.match import NAME, row_space
from indexing.kernels.emitters.rows.plan import plan_rows, rows_knobs

EMITTER = Emitter(NAME, row_space, plan_rows, rows_knobs, build_rows, group=group_rows)
