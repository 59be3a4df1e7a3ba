"""Evaluation of several replicas of one computation in lockstep: collectives get the operands of all of them."""

from __future__ import annotations

from collections.abc import Sequence

from indexing.errors import UnsupportedOp
from indexing.hlo import Computation, Instruction
from indexing.ops.registry import op_of
from indexing.ops.values import HloValue, only_array
from indexing.reference.interpreter import INTERPRETER, conform, evaluate_instruction


def run_on_replicas(computation: Computation, arguments: Sequence[Sequence[HloValue]]) -> list[HloValue]:
    """The root's value on each replica, given each replica's arguments."""
    values: dict[Instruction, list[HloValue]] = {}
    for i in computation.post_order():
        operands = [[values[o][r] for o in i.operands] for r in range(len(arguments))]
        values[i] = _step(i, operands, arguments)
    return values[computation.root]


def _step(i: Instruction, operands: list[list[HloValue]], arguments: Sequence[Sequence[HloValue]]) -> list[HloValue]:
    across = op_of(i).across_replicas
    if across is not None:
        return [conform(value, i.shape, i) for value in across(i, operands, INTERPRETER)]
    if op_of(i).calls in ("fused", "inlined"):
        return run_on_replicas(i.called[0], operands)
    if op_of(i).calls == "loops":
        return _loop(i, [o[0] for o in operands])
    return [evaluate_instruction(i, o, a) for o, a in zip(operands, arguments, strict=True)]


def _loop(i: Instruction, states: list[HloValue]) -> list[HloValue]:
    condition, body = i.computation_of("condition"), i.computation_of("body")
    while True:
        goes_on = {bool(only_array(v)) for v in run_on_replicas(condition, [[s] for s in states])}
        if len(goes_on) > 1:
            raise UnsupportedOp(f"{i.name}: replicas leave the loop in different iterations")
        if goes_on == {False}:
            return states
        states = run_on_replicas(body, [[s] for s in states])
