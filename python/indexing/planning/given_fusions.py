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

MAX_BLOCK_ELEMENTS = 1 << 16  # a block reads these in about the time that launching further kernels takes
BUSY_BLOCKS = 64  # with fewer, much of the machine is idle; the same on all devices of a dialect


def is_slower_than_its_parts(body: Computation, support: KernelSupport, device: Device) -> bool:
    """Whether a kernel with few blocks is predicted to take longer than several that keep the device busy."""
    blocks = _blocks(body, device)
    if blocks >= BUSY_BLOCKS:
        return False
    graph = flatten(body)
    refs = (*(r for p in graph.parameters for r in arrays_of(p)), *tree_refs(graph.result))
    whole = _seconds(refs, blocks, device)
    if max(ref.shape.element_count for ref in refs) <= MAX_BLOCK_ELEMENTS * blocks or whole <= 2 * _seconds(
        refs, BUSY_BLOCKS, device
    ):
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
    return predict_work(device, _bytes(refs) * BUSY_BLOCKS / min(blocks, BUSY_BLOCKS)).seconds


def _bytes(refs: Iterable[Ref]) -> int:
    return sum(ref.shape.element_count * storage_bytes(ref.shape.element_type) for ref in refs)
