"""The kernels that the tile emitter proposes: dots as they are, whatever the layout of their operands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.kernels.emitters.tile.match import is_tiled
from indexing.kernels.proposal import Proposal

if TYPE_CHECKING:
    from indexing.device.record import Device
    from indexing.graph.facts import GraphFacts
    from indexing.graph.nodes import Node


def group_tile(facts: GraphFacts, seed: Node, device: Device) -> Proposal | None:
    """A kernel around a dot that matrix units compute, in which neighbouring threads have neighbouring columns."""
    if not is_tiled(seed.instruction, device):
        return None
    return Proposal(seed, frozenset([seed]), seed.arrays, is_open=True)
