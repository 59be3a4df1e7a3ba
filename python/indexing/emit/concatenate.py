"""The concatenate emitter: each thread moves one element of every operand, so that no thread asks which operand is its.

Threads walk a box that holds the largest operand. The same thread takes the same place of each operand in turn, checks
that the operand has it, and writes it through the epilogue.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import prod
from typing import TYPE_CHECKING

from indexing._core import IndexingMap, SymbolicExpr, compose, constant
from indexing.emit.elemental import FunctionWriter
from indexing.emit.hero import Output, find_hero, outputs
from indexing.emit.kernel import Dialect, Dim3, Kernel
from indexing.emit.launch import (
    Bounds,
    assembled,
    check_knob,
    guarded,
    position_in_grid,
    range_variable,
    store,
    thread_map,
    unravelled,
    write_position,
)
from indexing.emit.reads import reads_behind
from indexing.emit.unit import Unit
from indexing.errors import IndexingError, InvalidMap
from indexing.layout import major_to_minor
from indexing.partition import Epilogue, partition

if TYPE_CHECKING:
    from indexing.hlo import Computation, Instruction
    from indexing.ops.element import Index

NAME = "concatenate"
MAX_OPERANDS = 16  # the epilogue is written once an operand


@dataclass(frozen=True, slots=True)
class ConcatenatePlan:
    """Launch dimensions: `box` holds each operand, `block_size` threads a block."""

    box: tuple[int, ...]
    block_size: int

    @property
    def grid(self) -> Dim3:
        """Blocks in one dimension."""
        return (-(-prod(self.box) // self.block_size), 1, 1)

    @property
    def block(self) -> Dim3:
        """Threads of a block in one dimension."""
        return (self.block_size, 1, 1)


@dataclass(frozen=True, slots=True)
class Match:
    """The concatenate that every output follows."""

    hero: Instruction
    after: tuple[Output, ...]
    epilogue: Epilogue


def matches(computation: Computation) -> bool:
    """Whether every output follows one concatenate."""
    return match(computation) is not None


def match(computation: Computation) -> Match | None:
    """The hero; None where there is none, or several."""
    found = outputs(computation)
    heroes = {find_hero(o.instruction, _is_hero) for o in found}
    hero = heroes.pop() if len(heroes) == 1 else None
    if hero is None:
        return None
    try:
        return Match(hero, found, Epilogue.from_paths([(hero, o.instruction) for o in found]))
    except InvalidMap:  # some output reads the hero at two places
        return None


def _is_hero(instruction: Instruction) -> bool:
    if instruction.opcode != "concatenate" or not 2 <= len(instruction.operands) <= MAX_OPERANDS:
        return False
    return all(o.shape.element_count for o in instruction.operands)


def plan(computation: Computation, *, block_size: int = 128) -> ConcatenatePlan:
    """Launch dimensions. Knob: `block_size`, 1 to 1024 threads."""
    check_knob("block_size", block_size, 1, 1024)
    found = match(computation)
    if found is None:
        raise IndexingError(f"{computation.name} has no concatenate that all outputs follow; the loop emitter takes it")
    box = tuple(map(max, zip(*(o.shape.dimensions for o in found.hero.operands), strict=True)))
    return ConcatenatePlan(box, block_size)


def _place(hero: Instruction, plan: ConcatenatePlan) -> tuple[list[SymbolicExpr], list[tuple[SymbolicExpr, Bounds]]]:
    """The thread's index in the box, in the order in which memory holds the result; and where it lies in the box."""
    position = position_in_grid(plan.block_size)
    is_whole = prod(plan.box) % plan.block_size == 0
    bounds = [] if is_whole else [(position, (0, prod(plan.box) - 1))]
    return unravelled(position, plan.box, major_to_minor(hero.shape)), bounds


def _to_operand(hero: Instruction, plan: ConcatenatePlan, k: int) -> IndexingMap:
    """From threads to the index of operand `k`."""
    index, bounds = _place(hero, plan)
    d = hero.ints("dimensions")[0]
    size = hero.operands[k].shape.dimensions[d]
    if size < plan.box[d]:
        bounds = [*bounds, (index[d], (0, size - 1))]
    return thread_map(plan.grid, plan.block, index, (), bounds)


def _to_hero(hero: Instruction, plan: ConcatenatePlan) -> IndexingMap:
    """From threads, and a range variable that counts operands, to the index of the result."""
    index, bounds = _place(hero, plan)
    d = hero.ints("dimensions")[0]
    sizes = [o.shape.dimensions[d] for o in hero.operands]
    operand = range_variable(0)
    past = [(operand - k).min(1).max(0) for k in range(len(sizes))]  # 1 where the operand lies behind operand k
    offset, size = constant(0), constant(sizes[0])
    for k, (here, following) in enumerate(pairwise(sizes)):
        offset = offset + past[k] * here
        size = size + past[k] * (following - here)
    if len(set(sizes)) > 1:
        bounds = [*bounds, (index[d] - size, (-max(sizes), -1))]
    index[d] = index[d] + offset
    return thread_map(plan.grid, plan.block, index, [("operand", len(sizes))], bounds)


def kernel(computation: Computation, plan: ConcatenatePlan, dialect: Dialect) -> Kernel:
    """The kernel: source, arguments, launch dimensions and thread maps."""
    found = match(computation)
    assert found is not None
    hero = found.hero
    unit = Unit(dialect, computation, partition(computation, epilogues=[found.epilogue]))
    body = FunctionWriter(unit)
    place = unravelled(write_position(body, prod(plan.box), plan.block_size), plan.box, major_to_minor(hero.shape))
    _write_operands(body, found, tuple(map(body.scope.simplify, place)))
    to_hero = _to_hero(hero, plan)
    written = [compose(to_hero, m).simplify() for m in found.epilogue.root_indexing]
    starts = [(o, 0, _to_operand(hero, plan, k)) for k, o in enumerate(hero.operands)]
    starts += [(o.instruction, o.leaf, m) for o, m in zip(found.after, written, strict=True)]
    read = reads_behind(computation, starts, (hero,))
    return assembled(unit, NAME, hero, body, found.after, (plan.grid, plan.block), 0, (written, read))


def _write_operands(body: FunctionWriter, found: Match, place: Index) -> None:
    """For each operand: where it has this place of the box, write it through the epilogue."""
    hero = found.hero
    (d,) = hero.ints("dimensions")
    starts = [0, *accumulate(o.shape.dimensions[d] for o in hero.operands)]
    for k, operand in enumerate(hero.operands):
        mapped = body.mapped(IndexingMap.identity(operand.shape.dimensions), place)
        with guarded(body, mapped.conditions):
            index = body.inside(mapped.index, operand.shape.dimensions)
            at = tuple(e + starts[k] if i == d else e for i, e in enumerate(index))
            body.inject(hero, at, [body.read(operand, index)])
            for output, m in zip(found.after, found.epilogue.root_indexing, strict=True):
                target = body.mapped(m, at).index
                with body.within(body.unit.partition.epilogues[0]):
                    value = body.value(output.instruction, target, output.leaf)
                store(body, output, target, value)
