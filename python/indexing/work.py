"""Predicted work: the number of elements that a kernel computes, times the number of elements that each of them reads.

Ops that only move, name or count elements are index arithmetic and cost nothing. Fusions must not multiply the work of
their instructions: repeating a loop for each element costs more than reading its result from memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from indexing.hlo import Computation, Instruction, Shape
from indexing.hlo.module_cache import cached_by_signature, cached_on_module
from indexing.indexing_analysis.instructions import output_to_input
from indexing.ops.operand_indexing import OperandIndexing
from indexing.ops.registry import traits_of
from indexing.partitioner import PartitionedComputation, partition

MAX_OPERATIONS = 32  # operations for an element of a function such as a logarithm, or of a sum with its index and loads
MAX_REPETITION = 2  # most work of what is taken as one fusion, in multiples of computing each instruction once


@cached_by_signature
def element_work(instruction: Instruction) -> int:
    """The number of elements that the longest loop for one element reads, at least 1; 0 for index arithmetic."""
    if traits_of(instruction).is_index_arithmetic:
        return 0
    shapes = [o.shape.leaves for o in instruction.operands]
    pairs = zip(output_to_input(instruction), shapes, strict=True)
    return max((_reads(m, parts[m.leaf]) for maps, parts in pairs for m in maps), default=1)


def operations(instruction: Instruction) -> int:
    """The operations that a device does for a unit of an instruction's work, without those of indices and loads."""
    return MAX_OPERATIONS if traits_of(instruction).is_expensive else 1


def _reads(indexing: OperandIndexing, operand: Shape) -> int:
    """The number of elements that one element of the output reads, constraints ignored."""
    if indexing.map.is_undefined:
        return max(operand.element_count, 1)
    return max(prod(v.interval.upper - v.interval.lower + 1 for v in indexing.map.ranges), 1)


def work_once(instruction: Instruction) -> int:
    """The work of computing each element of the instruction once, in a kernel of its own."""
    count = element_count(instruction)
    if traits_of(instruction).is_scatter_like:
        updates = instruction.operands[len(instruction.operands) // 2 + 1 :]  # after the arrays and the indices
        return count + max(o.shape.element_count for o in updates)
    return count * element_work(instruction)


def element_count(instruction: Instruction) -> int:
    """The number of elements of the instruction's longest array."""
    return max((part.element_count for part in instruction.shape.leaves), default=1)


@cached_on_module
def predicted_work(parts: PartitionedComputation) -> int:
    """The work of a kernel with the functions of a partition; the heroes of epilogues are computed once."""
    return sum(_work_of_each(parts, parts.evaluations).values())


def work_where(computation: Computation, known: Mapping[Instruction, int]) -> int:
    """The work of a kernel that computes some instructions as often as is `known`, whoever reads them."""
    parts = partition(computation, force_roots=known)
    return sum(_work_of_each(parts, parts.evaluations_where(known)).values())


def repeats_itself(computation: Computation, work: int) -> bool:
    """Whether a kernel of that much work repeats more of the computation's work than `MAX_REPETITION` allows."""
    return work > MAX_REPETITION * sum(map(work_once, computation.post_order()))


def most_repeated(parts: PartitionedComputation) -> Instruction:
    """The instruction whose repetition costs the most."""
    each = _work_of_each(parts, parts.evaluations)
    return max(each, key=lambda i: each[i] - work_once(i))


def _work_of_each(parts: PartitionedComputation, evaluations: Mapping[Instruction, int]) -> dict[Instruction, int]:
    heroes = (hero for epilogue in parts.epilogues for hero in epilogue.injected)
    work = {hero: work_once(hero) for hero in heroes}
    for instruction, count in evaluations.items():
        work[instruction] = work.get(instruction, 0) + count * element_work(instruction)
    return work
