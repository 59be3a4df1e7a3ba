"""Proposals of emitters: nodes of a program that one kernel would compute, and what this saves and costs."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass

from indexing.device.record import Device
from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Node, Ref, tree_refs
from indexing.hlo import Computation
from indexing.indexing_analysis.access import Access
from indexing.indexing_analysis.computations import instruction_indexing
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.launch import same_memory
from indexing.work import element_count

#: The limits of one kernel; OpenCL guarantees 1024 bytes of arguments.
MAX_NODES = 256
MAX_ARRAYS = 64


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """Nodes that one kernel would compute, `root` the last of them.

    The kernel writes `outputs`; readers outside recompute members of `recomputed`. It saves `launches` of other kernels and
    `saved_bytes` of memory traffic; `repeated_operations` compute values again. A proposal `is_open` if other nodes may join
    that leave neighbouring threads with neighbouring elements of the root and of its operands. With a `replacement`, the root
    is to be computed as that computation instead, whose instructions have faster kernels. What its nodes read joins the
    kernel of a proposal that `may_grow`, as it joins those of single nodes. A root that `copies_operands`, tile by tile, to
    memory in which several of its elements find them, may compute them on the way.
    """

    root: Node
    nodes: Set[Node]
    outputs: tuple[Ref, ...] = ()
    recomputed: Set[Node] = frozenset()
    launches: int = 0
    saved_bytes: int = 0
    repeated_operations: int = 0
    is_open: bool = False
    copies_operands: bool = False
    may_grow: bool = False
    replacement: Computation | None = None

    def seconds_saved(self, device: Device) -> float:
        """The predicted time that the proposal saves, less that of repeated operations."""
        saved = self.launches * device.launch_seconds + self.saved_bytes / device.reached_bandwidth
        return saved - self.repeated_operations / device.rates.operations


@dataclass(slots=True, eq=False)
class PlannedFusion:
    """Nodes that become one kernel, which computes `outputs`; `root` is the last of its nodes."""

    root: Node
    nodes: set[Node]
    outputs: tuple[Ref, ...]


def storage_of(ref: Ref) -> int:
    """The bytes of an array."""
    return ref.shape.element_count * storage_bytes(ref.shape.element_type)


def is_view(node: Node) -> bool:
    """Whether a node is a view of its operand: the same elements in the same memory order, or fewer of them."""
    refs = node.refs
    if not node.op.has_no_compute or len(refs) != 1 or node.instruction.shape.is_tuple:
        return False
    (ref,) = refs
    count = node.instruction.shape.element_count
    if ref.shape.element_count != count:
        return ref.shape.element_count < count
    ((indexing,),) = instruction_indexing(node.instruction, 0)
    return indexing.map == same_memory(node.instruction.shape, ref.shape).simplify()


def is_read_repeatedly(facts: GraphFacts, node: Node, readers: Iterable[Node]) -> bool:
    """Whether a reader, directly or through moves of elements, reads more elements than the node has, as loops do."""
    pending = [(node, reader) for reader in readers]
    seen: set[Node] = set()
    while pending:
        read, reader = pending.pop()
        count = element_count(read.instruction)
        pairs = zip(reader.operands, facts.maps(reader, 0), strict=True)
        maps = (m for operand, indexings in pairs if any(r.node is read for r in tree_refs(operand)) for m in indexings)
        if any(m.map.is_undefined or Access(m.map, 1).reads > count for m in maps):
            return True
        if reader.op.has_no_compute and reader not in seen:
            seen.add(reader)
            pending += [(reader, user) for user in filter(facts.can_compute, facts.users_of(reader))]
    return False
