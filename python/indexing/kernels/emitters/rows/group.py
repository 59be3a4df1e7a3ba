"""Row groups of an unfused program: nodes around reductions of the same rows, which become one kernel.

A group grows from a reduction, whose operand is the row space. It takes in users that compute one element for each of the
space or for each row, operands that members read at a single index, and other reductions of the same rows. Members read
outside are outputs if they have the shape of the space or of the rows; readers recompute what is cheap. Where rows are few
and long, the group is what one pass computes, so that blocks can share a row. Groups are convex: no path leaves and returns.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from indexing._core import IndexingMap, compose
from indexing.graph.nodes import Graph, Node, Ref, tree_refs
from indexing.hlo.layout import major_to_minor
from indexing.indexing_analysis.instructions import output_to_input
from indexing.kernels.emitters.reduction.match import arrays_of
from indexing.kernels.emitters.reduction.rows import Rows, is_read_at_one_place, may_give_rows
from indexing.kernels.emitters.rows.group_outputs import choose_outputs
from indexing.kernels.emitters.rows.shared_pass import RowGroup, part_in_one_pass
from indexing.kernels.launch import same_memory
from indexing.ops.reduce import REDUCE

if TYPE_CHECKING:
    from indexing.device.record import Device
    from indexing.hlo import Instruction

MAX_NODES = 192
MAX_INPUTS = 32
MAX_DISTANCE = 2048  # program nodes between the seed and a node that joins its group
MAX_VISITED = 1024  # nodes that one search among users visits
MAX_BLOCK_ELEMENTS = 1 << 16  # a block reads these in about the time that launching further kernels takes
MIN_BLOCKS = 64  # with fewer, much of the machine is idle
COLUMNS_PER_BLOCK = 32  # where the fastest dimension is kept

Places = dict[Node, IndexingMap]  # for each node: the map from an index of the space to the element read


def find_row_groups(
    graph: Graph,
    supports: Callable[[Instruction], bool],
    rematerializable: Collection[Node],
    epilogues: Collection[Node],
    device: Device,
) -> list[RowGroup]:
    """The row groups of a graph, for a device.

    `rematerializable` nodes are recomputed wherever they are read; `epilogues` can be computed by a loop's kernel, after it.
    """
    return _Search(graph, supports, rematerializable, epilogues, device).run()


@dataclass
class _Search:
    graph: Graph
    supports: Callable[[Instruction], bool]
    rematerializable: Collection[Node]
    epilogues: Collection[Node]
    device: Device
    taken: dict[Node, RowGroup] = field(default_factory=dict)
    candidates: dict[Node, bool] = field(default_factory=dict)
    composed: dict[tuple[IndexingMap, IndexingMap], IndexingMap] = field(default_factory=dict)

    def run(self) -> list[RowGroup]:
        self.number = {node: k for k, node in enumerate(self.graph.nodes)}
        self.results = set(tree_refs(self.graph.result))
        self.live = _live(self.graph, {ref.node for ref in self.results})
        seeds = [n for n in reversed(self.graph.nodes) if n in self.live and may_give_rows(n.instruction)]
        found: list[RowGroup] = []
        for with_elements in (True, False):
            tried: set[Node] = set()
            for node in seeds:
                if node in tried or not self.may_join(node):
                    continue
                builder = _GroupBuilder(self, node, with_elements)
                group = builder.group()
                tried |= builder.seen
                if group is not None and self._is_acyclic(group):
                    found.append(group)
                    self.taken |= dict.fromkeys(group.nodes, group)
        return found

    def may_join(self, node: Node) -> bool:
        """Whether a group can hold the node, and none does yet."""
        if node not in self.candidates:
            self.candidates[node] = self._is_candidate(node)
        return self.candidates[node] and node not in self.taken

    def _is_candidate(self, node: Node) -> bool:
        i = node.instruction
        if not self.supports(i):
            return False
        if node.op is REDUCE:
            return may_give_rows(i)
        if i.shape.is_tuple or i.called:
            return False
        return all(is_read_at_one_place(m) for maps in output_to_input(i) for m in maps)

    def compose(self, first: IndexingMap, second: IndexingMap) -> IndexingMap:
        """The composition of two maps, the second after the first; memoized."""
        key = first, second
        if key not in self.composed:
            self.composed[key] = compose(first, second).simplify()
        return self.composed[key]

    def can_compute(self, node: Node) -> bool:
        """Whether a kernel can compute the node."""
        return self.supports(node.instruction)

    def users_of(self, node: Node) -> list[Node]:
        """The live users of a node, each once."""
        return [u for u in dict.fromkeys(node.users) if u in self.live]

    def _is_acyclic(self, group: RowGroup) -> bool:
        """Whether no path leaves the group and returns to it, each other group counting as a single node."""
        last = max(self.number[n] for n in group.nodes)
        others = sorted({id(g): g for g in self.taken.values()}.values(), key=lambda g: self._span(g)[0])
        for other in others:
            low, high = self._span(other)
            last = max(last, high) if low < last else last
        pending = [u for ref in group.outputs for u in ref.node.users if u not in group.nodes]
        seen = set(pending)
        while pending:
            node = pending.pop()
            other_group = self.taken.get(node)
            reached = {node} if other_group is None else other_group.nodes
            seen |= reached
            for user in {u for n in reached for u in n.users if self.number[u] <= last}:
                if user in group.nodes:
                    return False
                if user not in seen:
                    seen.add(user)
                    pending.append(user)
        return True

    def _span(self, group: RowGroup) -> tuple[int, int]:
        numbers = [self.number[n] for n in group.nodes]
        return min(numbers), max(numbers)


@dataclass
class _GroupBuilder:
    """Builds one group around `seed`. `with_elements`: its outputs may have an element for each of the space."""

    search: _Search
    seed: Node
    with_elements: bool
    seen: set[Node] = field(default_factory=set)  # the group's reductions, each of which would give the same group

    def group(self) -> RowGroup | None:
        self.rows = Rows(self.seed.instruction)
        if self.rows.shape.element_count == self.rows.count:
            return None
        found = self._group_around([self.seed])
        if found is None:
            return None
        seeds = list(dict.fromkeys([*(n for n in found if n.op is REDUCE), *self._siblings(found)]))
        if len(seeds) > 1:
            found = self._group_around(seeds) or found
        self.seen.update(n for n in found if n.op is REDUCE)
        search = self.search
        whole = self._group(found)
        if self._is_worth_it(found, whole):
            return whole
        if not (self.with_elements and whole.outputs) or has_enough_blocks(self.seed.instruction):
            return None
        if search.device.widths.caches_rows:  # a second pass over cached rows costs less than the operations it saves
            return None
        return part_in_one_pass(whole, search.graph.nodes, self._group)

    def _group(self, nodes: Collection[Node], affordable: Collection[Node] = ()) -> RowGroup:
        search = self.search
        outputs = choose_outputs(
            nodes, self.rows, search.users_of, search.results, search.can_compute, search.rematerializable, affordable
        )
        root = max(nodes, key=search.number.__getitem__)
        order = sorted(outputs.refs, key=lambda ref: (search.number[ref.node], ref.leaf))
        return RowGroup(root, set(nodes), tuple(order), outputs.recomputed)

    def _group_around(self, seeds: list[Node]) -> Places | None:
        """The members around the reductions `seeds`; None where a path would leave the group and return to it."""
        own = {n: place for n in seeds if (place := self.rows.place_of_result(n.instruction)) is not None}
        consumers = self._users(own, MAX_NODES, self.with_elements)
        return self._with_operands(self._pruned(consumers))

    # ------------------------------------------------------------ users

    def _users(self, starts: Places, max_nodes: int, with_elements: bool) -> Places:
        """The nodes of `starts` and their transitive users that have an element for each of the space or of the rows."""
        number, places, outside = self.search.number, dict(starts), set[Node]()
        pending: list[tuple[int, Node]] = []
        eligible: set[Node] = set()

        def push(node: Node, may_join: bool) -> None:
            for user in self.search.users_of(node):
                heappush(pending, (number[user], user))
                if may_join and number[user] - number[self.seed] < MAX_DISTANCE:
                    eligible.add(user)

        for node in starts:
            push(node, may_join=True)
        for _ in range(MAX_VISITED):
            if not (eligible and pending):
                break
            _, node = heappop(pending)
            if node in places or node in outside:
                continue
            place = self._place_as_user(node, places, outside) if node in eligible and len(places) < max_nodes else None
            if place is not None and not with_elements and not self._is_per_row(node):
                place = None
            eligible.discard(node)
            if place is None:
                outside.add(node)
            else:
                places[node] = place
            push(node, may_join=place is not None)
        return places

    def _place_as_user(self, node: Node, places: Places, outside: Collection[Node]) -> IndexingMap | None:
        if not self.search.may_join(node) or any(ref.node in outside for ref in node.refs()):
            return None
        i = node.instruction
        place = self.rows.place_of_result(i) if node.op is REDUCE else self.rows.place_of(i.shape)
        if place is None or any(places.get(n, where) != where for n, where in self._reads(node, place)):
            return None
        return place

    def _is_per_row(self, node: Node) -> bool:
        return node.instruction.shape.leaves[0].element_count == self.rows.count

    def _pruned(self, consumers: Places) -> Places:
        """The consumers without those that no member reads and that need not be in memory: operands of other reductions, and
        moves of elements that their readers do better.
        """
        kept = dict(consumers)
        results = {ref.node for ref in self.search.results}
        for node in sorted(consumers, key=self.search.number.__getitem__, reverse=True):
            users = self.search.users_of(node)
            if node.op is REDUCE or node in results or self._is_per_row(node) or any(u in kept for u in users):
                continue
            if all(u.op is REDUCE or u in consumers for u in users) or self._is_better_moved_by_users(node, consumers):
                del kept[node]
        return kept

    def _is_better_moved_by_users(self, node: Node, consumers: Places) -> bool:
        if not node.op.has_no_compute:
            return False
        operand = next(node.refs())
        if operand.shape.element_count < node.instruction.shape.element_count:
            return True
        others = [u for u in self.search.users_of(operand.node) if u is not node]
        return any(u not in consumers or u.op.has_no_compute for u in others)

    # ------------------------------------------------------------ operands

    def _with_operands(self, consumers: Places) -> Places | None:
        """The nodes of `consumers` and the operands that they read at a single index.

        None if a consumer is read at several indices, or feeds a node outside of the group that feeds the group again.
        """
        number, members = self.search.number, Places()
        found: dict[Node, set[IndexingMap]] = {n: {place} for n, place in consumers.items()}
        pending = [(-number[n], n) for n in consumers]
        pending.sort()
        eligible, feeds_outside, done = set(consumers), set[Node](), set[Node]()
        while eligible:
            _, node = heappop(pending)
            if node in done:
                continue
            done.add(node)
            eligible.discard(node)
            may_join = node not in feeds_outside and len(members) < MAX_NODES
            place = self._place_as_operand(node, found[node], members, node in consumers) if may_join else None
            if place is None and node in consumers:
                return None
            reads = [] if place is None else list(self._reads(node, place))
            if place is not None:
                members[node] = place
            inside = {n for n, _ in reads}
            for n, where in reads:
                found.setdefault(n, set()).add(where)
                heappush(pending, (-number[n], n))
                if n not in feeds_outside:
                    eligible.add(n)
            for n in {ref.node for ref in node.refs()} - inside - set(self.search.rematerializable):
                feeds_outside.add(n)
                heappush(pending, (-number[n], n))
                if n not in consumers:
                    eligible.discard(n)
        return members

    def _place_as_operand(
        self, node: Node, places: set[IndexingMap], members: Places, must_join: bool
    ) -> IndexingMap | None:
        if len(places) != 1:
            return None
        (place,) = places
        if must_join:
            return place
        if not self.search.may_join(node):
            return None
        shape = node.instruction.shape.leaves[0]
        if node.op is REDUCE and place != self.rows.place_of_result(node.instruction):
            return None
        is_of_space = shape.element_count in (self.rows.shape.element_count, self.rows.count, 1)
        if not (is_of_space or node.op.has_no_compute):
            return None
        is_inside = node not in {r.node for r in self.search.results} and all(
            u in members for u in self.search.users_of(node)
        )
        return place if is_inside or self._may_be_output(node, place) else None

    def _may_be_output(self, node: Node, place: IndexingMap) -> bool:
        """Whether nodes outside may read the node, from memory or by recomputing it."""
        if node.op.has_no_compute:
            return node not in {r.node for r in self.search.results} and moves_in_memory(node)
        if place != self.rows.place_of(node.instruction.shape.leaves[0]):
            return False
        if not self.with_elements:
            return node.op is REDUCE
        return self._is_per_row(node) or node not in self.search.epilogues

    def _reads(self, node: Node, place: IndexingMap) -> Iterator[tuple[Node, IndexingMap]]:
        """The nodes that `node`, computed at `place`, reads, each with the map from an index of the space."""
        i = node.instruction
        if node.op is REDUCE:
            for operand, array in zip(node.operands, arrays_of(i), strict=False):
                where = same_memory(self.rows.shape, array.shape).simplify()
                yield from ((n, where) for n in self._read(operand))
            return
        for operand, maps in zip(node.operands, output_to_input(i), strict=True):
            for m in maps:
                yield from ((n, self.search.compose(place, m.map)) for n in self._read(operand))

    def _read(self, operand: object) -> Iterator[Node]:
        if isinstance(operand, Ref) and operand.node not in self.search.rematerializable:
            yield operand.node

    # ------------------------------------------------------------ sibling reductions and profitability

    def _siblings(self, members: Places) -> Iterator[Node]:
        """Other reductions of the same rows that share inputs with the members."""
        starts = dict(members)
        for node, place in members.items():
            for n, where in self._reads(node, place):
                if n not in members and where == self.rows.place_of(n.instruction.shape.leaves[0]):
                    starts[n] = where
        number = self.search.number[self.seed]
        near = self._users(starts, 2 * MAX_NODES, with_elements=True) if len(starts) > len(members) else {}
        for node in near:
            if node.op is REDUCE and node not in starts and abs(self.search.number[node] - number) < MAX_DISTANCE:
                yield node

    def _is_worth_it(self, members: Places, group: RowGroup) -> bool:
        """Whether the rows emitter, or the reduction emitter with several outputs, saves memory accesses by the group."""
        reductions = [n for n in members if n.op is REDUCE]
        inputs = {ref for n in members for ref in n.refs() if ref.node not in members}
        if len(inputs) > MAX_INPUTS or not group.outputs:
            return False
        levels = self._levels(members)
        depth = max(levels[n] for n in reductions)
        if depth > 1 or any(levels[ref.node] for ref in group.outputs if not self._is_per_row(ref.node)):
            return has_enough_blocks(self.seed.instruction)
        spaces = {_iteration_space(n.instruction) for n in reductions}
        return not self.with_elements and len(reductions) > 1 and len(spaces) == 1

    def _levels(self, members: Places) -> Mapping[Node, int]:
        """For each member, the longest chain of reductions that leads to it, itself included."""
        levels: dict[Node, int] = {}
        for node in sorted(members, key=self.search.number.__getitem__):
            levels[node] = max((levels.get(ref.node, 0) for ref in node.refs()), default=0) + (node.op is REDUCE)
        return levels


def has_enough_blocks(reduce: Instruction) -> bool:
    """Whether the rows of a reduction are so many, or so short, that one kernel without shared rows is the fastest."""
    rows = Rows(reduce)
    is_row = major_to_minor(rows.shape)[-1] in reduce.ints("dimensions")
    blocks = max(rows.count if is_row else rows.count // COLUMNS_PER_BLOCK, 1)
    return blocks >= MIN_BLOCKS or rows.shape.element_count <= MAX_BLOCK_ELEMENTS * blocks


def moves_in_memory(node: Node) -> bool:
    """Whether a node is a view of its operand: the same elements in the same memory order, or fewer of them."""
    refs = list(node.refs())
    if not node.op.has_no_compute or len(refs) != 1 or node.instruction.shape.is_tuple:
        return False
    (ref,) = refs
    count = node.instruction.shape.element_count
    if ref.shape.element_count != count:
        return ref.shape.element_count < count
    ((found,),) = output_to_input(node.instruction)
    return found.map == same_memory(node.instruction.shape, ref.shape).simplify()


def _iteration_space(reduce: Instruction) -> tuple[object, ...]:
    shape = reduce.operands[0].shape
    return shape.dimensions, major_to_minor(shape), tuple(sorted(reduce.ints("dimensions")))


def _live(graph: Graph, outputs: set[Node]) -> set[Node]:
    """The nodes that an output depends on."""
    found: set[Node] = set()
    for node in reversed(graph.nodes):
        if node in outputs or any(user in found for user in node.users):
            found.add(node)
    return found
