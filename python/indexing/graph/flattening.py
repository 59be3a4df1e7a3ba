"""A computation as a flat graph of operations, calls inlined and tuples taken apart.

Its nodes compute arrays, or are control flow.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from indexing.graph.nodes import Graph, Node, Ref, Tree
from indexing.hlo import Computation, Instruction
from indexing.ops.registry import traits_of
from indexing.ops.shape import TRANSPOSE
from indexing.ops.tuples import GET_TUPLE_ELEMENT, TUPLE
from indexing.walks import reached

INLINE_LIMIT = 200_000  # nodes; inlining nested calls can grow a program exponentially


@dataclass(slots=True)
class _Frame:
    """A computation that is being inlined."""

    arguments: Sequence[Tree]
    pending: Iterator[Instruction]
    root: Instruction
    caller: Instruction | None
    values: dict[Instruction, Tree] = field(default_factory=dict)


def flatten(
    computation: Computation,
    inlined: frozenset[Instruction] = frozenset(),
    split: Callable[[Instruction], Computation | None] = lambda _: None,
    is_kept: Callable[[Instruction], bool] = lambda _: False,
) -> Graph:
    """The graph of a computation; `inlined` are fusions that are inlined as calls are. `split` gives a computation that takes
    the place of an instruction; None where the instruction stays. Those that a kernel computes as they are (`is_kept`) are
    not expanded.
    """
    nodes: list[Node] = []
    parameters = tuple(Node(p, ()) for p in computation.parameters)
    nodes.extend(parameters)
    frames = [_Frame([n.tree for n in parameters], iter(computation.post_order()), computation.root, None)]
    expanded: dict[Hashable, Tree] = {}  # the results of expansions, which are computed once for the same operands
    while True:
        frame = frames[-1]
        instruction = next(frame.pending, None)
        if instruction is None:
            result = frame.values[frame.root]
            frames.pop()
            if not frames or frame.caller is None:
                break
            frames[-1].values[frame.caller] = _returned(frame.caller, frame.arguments, result)
            if frame.root.module is not frame.caller.module:
                expanded[_content(frame.caller, frame.arguments)] = result
            continue
        operands = tuple(frame.values[o] for o in instruction.operands)
        callee = None
        if expanded and (content := _content(instruction, operands)) in expanded:
            frame.values[instruction] = expanded[content]
            continue
        if len(nodes) < INLINE_LIMIT:
            callee = split(instruction) if is_kept(instruction) else _inlined(instruction, inlined, split)
        if callee is not None:
            frames.append(_Frame(operands, iter(callee.post_order()), callee.root, instruction))
        else:
            frame.values[instruction] = _value(instruction, operands, frame.arguments, nodes)
    for node in nodes:
        for ref in node.refs:
            ref.node.users.append(node)
    return Graph(computation, parameters, tuple(nodes), result)


def _content(instruction: Instruction, operands: Sequence[Tree]) -> Hashable:
    """The content of an instruction: what it computes, from which arrays."""
    return instruction.module, instruction.signature, tuple(operands)


def _inlined(
    instruction: Instruction, inlined: frozenset[Instruction], split: Callable[[Instruction], Computation | None]
) -> Computation | None:
    """The computation that replaces an instruction; None where the instruction stays."""
    op = traits_of(instruction)
    if op.calls == "inlined" or instruction in inlined or _is_awaited(instruction):
        return instruction.called[0]
    expansion = op.expansion(instruction) if op.expansion is not None else None
    return split(instruction) if expansion is None else expansion


def _is_awaited(instruction: Instruction) -> bool:
    """Whether it starts a computation asynchronously, and nothing of its tuple but the results is read."""
    if traits_of(instruction).calls != "starts":
        return False
    passed = reached([instruction], lambda i: (u for u in i.users if traits_of(u).passes_operand))
    return all(
        not i.is_root and all(traits_of(u).is_async_done or traits_of(u).passes_operand for u in i.users)
        for i in passed
    )


def _returned(caller: Instruction, operands: Sequence[Tree], result: Tree) -> Tree:
    """The arrays of an inlined instruction; an asynchronous start packs its operands and results."""
    return (tuple(operands), result) if traits_of(caller).calls == "starts" else result


def _value(instruction: Instruction, operands: tuple[Tree, ...], arguments: Sequence[Tree], nodes: list[Node]) -> Tree:
    op = traits_of(instruction)
    if instruction.is_parameter:
        return arguments[instruction.parameter_number]
    if op is TUPLE:
        return operands
    if op is GET_TUPLE_ELEMENT:
        return _part(operands[0], instruction.integer("index"))
    if op.is_async_done:
        return _part(operands[0], 1)
    if op.kind == "orders":
        return None
    if op.passes_operand and op.kind != "moves":  # a copy may change the layout
        return operands[0]
    if op is TRANSPOSE and (source := _transposed_back(instruction, operands[0])) is not None:
        return source
    node = Node(instruction, operands)
    nodes.append(node)
    return node.tree


def _transposed_back(transpose: Instruction, operand: Tree) -> Tree:
    """The array that two transposes, one after the other, leave as it is; None if they do not."""
    if not isinstance(operand, Ref) or operand.node.op is not TRANSPOSE:
        return None
    source, first = operand.node.operands[0], operand.node.instruction.ints("dimensions")
    is_same = all(first[d] == k for k, d in enumerate(transpose.ints("dimensions")))
    return source if is_same and isinstance(source, Ref) and source.shape == transpose.shape else None


def _part(tree: Tree, index: int) -> Tree:
    assert isinstance(tree, tuple)
    return tree[index]
