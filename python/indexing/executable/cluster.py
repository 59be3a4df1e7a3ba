"""Which operations of an unfused program become one kernel.

A node joins the kernel of its users when all of them are in that one kernel, and when computing it there costs no more
than computing it once: whoever reads each element once may compute it on the way. What reads many elements for each of
its own (a reduction, a dot) takes part at most once a kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from indexing._core import IndexingMap
from indexing.executable.graph import Graph, Node, Ref, tree_refs
from indexing.executable.row_groups import row_groups
from indexing.fusion import output_to_input
from indexing.ops import REGISTRY
from indexing.ops.block import leaves, output_sizes
from indexing.partition import MOVES_ELEMENTS_ONLY

if TYPE_CHECKING:
    from indexing.hlo import Computation, Instruction
    from indexing.ops.block import Indexing, OperandIndexing

MAX_NODES = 256
MAX_ARRAYS = 64  # OpenCL promises 1024 bytes of arguments
CONTROL = frozenset({"call", "conditional", "custom-call", "fusion", "while"})
STRUCTURE = frozenset({"get-tuple-element", "parameter", "tuple"})
UPDATED_IN_PLACE = {"dynamic-update-slice": 1, "scatter": 1}  # leading operands that a kernel overwrites
MAX_MOVES = 8  # places at which one kernel may read an instruction that only moves elements
UNKNOWN_READS = 2**62


@dataclass(slots=True, eq=False)
class Cluster:
    """Nodes that become one kernel, whose outputs are the arrays of `root`; no more may join those of one that is closed."""

    root: Node
    nodes: set[Node] = field(default_factory=set)
    has_loop: bool = False
    is_closed: bool = False
    places: dict[Node, frozenset[int]] = field(default_factory=dict)  # at which indices a node is read, by number

    def inputs(self, order: Iterable[Node]) -> list[Ref]:
        """The arrays that come from outside, in the order in which the nodes read them."""
        seen: dict[Ref, None] = {}
        for node in order:
            if node in self.nodes:
                seen.update((ref, None) for ref in node.refs() if ref.node not in self.nodes)
        return list(seen)


class KernelSupport:
    """Which instructions have element code, the computations that they apply included."""

    def __init__(self) -> None:
        """Nothing is known yet; answers are kept, one a computation."""
        self._known: dict[Computation, bool] = {}

    def instruction(self, instruction: Instruction) -> bool:
        """Whether a kernel can compute the instruction; constant arrays are passed to kernels instead."""
        if instruction.opcode in STRUCTURE or instruction.opcode in CONTROL:
            return False
        if instruction.opcode == "constant" and instruction.shape.element_count != 1:
            return False
        return _has_element_code(instruction) and all(self.computation(c) for c in instruction.called)

    def computation(self, computation: Computation) -> bool:
        """Whether a kernel can compute all that a computation holds."""
        pending = [computation]
        while pending:
            current = pending[-1]
            called = [c for i in current.post_order() for c in i.called]
            missing = [c for c in called if c not in self._known]
            if current not in self._known and missing:
                pending.extend(missing)
                continue
            self._known[current] = all(map(_has_element_code, current.post_order())) and all(
                self._known[c] for c in called
            )
            pending.pop()
        return self._known[computation]


def _has_element_code(instruction: Instruction) -> bool:
    op = REGISTRY.get(instruction.opcode)
    return instruction.opcode in STRUCTURE or (op is not None and op.element is not None)


def clusters(graph: Graph, support: KernelSupport) -> list[Cluster]:
    """The kernels of a graph's nodes, users before their operands; nodes that no kernel can compute are in none."""
    return _Clustering(graph, support).run()


