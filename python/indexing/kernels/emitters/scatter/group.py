"""The kernels that the scatter emitter proposes: scatters of one form, of different arrays, or one after another."""

from __future__ import annotations

from collections.abc import Hashable

from indexing.device.record import Device
from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Node
from indexing.hlo.layout import major_to_minor
from indexing.kernels.emitters.scatter.match import has_exact_maps
from indexing.kernels.emitters.scatter.modes import has_one_thread, launch_form, update_shape, updates_of
from indexing.kernels.proposal import Proposal
from indexing.kernels.update_groups import group_updates
from indexing.ops.scatter import SCATTER


def group_scatters(facts: GraphFacts, seed: Node, device: Device) -> Proposal | None:
    """One kernel for scatters of one form: each thread makes an update of each, as of arrays that are indexed alike; where one
    thread makes all updates, also one scatter after another.
    """
    if seed.op is not SCATTER:
        return None
    is_chained = has_one_thread(seed.instruction) and len(seed.arrays) == 1
    return group_updates(facts, seed, _form, lambda _: is_chained)


def _form(facts: GraphFacts, node: Node) -> Hashable:
    """The form of a scatter that can be made in place; None for others."""
    i = node.instruction
    is_empty = not (i.operands[0].shape.element_count and update_shape(i).element_count)
    arrays = zip(i.operands[: len(updates_of(i))], i.shape.leaves, strict=True)
    is_moved = any(major_to_minor(array.shape) != major_to_minor(result) for array, result in arrays)
    return None if is_empty or is_moved or not has_exact_maps(i) else launch_form(i)
