"""Values of its elements that a thread keeps from one pass over a row to the next."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from indexing.hlo import Instruction
from indexing.hlo.module_cache import cached_on_module
from indexing.kernels.emitters.reduction.match import arrays_of
from indexing.kernels.emitters.rows.match import RowSpace
from indexing.kernels.ir.types import storage_bytes
from indexing.ops.registry import traits_of
from indexing.ops.tuples import array_source


@dataclass(frozen=True, slots=True)
class RowCache:
    """For each kept instruction, the pass that reads or computes it (`first`) and the last pass that needs it (`last`); for
    each member, the `passes` in which it is computed; the `loads` of an element in all of them.
    """

    first: Mapping[Instruction, int]
    last: Mapping[Instruction, int]
    passes: Mapping[Instruction, frozenset[int]]
    loads: int

    @property
    def bytes_at_once(self) -> int:
        """The largest number of bytes per element that are kept from one pass to the next."""
        ends = range(max(self.last.values(), default=0))
        return max((sum(_bytes(i) for i in self.first if self.first[i] <= p < self.last[i]) for p in ends), default=0)

    @property
    def bytes(self) -> int:
        """The bytes per element of all kept instructions."""
        return sum(map(_bytes, self.first))

    def computed_in(self, number: int) -> set[Instruction]:
        """The members that a pass computes or reads."""
        return {i for i, numbers in self.passes.items() if number in numbers}


def _bytes(i: Instruction) -> int:
    return storage_bytes(i.shape.element_type)


@cached_on_module
def row_cache_of(space: RowSpace, keeps: bool) -> RowCache:
    """The values that are kept: parameters with an element for each of the space, expensive members, and others that take no
    more memory than what they are computed from, and save loads; none unless `keeps`.
    """
    worth = {i for i in space.first.computation.post_order() if keeps and _is_worth_keeping(space, i)}
    cache = _with_kept(space, worth)
    again = [i for i, numbers in cache.passes.items() if keeps and len(numbers) > 1]
    for i in again:
        other = _with_kept(space, {*worth, i})
        if other.bytes <= cache.bytes and other.loads < cache.loads:
            worth.add(i)
            cache = other
    return cache


def _with_kept(space: RowSpace, worth: Collection[Instruction]) -> RowCache:
    """The members that are needed in several passes are kept if they are `worth` it, from the first of them to the last."""
    wanted: dict[Instruction, set[int]] = {}
    for number, reductions in enumerate(space.passes):
        for reduce in (r for r in reductions if r not in space.online_totals):
            for array in arrays_of(reduce):
                wanted.setdefault(array_source(array, 0)[0], set()).add(number)
    for output in space.per_element:
        wanted.setdefault(output.instruction, set()).add(space.levels[output.instruction])
    loads = 0
    first: dict[Instruction, int] = {}
    last: dict[Instruction, int] = {}
    passes: dict[Instruction, frozenset[int]] = {}
    for i in reversed(space.first.computation.post_order()):
        if i not in wanted or i not in space.places or space.is_per_row(i):
            continue
        needed = wanted[i]
        if len(needed) > 1 and i in worth:
            first[i], last[i] = min(needed), max(needed)
            needed = {first[i]}
        passes[i] = frozenset(needed)
        operands = list(space.operands_of(i))
        if not operands and (i.is_parameter or i.operands):
            loads += len(needed)
        for operand in operands:
            wanted.setdefault(operand, set()).update(needed)
    return RowCache(first, last, passes, loads)


def _is_worth_keeping(space: RowSpace, i: Instruction) -> bool:
    if i.is_parameter:
        return i.shape.element_count == space.shape.element_count
    op = traits_of(i)
    return op.reads_many or op.is_expensive
