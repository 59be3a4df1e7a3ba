"""Reductions with one result for all elements of a block, as the mean by which a sample is scaled: its threads reduce together.

Each thread would reduce all elements by itself otherwise, for each element that it computes.
"""

from __future__ import annotations

from collections.abc import Iterator

from indexing._core import IndexingMap, compose, variable
from indexing.hlo import Instruction
from indexing.kernels.emitters.reduction.together import is_shareable
from indexing.kernels.launch import element_at
from indexing.partitioner import PartitionedComputation


def block_reductions(parts: PartitionedComputation, block: int) -> Iterator[tuple[Instruction, IndexingMap]]:
    """The reductions that all `block` neighbouring elements of the only output read at one index, operands first, each with
    the map from the number of a block to that index.
    """
    root = parts.computation.root
    if root.shape.is_tuple or root.shape.element_count % block:
        return
    candidates = [i for i in parts.computation.post_order() if is_shareable(i) and parts.holds(i)]
    if not candidates:
        return
    entry = parts.find(root)
    place = element_at(variable(0) * block + variable(1), root.shape)
    of_block = IndexingMap.from_tensor_sizes(place, [root.shape.element_count // block, block])
    for i in candidates:
        reads = parts.reads(i)
        if parts.find(i) is not entry or len(reads) != 1:
            continue
        ((reader, access),) = reads
        if reader is not entry or not access.is_known or access.context or access.map.ranges or access.map.runtimes:
            continue
        at = compose(of_block, access.map).simplify()
        if not at.constraints and not any(1 in e.used_variables() for e in at.results):
            yield i, at
