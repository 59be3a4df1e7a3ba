"""The kernels of a program: those of its fusions, and those planned for instructions that are not fused."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from indexing._core import IndexingMap, compose
from indexing.arguments import of_type, optional, takes
from indexing.device.record import Device
from indexing.device.table import portable_device
from indexing.graph.extraction import build_kernel_module
from indexing.graph.live_arrays import without_unread
from indexing.graph.loop_invariants import with_hoisted
from indexing.graph.nodes import Graph, Node, Ref, needed_nodes
from indexing.graph.support import KernelSupport
from indexing.hlo import Computation, Instruction, Module, Program, Shape, entry_of
from indexing.hlo.layout import bit_width, bitcast_map
from indexing.hlo.program_like import or_function, part_of_program
from indexing.indexing_analysis.instructions import output_to_input
from indexing.kernels import computed_by_emitter, device_of_kernels, emit_fused
from indexing.kernels.kernel import Kernel
from indexing.kernels.products import StridedProduct
from indexing.kernels.proposal import PlannedFusion
from indexing.kernels.solvers import Solver, solver_of
from indexing.kernels.targets.target import Dialect
from indexing.model.libraries import library_product
from indexing.ops.bounded import check_kernel_sizes
from indexing.ops.registry import traits_of
from indexing.planning.fusion import Planner
from indexing.planning.given_fusions import needs_parts
from indexing.planning.libraries import Matmul, is_faster_in_library
from indexing.planning.trip_counts import known_trip_count
from indexing.walks import post_order, reached

#: Chooses the knobs of a computation's kernel; those left out have their defaults.
KnobChoice: TypeAlias = Callable[[Computation], Mapping[str, int]]
CONTROL_FLOW = (
    "inlined",
    "branches",
    "loops",
)  # values of `Op.calls`: the called computations have schedules of their own


@dataclass(frozen=True, slots=True)
class PlannedKernel:
    """One launch: the kernel of `computation` computes `outputs` from `inputs`."""

    computation: Computation
    kernel: Kernel
    inputs: tuple[Ref, ...]
    outputs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class PlannedComputation:
    """A graph and its kernels, by their roots; nodes `inside` kernels and steps of the host need no step of their own; those
    `on_host` are computed by each step of the host that reads them. The array of a node in `views` has the memory of another
    array. `products` are computed by the device's library, `solvers` by functions of C. `trip_counts` are those of loops whose
    condition is not evaluated.
    """

    graph: Graph
    kernels: dict[Node, PlannedKernel]
    products: Mapping[Node, StridedProduct]
    solvers: Mapping[Node, Solver]
    views: Mapping[Node, Ref]
    inside: frozenset[Node]
    on_host: frozenset[Node]
    trip_counts: Mapping[Node, int]


def default_knobs(computation: Computation) -> Mapping[str, int]:
    """No knobs: the kernel has its default plan."""
    return {}


def plan_program(
    entry: Computation, device: Device, choose: KnobChoice = default_knobs, matmul: Matmul = "kernels"
) -> dict[Computation, PlannedComputation]:
    """The kernels of a computation, and of those that its control flow runs, callees first.

    Equal kernels are emitted once; `choose` gives the knobs of each. `matmul` says what computes products of matrices. Raises
    UnsupportedOp for a bounded dimension.
    """
    check_kernel_sizes(entry)
    return _ProgramPlanner(entry, device, choose, matmul).run()


def planned_kernels(module: Module | Computation, device: Device | None = None) -> list[PlannedKernel]:
    """The distinct kernels of a module's entry (or of a computation), with their inputs and outputs."""
    planned = plan_program(entry_of(module), device or portable_device()).values()
    launches = (p.kernels[node] for p in planned for node in p.graph.nodes if node in p.kernels)
    return list({launch.computation: launch for launch in launches}.values())


