"""Heroes: the instruction of a fusion whose memory accesses determine the layout of its kernel.

A hero is found from a root through instructions that read each of its elements once: elementwise ops, and ops that only
change indices. These become the epilogue.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from indexing.errors import Undecided
from indexing.hlo import Computation, Instruction, Shape
from indexing.indexing_analysis.computations import instruction_indexing
from indexing.ops.operand_indexing import OperandIndexing
from indexing.ops.registry import traits_of
from indexing.ops.tuples import GET_TUPLE_ELEMENT, array_source

MAX_HEROES = 8  # an output has at most so many: each has accumulators, or a tile, of its own


@dataclass(frozen=True, slots=True)
class Output:
    """One array that a kernel writes: array `leaf` of `instruction`, the `number`-th of the computation's root."""

    number: int
    instruction: Instruction
    leaf: int
    shape: Shape


def outputs(computation: Computation) -> tuple[Output, ...]:
    """The arrays that a computation returns, each with the instruction that computes it."""
    shapes = computation.root.shape.leaves
    return tuple(Output(k, *array_source(computation.root, k), shape) for k, shape in enumerate(shapes))


def find_heroes(root: Instruction, is_hero: Callable[[Instruction], bool]) -> tuple[Instruction, ...]:
    """The heroes from which `root` is computed element by element, nearest first, at most MAX_HEROES."""
    pending = deque([root])
    seen = {root}
    heroes: list[Instruction] = []
    while pending and len(heroes) < MAX_HEROES:
        instruction = pending.popleft()
        if is_hero(instruction):
            heroes.append(instruction)
            continue
        for operand in _followed(instruction):
            if operand not in seen:
                seen.add(operand)
                pending.append(operand)
    return tuple(heroes)


def _followed(instruction: Instruction) -> list[Instruction]:
    """The operands of which the instruction reads each element once."""
    if instruction.is_parameter or instruction.called:
        return []
    if traits_of(instruction) is GET_TUPLE_ELEMENT:
        return list(instruction.operands)
    if instruction.shape.is_tuple:
        return []
    return [
        operand
        for operand, indexings in zip(instruction.operands, instruction_indexing(instruction, 0), strict=True)
        if not operand.shape.is_tuple
        and operand.shape.element_count == instruction.shape.element_count
        and len(indexings) == 1
        and _reads_each_once(indexings[0], operand.shape)
    ]


def _reads_each_once(indexing: OperandIndexing, operand: Shape) -> bool:
    """Whether each element of the operand is read at one index. An equal number of elements doesn't say so: padding by -1 and 1
    drops one of them.
    """
    m = indexing.map
    if indexing.exactness != "exact" or m.is_undefined or m.is_known_empty or m.ranges or m.runtimes:
        return False
    try:
        return m.is_bijection_onto(operand.dimensions)
    except Undecided:
        return False
