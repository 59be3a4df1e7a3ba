"""The groups that the rows emitter proposes: chains of reductions of the same rows, with the nodes between and after them.

Where rows are few and long, the group is what one pass computes, so that blocks can share a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.kernels.emitters.reduction.row_groups import has_enough_blocks, row_group
from indexing.kernels.emitters.rows.shared_pass import part_in_one_pass

if TYPE_CHECKING:
    from indexing.device.record import Device
    from indexing.graph.facts import GraphFacts
    from indexing.graph.nodes import Node
    from indexing.kernels.proposal import Proposal


def group_rows(facts: GraphFacts, seed: Node, device: Device) -> Proposal | None:
    """The kernel around a reduction, with outputs for each element or each row; None where kernels of parts are faster."""
    found = row_group(facts, seed, with_elements=True)
    if found is None or found.is_worth_it:
        return None if found is None else found.whole
    if not found.whole.outputs or has_enough_blocks(seed.instruction):
        return None
    if device.widths.caches_rows:  # a second pass over cached rows costs less than the operations it saves
        return None
    return part_in_one_pass(found.whole, facts.graph.nodes, found.of)
