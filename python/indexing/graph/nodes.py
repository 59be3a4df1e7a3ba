"""A computation as a flat graph: nodes that compute arrays, or are control flow, and the arrays that they read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from indexing.cached import cached_property
from indexing.hlo import Computation, Instruction, Shape
from indexing.ops.op import Op
from indexing.ops.registry import traits_of
from indexing.ops.values import Nested, leaves_of, nested, of_shape
from indexing.walks import reached

Tree: TypeAlias = "Nested[Ref]"  # an array, a token, or a tuple of trees


@dataclass(slots=True, eq=False)
class Node:
    """One operation. `users` has a user once for each of its operand positions that reads this node.

    `op` is that of the instruction, `tree` has the arrays that the node computes, in the shape of the instruction; `refs` are
    the arrays that it reads, `arrays` those that it computes, tuples taken apart.
    """

    instruction: Instruction
    operands: tuple[Tree, ...]
    users: list[Node] = field(default_factory=list)
    op: Op = field(init=False)
    tree: Tree = field(init=False)
    refs: tuple[Ref, ...] = field(init=False)
    arrays: tuple[Ref, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.op = traits_of(self.instruction)
        self.tree = Ref(self) if self.instruction.shape.is_array else _tree_of(self)
        self.refs = tuple(tree_refs(self.operands))
        self.arrays = tuple(tree_refs(self.tree))

    @property
    def opcode(self) -> str:
        """The opcode of the instruction."""
        return self.instruction.opcode

    def carry(self, operands: tuple[Tree, ...], tree: Tree) -> None:
        """Read and compute the arrays in these trees, of which nothing else is computed, and no longer those until now."""
        before, after = Counter(self.refs), Counter(tree_refs(operands))
        for ref in (before - after).elements():
            ref.node.users.remove(self)
        for ref in (after - before).elements():
            ref.node.users.append(self)
        self.operands, self.refs = operands, tuple(tree_refs(operands))
        self.tree, self.arrays = tree, tuple(tree_refs(tree))


@dataclass(frozen=True, slots=True)
class Ref:
    """One array: the `leaf`-th that `node` computes."""

    node: Node
    leaf: int = 0

    @property
    def shape(self) -> Shape:
        """Its shape, layout included."""
        return self.node.instruction.shape.leaves[self.leaf]


@dataclass(frozen=True)
class Graph:
    """The nodes of a computation, parameters included, operands before users; `result` is what it returns."""

    computation: Computation
    parameters: tuple[Node, ...]
    nodes: tuple[Node, ...]
    result: Tree

    @cached_property
    def number(self) -> dict[Node, int]:
        """The position of each node, operands before users."""
        return {node: k for k, node in enumerate(self.nodes)}


def tree_refs(tree: Tree) -> Iterator[Ref]:
    """The arrays of a tree, in order."""
    return (leaf for leaf in leaves_of(tree) if leaf is not None)


def map_leaves(tree: Tree, function: Callable[[int, Ref], Ref | None]) -> Tree:
    """The tree with other leaves in the place of its arrays: the function's values, of their numbers and the arrays."""
    leaves = (None if ref is None else function(leaf, ref) for leaf, ref in enumerate(leaves_of(tree)))
    return nested(tree, lambda part: part if isinstance(part, tuple) else None, leaves)


def _tree_of(node: Node) -> Tree:
    """The tree of a node's arrays, in the shape of its instruction."""
    shape = node.instruction.shape
    return of_shape(shape, (None if s.element_type == "token" else Ref(node, k) for k, s in enumerate(shape.leaves)))


def needed_nodes(graph: Graph) -> set[Node]:
    """The nodes that the graph's result depends on."""
    return set(reached((ref.node for ref in tree_refs(graph.result)), lambda node: (ref.node for ref in node.refs)))


def operands_of(node: Node) -> list[tuple[Tree, bool]]:
    """The operands of a node, each with whether the node assembles its result in it from updates.

    Such an array is a parameter of the kernel, even if the kernel computes the same values for other nodes.
    """
    count = in_place_count(node) if node.op.is_scatter_like else 0
    return [(operand, k < count) for k, operand in enumerate(node.operands)]


def assembled_arrays(node: Node) -> set[Ref]:
    """The operands in whose memory a node assembles its result from updates."""
    return {ref for operand, is_assembled in operands_of(node) if is_assembled for ref in tree_refs(operand)}


def in_place_count(node: Node) -> int:
    """The number of leading operands that a kernel of the node overwrites with its result."""
    count = node.op.in_place_operands
    return 0 if count is None else count(node.instruction)
