"""Reductions that decide the layout of a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import TypeAlias

from indexing.hlo import Computation, Instruction
from indexing.hlo.layout import major_to_minor
from indexing.hlo.module_cache import cached_on_module
from indexing.kernels.epilogue import Heroes, heroes_of
from indexing.ops.reduce import REDUCE
from indexing.ops.registry import traits_of

NAME = "reduction"
_Space: TypeAlias = "tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]"  # sizes, layout, reduced dimensions
MIN_REDUCED = 4  # elements; one thread reduces fewer
MIN_PAIRS = 2  # elements that are kept with their places


@cached_on_module
def match_reduction(computation: Computation) -> Heroes | None:
    """The heroes, if every output follows a reduction of one space, or has as many elements as that space. Reductions of other
    spaces are recomputed: the shorter ones, or those whose results the shorter ones reduce.
    """
    spaces = dict.fromkeys(iteration_space(i) for i in computation.post_order() if _is_hero(i))
    heroes = heroes_of(computation, _is_hero, iteration_space)
    if heroes is not None or len(spaces) == 1:
        return heroes
    by_length = sorted(spaces, key=_length, reverse=True)
    of_space = (heroes_of(computation, partial(_is_hero_of, space), iteration_space) for space in by_length)
    return next((h for h in of_space if h is not None), None)


def _is_hero_of(space: _Space, instruction: Instruction) -> bool:
    return _is_hero(instruction) and iteration_space(instruction) == space


def _is_hero(instruction: Instruction) -> bool:
    if traits_of(instruction) is not REDUCE:
        return False
    sizes = instruction.operands[0].shape.dimensions
    layouts = {major_to_minor(o.shape) for o in arrays_of(instruction)}
    reduced = prod(sizes[d] for d in instruction.ints("dimensions"))
    return (
        len(layouts) == 1 and 0 not in sizes and reduced >= (MIN_PAIRS if instruction.shape.is_tuple else MIN_REDUCED)
    )


def iteration_space(reduce: Instruction) -> _Space:
    """The sizes and the layout of what is reduced, and the reduced dimensions."""
    shape = reduce.operands[0].shape
    return shape.dimensions, major_to_minor(shape), tuple(sorted(reduce.ints("dimensions")))


def _length(space: _Space) -> int:
    """The number of elements that are reduced to one."""
    sizes, _, gone = space
    return prod(sizes[d] for d in gone)


def staged_arrays(heroes: Sequence[Instruction]) -> tuple[Instruction, ...]:
    """The arrays that reductions reduce, without those that are computed from nothing, such as indices."""
    arrays = dict.fromkeys(array for hero in heroes for array in arrays_of(hero))
    return tuple(filter(_is_read, arrays))


def _is_read(array: Instruction) -> bool:
    """Whether an array is, or is computed or moved from, what is in memory."""
    while not traits_of(array).is_source and traits_of(array).has_no_compute and len(array.operands) == 1:
        array = array.operands[0]
    return array.is_parameter or not traits_of(array).is_source


def arrays_of(reduce: Instruction) -> tuple[Instruction, ...]:
    """The arrays that a reduction reduces; its other operands are the initial values."""
    return reduce.operands[: len(reduce.operands) // 2]
