"""Groups of updates of arrays in memory, of one form, which one kernel makes: of different arrays, or, where that keeps their
order, one after another of one array.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeAlias

from indexing.graph.cycles import is_acyclic
from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Node, Ref, in_place_count, tree_refs
from indexing.kernels.proposal import Proposal
from indexing.ops.op import Op

MAX_UPDATES = 16  # updates that one kernel makes

#: The form that updates of one kernel have in common; None for a node that joins none.
Form: TypeAlias = Callable[[GraphFacts, Node], Hashable]


@dataclass(slots=True)
class _UpdatesByForm:
    """The updates of a graph, in order, by op and form."""

    by_op: dict[Op, dict[Hashable, list[Node]]] = field(default_factory=dict)

    def before(self, facts: GraphFacts, seed: Node, form_of: Form) -> list[Node]:
        """The updates of the seed's form that may share its kernel and come before it."""
        if seed.op not in self.by_op:
            forms = self.by_op[seed.op] = {}
            for node in facts.graph.nodes:
                if node.op is seed.op and node in facts.live and facts.can_compute(node):
                    forms.setdefault(form_of(facts, node), []).append(node)
        form = form_of(facts, seed)
        nodes = [] if form is None else self.by_op[seed.op][form]
        end = nodes.index(seed) if seed in nodes else 0
        return nodes[end // MAX_UPDATES * MAX_UPDATES : end]


def group_updates(
    facts: GraphFacts, seed: Node, form_of: Form, may_follow: Callable[[Node], bool] = lambda _: False
) -> Proposal | None:
    """One kernel for the seed and for updates of its form before it; None if there are none.

    An update `may_follow` another one of the same array if their kernel keeps this order.
    """
    group = _Group(facts, seed, may_follow(seed))
    for node in reversed(facts.attached(_UpdatesByForm).before(facts, seed, form_of)):
        if node not in facts.taken:
            group.add(node)
    if len(group.nodes) == 1:
        return None
    return Proposal(seed, group.nodes, group.outputs, launches=len(group.nodes) - 1, may_grow=True)


class _Group:
    """The nodes of a kernel, the arrays that they update, and those that they read."""

    def __init__(self, facts: GraphFacts, seed: Node, may_follow: bool) -> None:
        self.facts, self.may_follow = facts, may_follow
        self.nodes = {seed}
        self.followed: set[Node] = set()
        self.updated, self.read = _updated(seed), _read(seed)

    @property
    def outputs(self) -> tuple[Ref, ...]:
        """The arrays that the kernel writes."""
        last = sorted(self.nodes - self.followed, key=self.facts.number.__getitem__)
        return tuple(ref for n in last for ref in n.arrays)

    def add(self, node: Node) -> None:
        """Add a node before the others, if it updates other arrays, or one that a member goes on with, and no path from it to
        a member leaves the kernel.
        """
        is_followed = self.may_follow and self._is_followed(node)
        if not is_followed and not (self.updated | self.read).isdisjoint(node.arrays):
            return
        updated, read = self.updated | _updated(node), self.read | _read(node)
        if not self.updated.isdisjoint(_updated(node)) or not read.isdisjoint(updated):
            return
        followed = self.followed | ({node} if is_followed else set())
        if is_acyclic(self.facts, self.nodes | {node}, (self.nodes | {node}) - followed):
            self.nodes.add(node)
            self.updated, self.read, self.followed = updated, read, followed

    def _is_followed(self, node: Node) -> bool:
        """Whether nothing but a member, which goes on with it, reads the result of the node."""
        users = self.facts.users_of(node)
        is_read = node in self.facts.result_nodes or len(users) != 1 or users[0] not in self.nodes
        return not is_read and self.updated.issuperset(node.arrays)


def _updated(node: Node) -> set[Ref]:
    return {ref for operand in node.operands[: in_place_count(node)] for ref in tree_refs(operand)}


def _read(node: Node) -> set[Ref]:
    return {ref for operand in node.operands[in_place_count(node) :] for ref in tree_refs(operand)}
