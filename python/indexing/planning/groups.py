"""The groups of a program that become one kernel each, among those that emitters propose.

Emitters are asked in their order, around each live node, users first. A proposal is taken if it is predicted to save time,
launches included, and if no path leaves its nodes and returns to them. Nodes that are taken join no other proposal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Graph, Node, arrays_of, tree_of
from indexing.model.work_time import predict_work
from indexing.ops.registry import traits_of

if TYPE_CHECKING:
    from indexing.device.record import Device
    from indexing.hlo import Computation, Instruction
    from indexing.kernels.emitter import Emitter
    from indexing.kernels.proposal import Proposal


@dataclass(slots=True)
class Groups:
    """The `closed` groups, to which no other node is added, and the kernels that are `open` to other nodes, by their roots."""

    closed: dict[Node, Proposal] = field(default_factory=dict)
    open: dict[Node, Proposal] = field(default_factory=dict)


def choose_groups(facts: GraphFacts, emitters: Sequence[Emitter[Any, Any]], device: Device) -> Groups:
    """The proposals of emitters that are taken."""
    groups = Groups()
    owner: dict[Node, Proposal] = {}
    seeds = [n for n in reversed(facts.graph.nodes) if n in facts.live and facts.can_compute(n)]
    for emitter in emitters:
        for seed in seeds:
            proposal = None if seed in facts.taken else emitter.group(facts, seed, device)
            if proposal is None:
                continue
            if proposal.is_open:
                groups.open.setdefault(seed, proposal)
            elif seconds_saved(proposal, device) > 0 and is_acyclic(facts, proposal, owner):
                groups.closed[proposal.root] = proposal
                owner.update(dict.fromkeys(proposal.nodes, proposal))
                facts.taken |= proposal.nodes
    return groups


def seconds_saved(proposal: Proposal, device: Device) -> float:
    """The predicted time of the launches and the memory traffic that a proposal saves."""
    return predict_work(device, proposal.saved_bytes, launches=proposal.launches).seconds


def replacement_of(
    instruction: Instruction, emitters: Sequence[Emitter[Any, Any]], device: Device
) -> Computation | None:
    """The computation that the emitter of an instruction, by itself, would rather have; None if it takes it as it is."""
    if not traits_of(instruction).reads_many:
        return None  # one element each: no other instructions compute it faster
    operands = tuple(Node(o, ()) for o in instruction.operands)
    node = Node(instruction, tuple(map(tree_of, operands)))
    facts = GraphFacts(Graph(instruction.computation, operands, (*operands, node), arrays_of(node)), lambda _: True)
    proposals = (emitter.group(facts, node, device) for emitter in emitters)
    return next((p.replacement for p in proposals if p is not None), None)


def is_acyclic(facts: GraphFacts, group: Proposal, owner: dict[Node, Proposal]) -> bool:
    """Whether no path leaves the group and returns to it, each group of `owner` counting as a single node."""
    number = facts.number
    last = max(number[n] for n in group.nodes)
    others = sorted({id(g): g for g in owner.values()}.values(), key=lambda g: min(number[n] for n in g.nodes))
    for other in others:
        if min(number[n] for n in other.nodes) < last:
            last = max(last, max(number[n] for n in other.nodes))
    pending = [u for ref in group.outputs for u in ref.node.users if u not in group.nodes]
    seen = set(pending)
    while pending:
        node = pending.pop()
        reached = owner[node].nodes if node in owner else {node}
        seen |= reached
        for user in {u for n in reached for u in n.users if number[u] <= last}:
            if user in group.nodes:
                return False
            if user not in seen:
                seen.add(user)
                pending.append(user)
    return True
