"""The row space of a fusion: reductions that share their rows, and what is computed at each element, or once a row.

An index of the space is an index of the operand of one of the reductions, the first. The outputs have an element for each
of the space, or one for each row. From them, maps are composed down to the parameters: what is read at one place for an
element of the space is a *member*. The map of a member that uses kept dimensions alone is the same for a whole row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from indexing._core import IndexingMap, compose, variable
from indexing.emitters.hero import Output, outputs
from indexing.emitters.heroes.reduction.body import arrays_of
from indexing.emitters.launch import same_memory
from indexing.hlo.layout import major_to_minor
from indexing.indexing_analysis.instructions import output_to_input
from indexing.ops.op import OperandIndexing, leaves
from indexing.ops.reduce import REDUCE
from indexing.ops.registry import traits_of
from indexing.ops.tuples import TUPLE, array_source

if TYPE_CHECKING:
    from indexing.hlo import Computation, Instruction, Shape

MAX_FORMS = 4  # of reductions, each of which may give the space


@dataclass(frozen=True, slots=True)
class RowSpace:
    """A fusion over one row space.

    `passes`: the reductions, each behind those whose results its operands need. `places`: of each member, from an index of
    the space to where it is read. `levels`: how many passes lie before an instruction is known. `per_element` and `per_row`
    are the outputs.
    """

    first: Instruction
    passes: tuple[tuple[Instruction, ...], ...]
    places: Mapping[Instruction, IndexingMap]
    levels: Mapping[Instruction, int]
    per_element: tuple[Output, ...]
    per_row: tuple[Output, ...]
    output_places: Mapping[int, IndexingMap]  # by the number of an output
    frontier: tuple[Instruction, ...]  # what members read at several places, or in loops of their own

    @property
    def shape(self) -> Shape:
        """That of the space."""
        return self.first.operands[0].shape

    @property
    def reductions(self) -> tuple[Instruction, ...]:
        """Those of all passes."""
        return tuple(r for found in self.passes for r in found)

    def is_per_row(self, member: Instruction) -> bool:
        """Whether a member is the same for all elements of a row."""
        return _is_per_row(self.places[member], set(self.first.ints("dimensions")))

    def operands_of(self, member: Instruction) -> Iterator[Instruction]:
        """The members that a member reads."""
        for operand in member.operands:
            source = array_source(operand, 0)[0]
            if source in self.places:
                yield source


def row_space(computation: Computation) -> RowSpace | None:
    """The row space; None where no reduction's result is used again for the elements of its row."""
    forms: dict[object, Instruction] = {}
    for i in computation.post_order():
        if _may_give_space(i):
            forms.setdefault((i.operands[0].shape.dimensions, i.ints("dimensions")), i)
    for first in list(forms.values())[:MAX_FORMS]:
        found = _Matching(computation, first).space()
        if found is not None:
            return found
    return None


def _may_give_space(reduce: Instruction) -> bool:
    if traits_of(reduce) is not REDUCE or not reduce.ints("dimensions") or reduce.operands[0].shape.element_count < 2:
        return False
    return (
        0 not in reduce.operands[0].shape.dimensions and len({major_to_minor(o.shape) for o in arrays_of(reduce)}) == 1
    )


def place_of_row(reduce: Instruction, space: Shape) -> IndexingMap | None:
    """From an index of a space to that of a reduction's result, where its operand is the whole space; None for another."""
    shape = reduce.operands[0].shape
    if shape.element_count != space.element_count:
        return None
    gone = set(reduce.ints("dimensions"))
    results = [variable(d) for d in range(len(shape.dimensions)) if d not in gone]
    own = IndexingMap.from_tensor_sizes(results, list(shape.dimensions))
    return compose(same_memory(space, shape), own).simplify()


def is_read_at_one_place(m: OperandIndexing) -> bool:
    """Whether an operand is read at one place, whatever the data."""
    if m.exactness == "unknown" or m.map.is_undefined or m.map.is_known_empty:
        return False
    return not (m.map.ranges or m.map.runtimes or m.map.constraints)


def _is_per_row(place: IndexingMap, gone: set[int]) -> bool:
    return not any(gone.intersection(e.used_variables()) for e in place.results)


