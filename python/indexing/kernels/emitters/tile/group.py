"""The kernels that the tile emitter proposes: dots as they are, whatever the layout of their operands."""

from __future__ import annotations

from indexing.device.record import Device
from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Node
from indexing.kernels.emitters.dot.group import is_sum_of_rows
from indexing.kernels.emitters.tile.match import is_tiled
from indexing.kernels.proposal import Proposal


def group_tile(facts: GraphFacts, seed: Node, device: Device) -> Proposal | None:
    """A kernel around a dot that matrix units compute, but not of a vector whose products are sums of rows."""
    if not is_tiled(seed.instruction, device) or is_sum_of_rows(seed.instruction):
        return None
    return Proposal(seed, frozenset([seed]), seed.arrays, is_open=True, copies_operands=True)
