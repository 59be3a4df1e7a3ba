"""Row groups of an unfused program: what lies around reductions that share their rows, for one kernel over rows.

A group has one root, with an element for each of the row space, or a reduction of it. From there, nodes join that all live
users in the group read at one place: elementwise work on the space or on its rows, and reductions of whole rows. Each is
then computed once, whatever a loop or a broadcast between them seems to say.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from indexing._core import IndexingMap, compose
from indexing.emitters.heroes.reduction.body import arrays_of
from indexing.emitters.heroes.rows.space import is_read_at_one_place, place_of_row
from indexing.emitters.launch import same_memory
from indexing.executable.graph import Graph, Node, Ref, tree_refs
from indexing.hlo.layout import major_to_minor
from indexing.indexing_analysis.instructions import output_to_input
from indexing.ops.op import leaves
from indexing.ops.reduce import REDUCE

if TYPE_CHECKING:
    from indexing.hlo import Instruction, Shape

MAX_NODES = 192
MAX_INPUTS = 32
SMALL = 1 << 16  # elements: any number of blocks is enough
MIN_BLOCKS = 64
COLUMNS = 32  # of a block, where the fastest dimension is kept


@dataclass(slots=True, eq=False)
class RowGroup:
    """Nodes that become one kernel, whose output is the array of `root`."""

    root: Node
    nodes: set[Node]


def find_row_groups(graph: Graph, supports: Callable[[Instruction], bool], free: Collection[Node]) -> list[RowGroup]:
    """The groups of a graph, users before their operands; `free` nodes are computed wherever they are read."""
    return _Search(graph, supports, free).run()


@dataclass
class _Search:
    graph: Graph
    supports: Callable[[Instruction], bool]
    free: Collection[Node]
    taken: set[Node] = field(default_factory=set)

    def run(self) -> list[RowGroup]:
        self.number = {node: k for k, node in enumerate(self.graph.nodes)}
        self.outputs = {ref.node for ref in tree_refs(self.graph.result)}
        self.live = _live(self.graph, self.outputs)
        self.above = self._above_reductions()
        found: list[RowGroup] = []
        tried: set[Node] = set()
        for node in reversed(self.graph.nodes):
            if node in self.above and node in self.live and node not in tried:
                growth = _Growth(self, node)
                group = growth.group()
                tried |= {n for n in growth.nodes if n.op is not REDUCE}  # from there, no more than from here
                if group is not None:
                    found.append(group)
                    self.taken |= group.nodes
                    tried |= group.nodes
        return found

    def _above_reductions(self) -> set[Node]:
        """The nodes between which and a reduction lie only such as may join a group, broadcasts of its result among them."""
        found: set[Node] = set()
        for node in self.graph.nodes:
            if not self.may_join(node):
                continue
            if node.op is REDUCE or any(ref.node in found for ref in node.refs()):
                found.add(node)
        return found

    def may_join(self, node: Node) -> bool:
        """Whether its instruction is one that a group may hold."""
        i = node.instruction
        if node in self.taken or not self.supports(i):
            return False
        if node.op is REDUCE:
            return len({major_to_minor(o.shape) for o in arrays_of(i)}) == 1 and 0 not in i.operands[0].shape.dimensions
        if i.shape.is_tuple or i.called:
            return False
        return all(is_read_at_one_place(m) for maps in output_to_input(i) for m in maps)


@dataclass
class _Growth:
    """The growth of one group."""

    search: _Search
    root: Node
    nodes: set[Node] = field(default_factory=set)
    reductions: list[Node] = field(default_factory=list)
    places: dict[Node, set[IndexingMap]] = field(default_factory=dict)
    rows: int = 0

    def group(self) -> RowGroup | None:
        i = self.root.instruction
        is_reduction = self.root.op is REDUCE
        self.space: Shape = i.operands[0].shape if is_reduction else i.shape
        if self.space.is_tuple or not self.space.dimensions:
            return None
        self.rows = self._row_count()
        place = place_of_row(i, self.space) if is_reduction else IndexingMap.identity(self.space.dimensions)
        if place is None or not self.rows:
            return None
        pending = [(-self.search.number[self.root], self.root)]
        self.places[self.root] = {place}
        while pending and len(self.nodes) < MAX_NODES:
            _, node = heappop(pending)
            if not self._joins(node):
                continue
            self.nodes.add(node)
            for operand, where in self._reads(node):
                if operand not in self.places:
                    heappush(pending, (-self.search.number[operand], operand))
                self.places.setdefault(operand, set()).add(where)
        return RowGroup(self.root, self.nodes) if self._is_worth_it() else None

    def _row_count(self) -> int:
        """How many rows the nearest reduction of a whole space makes; 0 where there is none."""
        pending = [(-self.search.number[self.root], self.root)]
        seen = {self.root}
        while pending and len(seen) < MAX_NODES:
            _, node = heappop(pending)
            i = node.instruction
            if node.op is REDUCE and i.operands[0].shape.element_count == self.space.element_count:
                return leaves(i.shape)[0].element_count
            for ref in node.refs():
                if ref.node in self.search.above and ref.node not in seen:
                    seen.add(ref.node)
                    heappush(pending, (-self.search.number[ref.node], ref.node))
        return 0

    def _joins(self, node: Node) -> bool:
        if node is not self.root:
            users = {u for u in node.users if u in self.search.live}
            if node in self.search.outputs or not users <= self.nodes or not self.search.may_join(node):
                return False
        places = self.places[node]
        if len(places) != 1:
            return False
        (place,) = places
        if node.op is REDUCE and self._reduces_rows(node, place):
            self.reductions.append(node)
            return True
        count = node.instruction.shape.element_count if not node.instruction.shape.is_tuple else 0
        if node.op is REDUCE:
            return False
        return count in (self.space.element_count, self.rows, 1) or node.op.has_no_compute

    def _reduces_rows(self, node: Node, place: IndexingMap) -> bool:
        rows = leaves(node.instruction.shape)[0].element_count
        if place_of_row(node.instruction, self.space) != place or rows != self.rows:
            return False
        kept = {v for e in place.results for v in e.used_variables()}
        first = self.reductions[0] if self.reductions else node
        (of_first,) = self.places[first]
        return kept == {v for e in of_first.results for v in e.used_variables()}

    def _reads(self, node: Node) -> Iterator[tuple[Node, IndexingMap]]:
        """The nodes that a node of the group reads, with their places."""
        (place,) = self.places[node]
        i = node.instruction
        if node.op is REDUCE:
            for operand, array in zip(node.operands, arrays_of(i), strict=False):
                yield from ((n, same_memory(self.space, array.shape).simplify()) for n in self._read(operand))
            return
        for operand, maps in zip(node.operands, output_to_input(i), strict=True):
            for m in maps:
                yield from ((n, compose(place, m.map).simplify()) for n in self._read(operand))

    def _read(self, operand: object) -> Iterator[Node]:
        if isinstance(operand, Ref) and operand.node not in self.search.free:
            yield operand.node

    def _is_worth_it(self) -> bool:
        """Whether a reduction's result comes back to the elements of its row, and blocks are enough to share the work."""
        is_per_element = self.root.op is not REDUCE
        if len(self.reductions) < (1 if is_per_element else 2):
            return False
        inputs = {ref for n in self.nodes for ref in n.refs() if ref.node not in self.nodes}
        if len(inputs) > MAX_INPUTS or not (is_per_element or self._has_chain()):
            return False
        first = self.reductions[0].instruction
        operand = first.operands[0].shape
        is_row = major_to_minor(operand)[-1] in first.ints("dimensions")
        blocks = self.rows if is_row else self.rows // COLUMNS
        return blocks >= MIN_BLOCKS or operand.element_count <= SMALL

    def _has_chain(self) -> bool:
        """Whether a reduction's operand depends on another reduction."""
        below: set[Node] = set()
        for node in sorted(self.nodes, key=self.search.number.__getitem__):
            if any(ref.node in below for ref in node.refs()):
                if node.op is REDUCE:
                    return True
                below.add(node)
            elif node.op is REDUCE:
                below.add(node)
        return False


def _live(graph: Graph, outputs: set[Node]) -> set[Node]:
    """The nodes on which an output depends."""
    found: set[Node] = set()
    for node in reversed(graph.nodes):
        if node in outputs or any(user in found for user in node.users):
            found.add(node)
    return found
