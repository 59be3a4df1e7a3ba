"""Hoisting out of loops: what every turn would compute alike is computed once, before the loop.

A node of a body is invariant if it has no effect but its arrays, and reads only constants, other invariant nodes, and elements
of the state that each turn returns as they are. The loop reads its array as a further operand, which the body has as a further
parameter. What is cheap is not hoisted: a kernel computes it from less memory than it would be read from. A transpose takes
strided reads, and is hoisted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from indexing.graph.nodes import Graph, Node, Ref, map_leaves, needed_nodes, tree_refs
from indexing.hlo import Computation, Instruction, ModuleBuilder
from indexing.ops.registry import traits_of
from indexing.ops.shape import TRANSPOSE
from indexing.ops.values import leaves_of

#: Bytes of the arrays that are hoisted out of a loop which carries fewer: those that caches hold, so that reading them is fast.
MAX_HOISTED_BYTES = 4 << 20


def with_hoisted(
    graphs: Mapping[Computation, Graph],
    called: Callable[[Node], tuple[Computation, ...]],
    trip_counts: Mapping[Node, int | None],
) -> dict[Computation, Graph]:
    """The graphs of a program, callees first, in which what is invariant in a loop's body is computed by its callers.

    `called` gives the computations that a node's control flow runs. Bodies that run only once are left as they are.
    """
    hoisted = dict(graphs)
    callers: dict[Computation, dict[Computation, list[Node]]] = {c: {} for c in graphs}
    for caller, graph in graphs.items():
        for node in graph.nodes:
            for callee in called(node):
                callers[callee].setdefault(caller, []).append(node)
    for body in graphs:
        loops = [node for nodes in callers[body].values() for node in nodes]
        if not all(_is_body(body, loop) for loop in loops) or all(_runs_once(trip_counts.get(n)) for n in loops):
            continue
        exported = _Invariants(hoisted[body]).exported()
        if exported:
            moved = _cone(hoisted[body], exported)
            for caller, nodes in callers[body].items():
                hoisted[caller] = _with_invariants(hoisted[caller], nodes, moved, exported)
            hoisted[body] = _without_invariants(hoisted[body], exported)
    return hoisted


def _is_body(computation: Computation, node: Node) -> bool:
    """Whether control flow runs a computation as the body of a loop, and as nothing else."""
    called = [c for c in node.instruction.called if c is computation]
    return node.op.calls == "loops" and called == [node.instruction.computation_of("body")]


def _runs_once(count: int | None) -> bool:
    return count is not None and count <= 1


class _Invariants:
    """The nodes of a loop's body that compute the same in every turn, and the arrays of them that are worth their memory."""

    def __init__(self, body: Graph) -> None:
        self.body = body
        self.laborious: set[Node] = set()  # those that take work, or read what does
        # The arrays from which a kernel computes an invariant node: its own where it is better read from memory.
        self.sources: dict[Node, set[Ref]] = {}
        (self.state,) = body.parameters
        results = leaves_of(body.result)
        fixed = {ref for ref in self.state.arrays if results[ref.leaf] == ref}
        for node in body.nodes:
            if _is_pure(node) and all(ref in fixed or ref.node in self.sources for ref in node.refs):
                self._add(node)

    def _add(self, node: Node) -> None:
        own, read = set(node.arrays), self._sources_of(node.refs)
        is_smaller = node.op.is_source or _bytes(read) < _bytes(own)
        is_transposed = node.op is TRANSPOSE and not is_smaller  # else each turn reads rows along their columns
        is_laborious = is_transposed or _takes_work(node.instruction)
        if is_laborious or any(ref.node in self.laborious for ref in node.refs):
            self.laborious.add(node)
        self.sources[node] = read if is_smaller and not is_laborious else own

    def _sources_of(self, refs: Iterable[Ref]) -> set[Ref]:
        """The arrays from which kernels read or compute the arrays of invariant nodes and others."""
        sources: set[Ref] = set()
        for ref in refs:
            known = self.sources.get(ref.node, {ref})
            sources |= {ref} if ref in known else known
        return sources

    def exported(self) -> list[Ref]:
        """The arrays to compute before the loop, in the order of the body, as far as memory allows."""
        readers = needed_nodes(self.body) - self.sources.keys()
        read = [ref for node in readers for ref in node.refs] + list(tree_refs(self.body.result))
        exported = [ref for ref in self._sources_of(read) if ref.node in self.laborious]
        exported.sort(key=lambda ref: (self.body.number[ref.node], ref.leaf))
        return _that_fit(exported, max(MAX_HOISTED_BYTES, _bytes(self.state.arrays)))


