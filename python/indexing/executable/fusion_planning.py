"""Which operations of an unfused program become one kernel.

A node joins the kernel of its users when all of them are in that one kernel, and when computing it there costs no more
than computing it once. How often it would be computed is what the maps from the kernel's root say, however many
instructions lie between. What loops (a reduction, a dot) takes part at most once a kernel, and is never computed more
often than it has elements; what can follow it at its own size (the logarithm of a sum) stays with it. Other operations may
be repeated, outside of loops, as long as the kernel does at most twice the work of its nodes; what neighbours need at one
place (the index of a row that is gathered) counts once for them, up to eight times the work of its nodes. What assembles its
result from updates (a scatter) is never computed inside of its users.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from indexing.emitters.machine import GPU, Machine
from indexing.executable.graph import Graph, Node, Ref, arrays_of, tree_refs
from indexing.executable.planned_fusion import PlannedFusion, assembled_arrays, operands_of, overwritten_count
from indexing.executable.row_groups import find_row_groups, moves_in_memory
from indexing.executable.shared_rows import RowGroup
from indexing.hlo.layout import linearize, major_to_minor, physical_sizes
from indexing.indexing_analysis.access import Access, AccessComposer
from indexing.indexing_analysis.instructions import output_to_input
from indexing.ops.dot import DOT
from indexing.ops.element_types import element_type
from indexing.ops.registry import traits_of
from indexing.partitioner import has_one_index
from indexing.work import MAX_REPETITION, element_count, element_work, work_once

if TYPE_CHECKING:
    from indexing._core import IndexingMap
    from indexing.hlo import Computation, Instruction, Shape
    from indexing.ops.operand_indexing import Indexing

MAX_NODES = 256
MAX_SHARED = 8  # times the work of a kernel's nodes, that its neighbours repeat at one place
MAX_ARRAYS = 64  # OpenCL promises 1024 bytes of arguments
MAX_MOVES = 8  # places at which one kernel may read an instruction that only moves elements


class KernelSupport:
    """Which instructions have element code, the computations that they apply included."""

    def __init__(self) -> None:
        """Nothing is known yet; answers are kept, one a computation."""
        self._known: dict[Computation, bool] = {}

    def instruction(self, instruction: Instruction) -> bool:
        """Whether a kernel can compute the instruction; constant arrays are passed to kernels instead."""
        op = traits_of(instruction)
        if op.calls in ("fused", "inlined", "branches", "loops", "starts") or op.kind == "names":
            return False
        if instruction.is_parameter or (instruction.is_constant and instruction.shape.element_count != 1):
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
    op = traits_of(instruction)
    return op.kind == "names" or instruction.is_parameter or op.element is not None


def plan_fusions(graph: Graph, support: KernelSupport, machine: Machine = GPU) -> list[PlannedFusion]:
    """The kernels of a graph's nodes, users before their operands; nodes that no kernel can compute are in none."""
    return _FusionPlanner(graph, support, machine).run()


