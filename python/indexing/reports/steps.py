"""The steps of a program: its kernels, and control flow over the steps of other computations.

A program after XLA's optimization has the kernels of its fusions, and of all other instructions that move data. One from before
has no kernels yet: its steps are those that this package plans, as `compile` would run them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from indexing.device.record import Device
from indexing.graph.flattening import flatten
from indexing.graph.nodes import Graph, Node, Ref, needed_nodes
from indexing.graph.support import KernelSupport
from indexing.hlo import Computation, Instruction
from indexing.hlo.program_like import parameter_names
from indexing.model.instruction_time import predict_instruction
from indexing.ops.registry import traits_of
from indexing.ops.trip_counts import stated_trip_count
from indexing.planning.fusion import Planner
from indexing.planning.given_fusions import needs_parts
from indexing.planning.libraries import Matmul
from indexing.planning.program import CONTROL_FLOW, PlannedComputation, PlannedKernel, plan_program
from indexing.planning.trip_counts import known_trip_count
from indexing.reports.kernel_fusions import SingleFusions, copy_of, fusion_of, single_fusion
from indexing.reports.origin import is_donated, is_made_by_xla
from indexing.walks import post_order


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A kernel, or control flow.

    `instruction` is what a kernel computes; `origin` is the program's instruction whose name and source line it has, `operands`
    are the names of the arrays that it reads, which `sources` make. Control flow runs `bodies`: each of them `repeats` times
    (None if that is unknown), or only one of them (`is_choice`). `parts` are the kernels of an instruction that this package
    runs as several. `in_library` is true for a product that a library computes.
    """

    instruction: Instruction
    origin: Instruction
    operands: tuple[str, ...] = ()
    sources: tuple[Instruction, ...] = ()
    bodies: tuple[Hashable, ...] = ()
    repeats: int | None = 1
    is_choice: bool = False
    parts: tuple[Step, ...] = ()
    in_library: bool = False


@dataclass(frozen=True, slots=True)
class Schedule:
    """The steps of a program: of its root, and of each body that control flow runs, callees first."""

    root: tuple[Step, ...]
    bodies: Mapping[Hashable, tuple[Step, ...]] = field(default_factory=dict)


def is_optimized(part: Instruction | Computation) -> bool:
    """Whether the program has kernels already: fusions and calls of libraries by XLA, or a schedule."""
    module = part.module
    if "is_scheduled" in module.attributes:
        return module.attributes["is_scheduled"] == "true"
    return any(is_made_by_xla(i) for c in module.computations.values() for i in c.listed)


# ---- the instructions of the program as kernels


def fused_steps(instructions: Sequence[Instruction], device: Device) -> Schedule:
    """The steps of instructions, each of which is a kernel if it moves data."""
    fused = _FusedSteps(device)
    root = tuple(fused.steps(instructions))
    return Schedule(root, _reached(root, lambda c: tuple(fused.steps(c.instructions.values()))))


def _reached(
    root: Sequence[Step], steps_of: Callable[[Computation], tuple[Step, ...]]
) -> dict[Hashable, tuple[Step, ...]]:
    """The steps of all bodies that steps reach, callees first."""
    steps_of = cache(steps_of)

    def bodies(steps: Sequence[Step]) -> Iterator[Hashable]:
        return (body for step in steps for body in reversed(step.bodies))

    return {body: steps_of(body) for body in post_order(bodies(root), lambda body: bodies(steps_of(body)))}


