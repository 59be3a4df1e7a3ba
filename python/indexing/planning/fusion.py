"""Fusion planning: the kernels of a program, chosen among proposals of emitters by predicted time.

Every emitter is asked around every live node, users first, for the nodes that it would take into one kernel. A proposal is
worth the predicted time of the launches and of the memory traffic that it saves, less that of the work that is repeated. The
best are taken first, unless a path leaves their nodes and returns to them; where others took some of a proposal's nodes,
emitters are asked again around the rest of them. Each node that is left, users first, becomes the kernel that the last
emitter, which takes every fusion, lets grow from it.

Constants, iotas, and moves of these have no kernel if all their readers compute them again, nor have views that several
kernels read, nor conversions to wider types, of which these load less without one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from indexing.device.record import Device
from indexing.graph.cycles import is_acyclic
from indexing.graph.extraction import build_kernel_module
from indexing.graph.facts import GraphFacts
from indexing.graph.flattening import flatten
from indexing.graph.nodes import Graph, Node, Ref, Tree, operands_of, tree_refs
from indexing.graph.support import KernelSupport
from indexing.hlo import Computation, Instruction
from indexing.kernels import choose_emitter
from indexing.kernels.emitter import Emitter
from indexing.kernels.emitters import EMITTERS
from indexing.kernels.proposal import PlannedFusion, Proposal, is_view, storage_of
from indexing.model.prediction import predict
from indexing.ops.reduce import REDUCE
from indexing.ops.registry import traits_of
from indexing.planning.horizontal import join_small_kernels
from indexing.walks import reached
from indexing.work import MAX_OPERATIONS, element_work, work_once

Group: TypeAlias = "tuple[Set[Node], tuple[Ref, ...]]"  # nodes that one kernel computes, and the arrays that it writes


@dataclass(eq=False)
class Planner:
    """Plans graphs of one program for a device, by emitters; what it asks of predictions, it asks once.

    `slower` says of kernels of several products, and of those that compute a product's operands, by their content, whether
    kernels of their parts are faster; `faster_apart` of nodes whose elements take a loop whether they are, in a kernel of
    their own; `faster_replaced` of instructions with an expansion whether what an emitter would rather have is faster.
    """

    support: KernelSupport
    device: Device
    emitters: Sequence[Emitter[Any, Any]] = EMITTERS
    replacements: dict[Instruction, Computation | None] = field(default_factory=dict)
    slower: dict[Hashable, bool] = field(default_factory=dict)
    faster_apart: dict[Hashable, bool] = field(default_factory=dict)
    faster_replaced: dict[Hashable, bool] = field(default_factory=dict)

    def plan(self, graph: Graph) -> list[PlannedFusion]:
        """The kernels of a graph, users before their operands; nodes that no kernel can compute are in none."""
        fusions = _FusionPlanner(self, graph)
        fusions.choose_groups()
        return join_small_kernels(fusions.kernels(), fusions.facts, self.device)

    def graph_of(self, computation: Computation, inlined: frozenset[Instruction] = frozenset()) -> Graph:
        """The graph of a computation, in which other instructions take the place of products where an emitter would rather
        have these, unless a kernel of several products holds them as they are.
        """

        def kept(i: Instruction) -> bool:
            return self.support.around(i) or self.support.by_solver(i) or self._is_faster_replaced(i)

        stated = flatten(computation, inlined, is_kept=kept)
        if not any(self._replacement(n.instruction) for n in stated.nodes):
            return stated
        joined = _FusionPlanner(self, stated).joined_products()
        return flatten(computation, inlined, lambda i: None if i in joined else self._replacement(i), kept)

    def _replacement(self, instruction: Instruction) -> Computation | None:
        """The computation that the emitter of an instruction, by itself, would rather have; None if it takes it as it is."""
        op = traits_of(instruction)
        is_asked = op.by_rows or (op.reads_many and op.expansion is None)
        if not is_asked or self.support.in_library(instruction):
            return None  # of one element each, no other instructions are faster
        if instruction not in self.replacements:
            operands = tuple(Node(o, ()) for o in instruction.operands)
            node = Node(instruction, tuple(o.tree for o in operands))
            facts = GraphFacts(Graph(instruction.computation, operands, (*operands, node), node.arrays), lambda _: True)
            proposals = (emitter.group(facts, node, self.device) for emitter in self.emitters[:-1])
            self.replacements[instruction] = next((p.replacement for p in proposals if p is not None), None)
        return self.replacements[instruction]

    def _is_faster_replaced(self, i: Instruction) -> bool:
        """Whether the computation that an emitter would rather have is predicted to take less time than the op's expansion."""
        op = traits_of(i)
        expansion = op.expansion(i) if op.by_rows and op.expansion is not None else None
        if expansion is None:
            return False
        key = i.module, i.signature
        if key not in self.faster_replaced:
            other = self._replacement(i)
            is_faster = other is not None and self._seconds_of_kernels(other) < self._seconds_of_kernels(expansion)
            self.faster_replaced[key] = is_faster
        return self.faster_replaced[key]

    def _seconds_of_kernels(self, computation: Computation) -> float:
        """The predicted time of the kernels of a computation, each after another; infinite if none computes a node by rows."""
        graph = self.graph_of(computation)
        parts = self.plan(graph)
        inside = {node for part in parts for node in part.nodes}
        if any(node.op.by_rows and node not in inside for node in graph.nodes):
            return float("inf")
        seconds: dict[Hashable, float] = {}  # of equal kernels
        total = 0.0
        for part in parts:
            built = build_kernel_module(part.nodes, part.outputs, graph).module
            if built.content not in seconds:
                seconds[built.content] = seconds_of_kernel(built.build().entry, self.device)
            total += seconds[built.content] - self.device.first_launch_seconds
        return total

    def are_faster(self, graph: Graph, whole: Computation) -> bool:
        """Whether several kernels of a graph are predicted to take less time than one of `whole`, which computes the same.

        Their launches alone may tell.
        """
        parts = self.plan(graph)
        if len(parts) == 1:
            return False
        left = seconds_of_kernel(whole, self.device) - len(parts) * self.device.launch_seconds
        for part in parts:
            if left <= 0:
                break
            built = build_kernel_module(part.nodes, part.outputs, graph).module.build()
            left -= seconds_of_kernel(built.entry, self.device) - self.device.launch_seconds
        return left > 0

    def is_faster_apart(self, node: Node, proposal: Proposal, graph: Graph) -> bool:
        """Whether a kernel that computes elements one by one is predicted to take longer than one of the node, whose elements
        take a loop, and the traffic of the rest.
        """
        built = build_kernel_module(proposal.nodes, proposal.outputs, graph)
        key = built.module.content, node.instruction.signature
        if key not in self.faster_apart:
            entry = built.module.build().entry
            by_elements = choose_emitter(entry, self.device).emitter.by_elements
            self.faster_apart[key] = by_elements and self._saves(node, entry, built.inputs, proposal, graph)
        return self.faster_apart[key]

    def _saves(self, node: Node, entry: Computation, inputs: Sequence[Ref], proposal: Proposal, graph: Graph) -> bool:
        alone = build_kernel_module({node}, node.arrays, graph).module.build().entry
        whole = predict(entry, {}, self.device)
        arrays = sum(map(storage_of, (*inputs, *proposal.outputs)))
        # Of arrays that are updated in place, less moves.
        moved = min(arrays, float(whole.memory_bytes[0])) + sum(map(storage_of, node.arrays))
        rest = self.device.launch_seconds + moved / self.device.reached_bandwidth
        return bool(whole.time[0] > seconds_of_kernel(alone, self.device) + rest)

    def is_slower(self, joined: Group, graph: Graph) -> bool:
        """Whether a kernel of several products is predicted to take longer than those that other emitters make of it."""
        built = build_kernel_module(*joined, graph).module
        if built.content not in self.slower:
            entry = built.build().entry
            others = Planner(self.support, self.device, [e for e in self.emitters if not e.joins_products])
            self.slower[built.content] = others.are_faster(others.graph_of(entry), entry)
        return self.slower[built.content]

    def is_slower_joined(self, joined: Group, parts: Sequence[Group], graph: Graph) -> bool:
        """Whether one kernel is predicted to take longer than several ones, which compute the same."""
        modules = [build_kernel_module(nodes, outputs, graph).module for nodes, outputs in (joined, *parts)]
        key = tuple(m.content for m in modules)
        if key not in self.slower:
            whole, *each = (seconds_of_kernel(m.build().entry, self.device) for m in modules)
            self.slower[key] = whole > sum(each)
        return self.slower[key]