def _that_fit(refs: Iterable[Ref], limit: int) -> list[Ref]:
    """The first arrays of some that take no more than that many bytes."""
    fitting: list[Ref] = []
    for ref in refs:
        size = _bytes([ref])
        if size <= limit:
            fitting.append(ref)
            limit -= size
    return fitting


def _is_pure(node: Node) -> bool:
    """Whether a node only computes arrays from arrays, the same ones each time."""
    i, op = node.instruction, node.op
    is_local = op.reference is not None and op.across_replicas is None and not op.runs_computations
    has_effect = i.attributes.get("custom_call_has_side_effect") == "true"
    return is_local and op.kind != "orders" and not has_effect and not i.is_parameter


def _takes_work(instruction: Instruction) -> bool:
    """Whether an element takes more than cheap arithmetic: a loop, a costly function, or a step of its own."""
    op = traits_of(instruction)
    is_alone = op.element is None and not op.is_source
    return is_alone or op.reads_many or op.is_expensive or op.is_scatter_like


def _bytes(refs: Iterable[Ref]) -> int:
    return sum(ref.shape.element_count * ref.shape.dtype.itemsize for ref in refs)


def _cone(body: Graph, refs: Sequence[Ref]) -> list[Node]:
    """The nodes that arrays depend on, without parameters, operands first."""
    needed = needed_nodes(replace(body, result=tuple(refs)))
    return [node for node in body.nodes if node in needed and node not in body.parameters]


def _with_invariants(caller: Graph, loops: Collection[Node], moved: Sequence[Node], exported: Sequence[Ref]) -> Graph:
    """The caller's graph, in which copies of the nodes of a body stand before each loop, which reads their arrays."""
    nodes: list[Node] = []
    for node in caller.nodes:
        if node in loops:
            state = leaves_of(node.operands[0])
            copies: dict[Node, Node] = {}
            for source in moved:
                copies[source] = _copy_of(source, copies, state)
            nodes += copies.values()
            node.carry((*node.operands, *(Ref(copies[ref.node], ref.leaf) for ref in exported)), node.tree)
        nodes.append(node)
    return replace(caller, nodes=tuple(nodes))


def _copy_of(node: Node, copies: Mapping[Node, Node], state: Sequence[Ref | None]) -> Node:
    """The node for another graph, where arrays of the loop's state have other names."""

    def renamed(_: int, ref: Ref) -> Ref | None:
        return Ref(copies[ref.node], ref.leaf) if ref.node in copies else state[ref.leaf]

    copy = Node(node.instruction, ())
    copy.carry(tuple(map_leaves(operand, renamed) for operand in node.operands), copy.tree)
    return copy


def _without_invariants(body: Graph, exported: Sequence[Ref]) -> Graph:
    """The body's graph, which has the arrays as parameters behind its state."""
    module = ModuleBuilder("invariants", "invariants")
    module.entry.parameter(body.parameters[0].instruction.shape)
    for ref in exported:
        module.entry.parameter(ref.shape, ref.node.instruction.name)
    added = [Node(p, ()) for p in module.build().entry.parameters[1:]]
    given = {ref: Ref(node) for ref, node in zip(exported, added, strict=True)}

    def renamed(_: int, ref: Ref) -> Ref:
        return given.get(ref, ref)

    for node in body.nodes:
        node.carry(tuple(map_leaves(operand, renamed) for operand in node.operands), node.tree)
    parameters = (*body.parameters, *added)
    graph = replace(body, parameters=parameters, nodes=(*added, *body.nodes), result=map_leaves(body.result, renamed))
    needed = needed_nodes(graph) | set(parameters)
    for node in graph.nodes:
        if node not in needed:
            node.carry((), node.tree)  # it is no user any more
    return replace(graph, nodes=tuple(node for node in graph.nodes if node in needed))
