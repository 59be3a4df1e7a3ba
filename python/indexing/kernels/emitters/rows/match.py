"""The row space of a fusion: reductions that share their rows, and members, computed for each element or once per row.

An index of the space is an index of the operand of the first reduction. Outputs have an element for each of the space, or
for each row. Maps are composed from them down to the parameters: an instruction that is read at a single index for an element
of the space is a *member*. A member whose map uses kept dimensions only is the same for a whole row. If such a member reduces
what is not in the space, the threads of a row reduce it together; the elements that it reduces are members of the kernel's
entry too, at a place for each element of the space, or of the row, and each that is reduced.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import prod

from indexing._core import IndexingMap, Interval, compose
from indexing.errors import InvalidMap
from indexing.hlo import Computation, Instruction, Module, Shape
from indexing.hlo.module_cache import cached_on_module
from indexing.indexing_analysis.access import Access, AccessComposer
from indexing.indexing_analysis.instructions import epilogue_indexing, output_to_input
from indexing.kernels.emitters.reduction.accumulators import Reducer
from indexing.kernels.emitters.reduction.mapping import Dimensions, dimensions_of
from indexing.kernels.emitters.reduction.match import arrays_of
from indexing.kernels.emitters.reduction.rows import Rows, is_per_element, is_read_at_one_place, may_give_rows
from indexing.kernels.emitters.reduction.together import is_shareable
from indexing.kernels.hero import Output, find_heroes, outputs
from indexing.ops.online_sums import OnlineForm
from indexing.ops.reduce import REDUCE
from indexing.ops.registry import traits_of
from indexing.ops.tuples import TUPLE, array_source
from indexing.partitioner import PartitionedComputation, Subgraph, partition

NAME = "rows"
MAX_CANDIDATES = 4  # reductions of different shapes that are tried as the first


@dataclass(frozen=True, slots=True)
class OnlineSum:
    """`total` sums a function of the differences of elements and `shift`, which is the same for a row; `result` is another
    reduction of these elements.
    """

    total: Instruction
    result: Instruction
    shift: Instruction
    form: OnlineForm

    @property
    def reducer(self) -> Reducer:
        """The reducer that combines the accumulators of two parts of a row."""
        return Reducer(self.form.combined, self.form.kinds, self.form.neutral)


@dataclass(frozen=True, slots=True, eq=False)
class RowSpace:
    """A fusion over one row space.

    `passes` has the reductions, each in a later pass than those on whose results its operands depend; `reduced` has the map
    from an index of the space to the element that each reduces. `places` has each member's map from an index of the space to
    the index at which it is read; `reduced_places` those of what members reduce, with a range variable for each
    dimension that is reduced. `levels` is the number of passes before an
    instruction is known. `per_element` and `per_row` are the outputs. `online` are the sums computed online.
    """

    first: Instruction
    passes: tuple[tuple[Instruction, ...], ...]
    reduced: Mapping[Instruction, IndexingMap]
    places: Mapping[Instruction, IndexingMap]
    reduced_places: Mapping[Instruction, IndexingMap]
    levels: Mapping[Instruction, int]
    per_element: tuple[Output, ...]
    per_row: tuple[Output, ...]
    output_places: Mapping[int, IndexingMap]  # by the output's number
    frontier: tuple[Instruction, ...]  # instructions that members read at several indices, or in loops of their own
    window: tuple[Interval, ...] | None = None  # the indices that outputs need, if they are slices of all rows
    online: tuple[OnlineSum, ...] = ()

    @property
    def shape(self) -> Shape:
        """The shape of the space."""
        return self.first.operands[0].shape

    @property
    def module(self) -> Module:
        """The module of its computation."""
        return self.first.module

    @property
    def computation(self) -> Computation:
        """The fusion's computation."""
        return self.first.computation

    @property
    def dimensions(self) -> Dimensions:
        """The dimensions of the rows that outputs need."""
        return dimensions_of(self.first, self.window)

    @property
    def parts(self) -> PartitionedComputation:
        """The partition that puts the members into the entry, where reductions are injected, and others into functions."""
        return partition_space(self)

    @property
    def reductions(self) -> tuple[Instruction, ...]:
        """The reductions of all passes."""
        return tuple(r for of_pass in self.passes for r in of_pass)

    @property
    def is_one_pass(self) -> bool:
        """Whether there is one pass and no output per element, so that blocks may share a row."""
        return len(self.passes) == 1 and not self.per_element

    def is_per_row(self, member: Instruction) -> bool:
        """Whether a member, or what a member reduces, is the same for all elements of a row."""
        return not is_per_element(self.place_of(member), self.first.ints("dimensions"))

    def place_of(self, member: Instruction) -> IndexingMap:
        """The map from an index of the space to the index at which a member is read, or what a member reduces."""
        return self.places.get(member) or self.reduced_places[member]

    @property
    def row_reductions(self) -> tuple[Instruction, ...]:
        """The members that the threads of a row reduce together, operands first."""
        of_rows = (i for i in self.computation.post_order() if i in self.places and self.is_per_row(i))
        return tuple(filter(is_shareable, of_rows))

    @property
    def online_totals(self) -> frozenset[Instruction]:
        """The sums that are computed online."""
        return frozenset(o.total for o in self.online)

    def operands_of(self, member: Instruction) -> Iterator[Instruction]:
        """The members that a member reads."""
        for operand in member.operands:
            source = array_source(operand, 0)[0]
            if source in self.places:
                yield source


