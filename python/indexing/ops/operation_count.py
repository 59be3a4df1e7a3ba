"""Operations on numbers that an instruction does, counted as XLA's cost analysis counts them.

An op states its count as a rule (`Op.operations`). Integer operations and comparisons count like those on floats. Functions
such as exp and sqrt are counted apart, one for each element, for their costs differ from device to device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from indexing.hlo import Computation, Instruction

FMA = 2  # operations of a multiplication and an addition


@dataclass(frozen=True, slots=True)
class OperationCount:
    """`flops`, `transcendentals`, and the number of instructions whose operations are not known (`unknown`)."""

    flops: int = 0
    transcendentals: int = 0
    unknown: int = 0

    def __add__(self, other: OperationCount) -> OperationCount:
        """The sum of two counts."""
        return OperationCount(
            self.flops + other.flops, self.transcendentals + other.transcendentals, self.unknown + other.unknown
        )

    def repeated(self, times: int) -> OperationCount:
        """The count of as many repetitions; instructions of unknown count remain as many."""
        return OperationCount(self.flops * times, self.transcendentals * times, self.unknown)


#: The count of a computation that an instruction calls.
CountInside: TypeAlias = "Callable[[Computation], OperationCount]"
OperationRule: TypeAlias = "Callable[[Instruction, CountInside], OperationCount]"


def no_operations(instruction: Instruction, inside: CountInside) -> OperationCount:
    """Nothing: elements move, or are waited for."""
    return OperationCount()


def one_each_element(instruction: Instruction, inside: CountInside) -> OperationCount:
    """One operation for each element of the result."""
    return OperationCount(flops=elements_of_result(instruction))


def one_transcendental_each_element(instruction: Instruction, inside: CountInside) -> OperationCount:
    """One function of a number for each element of the result."""
    return OperationCount(transcendentals=elements_of_result(instruction))


def called_once(instruction: Instruction, inside: CountInside) -> OperationCount:
    """Those of the computations that it calls, each once."""
    return sum_over(map(inside, instruction.called))


def largest_branch(instruction: Instruction, inside: CountInside) -> OperationCount:
    """Those of the branch with the most operations."""
    return max(map(inside, instruction.called), key=lambda c: c.flops + c.transcendentals, default=OperationCount())


def applied_to_each_element(instruction: Instruction, inside: CountInside) -> OperationCount:
    """Those of the computation that it calls, for each element of the result."""
    return called_once(instruction, inside).repeated(elements_of_result(instruction))


def elements_of_result(instruction: Instruction) -> int:
    """The elements of all arrays of the result."""
    return sum(shape.element_count for shape in instruction.shape.leaves)


def sum_over(counts: Iterable[OperationCount]) -> OperationCount:
    """The sum of counts."""
    return sum(counts, OperationCount())
