"""Facts about a program's graph that planning and emitters ask for: order, live nodes, what is cheap to compute again."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Collection, Set
from dataclasses import dataclass, field
from typing import TypeVar, cast

from indexing.cached import cached_property
from indexing.graph.nodes import Graph, Node, Ref, tree_refs
from indexing.hlo import Instruction
from indexing.indexing_analysis.computations import instruction_indexing
from indexing.ops.operand_indexing import Indexing
from indexing.work import element_count

T = TypeVar("T")


@dataclass(eq=False)
class GraphFacts:
    """A graph, the instructions that kernels can compute (`supports`) and those that a library computes (`in_library`), those
    that only a kernel around them computes (`around`), the nodes that have a kernel by now (`taken`), those in whose kernels
    neighbouring threads need neighbouring elements (`coalesced`), those whose kernels may compute operands while they copy them
    (`copying`), and those that no kernel of another node may compute (`apart`).

    Kernels with several results, and those of several nodes that others may join, are `groups`, by node; `spans` has the first
    and the last number of the nodes of each, sorted.
    """

    graph: Graph
    supports: Callable[[Instruction], bool]
    in_library: Callable[[Instruction], bool] = lambda _: False
    around: Callable[[Instruction], bool] = lambda _: False
    taken: set[Node] = field(default_factory=set)
    coalesced: set[Node] = field(default_factory=set)
    copying: set[Node] = field(default_factory=set)
    apart: set[Node] = field(default_factory=set)
    groups: dict[Node, Set[Node]] = field(default_factory=dict)
    spans: list[tuple[int, int]] = field(default_factory=list)
    _maps: dict[tuple[Node, int], Indexing] = field(default_factory=dict)
    _users: dict[Node, tuple[Node, ...]] = field(default_factory=dict)
    _read: dict[Node, tuple[Node, ...]] = field(default_factory=dict)
    _attached: dict[type, object] = field(default_factory=dict)

    @property
    def number(self) -> dict[Node, int]:
        """The position of each node in the graph, operands before users."""
        return self.graph.number

    def take(self, nodes: Set[Node], outputs: Collection[Ref], may_grow: bool = False) -> None:
        """Note that a kernel computes the nodes, and whether other nodes may join it."""
        self.taken |= nodes
        self.undecided -= nodes
        if (may_grow and len(nodes) > 1) or len({ref.node for ref in outputs}) > 1:
            self.groups.update(dict.fromkeys(nodes, nodes))
            numbers = [self.number[n] for n in nodes]
            insort(self.spans, (min(numbers), max(numbers)))

    @cached_property
    def results(self) -> frozenset[Ref]:
        """The arrays that the program returns."""
        return frozenset(tree_refs(self.graph.result))

    @cached_property
    def result_nodes(self) -> frozenset[Node]:
        """The nodes whose arrays the program returns."""
        return frozenset(ref.node for ref in self.results)

    @cached_property
    def live(self) -> frozenset[Node]:
        """The nodes that a result depends on."""
        live = set(self.result_nodes)
        for node in reversed(self.graph.nodes):
            if any(user in live for user in node.users):
                live.add(node)
        return frozenset(live)

    @cached_property
    def rematerializable(self) -> frozenset[Node]:
        """Constants, iotas, and moves and cheap scalar functions of these: each kernel computes them anew."""
        known: set[Node] = set()
        for node in self.graph.nodes:
            if self.can_compute(node) and self._is_rematerializable(node, known):
                known.add(node)
        return frozenset(known)

    def _is_rematerializable(self, node: Node, known: set[Node]) -> bool:
        if node.op.is_source:
            return True
        refs = node.refs
        if not refs or any(r.node not in known for r in refs):
            return False
        is_cheap = node.op.is_elementwise and not node.op.is_expensive
        return node.op.has_no_compute or (is_cheap and element_count(node.instruction) == 1)

    @cached_property
    def epilogues(self) -> frozenset[Node]:
        """Nodes after a loop, as large as its result."""
        epilogues: set[Node] = set()
        for node in self.graph.nodes:
            count = element_count(node.instruction)
            loops = (r.node for r in node.refs if r.node in epilogues or self.needs_loop(r.node))
            if any(count == element_count(n.instruction) for n in loops):
                epilogues.add(node)
        return frozenset(epilogues)

    @cached_property
    def _computable(self) -> frozenset[Node]:
        return frozenset(n for n in self.graph.nodes if self.supports(n.instruction))

    @cached_property
    def _loops(self) -> frozenset[Node]:
        return frozenset(filter(self._loops_over_operand, self._computable))

    @cached_property
    def undecided(self) -> set[Node]:
        """The nodes that kernels can compute, without those that have one by now."""
        return set(self._computable - self.taken)

    def can_compute(self, node: Node) -> bool:
        """Whether a kernel can compute the node."""
        return node in self._computable

    def needs_kernel(self, node: Node) -> bool:
        """Whether a kernel computes the node: its elements one by one, or around it."""
        return self.can_compute(node) or self.around(node.instruction)

    def needs_loop(self, node: Node) -> bool:
        """Whether computing one element of the output takes a loop over elements of an operand."""
        return node in self._loops

    def _loops_over_operand(self, node: Node) -> bool:
        if node.op.index_vectors and not node.op.is_scatter_like:
            return False  # it has a load for each of a vector's few indices
        return any(o.map.is_undefined or bool(o.map.ranges) for indexings in self.maps(node, 0) for o in indexings)

    def users_of(self, node: Node) -> tuple[Node, ...]:
        """The live users of a node, each once."""
        if node not in self._users:
            self._users[node] = tuple(u for u in dict.fromkeys(node.users) if u in self.live)
        return self._users[node]

    def read_nodes(self, node: Node) -> tuple[Node, ...]:
        """The nodes whose results a node reads from memory, each once: without those that each kernel computes anew."""
        if node not in self._read:
            nodes = dict.fromkeys(ref.node for ref in node.refs)
            self._read[node] = tuple(n for n in nodes if n not in self.rematerializable)
        return self._read[node]

    def maps(self, node: Node, output: int) -> Indexing:
        """The maps from an output of a node to its operands."""
        maps = self._maps.get((node, output))
        if maps is None:
            maps = self._maps[node, output] = instruction_indexing(node.instruction, output)
        return maps

    def attached(self, kind: type[T]) -> T:
        """The one object of a type that an emitter keeps with the graph, made by `kind()` when it is first asked for."""
        return cast(T, self._attached.setdefault(kind, kind()))
