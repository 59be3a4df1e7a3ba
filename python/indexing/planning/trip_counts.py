"""Trip counts of loops that are known before they run, so that the condition is never evaluated: a counter starts at a
constant, changes by a constant and is compared with a constant.
"""

from __future__ import annotations

from indexing.graph.nodes import Graph, Node, Ref, tree_refs
from indexing.ops.element_types import element_type
from indexing.ops.op import RunsComputations
from indexing.ops.trip_counts import direction_of, sign_of_step, stated_trip_count, trip_count
from indexing.ops.values import Array, leaves_of, only_array

#: Most operations, one on another, by which a start, a step or a bound is computed from constants.
MAX_FOLDED = 4


def known_trip_count(loop: Node, condition: Graph, body: Graph) -> int | None:
    """The number of times that the loop runs its body, derived or stated in the program; None if it is unknown."""
    counted = _counted(loop, condition, body)
    return stated_trip_count(loop.instruction) if counted is None else counted


def _counted(loop: Node, condition: Graph, body: Graph) -> int | None:
    if len(loop.refs) != len(loop.instruction.shape.leaves):
        return None  # tokens have no array
    compared = _scalar(condition.result)
    for k, other in ((0, 1), (1, 0)):
        if compared is None or len(compared.node.operands) != 2:
            continue
        direction = direction_of(compared.node.instruction, mirrored=k == 1)
        counter, bound = (
            _scalar(compared.node.operands[k]),
            _bound(loop, body, condition, compared.node.operands[other]),
        )
        if direction is None or bound is None or counter is None or counter.node not in condition.parameters:
            continue
        first, step = _number(_leaf(loop.operands, counter.leaf)), _step(body, counter.leaf)
        if first is not None and step is not None:
            return trip_count(counter.shape.element_type, direction, first, bound, step)
    return None


def _bound(loop: Node, body: Graph, condition: Graph, tree: object) -> int | None:
    """The constant that the counter is compared with: in the condition, or a leaf of the state that the body keeps."""
    ref = _scalar(tree)
    if ref is None or ref.node not in condition.parameters:
        return _number(tree)
    kept = _scalar(_leaf(body.result, ref.leaf))
    is_kept = kept is not None and kept.node in body.parameters and kept.leaf == ref.leaf
    return _number(_leaf(loop.operands, ref.leaf)) if is_kept else None


def _step(body: Graph, leaf: int) -> int | None:
    """The constant that each iteration adds to a leaf of the state."""
    updated = _scalar(_leaf(body.result, leaf))
    if updated is None or len(updated.node.operands) != 2:
        return None
    for k, other in ((0, 1), (1, 0)):
        counter, number = _scalar(updated.node.operands[k]), _number(updated.node.operands[other])
        sign = sign_of_step(updated.node.instruction, k)
        if counter is None or number is None or sign is None:
            continue
        if counter.node in body.parameters and counter.leaf == leaf:
            return sign * number
    return None


def _leaf(tree: object, leaf: int) -> Ref | None:
    """The array with that number in a tree."""
    refs = list(tree_refs(tree))  # type: ignore[arg-type]
    return refs[leaf] if leaf < len(refs) else None


def _number(tree: object) -> int | None:
    """The value of an integer scalar that is a constant of the program, or computed from constants; None otherwise."""
    ref = _scalar(tree)
    if ref is None or not element_type(ref.shape.element_type).is_integer:
        return None
    value = _constant(ref, MAX_FOLDED)
    return None if value is None else int(value.item())


def _constant(tree: object, depth: int) -> Array | None:
    ref = _scalar(tree)
    if ref is None:
        return None
    instruction, op = ref.node.instruction, ref.node.op
    if instruction.is_constant:
        return only_array(leaves_of(instruction.literal)[ref.leaf])
    if not depth or not op.is_elementwise or op.reference is None or isinstance(op.reference, RunsComputations):
        return None
    operands = [_constant(operand, depth - 1) for operand in ref.node.operands]
    known = [o for o in operands if o is not None]
    return only_array(op.reference(instruction, known)) if len(known) == len(operands) else None


def _scalar(tree: object) -> Ref | None:
    """The array that a scalar is moved from; None if it isn't a scalar."""
    while isinstance(tree, Ref) and tree.shape.element_count == 1:
        refs = tree.node.refs
        if not tree.node.op.has_no_compute or len(refs) != 1:
            return tree
        tree = refs[0]
    return None
