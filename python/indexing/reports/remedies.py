"""Remedies in a program's Python: what its author can change so that a kernel takes less, and the time that this saves.

What a change saves is the difference of two predictions by the same model: of the kernel as it is, and of what runs if the
program is changed. A remedy that saves little is not mentioned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from indexing.display import count_text
from indexing.graph.extraction import build_kernel_module
from indexing.graph.flattening import flatten
from indexing.graph.nodes import Graph, Node, Ref, tree_refs
from indexing.hlo import BuiltInstruction, Computation, ComputationBuilder, Instruction, ModuleBuilder, Shape
from indexing.hlo.layout import major_to_minor
from indexing.hlo.metadata import op_name, source_place
from indexing.hlo.module_cache import cached_on_module
from indexing.model.instruction_time import predict_instruction, product_of
from indexing.model.terms import terms_of
from indexing.ops.registry import traits_of
from indexing.ops.trip_counts import stated_trip_count
from indexing.reports.kernel_fusions import fusion_of
from indexing.reports.kernel_report import FusionReport
from indexing.reports.lines import seconds_text
from indexing.reports.origin import is_donated
from indexing.reports.reasons import permutes
from indexing.reports.steps import Step, planned_steps
from indexing.walks import reached

#: A change of the program, and the seconds that it saves of one run.
Remedy: TypeAlias = "tuple[str, float]"
WORTHWHILE = 0.05  # a remedy saves at least this share of the kernel's time
SHARE = (
    0.05  # other programs are predicted for kernels that together with equal ones take at least this share of the time
)
MAX_SPLITS = 2  # instructions at which a fusion is split
#: The next narrower type of floats, and what it keeps of a number.
NARROWER = {"f64": ("f32", "float32", "24 bits instead of 53"), "f32": ("bf16", "bfloat16", "8 bits instead of 24")}


def remedies_of(
    kernel: FusionReport, step: Step, others: Mapping[Instruction, FusionReport], share: float
) -> tuple[str, ...]:
    """The changes of the program that save time, as sentences, for the kernel of a step; `others` are the kernels that XLA
    made, by their results; the kernel, and those like it that are not asked for, take a `share` of the program's time.
    """
    if not kernel.times or not kernel.run_seconds:
        return ()
    remedies = [*_donation(kernel), *_hoisting(kernel)]
    if kernel.instruction.is_fusion:
        if kernel.run_seconds_lost > WORTHWHILE * kernel.run_seconds:
            remedies += [*_layouts(kernel, step), *_split(kernel)]
        if share >= SHARE and not _is_copy(kernel.origin):
            remedies += [*_narrow_factors(kernel)] or [*_narrow_arguments(kernel, step)]
            remedies += _joined(kernel, step, others)
    return tuple(f"{text}, which saves {seconds_text(saved * kernel.times)}" for text, saved in remedies)


def _saving(kernel: FusionReport, text: str, seconds: float, now: float | None = None) -> Iterator[Remedy]:
    """The change, if a run then takes so few seconds that it is worthwhile; `now` are those that it replaces."""
    before = (kernel.run_seconds or 0.0) if now is None else now
    if before - seconds > WORTHWHILE * before:
        yield text, before - seconds


def _donation(kernel: FusionReport) -> Iterator[Remedy]:
    """A copy that only keeps an argument as it is, while its copy is updated: XLA needs none where the argument is donated."""
    i = kernel.origin
    argument = i if i.is_parameter else i.operands[0] if _is_copy(i) and i.users else None
    if argument is None or not i.computation.is_entry or not argument.is_parameter:
        return
    is_moved = argument.shape != i.shape  # to another layout
    if not is_moved and not is_donated(argument):
        name = _named(argument)
        yield (
            f"donate {name}, if it is needed no more after the call: jax.jit(f, donate_argnums=...)",
            kernel.run_seconds or 0.0,
        )


def _is_copy(i: Instruction) -> bool:
    op = traits_of(i)
    return op.passes_operand and op.kind == "moves"


def _named(argument: Instruction) -> str:
    return f"argument {argument.parameter_number}, {_what(argument)}"


def _what(i: Instruction) -> str:
    """An instruction by its name in the JAX program, and the line there."""
    place = source_place(i)
    return f"`{op_name(i) or i.name}`" + (f" ({place.file}:{place.line})" if place else "")


def _arguments(step: Step) -> Iterator[tuple[int, str, Instruction]]:
    """The program's arguments among the operands of a kernel: the parameter's number, the name in the report, the argument."""
    for k, (name, source) in enumerate(zip(step.operands, step.sources, strict=True)):
        if source.is_parameter and source.computation.is_entry and source.shape.is_array:
            yield k, name, source


# ---- loops


def _hoisting(kernel: FusionReport) -> Iterator[Remedy]:
    """A kernel in a loop, or a part of it, whose operands no iteration changes computes the same each time."""
    i = kernel.origin
    loop = _loops_by_body(i.module.entry).get(i.computation)
    if loop is None or not i.is_fusion:
        return
    count = kernel.times if loop.computation.is_entry else stated_trip_count(loop)
    if count is None or count < 2:
        return
    why = (
        f"out of the loop `{loop.name}`: it computes the same in each of {count_text(count, 'iteration')}; "
        "compute it before jax.lax.scan (or while_loop), whose body then reads the result"
    )
    if i not in _invariants(i.computation):
        yield from _hoisting_of_parts(kernel, count, why)
    elif not any(map(_works_in_place, i.users)):
        yield f"hoist {_what(i)} {why}", (kernel.run_seconds or 0.0) * (count - 1) / count


def _hoisting_of_parts(kernel: FusionReport, count: int, why: str) -> Iterator[Remedy]:
    """The part of a fusion that reads what no iteration changes is computed once, the rest in each iteration."""
    graph = flatten(kernel.origin.called[0])
    for node in _invariant_parts(kernel.origin, graph)[:MAX_SPLITS]:
        before, after = _parts_at(node, graph)
        once = _seconds(before, replace(kernel, in_loop=None))
        yield from _saving(kernel, f"hoist {_what(node.instruction)} {why}", once / count + _seconds(after, kernel))


def _invariant_parts(fusion: Instruction, graph: Graph) -> list[Node]:
    """The last nodes of a fusion in a loop's body that depend on what no iteration changes, and take more than a load."""
    invariants = _invariants(fusion.computation)
    same = {p for p, o in zip(graph.parameters, fusion.operands, strict=True) if o in invariants or _is_passed_on(o)}
    costly: set[Node] = set()
    constant: set[Node] = set()
    for node in graph.nodes:
        read = {ref.node for ref in node.refs}
        if not node.instruction.is_parameter and read <= same | constant:
            (same if read & same else constant).add(node)
            costly |= {node} if node.op.is_expensive or read & costly else set()
    last = (node for node in graph.nodes if node in costly & same and not same.issuperset(node.users))
    computed = (_before_moves(node) for node in last if node.users)
    return [node for node in dict.fromkeys(computed) if node.instruction.shape.is_array]