class _FusedSteps:
    """The steps of a program's instructions; trip counts of loops are stated, or derived from graphs."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.planner = Planner(KernelSupport(), device)
        self.graphs: dict[Computation, Graph] = {}
        self.parts: dict[int, tuple[Step, ...]] = {}  # by the signatures of fusions
        self.single = SingleFusions()

    def steps(self, instructions: Iterable[Instruction]) -> Iterable[Step]:
        """The steps of instructions in their order."""
        for i in instructions:
            op = traits_of(i)
            if op.calls == "loops":
                yield self._loop(i)
            elif op.runs_computations:
                yield Step(i, i, bodies=i.called, is_choice=op.calls == "branches")
            elif not is_free(i):
                yield self._kernel(i)

    def _kernel(self, i: Instruction) -> Step:
        whole = self.single.of(i)
        if i.signature not in self.parts:
            self.parts[i.signature] = self._parts_of_fusion(i) if i.is_fusion else self._parts_of_op(i, whole)
        parts = self.parts[i.signature]
        return Step(
            single_fusion(i) if parts and not i.is_fusion else whole, i, parameter_names(i), i.operands, parts=parts
        )

    def _parts_of_fusion(self, i: Instruction) -> tuple[Step, ...]:
        if not needs_parts(i, self.planner):
            return ()
        planned = planned_steps(i.called[0], self.device).root
        return planned if all(not s.bodies for s in planned) else ()

    def _parts_of_op(self, i: Instruction, whole: Instruction) -> tuple[Step, ...]:
        """The kernels of an instruction that no kernel computes, and no library's model predicts."""
        if whole.is_fusion or traits_of(i).across_replicas is not None or not all(o.shape.is_array for o in i.operands):
            return ()
        if predict_instruction(i, self.device).seconds is not None:
            return ()
        planned = planned_steps(single_fusion(i).called[0], self.device).root
        return planned if all(s.instruction.is_fusion for s in planned) else ()

    def _loop(self, i: Instruction) -> Step:
        """A known trip count leaves the condition out: nothing evaluates it."""
        condition, body = i.computation_of("condition"), i.computation_of("body")
        nodes = [n for n in self._graph(i.computation).nodes if n.instruction is i]
        graphs = self._graph(condition), self._graph(body)
        count = known_trip_count(nodes[0], *graphs) if nodes else stated_trip_count(i)
        return Step(i, i, bodies=(condition, body) if count is None else (body,), repeats=count)

    def _graph(self, computation: Computation) -> Graph:
        if computation not in self.graphs:
            self.graphs[computation] = flatten(computation)
        return self.graphs[computation]


def is_free(i: Instruction) -> bool:
    """Whether the result is in memory already: a renamed array, a bitcast, an annotation, or the result of an asynchronous
    operation.
    """
    op = traits_of(i)
    passes = op.passes_operand and op.kind != "moves"  # a copy moves its elements, although it does not change them
    if op.kind in ("alias", "leaf", "orders") or op.same_memory or passes or op.is_done:
        return True
    meaning = op.expansion(i) if op.expansion is not None and i.operands else None
    if meaning is None or i.shape != i.operands[0].shape:
        return False
    return all(j.is_parameter or traits_of(j).passes_operand for j in meaning.listed)


# ---- the steps that this package plans


def planned_steps(entry: Computation, device: Device, matmul: Matmul = "kernels") -> Schedule:
    """The kernels that this package would run for a computation, as fusions, and the steps that it leaves to the host or to a
    library.
    """
    fusions: dict[Computation, Instruction] = {}
    planned = plan_program(entry, device, matmul=matmul)
    steps: dict[Hashable, tuple[Step, ...]] = {c: tuple(_steps_of(p, fusions)) for c, p in planned.items()}
    return Schedule(steps.pop(entry), steps)


def _steps_of(planned: PlannedComputation, fusions: dict[Computation, Instruction]) -> Iterable[Step]:
    needed = needed_nodes(planned.graph)
    for node in planned.graph.nodes:
        if node not in needed:
            continue
        i = node.instruction
        if node in planned.kernels:
            computation = planned.kernels[node].computation
            if computation not in fusions:
                fusions[computation] = i if i.is_fusion else fusion_of(computation, i.name)
            inputs = planned.kernels[node].inputs
            for argument in _kept_arguments(planned, planned.kernels[node]):
                yield Step(copy_of(argument), argument, (argument.name,), (argument,))
            sources = tuple(ref.node.instruction for ref in inputs)
            yield Step(fusions[computation], i, tuple(map(_name_of, inputs)), sources)
        elif node.op.calls in CONTROL_FLOW:
            yield _control_flow(node, planned)
        elif node not in planned.inside and not is_free(i):
            yield Step(i, i, parameter_names(i), i.operands, in_library=node in planned.products)


def _kept_arguments(planned: PlannedComputation, kernel: PlannedKernel) -> Iterable[Instruction]:
    """The program's arguments in whose memory a kernel would write: those that are not donated are copied before."""
    for number in kernel.kernel.in_place.values():
        source = kernel.inputs[number]
        while source.node in planned.views:
            source = planned.views[source.node]
        i = source.node.instruction
        if i.is_parameter and i.computation.is_entry and i.shape.is_array and not is_donated(i):
            yield i


def _name_of(ref: Ref) -> str:
    i = ref.node.instruction
    return f"{i.name}[{ref.leaf}]" if i.shape.is_tuple else i.name


def _control_flow(node: Node, planned: PlannedComputation) -> Step:
    i, count = node.instruction, planned.trip_counts.get(node)
    if node.op.calls != "loops":
        return Step(i, i, bodies=i.called, is_choice=node.op.calls == "branches")
    bodies = (
        (i.computation_of("body"),) if count is not None else (i.computation_of("condition"), i.computation_of("body"))
    )
    return Step(i, i, bodies=bodies, repeats=count)
