"""The arrays that control flow carries in vain: elements of loops' states and of branches' results that nothing reads.

A loop's element is read behind the loop, by its condition, or by what the body computes of another one that is read. Its start
is not computed, nor does a turn write it, if none does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace

from indexing.graph.nodes import Graph, Node, Ref, Tree, map_leaves, tree_refs
from indexing.hlo import Computation
from indexing.ops.values import leaves_of


def without_unread(
    entry: Computation, graphs: Mapping[Computation, Graph], called: Callable[[Node], tuple[Computation, ...]]
) -> dict[Computation, Graph]:
    """The graphs of a program, whose control flow carries only arrays that its result depends on.

    `called` gives the computations that a node's control flow runs; of a loop the condition only if it is evaluated.
    """
    liveness = _Liveness(graphs, called)
    liveness.start(entry)
    return {computation: liveness.pruned(computation, computation is entry) for computation in graphs}


@dataclass(eq=False)
class _Liveness:
    """The arrays that are read, the leaves that computations return to readers, and the control flow that runs each.

    `passed` has the leaves of the operands that control flow gives to each parameter, once it is known to be read.
    """

    graphs: Mapping[Computation, Graph]
    called: Callable[[Node], tuple[Computation, ...]]
    live: set[Ref] = field(default_factory=set)
    returned: defaultdict[Computation, set[int]] = field(default_factory=lambda: defaultdict(set))
    callers: defaultdict[Computation, list[Node]] = field(default_factory=lambda: defaultdict(list))
    passed: dict[Node, defaultdict[Node, list[list[Ref | None]]]] = field(default_factory=dict)
    owner: dict[Node, Computation] = field(init=False)
    results: dict[Computation, list[Ref | None]] = field(init=False)
    pending: list[Ref] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.owner = {parameter: c for c, graph in self.graphs.items() for parameter in graph.parameters}
        self.results = {c: leaves_of(graph.result) for c, graph in self.graphs.items()}

    def start(self, entry: Computation) -> None:
        """Find all that the results of the entry depend on."""
        for leaf in range(len(self.results[entry])):
            self._return(entry, leaf)
        while self.pending:
            ref = self.pending.pop()
            if ref.node in self.owner:
                for caller in self.callers[self.owner[ref.node]]:
                    self._pass(caller, ref)
            elif called := self.called(ref.node):
                self._enter(ref.node, called)
                self._run(ref, called)
            else:
                self._read(*ref.node.refs)

    def _read(self, *refs: Ref | None) -> None:
        for ref in refs:
            if ref is not None and ref not in self.live:
                self.live.add(ref)
                self.pending.append(ref)

    def _return(self, computation: Computation, leaf: int) -> None:
        """Note that a leaf of the result is read; each caller has it then."""
        if leaf not in self.returned[computation]:
            self.returned[computation].add(leaf)
            self._read(self.results[computation][leaf])
            self._read(*(Ref(caller, leaf) for caller in self.callers[computation] if _returns(caller, computation)))

    def _enter(self, node: Node, called: tuple[Computation, ...]) -> None:
        """Note what runs a computation: what others of its callers made it read and return, it does for this one."""
        if node in self.passed:
            return
        self.passed[node] = defaultdict(list)
        for position, parameter in self._parameters(node):
            self.passed[node][parameter].append(leaves_of(node.operands[position]))
        for computation in called:
            self.callers[computation].append(node)
            for parameter in self.graphs[computation].parameters:
                for ref in self.live.intersection(parameter.arrays):
                    self._pass(node, ref)
            if _returns(node, computation):
                self._read(*(Ref(node, leaf) for leaf in self.returned[computation]))
            else:
                self._return(computation, 0)
        if node.op.calls == "branches":
            self._read(*tree_refs(node.operands[0]))

    def _run(self, ref: Ref, called: tuple[Computation, ...]) -> None:
        """Pass on that a result of control flow is read; a loop without turns returns what it was given."""
        for computation in called:
            if _returns(ref.node, computation):
                self._return(computation, ref.leaf)
            if ref.node.op.calls == "loops":
                self._read(Ref(self.graphs[computation].parameters[0], ref.leaf))

    def _pass(self, caller: Node, ref: Ref) -> None:
        """Pass on to a caller that its callee reads a parameter's array; a loop then carries it, if it is one of its state."""
        self._read(*(leaves[ref.leaf] for leaves in self.passed[caller][ref.node]))
        if caller.op.calls == "loops" and ref.node.instruction.parameter_number == 0:
            self._read(Ref(caller, ref.leaf))

    def _parameters(self, caller: Node) -> Iterator[tuple[int, Node]]:
        """The parameters that control flow gives its operands to, behind the position of each."""
        is_choice = caller.op.calls == "branches"
        for k, computation in enumerate(self.called(caller)):
            for parameter in self.graphs[computation].parameters:
                yield k + 1 if is_choice else parameter.instruction.parameter_number, parameter

    def pruned(self, computation: Computation, is_entry: bool) -> Graph:
        """The graph of a computation, whose nodes lose the arrays that are not read."""
        graph = self.graphs[computation]
        if is_entry:
            result = graph.result
        else:
            result = _only(graph.result, self.returned[computation])
            for parameter in graph.parameters:
                parameter.carry((), self._only_live(parameter.tree))
        for node in graph.nodes:
            if node in self.passed:
                node.carry(self._passed(node), self._only_live(node.tree))
        return replace(graph, result=result)

    def _only_live(self, tree: Tree) -> Tree:
        return map_leaves(tree, lambda _, ref: ref if ref in self.live else None)

    def _passed(self, caller: Node) -> tuple[Tree, ...]:
        """The operands of control flow, without the arrays that no callee reads."""
        operands = list(caller.operands)
        for position, parameter in self._parameters(caller):
            live = {ref.leaf for ref in self.live.intersection(parameter.arrays)}
            operands[position] = _only(operands[position], live)
        return tuple(operands)


def _only(tree: Tree, leaves: Set[int]) -> Tree:
    return map_leaves(tree, lambda leaf, ref: ref if leaf in leaves else None)


def _returns(caller: Node, computation: Computation) -> bool:
    """Whether the results of control flow are those of a computation that it runs: not of a condition."""
    return caller.op.calls != "loops" or computation is caller.instruction.computation_of("body")
