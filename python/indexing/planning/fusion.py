"""Fusion planning: the operations of an unfused program that become one kernel.

A node joins the kernel of its users if all of them are in that one kernel, and if it is not computed more often there than
it has elements; maps composed from the kernel's root tell how often. A kernel holds at most one loop (reduction, dot); it
and its epilogue (the logarithm of a sum) are never repeated. Other nodes may be, outside of loops, while the kernel does at
most twice the work of its nodes; an index that neighbouring threads share (of a gathered row) counts once for them, up to
eight times that work. Nodes assembled from updates (scatter) never join their users.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Graph, Node, Ref, arrays_of, assembled_arrays, in_place_count, operands_of, tree_refs
from indexing.hlo.layout import linearize, major_to_minor, physical_sizes
from indexing.indexing_analysis.access import Access, AccessComposer
from indexing.kernels.emitters import EMITTERS
from indexing.kernels.proposal import Proposal, is_view
from indexing.ops.element_types import element_type
from indexing.partitioner import has_one_index
from indexing.planning.groups import Groups, choose_groups
from indexing.work import MAX_REPETITION, element_count, element_work, work_once

if TYPE_CHECKING:
    from indexing._core import IndexingMap
    from indexing.device.record import Device
    from indexing.graph.support import KernelSupport
    from indexing.hlo import Shape
    from indexing.kernels.emitter import Emitter

MAX_NODES = 256
MAX_SHARED_WORK = 8  # work repeated by neighbours that share an index, in multiples of the work of a kernel's nodes
MAX_ARRAYS = 64  # OpenCL guarantees 1024 bytes of arguments
MAX_MOVES = 8  # indices at which one kernel may read an instruction that only moves elements


@dataclass(slots=True, eq=False)
class PlannedFusion:
    """Nodes that become one kernel, which computes `outputs`; `root` is the last of its nodes.

    `accesses` are the reads of each node, from the root's index. `work` is what the kernel does, `work_once` the work of
    computing each node once; `shared_work` is repeated by neighbouring threads that share an index. No more nodes join a
    fusion that `is_closed`.
    """

    root: Node
    outputs: tuple[Ref, ...]
    work: int
    work_once: int
    shared_work: int = 0
    nodes: set[Node] = field(default_factory=set)
    has_loop: bool = False
    is_closed: bool = False
    accesses: dict[Node, tuple[Access, ...]] = field(default_factory=dict)


def plan_fusions(
    graph: Graph, support: KernelSupport, device: Device, emitters: Sequence[Emitter[Any, Any]] = EMITTERS
) -> list[PlannedFusion]:
    """The kernels of a graph, users before their operands; nodes that no kernel can compute are in none."""
    facts = GraphFacts(graph, support.instruction)
    return _FusionPlanner(facts, choose_groups(facts, emitters, device)).run()


class _FusionPlanner:
    """The state of one walk over a graph, from its outputs to its parameters."""

    def __init__(self, facts: GraphFacts, groups: Groups) -> None:
        self.facts = facts
        self.groups = groups
        self.outputs = {ref.node for ref in facts.results}
        self.owner: dict[Node, PlannedFusion] = {}
        self.composer = AccessComposer()
        self.duplicated: set[Node] = set()

    def run(self) -> list[PlannedFusion]:
        fusions: list[PlannedFusion] = []
        for node in reversed(self.facts.graph.nodes):
            if node not in self.facts.live or not self.facts.can_compute(node):
                continue
            if node in self.groups.closed:
                fusions.append(self._start(node))
                self._close(fusions[-1], self.groups.closed[node])
            if node in self.owner:
                continue
            if self._is_duplicated_into_users(node):
                self.duplicated.add(node)
                if self._is_assembled_into(node):
                    fusions.append(self._start(node))
            elif not self._fuse_into_users(node):
                fusions.append(self._start(node))
        for fusion in fusions:
            self._add_duplicated(fusion)
        return fusions

    def _is_duplicated_into_users(self, node: Node) -> bool:
        """Whether each user's kernel computes the node: it is rematerializable, or a view that several kernels read."""
        if node in self.outputs or not (
            node in self.facts.rematerializable or (is_view(node) and self._is_read_by_several_kernels(node))
        ):
            return False
        return all(u in self.owner or u in self.duplicated or u not in self.facts.live for u in node.users)

    def _is_read_by_several_kernels(self, node: Node) -> bool:
        return len({id(self.owner.get(u)) for u in node.users if u in self.facts.live}) > 1

    def _is_assembled_into(self, node: Node) -> bool:
        """Whether a user assembles its result in the node's memory."""
        operands = (assembled for user in node.users if user in self.facts.live for assembled in operands_of(user))
        return any(ref.node is node for operand, is_assembled in operands if is_assembled for ref in tree_refs(operand))

    def _add_duplicated(self, fusion: PlannedFusion) -> None:
        pending = list(fusion.nodes)
        while pending:
            for operand, is_assembled in operands_of(pending.pop()):
                for ref in () if is_assembled else tree_refs(operand):
                    if ref.node in self.duplicated and ref.node not in fusion.nodes:
                        fusion.nodes.add(ref.node)
                        pending.append(ref.node)

    def _start(self, node: Node) -> PlannedFusion:
        work = work_once(node.instruction)
        parts = node.instruction.shape.leaves
        fusion = PlannedFusion(node, arrays_of(node), work, work, nodes={node}, has_loop=self.facts.needs_loop(node))
        count = 1 if has_one_index(node.instruction.shape) else len(parts)
        fusion.accesses[node] = tuple(Access.of_all(p.dimensions, k) for k, p in enumerate(parts[:count]))
        self.owner[node] = fusion
        return fusion

    def _close(self, fusion: PlannedFusion, group: Proposal) -> None:
        """Make the fusion the group; no other nodes may join it."""
        fusion.nodes |= group.nodes
        fusion.outputs = group.outputs
        fusion.is_closed = True
        self.duplicated |= group.recomputed
        self.owner.update(dict.fromkeys(group.nodes, fusion))

    def _fuse_into_users(self, node: Node) -> bool:
        """Fuse the node into the kernel of its users if there is one kernel, with room, and the cost allows it."""
        users = [user for user in dict.fromkeys(node.users) if user in self.facts.live]
        # a user that is duplicated is computed by the kernels of its own users, besides any kernel of its own
        kernels = {None if user in self.duplicated else self.owner.get(user) for user in users}
        fusion = kernels.pop() if len(kernels) == 1 and node not in self.outputs else None
        if fusion is None or not self._has_room(fusion, node) or self._must_be_in_memory(node, users):
            return False
        if any(
            ref.node not in self.facts.rematerializable
            for ref in assembled_arrays(fusion.root).intersection(node.refs())
        ):
            return False  # a kernel that updates an array in place must not read it otherwise
        accesses = tuple(dict.fromkeys(a for user in users for a in self._accesses(fusion, node, user)))
        evaluations = sum(a.reads for a in accesses)
        if not all(a.is_known for a in accesses) or not self._may_compute(fusion, node, accesses, evaluations):
            return False
        if any(self._separates_neighbours(fusion, node, a) for a in accesses):
            return False
        if self._keeps_neighbours(node) and any(distance(a.map, node.instruction.shape) > 1 for a in accesses):
            return False
        repeated = evaluations * element_work(node.instruction)
        evaluations //= _threads_sharing_index(accesses, node.instruction.shape)
        fusion.shared_work += repeated - evaluations * element_work(node.instruction)
        fusion.nodes.add(node)
        fusion.has_loop |= self.facts.needs_loop(node)
        fusion.accesses[node] = accesses
        fusion.work += evaluations * element_work(node.instruction)
        fusion.work_once += work_once(node.instruction)
        self.owner[node] = fusion
        return True

    def _has_room(self, fusion: PlannedFusion, node: Node) -> bool:
        if fusion.is_closed or len(fusion.nodes) >= MAX_NODES or (fusion.has_loop and self.facts.needs_loop(node)):
            return False
        members = {*fusion.nodes, node}
        inputs = {ref for n in members for ref in n.refs() if ref.node not in members}
        return len(inputs) + len(fusion.root.instruction.shape.leaves) <= MAX_ARRAYS

    def _must_be_in_memory(self, node: Node, users: Iterable[Node]) -> bool:
        """Whether the node is assembled from updates, or overwritten in place by a user."""
        if node.op.is_scatter_like:
            return True
        return any(
            ref.node is node
            for user in users
            for operand in user.operands[: in_place_count(user)]
            for ref in tree_refs(operand)
        )

    def _may_compute(self, fusion: PlannedFusion, node: Node, accesses: tuple[Access, ...], evaluations: int) -> bool:
        if node.op.has_no_compute:
            return len(accesses) <= MAX_MOVES
        count = element_count(node.instruction)
        if len(accesses) > 1 or evaluations <= count:
            return len(accesses) == 1
        if self.facts.needs_loop(node) or node in self.facts.epilogues or any(a.map.ranges for a in accesses):
            return False
        own = evaluations // _threads_sharing_index(accesses, node.instruction.shape)
        once = fusion.work_once + count
        return (
            fusion.work + own <= MAX_REPETITION * once
            and fusion.shared_work + evaluations - own <= MAX_SHARED_WORK * once
        )

    def _keeps_neighbours(self, node: Node) -> bool:
        """Whether the emitter of a node's kernel wants neighbouring elements for neighbouring threads."""
        return node in self.groups.open and self.groups.open[node].keeps_neighbours

    def _separates_neighbours(self, fusion: PlannedFusion, node: Node, access: Access) -> bool:
        """Whether neighbouring threads, which must read neighbouring elements, would not do so through the node."""
        if not node.op.has_no_compute or not any(map(self._keeps_neighbours, fusion.nodes)):
            return False
        operand = node.instruction.operands[0].shape
        indexings = self.facts.maps(node, 0)[0]
        if operand.is_tuple or len(indexings) != 1 or distance(access.map, node.instruction.shape) != 1:
            return False
        read = self.composer.compose(access, indexings[0], node, 0, operand.dimensions)
        return read.is_known and distance(read.map, operand) > 1

    def _accesses(self, fusion: PlannedFusion, node: Node, user: Node) -> Iterator[Access]:
        """The accesses of `user` to `node`, from an index of the kernel's root."""
        outputs = range(len(user.instruction.shape.leaves))
        is_read_at_once = has_one_index(user.instruction.shape)
        for position, operand in enumerate(user.operands):
            for ref in tree_refs(operand):
                if ref.node is not node:
                    continue
                sizes = ref.shape.dimensions
                leaf = 0 if has_one_index(node.instruction.shape) else ref.leaf
                if user.op.is_scatter_like:  # such a user is the kernel's root
                    yield Access.of_all(sizes, leaf, (user, position))
                    continue
                for access in fusion.accesses[user]:
                    for output in outputs if is_read_at_once else (access.leaf,):
                        for indexing in self.facts.maps(user, output)[position]:
                            read = self.composer.compose(access, indexing, user, position, sizes)
                            yield replace(read, leaf=leaf)