def _before_moves(node: Node) -> Node:
    """The node whose elements a broadcast, or another node that moves elements, repeats or places."""
    while node.op.kind == "moves" and len(node.refs) == 1:
        node = node.refs[0].node
    return node


@cached_on_module
def _loops_by_body(entry: Computation) -> dict[Computation, Instruction]:
    """The loops of an entry's module; of several that share a body, the first."""
    listed = (i for c in entry.module.computations.values() for i in c.listed)
    loops = [i for i in listed if traits_of(i).calls == "loops"]
    return {loop.computation_of("body"): loop for loop in reversed(loops)}


@cached_on_module
def _invariants(body: Computation) -> set[Instruction]:
    """The fusions in a loop's body that depend on what no iteration changes, and not on constants alone."""
    known: set[Instruction] = set()
    for i in body.post_order():
        given = [o for o in i.operands if not _is_constant(o)]
        if i.is_fusion and given and all(o in known or _is_passed_on(o) for o in given):
            known.add(i)
    return known


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


def _layouts(kernel: FusionReport, step: Step) -> Iterator[Remedy]:
    """Another layout of an argument that only this kernel reads."""
    for k, name, argument in _arguments(step):
        if len(argument.users) != 1 or name not in {row.array for row in kernel.accesses if row.wasted}:
            continue
        changed = [(_seconds_in(kernel, k, order), order) for order in _orders(argument.shape)]
        seconds, order = min(changed, default=(float("inf"), ()))
        line = f"x = jax.device_put(x, Format(Layout({order}), x.sharding)), with jax.experimental.layout"
        yield from _saving(kernel, f"keep {_named(argument)}, in another layout: {line}", seconds)


