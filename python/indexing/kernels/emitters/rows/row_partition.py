"""The functions of a rows kernel: the entry, which computes the members, and functions that members read at several indices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from indexing.hlo.module_cache import cached_on_module
from indexing.indexing_analysis.access import Access, AccessComposer
from indexing.indexing_analysis.instructions import output_to_input
from indexing.ops.tuples import array_source
from indexing.partitioner import PartitionedComputation, Subgraph, partition

if TYPE_CHECKING:
    from indexing.hlo import Instruction
    from indexing.kernels.emitters.rows.space import RowSpace


@cached_on_module
def partition_space(space: RowSpace) -> PartitionedComputation:
    """The partition that puts the members into the entry, where reductions are injected, and others into functions."""
    computation = space.first.computation
    rest = partition(computation, space.frontier)
    members = tuple(i for i in computation.post_order() if i in space.places)
    outputs = [o for o in (*space.per_element, *space.per_row) if o.instruction in space.places]
    roots, maps = (tuple(o.instruction for o in outputs), tuple(space.output_places[o.number] for o in outputs))
    entry = Subgraph("rows", members, roots, space.shape.dimensions, maps, space.reductions)
    owner = {i: rest.find(i) for i in computation.post_order() if rest.holds(i) and i not in space.reductions}
    owner |= dict.fromkeys(members, entry)
    accesses = {i: frozenset([(entry, _access(space, i))]) for i in reversed(members)}
    accesses |= {i: frozenset((entry, a) for a in _accesses(space, i)) for i in space.frontier}
    return PartitionedComputation(
        computation, (entry, *rest.subgraphs), (entry,), rest.has_long_indices, owner, accesses
    )


def _access(space: RowSpace, member: Instruction) -> Access:
    """The access to a member: it is computed once for each element of the space, or of the rows."""
    points = space.shape.element_count
    if space.is_per_row(member):
        return Access(Access.of_all(member.shape.dimensions).map, points)
    return Access(space.places[member], points)


def _accesses(space: RowSpace, i: Instruction) -> Iterator[Access]:
    """The accesses of members to an instruction."""
    composer = AccessComposer()
    for user in dict.fromkeys(i.users):
        if user not in space.places:
            continue
        for position, found in enumerate(output_to_input(user)):
            for m in found:
                if array_source(user.operands[position], m.leaf)[0] is i:
                    yield composer.compose(_access(space, user), m, user, position, i.shape.leaves[m.leaf].dimensions)
