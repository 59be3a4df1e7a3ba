"""Which kernels a program needs: those of its fusions, and those planned for what is not fused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexing.arguments import of_type, takes
from indexing.emit import emit_fused
from indexing.executable.fusion_planning import KernelSupport, PlannedFusion, plan_fusions
from indexing.executable.graph import Graph, Node, Ref, flatten, needed_nodes
from indexing.executable.kernel_text import module_text
from indexing.hlo import Computation, Module, entry_of, parse
from indexing.work import repeats_itself

if TYPE_CHECKING:
    from indexing.emit.kernel import Dialect, Kernel
    from indexing.hlo import Instruction

CALLERS = frozenset({"call", "conditional", "while"})


@dataclass(frozen=True, slots=True)
class PlannedKernel:
    """One launch: a kernel of `computation` computes the arrays of a node from `inputs`."""

    computation: Computation
    inputs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class PlannedComputation:
    """A graph, the kernels of its nodes by the node whose arrays they compute, and the nodes that need no other step."""

    graph: Graph
    kernels: dict[Node, PlannedKernel]
    inside: frozenset[Node]


def plan_program(entry: Computation) -> dict[Computation, PlannedComputation]:
    """The kernels of a computation, and of those that its control flow runs, which stand before it.

    Kernels that compute the same have one computation.
    """
    return _ProgramPlanner(entry).run()


def kernel_computations(module: Module | Computation) -> list[Computation]:
    """What each kernel of a module's entry (or of a computation) computes, each once."""
    planned = plan_program(entry_of(module)).values()
    return list(dict.fromkeys(k.computation for p in planned for node in p.graph.nodes if (k := p.kernels.get(node))))


@takes(module=of_type(Module, Computation), dialect=of_type(str))
def emit_all(module: Module | Computation, dialect: Dialect = "cuda") -> list[Kernel]:
    """The kernels of a module's entry (or of a computation), each once: of its fusions, and of those that `compile` plans.

    Control flow, and what no kernel computes (a sort), is left to the host. Raises as `emit` does.
    """
    return [emit_fused(computation, dialect) for computation in kernel_computations(module)]


class _ProgramPlanner:
    """The state of one call of `plan_program`."""

    def __init__(self, entry: Computation) -> None:
        self.entry = entry
        self.support = KernelSupport()
        self.planned: dict[Computation, PlannedComputation] = {}
        self.by_text: dict[str, Computation] = {}
        fusions = (i for c in entry.module.computations.values() for i in c.instructions.values())
        self.taken_apart = frozenset(i for i in fusions if i.opcode == "fusion" and self._is_taken_apart(i))

    def _is_taken_apart(self, fusion: Instruction) -> bool:
        """Whether no kernel can compute it whole, or only by doing much of it again and again."""
        body = fusion.called[0]
        if any(o.shape.is_tuple for o in fusion.operands) or not self.support.computation(body):
            return True
        return repeats_itself(body)

    def run(self) -> dict[Computation, PlannedComputation]:
        graphs: dict[Computation, Graph] = {}
        pending = [self.entry]
        while pending:
            computation = pending[-1]
            if computation in self.planned:
                pending.pop()
                continue
            if computation not in graphs:
                graphs[computation] = flatten(computation, self.taken_apart)
            called = [c for n in graphs[computation].nodes if n.opcode in CALLERS for c in n.instruction.called]
            missing = [c for c in called if c not in self.planned]
            if missing:
                pending.extend(missing)
                continue
            self.planned[computation] = self._planned(graphs.pop(computation))
            pending.pop()
        return self.planned

    def _planned(self, graph: Graph) -> PlannedComputation:
        fusions = plan_fusions(graph, self.support)
        kernels = {fusion.root: self._kernel(fusion, graph) for fusion in fusions}
        for node in needed_nodes(graph):
            if node.opcode == "fusion":
                kernels[node] = PlannedKernel(node.instruction.called[0], tuple(node.refs()))
        return PlannedComputation(graph, kernels, frozenset(n for fusion in fusions for n in fusion.nodes))

    def _kernel(self, fusion: PlannedFusion, graph: Graph) -> PlannedKernel:
        text, inputs = module_text(fusion, graph.nodes)
        if text not in self.by_text:
            self.by_text[text] = parse(text).entry
        return PlannedKernel(self.by_text[text], tuple(inputs))