def _orders(shape: Shape) -> Iterator[tuple[int, ...]]:
    """The other layouts, major to minor, in which one dimension becomes the minor one."""
    now = tuple(major_to_minor(shape))
    for d in now[:-1]:
        if shape.dimensions[d] > 1:
            yield (*(other for other in now if other != d), d)


def _seconds_in(kernel: FusionReport, operand: int, order: Sequence[int]) -> float:
    changed = with_layouts(kernel.instruction.called[0], {operand: tuple(reversed(order))})
    return _seconds(changed, kernel)


def _seconds(computation: Computation, kernel: FusionReport) -> float:
    """The predicted seconds of a kernel of the computation in the place of another; infinite if they are not modelled."""
    return _seconds_of(fusion_of(computation, kernel.origin.name), kernel)


def _seconds_of(i: Instruction, kernel: FusionReport) -> float:
    """Those of the kernel of an instruction: the mean of its runs where the other one is in a loop."""
    once = predict_instruction(i, kernel.device)
    if once.seconds is None:
        return float("inf")
    return once.seconds if kernel.in_loop is None else kernel.in_loop.seconds(once, kernel.device)


def with_layouts(computation: Computation, layouts: dict[int, tuple[int, ...]]) -> Computation:
    """The computation, in a module of its own, with other layouts of parameters (by number; minor dimension first)."""

    def copied(entry: ComputationBuilder, i: Instruction, operands: list[BuiltInstruction]) -> BuiltInstruction:
        layout = layouts.get(i.parameter_number) if i.is_parameter else None
        shape = i.shape if layout is None else replace(i.shape, layout=layout, layout_text=f"{{{_listed(layout)}}}")
        return entry.copy(i, operands, shape=shape)

    return _rebuilt(computation, copied)


def _rebuilt(
    computation: Computation,
    copied: Callable[[ComputationBuilder, Instruction, list[BuiltInstruction]], BuiltInstruction],
) -> Computation:
    """The computation, in a module of its own, of instructions that a function makes of the entry, each instruction, and its
    operands.
    """
    module = ModuleBuilder("changed", computation.name)
    built: dict[Instruction, BuiltInstruction] = {}
    for i in computation.listed:
        built[i] = copied(module.entry, i, [built[o] for o in i.operands])
    module.entry.root = built[computation.root]
    return module.build().entry


def _listed(layout: Sequence[int]) -> str:
    return ",".join(map(str, layout))


def _split(kernel: FusionReport) -> Iterator[Remedy]:
    """A kernel of its own for what an instruction of the fusion computes, from which the rest reads it."""
    graph = flatten(kernel.instruction.called[0])
    inner = [n for n in graph.nodes if n.operands and n.instruction.shape.is_array and permutes(n.instruction)]
    for node in inner[:MAX_SPLITS]:
        seconds = sum(_seconds(part, kernel) for part in _parts_at(node, graph))
        what = _what(node.instruction)
        text = f"compute {what} in a kernel of its own: y = jax.lax.optimization_barrier(y) around it"
        yield from _saving(kernel, text, seconds)


def _parts_at(node: Node, graph: Graph) -> Iterator[Computation]:
    """The computations before and after a node's result is in memory."""
    outputs = tuple(dict.fromkeys(tree_refs(graph.result)))
    for targets, given in (((Ref(node),), None), (outputs, node)):
        members = _needed(targets, given, graph)
        if members:
            yield build_kernel_module(members, targets, graph).module.build().entry


def _needed(targets: Sequence[Ref], given: Node | None, graph: Graph) -> set[Node]:
    """The nodes that compute arrays from parameters and from the result of a given node."""

    def computed(refs: Iterable[Ref]) -> Iterator[Node]:
        return (ref.node for ref in refs if ref.node is not given and ref.node not in graph.parameters)

    return set(reached(computed(targets), lambda node: computed(node.refs)))


# ---- narrower types


