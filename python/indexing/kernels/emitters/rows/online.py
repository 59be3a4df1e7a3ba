"""Online sums: of exponentials in the pass of their maximum, and of squares in the pass of their mean.

A thread has the accumulators of `ops/online_sums.py`, so that one pass over a row does the work of two. The value that the
sum's terms actually subtract, usually derived from the other result, is taken into account once per row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from indexing.hlo import Instruction
from indexing.hlo.module_cache import cached_on_module
from indexing.kernels.emitters.reduction.match import arrays_of
from indexing.kernels.emitters.rows.match import OnlineSum, RowSpace
from indexing.ops.online_sums import online_form, summed_difference
from indexing.ops.registry import traits_of
from indexing.ops.tuples import array_source


@cached_on_module
def with_online_sums(space: RowSpace) -> RowSpace:
    """The space with each such sum in the pass of the result that it needs, and its users a pass earlier."""
    by_result = {o.result: o for o in _online_sums(space)}  # one sum for each result
    if not by_result:
        return space
    early = {o.total for o in by_result.values()}
    reductions = set(space.reductions)
    levels: dict[Instruction, int] = {}
    for i in space.first.computation.post_order():
        levels[i] = max((levels[o] for o in i.operands), default=0) + (i in reductions and i not in early)
    count = max(levels[r] for r in reductions)
    passes = tuple(tuple(r for r in space.reductions if levels[r] == p + 1) for p in range(count))
    return replace(space, passes=passes, levels=levels, online=tuple(by_result.values()))


def _online_sums(space: RowSpace) -> Iterator[OnlineSum]:
    results = [(array_source(arrays_of(r)[0], 0)[0], r) for r in space.reductions]
    for total in space.reductions:
        difference = summed_difference(total)
        if difference is None or difference not in space.places:
            continue
        element, spread = (array_source(o, 0)[0] for o in difference.operands)
        shift = _same_for_row(space, spread)
        if shift is None or space.places.get(element) != space.places[difference]:
            continue
        known = [r for reduced, r in results if reduced is element and space.levels[r] == space.levels[shift]]
        forms = ((r, form) for r in known if (form := online_form(total, r)) is not None)
        yield from (OnlineSum(total, r, shift, form) for r, form in islice(forms, 1))


def _same_for_row(space: RowSpace, i: Instruction) -> Instruction | None:
    """The reduction or per-row member that an instruction broadcasts over the rows; None for other instructions."""
    while i in space.places and not space.is_per_row(i):
        if not traits_of(i).has_no_compute or len(i.operands) != 1:
            return None
        i = array_source(i.operands[0], 0)[0]
    return i if i in space.places or i in space.reductions else None
