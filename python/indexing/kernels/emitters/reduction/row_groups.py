"""Row groups of an unfused program: nodes around reductions of the same rows, which become one kernel.

A group grows from a reduction, whose operand is the row space. It takes in users that compute one element for each of the
space or for each row, operands that members read at a single index, and other reductions of the same rows. Members read
outside are outputs if they have the shape of the space or of the rows; readers recompute what is cheap. Where rows are few
and long, the group is what one pass computes, so that blocks can share a row. Groups are convex: no path leaves and returns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush

from indexing._core import IndexingMap, compose
from indexing.device.record import Device
from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Node, Ref
from indexing.hlo.layout import major_to_minor
from indexing.kernels.emitters.reduction.group_outputs import choose_outputs
from indexing.kernels.emitters.reduction.match import arrays_of, iteration_space
from indexing.kernels.emitters.reduction.rows import Rows, is_read_at_one_place, may_give_rows
from indexing.kernels.launch import same_memory
from indexing.kernels.proposal import Proposal, is_view, storage_of
from indexing.ops.reduce import REDUCE
from indexing.work import operations, work_once

MAX_NODES = 192
MAX_INPUTS = 32
MAX_DISTANCE = 2048  # program nodes between the seed and a node that joins its group
MAX_VISITED = 1024  # nodes that one search among users visits
REGISTER_BYTES = 4
COLUMNS_PER_BLOCK = 32  # a block has so many columns if the fastest dimension is kept

Places = dict[Node, IndexingMap]  # for each node: the map from an index of the space to the element read


@dataclass(eq=False)
class RowMemo:
    """The memory of the searches of one graph: candidates, compositions of maps, and, by whether outputs may have an element
    for each of the space, and the number of nodes that were taken by then, the reductions that were tried.
    """

    candidates: dict[Node, bool] = field(default_factory=dict)
    composed: dict[tuple[IndexingMap, IndexingMap], IndexingMap] = field(default_factory=dict)
    tried: set[tuple[bool, int, Node]] = field(default_factory=set)

    def compose(self, first: IndexingMap, second: IndexingMap) -> IndexingMap:
        """The composition of two maps, the second after the first."""
        key = first, second
        if key not in self.composed:
            self.composed[key] = compose(first, second).simplify()
        return self.composed[key]


def may_join(facts: GraphFacts, node: Node) -> bool:
    """Whether a group can hold the node, and no kernel does yet."""
    known = facts.attached(RowMemo).candidates
    if node not in known:
        known[node] = _is_candidate(facts, node)
    return known[node] and node not in facts.taken


def _is_candidate(facts: GraphFacts, node: Node) -> bool:
    i = node.instruction
    if not facts.supports(i):
        return False
    if node.op is REDUCE:
        return may_give_rows(i)
    if i.shape.is_tuple or i.called:
        return False
    return all(is_read_at_one_place(m) for maps in facts.maps(node, 0) for m in maps)


def row_group(facts: GraphFacts, seed: Node, with_elements: bool) -> RowGroup | None:
    """The group around a reduction; None for another node, or if the group was tried before, from another of its reductions.

    `with_elements`: its outputs may have an element for each of the space.
    """
    if seed.op is not REDUCE or not may_give_rows(seed.instruction) or not may_join(facts, seed):
        return None
    memo, search = facts.attached(RowMemo), (with_elements, len(facts.taken))
    if (*search, seed) in memo.tried:
        return None
    builder = _GroupBuilder(facts, seed, with_elements)
    group = builder.group()
    memo.tried.update((*search, n) for n in builder.seen)
    return group


@dataclass(eq=False)
class RowGroup:
    """The `members` around a reduction, and the kernel that computes them (`whole`); it `is_worth_it` if it saves memory
    accesses. Blocks can't share a row of one that `needs_rows` for several passes.
    """

    builder: _GroupBuilder
    members: Places
    whole: Proposal
    is_worth_it: bool
    needs_rows: bool

    def has_enough_blocks(self, device: Device) -> bool:
        """Whether the kernel, none of whose blocks share a row, takes no longer because it has fewer blocks than a device has
        cores than kernels of its parts, which take at least another launch and read the rows again.

        A block whose rows fit into half of a core's registers, or its cache, waits for them once, as other kernels' blocks do.
        """
        read = {ref for n in self.members for ref in n.refs if ref.node not in self.members}
        widest = max(map(storage_of, read), default=0)
        held = device.cores.registers * REGISTER_BYTES // 2 or device.memory.l1_bytes
        if widest <= _blocks(self.builder.rows) * held:
            return True
        return self._lost_seconds(read, device) <= device.launch_seconds + widest / device.reached_bandwidth

    def _lost_seconds(self, read: Collection[Ref], device: Device) -> float:
        """The time that the kernel loses to cores without a block: others have their share of the operations, and of the
        bandwidth of the L2 cache.
        """
        share, rate = min(_blocks(self.builder.rows) / device.cores.count, 1), device.reached_bandwidth
        moved = sum(map(storage_of, (*read, *self.whole.outputs)))
        seconds = (
            sum(work_once(n.instruction) * operations(n.instruction) for n in self.members) / device.rates.operations
        )
        busy = max(moved / min(rate, device.memory.l2_bandwidth * share), seconds / share)
        return busy - max(moved / rate, seconds)

    def of(self, nodes: Collection[Node], affordable: Collection[Node]) -> Proposal:
        """The kernel of some members, of which readers may recompute those that are affordable."""
        return self.builder.proposal(nodes, affordable)


@dataclass
class _GroupBuilder:
    """Builds one group around `seed`. `with_elements`: its outputs may have an element for each of the space."""

    facts: GraphFacts
    seed: Node
    with_elements: bool
    seen: set[Node] = field(default_factory=set)  # the group's reductions, each of which would give the same group

    def group(self) -> RowGroup | None:
        """The group; None where a path would leave it and return to it."""
        self.rows = Rows(self.seed.instruction)
        if self.rows.shape.element_count == self.rows.count:
            return None
        members = self._group_around([self.seed])
        if members is None:
            return None
        seeds = list(dict.fromkeys([*(n for n in members if n.op is REDUCE), *self._siblings(members)]))
        if len(seeds) > 1:
            members = self._group_around(seeds) or members
        self.seen.update(n for n in members if n.op is REDUCE)
        whole = self.proposal(members)
        levels = self._levels(members)
        needs_rows = max(levels[n] for n in members if n.op is REDUCE) > 1 or any(
            levels[ref.node] for ref in whole.outputs if ref.node in levels and not self._is_per_row(ref.node)
        )
        return RowGroup(self, members, whole, self._is_worth_it(members, whole, needs_rows), needs_rows)

    def proposal(self, nodes: Collection[Node], affordable: Collection[Node] = ()) -> Proposal:
        """The kernel of the nodes: it saves writing and reading their results, but for its outputs."""
        facts = self.facts
        outputs = choose_outputs(facts, nodes, self.rows, affordable)
        order = tuple(sorted(outputs.refs, key=lambda ref: (facts.number[ref.node], ref.leaf)))
        root = max(nodes, key=facts.number.__getitem__)
        passes = sum(n.op is REDUCE for n in nodes)
        read = {ref for n in nodes for ref in n.refs}
        kept = {r for r in read if r.node in nodes and r not in outputs.refs and r.node not in facts.rematerializable}
        # each would be written and read; arrays that several passes read are read once
        saved = sum(2 * storage_of(r) for r in kept) + (passes - 1) * max(map(storage_of, read), default=0)
        again = sum(work_once(n.instruction) * operations(n.instruction) for n in outputs.recomputed)
        return Proposal(root, frozenset(nodes), order, outputs.recomputed, passes - 1, saved, again)

    def _group_around(self, seeds: list[Node]) -> Places | None:
        """The members around the reductions `seeds`; None where a path would leave the group and return to it."""
        own = {n: place for n in seeds if (place := self.rows.place_of_result(n.instruction)) is not None}
        consumers = self._users(own, MAX_NODES, self.with_elements)
        return self._with_operands(self._pruned(consumers))

    # ------------------------------------------------------------ users

    def _users(self, starts: Places, max_nodes: int, with_elements: bool) -> Places:
        """The nodes of `starts` and their transitive users that have an element for each of the space or of the rows."""
        number, places, outside = self.facts.number, dict(starts), set[Node]()
        pending: list[tuple[int, Node]] = []
        eligible, known = set[Node](), set(starts)

        def push(node: Node, may_join: bool) -> None:
            for user in self.facts.users_of(node):
                if user not in known:
                    known.add(user)
                    heappush(pending, (number[user], user))
                if may_join and user not in places and number[user] - number[self.seed] < MAX_DISTANCE:
                    eligible.add(user)

        for node in starts:
            push(node, may_join=True)
        for _ in range(MAX_VISITED):
            if not eligible:
                break
            _, node = heappop(pending)
            may_join = node in eligible and len(places) < max_nodes
            place = self._place_as_user(node, places, outside) if may_join else None
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
        if not may_join(self.facts, node) or any(ref.node in outside for ref in node.refs):
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
        results = self.facts.result_nodes
        for node in sorted(consumers, key=self.facts.number.__getitem__, reverse=True):
            users = self.facts.users_of(node)
            if node.op is REDUCE or node in results or self._is_per_row(node) or any(u in kept for u in users):
                continue
            if all(u.op is REDUCE or u in consumers for u in users) or self._is_better_moved_by_users(node, consumers):
                del kept[node]
        return kept

    def _is_better_moved_by_users(self, node: Node, consumers: Places) -> bool:
        if not node.op.has_no_compute:
            return False
        operand = node.refs[0]
        if operand.shape.element_count < node.instruction.shape.element_count:
            return True
        others = [u for u in self.facts.users_of(operand.node) if u is not node]
        return any(u not in consumers or u.op.has_no_compute for u in others)

    # ------------------------------------------------------------ operands

    def _with_operands(self, consumers: Places) -> Places | None:
        """The nodes of `consumers` and the operands that they read at a single index.

        None if a consumer is read at several indices, or feeds a node outside of the group that feeds the group again.
        """
        number, members = self.facts.number, Places()
        places: dict[Node, set[IndexingMap]] = {n: {place} for n, place in consumers.items()}
        pending = sorted((-number[n], n) for n in consumers)
        eligible, feeds_outside, known = set(consumers), set[Node](), set(consumers)
        while eligible:
            _, node = heappop(pending)
            eligible.discard(node)
            is_inside = node not in feeds_outside and len(members) < MAX_NODES
            place = self._place_as_operand(node, places[node], members, node in consumers) if is_inside else None
            if place is None and node in consumers:
                return None
            reads = [] if place is None else list(self._reads(node, place))
            if place is not None:
                members[node] = place
            inside = {n for n, _ in reads}
            for n, where in reads:
                places.setdefault(n, set()).add(where)
                if n not in feeds_outside and may_join(self.facts, n):
                    eligible.add(n)
            for n in self.facts.read_nodes(node):
                if n not in inside and n not in feeds_outside:
                    feeds_outside.add(n)
                    if n not in consumers:
                        eligible.discard(n)
                if n not in known:
                    known.add(n)
                    heappush(pending, (-number[n], n))
        return members

    def _place_as_operand(
        self, node: Node, places: set[IndexingMap], members: Places, must_join: bool
    ) -> IndexingMap | None:
        if len(places) != 1:
            return None
        (place,) = places
        if must_join:
            return place
        if not may_join(self.facts, node):
            return None
        shape = node.instruction.shape.leaves[0]
        if node.op is REDUCE and place != self.rows.place_of_result(node.instruction):
            return None
        is_of_space = shape.element_count in (self.rows.shape.element_count, self.rows.count, 1)
        if not (is_of_space or node.op.has_no_compute):
            return None
        is_inside = node not in self.facts.result_nodes and all(u in members for u in self.facts.users_of(node))
        return place if is_inside or self._may_be_output(node, place) else None

    def _may_be_output(self, node: Node, place: IndexingMap) -> bool:
        """Whether nodes outside may read the node, from memory or by recomputing it."""
        if node.op.has_no_compute:
            return node not in self.facts.result_nodes and is_view(node)
        if place != self.rows.place_of(node.instruction.shape.leaves[0]):
            return False
        if not self.with_elements:
            return node.op is REDUCE
        return self._is_per_row(node) or node not in self.facts.epilogues

    def _reads(self, node: Node, place: IndexingMap) -> Iterator[tuple[Node, IndexingMap]]:
        """The nodes that `node`, computed at `place`, reads, each with the map from an index of the space."""
        i = node.instruction
        if node.op is REDUCE:
            for operand, array in zip(node.operands, arrays_of(i), strict=False):
                where = same_memory(self.rows.shape, array.shape).simplify()
                yield from ((n, where) for n in self._read(operand))
            return
        for operand, maps in zip(node.operands, self.facts.maps(node, 0), strict=True):
            for m in maps:
                yield from ((n, self.facts.attached(RowMemo).compose(place, m.map)) for n in self._read(operand))

    def _read(self, operand: object) -> Iterator[Node]:
        if isinstance(operand, Ref) and operand.node not in self.facts.rematerializable:
            yield operand.node

    # ------------------------------------------------------------ sibling reductions and profitability

    def _siblings(self, members: Places) -> Iterator[Node]:
        """Other reductions of the same rows that share inputs with the members."""
        starts = dict(members)
        for node, place in members.items():
            for n, where in self._reads(node, place):
                if n not in members and where == self.rows.place_of(n.instruction.shape.leaves[0]):
                    starts[n] = where
        number = self.facts.number[self.seed]
        near = self._users(starts, 2 * MAX_NODES, with_elements=True) if len(starts) > len(members) else {}
        for node in near:
            if node.op is REDUCE and node not in starts and abs(self.facts.number[node] - number) < MAX_DISTANCE:
                yield node

    def _is_worth_it(self, members: Places, group: Proposal, needs_rows: bool) -> bool:
        """Whether the rows emitter, or the reduction emitter with several outputs, saves memory accesses by the group."""
        inputs = {ref for n in members for ref in n.refs if ref.node not in members}
        if len(inputs) > MAX_INPUTS or not group.outputs:
            return False
        if any(self.rows.place_of(ref.shape) is None for ref in group.outputs):
            return False  # the host reads a view that has neither an element for each row nor one for each of the space
        reductions = [n for n in members if n.op is REDUCE]
        spaces = {iteration_space(n.instruction) for n in reductions}
        return needs_rows or (not self.with_elements and len(reductions) > 1 and len(spaces) == 1)

    def _levels(self, members: Places) -> Mapping[Node, int]:
        """For each member, the longest chain of reductions that leads to it, itself included."""
        levels: dict[Node, int] = {}
        for node in sorted(members, key=self.facts.number.__getitem__):
            levels[node] = max((levels.get(ref.node, 0) for ref in node.refs), default=0) + (node.op is REDUCE)
        return levels


def _blocks(rows: Rows) -> int:
    """The number of blocks of a kernel whose blocks don't share rows."""
    return max(rows.count if _is_row(rows) else rows.count // COLUMNS_PER_BLOCK, 1)


def _is_row(rows: Rows) -> bool:
    """Whether the elements of a row are neighbours in memory."""
    sizes = rows.shape.dimensions
    return [d for d in major_to_minor(rows.shape) if sizes[d] > 1][-1] in rows.reduce.ints("dimensions")


def group_reductions(facts: GraphFacts, seed: Node, device: Device) -> Proposal | None:
    """The kernel around a reduction with outputs for each row; None if it would compute nothing else."""
    rows = row_group(facts, seed, with_elements=False)
    if rows is None or not rows.is_worth_it:
        return None
    return rows.whole if not rows.needs_rows or rows.has_enough_blocks(device) else None
