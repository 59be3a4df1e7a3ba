"""Sums of exponentials below a row's maximum, in the pass that finds the maximum.

A thread keeps the maximum m of its elements and the sum s of exp(x - m), so that one pass over a row does the work of two.
What the sum's elements really subtract, mostly the maximum itself, is taken into account once a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from indexing.emitters.heroes.reduction.body import arrays_of
from indexing.emitters.heroes.rows.space import OnlineSum, RowSpace
from indexing.ops.exponential_sums import is_maximum, summed_difference
from indexing.ops.registry import traits_of
from indexing.ops.tuples import array_source

if TYPE_CHECKING:
    from indexing.hlo import Instruction


def with_online_sums(space: RowSpace) -> RowSpace:
    """The space with each sum of exponentials in the pass of its maximum, and what follows it a pass earlier."""
    found = {o.maximum: o for o in _online_sums(space)}  # one sum a maximum
    if not found:
        return space
    early = {o.total for o in found.values()}
    reductions = set(space.reductions)
    levels: dict[Instruction, int] = {}
    for i in space.first.computation.post_order():
        levels[i] = max((levels[o] for o in i.operands), default=0) + (i in reductions and i not in early)
    count = max(levels[r] for r in reductions)
    passes = tuple(tuple(r for r in space.reductions if levels[r] == p + 1) for p in range(count))
    return replace(space, passes=passes, levels=levels, online=tuple(found.values()))


def _online_sums(space: RowSpace) -> Iterator[OnlineSum]:
    maxima = {array_source(arrays_of(r)[0], 0)[0]: r for r in space.reductions if is_maximum(r)}
    for total in space.reductions:
        difference = summed_difference(total)
        if difference is None or difference not in space.places:
            continue
        element, spread = (array_source(o, 0)[0] for o in difference.operands)
        maximum, shift = maxima.get(element), _same_for_row(space, spread)
        if maximum is None or shift is None:
            continue
        if space.levels[shift] == space.levels[maximum] and space.places.get(element) == space.places[difference]:
            yield OnlineSum(total, maximum, element, shift)


def _same_for_row(space: RowSpace, i: Instruction) -> Instruction | None:
    """The reduction, or the member with an element a row, that an instruction spreads over the rows; None for another."""
    while i in space.places and not space.is_per_row(i):
        if not traits_of(i).has_no_compute or len(i.operands) != 1:
            return None
        i = array_source(i.operands[0], 0)[0]
    return i if i in space.places or i in space.reductions else None
