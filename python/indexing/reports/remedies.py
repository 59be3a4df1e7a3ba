"""Remedies in a program's Python: what its author can change so that a kernel takes less, and the time that this saves.

What a change saves is the difference of two predictions by the same model: of the kernel as it is, and of what runs if the
program is changed. A remedy that saves little is not mentioned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from indexing.display import count_text
from indexing.graph.extraction import build_kernel_module
from indexing.graph.flattening import flatten
from indexing.graph.nodes import Ref, tree_refs
from indexing.hlo import BuiltInstruction, Computation, Instruction, ModuleBuilder, Shape
from indexing.hlo.layout import major_to_minor
from indexing.hlo.metadata import op_name
from indexing.model.instruction_time import predict_instruction
from indexing.ops.registry import traits_of
from indexing.ops.trip_counts import stated_trip_count
from indexing.reports.kernel_fusions import fusion_of
from indexing.reports.lines import seconds_text
from indexing.reports.reasons import permutes

if TYPE_CHECKING:
    from indexing.device.record import Device
    from indexing.graph.nodes import Graph, Node
    from indexing.reports.accesses import AccessReport

__all__ = ["Kernel", "remedies_of", "with_layouts"]

WORTHWHILE = 0.05  # a remedy saves at least this share of the kernel's time
MAX_SPLITS = 2  # instructions at which a fusion is split


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel of a program: what it computes (`instruction`), the program's instruction that is its result (`origin`), its
    accesses, and the seconds of one of its runs, of which there are `times`; `lost` of them are due to waste.
    """

    instruction: Instruction
    origin: Instruction
    accesses: Sequence[AccessReport]
    seconds: float
    lost: float
    times: int
    device: Device


def remedies_of(kernel: Kernel) -> tuple[str, ...]:
    """The changes of the program that save time, as sentences."""
    if not kernel.times:
        return ()
    remedies = [*_donation(kernel), *_hoisting(kernel)]
    if kernel.lost > WORTHWHILE * kernel.seconds and kernel.instruction.is_fusion:
        remedies += [*_layouts(kernel), *_split(kernel)]
    return tuple(f"{text}, which saves {seconds_text(saved * kernel.times)}" for text, saved in remedies)


def _donation(kernel: Kernel) -> Iterator[tuple[str, float]]:
    """A copy that only keeps an argument as it is, while its copy is updated: XLA needs none where the argument is donated."""
    i = kernel.origin
    op = traits_of(i)
    is_copy = op.passes_operand and op.kind == "moves"
    if not is_copy or not i.computation.is_entry or not i.operands[0].is_parameter or not i.users:
        return
    argument = i.operands[0]
    is_moved = argument.shape != i.shape  # to another layout
    if not is_moved and f"({argument.parameter_number}," not in i.module.attributes.get("input_output_alias", ""):
        name = _named(argument)
        yield f"donate {name}, if it is needed no more after the call: jax.jit(f, donate_argnums=...)", kernel.seconds


def _named(argument: Instruction) -> str:
    return f"argument {argument.parameter_number}, `{op_name(argument) or argument.name}`"


# ---- loops


def _hoisting(kernel: Kernel) -> Iterator[tuple[str, float]]:
    """A kernel in a loop whose operands no iteration changes computes the same each time."""
    i = kernel.origin
    loop = _loop_around(i)
    if loop is None or not i.is_fusion or any(map(_works_in_place, i.users)):
        return
    count = stated_trip_count(loop) or (kernel.times if loop.computation.is_entry else None)
    if count is None or count < 2 or not _is_invariant(i):
        return
    what = op_name(i) or i.name
    yield (
        f"hoist `{what}` out of the loop `{loop.name}`: it computes the same in each of {count_text(count, 'iteration')}; "
        "compute it before jax.lax.scan (or while_loop), whose body then reads the result",
        kernel.seconds * (count - 1) / count,
    )


def _loop_around(i: Instruction) -> Instruction | None:
    """The loop whose body an instruction is in."""
    if i.computation.is_entry:
        return None
    loops = (j for c in i.module.computations.values() for j in c.listed if traits_of(j).calls == "loops")
    return next((j for j in loops if j.computation_of("body") is i.computation), None)


def _is_invariant(i: Instruction) -> bool:
    """Whether an instruction of a loop's body, with operands, depends on nothing that iterations change."""
    constants = [_is_constant(o) for o in i.operands]
    return not all(constants) and all(
        constant or _is_passed_on(o) or (o.is_fusion and _is_invariant(o))
        for o, constant in zip(i.operands, constants, strict=True)
    )


def _works_in_place(i: Instruction) -> bool:
    """Whether it overwrites an operand, which is then computed anew for each iteration."""
    return traits_of(i.called[0].root if i.is_fusion else i).in_place_operands is not None