def seconds_of_kernel(computation: Computation, device: Device) -> float:
    """The predicted time of the kernel of a computation."""
    return float(predict(computation, {}, device).time[0])


class _FusionPlanner:
    """The state of the planning of one graph."""

    def __init__(self, planner: Planner, graph: Graph) -> None:
        self.planner, self.graph, self.device, support = planner, graph, planner.device, planner.support
        self.facts = GraphFacts(graph, support.instruction, support.in_library, support.around)
        self.group_of: dict[Node, Proposal] = {}
        self.kernel_of: dict[Node, PlannedFusion] = {}
        self.recomputed: set[Node] = set()  # by each kernel that reads them

    # ------------------------------------------------------------ groups

    def choose_groups(self) -> None:
        """Take the best groups, and ask again around nodes of those that lost some to better ones."""
        facts, seeds = self.facts, self._seeds()
        while seeds:
            lost: set[Node] = set()
            for group in self._proposed(seeds):
                if not facts.taken.isdisjoint(group.nodes):
                    lost |= group.nodes
                elif is_acyclic(facts, group.nodes, {ref.node for ref in group.outputs}):
                    self.group_of.update(dict.fromkeys(group.nodes, group))
                    facts.take(group.nodes, group.outputs, group.may_grow)
            seeds = [n for n in seeds if n in lost and n not in facts.taken]

    def _seeds(self) -> list[Node]:
        """The nodes that need a kernel, users before their operands."""
        return [n for n in reversed(self.graph.nodes) if n in self.facts.live and self.facts.needs_kernel(n)]

    def _proposed(self, seeds: Iterable[Node]) -> list[Proposal]:
        """The groups that emitters propose around the seeds and that save time, the best first."""
        closed: list[tuple[float, Proposal]] = []
        for emitter in self.planner.emitters[:-1]:
            for proposal in self._proposed_by(emitter, seeds):
                if proposal.is_open:
                    self.facts.coalesced.add(proposal.root)
                    if proposal.copies_operands:
                        self.facts.copying.add(proposal.root)
                elif (saved := proposal.seconds_saved(self.device)) > 0:
                    closed.append((saved, proposal))
        return [proposal for _, proposal in sorted(closed, key=lambda pair: -pair[0])]

    def _proposed_by(self, emitter: Emitter[Any, Any], seeds: Iterable[Node]) -> Iterator[Proposal]:
        """The groups that an emitter proposes, but those of several products whose parts are faster."""
        for seed in seeds:
            proposal = emitter.group(self.facts, seed, self.device)
            if proposal is not None and not (emitter.joins_products and self._is_slower(proposal)):
                yield proposal

    def _is_slower(self, proposal: Proposal) -> bool:
        return self.planner.is_slower((self._with_recomputed(proposal.nodes), proposal.outputs), self.graph)

    def joined_products(self) -> frozenset[Instruction]:
        """The instructions of all kernels of several products that are not slower than those of their parts."""
        joining = (e for e in self.planner.emitters if e.joins_products)
        kept = (p for e in joining for p in self._proposed_by(e, self._seeds()))
        return frozenset(node.instruction for p in kept for node in p.nodes)

    # ------------------------------------------------------------ kernels

    def kernels(self) -> list[PlannedFusion]:
        """Kernels of the groups, and of all other nodes."""
        fusions: list[PlannedFusion] = []
        for node in self._seeds():
            group = self.group_of.get(node)
            if group is not None and group.root is node:
                self.recomputed |= group.recomputed
                fusions.append(self._kernel(self._grown(node) if group.may_grow else group))
            if node in self.kernel_of or group is not None:
                continue
            if self._is_recomputed(node):
                self.recomputed.add(node)
                if self._is_assembled_into(node):
                    fusions.append(self._kernel(Proposal(node, {node}, node.arrays)))
            else:
                fusions.append(self._kernel(self._grown(node)))
        for kernel in fusions:
            self._add_recomputed(kernel)
        return fusions

    def _kernel(self, proposal: Proposal) -> PlannedFusion:
        kernel = PlannedFusion(proposal.root, set(proposal.nodes), proposal.outputs)
        self.kernel_of.update(dict.fromkeys(proposal.nodes, kernel))
        self.facts.take(proposal.nodes, proposal.outputs)
        return kernel

    def _grown(self, node: Node) -> Proposal:
        """The kernel that grows from a node, without loops that are faster in a kernel of their own."""
        proposal = self.planner.emitters[-1].group(self.facts, node, self.device)
        assert proposal is not None, "the last emitter takes every fusion"
        joined = proposal.nodes - self.facts.groups.get(node, {node})
        looped = (n for n in joined if self.facts.needs_loop(n) and self._is_long(n))
        apart = {n for n in looped if self.planner.is_faster_apart(n, proposal, self.graph)}
        apart |= self._faster_operands(proposal)
        if not apart:
            return proposal
        self.facts.apart |= apart
        return self._grown(node)

    def _faster_operands(self, proposal: Proposal) -> set[Node]:
        """The nodes that a product computes while it copies its operands, where kernels of their own are faster."""
        apart: set[Node] = set()
        for hero in proposal.nodes & self.facts.copying:
            for operand in hero.operands:
                computed = _computed(operand, proposal.nodes)
                if computed and self._is_faster_before(computed, proposal):
                    apart |= computed
        return apart

    def _is_faster_before(self, computed: Set[Node], proposal: Proposal) -> bool:
        """Whether a kernel of these nodes, and what they are computed from, and one of the rest are faster than one of all."""
        before = _all_before(computed, proposal.nodes)
        rest = proposal.nodes - before
        read = dict.fromkeys(ref for n in rest for ref in n.refs if ref.node in before)
        joined, *parts = (
            (self._with_recomputed(nodes), outputs)
            for nodes, outputs in ((proposal.nodes, proposal.outputs), (rest, proposal.outputs), (before, tuple(read)))
        )
        return self.planner.is_slower_joined(joined, parts, self.graph)

    def _with_recomputed(self, nodes: Set[Node]) -> set[Node]:
        """The nodes, and those that each kernel of them computes anew."""
        return set(nodes) | _all_before(nodes, self.facts.rematerializable)

    def _is_long(self, node: Node) -> bool:
        """Whether the loops of a node's elements may take longer than a launch: all of them together, or one in its thread."""
        device, i = self.device, node.instruction
        together = work_once(i) * MAX_OPERATIONS / device.rates.operations
        return max(together, element_work(i) * device.memory.l1_latency) > device.launch_seconds

    def _is_recomputed(self, node: Node) -> bool:
        """Whether each reader computes the node: it is rematerializable, or a view that several kernels read."""
        readers = self.facts.users_of(node)
        if node in self.facts.result_nodes:
            return False
        if node in self.facts.rematerializable:
            return all(u in self.kernel_of or u in self.recomputed or is_host_step(self.facts, u) for u in readers)
        if not all(u in self.kernel_of or u in self.recomputed for u in readers):
            return False
        return len({id(self.kernel_of.get(u)) for u in readers}) > 1 and (is_view(node) or self._is_widened(node))

    def _is_widened(self, node: Node) -> bool:
        """Whether the node converts elements to a wider type for readers that take them one by one: they load less alone."""
        is_cheap = node.op.is_elementwise and not node.op.is_expensive and len(node.refs) == 1
        if not is_cheap or storage_of(node.refs[0]) >= storage_of(node.arrays[0]):
            return False
        return all(map(_takes_elements, self.facts.users_of(node)))

    def _is_assembled_into(self, node: Node) -> bool:
        """Whether a user assembles its result in the node's memory."""
        operands = (operand for user in self.facts.users_of(node) for operand in operands_of(user))
        return any(ref.node is node for operand, is_assembled in operands if is_assembled for ref in tree_refs(operand))

    def _add_recomputed(self, kernel: PlannedFusion) -> None:
        def recomputed(node: Node) -> Iterator[Node]:
            read = (operand for operand, is_assembled in operands_of(node) if not is_assembled)
            return (ref.node for operand in read for ref in tree_refs(operand) if ref.node in self.recomputed)

        kernel.nodes.update(reached(kernel.nodes, recomputed))


