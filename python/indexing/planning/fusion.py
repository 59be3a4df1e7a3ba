"""Fusion planning: the kernels of a program, chosen among proposals of emitters by predicted time.

Every emitter is asked around every live node, users first, for the nodes that it would take into one kernel. A proposal is
worth the predicted time of the launches and of the memory traffic that it saves, less that of the work that is repeated. The
best are taken first, unless a path leaves their nodes and returns to them; where others took some of a proposal's nodes,
emitters are asked again around the rest of them. Each node that is left, users first, becomes the kernel that the last
emitter, which takes every fusion, lets grow from it.

Constants, iotas, and moves of these have no kernel if all their readers compute them again, nor have views that several
kernels read.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from indexing.graph.cycles import is_acyclic
from indexing.graph.extraction import build_kernel_module
from indexing.graph.facts import GraphFacts
from indexing.graph.flattening import flatten
from indexing.graph.nodes import Graph, Node, Ref, arrays_of, operands_of, tree_of, tree_refs
from indexing.kernels.emitters import EMITTERS
from indexing.kernels.proposal import Proposal, is_view
from indexing.model.prediction import predict
from indexing.ops.registry import traits_of

if TYPE_CHECKING:
    from indexing.device.record import Device
    from indexing.graph.support import KernelSupport
    from indexing.hlo import Computation, Instruction
    from indexing.kernels.emitter import Emitter


@dataclass(slots=True, eq=False)
class PlannedFusion:
    """Nodes that become one kernel, which computes `outputs`; `root` is the last of its nodes."""

    root: Node
    nodes: set[Node]
    outputs: tuple[Ref, ...]


def plan_fusions(
    graph: Graph, support: KernelSupport, device: Device, emitters: Sequence[Emitter[Any, Any]] = EMITTERS
) -> list[PlannedFusion]:
    """The kernels of a graph, users before their operands; nodes that no kernel can compute are in none."""
    planner = _planner(graph, support, device, emitters)
    planner.choose_groups()
    return planner.kernels()


def joined_products(
    graph: Graph, support: KernelSupport, device: Device, emitters: Sequence[Emitter[Any, Any]] = EMITTERS
) -> frozenset[Instruction]:
    """The instructions of kernels that hold several products, which have to stay as they are in the graph."""
    return _planner(graph, support, device, emitters).joined_products()


def _planner(
    graph: Graph, support: KernelSupport, device: Device, emitters: Sequence[Emitter[Any, Any]]
) -> _FusionPlanner:
    return _FusionPlanner(support, GraphFacts(graph, support.instruction, support.in_library), device, emitters)


def replacement_of(
    instruction: Instruction, device: Device, emitters: Sequence[Emitter[Any, Any]] = EMITTERS
) -> Computation | None:
    """The computation that the emitter of an instruction, by itself, would rather have; None if it takes it as it is."""
    if not traits_of(instruction).reads_many:
        return None  # one element each: no other instructions compute it faster
    operands = tuple(Node(o, ()) for o in instruction.operands)
    node = Node(instruction, tuple(map(tree_of, operands)))
    facts = GraphFacts(Graph(instruction.computation, operands, (*operands, node), arrays_of(node)), lambda _: True)
    proposals = (emitter.group(facts, node, device) for emitter in emitters[:-1])
    return next((p.replacement for p in proposals if p is not None), None)


def seconds_of_parts(
    graph: Graph, support: KernelSupport, device: Device, emitters: Sequence[Emitter[Any, Any]] = EMITTERS
) -> float:
    """The predicted time of the kernels that planning makes of a graph."""
    parts = plan_fusions(graph, support, device, emitters)
    built = (build_kernel_module(part.nodes, part.outputs, graph).module.build() for part in parts)
    return sum(seconds_of_kernel(module.entry, device) for module in built)


def seconds_of_kernel(computation: Computation, device: Device) -> float:
    """The predicted time of the kernel of a computation."""
    return float(predict(computation, {}, device).time[0])


@dataclass
class _FusionPlanner:
    """The state of the planning of one graph."""

    support: KernelSupport
    facts: GraphFacts
    device: Device
    emitters: Sequence[Emitter[Any, Any]]
    group_of: dict[Node, Proposal] = field(default_factory=dict)
    kernel_of: dict[Node, PlannedFusion] = field(default_factory=dict)
    recomputed: set[Node] = field(default_factory=set)  # by each kernel that reads them
    slower: dict[Hashable, bool] = field(default_factory=dict)  # by content: whether kernels of parts are faster

    # ------------------------------------------------------------ groups

    def choose_groups(self) -> None:
        """Take the best groups, and ask again around nodes of those that lost some to better ones."""
        facts = self.facts
        seeds = [n for n in reversed(facts.graph.nodes) if n in facts.live and facts.can_compute(n)]
        while seeds:
            lost: set[Node] = set()
            for group in self._proposed(seeds):
                if not facts.taken.isdisjoint(group.nodes):
                    lost |= group.nodes
                elif is_acyclic(facts, group.nodes, {ref.node for ref in group.outputs}):
                    self.group_of.update(dict.fromkeys(group.nodes, group))
                    facts.take(group.nodes, group.outputs)
            seeds = [n for n in seeds if n in lost and n not in facts.taken]

    def _proposed(self, seeds: Iterable[Node]) -> list[Proposal]:
        """The groups that emitters propose around the seeds and that save time, the best first."""
        closed: list[tuple[float, Proposal]] = []
        for emitter in self.emitters[:-1]:
            for seed in seeds:
                proposal = emitter.group(self.facts, seed, self.device)
                if proposal is None:
                    continue
                if proposal.is_open:
                    self.facts.coalesced.add(seed)
                elif (saved := proposal.seconds_saved(self.device)) > 0 and not self._is_slower(proposal, emitter):
                    closed.append((saved, proposal))
        return [proposal for _, proposal in sorted(closed, key=lambda pair: -pair[0])]

    def joined_products(self) -> frozenset[Instruction]:
        """The instructions of all kernels of several products that are not slower than those of their parts."""
        seeds = [n for n in self.facts.graph.nodes if n in self.facts.live and self.facts.can_compute(n)]
        pairs = ((e, e.group(self.facts, n, self.device)) for e in self.emitters if e.joins_products for n in seeds)
        kept = (p for e, p in pairs if p is not None and not self._is_slower(p, e))
        return frozenset(node.instruction for p in kept for node in p.nodes)

    def _is_slower(self, proposal: Proposal, emitter: Emitter[Any, Any]) -> bool:
        """Whether a kernel of several products is predicted to take longer than those that other emitters make of it."""
        if not emitter.joins_products:
            return False
        built = build_kernel_module(proposal.nodes, proposal.outputs, self.facts.graph).module
        if built.content not in self.slower:
            entry = built.build().entry
            others = [e for e in self.emitters if e is not emitter]
            graph = flatten(entry, split=lambda i: replacement_of(i, self.device))
            parts = seconds_of_parts(graph, self.support, self.device, others)
            self.slower[built.content] = parts < seconds_of_kernel(entry, self.device)
        return self.slower[built.content]

    # ------------------------------------------------------------ kernels

    def kernels(self) -> list[PlannedFusion]:
        """Kernels of the groups, and of all other nodes."""
        fusions: list[PlannedFusion] = []
        for node in reversed(self.facts.graph.nodes):
            if node not in self.facts.live or not self.facts.can_compute(node):
                continue
            group = self.group_of.get(node)
            if group is not None and group.root is node:
                self.recomputed |= group.recomputed
                fusions.append(self._kernel(self._grown(node) if group.may_grow else group))
            if node in self.kernel_of or group is not None:
                continue
            if self._is_recomputed(node):
                self.recomputed.add(node)
                if self._is_assembled_into(node):
                    fusions.append(self._kernel(Proposal(node, {node}, arrays_of(node))))
            else:
                fusions.append(self._kernel(self._grown(node)))
        for kernel in fusions:
            self._add_recomputed(kernel)
        return fusions

    def _kernel(self, proposal: Proposal) -> PlannedFusion:
        kernel = PlannedFusion(proposal.root, set(proposal.nodes), proposal.outputs)
        self.kernel_of.update(dict.fromkeys(proposal.nodes, kernel))
        if proposal.root not in self.group_of:
            self.facts.take(proposal.nodes, proposal.outputs)
        return kernel

    def _grown(self, node: Node) -> Proposal:
        proposal = self.emitters[-1].group(self.facts, node, self.device)
        assert proposal is not None, "the last emitter takes every fusion"
        return proposal

    def _is_recomputed(self, node: Node) -> bool:
        """Whether each reader computes the node: it is rematerializable, or a view that several kernels read."""
        readers = self.facts.users_of(node)
        if node in self.facts.result_nodes:
            return False
        if node in self.facts.rematerializable:
            return all(u in self.kernel_of or u in self.recomputed or is_host_step(self.facts, u) for u in readers)
        if not all(u in self.kernel_of or u in self.recomputed for u in readers):
            return False
        return is_view(node) and len({id(self.kernel_of.get(u)) for u in readers}) > 1

    def _is_assembled_into(self, node: Node) -> bool:
        """Whether a user assembles its result in the node's memory."""
        operands = (operand for user in self.facts.users_of(node) for operand in operands_of(user))
        return any(ref.node is node for operand, is_assembled in operands if is_assembled for ref in tree_refs(operand))

    def _add_recomputed(self, kernel: PlannedFusion) -> None:
        pending = list(kernel.nodes)
        while pending:
            for operand, is_assembled in operands_of(pending.pop()):
                for ref in () if is_assembled else tree_refs(operand):
                    if ref.node in self.recomputed and ref.node not in kernel.nodes:
                        kernel.nodes.add(ref.node)
                        pending.append(ref.node)


def is_host_step(facts: GraphFacts, node: Node) -> bool:
    """Whether the host computes the node: it is no fusion and no control flow, and neither a kernel nor a library can."""
    op = node.op
    is_on_device = facts.can_compute(node) or facts.in_library(node.instruction)
    return not (is_on_device or op.is_source or op.runs_computations or node.instruction.is_fusion)
