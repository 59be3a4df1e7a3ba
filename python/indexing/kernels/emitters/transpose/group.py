"""The kernels that the transpose emitter proposes: transposes whose results are read again and again, as products do.

A kernel that computes the transpose for itself reads a sector for every few bytes that it needs.
"""

from __future__ import annotations

from indexing.device.record import Device
from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Node
from indexing.kernels.emitters.transpose.match import is_worth_a_tile, pays_on, run_bytes
from indexing.kernels.proposal import Proposal, is_read_repeatedly, storage_of


def group_transpose(facts: GraphFacts, seed: Node, device: Device) -> Proposal | None:
    """A kernel of its own for a transpose: readers then read whole sectors, at least once each element."""
    if not is_worth_a_tile(seed.instruction) or not pays_on(seed.instruction, device):
        return None
    if not is_read_repeatedly(facts, seed, filter(facts.can_compute, facts.users_of(seed))):
        return None
    bytes_, run = storage_of(seed.arrays[0]), run_bytes(seed.instruction)
    wasted = bytes_ * (-run % device.memory.sector_bytes) // run
    return Proposal(seed, {seed}, seed.arrays, launches=-1, saved_bytes=wasted - 2 * bytes_, may_grow=True)
