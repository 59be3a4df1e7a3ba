"""Operand utilization: how many elements of an operand are read, of how many, and how often in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from indexing._core import IndexingMap
from indexing.errors import Undecided
from indexing.fusion import output_to_input
from indexing.ops.block import leaves

if TYPE_CHECKING:
    from indexing.hlo import Instruction
    from indexing.ops.block import OperandIndexing

MOST_POINTS = 1_000_000  # that several maps into one operand are enumerated at


@dataclass(frozen=True, slots=True)
class Utilization:
    """How an operand (one array of it, `leaf`, where it is a tuple) is used over the whole output.

    `distinct` elements are read of the `elements` it has, in `reads` reads: one for each map, output element and value
    of the range variables. Runtime variables count with every value that they may have. `exactness` is "exact", or
    "over-approximate" where the maps are or where the count is a bound; `reason` then says why.
    """

    operand: Instruction
    leaf: int
    distinct: int
    elements: int
    reads: int
    exactness: str = "exact"
    reason: str = ""

    @property
    def ratio(self) -> float:
        """The share of the operand's elements that is read; 1 where it has none."""
        return self.distinct / self.elements if self.elements else 1.0

    @property
    def reuse(self) -> float:
        """Reads of each element that is read at all; 0 where none is."""
        return self.reads / self.distinct if self.distinct else 0.0


def utilization(instruction: Instruction, output: int = 0) -> list[Utilization]:
    """One entry for each array that each operand of an instruction (a fusion, say) holds and that its maps reach.

    An operand without maps is not read: its entry says 0.
    """
    found = []
    for operand, indexings in zip(instruction.operands, output_to_input(instruction, output), strict=True):
        numbers = sorted({indexing.leaf for indexing in indexings}) or [0]
        found += [_of_leaf(operand, leaf, [i for i in indexings if i.leaf == leaf]) for leaf in numbers]
    return found


def _of_leaf(operand: Instruction, leaf: int, indexings: Sequence[OperandIndexing]) -> Utilization:
    shape = _leaf_shape(operand, leaf)
    elements = prod(shape)
    if any(indexing.map.is_undefined for indexing in indexings):
        reason = next(indexing.reason for indexing in indexings if indexing.map.is_undefined)
        return Utilization(operand, leaf, elements, elements, elements, "over-approximate", reason)
    maps = [indexing.map for indexing in indexings]
    reason = next((indexing.reason for indexing in indexings if indexing.exactness != "exact"), "")
    reads = sum(m.count() for m in maps)
    distinct, bounded = _distinct(maps, elements)
    reason = reason or bounded
    return Utilization(operand, leaf, distinct, elements, reads, "over-approximate" if reason else "exact", reason)


def _leaf_shape(operand: Instruction, leaf: int) -> tuple[int, ...]:
    return leaves(operand.shape)[leaf].dimensions


def _distinct(maps: Sequence[IndexingMap], elements: int) -> tuple[int, str]:
    """Elements in the union of the maps' images, and why it is a bound where it is one."""
    different = list(dict.fromkeys(maps))
    try:
        if len(different) <= 1:
            return sum(m.image_count() for m in different), ""
        if sum(m.count() for m in different) <= MOST_POINTS:
            return len({m.evaluate(*point) for m in different for point in m.points()}), ""
        largest = max(m.image_count() for m in different)
        if largest == elements:
            return elements, ""
        total = sum(m.image_count() for m in different)
    except Undecided as error:
        return elements, f"the images can't be counted: {error}"
    return min(total, elements), "several maps overlap, and are too large to enumerate"
