"""Thread maps of what a kernel reads: from where its threads are in the heroes' operands and in the outputs, on to the
parameters behind them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, TypeAlias

from indexing._core import IndexingMap, compose
from indexing.ops.through import Arrays, prepare_called, starting, walk

if TYPE_CHECKING:
    from indexing.hlo import Instruction
    from indexing.ops.block import OperandIndexing
    from indexing.partition import PartitionedComputation

Start: TypeAlias = "tuple[Instruction, int, IndexingMap]"  # array of an instruction, and the threads' map to its index


def reads_behind(
    parts: PartitionedComputation, starts: Iterable[Start], heroes: Collection[Instruction]
) -> list[list[IndexingMap]]:
    """Of each parameter, the different maps from threads to elements that `starts` need, not through `heroes`.

    Maps that only bound which of many elements are read are left out: a kernel reads less. There are none where indices
    grow too long to be composed.
    """
    computation = parts.computation
    found: list[dict[IndexingMap, None]] = [{} for _ in computation.parameters]
    if parts.has_long_indices:
        return [[] for _ in found]
    prepare_called(computation)
    order = [i for i in reversed(computation.post_order()) if i not in heroes]
    for start, leaf, threads in starts:
        reached: Arrays = {start: {leaf: starting(start, leaf)}}
        walk(reached, order)
        for parameter, maps in zip(computation.parameters, found, strict=True):
            for arrays in reached.get(parameter, {}).values():
                for m in arrays.values():
                    if names_reads(m):
                        maps[compose(threads, m.map).simplify()] = None
    return [[m for m in maps if not m.is_known_empty] for maps in found]


def names_reads(m: OperandIndexing) -> bool:
    """Does a map say what a thread reads? One element, if it is read at all, or exactly those of the range variables."""
    if m.map.is_undefined or m.map.is_known_empty:
        return False
    return m.exactness == "exact" or not m.map.ranges
