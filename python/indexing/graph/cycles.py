"""Cycles that a kernel of several results could close: a path that leaves its nodes and returns to them."""

from __future__ import annotations

from collections.abc import Iterable, Set

from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Node


def is_acyclic(facts: GraphFacts, nodes: Set[Node], outputs: Iterable[Node]) -> bool:
    """Whether no path leaves the nodes by one of their outputs and returns to them, each group that is taken already
    counting as a single node.
    """
    number, owner = facts.number, facts.groups
    last = max(number[n] for n in nodes)
    for first_of_group, last_of_group in facts.spans:
        if first_of_group < last:
            last = max(last, last_of_group)
    pending = [u for output in outputs for u in output.users if u not in nodes]
    seen = set(pending)
    while pending:
        node = pending.pop()
        reached = owner.get(node, {node})
        seen |= reached
        for user in {u for n in reached for u in n.users if number[u] <= last}:
            if user in nodes:
                return False
            if user not in seen:
                seen.add(user)
                pending.append(user)
    return True
