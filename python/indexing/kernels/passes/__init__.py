"""The passes of a kernel, in order: a list of named rewrites."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Protocol, TypeAlias

from indexing.errors import IndexingError
from indexing.kernels.ir.nodes import Kernel
from indexing.kernels.passes.async_copies import begin_copies
from indexing.kernels.passes.dead_code import remove_dead_code
from indexing.kernels.passes.flatten import flatten_buffers
from indexing.kernels.passes.fold import fold_constants
from indexing.kernels.passes.grid_loop import make_grid_loops
from indexing.kernels.passes.group_reductions import lower_group_reductions
from indexing.kernels.passes.hoist import hoist_from_threads, hoist_invariants
from indexing.kernels.passes.index_widths import narrow_indices
from indexing.kernels.passes.inline import inline_functions
from indexing.kernels.passes.loop_merging import merge_loops
from indexing.kernels.passes.loop_splitting import split_loops
from indexing.kernels.passes.loop_tails import split_tails
from indexing.kernels.passes.narrow_floats import convert_narrow_floats
from indexing.kernels.passes.pack_lanes import pack_words
from indexing.kernels.passes.peel import peel_loops, unswitch
from indexing.kernels.passes.row_loops import make_row_loops
from indexing.kernels.passes.split_lanes import split_into_lanes
from indexing.kernels.passes.thread_loops import make_thread_loops
from indexing.kernels.passes.unroll import unroll_in_lanes, unroll_loops
from indexing.kernels.passes.vectorize import vectorize_accesses


class TargetFeatures(Protocol):
    """The features of a target that passes may depend on; they never ask which target it is."""

    def __hash__(self) -> int:
        """The identity of the target: what passes made for it is kept."""

    @property
    def has_threads(self) -> bool:
        """Whether the threads of a block run in parallel."""

    @property
    def shuffle_width(self) -> int:
        """The number of threads of a warp that can exchange values; 0: none."""

    @property
    def vector_bytes(self) -> int:
        """The widest useful load or store; 0: the compiler vectorizes."""

    @property
    def copies_async(self) -> bool:
        """Whether it has `CopyAsync`."""

    @property
    def packs_lanes(self) -> bool:
        """Whether it has instructions for words of two numbers of bf16 or f16."""


Rewrite: TypeAlias = "Callable[[Kernel, TargetFeatures], Kernel]"


Form: TypeAlias = Literal["logical", "memory", "parallel", "sequential"]


@dataclass(frozen=True, slots=True)
class Pass:
    """A named rewrite of a kernel for a target; every pass keeps which thread stores which elements.

    `form` states what the kernel is like after it: `logical` (indices are those of HLO's arrays, no access is duplicated),
    `memory` (the accesses of parallel threads to memory become those of the source), `parallel` (these stay, values are
    written as the target needs them), `sequential` (threads are loops, for targets without threads). With
    `may_drop_loads`, loads whose values nobody needs may go; with `may_share_loads`, one load may serve several threads of a
    block, also in front of a loop that is not run; with `may_widen_loads`, one may load the rest of a vector too; other passes
    keep all loads. With `rewrites_values`, other operations compute what is stored; other passes keep operations, copies of
    which they may make.
    """

    name: str
    rewrite: Rewrite
    form: Form
    may_drop_loads: bool = False
    may_share_loads: bool = False
    may_widen_loads: bool = False
    rewrites_values: bool = False


def _for_any(rewrite: Callable[[Kernel], Kernel]) -> Rewrite:
    return lambda kernel, target: rewrite(kernel)


def _group_reductions(kernel: Kernel, target: TargetFeatures) -> Kernel:
    """Lower group reductions, unless the target has no threads: then the last pass lowers them to loops."""
    return lower_group_reductions(kernel, target.shuffle_width) if target.has_threads else kernel


def _for_sequential(rewrite: Callable[[Kernel], Kernel]) -> Rewrite:
    return lambda kernel, target: kernel if target.has_threads else rewrite(kernel)


def _for_vectors(rewrite: Callable[[Kernel], Kernel]) -> Rewrite:
    return lambda kernel, target: rewrite(kernel) if target.vector_bytes else kernel


PASSES: tuple[Pass, ...] = (
    Pass("inline", lambda kernel, target: inline_functions(kernel, target.has_threads), "logical"),
    Pass("fold", _for_any(fold_constants), "logical", may_drop_loads=True, rewrites_values=True),
    Pass("dead-code", _for_any(remove_dead_code), "logical", may_drop_loads=True),
    Pass("hoist-from-lanes", _for_vectors(hoist_invariants), "memory"),
    Pass("unroll-in-lanes", _for_vectors(unroll_in_lanes), "memory"),
    Pass("unswitch", _for_any(unswitch), "memory"),
    Pass("merge-loops", lambda kernel, target: merge_loops(kernel) if target.has_threads else kernel, "memory"),
    Pass("split-lanes", lambda kernel, target: split_into_lanes(kernel, target.has_threads), "memory"),
    Pass("peel", _for_any(peel_loops), "memory"),
    Pass("hoist", _for_any(hoist_invariants), "memory"),
    Pass("flatten", _for_any(flatten_buffers), "memory"),
    Pass("vectorize", _for_vectors(vectorize_accesses), "memory", may_widen_loads=True),
    Pass("async-copies", lambda kernel, target: begin_copies(kernel) if target.copies_async else kernel, "memory"),
    Pass(
        "pack-lanes",
        lambda kernel, target: pack_words(kernel) if target.packs_lanes else kernel,
        "memory",
        rewrites_values=True,
    ),
    Pass("group-reductions", _group_reductions, "memory", rewrites_values=True),
    Pass("inline-combiners", _for_any(inline_functions), "parallel"),
    Pass("narrow-floats", _for_any(convert_narrow_floats), "parallel", rewrites_values=True),
    Pass("unroll", lambda kernel, target: unroll_loops(kernel, target.has_threads), "parallel"),
    Pass("index-widths", _for_any(narrow_indices), "parallel"),
    Pass("fold-again", _for_any(fold_constants), "parallel", may_drop_loads=True, rewrites_values=True),
    Pass("dead-code-again", _for_any(remove_dead_code), "parallel", may_drop_loads=True),
    Pass("thread-loops", _for_sequential(make_thread_loops), "sequential"),
    Pass("hoist-from-threads", _for_sequential(hoist_from_threads), "sequential", may_share_loads=True),
    Pass("row-loops", _for_sequential(make_row_loops), "sequential"),
    Pass("hoist-from-threads-again", _for_sequential(hoist_from_threads), "sequential", may_share_loads=True),
    Pass("unswitch-threads", _for_sequential(unswitch), "sequential"),
    Pass("split-loops", _for_sequential(split_loops), "sequential"),
    Pass("split-tails", _for_sequential(split_tails), "sequential"),
    Pass("grid-loop", _for_sequential(make_grid_loops), "sequential"),
)

BUILT = "built"
KEPT = 128  # a kernel's passes are run to write it, to verify it, and, most of them, for other targets
STAGES = (BUILT, *(p.name for p in PASSES))


def last_stage(form: Form) -> str:
    """The name of the last pass after which kernels have that form."""
    return next(p.name for p in reversed(PASSES) if p.form == form)


def run_passes(kernel: Kernel, target: TargetFeatures, until: str = STAGES[-1], after: str = BUILT) -> Kernel:
    """A kernel at stage `after`, after the passes from there up to `until`. Raises IndexingError for an unknown one."""
    for name in (until, after):
        if name not in STAGES:
            raise IndexingError(f"there is no stage {name!r}; choose one of {', '.join(STAGES)}")
    for one in PASSES[STAGES.index(after) : STAGES.index(until)]:
        kernel = run_pass(one, kernel, target)
    return kernel


@lru_cache(maxsize=KEPT)
def run_pass(one: Pass, kernel: Kernel, target: TargetFeatures) -> Kernel:
    """A kernel after one pass: the same object where nothing changes. Those that were asked for last are kept."""
    after = one.rewrite(kernel, target)
    return kernel if after == kernel else after
