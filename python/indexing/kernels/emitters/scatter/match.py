"""Scatters that can be computed in the operand's own buffer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from indexing.hlo import Computation, Instruction
from indexing.hlo.layout import major_to_minor
from indexing.hlo.module_cache import cached_on_module
from indexing.indexing_analysis.instructions import input_to_output
from indexing.kernels.hero import Output, outputs
from indexing.ops.operand_indexing import OperandIndexing
from indexing.ops.registry import traits_of
from indexing.ops.scatter import SCATTER
from indexing.partitioner import Epilogue, PartitionedComputation, partition

NAME = SCATTER.opcode


@dataclass(frozen=True)
class Scattered:
    """A scatter that is computed in place, and its outputs."""

    hero: Instruction
    outputs: tuple[Output, ...]

    @property
    def computation(self) -> Computation:
        """The fusion's computation."""
        return self.hero.computation

    @cached_property
    def parts(self) -> PartitionedComputation:
        """The partition in which the scatter is an epilogue of its own."""
        return partition(self.computation, epilogues=[Epilogue.from_paths([(self.hero, self.hero)])])


@cached_on_module
def match_scatter(computation: Computation) -> Scattered | None:
    """The scatter and its outputs; None if it can't be proved to be safe in place."""
    results = outputs(computation)
    hero = results[0].instruction
    if traits_of(hero) is not SCATTER or any(o.instruction is not hero for o in results):
        return None
    count = len(hero.operands) // 2
    is_empty = not (hero.operands[0].shape.element_count and hero.operands[count + 1].shape.element_count)
    if [o.leaf for o in results] != list(range(count)) or is_empty:
        return None
    if not all(
        _is_read_by(hero, o) and _same_memory(o, f) for o, f in zip(hero.operands[:count], results, strict=True)
    ):
        return None
    return Scattered(hero, results) if _has_exact_maps(hero) else None


def _is_read_by(hero: Instruction, operand: Instruction) -> bool:
    is_once = sum(o is operand for o in hero.operands) == 1
    return operand.is_parameter and operand.users == (hero,) and is_once


def _same_memory(operand: Instruction, output: Output) -> bool:
    return major_to_minor(operand.shape) == major_to_minor(output.shape)


def _has_exact_maps(hero: Instruction) -> bool:
    landings = [update_to_output(hero, k) for k in range(len(hero.operands) // 2)]
    return all(m is not None and m.exactness == "exact" for m in landings)


def update_to_output(hero: Instruction, k: int) -> OperandIndexing | None:
    """The map from update `k` to output `k`; None if it does not reach it, as where a constant index is out of bounds."""
    maps = input_to_output(hero, len(hero.operands) // 2 + 1 + k)[k]
    return maps[0] if len(maps) == 1 and not maps[0].map.is_known_empty else None
