"""The kernel that grows from one node, or from several that an emitter computes together: operands join that of their users.

A node joins if all of its users are in the kernel; maps composed from the kernel's root tell how often it is computed there. A
kernel holds at most one loop (reduction, dot); it and its epilogue (the logarithm of a sum) are never repeated. Other nodes may
be, outside of loops, while the repeated work takes less time than another kernel would: its launch, and writing and reading the
arrays at which repetition begins. In loops, only the operands of a product that copies them are computed. Nodes assembled from
updates (scatter) never join their users.

A node that others read, too, becomes a result of the kernel if it has the order of the root's elements in memory, as do other
readers of what the kernel reads: if they had kernels of their own, arrays would be read twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import heappop, heappush

from indexing._core import IndexingMap
from indexing.device.record import Device
from indexing.graph.cycles import is_acyclic
from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Node, Ref, assembled_arrays, in_place_count, tree_refs
from indexing.hlo import Shape
from indexing.hlo.layout import linearize, major_to_minor, physical_sizes
from indexing.indexing_analysis.access import Access, AccessComposer
from indexing.kernels.emitters.update_slice import is_update_in_memory
from indexing.kernels.launch import same_memory
from indexing.kernels.proposal import MAX_ARRAYS, MAX_NODES, Proposal, is_view, storage_of
from indexing.kernels.targets import TARGETS
from indexing.ops.assemble import CONCATENATE
from indexing.partitioner import has_one_index
from indexing.walks import reached
from indexing.work import element_count, element_work, operations, work_once

MAX_ACCESSES = 8  # indices at which a kernel reads one instruction: a call in its source each
MAX_CALLS = 32  # times that a kernel computes one instruction for an element of its root, through all functions
SHARING_LANES = 8  # neighbouring elements of a thread, which computes once what has one index for all


def group_loop(facts: GraphFacts, seed: Node, device: Device) -> Proposal:
    """The kernel that grows from the seed."""
    kernel = _GrowingKernel(facts, seed, device)
    kernel.grow()
    return Proposal(seed, kernel.nodes, kernel.results(), repeated_operations=kernel.repeated_operations)


class _GrowingKernel:
    """The nodes of a kernel, the last of them `root`, and the arrays that it reads.

    `outputs` are the nodes that it writes; `reached` has those that depend on each node. Those in `looped` depend on a loop,
    those in `repeating` on repeated work. A kernel of several updates `has_updates`, each of which may have a loop.
    `accesses` are the reads of each node, from the root's index. Nodes that are computed more often than they have elements are
    `repeated`, with `repeated_operations` besides the `operations` of computing each element once. If another kernel computed
    them, `avoided_bytes` would be written and read. What is read at several indices, or by several functions, is a function
    of the kernel's source: `function` has the node in whose function each node is computed, the root for the kernel itself, and
    `calls` how often that runs for an element of the root. Where the root updates an array in memory, that is `updated`.
    """

    def __init__(self, facts: GraphFacts, root: Node, device: Device) -> None:
        self.facts, self.root, self.device = facts, root, device
        self.composer = facts.attached(AccessComposer)
        self.nodes = set(facts.groups.get(root, {root}))
        self.has_updates = len(self.nodes) > 1
        self.outputs = set(self.nodes)
        self.reached = {n: frozenset([n]) for n in self.nodes}
        self.inputs = {ref for n in self.nodes for ref in n.refs if ref.node not in self.nodes}
        self.pending: list[tuple[int, Node]] = []
        for node in self.nodes:
            self._visit_operands(node)
        self.repeated: set[Node] = set()
        self.repeating: set[Node] = set()
        self.operations = sum(map(_operations_once, self.nodes))
        self.written_bytes = sum(storage_of(ref) for n in self.nodes for ref in n.arrays)
        self.repeated_operations = self.avoided_bytes = 0
        self.looped = {n for n in self.nodes if facts.needs_loop(n)}
        self.assembled = {r for n in self.nodes for r in self._assembled(n) if r.node not in facts.rematerializable}
        self.updated = _updated_array(facts, root) if len(self.nodes) == 1 else frozenset()
        self.accesses = {n: _all_elements(n.instruction.shape) for n in self.nodes}
        self.reads: dict[Node, dict[Node, dict[Access, None]]] = {}
        self.function = dict.fromkeys(self.nodes, root)
        self.calls = {root: 1}

    def _assembled(self, node: Node) -> set[Ref]:
        """The arrays that the kernel updates for the node, and must not read otherwise."""
        if len(self.nodes) == 1:
            return assembled_arrays(node)
        return {ref for operand in node.operands[: in_place_count(node)] for ref in tree_refs(operand)}

    def grow(self) -> None:
        """Visit operands, users before their operands, and add those that may join."""
        seen: set[Node] = set()
        while self.pending:
            _, node = heappop(self.pending)
            if node not in seen:
                seen.add(node)
                self._add_readers(node)
                if self._is_candidate(node) and self._has_room(node):
                    self._join(node)

    def results(self) -> tuple[Ref, ...]:
        """The arrays that the kernel writes."""
        outputs = sorted(filter(self._is_read_outside, self.outputs), key=self.facts.number.__getitem__)
        return tuple(ref for n in outputs for ref in n.arrays)

    def _is_candidate(self, node: Node) -> bool:
        """Whether no kernel computes the node yet, and that of another node can."""
        facts = self.facts
        return node in facts.undecided and node not in facts.rematerializable and node not in facts.apart

    def _join(self, node: Node) -> None:
        """Add the node if the cost allows it."""
        users = [u for u in self.facts.users_of(node) if u in self.nodes]
        if self._must_be_in_memory(node, users):
            return
        fixed = self.assembled | self.updated if len(self.outputs) > 1 else self.assembled
        if not fixed.isdisjoint(node.refs):
            return  # a kernel that updates an array in place must not read it otherwise
        accesses = tuple(dict.fromkeys(a for user in users for a in self._reads(user)[node]))
        function, calls = self._calls(node, users, accesses)
        is_output = self._is_read_outside(node)
        reached = frozenset[Node]().union(*(self.reached[u] for u in users), [node] if is_output else [])
        if not all(a.is_known for a in accesses):
            return
        is_copied = self._is_copied(node, accesses, calls)
        again = 0 if is_copied else _repeated_operations(node, accesses, calls)
        if not is_copied and not self._may_compute(node, accesses, calls, again, reached):
            return
        if is_output and not (self._is_at_its_place(node, accesses) and self._is_acyclic_with(node)):
            return
        if any(self._separates_neighbours(node, a) for a in accesses):
            return
        if node in self.facts.coalesced and any(distance(a.map, node.instruction.shape) > 1 for a in accesses):
            return
        if self.facts.needs_loop(node) and not self._may_loop(reached):
            return
        self.function[node], self.calls[function] = function, calls
        self._add(node, accesses, again, reached)

    def _may_loop(self, reached: frozenset[Node]) -> bool:
        """Whether there is a place for a loop on which the results `reached` depend: all, or updates without one yet."""
        if self.has_updates:
            return self.looped.isdisjoint(reached)
        return not self.looped and reached >= self.outputs

    def _calls(self, node: Node, users: Sequence[Node], accesses: Sequence[Access]) -> tuple[Node, int]:
        """The node whose function computes `node`, and how often that is called for an element of the root."""
        functions = {self.function[u] for u in users}
        (first, *others) = functions
        if not others and len(accesses) <= len(self.accesses[first]):
            return first, self.calls[first]
        calls = 0
        for f in functions:
            own = {a for u in users if self.function[u] is f for a in self._reads(u)[node]}
            calls += self.calls[f] * -(-len(own) // len(self.accesses[f]))
        return node, calls

    def _add_readers(self, node: Node) -> None:
        """Add readers of the node that are results of kernels of their own, if they read all of it where the kernel does."""
        if self.looped or element_count(node.instruction) < element_count(self.root.instruction):
            return
        facts = self.facts
        for reader in facts.users_of(node):
            if reader in self.nodes or not self._is_candidate(reader) or facts.needs_loop(reader):
                continue
            users = facts.users_of(reader)
            if self.nodes.isdisjoint(users) and facts.undecided.isdisjoint(users) and self._has_room(reader):
                self._add_reader(reader, node)

    def _add_reader(self, reader: Node, shared: Node) -> None:
        place = self._place_of_output(reader)
        if place is None:
            return
        self.accesses[reader] = (place,)
        reads = self._reads(reader)
        is_alike = all(reads[n].keys() <= self._accesses_in_kernel(n) for n in reads if n in self.nodes or n is shared)
        if is_alike and self._is_acyclic_with(reader):
            self.function[reader] = self.root
            self._add(reader, (place,), _repeated_operations(reader, (place,), 1), frozenset([reader]))
        else:
            del self.accesses[reader], self.reads[reader]

    def _accesses_in_kernel(self, node: Node) -> set[Access]:
        if node in self.nodes:
            return set(self.accesses[node])
        return {a for user in self.facts.users_of(node) if user in self.nodes for a in self._reads(user)[node]}

    def _is_read_outside(self, node: Node) -> bool:
        return node in self.facts.result_nodes or not all(u in self.nodes for u in self.facts.users_of(node))

    def _is_at_its_place(self, node: Node, accesses: tuple[Access, ...]) -> bool:
        """Whether the kernel reads the node where it may write it for readers outside: for an update, at its elements."""
        if not self.updated:
            return accesses == (self._place_of_output(node),)
        shape = node.instruction.shape
        read_by = (n for n in (node, *self.nodes) if n is not self.root)
        if self.looped or shape.is_tuple or is_view(node) or any(not self.updated.isdisjoint(n.refs) for n in read_by):
            return False
        update = self.root.instruction.operands[1].shape
        if update.element_count != shape.element_count:
            return False
        place = same_memory(update, shape).simplify()
        return accesses == (Access(place, update.element_count, context=((self.root, 1),)),)

    def _place_of_output(self, node: Node) -> Access | None:
        """The access at which the kernel may write the node for readers outside: in the root's order in memory; None where it
        may not.
        """
        root, shape = self.root.instruction.shape, node.instruction.shape
        if self.looped or root.is_tuple or shape.is_tuple:
            return None
        if shape.element_count != root.element_count or is_view(node):
            return None
        if any(in_place_count(n) or n.op.is_scatter_like for n in (node, self.root)):
            return None
        return Access(same_memory(root, shape).simplify(), root.element_count)

    def _is_acyclic_with(self, output: Node) -> bool:
        return is_acyclic(self.facts, self.nodes | {output}, (*self.outputs, output))

    def _add(self, node: Node, accesses: tuple[Access, ...], again: int, reached: frozenset[Node]) -> None:
        """Add a node for which `again` operations are repeated."""
        self.nodes.add(node)
        self.inputs |= self._new_inputs(node)
        self.inputs.difference_update(node.arrays)
        self._visit_operands(node)
        if self.facts.needs_loop(node):
            self.looped |= reached
        self.accesses[node] = accesses
        self.reached[node] = reached
        self.operations += _operations_once(node)
        if again:
            self.repeated_operations += again
            self.avoided_bytes += self._avoided_bytes(node)
            self.repeated.add(node)
            self.repeating |= reached
        if self._is_read_outside(node):
            self.outputs.add(node)
            self.written_bytes += sum(map(storage_of, node.arrays))

    def _visit_operands(self, node: Node) -> None:
        for ref in node.refs:
            heappush(self.pending, (-self.facts.number[ref.node], ref.node))

    def _new_inputs(self, node: Node) -> set[Ref]:
        """The arrays that the kernel reads only if the node joins."""
        return {ref for ref in node.refs if ref.node not in self.nodes and ref not in self.inputs}

    def _has_room(self, node: Node) -> bool:
        if len(self.nodes) >= MAX_NODES or (self.looped and not self.has_updates and self.facts.needs_loop(node)):
            return False
        more = len(self._new_inputs(node)) - sum(ref in self.inputs for ref in node.arrays)
        arrays = len(self.inputs) + more + len(self.root.instruction.shape.leaves)
        return more <= 0 or arrays + len(self.outputs) <= MAX_ARRAYS

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

    def _may_compute(
        self, node: Node, accesses: tuple[Access, ...], calls: int, again: int, reached: frozenset[Node]
    ) -> bool:
        if calls == 1 and accesses[0].reads <= element_count(node.instruction):
            return True
        if len(accesses) > MAX_ACCESSES or calls > MAX_CALLS:
            return False
        if not node.op.has_no_compute and self._is_in_loop(node, accesses):
            return False
        if self._chooses(node):
            return False
        return self._repeats_in_time(node, again, reached)

    def _is_copied(self, node: Node, accesses: Sequence[Access], calls: int) -> bool:
        """Whether the node is computed for an operand that the kernel copies to memory that several of its elements read."""
        facts = self.facts
        if calls != 1 or facts.copying.isdisjoint(self.nodes) or facts.needs_loop(node) or node in facts.epilogues:
            return False
        return all(a.map.ranges for a in accesses)

    def _is_in_loop(self, node: Node, accesses: Sequence[Access]) -> bool:
        """Whether the node has a loop, comes after one, or is computed in one; without loops, ranges are of index vectors."""
        facts = self.facts
        is_inside = bool(self.looped) and any(a.map.ranges for a in accesses)
        return facts.needs_loop(node) or node in facts.epilogues or is_inside

    def _chooses(self, node: Node) -> bool:
        """Whether each element of the node is one of several that are computed apart: loops over threads have branches."""
        if node.op is not CONCATENATE or TARGETS[self.device.dialect].has_threads:
            return False
        chosen = reached(
            (ref.node for ref in node.refs),
            lambda moved: (ref.node for ref in moved.refs if moved.op.has_no_compute),
        )
        return any(not operand.op.has_no_compute and self.facts.needs_kernel(operand) for operand in chosen)

    def _repeats_in_time(self, node: Node, again: int, reached: frozenset[Node]) -> bool:
        """Whether a kernel that computes the node, and repeats `again` operations for it, takes no longer than if all that it
        repeats were computed once by another kernel, or, for several updates, by one for each.
        """
        rates, bandwidth = self.device.rates, self.device.reached_bandwidth
        read = (self.inputs | self._new_inputs(node)).difference(node.arrays)
        moved = sum(map(storage_of, read)) + self.written_bytes
        once = self.operations + _operations_once(node)
        whole = max(moved / bandwidth, (once + self.repeated_operations + again) / rates.operations)
        avoided = self.avoided_bytes + self._avoided_bytes(node)
        parts = max((moved + avoided) / bandwidth, once / rates.operations)
        launches = len(self.repeating | reached) if self.has_updates else 1
        return whole <= parts + launches * self.device.launch_seconds

    def _avoided_bytes(self, node: Node) -> int:
        """The bytes of writing and reading the node, if none of its users is repeated."""
        if any(user in self.repeated for user in self.facts.users_of(node)):
            return 0
        return 2 * sum(map(storage_of, node.arrays))

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

    def _reads(self, user: Node) -> dict[Node, dict[Access, None]]:
        """The accesses of a node to each that it reads, from an index of the kernel's root, in order."""
        if user not in self.reads:
            reads = self.reads[user] = {ref.node: {} for ref in user.refs}
            for position, operand in enumerate(user.operands):
                for ref in tree_refs(operand):
                    reads[ref.node].update(dict.fromkeys(self._accesses(user, position, ref)))
        return self.reads[user]

    def _accesses(self, user: Node, position: int, ref: Ref) -> Iterator[Access]:
        """The accesses of a node to an array of its operand at `position`."""
        sizes = ref.shape.dimensions
        leaf = 0 if has_one_index(ref.node.instruction.shape) else ref.leaf
        if user.op.is_scatter_like or (self.updated and user is self.root):  # such a user is the kernel's root
            yield Access.of_all(sizes, leaf, (user, position))
            return
        outputs = range(len(user.arrays))
        for access in self.accesses[user]:
            for output in outputs if has_one_index(user.instruction.shape) else (access.leaf,):
                for indexing in self.facts.maps(user, output)[position]:
                    read = self.composer.compose(access, indexing, user, position, sizes)
                    yield read if read.leaf == leaf else replace(read, leaf=leaf)


