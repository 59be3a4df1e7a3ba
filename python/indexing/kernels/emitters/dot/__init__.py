"""The dot emitter: each thread computes a column of a few rows of a product of matrices.

Neighbouring threads have neighbouring columns. At each step along the contracting dimensions, a thread reads one element of
the right operand and uses it for all of its rows; the elements of the left operand are the same for all threads of a block.
Several steps are unrolled, so that, where threads become loops, an accumulator is loaded and stored once for all of them.
"""

from indexing.kernels.emitter import Emitter
from indexing.kernels.emitters.dot.build import build_dot
from indexing.kernels.emitters.dot.group import group_dot
from indexing.kernels.emitters.dot.match import NAME, match_dot
from indexing.kernels.emitters.dot.plan import dot_knobs, plan_dot

EMITTER = Emitter(NAME, match_dot, plan_dot, dot_knobs, build_dot, group=group_dot)
