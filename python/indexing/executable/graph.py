"""A computation as a flat graph of operations, calls inlined and tuples taken apart.

Its nodes compute arrays, or are control flow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from indexing.executable.products import dot_in_parts
from indexing.ops.registry import traits_of
from indexing.ops.tuples import GET_TUPLE_ELEMENT, TUPLE

if TYPE_CHECKING:
    from indexing.hlo import Computation, Instruction, Shape
    from indexing.ops.op import Op

INLINE_LIMIT = 200_000  # nodes; inlining nested calls can grow a program exponentially

Tree: TypeAlias = "Ref | tuple[Tree, ...] | None"  # an array, a token, or a tuple of trees


@dataclass(slots=True, eq=False)
class Node:
    """One operation. `users` has a user once for each of its operand positions that reads this node."""

    instruction: Instruction
    operands: tuple[Tree, ...]
    users: list[Node] = field(default_factory=list)

    @property
    def opcode(self) -> str:
        """The opcode of the instruction."""
        return self.instruction.opcode

    @property
    def op(self) -> Op:
        """The op of the instruction."""
        return traits_of(self.instruction)

    def refs(self) -> Iterator[Ref]:
        """The arrays that the node reads, tuples taken apart."""
        return tree_refs(self.operands)


@dataclass(frozen=True, slots=True)
class Ref:
    """One array: the `leaf`-th that `node` computes."""

    node: Node
    leaf: int = 0

    @property
    def shape(self) -> Shape:
        """Its shape, layout included."""
        return self.node.instruction.shape.leaves[self.leaf]


@dataclass(frozen=True, slots=True)
class Graph:
    """The nodes of a computation, parameters included, operands before users; `result` is what it returns."""

    computation: Computation
    parameters: tuple[Node, ...]
    nodes: tuple[Node, ...]
    result: Tree


def tree_refs(tree: Tree) -> Iterator[Ref]:
    """The arrays of a tree, in order."""
    pending: list[Tree] = [tree]
    while pending:
        part = pending.pop()
        if isinstance(part, Ref):
            yield part
        elif part is not None:
            pending.extend(reversed(part))


@dataclass(slots=True)
class _Frame:
    """A computation that is being inlined."""

    arguments: Sequence[Tree]
    pending: Iterator[Instruction]
    root: Instruction
    caller: Instruction | None
    values: dict[Instruction, Tree] = field(default_factory=dict)


def flatten(computation: Computation, inlined: frozenset[Instruction] = frozenset()) -> Graph:
    """The graph of a computation; `inlined` are fusions that are inlined as calls are."""
    nodes: list[Node] = []
    parameters = tuple(Node(p, ()) for p in computation.parameters)
    nodes.extend(parameters)
    frames = [_Frame([tree_of(n) for n in parameters], iter(computation.post_order()), computation.root, None)]
    while True:
        frame = frames[-1]
        instruction = next(frame.pending, None)
        if instruction is None:
            result = frame.values[frame.root]
            frames.pop()
            if not frames or frame.caller is None:
                break
            frames[-1].values[frame.caller] = _returned(frame.caller, frame.arguments, result)
            continue
        operands = tuple(frame.values[o] for o in instruction.operands)
        callee = _inlined(instruction, inlined) if len(nodes) < INLINE_LIMIT else None
        if callee is not None:
            frames.append(_Frame(operands, iter(callee.post_order()), callee.root, instruction))
        else:
            frame.values[instruction] = _value(instruction, operands, frame.arguments, nodes)
    for node in nodes:
        for ref in node.refs():
            ref.node.users.append(node)
    return Graph(computation, parameters, tuple(nodes), result)


def _inlined(instruction: Instruction, inlined: frozenset[Instruction]) -> Computation | None:
    """The computation that replaces an instruction; None where the instruction stays."""
    op = traits_of(instruction)
    if op.calls == "inlined" or instruction in inlined or _is_awaited(instruction):
        return instruction.called[0]
    return op.expansion(instruction) if op.expansion is not None else dot_in_parts(instruction)


def _is_awaited(instruction: Instruction) -> bool:
    """Whether it starts a computation asynchronously, and nothing of its tuple but the results is read."""
    if traits_of(instruction).calls != "starts":
        return False
    pending = [instruction]
    while pending:
        started = pending.pop()
        if started.is_root or not all(traits_of(u).is_async_done or traits_of(u).passes_operand for u in started.users):
            return False
        pending += [u for u in started.users if traits_of(u).passes_operand]
    return True


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
    node = Node(instruction, operands)
    nodes.append(node)
    return tree_of(node)


def _part(tree: Tree, index: int) -> Tree:
    assert isinstance(tree, tuple)
    return tree[index]


def tree_of(node: Node) -> Tree:
    """The tree of a node's arrays, in the shape of its instruction."""
    done: list[Tree] = []
    leaf = 0
    pending: list[tuple[Shape, bool]] = [(node.instruction.shape, False)]
    while pending:
        shape, has_parts = pending.pop()
        if has_parts:
            count = len(done) - len(shape.elements)
            done[count:] = [tuple(done[count:])]
        elif shape.is_tuple:
            pending.append((shape, True))
            pending.extend((part, False) for part in reversed(shape.elements))
        else:
            done.append(None if shape.element_type == "token" else Ref(node, leaf))
            leaf += 1
    return done[0]


def arrays_of(node: Node) -> tuple[Ref, ...]:
    """The arrays that a node computes, tuples taken apart."""
    return tuple(tree_refs(tree_of(node)))


def needed_nodes(graph: Graph) -> set[Node]:
    """The nodes that the graph's result depends on."""
    found: set[Node] = set()
    pending = [ref.node for ref in tree_refs(graph.result)]
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending.extend(ref.node for ref in node.refs())
    return found