class _FusionPlanner:
    """The state of one walk over a graph, from its outputs to its parameters."""

    def __init__(self, graph: Graph, support: KernelSupport, machine: Machine) -> None:
        self.graph = graph
        self.support = support
        self.machine = machine
        self.outputs = {ref.node for ref in tree_refs(graph.result)}
        self.owner: dict[Node, PlannedFusion] = {}
        self.maps: dict[tuple[Node, int], Indexing] = {}
        self.composer = AccessComposer()
        self.live: set[Node] = set()
        self.copied: set[Node] = set()
        self.free: set[Node] = set()  # scalars of the program's text, iotas, and what merely spreads them
        self.follows: set[Node] = set()  # what a loop's kernel can compute after the loop, element by element
        for node in graph.nodes:
            if self._is_free(node):
                self.free.add(node)
            if any(self._can_follow(node, ref) for ref in node.refs()):
                self.follows.add(node)

    def _is_free(self, node: Node) -> bool:
        if not self.support.instruction(node.instruction):
            return False
        if node.op.is_source:
            return True
        refs = list(node.refs())
        return node.op.has_no_compute and bool(refs) and all(r.node in self.free for r in refs)

    def _can_follow(self, node: Node, ref: Ref) -> bool:
        if ref.node not in self.follows and not self._loops(ref.node):
            return False
        return element_count(node.instruction) <= element_count(ref.node.instruction)

    def run(self) -> list[PlannedFusion]:
        found: list[PlannedFusion] = []
        groups = {g.root: g for g in self._row_groups()}
        for node in reversed(self.graph.nodes):
            if not self._is_live(node) or not self.support.instruction(node.instruction):
                continue
            if node in groups:
                found.append(self._start(node))
                self._close(found[-1], groups[node])
            if node in self.owner:
                continue
            if self._is_copied_into_users(node):
                self.copied.add(node)
                if self._is_assembled_into(node):
                    found.append(self._start(node))
            elif not self._join_users(node):
                found.append(self._start(node))
        for fusion in found:
            self._add_free(fusion)
        return found

    def _is_live(self, node: Node) -> bool:
        """Whether an output depends on the node; asked of users before their operands."""
        if node in self.outputs or any(user in self.live for user in node.users):
            self.live.add(node)
        return node in self.live

    def _is_copied_into_users(self, node: Node) -> bool:
        """A node that is free, or merely names elements that different kernels read, needs no kernel of its own."""
        if node in self.outputs or not (node in self.free or (moves_in_memory(node) and self._has_several_homes(node))):
            return False
        return all(u in self.owner or u in self.copied or u not in self.live for u in node.users)

    def _has_several_homes(self, node: Node) -> bool:
        return len({id(self.owner.get(u)) for u in node.users if u in self.live}) > 1

    def _is_assembled_into(self, node: Node) -> bool:
        """Whether a user needs it in memory, to assemble its own result there."""
        operands = (found for user in node.users if user in self.live for found in operands_of(user))
        return any(ref.node is node for operand, is_assembled in operands if is_assembled for ref in tree_refs(operand))

    def _add_free(self, fusion: PlannedFusion) -> None:
        pending = list(fusion.nodes)
        while pending:
            for operand, is_assembled in operands_of(pending.pop()):
                for ref in () if is_assembled else tree_refs(operand):
                    if ref.node in self.copied and ref.node not in fusion.nodes:
                        fusion.nodes.add(ref.node)
                        pending.append(ref.node)

    def _start(self, node: Node) -> PlannedFusion:
        work = work_once(node.instruction)
        parts = node.instruction.shape.leaves
        fusion = PlannedFusion(node, arrays_of(node), work, work, nodes={node}, has_loop=self._loops(node))
        count = 1 if has_one_index(node.instruction.shape) else len(parts)
        fusion.accesses[node] = tuple(Access.of_all(p.dimensions, k) for k, p in enumerate(parts[:count]))
        self.owner[node] = fusion
        return fusion

    def _row_groups(self) -> list[RowGroup]:
        return find_row_groups(self.graph, self.support.instruction, self.free, self.follows, self.machine)

    def _close(self, fusion: PlannedFusion, group: RowGroup) -> None:
        """The fusion is the group; no others may join."""
        fusion.nodes |= group.nodes
        fusion.outputs = group.outputs
        fusion.is_closed = True
        self.copied |= group.again
        self.owner.update(dict.fromkeys(group.nodes, fusion))

    def _join_users(self, node: Node) -> bool:
        """Put the node into the kernel of its users, where that is one, has room, and computes no more than before."""
        users = [user for user in dict.fromkeys(node.users) if user in self.live]
        homes = {self.owner.get(user) for user in users}
        fusion = homes.pop() if len(homes) == 1 and node not in self.outputs else None
        if fusion is None or not self._has_room(fusion, node) or self._must_be_in_memory(node, users):
            return False
        if any(ref.node not in self.free for ref in assembled_arrays(fusion.root).intersection(node.refs())):
            return False  # whoever reads an array beside updates of it reads it before
        accesses = tuple(dict.fromkeys(a for user in users for a in self._accesses(fusion, node, user)))
        evaluations = sum(a.reads for a in accesses)
        if not all(a.is_known for a in accesses) or not self._may_compute(fusion, node, accesses, evaluations):
            return False
        if any(self._parts_columns(fusion, node, a) for a in accesses):
            return False
        if node.op is DOT and any(distance(a.map, node.instruction.shape) > 1 for a in accesses):
            return False  # by columns side by side it is fastest
        repeated = evaluations * element_work(node.instruction)
        evaluations //= _sharing_neighbours(accesses, node.instruction.shape)
        fusion.shared += repeated - evaluations * element_work(node.instruction)
        fusion.nodes.add(node)
        fusion.has_loop |= self._loops(node)
        fusion.accesses[node] = accesses
        fusion.work += evaluations * element_work(node.instruction)
        fusion.work_once += work_once(node.instruction)
        self.owner[node] = fusion
        return True

    def _has_room(self, fusion: PlannedFusion, node: Node) -> bool:
        if fusion.is_closed or len(fusion.nodes) >= MAX_NODES or (fusion.has_loop and self._loops(node)):
            return False
        members = {*fusion.nodes, node}
        inputs = {ref for n in members for ref in n.refs() if ref.node not in members}
        return len(inputs) + len(fusion.root.instruction.shape.leaves) <= MAX_ARRAYS

    def _must_be_in_memory(self, node: Node, users: Iterable[Node]) -> bool:
        """Whether the node is assembled in memory, or overwritten there by a user."""
        if node.op.by_updates:
            return True
        return any(
            ref.node is node
            for user in users
            for operand in user.operands[: overwritten_count(user)]
            for ref in tree_refs(operand)
        )

    def _may_compute(self, fusion: PlannedFusion, node: Node, accesses: tuple[Access, ...], evaluations: int) -> bool:
        if node.op.has_no_compute:
            return len(accesses) <= MAX_MOVES
        count = element_count(node.instruction)
        if len(accesses) > 1 or evaluations <= count:
            return len(accesses) == 1
        if self._loops(node) or node in self.follows or any(a.map.ranges for a in accesses):
            return False
        own = evaluations // _sharing_neighbours(accesses, node.instruction.shape)
        once = fusion.work_once + count
        return fusion.work + own <= MAX_REPETITION * once and fusion.shared + evaluations - own <= MAX_SHARED * once

    def _parts_columns(self, fusion: PlannedFusion, node: Node, access: Access) -> bool:
        """Whether the node moves apart in memory what the columns of a dot read side by side."""
        if not node.op.has_no_compute or not any(n.op is DOT for n in fusion.nodes):
            return False
        operand = node.instruction.operands[0].shape
        found = self._maps(node, 0)[0]
        if operand.is_tuple or len(found) != 1 or distance(access.map, node.instruction.shape) != 1:
            return False
        read = self.composer.compose(access, found[0], node, 0, operand.dimensions)
        return read.is_known and distance(read.map, operand) > 1

    def _accesses(self, fusion: PlannedFusion, node: Node, user: Node) -> Iterator[Access]:
        """The access of `user` to `node`, seen from the kernel's root."""
        outputs = range(len(user.instruction.shape.leaves))
        is_read_at_once = has_one_index(user.instruction.shape)
        for position, operand in enumerate(user.operands):
            for ref in tree_refs(operand):
                if ref.node is not node:
                    continue
                sizes = ref.shape.dimensions
                leaf = 0 if has_one_index(node.instruction.shape) else ref.leaf
                if user.op.by_updates:  # it is the kernel's root
                    yield Access.of_all(sizes, leaf, (user, position))
                    continue
                for access in fusion.accesses[user]:
                    for output in outputs if is_read_at_once else (access.leaf,):
                        for found in self._maps(user, output)[position]:
                            read = self.composer.compose(access, found, user, position, sizes)
                            yield replace(read, leaf=leaf)

    def _loops(self, node: Node) -> bool:
        """Whether one element of the output takes a loop over elements of an operand."""
        if not self.support.instruction(node.instruction):
            return False
        return any(o.map.is_undefined or bool(o.map.ranges) for found in self._maps(node, 0) for o in found)

    def _maps(self, node: Node, output: int) -> Indexing:
        found = self.maps.get((node, output))
        if found is None:
            found = self.maps[node, output] = output_to_input(node.instruction, output)
        return found


def _sharing_neighbours(accesses: Sequence[Access], shape: Shape) -> int:
    """The number of neighbours along the root's last dimension that share a number of an index: it counts once for them.

    What each of them computes of floating point numbers, such as powers of a step's number, counts for each.
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
    """The number of elements of an array of `shape` between what neighbours in a map's last dimension read, at its start."""
    if not read.dims or read.is_undefined or read.is_known_empty:
        return 0
    start = [v.interval.lower for v in (*read.dims, *read.ranges, *read.runtimes)]
    if read.dims[-1].interval.upper == start[len(read.dims) - 1]:
        return 0
    beside = list(start)
    beside[len(read.dims) - 1] += 1
    place = linearize([read.results[d] for d in major_to_minor(shape)], physical_sizes(shape))
    return abs(int(place.evaluate(beside)) - int(place.evaluate(start)))