@dataclass
class _Matching:
    """One attempt, with `first` giving the space."""

    computation: Computation
    first: Instruction
    accesses: dict[Instruction, set[IndexingMap | None]] = field(default_factory=dict)  # None: not at one place
    places: dict[Instruction, IndexingMap] = field(default_factory=dict)
    reductions: list[Instruction] = field(default_factory=list)
    output_places: dict[int, IndexingMap] = field(default_factory=dict)
    elsewhere: set[Instruction] = field(default_factory=set)

    def space(self) -> RowSpace | None:
        shape = self.first.operands[0].shape
        gone = set(self.first.ints("dimensions"))
        self.kept = [d for d in range(len(shape.dimensions)) if d not in gone]
        self.rows = prod(shape.dimensions[d] for d in self.kept)
        self.of_row = IndexingMap.from_tensor_sizes([variable(d) for d in self.kept], list(shape.dimensions))
        per_element: list[Output] = []
        per_row: list[Output] = []
        for output in outputs(self.computation):
            if output.shape.element_count == shape.element_count:
                per_element.append(output)
            elif output.shape.element_count == self.rows:
                per_row.append(output)
            else:
                return None
            self.output_places[output.number] = place = self._place_of(output)
            self._record(output.instruction, output.leaf, place)
        for i in reversed(self.computation.post_order()):
            self._place(i)
        levels = self._levels()
        if levels is None or (not any(levels[o.instruction] for o in per_element) and max(levels.values()) < 2):
            return None
        count = max(levels[r] for r in self.reductions)
        passes = tuple(tuple(r for r in self.reductions if levels[r] == p + 1) for p in range(count))
        return RowSpace(
            self.first,
            passes,
            self.places,
            levels,
            tuple(per_element),
            tuple(per_row),
            self.output_places,
            tuple(self._frontier()),
        )

    def _place_of(self, output: Output) -> IndexingMap:
        """From an index of the space to that of an output."""
        shape = self.first.operands[0].shape
        if output.shape.element_count == shape.element_count:
            return same_memory(shape, output.shape)
        row = leaves(self.first.shape)[0]
        return compose(self.of_row, same_memory(row, output.shape)).simplify()

    def _record(self, operand: Instruction, leaf: int, place: IndexingMap | None) -> None:
        source, _ = array_source(operand, leaf)
        self.accesses.setdefault(source, set()).add(place)

    def _place(self, i: Instruction) -> None:
        """Members, reductions over rows and others; how they read their operands."""
        found = self.accesses.pop(i, None)
        if found is None or traits_of(i) is TUPLE:
            return
        place = next(iter(found)) if len(found) == 1 else None
        if place is not None and traits_of(i) is REDUCE and self._reduces_rows(i, place):
            self.reductions.append(i)
            self._read_by_reduction(i)
        elif place is not None and not i.shape.is_tuple and not i.called:
            self.places[i] = place
            self._read_by_member(i, place)
        else:
            self.elsewhere.add(i)
            for operand in i.operands:
                self._record(operand, 0, None)

    def _reduces_rows(self, reduce: Instruction, place: IndexingMap) -> bool:
        """Whether a reduction that is read at `place` reduces the row of that element, whatever the shape of its operands."""
        if leaves(reduce.shape)[0].element_count != self.rows:
            return False
        return place_of_row(reduce, self.first.operands[0].shape) == place

    def _read_by_reduction(self, reduce: Instruction) -> None:
        arrays = arrays_of(reduce)
        for array in arrays:
            self._record(array, 0, same_memory(self.first.operands[0].shape, array.shape).simplify())
        for initial in reduce.operands[len(arrays) :]:
            self._record(initial, 0, None)

    def _read_by_member(self, i: Instruction, place: IndexingMap) -> None:
        found = output_to_input(i)
        is_plain = all(is_read_at_one_place(m) for maps in found for m in maps)
        for operand, maps in zip(i.operands, found, strict=True):
            for m in maps:
                self._record(operand, m.leaf, compose(place, m.map).simplify() if is_plain else None)
            if not is_plain:
                self._record(operand, 0, None)

    def _levels(self) -> dict[Instruction, int] | None:
        """How many passes lie before each instruction is known; None where what is no member needs one."""
        levels: dict[Instruction, int] = {}
        reductions = set(self.reductions)
        for i in self.computation.post_order():
            level = max((levels[o] for o in i.operands), default=0)
            if i in reductions:
                initial = i.operands[len(arrays_of(i)) :]
                if any(levels[o] for o in initial):
                    return None
                level += 1
            elif level and i in self.elsewhere:
                return None
            levels[i] = level
        return levels if reductions else None

    def _frontier(self) -> Iterator[Instruction]:
        seen: Sequence[Instruction] = [*self.places, *self.reductions]
        for operand in dict.fromkeys(array_source(o, 0)[0] for i in seen for o in i.operands):
            if operand in self.elsewhere and not traits_of(operand).is_source:
                yield operand
