"""The groups that the rows emitter proposes: chains of reductions of the same rows, with the nodes between and after them.

Where rows are few and long, the group is what one pass computes, so that blocks can share a row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from indexing.device.record import Device
from indexing.graph.extraction import build_kernel_module
from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Graph, Node
from indexing.kernels.emitters.reduction.row_groups import row_group
from indexing.kernels.emitters.rows.match import RowSpace, row_space
from indexing.kernels.emitters.rows.online import with_online_sums
from indexing.kernels.proposal import Proposal
from indexing.ops.reduce import REDUCE
from indexing.walks import reached


def group_rows(facts: GraphFacts, seed: Node, device: Device) -> Proposal | None:
    """The kernel around a reduction, with outputs for each element or each row; None where kernels of parts are faster."""
    rows = row_group(facts, seed, with_elements=True)
    if rows is None or not rows.whole.outputs:
        return None
    if rows.has_enough_blocks(device):
        return rows.whole if rows.is_worth_it else None
    if device.widths.caches_rows:  # a second pass over cached rows costs less than the operations it saves
        return None
    return _part_in_one_pass(rows.whole, facts.graph, rows.of)


def _part_in_one_pass(
    whole: Proposal, graph: Graph, group_of: Callable[[Collection[Node], Collection[Node]], Proposal]
) -> Proposal | None:
    """The part of a group that one pass computes, online sums included; None if there are no online sums, or if the pass
    would write elements of the space.

    `group_of(nodes, affordable)` makes a group of nodes; readers may recompute those that are affordable.
    """
    levels = _levels(whole, graph)
    if levels is None:
        return None
    number, members = levels.first_pass, levels.of
    wanted = [n for n, level in members.items() if level == number and levels.is_per_row(n)]
    excluded = {n for n, level in members.items() if 0 < level < number and levels.is_per_row(n)}
    nodes = _needed(wanted, members, excluded)
    affordable = {n for n in nodes if members[n] and not levels.is_per_row(n)}
    part = group_of(nodes, affordable)
    while written := {ref.node for ref in part.outputs if not levels.is_per_row(ref.node)} - affordable:
        excluded |= written  # another kernel computes these, for all readers
        nodes = _needed(wanted, members, excluded)
        part = group_of(nodes, affordable)
    space = _space_of(part, graph)[0]
    return part if space is not None and with_online_sums(space).is_one_pass else None


def _needed(wanted: Collection[Node], members: Collection[Node], excluded: Collection[Node]) -> set[Node]:
    """The members that the wanted ones depend on, themselves included, up to excluded ones."""
    may_join = set(members) - set(excluded)
    return set(reached(wanted, lambda node: (ref.node for ref in node.refs if ref.node in may_join)))


@dataclass(frozen=True, slots=True)
class _Levels:
    """The number of passes after which each node is known (`of`); `first_pass` is that of the first online sum."""

    of: Mapping[Node, int]
    first_pass: int
    rows: int

    def is_per_row(self, node: Node) -> bool:
        return node.op is REDUCE or node.instruction.shape.element_count <= self.rows


def _levels(whole: Proposal, graph: Graph) -> _Levels | None:
    space, names = _space_of(whole, graph)
    if space is None:
        return None
    online = with_online_sums(space)
    if not online.online:
        return None
    instructions = space.first.computation.instructions
    levels = {node: online.levels[instructions[name]] for node, name in names.items()}
    first = min(online.levels[o.total] for o in online.online)
    return _Levels(levels, first, space.first.shape.leaves[0].element_count)


def _space_of(group: Proposal, graph: Graph) -> tuple[RowSpace | None, Mapping[Node, str]]:
    """The row space of a group's kernel, and the names of the group's nodes in it."""
    built = build_kernel_module(group.nodes, group.outputs, graph)
    return row_space(built.module.build().entry), built.names
