"""Scatters that can be computed in the operand's own buffer, of one form and of different arrays, or one after another."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from indexing.cached import cached_property
from indexing.device.record import Device
from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Node
from indexing.hlo import Computation, Instruction
from indexing.hlo.layout import major_to_minor
from indexing.hlo.module_cache import cached_on_module
from indexing.indexing_analysis.instructions import input_to_output
from indexing.kernels.emitters.scatter.modes import has_one_thread, launch_form, update_shape, updates_of
from indexing.kernels.hero import Output, outputs
from indexing.kernels.proposal import Proposal
from indexing.kernels.update_groups import group_updates
from indexing.ops.operand_indexing import OperandIndexing
from indexing.ops.registry import traits_of
from indexing.ops.scatter import SCATTER
from indexing.partitioner import Epilogue, PartitionedComputation, partition
from indexing.walks import reached

NAME = SCATTER.opcode


@dataclass(frozen=True, slots=True)
class Chain:
    """Scatters, each but the first of the result of the one before, and the outputs that the last has, one for each array."""

    heroes: tuple[Instruction, ...]
    outputs: tuple[Output, ...]


@dataclass(frozen=True)
class Scattered:
    """Scatters that are computed in place, in chains of different arrays."""

    chains: tuple[Chain, ...]

    @property
    def computation(self) -> Computation:
        """The fusion's computation."""
        return self.heroes[0].computation

    @cached_property
    def heroes(self) -> tuple[Instruction, ...]:
        """All scatters."""
        return tuple(hero for chain in self.chains for hero in chain.heroes)

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        """The outputs, in their order."""
        return tuple(sorted((o for chain in self.chains for o in chain.outputs), key=lambda o: o.number))

    @cached_property
    def parts(self) -> PartitionedComputation:
        """The partition in which each scatter is an epilogue of its own."""
        return partition(self.computation, epilogues=[Epilogue.from_paths([(h, h)]) for h in self.heroes])


@cached_on_module
def match_scatter(computation: Computation) -> Scattered | None:
    """The scatters and their outputs; None if they can't be proved to be safe in place, or differ in form."""
    results = outputs(computation)
    if any(traits_of(o.instruction) is not SCATTER for o in results):
        return None
    last = dict.fromkeys(o.instruction for o in results)
    chains = tuple(Chain(_chain_to(hero), tuple(o for o in results if o.instruction is hero)) for hero in last)
    if not all(map(_is_in_place, chains)) or len({launch_form(h) for c in chains for h in c.heroes}) > 1:
        return None
    return Scattered(chains)


def _chain_to(hero: Instruction) -> tuple[Instruction, ...]:
    """The scatters up to `hero` that one thread makes, each of the result of the one before."""
    chain = [hero]
    while has_one_thread(hero) and traits_of(hero.operands[0]) is SCATTER and not hero.shape.is_tuple:
        hero = hero.operands[0]
        chain.append(hero)
    return tuple(reversed(chain))


def _is_in_place(chain: Chain) -> bool:
    """Whether a chain can be made in the memory of a parameter, and nothing else reads what it overwrites."""
    first, last = chain.heroes[0], chain.heroes[-1]
    count = len(updates_of(last))
    if [o.leaf for o in chain.outputs] != list(range(count)):
        return False
    if not all(operand.is_parameter for operand in first.operands[:count]):
        return False
    layouts = ((o.shape, f.shape) for h in chain.heroes for o, f in zip(h.operands[:count], chain.outputs, strict=True))
    if any(major_to_minor(shape) != major_to_minor(output) for shape, output in layouts):
        return False
    is_alone = all(map(_takes_over, chain.heroes)) and _is_only_returned(last)
    return is_alone and all(map(has_exact_maps, chain.heroes))


def _takes_over(hero: Instruction) -> bool:
    """Whether nothing but the scatter reads the arrays that it updates, and there is something to update."""
    count = len(updates_of(hero))
    arrays = hero.operands[:count]
    is_alone = all(a.users == (hero,) and not a.is_root and hero.operands.count(a) == 1 for a in arrays)
    return is_alone and bool(arrays[0].shape.element_count and update_shape(hero).element_count)


def _is_only_returned(last: Instruction) -> bool:
    """Whether nothing of the computation reads the result."""
    return all(traits_of(user).kind == "alias" for user in reached(last.users, lambda i: i.users))


def has_exact_maps(hero: Instruction) -> bool:
    """Whether it is known which elements the updates of a scatter reach."""
    landings = [update_to_output(hero, k) for k in range(len(updates_of(hero)))]
    return all(m is not None and m.exactness == "exact" for m in landings)


def update_to_output(hero: Instruction, k: int) -> OperandIndexing | None:
    """The map from update `k` to output `k`; None if it does not reach it, as where a constant index is out of bounds."""
    maps = input_to_output(hero, len(hero.operands) // 2 + 1 + k)[k]
    return maps[0] if len(maps) == 1 and not maps[0].map.is_known_empty else None


def group_scatters(facts: GraphFacts, seed: Node, device: Device) -> Proposal | None:
    """One kernel for scatters of one form: each thread makes an update of each, as of arrays that are indexed alike; where one
    thread makes all updates, also one scatter after another.
    """
    if seed.op is not SCATTER:
        return None
    is_chained = has_one_thread(seed.instruction) and len(seed.arrays) == 1
    return group_updates(facts, seed, _form, lambda _: is_chained)


def _form(facts: GraphFacts, node: Node) -> Hashable:
    """The form of a scatter that can be made in place; None for others."""
    i = node.instruction
    is_empty = not (i.operands[0].shape.element_count and update_shape(i).element_count)
    arrays = zip(i.operands[: len(updates_of(i))], i.shape.leaves, strict=True)
    is_moved = any(major_to_minor(array.shape) != major_to_minor(result) for array, result in arrays)
    return None if is_empty or is_moved or not has_exact_maps(i) else launch_form(i)
