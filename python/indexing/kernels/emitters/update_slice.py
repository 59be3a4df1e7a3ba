"""The dynamic-update-slice emitter: writes the update into the operand's own buffer. Other results with as many elements, such
as the state of a loop that collects it, are written beside it.

This requires that nothing reads the elements that the kernel overwrites: the operand must be a parameter that the fusion
reads nowhere else, and the result must have the parameter's memory layout. Otherwise the loop emitter makes a copy.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from indexing._core import constant
from indexing.cached import cached_property
from indexing.device.record import Device
from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Node, tree_refs
from indexing.hlo import Computation, Instruction, Shape
from indexing.hlo.layout import bitcast_map, major_to_minor
from indexing.hlo.module_cache import cached_on_module
from indexing.indexing_analysis.instructions import input_to_output
from indexing.kernels.emitter import Emitter
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.hero import Output, outputs
from indexing.kernels.ir.nodes import Kernel
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.knob_space import KnobSpace
from indexing.kernels.launch import built, same_memory, slice_starts, store
from indexing.kernels.linear import LinearPlan, linear_block_size, linear_knobs, vector_index
from indexing.kernels.proposal import Proposal
from indexing.kernels.update_groups import group_updates
from indexing.kernels.vectors import is_cheap, lanes, widest_vector
from indexing.ops.dynamic import DYNAMIC_UPDATE_SLICE
from indexing.ops.element_context import Index
from indexing.ops.registry import traits_of
from indexing.partitioner import Epilogue, PartitionedComputation, partition

NAME = DYNAMIC_UPDATE_SLICE.opcode
MAX_LANES = 8


@dataclass(frozen=True, slots=True)
class Update:
    """An output, its update, and the number of the parameter whose buffer it takes over."""

    output: Output
    hero: Instruction
    parameter: int


@dataclass(frozen=True)
class Updates:
    """The updates of a computation, and its outputs beside them, which have the index of an update's elements."""

    updates: tuple[Update, ...]
    beside: tuple[Output, ...]

    @property
    def computation(self) -> Computation:
        """The fusion's computation."""
        return self.updates[0].hero.computation

    @cached_property
    def parts(self) -> PartitionedComputation:
        """The partition in which each update is an epilogue of its own."""
        beside = [o.instruction for o in self.beside]
        parts = partition(self.computation, beside, [Epilogue.from_paths([(u.hero, u.hero)]) for u in self.updates])
        read = {*beside, *(u.hero.operands[1] for u in self.updates)} if beside else ()
        return replace(parts, _read_together=frozenset(read))


@cached_on_module
def match_updates(computation: Computation) -> Updates | None:
    """The updates; None if one can't be proved to be safe in place."""
    updates = tuple(u for o in outputs(computation) if (u := _update(o)) is not None)
    if not updates or len({u.parameter for u in updates}) != len(updates):
        return None
    beside = tuple(o for o in outputs(computation) if all(o.number != u.output.number for u in updates))
    if beside and not _are_beside(beside, updates):
        return None
    shapes = {(u.hero.operands[1].shape.dimensions, major_to_minor(u.hero.operands[1].shape)) for u in updates}
    if len(shapes) != 1 or not updates[0].hero.operands[1].shape.element_count:
        return None
    return Updates(updates, beside)


def _are_beside(others: Sequence[Output], updates: Sequence[Update]) -> bool:
    """Whether outputs have as many elements as an update, and read no updated array."""
    count = updates[0].hero.operands[1].shape.element_count
    updated: set[Instruction] = {u.hero for u in updates}
    for i in updates[0].hero.computation.post_order():
        if not updated.isdisjoint(i.operands):
            updated.add(i)
    return all(o.shape.element_count == count and o.instruction not in updated for o in others)


def _update(output: Output) -> Update | None:
    hero = _behind_bitcasts(output.instruction)
    if traits_of(hero) is not DYNAMIC_UPDATE_SLICE:
        return None
    operand = hero.operands[0]
    source = _behind_bitcasts(operand)
    if not source.is_parameter or not _is_read_by_the_update_alone(operand, hero):
        return None
    if major_to_minor(operand.shape) != major_to_minor(hero.shape):
        return None
    return Update(output, hero, source.parameter_number) if output.shape.is_array else None


def _behind_bitcasts(instruction: Instruction) -> Instruction:
    """The instruction behind bitcasts, which keep the memory; the element type must not change."""
    while traits_of(instruction).same_memory:
        if instruction.operands[0].shape.element_type != instruction.shape.element_type:
            break
        instruction = instruction.operands[0]
    return instruction


