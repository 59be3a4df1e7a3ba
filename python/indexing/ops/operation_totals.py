"""Operations of instructions and computations, by the rules of their ops."""

from __future__ import annotations

from indexing.hlo import Computation, Instruction
from indexing.hlo.module_cache import cached_on_module
from indexing.ops.operation_count import OperationCount, sum_over
from indexing.ops.registry import traits_of
from indexing.walks import post_order


def operations_of(instruction: Instruction) -> OperationCount:
    """The operations of an instruction, with those of the computations that it calls; a loop's body counts once."""
    op = traits_of(instruction)
    if op.operations is None:
        return OperationCount(unknown=0 if op.is_index_arithmetic or op.kind == "orders" else 1)
    return op.operations(instruction, operations_in)


@cached_on_module
def operations_in(computation: Computation) -> OperationCount:
    """The operations of a computation's instructions."""
    for called in post_order([computation], lambda c: c.called):
        _operations_inside(called)
    return _operations_inside(computation)


@cached_on_module
def _operations_inside(computation: Computation) -> OperationCount:
    return sum_over(map(operations_of, computation.instructions.values()))
