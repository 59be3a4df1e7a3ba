"""Reductions with one result for all elements of a block or of a warp, as the mean by which a row is scaled: its threads reduce
together.

Each thread would reduce all elements by itself otherwise, for each element that it computes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from indexing._core import IndexingMap, compose, variable
from indexing.hlo import Instruction
from indexing.kernels.emitters.reduction.mapping import WARP, dimensions_of
from indexing.kernels.emitters.reduction.together import is_shareable, width_of_vectors
from indexing.kernels.launch import element_at
from indexing.partitioner import PartitionedComputation, Subgraph
from indexing.walks import reached

MAX_IN_WARP = 128  # each warp reduces so many vectors by itself, without waiting for others
MAX_IN_PLACE = 128  # instructions of functions that are built where they are called, all calls together


@dataclass(frozen=True, slots=True)
class SharedReduction:
    """A reduction of which each group of `threads` neighbouring threads needs one result, at the index that `place` gives for
    the number of the group; a thread takes vectors of `width` elements.
    """

    reduce: Instruction
    place: IndexingMap
    threads: int
    width: int


def shared_reductions(parts: PartitionedComputation, block_size: int, vector_width: int) -> Iterator[SharedReduction]:
    """The reductions that threads share, operands first: short ones those of each warp, others those of the block, if it needs
    one result, else of each warp.
    """
    warp = min(WARP, block_size)
    of_warp, of_block = (dict(block_reductions(parts, n * vector_width)) for n in (warp, block_size))
    for reduce, place in of_warp.items():
        width = width_of_vectors(reduce, vector_width)
        if reduce in of_block and dimensions_of(reduce).reduced > MAX_IN_WARP * width:
            yield SharedReduction(reduce, of_block[reduce], block_size, width)
        else:
            yield SharedReduction(reduce, place, warp, width)


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
    place = element_at(variable(0) * block + variable(1), root.shape)
    of_block = IndexingMap.from_tensor_sizes(place, [root.shape.element_count // block, block])
    indices = _indices_of_functions(parts, of_block)
    for i in candidates:
        read = _indices_of_reads(parts, i, indices)
        if len(read) == 1:
            (at,) = read
            if not at.constraints and not any(1 in e.used_variables() for e in at.results):
                yield i, at


def functions_around(parts: PartitionedComputation, shared: Iterable[Instruction]) -> set[Subgraph]:
    """The functions that read the results of `shared` reductions, and those that call them."""
    readers = [reader for i in shared for reader, _ in parts.reads(i)]
    return set(reached(readers, lambda s: [caller for root in s.roots for caller, _ in parts.reads(root)]))


def _indices_of_functions(
    parts: PartitionedComputation, of_block: IndexingMap
) -> Mapping[Subgraph, frozenset[IndexingMap]]:
    """The indices at which an element of a block calls each function that can be built in place."""
    entry = parts.find(parts.computation.root)
    indices, left = {entry: frozenset({of_block})}, MAX_IN_PLACE
    for function in parts.subgraphs:
        if function is not entry and len(function.roots) == 1:
            calls = _indices_of_reads(parts, function.roots[0], indices)
            size = len(calls) * len(function.instructions)
            if calls and size <= left:
                indices[function] = calls
                left -= size
    return indices


def _indices_of_reads(
    parts: PartitionedComputation, instruction: Instruction, indices: Mapping[Subgraph, frozenset[IndexingMap]]
) -> frozenset[IndexingMap]:
    """The indices at which an element of a block reads an instruction; none if a read is not known."""
    reads = parts.reads(instruction)
    if any(reader not in indices or a.context or not a.is_known for reader, a in reads):
        return frozenset()
    return frozenset(compose(before, a.map).simplify() for reader, a in reads for before in indices[reader])
