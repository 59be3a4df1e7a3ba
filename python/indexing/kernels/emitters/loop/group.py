"""The kernel that grows from one node: operands join the kernel of their users.

A node joins if all of its users are in the kernel, and if it is not computed more often there than it has elements; maps
composed from the kernel's root tell how often. A kernel holds at most one loop (reduction, dot); it and its epilogue (the
logarithm of a sum) are never repeated. Other nodes may be, outside of loops, while the kernel does at most twice the work of
its nodes; an index that neighbouring threads share (of a gathered row) counts once for them, up to eight times that work.
Nodes assembled from updates (scatter) never join their users.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from indexing.graph.nodes import Node, Ref, arrays_of, assembled_arrays, in_place_count, tree_refs
from indexing.hlo.layout import linearize, major_to_minor, physical_sizes
from indexing.indexing_analysis.access import Access, AccessComposer
from indexing.kernels.proposal import Proposal
from indexing.ops.element_types import element_type
from indexing.partitioner import has_one_index
from indexing.work import MAX_REPETITION, element_count, element_work, work_once

if TYPE_CHECKING:
    from indexing._core import IndexingMap
    from indexing.device.record import Device
    from indexing.graph.facts import GraphFacts
    from indexing.hlo import Shape

MAX_NODES = 256
MAX_SHARED_WORK = 8  # work repeated by neighbours that share an index, in multiples of the work of a kernel's nodes
MAX_ARRAYS = 64  # OpenCL guarantees 1024 bytes of arguments
MAX_MOVES = 8  # indices at which one kernel may read an instruction that only moves elements


def group_loop(facts: GraphFacts, seed: Node, device: Device) -> Proposal:
    """The kernel that grows from the seed."""
    kernel = _GrowingKernel(facts, seed)
    kernel.grow()
    work = kernel.work - kernel.work_once
    return Proposal(seed, kernel.nodes, arrays_of(seed), launches=len(kernel.nodes) - 1, repeated_work=work)


class _GrowingKernel:
    """The nodes of a kernel, the last of them `root`, and the arrays that it reads.

    `accesses` are the reads of each node, from the root's index. `work` is what the kernel does, `work_once` the work of
    computing each node once; `shared_work` is repeated by neighbouring threads that share an index.
    """

    def __init__(self, facts: GraphFacts, root: Node) -> None:
        self.facts, self.root = facts, root
        self.composer = facts.attached(AccessComposer)
        self.nodes = {root}
        self.inputs = set(root.refs())
        self.work = self.work_once = work_once(root.instruction)
        self.shared_work = 0
        self.has_loop = facts.needs_loop(root)
        self.assembled = {r for r in assembled_arrays(root) if r.node not in facts.rematerializable}
        parts = root.instruction.shape.leaves
        count = 1 if has_one_index(root.instruction.shape) else len(parts)
        self.accesses = {root: tuple(Access.of_all(p.dimensions, k) for k, p in enumerate(parts[:count]))}

    def grow(self) -> None:
        """Visit operands, users before their operands, and add those that may join."""
        number = self.facts.number
        pending = [(-number[ref.node], ref.node) for ref in self.inputs]
        heapify(pending)
        seen: set[Node] = set()
        while pending:
            _, node = heappop(pending)
            if node not in seen and self._is_candidate(node) and self._joins(node):
                for ref in node.refs():
                    heappush(pending, (-number[ref.node], ref.node))
            seen.add(node)

    def _is_candidate(self, node: Node) -> bool:
        """Whether no other kernel computes the node, and none but this one reads it."""
        facts = self.facts
        if node in facts.taken or node in facts.rematerializable or not facts.can_compute(node):
            return False
        return node not in facts.result_nodes and all(u in self.nodes for u in facts.users_of(node))

    def _joins(self, node: Node) -> bool:
        """Add the node if there is room, and the cost allows it."""
        users = self.facts.users_of(node)
        if not self._has_room(node) or self._must_be_in_memory(node, users):
            return False
        if not self.assembled.isdisjoint(node.refs()):
            return False  # a kernel that updates an array in place must not read it otherwise
        accesses = tuple(dict.fromkeys(a for user in users for a in self._accesses(node, user)))
        evaluations = sum(a.reads for a in accesses)
        if not all(a.is_known for a in accesses) or not self._may_compute(node, accesses, evaluations):
            return False
        if any(self._separates_neighbours(node, a) for a in accesses):
            return False
        if node in self.facts.coalesced and any(distance(a.map, node.instruction.shape) > 1 for a in accesses):
            return False
        self._add(node, accesses, evaluations)
        return True

    def _add(self, node: Node, accesses: tuple[Access, ...], evaluations: int) -> None:
        each, once = (
            element_work(node.instruction),
            evaluations // _threads_sharing_index(accesses, node.instruction.shape),
        )
        self.nodes.add(node)
        self.inputs = self._inputs_with(node)
        self.has_loop |= self.facts.needs_loop(node)
        self.accesses[node] = accesses
        self.work += once * each
        self.shared_work += (evaluations - once) * each
        self.work_once += work_once(node.instruction)

    def _inputs_with(self, node: Node) -> set[Ref]:
        """The arrays that the kernel reads if the node joins."""
        return {ref for ref in self.inputs if ref.node is not node} | set(node.refs())

    def _has_room(self, node: Node) -> bool:
        if len(self.nodes) >= MAX_NODES or (self.has_loop and self.facts.needs_loop(node)):
            return False
        return len(self._inputs_with(node)) + len(self.root.instruction.shape.leaves) <= MAX_ARRAYS

    def _must_be_in_memory(self, node: Node, users: Sequence[Node]) -> bool:
        """Whether the node is assembled from updates, or overwritten in place by a user."""
        if node.op.is_scatter_like:
            return True
        return any(
            ref.node is node
            for user in users
            for operand in user.operands[: in_place_count(user)]
            for ref in tree_refs(operand)
        )

    def _may_compute(self, node: Node, accesses: tuple[Access, ...], evaluations: int) -> bool:
        if node.op.has_no_compute:
            return len(accesses) <= MAX_MOVES
        count = element_count(node.instruction)
        if len(accesses) > 1 or evaluations <= count:
            return len(accesses) == 1
        if self.facts.needs_loop(node) or node in self.facts.epilogues or any(a.map.ranges for a in accesses):
            return False
        own = evaluations // _threads_sharing_index(accesses, node.instruction.shape)
        once = self.work_once + count
        return (
            self.work + own <= MAX_REPETITION * once and self.shared_work + evaluations - own <= MAX_SHARED_WORK * once
        )

    def _separates_neighbours(self, node: Node, access: Access) -> bool:
        """Whether neighbouring threads, which must read neighbouring elements, would not do so through the node."""
        if not node.op.has_no_compute or self.facts.coalesced.isdisjoint(self.nodes):
            return False
        operand = node.instruction.operands[0].shape
        indexings = self.facts.maps(node, 0)[0]
        if operand.is_tuple or len(indexings) != 1 or distance(access.map, node.instruction.shape) != 1:
            return False
        read = self.composer.compose(access, indexings[0], node, 0, operand.dimensions)
        return read.is_known and distance(read.map, operand) > 1

    def _accesses(self, node: Node, user: Node) -> Iterator[Access]:
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
                for access in self.accesses[user]:
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
