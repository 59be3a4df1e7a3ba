"""Operations of instructions and computations, by the rules of their ops."""

from __future__ import annotations

from indexing.hlo import Computation, Instruction
from indexing.hlo.module_cache import cached_on_module
from indexing.ops.operation_count import OperationCount, sum_over
from indexing.ops.registry import traits_of


def operations_of(instruction: Instruction) -> OperationCount:
    """The operations of an instruction, with those of the computations that it calls; a loop's body counts once."""
    op = traits_of(instruction)
    if op.operations is None:
        return OperationCount(unknown=0 if op.is_index_arithmetic or op.kind == "orders" else 1)
    return op.operations(instruction, operations_in)


@cached_on_module
def operations_in(computation: Computation) -> OperationCount:
    """The operations of a computation's instructions."""
    for called in _callees_first(computation):
        _operations_inside(called)
    return _operations_inside(computation)


@cached_on_module
def _operations_inside(computation: Computation) -> OperationCount:
    return sum_over(map(operations_of, computation.instructions.values()))


def _callees_first(computation: Computation) -> list[Computation]:
    """The computations that a computation calls, directly or not, each after those that it calls; recursion is never deep."""
    callees: dict[Computation, None] = {}
    seen: set[Computation] = set()
    waiting = [computation]
    while waiting:
        current = waiting[-1]
        if current in seen:
            callees.setdefault(waiting.pop())
            continue
        seen.add(current)
        waiting.extend(c for i in current.listed for c in i.called if c not in seen)
    return list(callees)
