"""Replica groups of collectives: the replica that holds the k-th part, as an expression of k and of the reading replica."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from indexing._core import IndexingMap, Interval, SymbolicExpr, constant, variable
from indexing.errors import IndexingError, UnsupportedOp
from indexing.hlo import Instruction
from indexing.ops.operand_indexing import map_over

_OF_PARTS = frozenset({"all-gather", "all-gather-start", "reduce-scatter"})
NO_PATTERN = "the replica groups follow no pattern that an expression states, so any replica is named"


def groups_of(i: Instruction) -> tuple[tuple[int, ...], ...]:
    """The groups as lists of ids; one group of all replicas (or partitions) if none are given."""
    return _given(i) or (tuple(range(replica_count(i))),)


def group_among(i: Instruction, replica: int, count: int) -> tuple[int, ...]:
    """The group of one of `count` replicas, which are one group if none are given; IndexingError if others are in it."""
    group = group_with(_given(i) or (tuple(range(max(count, _parts(i)))),), replica)
    if (size := 1 + max(group)) > count:
        raise IndexingError(f"{i.name}: {i.opcode} is among {size} replicas; arguments of {count} are given")
    return group


def _given(i: Instruction) -> tuple[tuple[int, ...], ...]:
    return tuple(g for g in i.replica_groups() if g)


def replica_count(i: Instruction) -> int:
    """The number of replicas that a gathered or scattered array has parts of; else the module's number of replicas or of
    partitions, whichever is larger. If it states none, an all-to-all has an operand for each replica; others are among 1.
    """
    if (parts := _parts(i)) > 1:
        return parts
    attributes = i.computation.module.attributes
    counts = [attributes.get("replica_count", "1"), attributes.get("num_partitions", "1")]
    stated = max((int(c) for c in counts if c.isdigit()), default=1)
    return len(i.operands) if stated == 1 and i.opcode == "all-to-all" else stated


def _parts(i: Instruction) -> int:
    """The number of parts of a gathered array, or of an operand that is scattered; 1 for other collectives."""
    if i.opcode not in _OF_PARTS:
        return 1
    d, started = i.ints("dimensions")[0], len(i.operands) if i.opcode.endswith("-start") else 0
    sizes = [shape.dimensions[d] for shape in (i.operands[0].shape, i.shape.leaves[started])]
    return max(sizes) // min(sizes) if min(sizes) > 0 else 1


def group_with(groups: Sequence[tuple[int, ...]], replica: int) -> tuple[int, ...]:
    """The group of a replica; the replica alone if it is in no group."""
    return next((g for g in groups if replica in g), (replica,))


def all_to_all_groups(i: Instruction) -> tuple[tuple[int, ...], ...]:
    """The groups of an all-to-all; IndexingError if it has neither a dimension to split nor an operand for each member."""
    groups = groups_of(i)
    check_parts(i, max(map(len, groups)))
    return groups


def check_parts(i: Instruction, size: int) -> None:
    """IndexingError if an all-to-all has neither a dimension to split nor an operand for each member of a group of a size."""
    if not i.ints("dimensions") and len(i.operands) != size:
        wanted = f"an operand for each of the group's {size} replicas, found {len(i.operands)}"
        raise IndexingError(f"{i.name}: an all-to-all without dimensions takes {wanted}")


def why_no_permute(i: Instruction) -> str:
    """The reason why a collective-permute is not supported: it writes slices into an operand; empty if it is."""
    if "slice_sizes" not in i.attributes:
        return ""
    instead = "slice what is sent, and write it with a dynamic-update-slice"
    return f"{i.name}: a collective-permute with slice_sizes is not supported; {instead}"


def pairs_of(i: Instruction) -> list[tuple[int, int]]:
    """The (source, target) pairs of a collective-permute; UnsupportedOp if it writes slices into an operand."""
    if reason := why_no_permute(i):
        raise UnsupportedOp(reason)
    return [(source, target) for source, target in i.replica_groups("source_target_pairs")]


@dataclass(frozen=True)
class Members:
    """Replica groups of one size in which the k-th member's id is own - digit(own) * stride + k * stride."""

    groups: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        """The number of members of a group."""
        return max(len(g) for g in self.groups)

    def stride(self) -> int | None:
        """The distance between consecutive members, if it is the same in all groups and positions are a digit of the id."""
        size = self.size
        if any(len(g) != size for g in self.groups):
            return None
        if size == 1:
            return 1
        stride = self.groups[0][1] - self.groups[0][0]
        if stride <= 0:
            return None
        for g in self.groups:
            digits = len(self.groups) == 1 or all((member // stride) % size == k for k, member in enumerate(g))
            if not digits or any(member != g[0] + k * stride for k, member in enumerate(g)):
                return None
        return stride

    def replica_map(self, sizes: Sequence[int], position: SymbolicExpr | None = None) -> tuple[IndexingMap | None, str]:
        """The replicas that an element reads: the member at `position` (over the index), or all members (None).

        Returned with the reason if the map is only a bound. There is no map for groups of one member: they read themselves.
        """
        rank, size, stride = len(sizes), self.size, self.stride()
        if size == 1:
            return None, ""
        dims = [Interval(0, s - 1) for s in sizes]
        if stride is None:
            last = max(max(g) for g in self.groups)
            return map_over([variable(rank)], dims, [Interval(0, last)], []), NO_PATTERN
        every = position is None
        k = variable(rank) if position is None else position
        ranges = [Interval(0, size - 1)] if every else []
        if len(self.groups) == 1:
            replica = constant(self.groups[0][0]) + k * stride
            return map_over([replica], dims, ranges, []).simplify(), ""
        own = variable(rank + len(ranges))
        replica = own + (k - (own // stride) % size) * stride
        asking = ("replica", Interval(0, max(max(g) for g in self.groups)))
        return map_over([replica], dims, ranges, [asking]).simplify(), ""


def permuted_from(pairs: Sequence[tuple[int, int]], sizes: Sequence[int]) -> tuple[IndexingMap, str]:
    """The replica from which the reading one receives, for the (source, target) pairs of a permutation."""
    rank, dims = len(sizes), [Interval(0, s - 1) for s in sizes]
    last = max(max(pair) for pair in pairs)
    shifts = {target - source for source, target in pairs}
    own = variable(rank)
    if len(shifts) == 1:
        (shift,) = shifts
        targets = sorted(target for _, target in pairs)
        if targets == list(range(targets[0], targets[-1] + 1)):
            asking = ("replica", Interval(targets[0], targets[-1]))
            return map_over([own - shift], dims, [], [asking]), ""
    count = len(pairs)
    rotations = {(target - source) % count for source, target in pairs}
    if len(rotations) == 1 and sorted(t for _, t in pairs) == list(range(count)):
        (shift,) = rotations
        asking = ("replica", Interval(0, count - 1))
        return map_over([(own - shift) % count], dims, [], [asking]).simplify(), ""
    return map_over([own], dims, [Interval(0, last)], []), NO_PATTERN
