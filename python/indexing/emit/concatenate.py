"""The concatenate emitter: each thread moves elements of every operand, so that no thread asks which operand is its.

Threads walk a box that holds the largest operand. The same thread takes the same place of each operand in turn, checks
that the operand has it, and writes it through the epilogue: `vector_width` neighbouring elements at once, where all
operands can be cut into such vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import gcd, prod
from typing import TYPE_CHECKING

from indexing._core import IndexingMap, SymbolicExpr, constant
from indexing.emit.elemental import FunctionWriter
from indexing.emit.epilogue import Heroes, heroes_of
from indexing.emit.launch import (
    Bounds,
    assembled,
    check_knob,
    guarded,
    position_in_grid,
    range_variable,
    thread_map,
    unravelled,
    write_position,
)
from indexing.emit.types import c_type
from indexing.emit.vectors import WIDTHS, VectorTypes, is_light, lanes, widest
from indexing.errors import IndexingError
from indexing.layout import major_to_minor

if TYPE_CHECKING:
    from indexing.emit.kernel import Dialect, Dim3, Kernel
    from indexing.hlo import Computation, Instruction
    from indexing.ops.element import Index

NAME = "concatenate"
MAX_OPERANDS = 16  # the epilogue is written once an operand
MAX_LANES = 8


@dataclass(frozen=True, slots=True)
class ConcatenatePlan:
    """Launch dimensions: `box` holds each operand, `vector_width` elements a thread, `block_size` threads a block."""

    box: tuple[int, ...]
    vector_width: int
    block_size: int

    @property
    def count(self) -> int:
        """Vectors in the box."""
        return prod(self.box) // self.vector_width

    @property
    def grid(self) -> Dim3:
        """Blocks in one dimension."""
        return (-(-self.count // self.block_size), 1, 1)

    @property
    def block(self) -> Dim3:
        """Threads of a block in one dimension."""
        return (self.block_size, 1, 1)


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


def plan(computation: Computation, *, block_size: int = 128, vector_width: int | None = None) -> ConcatenatePlan:
    """Launch dimensions.

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
    elif vector_width not in WIDTHS or common % vector_width:
        raise IndexingError(f"vector_width is 1, 2, 4, 8 or 16, and divides {common} here; got {vector_width}")
    return ConcatenatePlan(box, vector_width, block_size)


def _fast(hero: Instruction) -> int:
    """The dimension of neighbours in memory."""
    return major_to_minor(hero.shape)[-1]


def _box_index(hero: Instruction, plan: ConcatenatePlan, position: SymbolicExpr) -> list[SymbolicExpr]:
    """The index of vector number `position` of the box: of its first element, the fastest dimension counted in vectors."""
    sizes = [size // plan.vector_width if d == _fast(hero) else size for d, size in enumerate(plan.box)]
    return unravelled(position, sizes, major_to_minor(hero.shape))


def _place(
    hero: Instruction, plan: ConcatenatePlan, lane: SymbolicExpr
) -> tuple[list[SymbolicExpr], list[tuple[SymbolicExpr, Bounds]]]:
    """The thread's index in the box, in the order in which memory holds the result; and where it lies in the box."""
    position = position_in_grid(plan.block_size)
    bounds = [] if plan.count % plan.block_size == 0 else [(position, (0, plan.count - 1))]
    index = _box_index(hero, plan, position)
    index[_fast(hero)] = index[_fast(hero)] * plan.vector_width + lane
    return index, bounds


def _to_operand(hero: Instruction, plan: ConcatenatePlan, k: int) -> IndexingMap:
    """From threads to the index of operand `k`."""
    index, bounds = _place(hero, plan, range_variable(0))
    d = hero.ints("dimensions")[0]
    size = hero.operands[k].shape.dimensions[d]
    if size < plan.box[d]:
        bounds = [*bounds, (index[d], (0, size - 1))]
    return thread_map(plan.grid, plan.block, index, [("vector_index", plan.vector_width)], bounds)


def _to_hero(hero: Instruction, plan: ConcatenatePlan) -> IndexingMap:
    """From threads, and a range variable that counts operands, to the index of the result."""
    index, bounds = _place(hero, plan, range_variable(1))
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


def kernel(computation: Computation, plan: ConcatenatePlan, dialect: Dialect) -> Kernel:
    """The kernel: source, arguments, launch dimensions and thread maps."""
    found = match(computation)
    assert found is not None
    hero = found.first
    unit = found.unit(dialect, computation)
    body = FunctionWriter(unit)
    types = VectorTypes(plan.vector_width)
    place = _box_index(hero, plan, write_position(body, plan.count, plan.block_size))
    _write_operands(body, found, types, tuple(map(body.scope.simplify, place)))
    written = found.output_maps(_to_hero(hero, plan))
    starts = [(o, 0, _to_operand(hero, plan, k)) for k, o in enumerate(hero.operands)]
    maps = (written, found.input_maps(computation, starts, written))
    declared = list(types.declarations.values())
    return assembled(unit, NAME, hero, body, found.after, (plan.grid, plan.block), 0, maps, declared)


def _write_operands(body: FunctionWriter, found: Heroes, types: VectorTypes, place: Index) -> None:
    """For each operand: where it has this place of the box, write it through the epilogue."""
    hero, fast = found.first, _fast(found.first)
    (d,) = hero.ints("dimensions")
    starts = [0, *accumulate(o.shape.dimensions[d] for o in hero.operands)]
    for k, operand in enumerate(hero.operands):
        sizes = [s // types.width if e == fast else s for e, s in enumerate(operand.shape.dimensions)]
        mapped = body.mapped(IndexingMap.identity(sizes), place)
        with guarded(body, mapped.conditions):
            first = body.inside(mapped.index, sizes)
            with lanes(body, types) as lane:
                index = tuple(e * types.width + lane if i == fast else e for i, e in enumerate(first))
                index = tuple(map(body.scope.simplify, index))
                at = tuple(e + starts[k] if i == d else e for i, e in enumerate(index))
                body.inject(hero, at, [body.read(operand, index)])
                found.write_after(body, at)
