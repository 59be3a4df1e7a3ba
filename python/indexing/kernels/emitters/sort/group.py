"""The kernels that the sort emitter proposes: sorts and merges with what belongs to them alone, and sorts in passes."""

from __future__ import annotations

from indexing.device.record import Device
from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Node
from indexing.hlo import Computation, Instruction
from indexing.hlo.layout import major_to_minor
from indexing.kernels.emitters.sort.match import sorted_by_kernel
from indexing.kernels.emitters.sort.plan import longest_run
from indexing.kernels.emitters.transpose.match import is_worth_a_tile
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.proposal import Proposal, storage_of
from indexing.kernels.targets import TARGETS
from indexing.ops.library_calls.sorted_runs import (
    ORDER_BYTES,
    compared_operands,
    moves_by_order,
    sort_in_passes,
    top_by_sorting,
)
from indexing.ops.registry import traits_of
from indexing.ops.sort import SORT, TOPK

MAX_NODES = 64
SHORT_ROW = 64  # elements of a row that a CPU sorts in vectors for the most part
FEW_ELEMENTS = 1 << 12  # elements of all rows for which a step of numpy costs a CPU more than it saves


def computes_sort(i: Instruction, device: Device) -> bool:
    """Whether kernels of a device sort the instruction's rows; many long ones are left to numpy on CPUs, where it is faster."""
    runs = sorted_by_kernel(i)
    if runs is None or TARGETS[device.dialect].has_threads:
        return runs is not None
    is_light = runs.size <= SHORT_ROW or i.shape.leaves[0].element_count <= FEW_ELEMENTS
    return traits_of(i) is SORT and is_light and runs.size <= _longest(i, device)


def group_sort(facts: GraphFacts, seed: Node, device: Device) -> Proposal | None:
    """The kernel of a sort with what it alone reads and what alone reads it, or the passes that replace it."""
    i = seed.instruction
    if not (TARGETS[device.dialect].has_threads or computes_sort(i, device)):
        return None
    replacement = _replacement(i, device)
    if replacement is not None:
        return Proposal(seed, frozenset([seed]), seed.arrays, replacement=replacement)
    runs = sorted_by_kernel(i)
    if runs is None or seed in facts.taken:
        return None
    after = _after(facts, seed)
    nodes = {*after, *(_with_operands(facts, seed) if runs.sorted == 1 else ())}
    root = after[-1]
    read = {ref for user in facts.users_of(root) for ref in user.refs} | facts.results
    outputs = tuple(ref for ref in root.arrays if ref in read)
    saved = sum(2 * storage_of(ref) for n in nodes - {seed} for ref in n.arrays)
    return Proposal(root, frozenset(nodes), outputs, launches=1, saved_bytes=saved)


def _replacement(i: Instruction, device: Device) -> Computation | None:
    """The passes that a sort, or a top-k, is replaced by; None where its rows are not long, and beside in memory or few."""
    if traits_of(i) is TOPK:
        bytes_ = storage_bytes(i.operands[0].shape.element_type) + ORDER_BYTES
        return top_by_sorting(i, longest_run(bytes_, device)) if i.shape.leaves[0].element_count else None
    runs = sorted_by_kernel(i)
    if runs is None or traits_of(i) is not SORT:
        return None
    most = _longest(i, device)
    is_beside = all(major_to_minor(s)[-1] == runs.dimension for s in (i.shape.leaves[0], i.operands[0].shape))
    return None if runs.size <= most and (is_beside or _is_small(i, device)) else sort_in_passes(i, most)


def _is_small(sort: Instruction, device: Device) -> bool:
    """Whether two launches, of kernels that turn the array before and after, take longer than a sector for each element."""
    sector = device.memory.sector_bytes
    scattered = sum(2 * s.element_count * (sector - storage_bytes(s.element_type)) for s in sort.shape.leaves)
    turned = sum(4 * s.element_count * storage_bytes(s.element_type) for s in sort.shape.leaves)
    return scattered - turned <= 2 * device.after_another().launch_seconds * device.reached_bandwidth


def _longest(sort: Instruction, device: Device) -> int:
    """The most elements of a row that a block sorts, by the bytes that are moved with an element."""
    kinds = [o.shape.element_type for o in sort.operands]
    compared = compared_operands(sort.called[0], len(kinds))
    others = [kind for k, kind in enumerate(kinds) if k not in compared]
    moved = ORDER_BYTES if moves_by_order(others) else sum(map(storage_bytes, others))
    return longest_run(max(sum(storage_bytes(kinds[k]) for k in compared) + moved, 1), device)


def _after(facts: GraphFacts, seed: Node) -> list[Node]:
    """The sort, and elementwise nodes, each of which alone reads the first array of the one before, and no other one."""
    chain = [seed]
    while len(chain) < MAX_NODES and chain[-1] not in facts.result_nodes:
        users = facts.users_of(chain[-1])
        if len(users) != 1 or users[0] in facts.taken or not facts.can_compute(users[0]):
            break
        read = {ref.leaf for ref in users[0].refs if ref.node is chain[-1]}
        if read != {0} or not users[0].op.is_elementwise or users[0].instruction.shape.is_tuple:
            break
        chain.append(users[0])
    return chain


def _with_operands(facts: GraphFacts, seed: Node) -> set[Node]:
    """The sort, and the nodes that are computed for it alone, an element for each of it."""
    nodes, pending = {seed}, [ref.node for ref in seed.refs]
    while pending and len(nodes) < MAX_NODES:
        node = pending.pop()
        if node not in nodes and _joins(facts, node, nodes):
            nodes.add(node)
            pending += [ref.node for ref in node.refs]
    return nodes


def _joins(facts: GraphFacts, node: Node, nodes: set[Node]) -> bool:
    if (
        not facts.can_compute(node)
        or node in facts.taken
        or node in facts.rematerializable
        or node in facts.result_nodes
    ):
        return False
    is_light = node.op.has_no_compute or node.op.is_elementwise
    return is_light and not is_worth_a_tile(node.instruction) and all(u in nodes for u in facts.users_of(node))