@cached_on_module
def row_space(computation: Computation) -> RowSpace | None:
    """The row space; None if no reduction's result is used for the elements of its row."""
    forms: dict[object, Instruction] = {}
    for i in computation.post_order():
        if may_give_rows(i) and i.operands[0].shape.element_count > 1:
            forms.setdefault((i.operands[0].shape.dimensions, i.ints("dimensions")), i)
    for first in list(forms.values())[:MAX_CANDIDATES]:
        space = _Matching(computation, first).space()
        if space is not None:
            return space
    return None


@cached_on_module
def partition_space(space: RowSpace) -> PartitionedComputation:
    """The partition that puts the members into the entry, where reductions are injected, and others into functions."""
    computation = space.first.computation
    rest = partition(computation, space.frontier)
    members = tuple(i for i in computation.post_order() if i in space.places or i in space.reduced_places)
    outputs = [o for o in (*space.per_element, *space.per_row) if o.instruction in space.places]
    roots, maps = (tuple(o.instruction for o in outputs), tuple(space.output_places[o.number] for o in outputs))
    entry = Subgraph("rows", members, roots, space.shape.dimensions, maps, space.reductions)
    owner = {i: rest.find(i) for i in computation.post_order() if rest.holds(i) and i not in space.reductions}
    owner |= dict.fromkeys(members, entry)
    accesses = {i: frozenset([(entry, _access(space, i))]) for i in reversed(members)}
    accesses |= {i: frozenset((entry, a) for a in _accesses(space, i)) for i in space.frontier}
    return PartitionedComputation(
        computation, (entry, *rest.subgraphs), (entry,), rest.has_long_indices, owner, accesses
    )


def _access(space: RowSpace, member: Instruction) -> Access:
    """The access to a member: it is computed once for each element of the space, or of the rows."""
    points = space.shape.element_count
    if space.is_per_row(member):
        return Access(Access.of_all(member.shape.dimensions).map, points)
    return Access(space.place_of(member), points)


def _accesses(space: RowSpace, i: Instruction) -> Iterator[Access]:
    """The accesses of members to an instruction."""
    composer = AccessComposer()
    for user in dict.fromkeys(i.users):
        if user not in space.places and user not in space.reduced_places:
            continue
        for position, indexings in enumerate(output_to_input(user)):
            for m in indexings:
                if array_source(user.operands[position], m.leaf)[0] is i:
                    yield composer.compose(_access(space, user), m, user, position, i.shape.leaves[m.leaf].dimensions)


