"""Reductions that decide the layout of a kernel."""

from __future__ import annotations

from math import prod

from indexing.hlo import Computation, Instruction
from indexing.hlo.layout import major_to_minor
from indexing.hlo.module_cache import cached_on_module
from indexing.kernels.epilogue import Heroes, heroes_of
from indexing.ops.reduce import REDUCE
from indexing.ops.registry import traits_of

NAME = "reduction"
MIN_REDUCED = 4  # elements; one thread reduces fewer


@cached_on_module
def match_reduction(computation: Computation) -> Heroes | None:
    """The heroes, if every output follows a reduction of one space, or has as many elements as that space."""
    return heroes_of(computation, _is_hero, _space)


def _is_hero(instruction: Instruction) -> bool:
    if traits_of(instruction) is not REDUCE:
        return False
    sizes = instruction.operands[0].shape.dimensions
    layouts = {major_to_minor(o.shape) for o in arrays_of(instruction)}
    return (
        len(layouts) == 1 and 0 not in sizes and prod(sizes[d] for d in instruction.ints("dimensions")) >= MIN_REDUCED
    )


def _space(reduce: Instruction) -> tuple[object, ...]:
    shape = reduce.operands[0].shape
    return shape.dimensions, major_to_minor(shape), tuple(sorted(reduce.ints("dimensions")))


def arrays_of(reduce: Instruction) -> tuple[Instruction, ...]:
    """The arrays that a reduction reduces; its other operands are the initial values."""
    return reduce.operands[: len(reduce.operands) // 2]
