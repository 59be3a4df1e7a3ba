"""Dependence of a computation's results on its parameters; with it, maps of scatter, sort and scan are tight."""

from __future__ import annotations

from dataclasses import dataclass

from indexing.hlo import Computation, Instruction
from indexing.ops.operand_indexing import OperandIndexing

UNUSED_REASON = "the computation makes no use of this operand for this result"


def parameters_used(computation: Computation) -> list[frozenset[int]]:
    """For each result (the root, or each element of a root that is a tuple instruction), the parameters it depends on.

    An upper bound: an instruction is taken to depend on all of each operand.
    """
    used: dict[Instruction, frozenset[int]] = {}
    for i in computation.post_order():
        own = frozenset((i.parameter_number,)) if i.opcode == "parameter" else frozenset[int]()
        used[i] = own.union(*(used[o] for o in i.operands))
    root = computation.root
    if root.opcode == "tuple":
        return [used[o] for o in root.operands]
    return [used[root]] * (len(root.shape.elements) if root.shape.is_tuple else 1)


@dataclass(frozen=True, slots=True)
class FoldDependence:
    """The dependences of a fold's results: states are numbered from 0, the elements of a step after them.

    `direct` has the dependences of each result within one step, `closed` those over all steps: each state is replaced by
    the transitive closure of what it depends on, its initial value included.
    """

    direct: tuple[frozenset[int], ...]
    closed: tuple[frozenset[int], ...]


def fold_dependence(computation: Computation, states: int, elements: int, *, elements_first: bool) -> FoldDependence:
    """The dependence of a fold whose step takes states and elements; its last `states` results are the new states."""
    direct = [_numbered(used, states, elements) if elements_first else used for used in parameters_used(computation)]
    outputs = len(direct) - states
    new_states = direct[outputs:]
    while True:
        closed = [_transitive(used, new_states) for used in new_states]
        if closed == new_states:
            break
        new_states = closed
    return FoldDependence(
        tuple(direct), tuple([_transitive(used, new_states) for used in direct[:outputs]] + new_states)
    )


def _transitive(used: frozenset[int], new_states: list[frozenset[int]]) -> frozenset[int]:
    return used.union(*(new_states[k] for k in used if k < len(new_states)))


def _numbered(used: frozenset[int], states: int, elements: int) -> frozenset[int]:
    return frozenset(k - elements if k >= elements else k + states for k in used)


def reduction_dependence(instruction: Instruction) -> tuple[frozenset[int], ...]:
    """The dependences of each result of a reduce or reduce-window: initial values are numbered from 0, then operands."""
    count = len(instruction.operands) // 2
    return fold_dependence(instruction.called[0], count, count, elements_first=False).closed


def where_used(indexing: OperandIndexing, used: frozenset[int], number: int) -> OperandIndexing:
    """The map itself if its operand (`number`) is used, else as a bound without pieces: nothing it reads is needed."""
    return (
        indexing if number in used else OperandIndexing(indexing.map, (), "over-approximate", UNUSED_REASON, pieces=())
    )
