"""Fusions that a program states: whether one kernel of them is slower than the kernels that planning makes of their parts.

Predicted times decide. They are asked for only where several kernels could be faster at all, by the counts of the one kernel:
it repeats much work, or its blocks leave cores idle.
"""

from __future__ import annotations

from math import prod

from indexing.device.record import Device
from indexing.graph.flattening import flatten
from indexing.graph.nodes import Graph, tree_refs
from indexing.hlo import Computation, Instruction
from indexing.kernels import choose_emitter
from indexing.kernels.proposal import storage_of
from indexing.planning.fusion import Planner
from indexing.work import MAX_OPERATIONS, work_once


def needs_parts(fusion: Instruction, planner: Planner) -> bool:
    """Whether a fusion is not one kernel: none can compute it, or kernels of its parts are faster."""
    body = fusion.called[0]
    if any(o.shape.is_tuple for o in fusion.operands) or not planner.support.computation(body):
        return True
    graph = flatten(body)
    if _most_saved(body, graph, planner.device) <= planner.device.launch_seconds:
        return False  # the launch of a second kernel takes longer
    return planner.are_faster(graph, body)


def _most_saved(body: Computation, graph: Graph, device: Device) -> float:
    """A bound of the time that parts save by the kernel's counts: that of the work that it repeats, and of cores that are idle
    because it has fewer blocks.
    """
    chosen = choose_emitter(body, device)
    busy = min(prod(chosen.default_plan.grid) / device.cores.count, 1)
    once = sum(map(work_once, body.post_order()))
    rate = device.rates.operations / MAX_OPERATIONS
    at_best = max(_bytes(graph) / device.reached_bandwidth, once / rate)
    return at_best * (1 / busy - 1) + max(chosen.work - once, 0) / rate / busy


def _bytes(graph: Graph) -> int:
    """The bytes of a graph's parameters and results."""
    return sum(map(storage_of, (*(r for p in graph.parameters for r in p.arrays), *tree_refs(graph.result))))