def _narrow_arguments(kernel: FusionReport, step: Step) -> Iterator[Remedy]:
    """Arguments in a narrower type, from which the kernel converts what it reads."""
    least = 2 * WORTHWHILE * kernel.ideal_bytes / kernel.times
    large = {row.array for row in kernel.accesses if row.kind == "read" and row.ideal_bytes > least}
    arguments = [(k, a) for k, name, a in _arguments(step) if name in large and not is_donated(a)]
    for wide, (kind, name, digits) in NARROWER.items():
        of_type = {k: a for k, a in arguments if a.shape.element_type == wide}
        if of_type:
            changed = _with_types(kernel.instruction.called[0], dict.fromkeys(of_type, kind), is_converted=True)
            which = ", and ".join(map(_named, of_type.values()))
            text = f"pass {which}, as {kind}: x.astype(jnp.{name}); the results change, for elements keep {digits}"
            yield from _saving(kernel, text, _seconds(changed, kernel))


def _narrow_factors(kernel: FusionReport) -> Iterator[Remedy]:
    """A product of two arrays of f32 that tensor cores compute if they are narrower."""
    body = kernel.instruction.called[0]
    products = [i for i in body.listed if product_of(i)]
    factors = products[0].operands if len(products) == 1 else ()
    if not factors or not all(f.is_parameter and f.shape.element_type == "f32" and len(f.users) == 1 for f in factors):
        return
    kind, name, digits = NARROWER["f32"]
    cast = " and ".join(f"{side}.astype(jnp.{name})" for side in "xy")
    product = products[0] if kernel.origin.is_fusion or product_of(kernel.origin) is None else kernel.origin
    text = f"multiply {_what(product)} in {kind}: {cast}, with preferred_element_type=jnp.float32"
    changed = _with_types(body, {f.parameter_number: kind for f in factors}, is_converted=False)
    yield from _saving(kernel, f"{text}; the results change, for factors keep {digits}", _seconds(changed, kernel))


def _with_types(computation: Computation, kinds: Mapping[int, str], is_converted: bool) -> Computation:
    """The computation with parameters (by number) of other types, from which those are converted that it reads now."""

    def copied(entry: ComputationBuilder, i: Instruction, operands: list[BuiltInstruction]) -> BuiltInstruction:
        if not i.is_parameter or i.parameter_number not in kinds:
            return entry.copy(i, operands)
        parameter = entry.copy(i, shape=replace(i.shape, element_type=kinds[i.parameter_number]))
        return entry.add("convert", i.shape, [parameter]) if is_converted else parameter

    return _rebuilt(computation, copied)


# ---- kernels that XLA keeps apart


def _joined(kernel: FusionReport, step: Step, others: Mapping[Instruction, FusionReport]) -> Iterator[Remedy]:
    """One kernel for this one and one whose result only this one reads."""
    by_hand = ", or one in Pallas" if terms_of(kernel.device).has_warps else ""
    for source in step.sources:
        other = others.get(source)
        if other is None or not other.run_seconds or not _is_read_once(other) or _is_copy(other.origin):
            continue  # what a copy keeps, donating it saves
        steps = planned_steps(_together(other, kernel), kernel.device).root
        if len(steps) != 1 or steps[0].bodies:
            continue
        text = f"compute {_what(other.origin)} in the same kernel, as `ix.compile` of both does{by_hand}"
        seconds = _seconds_of(steps[0].instruction, kernel)
        yield from _saving(kernel, text, seconds, (kernel.run_seconds or 0.0) + other.run_seconds)


def _is_read_once(other: FusionReport) -> bool:
    """Whether the result of a fusion is an array that one instruction reads, and reads once."""
    i = other.origin
    readers = [o for user in i.users for o in user.operands if o is i]
    return other.instruction.is_fusion and i.shape.is_array and len(readers) == 1 and i is not i.computation.root


def _together(first: FusionReport, second: FusionReport) -> Computation:
    """The computation of two fusions, the second of which reads the result of the first."""
    module = ModuleBuilder("together")
    bodies = [module.copy(f.instruction.called[0]) for f in (first, second)]
    arrays: dict[Instruction, BuiltInstruction] = {}
    for f, body in zip((first, second), bodies, strict=True):
        for o in f.origin.operands:
            arrays[o] = arrays.get(o) or module.entry.parameter(o.shape)
        given = [arrays[o] for o in f.origin.operands]
        arrays[f.origin] = module.entry.add("call", f.instruction.shape, given, to_apply=body)
    return module.build().entry