def _is_constant(i: Instruction) -> bool:
    return not i.operands and not i.is_parameter


def _is_passed_on(i: Instruction) -> bool:
    """Whether it is an element of the loop's state that the body returns as it is."""
    result = i.computation.root
    number = i.attributes.get("index")
    if number is None or len(i.operands) != 1 or not i.operands[0].is_parameter or int(number) >= len(result.operands):
        return False
    returned = result.operands[int(number)]
    return returned is i or (returned.attributes.get("index") == number and returned.operands == i.operands)


# ---- layouts and fusions


def _layouts(kernel: Kernel) -> Iterator[tuple[str, float]]:
    """Another layout of an argument that only this kernel reads."""
    i = kernel.instruction
    for k, operand in enumerate(kernel.origin.operands):
        if not operand.is_parameter or not operand.computation.is_entry or len(operand.users) != 1 or not i.called:
            continue
        if operand.name not in {row.array for row in kernel.accesses if row.wasted}:
            continue
        changed = [(_seconds_in(kernel, k, order), order) for order in _orders(operand.shape)]
        seconds, order = min(changed, default=(kernel.seconds, ()))
        if kernel.seconds - seconds > WORTHWHILE * kernel.seconds:
            line = f"x = jax.device_put(x, Format(Layout({order}), x.sharding)), with jax.experimental.layout"
            yield f"keep {_named(operand)}, in another layout: {line}", kernel.seconds - seconds


def _orders(shape: Shape) -> Iterator[tuple[int, ...]]:
    """The other layouts, major to minor, in which one dimension becomes the minor one."""
    now = tuple(major_to_minor(shape))
    for d in now[:-1]:
        if shape.dimensions[d] > 1:
            yield (*(other for other in now if other != d), d)


def _seconds_in(kernel: Kernel, operand: int, order: Sequence[int]) -> float:
    changed = with_layouts(kernel.instruction.called[0], {operand: tuple(reversed(order))})
    return _seconds(changed, kernel)


def _seconds(computation: Computation, kernel: Kernel) -> float:
    """The predicted seconds of a kernel of the computation; infinite if they are not modelled."""
    seconds = predict_instruction(fusion_of(computation, kernel.origin.name), kernel.device).seconds
    return float("inf") if seconds is None else seconds


def with_layouts(computation: Computation, layouts: dict[int, tuple[int, ...]]) -> Computation:
    """The computation, in a module of its own, with other layouts of parameters (by number; minor dimension first)."""
    module = ModuleBuilder(computation.module.name, computation.name)
    built: dict[Instruction, BuiltInstruction] = {}
    for i in computation.post_order():
        layout = layouts.get(i.parameter_number) if i.is_parameter else None
        shape = i.shape if layout is None else replace(i.shape, layout=layout, layout_text=f"{{{_listed(layout)}}}")
        built[i] = module.entry.copy(i, [built[o] for o in i.operands], shape=shape)
    module.entry.root = built[computation.root]
    return module.build().entry


def _listed(layout: Sequence[int]) -> str:
    return ",".join(map(str, layout))


def _split(kernel: Kernel) -> Iterator[tuple[str, float]]:
    """A kernel of its own for what an instruction of the fusion computes, from which the rest reads it."""
    graph = flatten(kernel.instruction.called[0])
    inner = [n for n in graph.nodes if n.operands and n.instruction.shape.is_array and permutes(n.instruction)]
    for node in inner[:MAX_SPLITS]:
        seconds = sum(_seconds(part, kernel) for part in _parts_at(node, graph))
        if kernel.seconds - seconds > WORTHWHILE * kernel.seconds:
            what = op_name(node.instruction) or node.instruction.name
            yield (
                f"compute `{what}` in a kernel of its own: y = jax.lax.optimization_barrier(y) around it",
                kernel.seconds - seconds,
            )


def _parts_at(node: Node, graph: Graph) -> Iterator[Computation]:
    """The computations before and after a node's result is in memory."""
    outputs = tuple(dict.fromkeys(tree_refs(graph.result)))
    for targets, given in (((Ref(node),), None), (outputs, node)):
        members = _needed(targets, given, graph)
        if members:
            yield build_kernel_module(members, targets, graph).module.build().entry


def _needed(targets: Sequence[Ref], given: Node | None, graph: Graph) -> set[Node]:
    """The nodes that compute arrays from parameters and from the result of a given node."""
    needed: set[Node] = set()
    pending = [ref.node for ref in targets]
    while pending:
        node = pending.pop()
        if node not in needed and node is not given and node not in graph.parameters:
            needed.add(node)
            pending.extend(ref.node for ref in node.refs)
    return needed
