"""Scheduling of a program for a device: its kernels, loaded once each, the order of its steps, and the tape that runs them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np

from indexing.executable.recording import Recording
from indexing.executable.schedule import (
    BranchStep,
    CallStep,
    KernelStep,
    LibraryStep,
    LoopStep,
    ReferenceStep,
    Schedule,
    SolverStep,
    Step,
    ViewStep,
    format_of,
    scheduled,
)
from indexing.graph.nodes import Node, Ref, Tree, needed_nodes, tree_refs
from indexing.hlo import Computation, Instruction
from indexing.kernels.kernel import Kernel
from indexing.kernels.products import StridedProduct
from indexing.kernels.solvers import Solver
from indexing.ops.values import leaves_of, only_array
from indexing.planning.libraries import Matmul
from indexing.planning.program import KnobChoice, PlannedComputation, PlannedKernel, plan_program
from indexing.reference.interpreter import check_has_value, evaluate_instruction
from indexing.reference.program_arguments import nested_value
from indexing.runtime.device import Device, Launch, MultiplyingDevice
from indexing.runtime.identity import described
from indexing.runtime.memory import ArrayFormat
from indexing.runtime.tape import ReplayingDevice
from indexing.walks import reached


class Scheduler:
    """Schedules the computations of one program for one device; equal kernels are loaded once."""

    def __init__(self, device: Device) -> None:
        """Start without schedules."""
        self.device = device
        self.kernels: list[Kernel] = []
        self.reference_steps: list[Instruction] = []
        self.library_steps: list[Instruction] = []
        self.solver_steps: list[Instruction] = []
        self._schedules: dict[Computation, Schedule] = {}
        self.compile_seconds: list[float] = []  # of each kernel
        self._prepare_seconds = 0.0  # each kernel's share of compiling them together
        self._launches: dict[Computation, Launch] = {}

    def record(self, entry: Computation, choose: KnobChoice, matmul: Matmul) -> Recording:
        """The tape of a computation, with kernels of the knobs that `choose` gives, and products by what `matmul` says."""
        program = plan_program(entry, described(self.device), choose, matmul)
        self._prepare([launch.kernel for planned in program.values() for launch in planned.kernels.values()])
        for computation, planned in program.items():  # callees first
            self._schedules[computation] = _GraphScheduler(self, planned).schedule()
        return Recording(list(self._schedules.values()), self.device)

    def _prepare(self, kernels: Sequence[Kernel]) -> None:
        """Compile the kernels together if the device can; the time is shared out equally."""
        if isinstance(self.device, ReplayingDevice):
            start = perf_counter()
            distinct = list({id(kernel): kernel for kernel in kernels}.values())
            self.device.prepare(distinct)
            self._prepare_seconds = (perf_counter() - start) / max(len(distinct), 1)

    def schedule_of(self, computation: Computation) -> Schedule:
        """The schedule of a computation that control flow runs."""
        return self._schedules[computation]

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


class _GraphScheduler:
    """Turns one graph into steps."""

    def __init__(self, scheduler: Scheduler, planned: PlannedComputation) -> None:
        self.scheduler = scheduler
        self.planned = planned
        self.graph = planned.graph
        self.slots = _Slots()
        self.constants: dict[int, np.ndarray] = {}
        self.is_needed = needed_nodes(planned.graph)

    def schedule(self) -> Schedule:
        parameters = self.slots.of_all(tuple(p.arrays for p in self.graph.parameters))
        steps = [step for node in self.graph.nodes if (step := self._step(node)) is not None]
        results = self.slots.of_all(self.graph.result)
        formats = {slot: format_of(ref.shape) for ref, slot in self.slots.numbers.items()}
        return scheduled(parameters, steps, results, self.constants, formats)

    def _step(self, node: Node) -> Step | None:
        if node not in self.is_needed:
            return None
        if node in self.planned.kernels:
            return self._kernel_step(node, self.planned.kernels[node])
        if node in self.planned.products:
            return self._library_step(node, self.planned.products[node])
        if node in self.planned.solvers:
            return self._solver_step(node, self.planned.solvers[node])
        if node in self.planned.views:
            return self._view_step(node, self.planned.views[node])
        instruction, calls = node.instruction, node.op.calls
        if instruction.is_parameter or node in self.planned.inside:
            return None
        if instruction.is_constant:
            self._constant(node)
            return None
        if calls == "inlined":
            body = self.scheduler.schedule_of(instruction.called[0])
            return CallStep(self.slots.of_all(node.operands), *self._outputs(node), body)
        if calls == "loops":
            return self._loop_step(node)
        if calls == "branches":
            return self._branch_step(node)
        return self._reference_step(node)

    def _kernel_step(self, node: Node, planned: PlannedKernel) -> KernelStep:
        kernel, launch = planned.kernel, self.scheduler.launch_of(planned)
        operands = tuple(self.slots.of(ref) for ref in planned.inputs)
        layouts = {a.number: a.layout for a in kernel.inputs}
        formats = tuple(
            format_of(replace(ref.shape, layout=layouts[k], layout_text="") if k in layouts else ref.shape)
            for k, ref in enumerate(planned.inputs)
        )
        return KernelStep(operands, *self._slots_of(planned.outputs), kernel, launch, formats)

    def _view_step(self, node: Node, source: Ref) -> ViewStep:
        return ViewStep((self.slots.of(source),), *self._outputs(node), (format_of(source.shape),))

    def _library_step(self, node: Node, product: StridedProduct) -> LibraryStep:
        assert isinstance(self.scheduler.device, MultiplyingDevice), "compile has checked it"
        launch = self.scheduler.device.multiply(product)
        self.scheduler.library_steps.append(node.instruction)
        operands = node.refs
        formats = tuple(format_of(ref.shape) for ref in operands)
        return LibraryStep(tuple(map(self.slots.of, operands)), *self._outputs(node), formats, node.instruction, launch)

    def _solver_step(self, node: Node, solver: Solver) -> SolverStep:
        launch = self.scheduler.device.load(solver)
        self.scheduler.solver_steps.append(node.instruction)
        formats = tuple(format_of(ref.shape) for ref in node.refs)
        sizes = np.array(solver.sizes, np.int64)
        return SolverStep(
            tuple(map(self.slots.of, node.refs)), *self._outputs(node), formats, node.instruction, solver, sizes, launch
        )

    def _loop_step(self, node: Node) -> LoopStep:
        condition, body = (node.instruction.computation_of(key) for key in ("condition", "body"))
        count = self.planned.trip_counts.get(node)
        asked = self.scheduler.schedule_of(condition) if count is None else count
        return LoopStep(self.slots.of_all(node.operands), *self._outputs(node), asked, self.scheduler.schedule_of(body))

    def _branch_step(self, node: Node) -> BranchStep:
        selector, *operands = node.operands
        assert isinstance(selector, Ref)
        branches = tuple(self.scheduler.schedule_of(c) for c in node.instruction.called)
        slots = tuple(self.slots.of_all(o) for o in operands)
        is_by_predicate = selector.shape.element_type == "pred"
        read = (self.slots.of(selector), *(slot for branch in slots for slot in branch))
        return BranchStep(read, *self._outputs(node), branches, slots, is_by_predicate)

    def _reference_step(self, node: Node) -> ReferenceStep:
        check_has_value(node.instruction)
        self.scheduler.reference_steps.append(node.instruction)
        nodes = self._on_host_for(node)
        read = tuple(dict.fromkeys(ref for n in nodes for ref in n.refs if ref.node not in nodes))
        operands, (outputs, formats) = tuple(map(self.slots.of, read)), self._outputs(node)
        return ReferenceStep(operands, outputs, formats, node.instruction, _computed(nodes, read))

    def _on_host_for(self, node: Node) -> list[Node]:
        """The nodes that a step of the host computes to have this one, operands first."""
        on_host = self.planned.on_host
        members = reached([node], lambda reader: (ref.node for ref in reader.refs if ref.node in on_host))
        return sorted(members, key=self.graph.number.__getitem__)

    def _constant(self, node: Node) -> None:
        for ref, value in zip(node.arrays, leaves_of(node.instruction.literal), strict=True):
            self.constants[self.slots.of(ref)] = only_array(value)

    def _outputs(self, node: Node) -> tuple[tuple[int, ...], tuple[ArrayFormat, ...]]:
        return self._slots_of(node.arrays)

    def _slots_of(self, refs: Sequence[Ref]) -> tuple[tuple[int, ...], tuple[ArrayFormat, ...]]:
        return self.slots.of_all(tuple(refs)), tuple(format_of(ref.shape) for ref in refs)


def _computed(nodes: Sequence[Node], read: Sequence[Ref]) -> Callable[[Sequence[np.ndarray]], list[np.ndarray]]:
    """The function that computes the arrays of the last of some nodes from those that they read, by the reference."""

    def compute(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        known = dict(zip(read, arrays, strict=True))
        for node in nodes:
            given = iter([known[ref] for ref in node.refs])
            operands = [nested_value(o.shape, given) for o in node.instruction.operands]
            with np.errstate(all="ignore"):
                leaves = leaves_of(evaluate_instruction(node.instruction, operands))
            known.update((ref, np.asarray(leaves[ref.leaf], ref.shape.dtype)) for ref in node.arrays)
        return [known[ref] for ref in nodes[-1].arrays]

    return compute
