"""The scatter emitter: a thread combines one element of the updates, or a few neighbours, into the operand's own buffer.

Concurrent updates of one element are avoided in one of four ways: *unique* indices do not collide; a run of *sorted* equal
indices is combined by the thread of its first one; otherwise updates are *atomic*, if targets can swap the element; else one
thread applies all updates *in turn* (several arrays at once, complex numbers of 16 bytes, bytes that fill no whole words).
Long runs are cut into segments for several threads, each joined by an atomic update, if the device has one for the reducer.

Since the scatter is in place, its operand must be a parameter that the fusion reads nowhere else. A kernel may have several
scatters of one form: of different arrays, or, where one thread makes all updates, each of the result of the one before.
"""

from indexing.kernels.emitter import Emitter
from indexing.kernels.emitters.scatter.build import build_scatter
from indexing.kernels.emitters.scatter.match import NAME, group_scatters, match_scatter
from indexing.kernels.emitters.scatter.plan import plan_scatter, scatter_knobs

EMITTER = Emitter(
    NAME, match_scatter, plan_scatter, scatter_knobs, build_scatter, group=group_scatters, has_widths_in_loops=True
)
