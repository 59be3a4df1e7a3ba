"""Planning of a module's steps: its kernels, their order, and the arrays that they read and write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from time import perf_counter
from typing import TYPE_CHECKING

from indexing.device.table import portable_device
from indexing.executable.graph import Node, Ref, Tree, arrays_of, needed_nodes, tree_refs
from indexing.executable.memory import OwnedArray, Pool
from indexing.executable.program import KnobChoice, PlannedComputation, PlannedKernel, plan_program
from indexing.executable.replay import record_tapes
from indexing.executable.steps import (
    CallStep,
    ConditionalStep,
    KernelStep,
    Plan,
    ReferenceStep,
    SlotTree,
    Step,
    WhileStep,
    mark_last_uses,
)
from indexing.ops.values import only_array
from indexing.reference.interpreter import check_has_value
from indexing.runtime.tape import ReplayingDevice

if TYPE_CHECKING:
    from indexing.emitters.kernel import Kernel
    from indexing.hlo import Computation, Instruction, Shape
    from indexing.runtime.device import Device, Launch


class Planner:
    """Plans the computations of one module for one device; equal kernels are compiled once."""

    def __init__(self, device: Device, pool: Pool) -> None:
        """Start without plans."""
        self.device = device
        self.pool = pool
        self.kernels: list[Kernel] = []
        self.reference_steps: list[Instruction] = []
        self._plans: dict[Computation, Plan] = {}
        self.compile_seconds: list[float] = []  # of each kernel
        self._prepare_seconds = 0.0  # each kernel's share of compiling them together
        self._launches: dict[Computation, Launch] = {}

    def plan(self, entry: Computation, choose: KnobChoice) -> Plan:
        """The plan of a computation, with kernels of the knobs that `choose` gives.

        Computations that its control flow runs are planned first.
        """
        program = plan_program(entry, portable_device(self.device.dialect), choose)
        self._prepare([launch.kernel for planned in program.values() for launch in planned.kernels.values()])
        for computation, planned in program.items():
            self._plans[computation] = _Scheduler(self, planned).plan()
        plan = self._plans[entry]
        if isinstance(self.device, ReplayingDevice):
            record_tapes(plan, self.device)
        return plan

    def _prepare(self, kernels: Sequence[Kernel]) -> None:
        """Compile the kernels together if the device can; the time is shared out equally."""
        if isinstance(self.device, ReplayingDevice):
            start = perf_counter()
            distinct = list({id(kernel): kernel for kernel in kernels}.values())
            self.device.prepare(distinct)
            self._prepare_seconds = (perf_counter() - start) / max(len(distinct), 1)

    def plan_of(self, computation: Computation) -> Plan:
        """The plan of a computation that control flow runs."""
        return self._plans[computation]

    def launch_of(self, planned: PlannedKernel) -> Launch:
        """The kernel, ready to be launched."""
        if planned.computation not in self._launches:
            start = perf_counter()
            self._launches[planned.computation] = self.device.load(planned.kernel)
            self.kernels.append(planned.kernel)
            self.compile_seconds.append(perf_counter() - start + self._prepare_seconds)
        return self._launches[planned.computation]


@dataclass(slots=True)
class _Slots:
    """Numbers the arrays."""

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
    """Turns one graph into steps."""

    def __init__(self, planner: Planner, planned: PlannedComputation) -> None:
        self.planner = planner
        self.planned = planned
        self.graph = planned.graph
        self.slots = _Slots()
        self.constants: dict[int, OwnedArray] = {}
        self.is_needed = needed_nodes(planned.graph)

    def plan(self) -> Plan:
        parameters = self.slots.of_all(tuple(map(arrays_of, self.graph.parameters)))
        steps = [step for node in self.graph.nodes if (step := self._step(node)) is not None]
        written = {*parameters, *self.constants, *(slot for step in steps for slot in step.outputs)}
        assert all(slot in written for step in steps for slot in step.reads()), "no step writes an array that one reads"
        steps = _in_order(steps)
        results = self.slots.of_all(self.graph.result)
        mark_last_uses(steps, set(results))
        shapes = {slot: ref.shape for ref, slot in self.slots.numbers.items()}
        return Plan(parameters, tuple(steps), results, self.constants, shapes)

    def _step(self, node: Node) -> Step | None:
        if node not in self.is_needed:
            return None
        if node in self.planned.kernels:
            return self._kernel_step(node, self.planned.kernels[node])
        instruction, calls = node.instruction, node.op.calls
        if instruction.is_parameter or node in self.planned.inside:
            return None
        if instruction.is_constant:
            self._constant(node)
            return None
        if calls == "inlined":
            body = self.planner.plan_of(instruction.called[0])
            return CallStep(self.slots.of_all(node.operands), *self._outputs(node), body)
        if calls == "loops":
            return self._while_step(node)
        if calls == "branches":
            return self._conditional_step(node)
        return self._reference_step(node)

    def _kernel_step(self, node: Node, planned: PlannedKernel) -> KernelStep:
        kernel, launch = planned.kernel, self.planner.launch_of(planned)
        operands = tuple(self.slots.of(ref) for ref in planned.inputs)
        expected = {a.number: a for a in kernel.inputs}
        shapes = tuple(
            _with_layout(ref.shape, expected[k].layout) if k in expected else ref.shape
            for k, ref in enumerate(planned.inputs)
        )
        outputs = self.slots.of_all(planned.outputs), tuple(ref.shape for ref in planned.outputs)
        return KernelStep(operands, *outputs, kernel, launch, shapes)

    def _while_step(self, node: Node) -> WhileStep:
        condition, body = (node.instruction.computation_of(key) for key in ("condition", "body"))
        count = self.planned.trip_counts.get(node)
        asked = self.planner.plan_of(condition) if count is None else count
        return WhileStep(self.slots.of_all(node.operands), *self._outputs(node), asked, self.planner.plan_of(body))

    def _conditional_step(self, node: Node) -> ConditionalStep:
        selector, *operands = node.operands
        assert isinstance(selector, Ref)
        branches = tuple(self.planner.plan_of(c) for c in node.instruction.called)
        slots = tuple(self.slots.of_all(o) for o in operands)
        return ConditionalStep(self.slots.of(selector), selector.shape, branches, slots, *self._outputs(node))

    def _reference_step(self, node: Node) -> ReferenceStep:
        check_has_value(node.instruction)
        self.planner.reference_steps.append(node.instruction)
        outputs = tuple(self.slots.of(Ref(node, k)) for k in range(len(node.instruction.shape.leaves)))
        return ReferenceStep(node.instruction, tuple(self.slots.tree(o) for o in node.operands), outputs)

    def _constant(self, node: Node) -> None:
        ref = Ref(node)
        held = OwnedArray(ref.shape, self.planner.pool, array=only_array(node.instruction.literal))
        held.on_device().borrowed = True
        self.constants[self.slots.of(ref)] = held

    def _outputs(self, node: Node) -> tuple[tuple[int, ...], tuple[Shape, ...]]:
        refs = arrays_of(node)
        return self.slots.of_all(refs), tuple(ref.shape for ref in refs)


def _in_order(steps: Sequence[Step]) -> list[Step]:
    """The steps in topological order; in graph order, a kernel of several results may stand behind readers of the first."""
    writer = {slot: k for k, step in enumerate(steps) for slot in step.outputs if slot is not None}
    readers: list[list[int]] = [[] for _ in steps]
    missing = [0] * len(steps)
    for k, step in enumerate(steps):
        for slot in {*step.reads()} & writer.keys():
            readers[writer[slot]].append(k)
            missing[k] += 1
    ready = [k for k, count in enumerate(missing) if not count]
    order = []
    while ready:
        k = heappop(ready)
        order.append(steps[k])
        for reader in readers[k]:
            missing[reader] -= 1
            if not missing[reader]:
                heappush(ready, reader)
    assert len(order) == len(steps), "kernels read each other's results"
    return order


def _with_layout(shape: Shape, layout: tuple[int, ...] | None) -> Shape:
    return replace(shape, layout=layout, layout_text="")
