"""The kernel that the attention emitter proposes: two products, the softmax between them, and what surrounds these.

It grows from the second product: first to what follows, moves, conversions, and divisions by the totals of the rows; then to
operands that no other node reads. Of the operands of products, only moves and conversions join, which blocks repeat at little
cost.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from itertools import islice

from indexing.device.record import Device
from indexing.graph.extraction import build_kernel_module
from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Node, Ref
from indexing.kernels.emitter import fits
from indexing.kernels.emitters.attention.match import match_attention
from indexing.kernels.emitters.attention.plan import plan_attention
from indexing.kernels.proposal import Proposal, storage_of
from indexing.ops.dot import DOT
from indexing.ops.reduce import REDUCE
from indexing.ops.softmax import is_exponential, linear_operands
from indexing.walks import reached
from indexing.work import element_count

MAX_NODES = 128
MAX_AFTER = 8  # nodes after the second product
MAX_SCALING = 16  # nodes between an exponential and the second product


def group_attention(facts: GraphFacts, seed: Node, device: Device) -> Proposal | None:
    """The kernel of an attention whose second product is `seed`."""
    if seed.op is not DOT or not any(map(_is_scaled_exponential, seed.refs)):
        return None
    for after in _after(facts, seed):
        nodes = _with_operands(facts, seed, after)
        root = max(nodes, key=facts.number.__getitem__)
        match = match_attention(build_kernel_module(nodes, root.arrays, facts.graph).module.build().entry)
        if match is not None and fits(plan_attention(match, device), device.limits):
            return _proposal(facts, nodes, root)
    return None


def _proposal(facts: GraphFacts, nodes: set[Node], root: Node) -> Proposal:
    """The kernel of the nodes: it saves writing and reading their results, and the kernels of a product and the softmax."""
    kept = {r for n in nodes for r in n.refs if r.node in nodes and r.node not in facts.rematerializable}
    saved = sum(2 * storage_of(r) for r in kept)
    return Proposal(root, frozenset(nodes), root.arrays, launches=2, saved_bytes=saved)


def _is_scaled_exponential(ref: Ref) -> bool:
    """Whether an array is linear in an exponential, by a few nodes."""

    def linear(node: Node) -> Iterator[Node]:
        return (node.refs[k].node for k in linear_operands(node.instruction) if k < len(node.refs))

    return any(is_exponential(node.instruction) for node in islice(reached([ref.node], linear), MAX_SCALING))


def _after(facts: GraphFacts, seed: Node) -> Iterator[list[Node]]:
    """Nodes from the second product on, each the only reader of the one before: as many as there are, fewer, none."""
    chain = [seed]
    while len(chain) <= MAX_AFTER and (following := _following(facts, chain[-1])) is not None:
        chain.append(following)
    while chain:
        yield list(chain)
        chain.pop()


def _following(facts: GraphFacts, node: Node) -> Node | None:
    users = facts.users_of(node)
    if len(users) != 1 or node in facts.result_nodes or users[0] in facts.taken or not facts.can_compute(users[0]):
        return None
    i = users[0].instruction
    is_same_size = not i.shape.is_tuple and element_count(i) == element_count(node.instruction)
    return users[0] if is_same_size and linear_operands(i) else None


def _with_operands(facts: GraphFacts, seed: Node, after: list[Node]) -> set[Node]:
    """The nodes of `after` with the operands that join them."""
    nodes, number = set(after), facts.number
    below = dict.fromkeys(after, False)  # whether a node is computed for operands of a product alone
    pending = [(-number[r.node], r.node) for n in after for r in n.refs]
    heapify(pending)
    seen = {*after, *facts.graph.parameters}
    while pending and len(nodes) < MAX_NODES:
        _, node = heappop(pending)
        if node in seen:
            continue
        seen.add(node)
        users = facts.users_of(node)
        if node in facts.taken or node in facts.rematerializable or node in facts.result_nodes:
            continue
        if not facts.can_compute(node) or any(u not in nodes for u in users):
            continue
        is_below = all(below[u] or _is_factor(node, u, seed) for u in users)
        if not _joins(node, is_below, nodes - {seed}):
            continue
        nodes.add(node)
        below[node] = is_below
        for ref in node.refs:
            heappush(pending, (-number[ref.node], ref.node))
    return nodes


def _is_factor(node: Node, user: Node, seed: Node) -> bool:
    """Whether a node is a factor of a product: of the first one, or the values of the second."""
    return user.op is DOT and (user is not seed or not _is_scaled_exponential(Ref(node)))


def _joins(node: Node, is_below: bool, others: set[Node]) -> bool:
    if node.op is DOT:
        return not is_below and not any(n.op is DOT for n in others)
    is_plain = node.op.has_no_compute or (node.op.is_elementwise and not node.instruction.shape.is_tuple)
    if is_below:
        return node.op.has_no_compute or (is_plain and linear_operands(node.instruction) == (0,))
    return is_plain or node.op is REDUCE
