"""The concatenate emitter: each thread moves elements of every operand, so that no thread asks which operand is its.

Threads walk a box that holds the largest operand. The same thread takes the same place of each operand in turn, checks
that the operand has it, and writes it through the epilogue: `vector_width` neighbouring elements at once, where all
operands can be cut into such vectors.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise
from math import gcd, prod
from typing import TYPE_CHECKING

from indexing._core import IndexingMap, constant
from indexing.emit.elemental import FunctionWriter
from indexing.emit.epilogue import Heroes, heroes_of
from indexing.emit.launch import Part, assembled, check_knob, inside, range_variable, thread_map
from indexing.emit.linear import LinearPlan, place, vector_index
from indexing.emit.types import c_type
from indexing.emit.vectors import VectorTypes, check_width, is_light, lanes, widest
from indexing.errors import IndexingError
from indexing.layout import major_to_minor

if TYPE_CHECKING:
    from indexing.emit.kernel import Dialect, Kernel
    from indexing.hlo import Computation, Instruction
    from indexing.ops.element import Index

NAME = "concatenate"
MAX_OPERANDS = 16  # the epilogue is written once an operand
MAX_LANES = 8


def matches(computation: Computation) -> bool:
    """Whether every output follows one concatenate."""
    return match(computation) is not None


def match(computation: Computation) -> Heroes | None:
    """The hero; None where there is none, or several."""
    found = heroes_of(computation, _is_hero, lambda hero: hero)
    return None if found is None or found.side else found


def _is_hero(instruction: Instruction) -> bool:
    if instruction.opcode != "concatenate" or not 2 <= len(instruction.operands) <= MAX_OPERANDS:
        return False
    return all(o.shape.element_count for o in instruction.operands)


def plan(computation: Computation, *, block_size: int = 128, vector_width: int | None = None) -> LinearPlan:
    """Launch dimensions over a box that holds each operand.

    Knobs: `block_size`, 1 to 1024 threads; `vector_width` 1, 2, 4, 8 or 16 elements a thread, which divide the sizes of
    all operands along the dimension that is fastest in memory.
    """
    check_knob("block_size", block_size, 1, 1024)
    found = match(computation)
    if found is None:
        raise IndexingError(f"{computation.name} has no concatenate that all outputs follow; the loop emitter takes it")
    hero = found.first
    box = tuple(map(max, zip(*(o.shape.dimensions for o in hero.operands), strict=True)))
    fast = _fast(hero)
    common = gcd(*(o.shape.dimensions[fast] for o in hero.operands))
    if vector_width is None:
        order = computation.post_order()
        size = c_type(hero.shape.element_type).size
        vector_width = widest(MAX_LANES, size, prod(box), [common]) if is_light(order) else 1
    check_width(vector_width, common)
    return LinearPlan(box, major_to_minor(hero.shape), vector_width, block_size)


def _fast(hero: Instruction) -> int:
    """The dimension of neighbours in memory."""
    return major_to_minor(hero.shape)[-1]


def _to_operand(hero: Instruction, plan: LinearPlan, k: int) -> IndexingMap:
    """From threads to the index of operand `k`."""
    index, bounds = place(plan)
    d = hero.ints("dimensions")[0]
    size = hero.operands[k].shape.dimensions[d]
    if size < plan.sizes[d]:
        bounds = [*bounds, (index[d], (0, size - 1))]
    return thread_map(plan.grid, plan.block, index, [("vector_index", plan.vector_width)], bounds)


def _to_hero(hero: Instruction, plan: LinearPlan) -> IndexingMap:
    """From threads, and a range variable that counts operands, to the index of the result."""
    index, bounds = place(plan, lane=1)
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
    ranges = [("operand", len(sizes)), ("vector_index", plan.vector_width)]
    return thread_map(plan.grid, plan.block, index, ranges, bounds)


def kernel(computation: Computation, plan: LinearPlan, dialect: Dialect) -> Kernel:
    """The kernel: source, arguments, launch dimensions and thread maps."""
    found = match(computation)
    assert found is not None
    hero = found.first
    unit = found.unit(dialect, computation)
    body = FunctionWriter(unit)
    types = VectorTypes(plan.vector_width)
    _write_operands(body, found, plan, types, vector_index(body, plan))
    written = found.output_maps(_to_hero(hero, plan))
    starts = [(o, 0, _to_operand(hero, plan, k)) for k, o in enumerate(hero.operands)]
    maps = (written, found.input_maps(unit.partition, starts, written))
    declared = list(types.declarations.values())
    return assembled(unit, NAME, hero, body, found.after, (plan.grid, plan.block), 0, maps, declared)


def _write_operands(body: FunctionWriter, found: Heroes, plan: LinearPlan, types: VectorTypes, box: Index) -> None:
    """For each operand: where it has this place of the box, write it through the epilogue."""
    hero = found.first
    (d,) = hero.ints("dimensions")
    starts = [0, *accumulate(o.shape.dimensions[d] for o in hero.operands)]
    for k, operand in enumerate(hero.operands):
        parts = [
            Part(e, s) for e, s in zip(box, replace(plan, sizes=operand.shape.dimensions).vector_sizes, strict=True)
        ]
        with inside(body, parts) as vector, lanes(body, types) as lane:
            index = tuple(map(body.scope.simplify, plan.element(vector, lane)))
            at = tuple(e + starts[k] if i == d else e for i, e in enumerate(index))
            body.inject(hero, at, [body.read(operand, index)])
            found.write_after(body, at)
