"""From a module to the steps that run it: which kernels, in which order, on which arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from indexing.emitters import emit
from indexing.executable.cluster import Cluster, KernelSupport, clusters
from indexing.executable.graph import Graph, Node, Ref, Tree, flatten, tree_refs
from indexing.executable.kernel_text import module_text
from indexing.executable.memory import Held, Pool
from indexing.executable.steps import (
    CallStep,
    ConditionalStep,
    KernelStep,
    Plan,
    ReferenceStep,
    SlotTree,
    Step,
    WhileStep,
)
from indexing.hlo import parse
from indexing.ops.block import leaves, only_array
from indexing.ops.interpret import check_has_value

if TYPE_CHECKING:
    from indexing.emitters.kernel import Kernel
    from indexing.hlo import Computation, Instruction, Shape
    from indexing.runtime.device import Device, Launch

SHORT = 32  # instructions; chains of so few end soon
MAX_WORK = 1 << 15  # lines of a kernel that a thread runs
CALLERS = frozenset({"call", "conditional", "while"})


class Planner:
    """Plans of the computations of one module, for one device; equal kernels are made once."""

    def __init__(self, device: Device, pool: Pool) -> None:
        """Nothing is planned yet."""
        self.device = device
        self.pool = pool
        self.support = KernelSupport()
        self.kernels: list[Kernel] = []
        self.reference_steps: list[Instruction] = []
        self._plans: dict[Computation, Plan] = {}
        self._by_text: dict[str, tuple[Kernel, Launch]] = {}
        self._by_fusion: dict[Computation, tuple[Kernel, Launch]] = {}
        self._emitted: dict[Computation, Kernel] = {}

    def plan(self, entry: Computation) -> Plan:
        """The plan of a computation; those that its control flow runs are planned before it."""
        graphs: dict[Computation, Graph] = {}
        pending = [entry]
        while pending:
            computation = pending[-1]
            if computation in self._plans:
                pending.pop()
                continue
            if computation not in graphs:
                graphs[computation] = flatten(computation, self._taken_apart(entry))
            missing = [c for n in graphs[computation].nodes if n.opcode in CALLERS for c in n.instruction.called]
            missing = [c for c in missing if c not in self._plans]
            if missing:
                pending.extend(missing)
                continue
            self._plans[computation] = _Scheduler(self, graphs.pop(computation)).plan()
            pending.pop()
        return self._plans[entry]

    def _taken_apart(self, entry: Computation) -> frozenset[Instruction]:
        """Fusions that no kernel can compute whole, or only by doing the same again and again; they are clustered anew."""
        fusions = (
            i for c in entry.module.computations.values() for i in c.instructions.values() if i.opcode == "fusion"
        )
        return frozenset(
            i
            for i in fusions
            if any(o.shape.is_tuple for o in i.operands)
            or not self.support.computation(i.called[0])
            or self._repeats_itself(i.called[0])
        )

    def _repeats_itself(self, body: Computation) -> bool:
        """Whether a chain of functions that each call the one before several times makes the kernel endless."""
        return len(body.instructions) > SHORT and self._kernel_of(body).work > MAX_WORK

    def _kernel_of(self, body: Computation) -> Kernel:
        if body not in self._emitted:
            self._emitted[body] = emit(body, dialect=self.device.dialect)
        return self._emitted[body]

    def plan_of(self, computation: Computation) -> Plan:
        """The plan of a computation that control flow runs."""
        return self._plans[computation]

    def fusion_kernel(self, fusion: Instruction) -> tuple[Kernel, Launch]:
        """The kernel of a fusion of the program."""
        body = fusion.called[0]
        if body not in self._by_fusion:
            self._by_fusion[body] = self._load(self._kernel_of(body))
        return self._by_fusion[body]

    def cluster_kernel(self, text: str) -> tuple[Kernel, Launch]:
        """The kernel of a cluster, given as a module's text."""
        if text not in self._by_text:
            self._by_text[text] = self._load(emit(parse(text).entry, dialect=self.device.dialect))
        return self._by_text[text]

    def _load(self, kernel: Kernel) -> tuple[Kernel, Launch]:
        self.kernels.append(kernel)
        return kernel, self.device.load(kernel)


@dataclass(slots=True)
class _Slots:
    """A number for each array."""

    numbers: dict[Ref, int] = field(default_factory=dict)

    def of(self, ref: Ref) -> int:
        return self.numbers.setdefault(ref, len(self.numbers))

    def of_all(self, tree: Tree) -> tuple[int, ...]:
        return tuple(self.of(ref) for ref in tree_refs(tree))

    def tree(self, tree: Tree) -> SlotTree:
        if isinstance(tree, Ref):
            return self.of(tree)
        return None if tree is None else tuple(self.tree(part) for part in tree)


