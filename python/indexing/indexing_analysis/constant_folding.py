"""Runtime values that are known: constants and iotas, also behind ops that only move them, folded into a map.

HLO's clamp is applied: an iota folds as min(max(i, lower), upper). A constant inside its bounds folds as itself; one
outside stays a runtime variable, whose value is the constant and whose bounds say how it is clamped. Where a value is
dropped instead of clamped, it folds as itself, and the bounds become a constraint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from indexing._core import IndexingMap, Interval, SymbolicExpr, SymbolicMap, constant, variable
from indexing.hlo.program import INTEGER_FORMATS
from indexing.indexing_analysis.joint_maps import Joint, Source
from indexing.ops.op import ThroughComputations
from indexing.ops.registry import op_of, traits_of

if TYPE_CHECKING:
    from indexing.hlo import Instruction

MAX_OPS = 64  # how many ops a value is followed through


def fold_known(joint: Joint, instructions: Sequence[Instruction]) -> Joint:
    """The joint map with known runtime values substituted, simplified again; itself where none are known.

    `instructions` are those that its sources number.
    """
    if joint.map.is_known_empty:
        return joint
    known = {k: e for k, s in enumerate(joint.sources) if (e := _known(s, instructions[s.number])) is not None}
    if not known:
        return joint
    first = len(joint.map.dims) + len(joint.map.ranges)
    total = first + len(joint.map.runtimes)
    places = [known[v - first] if v - first in known else variable(v) for v in range(total)]
    m = joint.map
    constraints = [(e.replace_variables(places), b) for e, b in m.constraints]
    for k, e in known.items():
        interval = m.runtimes[k].interval  # a tightened interval says where the map holds
        constraints.append((e.replace_variables(places), interval))
    substituted = IndexingMap(
        SymbolicMap(len(m.dims), total - len(m.dims), [e.replace_variables(places) for e in m.results]),
        list(m.dims),
        list(m.ranges),
        [
            Interval(*s.bounds) if k in known else v
            for k, (s, v) in enumerate(zip(joint.sources, m.runtimes, strict=True))
        ],
        constraints,
    )
    sources = [
        replace(s, index=tuple(e.replace_variables(places) for e in s.index), drops=s.drops and k not in known)
        for k, s in enumerate(joint.sources)
    ]
    return Joint(substituted, sources).simplified()


def _known(source: Source, instruction: Instruction) -> SymbolicExpr | None:
    """The value, clamped to its bounds, as an expression of the joint map's variables; None where it isn't known."""
    lower, upper = source.bounds
    value = known_value(instruction, source.index)
    if value is None:
        return None
    if isinstance(value, int):
        return constant(value) if source.drops or lower <= value <= upper else None
    return value if source.drops else value.max(constant(lower)).min(constant(upper))


def known_value(instruction: Instruction, index: Sequence[SymbolicExpr]) -> int | SymbolicExpr | None:
    """Element `index` of an integer instruction, where constants and iotas alone decide it."""
    for _ in range(MAX_OPS):
        if instruction.is_constant:
            return _element(instruction, index)
        if traits_of(instruction).kind == "counts":
            return _counted(instruction, index)
        op = op_of(instruction)
        formula = op.output_to_input
        if op.kind != "moves" or instruction.shape.is_tuple or isinstance(formula, ThroughComputations):
            return None
        (found,) = formula(instruction, 0)[0]
        if found.map.ranges:  # a bitcast to another width
            return None
        index = [e.replace_variables(list(index)) for e in found.map.results]
        instruction = instruction.operands[0]
    return None


def _counted(iota: Instruction, index: Sequence[SymbolicExpr]) -> SymbolicExpr | None:
    """The index itself, unless a narrow type wraps before the dimension ends."""
    d, kind = iota.integer("iota_dimension", 0), iota.shape.element_type
    if kind not in INTEGER_FORMATS:
        return None
    bits = int(kind[1:]) - (kind[0] == "s")
    return index[d] if iota.shape.dimensions[d] <= 1 << bits else None


def _element(literal: Instruction, index: Sequence[SymbolicExpr]) -> int | None:
    elements = literal.literal_integers
    if not elements:
        return None
    one = elements[:1].tobytes()
    if elements.tobytes() == one * len(elements):
        return int(elements[0])
    if any(e.used_variables() for e in index):
        return None
    place = 0
    for e, size in zip(index, literal.shape.dimensions, strict=True):
        at = e.evaluate([])
        if not 0 <= at < size:
            return None
        place = place * size + at
    return int(elements[place])
