"""Outputs around a kernel's heroes: those computed from their values, and side outputs at their operands' index."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace

from indexing.cached import cached_property
from indexing.errors import InvalidMap
from indexing.hlo import Computation, Instruction
from indexing.indexing_analysis.instructions import epilogue_indexing
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.hero import Output, find_heroes, outputs
from indexing.kernels.launch import same_memory, store
from indexing.ops.element_context import Index
from indexing.partitioner import Epilogue, PartitionedComputation, partition


@dataclass(frozen=True)
class Heroes:
    """The heroes of a fusion, all of one form. The outputs `after` are computed from heroes by the epilogue; those of
    `side_outputs` have the index of the heroes' operands, which is one index unless `has_one_index` is false.
    """

    heroes: tuple[Instruction, ...]
    after: tuple[Output, ...]
    side_outputs: tuple[Output, ...]
    epilogue: Epilogue
    has_one_index: bool = True

    @property
    def first(self) -> Instruction:
        """The first hero, which represents all of them."""
        return self.heroes[0]

    @property
    def computation(self) -> Computation:
        """The fusion's computation."""
        return self.first.computation

    @cached_property
    def parts(self) -> PartitionedComputation:
        """The partition of the computation: the epilogue is one function, and each side output the root of one."""
        side = [o.instruction for o in self.side_outputs]
        read = {*side, *(o for hero in self.heroes for o in hero.operands)} if self.has_one_index else ()
        return replace(partition(self.computation, side, [self.epilogue]), _read_together=frozenset(read))

    def build_after(self, body: FunctionBuilder, index: Index) -> None:
        """Build the outputs after the heroes, whose values at `index` have been injected."""
        for output, m in zip(self.after, self.epilogue.root_indexing, strict=True):
            at = body.mapped(m, index).index
            with body.within_subgraph(body.kernel.partition.epilogues[0]):
                value = body.value(output.instruction, at, output.leaf)
            store(body, output, at, value)

    def build_side_outputs(self, body: FunctionBuilder, index: Index) -> None:
        """Build the side outputs, at the index of the heroes' operands."""
        operand = self.first.operands[0].shape
        for output in self.side_outputs:
            at = body.mapped(same_memory(operand, output.shape), index).index
            store(body, output, at, body.read(output.instruction, at, output.leaf))


def heroes_of(
    computation: Computation, is_hero: Callable[[Instruction], bool], form: Callable[[Instruction], Hashable]
) -> Heroes | None:
    """The heroes, if every output follows one or has as many elements as their operands; None otherwise, or if they differ
    in form.

    Besides its nearest hero, an output may follow other instructions of the same form at the same index, which are heroes,
    too; instructions of another form are recomputed.
    """
    if not any(map(is_hero, computation.post_order())):
        return None
    after, side = [], []
    paths: list[tuple[Instruction, Instruction]] = []
    others: list[Instruction] = []
    for output in outputs(computation):
        nearest = find_heroes(output.instruction, is_hero)
        if not nearest:
            side.append(output)
            continue
        after.append(output)
        paths.append((nearest[0], output.instruction))
        others += [
            h for h in nearest[1:] if form(h) == form(nearest[0]) and _is_beside(h, nearest[0], output.instruction)
        ]
    if len({form(hero) for hero, _ in paths}) != 1:
        return None
    heroes = tuple(dict.fromkeys([*(hero for hero, _ in paths), *others]))
    if any(o.shape.element_count != heroes[0].operands[0].shape.element_count for o in side):
        return None
    try:
        return Heroes(heroes, tuple(after), tuple(side), Epilogue.from_paths(paths, heroes))
    except InvalidMap:  # an output reads a hero at two indices
        return None


def single_hero_of(computation: Computation, is_hero: Callable[[Instruction], bool]) -> Heroes | None:
    """The hero that every output follows; None where there is none, or several."""
    heroes = heroes_of(computation, is_hero, lambda hero: hero)
    return None if heroes is None or heroes.side_outputs else replace(heroes, has_one_index=False)


def _is_beside(hero: Instruction, other: Instruction, root: Instruction) -> bool:
    """Whether each index of the root leads to the same index of both heroes."""
    try:
        return epilogue_indexing(hero, root) == epilogue_indexing(other, root)
    except InvalidMap:
        return False
