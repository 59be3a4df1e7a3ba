"""Instructions one by one: is it an instruction that jaxlib answers otherwise, or what XLA makes of several?

The reference evaluates instruction by instruction. Where each of those that lead to a result agrees with jaxlib when it is
compiled alone and given our values, XLA's rewriting of several into one is what differs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import indexing as ix
from indexing import hlo
from modules import oracle
from modules.compare import difference, flushed
from modules.perturb import Values, all_values
from modules.program import EXACT, Array, Instruction, Program, Tolerance


def agrees(program: Program, module: hlo.Module, output: str, arguments: Sequence[np.ndarray]) -> bool:
    """Does each instruction that `output` comes from agree with jaxlib on our values?"""
    part = program.reduced([output])
    with np.errstate(all="ignore"):
        values = all_values(module.entry, arguments)
    able = [i for i in part.instructions if _is_cut(i) and i.opcode != "parameter"]
    return len(able) > 1 and all(_agrees(part, i, module.entry, values) for i in able)


def _is_cut(i: Instruction) -> bool:
    """May a parameter stand for it? Not for tuples, tokens, nor arrays that a bitcast reads or writes."""
    return isinstance(i.shape, Array) and i.shape.kind != "token" and i.shape.layout is None


def _agrees(part: Program, i: Instruction, entry: hlo.Computation, values: Values) -> bool:
    """With our values, or with zeros for the denormal numbers among them."""
    small = _only(part, i)
    theirs = oracle.Compiled(small.text(oracle=True), quick=False)
    given = [np.asarray(values[entry.instructions[name]]) for name in small.parameters]
    ours, tolerance = values[entry.instructions[i.name]], small.outputs[i.name]
    if difference(ours, theirs(given)[0], tolerance) is None:
        return True
    zeroed = [flushed(a) for a in given]
    without = ix.evaluate(small.text(), *zeroed)[0]
    return difference(flushed(without), flushed(theirs(zeroed)[0]), tolerance) is None


def _only(part: Program, i: Instruction) -> Program:
    """The program of one instruction, and of the tuples that it is made of; the rest are parameters."""
    tolerance: Tolerance = part.outputs.get(i.name, EXACT)
    instructions = [
        Instruction(o.name, o.shape, "parameter") if o is not i and _is_cut(o) else o for o in part.instructions
    ]
    return Program(instructions, {}, {i.name: tolerance}).reduced([i.name])
