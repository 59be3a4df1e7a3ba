"""Outputs of a row group: the members that nodes outside read, except for those that the readers recompute."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Node, Ref, assembled_arrays
from indexing.kernels.emitters.reduction.rows import Rows
from indexing.kernels.proposal import is_read_repeatedly
from indexing.ops.reduce import REDUCE

MAX_RECOMPUTED = 8  # members that a reader recomputes to have one of them


@dataclass(slots=True)
class RowOutputs:
    """`refs` are written to memory; `recomputed` are members that readers outside recompute."""

    refs: set[Ref]
    recomputed: set[Node]


def choose_outputs(
    facts: GraphFacts, members: Collection[Node], rows: Rows, affordable: Collection[Node] = ()
) -> RowOutputs:
    """The outputs of a group of `members`.

    Only readers that kernels can compute recompute members: rematerializable nodes in any case, `affordable` ones whatever
    they cost.
    """
    choice = _Choice(facts, members, rows, affordable)
    for node in members:
        choice.add(node)
    return RowOutputs(choice.refs, choice.recomputed)


@dataclass
class _Choice:
    facts: GraphFacts
    members: Collection[Node]
    rows: Rows
    affordable: Collection[Node]
    refs: set[Ref] = field(default_factory=set)
    recomputed: set[Node] = field(default_factory=set)

    def add(self, node: Node) -> None:
        """Add the arrays of a member that its readers read, or those that they need to recompute it."""
        arrays = [Ref(node, leaf) for leaf in range(len(node.instruction.shape.leaves))]
        self.refs.update(ref for ref in arrays if ref in self.facts.results)
        readers = [u for u in self.facts.users_of(node) if u not in self.members]
        if not readers:
            return
        recomputed = self._computed_again(node, readers)
        if recomputed is None:
            self.refs.update(ref for u in readers for ref in u.refs if ref.node is node)
        else:
            nodes, read = recomputed
            self.recomputed |= nodes
            self.refs |= read

    def _computed_again(self, node: Node, readers: Collection[Node]) -> tuple[set[Node], set[Ref]] | None:
        """The members that readers recompute to have `node`, and the arrays that they read to do so; None if they had better
        read `node` itself.

        They read at most one array of the space's size, as they would for `node`; two where it is affordable, which saves
        writing it.
        """
        if any(ref.node is node for ref in self.facts.results) or not all(map(self.facts.can_compute, readers)):
            return None
        if any(ref.node is node for reader in readers for ref in assembled_arrays(reader)):
            return None  # a reader updates it in memory
        has_place = self.rows.place_of(node.instruction.shape.leaves[0]) is not None  # other views can't be outputs
        if has_place and is_read_repeatedly(self.facts, node, readers):
            return None
        nodes, read, large = {node}, set[Ref](), set[Ref]()
        pending = [node]
        while pending:
            for ref in (r for r in pending.pop().refs if r.node not in self.facts.rematerializable):
                is_large = ref.shape.element_count >= self.rows.shape.element_count
                if ref.node not in self.members:
                    large.update([ref] if is_large else [])
                elif ref.node not in nodes and (is_large or _moves(ref.node)):
                    nodes.add(ref.node)
                    pending.append(ref.node)
                elif not (is_large or _moves(ref.node)):
                    read.add(ref)
            if len(nodes) > MAX_RECOMPUTED or len(large) > 1 + (node in self.affordable):
                return None
        if not all(_moves(n) or n in self.affordable or self._is_cheap(n) for n in nodes):
            return None
        return nodes, read

    def _is_cheap(self, node: Node) -> bool:
        is_per_row = node.instruction.shape.element_count == self.rows.count
        return not (is_per_row or node.op is REDUCE or node.op.is_expensive or node.op.reads_many)


def _moves(node: Node) -> bool:
    return node.op.has_no_compute
