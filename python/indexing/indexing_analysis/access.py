"""Accesses: the index at which a function reads an array of an instruction, and how often it does.

Accesses are composed from a function's own index through the output-to-input maps of the instructions that it computes.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cache
from math import prod

from indexing._core import IndexingMap, compose
from indexing.ops.operand_indexing import OperandIndexing


@dataclass(frozen=True, slots=True)
class Access:
    """A read of array `leaf` of an instruction at `map`, from a function's index, which takes `points` values.

    `context` distinguishes accesses with equal maps: by loops, runtime values, or the user that reads unknown elements. If
    the elements are unknown (`is_known` is false), the map is the identity, and every element is read.
    """

    map: IndexingMap
    points: int = field(compare=False)
    leaf: int = 0
    context: tuple[Hashable, ...] = ()
    is_known: bool = True

    @staticmethod
    def of_all(sizes: tuple[int, ...], leaf: int = 0, *context: Hashable) -> Access:
        """Each element of an array of `sizes`, once; at the simplified index, as composed accesses have theirs."""
        return Access(IndexingMap.identity(sizes).simplify(), prod(sizes), leaf, context)

    @property
    def reads(self) -> int:
        """The number of elements read over all points, constraints ignored."""
        known = self.map
        if known.is_known_empty:
            return 0
        return prod(v.interval.upper - v.interval.lower + 1 for v in (*known.dims, *known.ranges))

    def evaluations(self, calls: int) -> int:
        """The number of elements read if the function is called `calls` times."""
        return -(-calls * self.reads // self.points) if self.points else 0


class AccessComposer:
    """Composes accesses through instructions; equal pairs of maps are composed once."""

    def __init__(self) -> None:
        """Start without composed maps."""
        self._compose_maps = cache(_compose_maps)

    def compose(
        self, access: Access, indexing: OperandIndexing, user: Hashable, position: int, sizes: tuple[int, ...]
    ) -> Access:
        """The access to operand `position` of `user`, an array of `sizes`, where the function reads `user` at `access`."""
        leaf = indexing.leaf
        if indexing.exactness == "unknown" or indexing.map.is_undefined:
            return Access(IndexingMap.identity(sizes), 1, leaf, (user, position), is_known=False)
        context = access.context
        if indexing.map.ranges:
            context = (*context, ("loop", user))
        if indexing.runtime_values:
            values = ((v.instruction, v.output, self._compose_maps(access.map, v.map)) for v in indexing.runtime_values)
            context = (*context, *values)
        return Access(self._compose_maps(access.map, indexing.map), access.points, leaf, context, access.is_known)


def _compose_maps(first: IndexingMap, second: IndexingMap) -> IndexingMap:
    return compose(first, second).simplify()
