"""The groups that the rows emitter proposes: chains of reductions of the same rows, with the nodes between and after them.

Where rows are few and long, the group is what one pass computes, so that blocks can share a row.
"""

from __future__ import annotations

from indexing.device.record import Device
from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Node
from indexing.kernels.emitters.reduction.row_groups import row_group
from indexing.kernels.emitters.rows.shared_pass import part_in_one_pass
from indexing.kernels.proposal import Proposal


def group_rows(facts: GraphFacts, seed: Node, device: Device) -> Proposal | None:
    """The kernel around a reduction, with outputs for each element or each row; None where kernels of parts are faster."""
    rows = row_group(facts, seed, with_elements=True)
    if rows is None or not rows.whole.outputs:
        return None
    if rows.has_enough_blocks(device):
        return rows.whole if rows.is_worth_it else None
    if device.widths.caches_rows:  # a second pass over cached rows costs less than the operations it saves
        return None
    return part_in_one_pass(rows.whole, facts.graph, rows.of)
