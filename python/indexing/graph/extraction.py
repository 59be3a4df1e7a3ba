"""Extraction of some nodes of a graph as an HLO module of its own, the input of emitters; a key of its content."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from indexing.graph.flattening import flatten
from indexing.graph.nodes import Graph, Node, Ref, Tree, needed_nodes, operands_of, tree_refs
from indexing.hlo import BuiltInstruction, Computation, ComputationBuilder, ModuleBuilder

_LAYOUT = re.compile(r"(?<=\])\{([\d,]*)\}")


@dataclass(frozen=True, slots=True)
class KernelModule:
    """A module whose entry computes some nodes; `inputs` are passed for its parameters, `names` are the nodes' names in it."""

    module: ModuleBuilder
    inputs: tuple[Ref, ...]
    names: Mapping[Node, str]


def build_kernel_module(nodes: Collection[Node], outputs: tuple[Ref, ...], graph: Graph) -> KernelModule:
    """The module that computes `outputs` by `nodes` of a graph."""
    members = sorted(nodes, key=graph.number.__getitem__)
    inputs = _inputs(members, outputs)
    module = ModuleBuilder("kernel", f"fused_{members[-1].instruction.name}")
    body = _Body(module.entry, inputs, nodes)
    for node in members:
        body.add(node)
    if outputs != members[-1].arrays:
        body.add_tuple(outputs)
    return KernelModule(module, tuple(inputs), {node: built.name for node, built in body.nodes.items()})


def _inputs(members: Sequence[Node], outputs: Sequence[Ref]) -> list[Ref]:
    """The arrays that the kernel of `members` takes from outside: those that they read, in that order, then other `outputs`."""
    seen: dict[Ref, None] = {}
    inside = set(members)
    for node in members:
        for operand, is_assembled in operands_of(node):
            refs = (ref for ref in tree_refs(operand) if ref.node not in inside or _is_stored(ref, is_assembled))
            seen.update(dict.fromkeys(refs))
    return list(seen | dict.fromkeys(ref for ref in outputs if ref.node not in inside))


def _is_stored(ref: Ref, is_assembled: bool) -> bool:
    """Whether an array is in memory before the kernel, to be updated, even if the kernel computes the same values; what its
    own updates leave there is not.
    """
    return is_assembled and not ref.node.op.is_scatter_like


class _Body:
    """The entry under construction, and the instruction of each array in it."""

    def __init__(self, entry: ComputationBuilder, inputs: Sequence[Ref], members: Collection[Node]) -> None:
        self.entry = entry
        self.parameters = {ref: entry.parameter(ref.shape) for ref in inputs}
        self.arrays = {ref: built for ref, built in self.parameters.items() if ref.node not in members}
        self.nodes: dict[Node, BuiltInstruction] = {}

    def add(self, node: Node) -> None:
        """Add the node's instruction, after get-tuple-elements of the tuples whose arrays it reads."""
        self.nodes[node] = self.entry.copy(node.instruction, [self._operand(*o) for o in operands_of(node)])

    def add_tuple(self, outputs: Sequence[Ref]) -> None:
        """Add a tuple of the outputs as root."""
        self.entry.tuple_of([self._array(ref) for ref in outputs])

    def _operand(self, operand: Tree, is_assembled: bool) -> BuiltInstruction:
        assert isinstance(operand, Ref), "operands of nodes that a kernel computes are arrays"
        return self.parameters[operand] if _is_stored(operand, is_assembled) else self._array(operand)

    def _array(self, ref: Ref) -> BuiltInstruction:
        if ref not in self.arrays:
            self.arrays[ref] = self._element(ref)
        return self.arrays[ref]

    def _element(self, ref: Ref) -> BuiltInstruction:
        source = self.nodes[ref.node]
        if not source.shape.is_tuple:
            return source
        return self.entry.element(source, ref.leaf)


def content_key(computation: Computation) -> str:
    """A hash that is equal for computations that compute the same results by the same instructions in the same layouts.

    Names, annotations, the order of parameters, instructions that no result needs, and calls do not change it: a computation,
    a fusion of it and the copy that planning makes have one key. A shape without a layout is row-major. The key is stable
    across processes.
    """
    graph = flatten(computation)
    needed, outputs = needed_nodes(graph), tuple(tree_refs(graph.result))
    members = [node for node in graph.nodes if node in needed and not node.instruction.is_parameter]
    content = build_kernel_module(members, outputs, graph).module.content if members else str(computation.shape)
    return hashlib.sha256(_LAYOUT.sub(_unless_row_major, repr(content)).encode()).hexdigest()


def _unless_row_major(layout: re.Match[str]) -> str:
    """A layout as it is written; nothing for a row-major one."""
    order = [int(d) for d in layout[1].split(",") if d]
    return "" if order == list(range(len(order)))[::-1] else layout[0]
