"""Instructions one by one: is it an instruction that jaxlib answers otherwise, or what XLA makes of several?

The reference evaluates instruction by instruction. Where each of those that lead to a result agrees with jaxlib when it is
compiled alone and given our values, XLA's rewriting of several into one is what differs. What calls a computation is
taken apart: each call of each instruction inside must agree, and the calls in turn must give our value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

import indexing as ix
from indexing import hlo
from modules import oracle
from modules.compare import difference, flushed
from modules.program import Array, Instruction, Program
from program_values import Values, all_values

CALLING = ("call", "fusion", "conditional", "while")


@dataclass(frozen=True)
class Call:
    """Instructions of one computation, and their values in one call of it."""

    part: Program
    computation: hlo.Computation
    values: Values

    def value(self, name: str) -> object:
        return self.values[self.computation.instructions[name]]


class WrongCall(Exception):
    """The value of a calling instruction isn't what its computations return."""


def agrees(program: Program, module: hlo.Module, output: str, arguments: Sequence[np.ndarray]) -> bool:
    """Does each instruction that `output` comes from agree with jaxlib on our values?"""
    with np.errstate(all="ignore"):
        entry = Call(program.reduced([output]), module.entry, all_values(module.entry, arguments))
        try:
            calls = list(_calls(entry))
        except WrongCall:
            return False
    able = [(c, i) for c in calls for i in c.part.instructions if _is_checked(c.part, i)]
    return len(able) > 1 and all(_agrees(c, i) for c, i in able)


def _calls(call: Call) -> Iterator[Call]:
    """A call, and those that its instructions make."""
    yield call
    for i in call.part.instructions:
        if i.opcode not in CALLING:
            continue
        parts = {c.name: Program(list(c.instructions)) for c in i.called}
        for computation, arguments in _made(call.computation.instructions[i.name], call.values):
            inner = Call(parts[computation.name], computation, all_values(computation, arguments))
            yield from _calls(inner)


def _made(i: hlo.Instruction, values: Values) -> list[tuple[hlo.Computation, list[object]]]:
    """The computations that an instruction calls, with their arguments; raises WrongCall if its value is another's."""
    operands = [values[o] for o in i.operands]
    if i.opcode == "conditional":
        return [(branch, [o]) for branch, o in zip(i.called, operands[1:], strict=True)]
    if i.opcode != "while":
        return [(i.called[0], operands)]
    condition, body = i.computation_of("condition"), i.computation_of("body")
    state, computations = operands[0], []
    while all_values(condition, [state])[condition.root]:
        computations += [(condition, [state]), (body, [state])]
        state = all_values(body, [state])[body.root]
    if _bits(state) != _bits(values[i]):
        raise WrongCall
    return computations


def _bits(value: object) -> list[bytes]:
    return [b for v in value for b in _bits(v)] if isinstance(value, tuple) else [np.asarray(value).tobytes()]


def _is_checked(part: Program, i: Instruction) -> bool:
    """Is it compiled alone? Not what stands for arguments, or for the results of calls that are taken apart."""
    source, known = i, {o.name: o for o in part.instructions}
    while source.opcode == "get-tuple-element":
        source = known[source.operands[0]]
    return _is_cut(i) and i.opcode not in CALLING and source.opcode not in ("parameter", *CALLING)


def _is_cut(i: Instruction) -> bool:
    """May a parameter stand for it? Not for tuples, tokens, nor arrays that a bitcast reads or writes."""
    return isinstance(i.shape, Array) and i.shape.kind != "token" and i.shape.layout is None


def _agrees(call: Call, i: Instruction) -> bool:
    """With our values, or with zeros for the denormal numbers among them."""
    small = _only(call.part, i)
    theirs = oracle.Compiled(small.text(oracle=True), quick=False)
    given = [np.asarray(call.value(name)) for name in small.parameters]
    ours, tolerance = call.value(i.name), small.outputs[i.name]
    if difference(np.asarray(ours), theirs(given)[0], tolerance) is None:
        return True
    zeroed = [flushed(a) for a in given]
    without = ix.evaluate(small.text(), *zeroed)[0]
    return difference(flushed(without), flushed(theirs(zeroed)[0]), tolerance) is None


def _only(part: Program, i: Instruction) -> Program:
    """The program of one instruction, and of the tuples that it is made of; the rest are parameters."""
    instructions = [
        Instruction(o.name, o.shape, "parameter") if o is not i and _is_cut(o) else o for o in part.instructions
    ]
    return Program(instructions, {}, {i.name: i.tolerance}).reduced([i.name])
