"""The passes of a kernel, in order: a list of named rewrites."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from indexing.emitters.ir.passes.dead_code import remove_dead_code
from indexing.emitters.ir.passes.flatten import flatten_buffers
from indexing.emitters.ir.passes.fold import fold_constants
from indexing.emitters.ir.passes.hoist import hoist_invariants
from indexing.emitters.ir.passes.index_widths import narrow_indices
from indexing.emitters.ir.passes.inline import inline_functions
from indexing.emitters.ir.passes.narrow_floats import convert_narrow_floats
from indexing.emitters.ir.passes.one_block import make_one_block
from indexing.emitters.ir.passes.peel import peel_loops, unswitch
from indexing.emitters.ir.passes.row_loops import make_row_loops
from indexing.emitters.ir.passes.split_lanes import split_into_lanes
from indexing.emitters.ir.passes.team_reductions import lower_team_reductions
from indexing.emitters.ir.passes.thread_loops import make_thread_loops
from indexing.emitters.ir.passes.unroll import unroll_loops
from indexing.emitters.ir.passes.vectorize import vectorize_accesses
from indexing.errors import IndexingError

if TYPE_CHECKING:
    from indexing.emitters.ir.nodes import Kernel


class TargetFeatures(Protocol):
    """The features of a target that passes may depend on; they never ask which target it is."""

    @property
    def has_threads(self) -> bool:
        """Whether the threads of a block run in parallel."""

    @property
    def shuffle_width(self) -> int:
        """The number of threads of a warp that can exchange values; 0: none."""

    @property
    def vector_bytes(self) -> int:
        """The widest useful load or store; 0: the compiler vectorizes."""


Rewrite: TypeAlias = "Callable[[Kernel, TargetFeatures], Kernel]"


@dataclass(frozen=True, slots=True)
class Pass:
    """A named rewrite of a kernel for a target."""

    name: str
    rewrite: Rewrite


def _for_any(rewrite: Callable[[Kernel], Kernel]) -> Rewrite:
    return lambda kernel, target: rewrite(kernel)


def _team_reductions(kernel: Kernel, target: TargetFeatures) -> Kernel:
    """Lower team reductions, unless the target has no threads: then the last pass lowers them to loops."""
    return lower_team_reductions(kernel, target.shuffle_width) if target.has_threads else kernel


PASSES: tuple[Pass, ...] = (
    Pass("inline", _for_any(inline_functions)),
    Pass("fold", _for_any(fold_constants)),
    Pass("dead-code", _for_any(remove_dead_code)),
    Pass("unswitch", _for_any(unswitch)),
    Pass("split-lanes", _for_any(split_into_lanes)),
    Pass("peel", _for_any(peel_loops)),
    Pass("hoist", _for_any(hoist_invariants)),
    Pass("flatten", _for_any(flatten_buffers)),
    Pass("vectorize", lambda kernel, target: vectorize_accesses(kernel) if target.vector_bytes else kernel),
    Pass("team-reductions", _team_reductions),
    Pass("inline-combiners", _for_any(inline_functions)),
    Pass("narrow-floats", _for_any(convert_narrow_floats)),
    Pass("unroll", lambda kernel, target: unroll_loops(kernel, target.has_threads)),
    Pass("index-widths", _for_any(narrow_indices)),
    Pass("fold-again", _for_any(fold_constants)),
    Pass("dead-code-again", _for_any(remove_dead_code)),
    Pass("thread-loops", lambda kernel, target: kernel if target.has_threads else make_thread_loops(kernel)),
    Pass("row-loops", lambda kernel, target: kernel if target.has_threads else make_row_loops(kernel)),
    Pass("one-block", lambda kernel, target: kernel if target.has_threads else make_one_block(kernel)),
)

BUILT = "built"
STAGES = (BUILT, *(p.name for p in PASSES))


def run_passes(kernel: Kernel, target: TargetFeatures, until: str = STAGES[-1], after: str = BUILT) -> Kernel:
    """A kernel at stage `after`, after the passes from there up to `until`. Raises IndexingError for an unknown one."""
    for name in (until, after):
        if name not in STAGES:
            raise IndexingError(f"there is no stage {name!r}; choose one of {', '.join(STAGES)}")
    for found in PASSES[STAGES.index(after) : STAGES.index(until)]:
        kernel = found.rewrite(kernel, target)
    return kernel
