"""Operand utilization: the number of distinct elements of an operand that are read, of how many, and the number of reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from indexing._core import IndexingMap, PiecewiseMap, constant, variable
from indexing.arguments import each, integer, optional, takes
from indexing.errors import IndexingError, Undecided
from indexing.hlo import Instruction, Program
from indexing.hlo.layout import bit_width
from indexing.hlo.program_like import or_function, part_of_program
from indexing.indexing_analysis.instructions import grouped_indexing, output_to_input
from indexing.ops.operand_indexing import OperandIndexing, map_over, without_dims

_VALUES = "runtime values decide how many different elements are read"


@dataclass(frozen=True, slots=True)
class Utilization:
    """The use of an operand (one array of it, `leaf`, where it is a tuple) over the whole output.

    Between `at_least` and `distinct` of its `elements` are read, in `reads` reads: one for each map, output element and
    value of the range variables. `exactness` is "exact" if the two bounds are equal and each of these reads happens;
    otherwise it is "over-approximate", and `reason` says why. `element_bits` is the width of an element, `number` the
    operand's number.
    """

    operand: Instruction
    leaf: int
    distinct: int
    elements: int
    reads: int
    exactness: str = "exact"
    reason: str = ""
    at_least: int = 0
    element_bits: int = 8
    number: int = 0

    @property
    def ratio(self) -> float:
        """The fraction of the operand's elements that is read; 1 if it has none."""
        return self.distinct / self.elements if self.elements else 1.0

    @property
    def reuse(self) -> float:
        """The average number of reads of each element that is read (a producer's recomputation factor); 0 if none is."""
        return self.reads / self.distinct if self.distinct else 0.0

    @property
    def bytes(self) -> int:
        """The size in bytes of the distinct elements that are read."""
        return -(-self.distinct * self.element_bits // 8)


@or_function
@takes(output=optional(integer), producers=each(Instruction))
def utilization(
    instruction: Program, output: int | None = None, producers: Sequence[Instruction] = ()
) -> list[Utilization]:
    """The utilization of each array of each operand of an instruction (such as a fusion) that its maps reach.

    For a computation, a module, or a function and its arguments, parameters are the operands. Reads are of all outputs
    together, or of one. An operand without maps is not read, and has an entry of 0.

    `producers` are instructions that are computed where they are read, as if fused into this one: there are entries for
    these, whose `reuse` is the recomputation factor, and for the arrays that they and the instruction read. Then `number`
    counts the entries.
    """
    part = part_of_program(instruction, "utilization: instruction")
    if producers and isinstance(part, Instruction):
        return _of_cluster(part, output, producers)
    outputs = range(len(part.shape.leaves)) if output is None else (output,)
    by_output = [output_to_input(part, k) for k in outputs]
    arrays = []
    for k, operand in enumerate(part.operands):
        indexings = [indexing for one in by_output for indexing in one[k]]
        numbers = sorted({indexing.leaf for indexing in indexings}) or [0]
        of_leaf = [_of_leaf(operand, leaf, [i for i in indexings if i.leaf == leaf]) for leaf in numbers]
        arrays += [replace(used, number=k) for used in of_leaf]
    return arrays


def _of_cluster(instruction: Instruction, output: int | None, producers: Sequence[Instruction]) -> list[Utilization]:
    outputs = range(len(instruction.shape.leaves)) if output is None else (output,)
    by_array: dict[tuple[Instruction, int], list[OperandIndexing]] = {}
    for k in outputs:
        for read, indexings in grouped_indexing([instruction, *producers], instruction, k).items():
            if read is not instruction and read.computation is instruction.computation:  # not within a fusion
                for indexing in indexings:
                    by_array.setdefault((read, indexing.leaf), []).append(indexing)
    arrays = [_of_leaf(read, leaf, indexings) for (read, leaf), indexings in by_array.items()]
    return [replace(used, number=k) for k, used in enumerate(arrays)]


def _of_leaf(operand: Instruction, leaf: int, indexings: Sequence[OperandIndexing]) -> Utilization:
    shapes = operand.shape.leaves
    if not shapes:
        return Utilization(operand, leaf, 0, 0, 0)
    shape = shapes[leaf]
    if -1 in shape.dimensions:
        raise IndexingError(
            f"{operand.name} is {shape}: how many elements it has is not known; give it a size or a bound"
        )
    elements, bits = prod(shape.dimensions), bit_width(shape.element_type)
    if any(indexing.map.is_undefined for indexing in indexings):
        reason = next(indexing.reason for indexing in indexings if indexing.map.is_undefined)
        return Utilization(operand, leaf, elements, elements, elements, "over-approximate", reason, 0, bits)
    reason = next((indexing.reason for indexing in indexings if indexing.exactness != "exact"), "")
    pairs = [_fixed(indexing) for indexing in indexings if not indexing.map.is_known_empty]
    reads = sum(_count(m) for m, _ in pairs)
    low, high, why = _distinct([m for m, _ in pairs], shape.dimensions)
    if any(varies for _, varies in pairs):
        union = _distinct([_for_all_values(i.map) for i in indexings], shape.dimensions)[1]
        high, why = max(low, min(reads, union)), "" if low == union else _VALUES
    reason = reason or why
    low = 0 if reason and not why else low
    exactness = "over-approximate" if reason else "exact"
    return Utilization(operand, leaf, high, elements, reads, exactness, reason, low, bits)


def _fixed(indexing: OperandIndexing) -> tuple[IndexingMap, bool]:
    """The map with its runtime variables at their least values, and whether the count may depend on their values."""
    m = indexing.map
    if not m.runtimes:
        return m, False
    places = [*map(variable, range(m.num_dims + m.num_ranges)), *(constant(v.lower) for v in m.runtimes)]
    fixed = map_over(m.results, m.dims, m.ranges, [], m.constraints, places)
    runtimes = {m.num_dims + m.num_ranges + k for k in range(m.num_runtimes)}
    moved = [e - f for e, f in zip(m.results, fixed.results, strict=True)]
    only_moved = all(set(e.used_variables()) <= runtimes for e in moved)
    same_for_all = all(not e.used_variables() for value in indexing.runtime_values for e in value.map.results)
    bounded = any(runtimes & set(e.used_variables()) for e, _ in m.constraints)
    return fixed.simplify(), not (only_moved and same_for_all) or bounded


def _for_all_values(m: IndexingMap) -> IndexingMap:
    """The map with its runtime variables as ranges: to the elements that are read for any of their values."""
    return map_over(m.results, m.dims, [*m.ranges, *m.runtimes], [], m.constraints)


def _count(m: IndexingMap) -> int:
    try:
        return m.count()
    except Undecided:
        return prod(len(v.interval) for v in m.variables)


def _distinct(maps: Sequence[IndexingMap], sizes: Sequence[int]) -> tuple[int, int, str]:
    """Bounds of the number of elements in the union of the maps' images, and the reason if they differ."""
    different = list(dict.fromkeys(maps))
    elements = prod(sizes)
    try:
        counts = [m.image_count() for m in different]
    except Undecided as error:
        return 0, elements, f"the images can't be counted: {error}"
    most, total = max(counts, default=0), sum(counts)
    if len(counts) <= 1 or most == elements:
        return most, most, ""
    try:
        union = PiecewiseMap(map(without_dims, different)).image_count()
    except Undecided:
        return most, min(total, elements), "several maps overlap, and what they reach together can't be counted"
    return union, union, ""
