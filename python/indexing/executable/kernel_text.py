"""A planned fusion as an HLO module of its own, which is what emitters take.

Names are local: equal fusions of a program give equal text, and one kernel serves them all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from indexing.executable.fusion_planning import PlannedFusion, operands_of
from indexing.executable.graph import Node, Ref, Tree
from indexing.ops.op import leaves

if TYPE_CHECKING:
    from indexing.hlo import Computation, Instruction

WITHOUT_MEANING = frozenset({"metadata", "backend_config", "frontend_attributes", "sharding", "control-predecessors"})


def module_text(fusion: PlannedFusion, order: Sequence[Node]) -> tuple[str, list[Ref]]:
    """HLO text whose entry computes the fusion, and the arrays to pass for its parameters.

    `order` has the program's nodes, operands first.
    """
    members = [node for node in order if node in fusion.nodes]
    inputs = fusion.inputs(members)
    body = _Body(inputs, fusion.nodes)
    is_one = len(fusion.outputs) == len(leaves(fusion.root.instruction.shape)) and fusion.outputs[0].node is fusion.root
    for node in members:
        body.add(node, is_root=is_one and node is fusion.root)
    if not is_one:
        body.add_tuple(fusion.outputs)
    called = _called(node.instruction for node in members)
    name = _distinct(f"fused_{fusion.root.instruction.name}", {c.name for c in called})
    entry = "\n".join([f"ENTRY %{name} {{", *body.lines, "}"])
    return "\n\n".join(["HloModule kernel", *map(str, called), entry, ""]), inputs


class _Body:
    """The lines of the entry, and the name of each array so far."""

    def __init__(self, inputs: Sequence[Ref], members: Collection[Node]) -> None:
        self.lines = [f"  %p{k} = {ref.shape} parameter({k})" for k, ref in enumerate(inputs)]
        self.taken = {f"p{k}" for k in range(len(inputs))}
        self.parameters = {ref: f"p{k}" for k, ref in enumerate(inputs)}
        self.arrays = {ref: name for ref, name in self.parameters.items() if ref.node not in members}
        self.nodes: dict[Node, str] = {}

    def add(self, node: Node, *, is_root: bool) -> None:
        """One line for the node; before it, one for each array of a tuple that it takes apart."""
        instruction = node.instruction
        arguments = instruction_arguments(instruction, [self._operand(*o) for o in operands_of(node)])
        name = self.nodes[node] = _distinct(instruction.name, self.taken)
        self.taken.add(name)
        root = "ROOT " if is_root else ""
        attributes = "".join(f", {k}={v}" for k, v in instruction.attributes.items() if k not in WITHOUT_MEANING)
        self.lines.append(f"  {root}%{name} = {instruction.shape} {instruction.opcode}({arguments}){attributes}")

    def add_tuple(self, outputs: Sequence[Ref]) -> None:
        """The root, where that is not the last of the nodes."""
        names = ", ".join("%" + (self.arrays.get(ref) or self._element(ref)) for ref in outputs)
        shapes = ", ".join(str(ref.shape) for ref in outputs)
        self.lines.append(f"  ROOT %{_distinct('outputs', self.taken)} = ({shapes}) tuple({names})")

    def _operand(self, operand: Tree, is_assembled: bool) -> str:
        assert isinstance(operand, Ref), "operands of what a kernel computes are arrays"
        found = (self.parameters if is_assembled else self.arrays).get(operand)
        return "%" + (found if found is not None else self._element(operand))

    def _element(self, ref: Ref) -> str:
        source = self.nodes[ref.node]
        if len(leaves(ref.node.instruction.shape)) == 1 and not ref.node.instruction.shape.is_tuple:
            name = source
        else:
            name = _distinct(f"{source}.{ref.leaf}", self.taken)
            self.taken.add(name)
            self.lines.append(f"  %{name} = {ref.shape} get-tuple-element(%{source}), index={ref.leaf}")
        self.arrays[ref] = name
        return name


def instruction_arguments(instruction: Instruction, operands: Sequence[str]) -> str:
    """What stands in the parentheses: operands, or a constant's value."""
    if not instruction.is_constant:
        return ", ".join(operands)
    text = str(instruction)
    start = text.index(" constant(") + len(" constant(")
    depth = 1
    for position in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            return text[start:position]
    return text[start:]


def _called(instructions: Iterable[Instruction]) -> list[Computation]:
    """The computations that instructions apply, and those that these apply, callees first; of equal ones the first."""
    found: dict[Computation, None] = {}
    pending = [(c, False) for i in instructions for c in i.called]
    while pending:
        computation, is_complete = pending.pop()
        if computation in found:
            continue
        if is_complete:
            found[computation] = None
            continue
        pending.append((computation, True))
        pending.extend((c, False) for i in computation.post_order() for c in i.called)
    return list({str(c): c for c in reversed(found)}.values())[::-1]


def _distinct(name: str, taken: set[str]) -> str:
    candidate, count = name, 0
    while candidate in taken:
        count += 1
        candidate = f"{name}.{count}"
    return candidate
