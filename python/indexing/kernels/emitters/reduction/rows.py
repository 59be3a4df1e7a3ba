"""The rows of a reduction's operand: the places of other arrays in them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from indexing._core import IndexingMap, compose, variable
from indexing.cached import cached_property
from indexing.hlo import Instruction, Shape
from indexing.hlo.layout import major_to_minor
from indexing.kernels.emitters.reduction.match import arrays_of
from indexing.kernels.launch import same_memory
from indexing.ops.operand_indexing import OperandIndexing
from indexing.ops.reduce import REDUCE
from indexing.ops.registry import traits_of


@dataclass(frozen=True)
class Rows:
    """The rows of a reduction's operand, which is the row space."""

    reduce: Instruction

    @property
    def shape(self) -> Shape:
        """The shape of the space."""
        return self.reduce.operands[0].shape

    @cached_property
    def count(self) -> int:
        """The number of rows."""
        return self.reduce.shape.leaves[0].element_count

    @cached_property
    def _kept(self) -> IndexingMap:
        return _to_result(self.reduce)

    def place_of(self, shape: Shape) -> IndexingMap | None:
        """The map from an index of the space to that of an array with an element for each of the space, or for each row; None
        for other arrays.
        """
        if shape.element_count == self.shape.element_count:
            return same_memory(self.shape, shape).simplify()
        if shape.element_count == self.count:
            return compose(self._kept, same_memory(self.reduce.shape.leaves[0], shape)).simplify()
        return None

    def place_of_result(self, reduce: Instruction) -> IndexingMap | None:
        """The map from an index of the space to the result of another reduction of the same rows, whose operands may have
        another shape; None for other reductions.
        """
        shape, result = reduce.operands[0].shape, reduce.shape.leaves[0]
        if (shape.element_count, result.element_count) != (self.shape.element_count, self.count):
            return None
        place = compose(same_memory(self.shape, shape), _to_result(reduce)).simplify()
        return place if place == self.place_of(result) else None

    def place_of_reduced(self, reduce: Instruction, place: IndexingMap) -> IndexingMap | None:
        """The map from an index of the space to the element of its row that a reduction, whose result is read at `place`,
        reduces: of the elements of the space, or of shorter arrays with rows as long; None for other reductions.
        """
        shape = reduce.operands[0].shape
        if place == self.place_of_result(reduce):
            return same_memory(self.shape, shape).simplify()
        own, gone = self.reduce.ints("dimensions"), reduce.ints("dimensions")
        lengths = [self.shape.dimensions[d] for d in sorted(own)]
        if [shape.dimensions[d] for d in sorted(gone)] != lengths or is_per_element(place, own):
            return None
        kept, reduced = iter(place.results), iter(map(variable, sorted(own)))
        index = [next(reduced) if d in gone else next(kept) for d in range(len(shape.dimensions))]
        return IndexingMap.from_tensor_sizes(index, list(self.shape.dimensions))


def may_give_rows(i: Instruction) -> bool:
    """Whether an instruction is a non-empty reduction whose operands have one layout, so that it may define a row space."""
    if traits_of(i) is not REDUCE or not i.ints("dimensions") or 0 in i.operands[0].shape.dimensions:
        return False
    return len({major_to_minor(o.shape) for o in arrays_of(i)}) == 1


def is_per_element(place: IndexingMap, gone: Collection[int]) -> bool:
    """Whether what is read at a place depends on the element of a row, that is, on the dimensions that are reduced."""
    return any(v in gone for e in place.results for v in e.used_variables())


def _to_result(reduce: Instruction) -> IndexingMap:
    """The map from an index of a reduction's operand to the index of its result."""
    gone, sizes = set(reduce.ints("dimensions")), reduce.operands[0].shape.dimensions
    return IndexingMap.from_tensor_sizes([variable(d) for d in range(len(sizes)) if d not in gone], list(sizes))


def is_read_at_one_place(m: OperandIndexing) -> bool:
    """Whether an operand is read at a single index, which does not depend on data."""
    if m.exactness == "unknown" or m.map.is_undefined or m.map.is_known_empty:
        return False
    return not (m.map.ranges or m.map.runtimes or m.map.constraints)
