"""Fusions that a program states: whether one kernel of them is slower than the kernels that planning makes of their parts.

Predicted times decide. They are asked for only where several kernels could be faster at all, by the counts of the one kernel:
it repeats much work, or its blocks leave cores idle.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import TYPE_CHECKING

from indexing.graph.extraction import build_kernel_module
from indexing.graph.flattening import flatten
from indexing.graph.nodes import Ref, arrays_of, tree_refs
from indexing.kernels import choose_emitter
from indexing.kernels.ir.types import storage_bytes
from indexing.model.prediction import predict
from indexing.model.work_time import predict_work
from indexing.planning.fusion import plan_fusions

if TYPE_CHECKING:
    from indexing.device.record import Device
    from indexing.graph.nodes import Graph
    from indexing.graph.support import KernelSupport
    from indexing.hlo import Computation

OPERATIONS = 32  # at most, of an element of work, those of its index included


def is_slower_than_its_parts(body: Computation, support: KernelSupport, device: Device) -> bool:
    """Whether a kernel of the whole computation is predicted to take longer than several of its parts."""
    graph = flatten(body)
    refs = (*(r for p in graph.parameters for r in arrays_of(p)), *tree_refs(graph.result))
    least = predict_work(device, _bytes(refs), launches=2).seconds  # no two kernels take less
    if _most_seconds(body, _bytes(refs), device) <= least:
        return False
    whole = _seconds(body, device)
    return whole > least and _seconds_of_parts(graph, support, device) < whole


def _most_seconds(body: Computation, bytes_moved: int, device: Device) -> float:
    """A bound of the kernel's time by its counts: cores without a block take no part in its traffic and its work."""
    chosen = choose_emitter(body, device)
    busy = min(prod(chosen.default_plan(device).grid) / device.cores.count, 1)
    work = chosen.work * OPERATIONS / device.rates.operations
    return predict_work(device, 0).seconds + max(bytes_moved / device.reached_bandwidth, work) / busy


def _seconds_of_parts(graph: Graph, support: KernelSupport, device: Device) -> float:
    """The predicted time of the kernels that planning makes of a graph."""
    parts = plan_fusions(graph, support, device)
    built = (build_kernel_module(part.nodes, part.outputs, graph.nodes).module.build() for part in parts)
    return sum(_seconds(module.entry, device) for module in built)


def _seconds(computation: Computation, device: Device) -> float:
    return float(predict(computation, {}, device).time[0])


def _bytes(refs: Iterable[Ref]) -> int:
    return sum(ref.shape.element_count * storage_bytes(ref.shape.element_type) for ref in refs)