@dataclass
class _Matching:
    """One attempt to match a row space, with `first` as its first reduction."""

    computation: Computation
    first: Instruction
    accesses: dict[Instruction, set[IndexingMap | None]] = field(default_factory=dict)  # None: not at a single index
    places: dict[Instruction, IndexingMap] = field(default_factory=dict)
    reduced_places: dict[Instruction, IndexingMap] = field(default_factory=dict)
    reduced: dict[Instruction, IndexingMap] = field(default_factory=dict)
    output_places: dict[int, IndexingMap] = field(default_factory=dict)
    elsewhere: set[Instruction] = field(default_factory=set)
    window: tuple[Interval, ...] | None = None

    def space(self) -> RowSpace | None:
        self.rows = Rows(self.first)
        per_element: list[Output] = []
        per_row: list[Output] = []
        for output in outputs(self.computation):
            is_per_element = output.shape.element_count == self.rows.shape.element_count
            place = self._moved(output) if is_per_element else self.rows.place_of(output.shape)
            window = None
            if place is None:
                place, window = self._sliced(output)
            if place is None or (self.output_places and window != self.window):
                return None
            self.window = window
            (per_element if is_per_element or window else per_row).append(output)
            self.output_places[output.number] = place
            self._record(output.instruction, output.leaf, place)
        for i in reversed(self.computation.post_order()):
            self._place(i)
        levels = self._levels()
        if levels is None or (not any(levels[o.instruction] for o in per_element) and max(levels.values()) < 2):
            return None
        count = max(levels[r] for r in self.reduced)
        passes = tuple(tuple(r for r in self.reduced if levels[r] == p + 1) for p in range(count))
        return RowSpace(
            self.first,
            passes,
            self.reduced,
            self.places,
            self.reduced_places,
            levels,
            tuple(per_element),
            tuple(per_row),
            self.output_places,
            tuple(self._frontier()),
            self.window,
        )

    def _moved(self, output: Output) -> IndexingMap | None:
        """The map from an index of the space to that of an output for each element, through the transposes before it."""
        sizes = self.rows.shape.dimensions
        nearest = find_heroes(output.instruction, lambda i: not i.shape.is_tuple and i.shape.dimensions == sizes)
        if nearest:
            with suppress(InvalidMap):
                return epilogue_indexing(nearest[0], output.instruction).simplify()
        return self.rows.place_of(output.shape)

    def _sliced(self, output: Output) -> tuple[IndexingMap | None, tuple[Interval, ...] | None]:
        """The map from an index of the space to that of an output that has whole rows of it, and the window of these rows."""
        sizes, member = self.rows.shape.dimensions, output.instruction
        if output.shape.element_count == 0:
            return None, None
        while member.shape.is_tuple or member.shape.dimensions != sizes:
            if len(member.operands) != 1 or member.called:
                return None, None
            member = member.operands[0]
        with suppress(InvalidMap):
            place = epilogue_indexing(member, output.instruction).simplify()
            window = tuple(v.interval for v in place.dims)
            whole = all((window[d].lower, window[d].upper) == (0, sizes[d] - 1) for d in self.first.ints("dimensions"))
            is_plain = not (place.constraints or place.ranges or place.runtimes)
            if is_plain and whole and prod(w.upper - w.lower + 1 for w in window) == output.shape.element_count:
                return IndexingMap.from_tensor_sizes(place.results, list(sizes)), window
        return None, None

    def _record(self, operand: Instruction, leaf: int, place: IndexingMap | None) -> None:
        source, _ = array_source(operand, leaf)
        self.accesses.setdefault(source, set()).add(place)

    def _place(self, i: Instruction) -> None:
        """Classify an instruction as a reduction over rows, a member or neither, and record its accesses to operands."""
        reads = self.accesses.pop(i, None)
        if reads is None or traits_of(i) is TUPLE:
            return
        place = next(iter(reads)) if len(reads) == 1 else None
        reduced = None
        if place is not None and not place.ranges and traits_of(i) is REDUCE:
            reduced = self.rows.place_of_reduced(i, place)
        if reduced is not None:
            self.reduced[i] = reduced
            self._read_by_reduction(i, reduced)
        elif place is not None and not i.shape.is_tuple and (not i.called or self._may_be_member(i, place)):
            (self.reduced_places if place.ranges else self.places)[i] = place
            self._read_by_member(i, place)
        else:
            self.elsewhere.add(i)
            for operand in i.operands:
                self._record(operand, 0, None)

    def _may_be_member(self, i: Instruction, place: IndexingMap) -> bool:
        """Whether an instruction is a reduction whose result is read once for an element of the space, or for a row."""
        return traits_of(i) is REDUCE and not place.ranges

    def _read_by_reduction(self, reduce: Instruction, place: IndexingMap) -> None:
        arrays = arrays_of(reduce)
        for array in arrays:
            self._record(array, 0, place)
        for initial in reduce.operands[len(arrays) :]:
            self._record(initial, 0, None)

    def _read_by_member(self, i: Instruction, place: IndexingMap) -> None:
        indexings = output_to_input(i)
        is_plain = traits_of(i) is REDUCE or all(is_read_at_one_place(m) for maps in indexings for m in maps)
        for operand, maps in zip(i.operands, indexings, strict=True):
            for m in maps:
                self._record(operand, m.leaf, self._composed(place, m.map) if is_plain else None)
            if not is_plain:
                self._record(operand, 0, None)

    def _composed(self, place: IndexingMap, reads: IndexingMap) -> IndexingMap:
        """The place of what is read, without the range variables that it does not depend on, stated for the whole space."""
        composed = compose(place, reads).simplify().remove_unused_symbols()
        if self.window is None or composed.ranges or composed.constraints:
            return composed
        return IndexingMap.from_tensor_sizes(composed.results, list(self.rows.shape.dimensions)).simplify()

    def _levels(self) -> dict[Instruction, int] | None:
        """The number of passes before each instruction is known; None if a non-member depends on a pass, or a loop for each
        element does.
        """
        levels: dict[Instruction, int] = {}
        for i in self.computation.post_order():
            level = max((levels[o] for o in i.operands), default=0)
            if i in self.reduced:
                initial = i.operands[len(arrays_of(i)) :]
                if any(levels[o] for o in initial):
                    return None
                level += 1
            elif level and (i in self.elsewhere or self._reduces_for_elements(i)):
                return None
            levels[i] = level
        return levels if self.reduced else None

    def _reduces_for_elements(self, i: Instruction) -> bool:
        """Whether a member reduces elements for each of the space."""
        return (
            i in self.places
            and traits_of(i) is REDUCE
            and is_per_element(self.places[i], self.first.ints("dimensions"))
        )

    def _frontier(self) -> Iterator[Instruction]:
        seen: Sequence[Instruction] = [*self.places, *self.reduced_places, *self.reduced]
        for operand in dict.fromkeys(array_source(o, 0)[0] for i in seen for o in i.operands):
            if operand in self.elsewhere and not traits_of(operand).is_source:
                yield operand
