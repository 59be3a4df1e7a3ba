"""Predicted work: how many elements a kernel computes, times how many elements each of them reads.

What only moves elements, or names them, is index arithmetic and counts nothing. A kernel that does the work of its
instructions more than once is no fusion to plan: a loop that is repeated for each element costs more than its memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import TYPE_CHECKING

from indexing.fusion import output_to_input
from indexing.ops.block import leaves
from indexing.ops.tuple_ import array_source
from indexing.partition import MOVES_ELEMENTS_ONLY, Epilogue, partition

if TYPE_CHECKING:
    from indexing.hlo import Computation, Instruction, Shape
    from indexing.ops.block import OperandIndexing

MAX_REPETITION = 2  # how often a planned kernel does the work of its instructions, at most
COMPUTED_BY_UPDATES = frozenset({"scatter"})  # each update is written once; an element by itself has to look at all


def element_work(instruction: Instruction) -> int:
    """How many elements of its operands the longest loop of one element reads, at least 1; 0 for what only moves."""
    if instruction.opcode in MOVES_ELEMENTS_ONLY:
        return 0
    shapes = [leaves(o.shape) for o in instruction.operands]
    pairs = zip(output_to_input(instruction), shapes, strict=True)
    return max((_reads(m, parts[m.leaf]) for maps, parts in pairs for m in maps), default=1)


def _reads(indexing: OperandIndexing, operand: Shape) -> int:
    """How many elements one element of the output reads, constraints left aside."""
    if indexing.map.is_undefined:
        return max(operand.element_count, 1)
    return max(prod(v.interval.upper - v.interval.lower + 1 for v in indexing.map.ranges), 1)


def work_once(instruction: Instruction) -> int:
    """The work of computing each element of the instruction once, in the way of its own kernel."""
    count = element_count(instruction)
    if instruction.opcode in COMPUTED_BY_UPDATES:
        return count + max(o.shape.element_count for o in instruction.operands)
    return count * element_work(instruction)


def element_count(instruction: Instruction) -> int:
    """How many elements the longest array of the instruction has."""
    return max((part.element_count for part in leaves(instruction.shape)), default=1)


def work_of_all(instructions: Iterable[Instruction]) -> int:
    """The work of computing each element of each instruction once."""
    return sum(map(work_once, instructions))


def predicted_work(computation: Computation) -> int:
    """The work of one kernel that computes the computation: function by function, as it is partitioned."""
    return sum(_work_of_each(computation).values())


def repeats_itself(computation: Computation) -> bool:
    """Whether one kernel of the computation would do much of its work again and again."""
    return predicted_work(computation) > MAX_REPETITION * work_of_all(computation.post_order())


def most_repeated(computation: Computation) -> Instruction:
    """The instruction whose repetition costs a kernel of the computation most."""
    each = _work_of_each(computation)
    return max(each, key=lambda i: each[i] - work_once(i))


def _work_of_each(computation: Computation) -> dict[Instruction, int]:
    hero, _ = array_source(computation.root, 0)
    is_assembled = hero.opcode in COMPUTED_BY_UPDATES and hero.operands[0].opcode == "parameter"
    epilogues = [Epilogue.from_paths([(hero, hero)])] if is_assembled else []
    evaluations = partition(computation, epilogues=epilogues).evaluations
    found = {i: count * element_work(i) for i, count in evaluations.items()}
    return found | ({hero: work_once(hero)} if is_assembled else {})
