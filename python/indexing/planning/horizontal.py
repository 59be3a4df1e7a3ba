"""Horizontal fusion: small kernels that do not depend on each other become one.

Each would take little more than its launch. Kernels are joined level by level: those with the longest path of kernels from the
parameters in common do not depend on each other, as conversions of the weights of layers, nor do those with the longest path to
a result in common, as the updates of an optimizer. Joined by levels, kernels close no cycle. On a GPU, results of one kernel
may differ in size, for threads without an element do nothing; where threads are loops, these would be split at each size.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from graphlib import TopologicalSorter
from typing import TypeAlias

from indexing.device.record import Device
from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Graph, Node, Ref, in_place_count
from indexing.kernels.proposal import MAX_ARRAYS, MAX_NODES, PlannedFusion, storage_of
from indexing.kernels.targets import TARGETS
from indexing.work import MAX_OPERATIONS, work_once

#: A kernel, or a node that none computes.
Unit: TypeAlias = "PlannedFusion | Node"
#: A kernel is small if what it moves and computes takes at most this share of its launch, or, where launches are calls of
#: functions, these seconds: a function less is compiled, which takes longer than ten thousand calls of a small one.
SMALL, SMALL_SECONDS = 0.25, 2.5e-7


def join_small_kernels(fusions: Iterable[PlannedFusion], facts: GraphFacts, device: Device) -> list[PlannedFusion]:
    """The kernels of a graph, users before their operands, with small ones that do not depend on each other as one."""
    kernels = list(fusions)
    small = {f for f in kernels if _is_small_loop(f, facts, device)}
    if len(small) > 1:
        for levels in (_levels_from_parameters, _levels_to_results):
            kernels = _joined(kernels, small, levels(_dependences(kernels, facts.graph)), facts, device)
    return kernels


def _is_small_loop(fusion: PlannedFusion, facts: GraphFacts, device: Device) -> bool:
    """Whether a kernel computes few elements, one by one in the order of memory."""
    nodes = fusion.nodes
    if not nodes.isdisjoint(facts.coalesced) or any(_is_apart(n, facts) for n in nodes):
        return False
    computes = any(n.op.kind == "computes" for n in nodes)  # else it may be a view
    moved = sum(map(storage_of, (*_inputs(fusion), *fusion.outputs))) / device.reached_bandwidth
    computed = sum(work_once(n.instruction) for n in nodes) * MAX_OPERATIONS / device.rates.operations
    return computes and max(moved, computed) <= max(SMALL * device.launch_seconds, SMALL_SECONDS)


def _is_apart(node: Node, facts: GraphFacts) -> bool:
    """Whether other kernels than loops over elements compute the node, or its elements take a loop each."""
    if node.op.kind == "computes" and not facts.can_compute(node):
        return True
    return facts.needs_loop(node) or node.op.is_scatter_like or in_place_count(node) > 0


def _count(fusion: PlannedFusion) -> int:
    """The number of elements of a kernel's largest result."""
    return max(ref.shape.element_count for ref in fusion.outputs)


def _inputs(fusion: PlannedFusion) -> set[Ref]:
    """The arrays that a kernel reads."""
    return {ref for n in fusion.nodes for ref in n.refs if ref.node not in fusion.nodes}


# ------------------------------------------------------------ levels


def _dependences(fusions: Sequence[PlannedFusion], graph: Graph) -> dict[Unit, set[Unit]]:
    """The kernels and nodes that each kernel, and each node that is no result of one, reads: operands before users."""
    owner: dict[Node, Unit] = {ref.node: f for f in fusions for ref in f.outputs}
    reads: dict[Unit, set[Unit]] = {f: {owner.get(r.node, r.node) for r in _inputs(f)} for f in fusions}
    reads |= {n: {owner.get(r.node, r.node) for r in n.refs} for n in graph.nodes if n not in owner}
    return {unit: reads[unit] for unit in TopologicalSorter(reads).static_order()}


def _levels_from_parameters(reads: Mapping[Unit, set[Unit]]) -> dict[Unit, int]:
    """The length of the longest path to each kernel."""
    levels: dict[Unit, int] = {}
    for unit, operands in reads.items():
        levels[unit] = max((levels[o] + 1 for o in operands), default=0)
    return levels


def _levels_to_results(reads: Mapping[Unit, set[Unit]]) -> dict[Unit, int]:
    """The length of the longest path from each kernel."""
    levels: dict[Unit, int] = defaultdict(int)
    for unit, operands in reversed([*reads.items()]):
        for operand in operands:
            levels[operand] = max(levels[operand], levels[unit] + 1)
    return levels


# ------------------------------------------------------------ joining


def _joined(
    fusions: Iterable[PlannedFusion],
    small: set[PlannedFusion],
    levels: Mapping[Unit, int],
    facts: GraphFacts,
    device: Device,
) -> list[PlannedFusion]:
    """The kernels, of which small ones on a level are as few as can hold them. Notes that these are small, too."""
    kernels = [f for f in fusions if f not in small]
    by_level: dict[tuple[int, int], list[PlannedFusion]] = defaultdict(list)
    for fusion in sorted(small.intersection(fusions), key=lambda f: (_count(f), -facts.number[f.root])):
        split = 0 if TARGETS[device.dialect].has_threads else _count(fusion)
        by_level[levels[fusion], split].append(fusion)
    for alike in by_level.values():
        joined = [_as_one(members, facts) for members in _packed(alike)]
        small.update(joined)
        kernels += joined
    return sorted(kernels, key=lambda f: -facts.number[f.root])


def _packed(fusions: Sequence[PlannedFusion]) -> Iterator[list[PlannedFusion]]:
    """The kernels in as few runs as one kernel can hold, by its limits of arrays and nodes."""
    run: list[PlannedFusion] = []
    arrays: set[Ref] = set()
    nodes: set[Node] = set()
    for fusion in fusions:
        own = _inputs(fusion).union(fusion.outputs)
        if run and (len(arrays | own) > MAX_ARRAYS or len(nodes | fusion.nodes) > MAX_NODES):
            yield run
            run, arrays, nodes = [], set(), set()
        run.append(fusion)
        arrays |= own
        nodes |= fusion.nodes
    yield run


def _as_one(fusions: Sequence[PlannedFusion], facts: GraphFacts) -> PlannedFusion:
    """One kernel of several; outputs come in the order of the graph."""
    if len(fusions) == 1:
        return fusions[0]
    nodes = {n for f in fusions for n in f.nodes}
    outputs = sorted((ref for f in fusions for ref in f.outputs), key=lambda ref: (facts.number[ref.node], ref.leaf))
    return replace(fusions[0], root=max(nodes, key=facts.number.__getitem__), nodes=nodes, outputs=tuple(outputs))
