"""The dynamic-update-slice emitter: the update is written into the operand's own buffer; nothing else is touched.

That is right only where nobody reads what the kernel overwrites: the operand must be a parameter that this fusion reads
nowhere else, and the result must lie in memory as the parameter does. Elsewhere the loop emitter copies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexing._core import IndexingMap, compose
from indexing.emit.elemental import FunctionWriter
from indexing.emit.hero import Output, outputs
from indexing.emit.kernel import Dialect, Dim3, Kernel
from indexing.emit.launch import (
    assembled,
    check_knob,
    landing,
    position_in_grid,
    same_memory,
    store,
    thread_map,
    unravelled,
    write_position,
)
from indexing.emit.unit import Unit
from indexing.errors import IndexingError
from indexing.fusion import input_to_output
from indexing.layout import major_to_minor
from indexing.partition import Epilogue, partition

if TYPE_CHECKING:
    from indexing.hlo import Computation, Instruction, Shape

NAME = "dynamic-update-slice"


@dataclass(frozen=True, slots=True)
class UpdateSlicePlan:
    """Launch dimensions: one thread for each element of the update."""

    count: int
    block_size: int

    @property
    def grid(self) -> Dim3:
        """Blocks in one dimension."""
        return (-(-self.count // self.block_size), 1, 1)

    @property
    def block(self) -> Dim3:
        """Threads of a block in one dimension."""
        return (self.block_size, 1, 1)


@dataclass(frozen=True, slots=True)
class Update:
    """An output, the update that it is made of, and the number of the parameter whose buffer it takes over."""

    output: Output
    hero: Instruction
    parameter: int


def matches(computation: Computation) -> bool:
    """Whether every output is an update that can be written in place."""
    return match(computation) is not None


def match(computation: Computation) -> tuple[Update, ...] | None:
    """The updates, one an output; None where one can't be proved to be safe in place."""
    found = [_update(o) for o in outputs(computation)]
    updates = tuple(u for u in found if u is not None)
    if not updates or len(updates) != len(found) or len({u.parameter for u in updates}) != len(updates):
        return None
    shapes = {(u.hero.operands[1].shape.dimensions, major_to_minor(u.hero.operands[1].shape)) for u in updates}
    return updates if len(shapes) == 1 and updates[0].hero.operands[1].shape.element_count else None


def _update(output: Output) -> Update | None:
    hero = _behind_bitcasts(output.instruction)
    if hero.opcode != "dynamic-update-slice":
        return None
    operand = hero.operands[0]
    source = _behind_bitcasts(operand)
    if source.opcode != "parameter" or not _is_read_by_the_update_alone(operand, hero):
        return None
    if major_to_minor(operand.shape) != major_to_minor(hero.shape):
        return None
    return Update(output, hero, source.parameter_number) if output.shape.is_array else None


def _behind_bitcasts(instruction: Instruction) -> Instruction:
    """The instruction that makes the memory; a bitcast of one element type moves nothing."""
    while instruction.opcode == "bitcast":
        if instruction.operands[0].shape.element_type != instruction.shape.element_type:
            break
        instruction = instruction.operands[0]
    return instruction


def _is_read_by_the_update_alone(operand: Instruction, hero: Instruction) -> bool:
    user = hero
    while True:
        if operand.users != (user,) or sum(o is operand for o in user.operands) != 1 or operand.is_root:
            return False
        if operand.opcode != "bitcast":
            return True
        user, operand = operand, operand.operands[0]


def plan(computation: Computation, *, block_size: int = 128) -> UpdateSlicePlan:
    """Launch dimensions. Knob: `block_size`, 1 to 1024 threads."""
    check_knob("block_size", block_size, 1, 1024)
    found = match(computation)
    if found is None:
        raise IndexingError(f"{computation.name} is no update that is safe in place; the loop emitter takes it")
    return UpdateSlicePlan(found[0].hero.operands[1].shape.element_count, block_size)


def _to_update(update: Shape, plan: UpdateSlicePlan) -> IndexingMap:
    """From threads to the index of the update, in the order in which memory holds it."""
    position = position_in_grid(plan.block_size)
    index = unravelled(position, update.dimensions, major_to_minor(update))
    is_whole = plan.count % plan.block_size == 0
    return thread_map(plan.grid, plan.block, index, (), [] if is_whole else [(position, (0, plan.count - 1))])


def kernel(computation: Computation, plan: UpdateSlicePlan, dialect: Dialect) -> Kernel:
    """The kernel: source, arguments, launch dimensions and thread maps."""
    found = match(computation)
    assert found is not None
    shape = found[0].hero.operands[1].shape
    epilogues = [Epilogue.from_paths([(u.hero, u.hero)]) for u in found]
    unit = Unit(dialect, computation, partition(computation, epilogues=epilogues))
    body = FunctionWriter(unit)
    to_update = _to_update(shape, plan)
    position = write_position(body, plan.count, plan.block_size)
    index = tuple(map(body.scope.simplify, unravelled(position, shape.dimensions, major_to_minor(shape))))
    written = []
    for update in found:
        indexing = input_to_output(update.hero, 1)[0][0]
        at, conditions = landing(body, indexing, index)
        assert not conditions, "starts are clamped"
        to_output = same_memory(update.hero.shape, update.output.shape)
        store(body, update.output, body.mapped(to_output, at).index, body.read(update.hero.operands[1], index))
        written.append(compose(compose(to_update, indexing.map), to_output).simplify())
    read = [[to_update] if any(u.hero.operands[1] is p for u in found) else [] for p in computation.parameters]
    in_place = {u.output.number: u.parameter for u in found}
    return assembled(
        unit,
        NAME,
        found[0].hero,
        body,
        [u.output for u in found],
        (plan.grid, plan.block),
        0,
        (written, read),
        aliases=in_place,
    )
