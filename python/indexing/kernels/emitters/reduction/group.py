"""The groups that the reduction emitter proposes: several reductions of one space, each with outputs for each row."""

from __future__ import annotations

from indexing.device.record import Device
from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Node
from indexing.kernels.emitters.reduction.row_groups import row_group
from indexing.kernels.proposal import Proposal


def group_reductions(facts: GraphFacts, seed: Node, device: Device) -> Proposal | None:
    """The kernel around a reduction with outputs for each row; None if it would compute nothing else."""
    rows = row_group(facts, seed, with_elements=False)
    if rows is None or not rows.is_worth_it:
        return None
    return rows.whole if not rows.needs_rows or rows.has_enough_blocks(device) else None