def _computed(operand: Tree, nodes: Set[Node]) -> set[Node]:
    """The nearest nodes that compute an operand, of these nodes, behind those that move it."""

    def moved(node: Node) -> list[Node]:
        return [ref.node for ref in node.refs] if node in nodes and node.op.has_no_compute else []

    behind = reached((ref.node for ref in tree_refs(operand)), moved)
    return {node for node in behind if node in nodes and not node.op.has_no_compute}


def _takes_elements(node: Node) -> bool:
    """Whether a node moves, reads at indices, computes or reduces elements, each by itself."""
    reads_at_indices = bool(node.op.index_vectors) and not node.op.is_scatter_like
    return node.op.is_elementwise or node.op.has_no_compute or reads_at_indices or node.op is REDUCE


def _all_before(last: Set[Node], nodes: Set[Node]) -> set[Node]:
    """`last`, and those of the nodes on which they depend."""
    return set(reached(last, lambda node: (ref.node for ref in node.refs if ref.node in nodes)))


def is_host_step(facts: GraphFacts, node: Node) -> bool:
    """Whether the host computes the node: it is no fusion and no control flow, and neither a kernel nor a library can."""
    op = node.op
    is_on_device = facts.needs_kernel(node) or facts.in_library(node.instruction)
    return not (is_on_device or op.is_source or op.runs_computations or node.instruction.is_fusion)