class _Clustering:
    """The state of one walk over a graph, from its outputs to its parameters."""

    def __init__(self, graph: Graph, support: KernelSupport) -> None:
        self.graph = graph
        self.support = support
        self.outputs = {ref.node for ref in tree_refs(graph.result)}
        self.owner: dict[Node, Cluster] = {}
        self.maps: dict[Node, Indexing] = {}
        self.live: set[Node] = set()
        self.place_numbers: dict[tuple[int, IndexingMap], int] = {}
        self.copied: set[Node] = set()
        self.free: set[Node] = set()  # scalars of the program's text, iotas, and what merely spreads them
        for node in graph.nodes:
            if self._is_free(node):
                self.free.add(node)

    def _is_free(self, node: Node) -> bool:
        if not self.support.instruction(node.instruction):
            return False
        if node.opcode in ("constant", "iota"):
            return True
        refs = list(node.refs())
        return node.opcode in MOVES_ELEMENTS_ONLY and bool(refs) and all(r.node in self.free for r in refs)

    def run(self) -> list[Cluster]:
        found: list[Cluster] = []
        groups = {g.root: g for g in row_groups(self.graph, self.support.instruction, self.free)}
        for node in reversed(self.graph.nodes):
            if not self._is_live(node) or not self.support.instruction(node.instruction):
                continue
            if node in groups:
                found.append(Cluster(node, groups[node].nodes, is_closed=True))
                self.owner.update(dict.fromkeys(groups[node].nodes, found[-1]))
            if node in self.owner:
                continue
            if self._is_copied_into_users(node):
                self.copied.add(node)
                continue
            cluster = self._joined(node)
            if cluster is None:
                cluster = Cluster(node, places={node: frozenset({0})})
                found.append(cluster)
            cluster.nodes.add(node)
            cluster.has_loop |= self._reads_many(node)
            self.owner[node] = cluster
        for cluster in found:
            self._add_free(cluster)
        return found

    def _is_live(self, node: Node) -> bool:
        """Whether an output depends on the node; asked of users before their operands."""
        if node in self.outputs or any(user in self.live for user in node.users):
            self.live.add(node)
        return node in self.live

    def _is_copied_into_users(self, node: Node) -> bool:
        """A free node needs no kernel of its own where only kernels read it."""
        if node not in self.free or node in self.outputs:
            return False
        return all(u in self.owner or u in self.copied or u not in self.live for u in node.users)

    def _add_free(self, cluster: Cluster) -> None:
        pending = list(cluster.nodes)
        while pending:
            for ref in pending.pop().refs():
                if ref.node in self.copied and ref.node not in cluster.nodes:
                    cluster.nodes.add(ref.node)
                    pending.append(ref.node)

    def _joined(self, node: Node) -> Cluster | None:
        homes = {self.owner.get(user) for user in node.users if user in self.live}
        cluster = homes.pop() if len(homes) == 1 and node not in self.outputs else None
        if (
            cluster is None
            or cluster.is_closed
            or len(cluster.nodes) >= MAX_NODES
            or self._array_count(cluster, node) > MAX_ARRAYS
        ):
            return None
        if cluster.has_loop and self._reads_many(node):
            return None
        users = set(node.users) & self.live
        places = frozenset(p for user in users for p in self._places(cluster, node, user))
        if len(places) > (MAX_MOVES if node.opcode in MOVES_ELEMENTS_ONLY else 1):
            return None
        if not all(self._may_compute(node, user) for user in users):
            return None
        cluster.places[node] = places
        return cluster

    def _places(self, cluster: Cluster, node: Node, user: Node) -> Iterator[int]:
        """Where `user` reads `node`, seen from the cluster's root; one number for equal paths of maps."""
        for position, operand in enumerate(user.operands):
            if any(ref.node is node for ref in tree_refs(operand)):
                for found in self._maps(user)[position]:
                    for place in cluster.places[user]:
                        is_same = found.map == IndexingMap.identity(output_sizes(user.instruction))
                        key = (place, found.map)
                        yield place if is_same else self.place_numbers.setdefault(key, len(self.place_numbers) + 1)

    def _array_count(self, cluster: Cluster, node: Node) -> int:
        members = {*cluster.nodes, node}
        inputs = {ref for n in members for ref in n.refs() if ref.node not in members}
        return len(inputs) + len(leaves(cluster.root.instruction.shape))

    def _may_compute(self, node: Node, user: Node) -> bool:
        """Whether `user` may compute the elements of `node` where it reads them."""
        for position, operand in enumerate(user.operands):
            if all(ref.node is not node for ref in tree_refs(operand)):
                continue
            if position < UPDATED_IN_PLACE.get(user.opcode, 0):
                return False
            if node.opcode in MOVES_ELEMENTS_ONLY or self._is_read_once(user, position, node):
                continue
            if self._reads_many(node) or self._reads_many(user):
                return False
        return True

    def _is_read_once(self, user: Node, position: int, node: Node) -> bool:
        found = self._maps(user)[position]
        count = max((s.element_count for s in leaves(node.instruction.shape)), default=1)
        return len(found) <= 1 and all(_reads(o) <= count for o in found)

    def _reads_many(self, node: Node) -> bool:
        """Whether one element of the output takes a loop over elements of an operand."""
        return any(o.map.is_undefined or bool(o.map.ranges) for found in self._maps(node) for o in found)

    def _maps(self, node: Node) -> Indexing:
        if node not in self.maps:
            self.maps[node] = output_to_input(node.instruction)
        return self.maps[node]


def _reads(indexing: OperandIndexing) -> int:
    """How many times an element is read, over all elements of the output, constraints left aside."""
    if indexing.map.is_undefined:
        return UNKNOWN_READS
    count = 1
    for variable in (*indexing.map.dims, *indexing.map.ranges):
        count *= max(variable.interval.upper - variable.interval.lower + 1, 0)
    return count
