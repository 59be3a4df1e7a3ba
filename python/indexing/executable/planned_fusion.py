"""A planned kernel of a graph's nodes: what it computes, and what it reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from indexing.executable.graph import Node, Ref, Tree, tree_refs
from indexing.indexing_analysis.access import Access


@dataclass(slots=True, eq=False)
class PlannedFusion:
    """Nodes that become one kernel, which computes `outputs`; `root` is the last of its nodes.

    `accesses` are the reads of each node, from the root's index. `work` is what the kernel does, `work_once` the work of
    computing each node once; `shared_work` is repeated by neighbouring threads that share an index. No more nodes join a
    fusion that `is_closed`.
    """

    root: Node
    outputs: tuple[Ref, ...]
    work: int
    work_once: int
    shared_work: int = 0
    nodes: set[Node] = field(default_factory=set)
    has_loop: bool = False
    is_closed: bool = False
    accesses: dict[Node, tuple[Access, ...]] = field(default_factory=dict)

    def inputs(self, order: Iterable[Node]) -> list[Ref]:
        """The arrays that the kernel reads from outside, in the order in which its nodes read them."""
        seen: dict[Ref, None] = {}
        for node in order:
            if node in self.nodes:
                refs = (
                    ref
                    for operand, is_assembled in operands_of(node)
                    for ref in tree_refs(operand)
                    if is_assembled or ref.node not in self.nodes
                )
                seen.update(dict.fromkeys(refs))
        return list(seen)


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