def _updated_array(facts: GraphFacts, root: Node) -> frozenset[Ref]:
    """The array in memory that an update is written to, whose kernel may write other results beside it; none for others."""
    array = frozenset(tree_refs(root.operands[0])) if is_update_in_memory(root) else frozenset()
    is_stored = all(ref.node not in facts.rematerializable and root.refs.count(ref) == 1 for ref in array)
    return array if is_stored else frozenset()


def _all_elements(shape: Shape) -> tuple[Access, ...]:
    count = 1 if has_one_index(shape) else len(shape.leaves)
    return tuple(Access.of_all(part.dimensions, k) for k, part in enumerate(shape.leaves[:count]))


def _operations_once(node: Node) -> int:
    return work_once(node.instruction) * operations(node.instruction)


def _repeated_operations(node: Node, accesses: Sequence[Access], calls: int) -> int:
    """The operations of computing a node at these accesses, in so many calls for an element of the root, but for those of
    computing each of its elements once.
    """
    count = element_count(node.instruction)
    if max(calls, len(accesses)) * max(a.reads for a in accesses) <= count:
        return 0
    computed = sum(a.reads // _lanes_sharing_index(a, node.instruction.shape) for a in accesses)
    computed = max(computed, computed * calls // len(accesses))
    return max(computed - count, 0) * element_work(node.instruction) * operations(node.instruction)


def _lanes_sharing_index(access: Access, shape: Shape) -> int:
    """The number of neighbouring elements of the root for which one element of an array of `shape` is computed."""
    if shape.is_tuple or not access.map.dims or distance(access.map, shape) != 0:
        return 1
    last = access.map.dims[-1].interval
    return min(last.upper - last.lower + 1, SHARING_LANES)


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