def _threads_sharing_index(accesses: Sequence[Access], shape: Shape) -> int:
    """The number of threads along the root's last dimension that read the same integer of an index: its work counts once.

    Floating-point work, such as powers of a step's number, counts for each thread, hence 1.
    """
    if (
        shape.is_tuple
        or not _is_index_arithmetic(shape)
        or len(accesses) != 1
        or accesses[0].map.ranges
        or distance(accesses[0].map, shape) != 0
    ):
        return 1
    last = accesses[0].map.dims[-1:]
    return max(last[0].interval.upper - last[0].interval.lower + 1, 1) if last else 1


def _is_index_arithmetic(shape: Shape) -> bool:
    kind = element_type(shape.element_type)
    return kind.is_integer or kind.kind == "pred"


def distance(read: IndexingMap, shape: Shape) -> int:
    """The distance in memory, in elements of an array of `shape`, between the reads of the first two points along a map's
    last dimension.
    """
    if not read.dims or read.is_undefined or read.is_known_empty:
        return 0
    start = [v.interval.lower for v in (*read.dims, *read.ranges, *read.runtimes)]
    if read.dims[-1].interval.upper == start[len(read.dims) - 1]:
        return 0
    beside = list(start)
    beside[len(read.dims) - 1] += 1
    place = linearize([read.results[d] for d in major_to_minor(shape)], physical_sizes(shape))
    return abs(int(place.evaluate(beside)) - int(place.evaluate(start)))