class _Scheduler:
    """Lays out the steps of one graph."""

    def __init__(self, planner: Planner, graph: Graph) -> None:
        self.planner = planner
        self.graph = graph
        self.slots = _Slots()
        self.clusters = {cluster.root: cluster for cluster in clusters(graph, planner.support)}
        self.inside = {node for cluster in self.clusters.values() for node in cluster.nodes}
        self.constants: dict[int, Held] = {}
        self.is_needed = _needed(graph)

    def plan(self) -> Plan:
        parameters = self.slots.of_all(tuple(_arrays(p) for p in self.graph.parameters))
        shapes = tuple(
            s for p in self.graph.parameters for s in leaves(p.instruction.shape) if s.element_type != "token"
        )
        steps = [step for node in self.graph.nodes if (step := self._step(node)) is not None]
        results = self.slots.of_all(self.graph.result)
        _mark_last_uses(steps, set(results))
        return Plan(parameters, shapes, tuple(steps), results, self.constants)

    def _step(self, node: Node) -> Step | None:
        if node in self.clusters:
            return self._cluster_step(self.clusters[node])
        if node.opcode == "parameter" or node in self.inside or node not in self.is_needed:
            return None
        match node.opcode:
            case "fusion":
                return self._kernel_step(node, *self.planner.fusion_kernel(node.instruction), list(node.refs()))
            case "constant":
                self._constant(node)
                return None
            case "call":
                body = self.planner.plan_of(node.instruction.called[0])
                return CallStep(self.slots.of_all(node.operands), *self._outputs(node), body)
            case "while":
                return self._while_step(node)
            case "conditional":
                return self._conditional_step(node)
        return self._reference_step(node)

    def _cluster_step(self, cluster: Cluster) -> KernelStep:
        text, inputs = module_text(cluster, self.graph.nodes)
        return self._kernel_step(cluster.root, *self.planner.cluster_kernel(text), inputs)

    def _kernel_step(self, node: Node, kernel: Kernel, launch: Launch, inputs: Sequence[Ref]) -> KernelStep:
        operands = tuple(self.slots.of(ref) for ref in inputs)
        expected = {a.number: a for a in kernel.inputs}
        shapes = tuple(
            _with_layout(ref.shape, expected[k].layout) if k in expected else ref.shape for k, ref in enumerate(inputs)
        )
        return KernelStep(operands, *self._outputs(node), kernel, launch, shapes)

    def _while_step(self, node: Node) -> WhileStep:
        condition, body = _condition_and_body(node.instruction)
        plans = self.planner.plan_of(condition), self.planner.plan_of(body)
        return WhileStep(self.slots.of_all(node.operands), *self._outputs(node), *plans)

    def _conditional_step(self, node: Node) -> ConditionalStep:
        selector, *operands = node.operands
        assert isinstance(selector, Ref)
        branches = tuple(self.planner.plan_of(c) for c in _branches(node.instruction))
        slots = tuple(self.slots.of_all(o) for o in operands)
        return ConditionalStep(self.slots.of(selector), branches, slots, *self._outputs(node))

    def _reference_step(self, node: Node) -> ReferenceStep:
        check_has_value(node.instruction)
        self.planner.reference_steps.append(node.instruction)
        outputs = tuple(self.slots.of(Ref(node, k)) for k in range(len(leaves(node.instruction.shape))))
        return ReferenceStep(node.instruction, tuple(self.slots.tree(o) for o in node.operands), outputs)

    def _constant(self, node: Node) -> None:
        ref = Ref(node)
        held = Held(ref.shape, self.planner.pool, array=only_array(node.instruction.literal))
        held.on_device().borrowed = True
        self.constants[self.slots.of(ref)] = held

    def _outputs(self, node: Node) -> tuple[tuple[int, ...], tuple[Shape, ...]]:
        refs = list(tree_refs(_arrays(node)))
        return tuple(map(self.slots.of, refs)), tuple(ref.shape for ref in refs)


def _arrays(node: Node) -> Tree:
    shapes = leaves(node.instruction.shape)
    return tuple(None if s.element_type == "token" else Ref(node, k) for k, s in enumerate(shapes))


def _needed(graph: Graph) -> set[Node]:
    found: set[Node] = set()
    pending = [ref.node for ref in tree_refs(graph.result)]
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending.extend(ref.node for ref in node.refs())
    return found


def _mark_last_uses(steps: Sequence[Step], kept: set[int]) -> None:
    """Tell each step what nothing reads after it, what it computes in vain included."""
    seen = set(kept)
    for step in reversed(steps):
        touched = {*step.reads(), *(slot for slot in step.outputs if slot is not None)}
        step.last_use = frozenset(touched - seen)
        seen |= touched


def _with_layout(shape: Shape, layout: tuple[int, ...] | None) -> Shape:
    return replace(shape, layout=layout, layout_text="")


def _condition_and_body(instruction: Instruction) -> tuple[Computation, Computation]:
    return instruction.computation_of("condition"), instruction.computation_of("body")


def _branches(instruction: Instruction) -> tuple[Computation, ...]:
    if "branch_computations" in instruction.attributes:
        return instruction.called
    return instruction.computation_of("true_computation"), instruction.computation_of("false_computation")
