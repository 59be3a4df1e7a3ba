"""Fusions that a program states: whether one kernel of them is slower than the kernels that planning makes of their parts."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import TYPE_CHECKING

from indexing.graph.extraction import build_kernel_module
from indexing.graph.flattening import flatten
from indexing.graph.nodes import Graph, Ref, arrays_of, tree_refs
from indexing.kernels import choose_emitter
from indexing.kernels.ir.types import storage_bytes
from indexing.model.work_time import predict_work
from indexing.planning.fusion import PlannedFusion, plan_fusions

if TYPE_CHECKING:
    from indexing.device.record import Device
    from indexing.graph.support import KernelSupport
    from indexing.hlo import Computation

BUSY_BLOCKS = 64  # keep even a large device busy; smaller ones have a block for each core


def is_slower_than_its_parts(body: Computation, support: KernelSupport, device: Device) -> bool:
    """Whether a kernel with few blocks is predicted to take longer than several that keep the device busy."""
    blocks = _blocks(body, device)
    if blocks >= _busy_blocks(device):
        return False
    graph = flatten(body)
    refs = (*(r for p in graph.parameters for r in arrays_of(p)), *tree_refs(graph.result))
    whole = _seconds(refs, blocks, device)
    if whole <= 2 * _seconds(refs, BUSY_BLOCKS, device):
        return False  # no two kernels take less
    parts = plan_fusions(graph, support, device)
    return len(parts) > 1 and sum(_seconds_of_part(f, graph, device) for f in parts) < whole


def _seconds_of_part(fusion: PlannedFusion, graph: Graph, device: Device) -> float:
    built = build_kernel_module(fusion.nodes, fusion.outputs, graph.nodes)
    return _seconds((*fusion.outputs, *built.inputs), _blocks(built.module.build().entry, device), device)


def _blocks(body: Computation, device: Device) -> int:
    return prod(choose_emitter(body, device).default_plan(device).grid)


def _seconds(refs: Iterable[Ref], blocks: int, device: Device) -> float:
    """The predicted time of a kernel of so many blocks that reads and writes these arrays."""
    busy = _busy_blocks(device)
    return predict_work(device, _bytes(refs) * busy / min(blocks, busy)).seconds


def _busy_blocks(device: Device) -> int:
    return min(device.cores.count, BUSY_BLOCKS)


def _bytes(refs: Iterable[Ref]) -> int:
    return sum(ref.shape.element_count * storage_bytes(ref.shape.element_type) for ref in refs)