@or_function
@takes(dialect=optional(of_type(str)), device=optional(of_type(Device, str)))
def emit_all(module: Program, dialect: Dialect | None = None, device: Device | str | None = None) -> list[Kernel]:
    """The distinct kernels of a module's entry, of a computation, or of a JAX function and its arguments: those of its
    fusions, and of the fusions that `compile` plans.

    They are made for `device` as those of `emit`. Control flow, and instructions that no kernel computes (on a CPU a sort), are
    left to the host. Raises as `emit` does.
    """
    part = part_of_program(module, "emit_all: module")
    if isinstance(part, Instruction):
        raise TypeError("emit_all: module is an Instruction; expected a Module or a Computation: `emit` takes a fusion")
    return [planned.kernel for planned in planned_kernels(part, device_of_kernels(dialect, device))]


class _ProgramPlanner:
    """The state of one call of `plan_program`."""

    def __init__(self, entry: Computation, device: Device, choose: KnobChoice, matmul: Matmul) -> None:
        self.entry = entry
        self.choose = choose
        self.device = device
        self.in_library = cache(lambda i: matmul == "library" and is_faster_in_library(i, device))
        self.solver = cache(lambda i: solver_of(i, device.dialect))
        by_emitter = cache(lambda i: computed_by_emitter(i, device))
        self.support = KernelSupport(self.in_library, by_emitter, lambda i: self.solver(i) is not None)
        self.planner = Planner(self.support, device)
        self.within_fusions = Planner(KernelSupport(), device)  # a fusion that the program states keeps its products
        self.graphs: dict[Computation, Graph] = {}
        self.trip_counts: dict[Node, int | None] = {}
        self.by_content: dict[Hashable, Computation] = {}
        self.bodies: dict[int, Computation] = {}  # of fusions, by signature, which is unique within the module
        self.emitted: dict[Computation, Kernel] = {}
        self.is_inlined: dict[Computation, bool] = {}  # by the bodies of fusions
        fusions = (i for c in entry.module.computations.values() for i in c.instructions.values())
        self.inlined = frozenset(i for i in fusions if i.is_fusion and self._should_inline(i))

    def _should_inline(self, fusion: Instruction) -> bool:
        """Whether the fusion is inlined: no kernel can compute it, or kernels of its parts are faster."""
        body = self._body_of(fusion)
        if body not in self.is_inlined:
            self.is_inlined[body] = needs_parts(fusion, self.within_fusions)
        return self.is_inlined[body]

    def _body_of(self, fusion: Instruction) -> Computation:
        """The computation of a fusion, shared by equal fusions."""
        return self.bodies.setdefault(fusion.signature, fusion.called[0])

    def _kernel_of(self, computation: Computation) -> Kernel:
        if computation not in self.emitted:
            self.emitted[computation] = emit_fused(computation, self.device, **self.choose(computation))
        return self.emitted[computation]

    def run(self) -> dict[Computation, PlannedComputation]:
        scheduled = self._scheduled_graphs()
        hoisted = with_hoisted(scheduled, self._scheduled, self.trip_counts)
        graphs = without_unread(self.entry, hoisted, self._scheduled)
        return {computation: self._planned(graph) for computation, graph in graphs.items()}

    def _scheduled_graphs(self) -> dict[Computation, Graph]:
        """The graphs of the entry and of what control flow runs, callees first."""

        def run_by(computation: Computation) -> Iterator[Computation]:
            nodes = reversed(self._graph(computation).nodes)
            return (called for node in nodes for called in reversed(self._scheduled(node)))

        return {c: self._graph(c) for c in post_order([self.entry], run_by)}

    def _graph(self, computation: Computation) -> Graph:
        if computation not in self.graphs:
            self.graphs[computation] = self.planner.graph_of(computation, self.inlined)
        return self.graphs[computation]

    def _scheduled(self, node: Node) -> tuple[Computation, ...]:
        """The computations that a node's control flow runs, without the condition of a loop with a known trip count."""
        i, calls = node.instruction, node.op.calls
        if calls == "loops":
            condition, body = i.computation_of("condition"), i.computation_of("body")
            if node not in self.trip_counts:
                self.trip_counts[node] = known_trip_count(node, self._graph(condition), self._graph(body))
            return (condition, body) if self.trip_counts[node] is None else (body,)
        return i.called if calls in CONTROL_FLOW else ()

    def _planned(self, graph: Graph) -> PlannedComputation:
        fusions = self.planner.plan(graph)
        parts = {fusion.root: self._part_of(fusion, graph) for fusion in fusions}
        needed = needed_nodes(graph)
        nodes = [node for node in graph.nodes if node in needed]
        given = [node for node in nodes if node.instruction.is_fusion]
        parts |= {n: _Part(self._body_of(n.instruction), n.refs, n.arrays) for n in given}
        views = {n: ref for n, part in parts.items() if (ref := part.viewed) is not None}
        kernels = {n: self._planned_kernel(part) for n, part in parts.items() if n not in views}
        products = {n: p for n in nodes if (p := self._product(n)) is not None}
        solvers = {n: s for n in nodes if (s := self.solver(n.instruction)) is not None}
        counts = {node: count for node in graph.nodes if (count := self.trip_counts.get(node)) is not None}
        inside = frozenset(n for fusion in fusions for n in fusion.nodes) | views.keys()
        on_host = self._on_host(graph, {ref.node for part in parts.values() for ref in part.outputs})
        return PlannedComputation(graph, kernels, products, solvers, views, inside | on_host, on_host, counts)

    def _product(self, node: Node) -> StridedProduct | None:
        """The product that the library computes; None if it doesn't compute the node."""
        i = node.instruction
        return library_product(i, self.device.dialect) if self.in_library(i) else None

    def _on_host(self, graph: Graph, written: Collection[Node]) -> frozenset[Node]:
        """The nodes that steps of the host read and no kernel writes, and what these read."""

        def on_host(nodes: Iterable[Node]) -> Iterator[Node]:
            read = (ref.node for n in nodes for ref in n.refs if ref.node not in written)
            return (n for n in read if self.support.instruction(n.instruction))

        starts = on_host(n for n in needed_nodes(graph) if not self._has_kernel(n))
        return frozenset(reached(starts, lambda node: on_host([node])))

    def _has_kernel(self, node: Node) -> bool:
        return self.support.instruction(node.instruction) or self.support.around(node.instruction)

    def _part_of(self, fusion: PlannedFusion, graph: Graph) -> _Part:
        built = build_kernel_module(fusion.nodes, fusion.outputs, graph)
        content = built.module.content
        if content not in self.by_content:
            self.by_content[content] = built.module.build().entry
        return _Part(self.by_content[content], built.inputs, fusion.outputs)

    def _planned_kernel(self, part: _Part) -> PlannedKernel:
        return PlannedKernel(part.computation, self._kernel_of(part.computation), part.inputs, part.outputs)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a program: `computation` computes `outputs` from `inputs`."""

    computation: Computation
    inputs: tuple[Ref, ...]
    outputs: tuple[Ref, ...]

    @property
    def viewed(self) -> Ref | None:
        """The input whose memory holds the output already; None if a kernel computes it."""
        number = _viewed_parameter(self.computation)
        return None if number is None else self.inputs[number]


def _viewed_parameter(computation: Computation) -> int | None:
    """The number of the parameter whose memory holds a computation's result; None if a kernel must compute the result."""
    source = computation.root
    if not source.shape.is_array:
        return None
    read = IndexingMap.identity(source.shape.dimensions)
    while not source.is_parameter:
        if traits_of(source).kind != "moves" or len(source.operands) != 1:
            return None
        ((operand,),) = output_to_input(source)
        read = compose(read, operand.map)
        source = source.operands[0]
    is_view = _has_bytes_of(computation.root.shape, source.shape)
    if not is_view or read.simplify() != bitcast_map(computation.root.shape, source.shape).simplify():
        return None
    return source.parameter_number


def _has_bytes_of(shape: Shape, other: Shape) -> bool:
    """Whether arrays of both shapes have as many elements, with equal bytes for equal bits."""
    types = {shape.element_type, other.element_type}
    widths = {bit_width(t) for t in types}
    is_same = len(types) == 1 or ("pred" not in types and len(widths) == 1 and min(widths) >= 8)
    return is_same and shape.element_count == other.element_count