def _is_read_by_the_update_alone(operand: Instruction, hero: Instruction) -> bool:
    user = hero
    while True:
        if operand.users != (user,) or sum(o is operand for o in user.operands) != 1 or operand.is_root:
            return False
        if not traits_of(operand).same_memory:
            return True
        user, operand = operand, operand.operands[0]


def plan_updates(
    match: Updates, device: Device, *, block_size: int | None = None, vector_width: int | None = None
) -> LinearPlan:
    """Launch dimensions over the update.

    Knobs: `block_size`, from 1 thread to the most of a block; `vector_width`, 1, 2, 4, 8 or 16 elements per thread, which
    divides the update's size along the dimension that is fastest in memory.
    """
    updates = match.updates
    shape = updates[0].hero.operands[1].shape
    order = major_to_minor(shape)
    fast = shape.dimensions[order[-1]] if order else 1
    if vector_width is None:
        size = max(storage_bytes(o.shape.element_type) for o in (*(u.output for u in updates), *match.beside))
        is_same = all(u.hero.operands[0].shape.dimensions[order[-1]] == fast for u in updates) if order else False
        light = is_same and is_cheap(match.computation.post_order())
        vector_width = widest_vector(MAX_LANES, size, shape.element_count, [fast]) if light else 1
    threads = block_size or linear_block_size(shape.element_count, device.limits)
    return LinearPlan(shape.dimensions, order, vector_width, threads)


def update_knobs(match: Updates, default: LinearPlan, device: Device) -> KnobSpace:
    """Names, legal values and defaults of the knobs."""
    along = 1 if default.fast is None else default.sizes[default.fast]
    return KnobSpace(NAME, linear_knobs(default, along, device.limits))


def build_updates(match: Updates, plan: LinearPlan) -> Kernel:
    """The kernel."""
    in_place = {u.output.number: u.parameter for u in match.updates}
    return built(NAME, match.updates[0].hero, match.parts, plan, lambda body: _build_all(body, match, plan), in_place)


def _build_all(body: FunctionBuilder, match: Updates, plan: LinearPlan) -> None:
    """Build the stores of a thread's vector of all updates, and of the outputs beside them."""
    shape = match.updates[0].hero.operands[1].shape
    with vector_index(body, plan) as vector:
        for update in match.updates:
            _build(body, update, plan, vector)
        for output in match.beside:
            _build_beside(body, output, shape, plan, vector)


def _build(body: FunctionBuilder, update: Update, plan: LinearPlan, vector: Index) -> None:
    """Build the stores of one vector of the update."""
    indexing = input_to_output(update.hero, 1)[0][0]
    to_output = bitcast_map(update.hero.shape, update.output.shape)
    first = tuple(map(body.scope.simplify, plan.element(vector, constant(0))))
    begins, conditions = slice_starts(body, indexing, first)  # the starts are the same for all elements
    assert not conditions, "starts are clamped"
    with lanes(body, plan.vector_width) as lane:
        index = tuple(map(body.scope.simplify, plan.element(vector, lane)))
        at = body.mapped(to_output, body.mapped(indexing.map, index, (), begins).index).index
        store(body, update.output, at, body.read(update.hero.operands[1], index))


def _build_beside(body: FunctionBuilder, output: Output, update: Shape, plan: LinearPlan, vector: Index) -> None:
    """Build the stores of another output for one vector of the update."""
    with lanes(body, plan.vector_width) as lane:
        index = tuple(map(body.scope.simplify, plan.element(vector, lane)))
        at = body.mapped(same_memory(update, output.shape), index).index
        store(body, output, at, body.read(output.instruction, at, output.leaf))


def is_update_in_memory(node: Node) -> bool:
    """Whether a node is an update whose kernel writes other results beside it: one that keeps the array's layout."""
    if node.op is not DYNAMIC_UPDATE_SLICE:
        return False
    array, update = (o.shape for o in node.instruction.operands[:2])
    return bool(update.element_count) and major_to_minor(array) == major_to_minor(node.instruction.shape)


def _form(facts: GraphFacts, node: Node) -> Hashable:
    """The form of an update of an array in memory whose result no kernel reads; None for others."""
    if any(map(facts.can_compute, facts.users_of(node))) or not is_update_in_memory(node):
        return None
    if any(ref.node in facts.rematerializable for ref in tree_refs(node.operands[0])):
        return None
    update = node.instruction.operands[1].shape
    return update.dimensions, major_to_minor(update)


def group_slices(facts: GraphFacts, seed: Node, device: Device) -> Proposal | None:
    """One kernel for updates of one form of different arrays, as loops have that collect several results."""
    return group_updates(facts, seed, _form) if seed.op is DYNAMIC_UPDATE_SLICE else None


EMITTER = Emitter(NAME, match_updates, plan_updates, update_knobs, build_updates, by_elements=True, group=group_slices)
