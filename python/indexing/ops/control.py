"""Ops that run computations (fusion, call, map, while, conditional, asynchronous wrappers), and ops for input and output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from indexing.errors import UnsupportedOp
from indexing.hlo import Instruction, Shape
from indexing.lazy import np
from indexing.ops.element import moves
from indexing.ops.op import ByStructure, Interpreter, Op, RunsComputations
from indexing.ops.operand_indexing import Indexing, same_indices, unknown, whole
from indexing.ops.operation_count import applied_to_each_element, called_once, largest_branch, no_operations
from indexing.ops.reducer import apply
from indexing.ops.tuples import (
    alias,
    element_of_started,
    is_array,
    leaf_before,
    nest,
    operand_itself,
    reads_nothing,
    same_leaf_from_output,
    token,
)
from indexing.ops.values import HloValue, only_array

# ---------------------------------------------------------------- fusion, call


def _called(i: Instruction, operands: Sequence[HloValue], interpreter: Interpreter) -> HloValue:
    return interpreter.run(i.called[0], operands)


# ---------------------------------------------------------------- map


def _map(i: Instruction, operands: Sequence[HloValue], interpreter: Interpreter) -> HloValue:
    (result,) = apply(i.called[0], [only_array(o) for o in operands], interpreter)
    return result


# ---------------------------------------------------------------- conditional


def _conditional(i: Instruction, operands: Sequence[HloValue], interpreter: Interpreter) -> HloValue:
    choice = only_array(operands[0])
    if choice.dtype == np.bool_:
        taken = 0 if choice else 1
    else:  # an index out of range runs the last branch
        last = len(i.called) - 1
        taken = int(choice) if 0 <= int(choice) <= last else last
    return interpreter.run(i.called[taken], [operands[1 + taken]])


# ---------------------------------------------------------------- while


def _while(i: Instruction, operands: Sequence[HloValue], interpreter: Interpreter) -> HloValue:
    condition, body = i.computation_of("condition"), i.computation_of("body")
    state = operands[0]
    while bool(only_array(interpreter.run(condition, [state]))):
        state = interpreter.run(body, [state])
    return state


# ---------------------------------------------------------------- asynchronous wrappers


def _async_start(i: Instruction, operands: Sequence[HloValue], interpreter: Interpreter) -> HloValue:
    result = interpreter.run(i.called[0], operands)
    contexts = [zeros(part) for part in i.shape.elements[2:]]
    return (tuple(operands), result, *contexts)


def zeros(shape: Shape) -> HloValue:
    """A value of the shape, nested as it is; None for a token."""
    return nest(shape, [np.zeros(part.dimensions, part.dtype) if is_array(part) else None for part in shape.leaves])


def results_from_output(i: Instruction, output: int) -> Indexing:
    """The identity to the results in the tuple of a started operation, which are behind its operands."""
    return [alias(i.shape.leaves[output], leaf_before(i.operands[0].shape, 1) + output)]


# ---------------------------------------------------------------- outside of the program


def _from_outside(what: str, is_inverse: bool) -> Callable[[Instruction, int], Indexing]:
    def formula(i: Instruction, which: int) -> Indexing:
        ends = i.shape.leaves if is_inverse else i.operands
        return [[unknown(f"{what} comes from outside of the program")] for _ in ends]

    return formula


def _outfeed_from_output(i: Instruction, output: int) -> Indexing:
    """The token depends on every element that was sent out."""
    return [
        [replace(whole((), part.dimensions), leaf=leaf) for leaf, part in enumerate(o.shape.leaves) if is_array(part)]
        for o in i.operands
    ]


def _nothing_reaches(i: Instruction, operand: int) -> Indexing:
    return [[] for _ in i.shape.leaves]


def _send_from_output(i: Instruction, output: int) -> Indexing:
    """Outputs are the data in flight, a context, and a token."""
    data = alias(i.shape.leaves[output], output) if output < len(i.operands[0].shape.leaves) else []
    return [data, *([] for _ in i.operands[1:])]


def _send(i: Instruction, operands: Sequence[HloValue]) -> HloValue:
    return (operands[0], *(zeros(part) for part in i.shape.elements[1:]))


def _refuse(i: Instruction, operands: Sequence[HloValue]) -> HloValue:
    raise UnsupportedOp(_not_here(i))


def _not_here(i: Instruction) -> str:
    return f"{i.name}: {i.opcode} reads data from outside of the program; make it a parameter"


def _recv_done(i: Instruction, operands: Sequence[HloValue]) -> HloValue:
    return (element_of_started(0)(i, operands), None)


_equal = partial(
    Op,
    formula="the formula of its computation",
    output_to_input=ByStructure("calls"),
    reference=RunsComputations(_called),
    input_to_output=ByStructure("calls"),
    element=moves.call,
    exactness="as exact as its instructions",
    bounded=True,
    operations=called_once,
)
_waits = partial(Op, operations=no_operations)


def _received(opcode: str, formula: str, what: str, result_index: int | None = None) -> Op:
    return _waits(
        opcode,
        formula,
        _from_outside(what, is_inverse=False),
        _refuse,
        _from_outside(what, is_inverse=True),
        refusal=_not_here,
        exactness="unknown",
        result_index=result_index,
    )


OPS: tuple[Op, ...] = (
    _equal("fusion", calls="fused"),
    _equal("call", calls="inlined"),
    Op(
        "map",
        "out[i] = computation(in_0[i], in_1[i], ...)",
        same_indices,
        RunsComputations(_map),
        element=moves.apply_map,
        calls="applies",
        operations=applied_to_each_element,
    ),
    Op(
        "conditional",
        "out = branch_k(in_k), k = in_0",
        ByStructure("branches"),
        RunsComputations(_conditional),
        ByStructure("branches"),
        exactness="a bound: one branch runs",
        bounded=True,
        calls="branches",
        operations=largest_branch,
    ),
    Op(
        "while",
        "out = body(body(... in)) while the condition holds",
        ByStructure("loops"),
        RunsComputations(_while),
        ByStructure("loops"),
        exactness="exact for what the body leaves alone; else a bound",
        bounded=True,
        calls="loops",
        operations=called_once,
    ),
    Op(
        "async-start",
        "(in, computation(in), contexts)",
        ByStructure("starts"),
        RunsComputations(_async_start),
        exactness="as exact as its computation",
        calls="starts",
        operations=called_once,
    ),
    _waits(
        "async-update",
        "out.k[i] = in.k[i]",
        same_leaf_from_output,
        operand_itself,
        passes_operand=True,
    ),
    _waits(
        "async-done",
        "out[i] = results of in[i]",
        results_from_output,
        element_of_started(1),
        is_async_done=True,
        is_done=True,
    ),
    _received("infeed", "data from outside", "what infeed gives"),
    _waits("outfeed", "a token; all of in leaves the program", _outfeed_from_output, token, _nothing_reaches),
    _waits("send", "out.0[i] = in[i], a context, a token", _send_from_output, _send, result_index=2),
    _waits("send-done", "a token", reads_nothing, token, _nothing_reaches, is_done=True),
    _received("recv", "data from another device", "what recv gives", result_index=0),
    _waits(
        "recv-done",
        "out.0[i] = in.0[i], a token",
        same_leaf_from_output,
        _recv_done,
        is_done=True,
    ),
)
