"""What a kernel writes around its heroes: the outputs after them, the outputs beside them, and the maps of both."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexing._core import IndexingMap, compose
from indexing.emit.hero import Output, find_heroes, outputs
from indexing.emit.launch import same_memory, store
from indexing.emit.reads import Start, reads_behind
from indexing.emit.unit import Unit
from indexing.errors import InvalidMap
from indexing.fusion import epilogue_indexing
from indexing.partition import Epilogue, PartitionedComputation, partition

if TYPE_CHECKING:
    from indexing.emit.elemental import FunctionWriter
    from indexing.emit.kernel import Dialect
    from indexing.hlo import Computation, Instruction
    from indexing.ops.element import Index


@dataclass(frozen=True, slots=True)
class Heroes:
    """The heroes of a fusion, all of one form: `after` are the outputs that follow one of them through the epilogue,
    `side` those that lie at the index of the heroes' operands.
    """

    heroes: tuple[Instruction, ...]
    after: tuple[Output, ...]
    side: tuple[Output, ...]
    epilogue: Epilogue

    @property
    def first(self) -> Instruction:
        """The hero that stands for all of them."""
        return self.heroes[0]

    def unit(self, dialect: Dialect, computation: Computation) -> Unit:
        """The functions of the kernel: the epilogue is one, each side output the root of one."""
        return Unit(dialect, computation, partition(computation, [o.instruction for o in self.side], [self.epilogue]))

    # ------------------------------------------------------------ maps

    def output_maps(self, to_hero: IndexingMap, to_operand: IndexingMap | None = None) -> list[IndexingMap]:
        """Of all outputs, in order: from threads, given their maps to the heroes' index and to their operands'."""
        pairs = zip(self.after, self.epilogue.root_indexing, strict=True)
        found = {o.number: compose(to_hero, m).simplify() for o, m in pairs}
        operand = self.first.operands[0].shape
        for o in self.side:
            assert to_operand is not None
            found[o.number] = compose(to_operand, same_memory(operand, o.shape)).simplify()
        return [found[k] for k in sorted(found)]

    def input_maps(
        self, parts: PartitionedComputation, starts: Sequence[Start], written: Sequence[IndexingMap]
    ) -> list[list[IndexingMap]]:
        """Of all parameters: what is read for `starts`, the heroes' operands, and what outputs read beside the heroes."""
        ordered = sorted((*self.after, *self.side), key=lambda o: o.number)
        own = [(o.instruction, o.leaf, m) for o, m in zip(ordered, written, strict=True)]
        return reads_behind(parts, [*starts, *own], self.heroes)

    # ------------------------------------------------------------ code

    def write_after(self, body: FunctionWriter, index: Index) -> None:
        """The outputs after the heroes, whose values at `index` have been injected."""
        for output, m in zip(self.after, self.epilogue.root_indexing, strict=True):
            at = body.mapped(m, index).index
            with body.within(body.unit.partition.epilogues[0]):
                value = body.value(output.instruction, at, output.leaf)
            store(body, output, at, value)

    def write_side(self, body: FunctionWriter, index: Index) -> None:
        """The outputs beside the heroes, at the index of their operands."""
        operand = self.first.operands[0].shape
        for output in self.side:
            at = body.mapped(same_memory(operand, output.shape), index).index
            store(body, output, at, body.read(output.instruction, at, output.leaf))


def heroes_of(
    computation: Computation, is_hero: Callable[[Instruction], bool], form: Callable[[Instruction], Hashable]
) -> Heroes | None:
    """The heroes: every output follows one, or has as many elements as their operands; None where they differ in form.

    What an output follows besides its nearest hero, at the same index, is one too where it has the same form; others are
    computed again.
    """
    after, side = [], []
    paths: list[tuple[Instruction, Instruction]] = []
    others: list[Instruction] = []
    for output in outputs(computation):
        found = find_heroes(output.instruction, is_hero)
        if not found:
            side.append(output)
            continue
        after.append(output)
        paths.append((found[0], output.instruction))
        others += [h for h in found[1:] if form(h) == form(found[0]) and _is_beside(h, found[0], output.instruction)]
    if len({form(hero) for hero, _ in paths}) != 1:
        return None
    heroes = tuple(dict.fromkeys([*(hero for hero, _ in paths), *others]))
    if any(o.shape.element_count != heroes[0].operands[0].shape.element_count for o in side):
        return None
    try:
        return Heroes(heroes, tuple(after), tuple(side), Epilogue.from_paths(paths, heroes))
    except InvalidMap:  # some output reads a hero at two places
        return None


def _is_beside(hero: Instruction, other: Instruction, root: Instruction) -> bool:
    """Whether one index of the root leads to the same one of both."""
    try:
        return epilogue_indexing(hero, root) == epilogue_indexing(other, root)
    except InvalidMap:
        return False
