"""Transposes that are worth a tile, and their merged dimensions."""

from __future__ import annotations

from itertools import pairwise
from math import prod

from indexing.device.record import Device
from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Node
from indexing.hlo import Computation, Instruction
from indexing.hlo.layout import major_to_minor
from indexing.hlo.module_cache import cached_on_module
from indexing.kernels.emitters.transpose.mapping import (
    MIN_SIDE,
    WORD_BYTES,
    Groups,
)
from indexing.kernels.epilogue import Heroes, heroes_of
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.proposal import Proposal, is_read_repeatedly, storage_of
from indexing.kernels.targets import TARGETS
from indexing.kernels.vectors import VECTOR_BYTES
from indexing.ops.registry import traits_of
from indexing.ops.shape import COPY, TRANSPOSE

NAME = TRANSPOSE.opcode
MAX_RUN_BYTES = 60  # the loop emitter copies longer runs, in whole sectors
SECTOR_BYTES = 32
MIN_PLANE = 256  # elements of the plane


@cached_on_module
def match_transpose(computation: Computation) -> Heroes | None:
    """The heroes of a fusion, if every output follows a transpose of one form, or has the index of its input."""
    return heroes_of(computation, is_worth_a_tile, _form)


def _form(hero: Instruction) -> tuple[object, ...]:
    return merged_groups(hero), hero.operands[0].shape.dimensions, hero.shape.dimensions


def is_worth_a_tile(instruction: Instruction) -> bool:
    """Whether an instruction is a transpose that reads or writes short runs, of a plane that is worth a tile."""
    groups = merged_groups(instruction)
    if groups is None:
        return False
    x, y = groups.sizes[groups.x], groups.sizes[groups.y]
    size, run = storage_bytes(instruction.shape.element_type), run_bytes(instruction)
    if run > MAX_RUN_BYTES or run % SECTOR_BYTES == 0 or max(x, y) < MIN_SIDE or x * y < MIN_PLANE:
        return False
    return not (groups.run is None and size >= WORD_BYTES and VECTOR_BYTES % (y * size) == 0)


def pays_on(transpose: Instruction, device: Device) -> bool:
    """Whether a tile pays: a loop without one reads the few lines of a short side as fast."""
    groups = merged_groups(transpose)
    is_short = groups is not None and (groups.is_short("x") or groups.is_short("y"))
    return not is_short or TARGETS[device.dialect].has_threads


def run_bytes(transpose: Instruction) -> int:
    """The bytes that a transpose moves together."""
    groups = merged_groups(transpose)
    return storage_bytes(transpose.shape.element_type) * (groups.run_size if groups is not None else 1)


def merged_groups(instruction: Instruction) -> Groups | None:
    """The merged form of a transpose (or of a copy to another layout); None for other ops, or if nothing moves."""
    if traits_of(instruction) not in (TRANSPOSE, COPY) or instruction.shape.is_tuple:
        return None
    operand = instruction.operands[0].shape
    permutation = instruction.ints("dimensions") if traits_of(instruction) is TRANSPOSE else range(operand.rank)
    sizes = operand.dimensions
    source = [d for d in major_to_minor(operand) if sizes[d] != 1]
    target = [permutation[d] for d in major_to_minor(instruction.shape) if sizes[permutation[d]] != 1]
    if source == target or 0 in sizes:
        return None
    follows = dict(pairwise(source))
    members: list[list[int]] = []
    for d in target:
        if members and follows.get(members[-1][-1]) == d:
            members[-1].append(d)
        else:
            members.append([d])
    order = sorted(range(len(members)), key=lambda g: source.index(members[g][0]))
    merged = tuple(tuple(members[g]) for g in order)
    in_target = [order.index(g) for g in range(len(members))]  # indices into `merged`, in the output's order
    last = len(merged) - 1
    run = last if in_target[-1] == last else None
    x, y = (last, in_target[-1]) if run is None else (last - 1, in_target[-2])
    outer = tuple(g for g in range(len(merged)) if g not in (x, y, run))
    return Groups(tuple(prod(sizes[d] for d in m) for m in merged), merged, outer, x, y, run)


def group_transpose(facts: GraphFacts, seed: Node, device: Device) -> Proposal | None:
    """A kernel of its own for a transpose: readers then read whole sectors, at least once each element."""
    if not is_worth_a_tile(seed.instruction) or not pays_on(seed.instruction, device):
        return None
    if not is_read_repeatedly(facts, seed, filter(facts.can_compute, facts.users_of(seed))):
        return None
    bytes_, run = storage_of(seed.arrays[0]), run_bytes(seed.instruction)
    wasted = bytes_ * (-run % device.memory.sector_bytes) // run
    return Proposal(seed, {seed}, seed.arrays, launches=-1, saved_bytes=wasted - 2 * bytes_, may_grow=True)
