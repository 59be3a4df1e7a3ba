"""The ways in which concurrent updates of one element are avoided, and the form that scatters of one kernel have."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Literal

from indexing.hlo import Instruction, Shape
from indexing.hlo.layout import major_to_minor
from indexing.kernels.ir.opcodes import ATOMIC_FLOATS, ATOMIC_UPDATES
from indexing.kernels.ir.types import storage_bytes
from indexing.ops.reducer_ops import SECOND, reducer_opcode

ATOMIC_SIZES = (1, 2, 4, 8)
WORD_BYTES = 4  # the narrowest that all targets swap
INTEGERS = frozenset({"s32", "u32", "s64", "u64"})
REALS = frozenset({"f32", "f64"})
UpdateMode = Literal["unique", "sorted", "atomic", "in turn"]


def updates_of(hero: Instruction) -> tuple[Instruction, ...]:
    """The updates of a scatter, one array for each that it updates."""
    return hero.operands[len(hero.operands) // 2 + 1 :]


def update_shape(hero: Instruction) -> Shape:
    """The shape of a scatter's updates."""
    return updates_of(hero)[0].shape


def update_mode(hero: Instruction) -> UpdateMode:
    """The cheapest way to avoid concurrent updates of one element."""
    if hero.flag("unique_indices"):
        return "unique"
    if hero.flag("indices_are_sorted") and _is_one_row_of_points(hero):
        return "sorted"
    is_store = reducer_opcode(hero.computation_of("to_apply")) == SECOND
    return "atomic" if len(updates_of(hero)) == 1 and (_is_swapped(hero) or is_store) else "in turn"


def has_one_thread(hero: Instruction) -> bool:
    """Whether one thread makes all updates, so that it may go on with those of another scatter of the result."""
    return update_mode(hero) == "in turn" or update_shape(hero).element_count == 1


def launch_form(hero: Instruction) -> Hashable:
    """The form that scatters of one kernel share: the updates of a thread, and the knobs that say how it makes them."""
    shape, mode = update_shape(hero), update_mode(hero)
    return (
        shape.dimensions,
        major_to_minor(shape),
        mode,
        adjacent_updates(hero, mode),
        may_be_atomic(hero),
        may_cut(hero),
    )


def _is_swapped(hero: Instruction) -> bool:
    """Whether targets can swap each element. Bytes are swapped within words of four, of which the last must not extend beyond
    the array, where nobody may read or write.
    """
    shape = hero.operands[0].shape
    size = storage_bytes(shape.element_type)
    return size in ATOMIC_SIZES and (size > 1 or shape.element_count % WORD_BYTES == 0)


def _is_one_row_of_points(hero: Instruction) -> bool:
    """Whether windows with different indices don't overlap, and the indices are a single row of vectors."""
    inserted = set(hero.ints("inserted_window_dims"))
    if not set(hero.ints("scatter_dims_to_operand_dims")) <= inserted or hero.ints("input_batching_dims"):
        return False
    return len(batch_dims(hero)) == 1


def batch_dims(hero: Instruction) -> list[int]:
    """The dimensions of the updates that index index vectors."""
    return [d for d in range(update_shape(hero).rank) if d not in hero.ints("update_window_dims")]


def adjacent_updates(hero: Instruction, mode: UpdateMode) -> int:
    """The number of adjacent updates with one index, if threads may take several; 1 otherwise."""
    shape = update_shape(hero)
    if mode not in ("unique", "atomic") or not shape.rank:
        return 1
    last = major_to_minor(shape)[-1]
    return shape.dimensions[last] if last in hero.ints("update_window_dims") else 1


def may_be_atomic(hero: Instruction) -> bool:
    """Whether updates with sorted indices could be atomic instead."""
    return len(hero.operands) == 3 and _is_swapped(hero)


def may_copy(hero: Instruction) -> bool:
    """Whether blocks may combine updates in copies of the output first, in any order, and then join these atomically."""
    return update_mode(hero) == "atomic" and _is_joined(hero)


def may_cut(hero: Instruction) -> bool:
    """Whether runs of sorted indices may be cut: their parts are combined separately, in any order, and joined by one atomic
    operation.
    """
    return update_mode(hero) == "sorted" and len(hero.operands) == 3 and _is_joined(hero)


def _is_joined(hero: Instruction) -> bool:
    """Whether the reducer is one of those in any order for which targets have an atomic operation."""
    opcode = reducer_opcode(hero.computation_of("to_apply"))
    kind = hero.operands[0].shape.element_type
    return (opcode in ATOMIC_UPDATES and kind in INTEGERS) or (opcode in ATOMIC_FLOATS and kind in REALS)
